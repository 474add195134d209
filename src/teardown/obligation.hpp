// Whether an object owes its user a drain. It does from the moment it goes live (submitted, armed, started) until it is
// drained by name; for a one-shot timer and a wait also no longer once the callback has begun, which uses up the arming.
//
// The flag judges how a program ends its objects, and nothing in the library depends on it. It is written before
// the native object is told, so that a callback's settling comes after it, and only when it changes, so that threads
// that submit at the same time share its cache line. Relaxed everywhere: whoever destroys an object comes after all
// who use it, by means of the program's own.
#pragma once

#include "tidepool/detail/callback_context.hpp"

namespace tidepool {

inline void owe_drain(detail::callback_context& context) noexcept {
  if (!context.owes_drain.load(std::memory_order_relaxed)) {
    context.owes_drain.store(true, std::memory_order_relaxed);
  }
}

/// By a drain, once nothing but other threads can make live what it does not cover.
inline void settle_drain(detail::callback_context& context) noexcept {
  if (context.owes_drain.load(std::memory_order_relaxed)) {
    context.owes_drain.store(false, std::memory_order_relaxed);
  }
}

[[nodiscard]] inline bool owes_drain(const detail::callback_context& context) noexcept {
  return context.owes_drain.load(std::memory_order_relaxed);
}

/// For a destructor or an assignment that found a drain owed, once it has drained the object itself. In a build that
/// fails fast it does not return.
void report_owed_drain(const detail::callback_context& context) noexcept;

}  // namespace tidepool
