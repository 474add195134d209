// One-off callbacks.
#include "engine/callback_object.hpp"
#include "engine/instance.hpp"
#include "engine/pool.hpp"
#include "engine/probes.hpp"
#include "support/block_cache.hpp"
#include "tidepool/win32/windows.h"

#include <bit>
#include <new>
#include <type_traits>

using namespace tidepool::engine;

namespace {

/// Carries a one-off callback that asks for more than a pool and a priority.
struct one_off_object final : callback_object {
  one_off_object(PTP_SIMPLE_CALLBACK of, PVOID callback_context, const callback_settings& asked) noexcept
      : callback_object(callback_context, asked), callback_(of) {
    is_one_off = true;
  }

  /// The object frees itself after the callback. Submitted and closed before the group knows it: otherwise a group that
  /// is released meanwhile would take it for idle, and free it.
  void submit_once() noexcept {
    state.submit();
    state.close();
    join_group();
    TIDEPOOL_PROBE(submit, this, settings.pool);
    settings.pool->queue(*this);
  }

 private:
  void call(_TP_CALLBACK_INSTANCE& instance) noexcept override { callback_(&instance, context); }

  const PTP_SIMPLE_CALLBACK callback_;
};

}  // namespace

static_assert(std::is_trivially_destructible_v<bundle>);

bundle* bundle::make(unsigned level) noexcept {
  void* const block = tidepool::support::allocate_block(sizeof(bundle));
  return block != nullptr ? ::new (block) bundle(level) : nullptr;
}

void bundle::destroy() noexcept { tidepool::support::free_block(this, sizeof(bundle)); }

BOOL TrySubmitThreadpoolCallback(PTP_SIMPLE_CALLBACK callback, PVOID context,
                                 PTP_CALLBACK_ENVIRON environment) noexcept {
  callback_settings settings{};
  if (callback == nullptr) {
    SetLastError(ERROR_INVALID_PARAMETER);
    return FALSE;
  }
  if (!callback_settings::read(environment, settings)) {
    return FALSE;
  }
  if (settings.plain()) {
    const auto word = std::bit_cast<std::uint64_t>(context);
    TIDEPOOL_PROBE(submit, callback, settings.pool);
    if (settings.pool->queue({callback, &word, 0}, settings.level)) {
      return TRUE;
    }
  } else if (auto* const object = new (std::nothrow) one_off_object(callback, context, settings)) {
    object->submit_once();
    return TRUE;
  }
  SetLastError(ERROR_NOT_ENOUGH_MEMORY);
  return FALSE;
}

BOOL TidepoolTrySubmitClosure(PTP_SIMPLE_CALLBACK callback, const ULONGLONG* words, DWORD count,
                              PTP_CALLBACK_ENVIRON environment) noexcept {
  callback_settings settings{};
  if (callback == nullptr || count == 0 || count > most_closure_words) {
    SetLastError(ERROR_INVALID_PARAMETER);
    return FALSE;
  }
  if (!callback_settings::read(environment, settings)) {
    return FALSE;
  }
  if (!settings.plain()) {
    SetLastError(ERROR_NOT_SUPPORTED);
    return FALSE;
  }
  TIDEPOOL_PROBE(submit, callback, settings.pool);
  if (!settings.pool->queue({callback, words, static_cast<std::uint8_t>(count)}, settings.level)) {
    SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    return FALSE;
  }
  return TRUE;
}
