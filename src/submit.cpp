#include "tidepool/submit.hpp"

#include <cstddef>
#include <new>
#include <system_error>

#include "last_error.hpp"
#include "native_environment.hpp"
#include "support/block_cache.hpp"
#include "trace/traced.hpp"
#ifndef _WIN32
#include "tidepool/win32/tpextensions.h"
#endif

namespace tidepool::detail {

namespace {

using recorder::action;
constexpr recorder::kind recorded_kind = recorder::kind::one_off;

PTP_CALLBACK_ENVIRON native_of(const callback_environment* environment) noexcept {
  return environment != nullptr ? native_for_creation(*environment) : nullptr;
}

std::uint32_t submit_natively(native::simple_callback callback, void* context,
                              PTP_CALLBACK_ENVIRON environment) noexcept {
  return TRACED(TrySubmitThreadpoolCallback)(callback, context, environment) ? ERROR_SUCCESS : GetLastError();
}

/// A one-off in whose stead another is submitted, which records its beginning and its end. So a program that records
/// nothing does not pay for it, and its callbacks need not ask.
struct recorded_one_off {
  native::simple_callback callback;
  void* context;
};

void CALLBACK run_recorded(PTP_CALLBACK_INSTANCE instance, PVOID context) noexcept {
  const recorded_one_off& what = *static_cast<recorded_one_off*>(context);
  recorder::note<recorded_kind, action::enter>(context);
  what.callback(instance, what.context);
  recorder::note<recorded_kind, action::leave>(context);
  support::free_block(context, sizeof what);  // not before: no other has its number while it runs
}

bool is_recorded() noexcept { return recorder::is_on(recorder::categories_of(recorded_kind, action::enter)); }

std::uint32_t submit_recorded(native::simple_callback callback, void* context,
                              PTP_CALLBACK_ENVIRON environment) noexcept {
  void* const block = support::allocate_block(sizeof(recorded_one_off));
  if (block == nullptr) {
    return submit_natively(callback, context, environment);
  }
  const auto* const recorded = ::new (block) recorded_one_off{callback, context};
  recorder::note<recorded_kind, action::submitted>(recorded);
  const std::uint32_t error = submit_natively(&run_recorded, block, environment);
  if (error != ERROR_SUCCESS) {
    support::free_block(block, sizeof(recorded_one_off));
  }
  return error;
}

}  // namespace

std::uint32_t try_submit(native::simple_callback callback, void* context,
                         const callback_environment* environment) noexcept {
  if (is_recorded()) [[unlikely]] {
    return submit_recorded(callback, context, native_of(environment));
  }
  return submit_natively(callback, context, native_of(environment));
}

bool try_submit_closure([[maybe_unused]] native::simple_callback callback, [[maybe_unused]] const std::uint64_t* words,
                        [[maybe_unused]] std::size_t count, [[maybe_unused]] const callback_environment* environment) {
#ifdef _WIN32
  return false;
#else
  if (is_recorded()) [[unlikely]] {
    return false;
  }
  if (TRACED(TidepoolTrySubmitClosure)(callback, words, static_cast<DWORD>(count), native_of(environment))) {
    return true;
  }
  if (const std::uint32_t error = GetLastError(); error != ERROR_NOT_SUPPORTED) {
    throw_not_submitted(error);
  }
  return false;
#endif
}

void throw_not_submitted(std::uint32_t error) {
  throw std::system_error(win32_error(error), "TrySubmitThreadpoolCallback");
}

void throw_null_callback() {
  throw std::system_error(std::make_error_code(std::errc::invalid_argument), "a callback is a null pointer");
}

void* allocate_one_off(std::size_t size, std::size_t alignment) {
  void* const block = alignment <= alignof(std::max_align_t)
                          ? support::allocate_block(size)
                          : ::operator new(size, std::align_val_t(alignment), std::nothrow);
  if (block == nullptr) {
    throw_not_submitted(ERROR_NOT_ENOUGH_MEMORY);
  }
  return block;
}

void free_one_off(void* block, std::size_t size, std::size_t alignment) noexcept {
  if (alignment <= alignof(std::max_align_t)) {
    support::free_block(block, size);
  } else {
    ::operator delete(block, size, std::align_val_t(alignment));
  }
}

}  // namespace tidepool::detail
