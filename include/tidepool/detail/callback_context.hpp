// What every callback source owns on the heap.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <utility>

#include "tidepool/detail/callable.hpp"
#include "tidepool/native.hpp"

namespace tidepool::detail {

struct group_generation;

enum class object_kind : std::uint8_t { work, timer, periodic_timer, wait, io };
inline constexpr const char* object_kind_names[] = {"work", "timer", "periodic_timer", "wait", "io"};
constexpr const char* name_of(object_kind kind) noexcept { return object_kind_names[static_cast<std::size_t>(kind)]; }

/// The part that does not depend on the callable. The callable follows in a derived class: one allocation per object,
/// and its address is the context that native callbacks are given.
struct callback_context {
  using call_function = void (*)(callback_context& self, callback_frame& frame);
  using destroy_function = void (*)(callback_context* self) noexcept;

  callback_context(call_function call, destroy_function destroy, object_kind what, const char* drain,
                   const std::source_location& where) noexcept
      : call_callable(call), destroy_whole(destroy), kind(what), drained_by(drain), created_at(where) {}
  callback_context(const callback_context&) = delete;
  callback_context& operator=(const callback_context&) = delete;

  const call_function call_callable;
  const destroy_function destroy_whole;  // deletes the derived object; its code may belong to `library`

  // The owner's, and one for each run that has been disassociated. The one that gives back the last (acquire, so that
  // it sees what the others did before their release) destroys the context.
  std::atomic<std::uint32_t> references{1};

  // See src/teardown/obligation.hpp.
  std::atomic<bool> owes_drain{false};

  // For messages and records: what it is, and the call that drains it.
  const object_kind kind;
  const char* const drained_by;
  const std::source_location created_at;

  group_generation* group = nullptr;  // whose member it is, if any

  // Kept until the callable has been destroyed.
  std::shared_ptr<::_TP_POOL> pool;
  std::shared_ptr<::HINSTANCE__> library;

 protected:
  ~callback_context() = default;
};

/// `Base` (derived from callback_context) together with a callable. `Base::token_type` is what the callable may ask for,
/// `Base::frame_type` the frame that it is made from.
template <class Base, class F>
struct context_with_callable final : Base {
  /// `more` is for the base.
  template <class Given, class... More>
  context_with_callable(Given&& given, const std::source_location& where, More&&... more)
      : Base(std::forward<More>(more)..., &call_it, &destroy_it, where), callable(std::forward<Given>(given)) {}

  static void call_it(callback_context& self, callback_frame& frame) {
    call<typename Base::token_type>(static_cast<context_with_callable&>(self).callable,
                                    static_cast<typename Base::frame_type&>(frame));
  }

  static void destroy_it(callback_context* self) noexcept { delete static_cast<context_with_callable*>(self); }

  F callable;
};

}  // namespace tidepool::detail
