// Work objects: submitted by the user.
#pragma once

#include "engine/callback_object.hpp"

struct _TP_WORK final : tidepool::engine::callback_object {
  _TP_WORK(PTP_WORK_CALLBACK of, PVOID callback_context, const tidepool::engine::callback_settings& asked) noexcept
      : callback_object(callback_context, asked, asked.plain() ? of : nullptr), callback_(of) {}

 private:
  void call(_TP_CALLBACK_INSTANCE& instance) noexcept override { callback_(&instance, context, this); }

  const PTP_WORK_CALLBACK callback_;
};
