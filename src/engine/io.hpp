// What hears of the requests on a file: TP_IO.
#pragma once

#include "engine/callback_object.hpp"
#include "engine/file.hpp"

/// Each start is a claim on the object from StartThreadpoolIo on, settled by the end of the callback or by
/// CancelThreadpoolIo; so waiting, closing and freeing are those of all callback objects.
struct _TP_IO final : tidepool::engine::callback_object {
  _TP_IO(PTP_WIN32_IO_CALLBACK of, PVOID callback_context, const tidepool::engine::callback_settings& asked,
         tidepool::engine::file& target) noexcept
      : callback_object(callback_context, asked), callback_(of), target_(target) {
    target_.add_reference();
  }
  ~_TP_IO() override {
    target_.unbind(*this);
    target_.release();
  }

  bool bind() noexcept { return target_.bind(*this); }
  void start() noexcept { state.submit_claimed(); }
  void cancel_start() noexcept { settle(); }
  /// Drops the callbacks that have not begun, those of requests still under way included.
  bool drop() noexcept override;
  void run(tidepool::engine::worker& on, OVERLAPPED& overlapped, DWORD error, std::size_t done) noexcept;

 private:
  struct completion {
    OVERLAPPED* overlapped;
    DWORD error;
    std::size_t done;
  };
  void call(_TP_CALLBACK_INSTANCE& instance) noexcept override;

  const PTP_WIN32_IO_CALLBACK callback_;
  tidepool::engine::file& target_;
};
