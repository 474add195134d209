// One-off callbacks: where the callable travels from the submission to the callback.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "tidepool/detail/callable.hpp"
#include "tidepool/detail/platform.hpp"
#include "tidepool/native.hpp"

namespace tidepool::detail {

/// Calls TrySubmitThreadpoolCallback; returns the error code, 0 for success. `environment` may be null.
std::uint32_t try_submit(native::simple_callback callback, void* context,
                         const callback_environment* environment) noexcept;
/// Submits a callback whose context is the address of a copy of some words. Returns whether the environment allows it;
/// throws as submitting does.
bool try_submit_closure(native::simple_callback callback, const std::uint64_t* words, std::size_t count,
                        const callback_environment* environment);
[[noreturn]] void throw_not_submitted(std::uint32_t error);

/// Memory for one callable. Throws std::system_error (std::errc::not_enough_memory).
[[nodiscard]] void* allocate_one_off(std::size_t size, std::size_t alignment);
void free_one_off(void* block, std::size_t size, std::size_t alignment) noexcept;

/// Runs a one-off's callable, and `finish` (which destroys it) before what the run has been asked to do at its end.
template <class F, class Finish>
void run_one_off(F& callable, native::callback_instance instance, Finish finish) noexcept {
  if constexpr (takes_instance<F>) {
    callback_frame frame(instance, nullptr);
    enter_callback(frame);
    call<callback_instance>(callable, frame);
    finish();
    leave_callback(frame);
  } else {
    static_cast<void>(std::invoke(callable));
    finish();
  }
}

/// A callable that is plain bytes, no more than a pointer's, travels in the context pointer itself.
template <class F>
inline constexpr bool fits_in_pointer = std::is_trivially_copyable_v<F> && std::is_trivially_destructible_v<F> &&
                                        sizeof(F) <= sizeof(void*) && alignof(F) <= alignof(void*);

template <class F>
struct one_off_in_pointer {
  template <class Given>
  static void submit(Given&& given, const callback_environment* environment) {
    const F callable(std::forward<Given>(given));
    void* context = nullptr;
    std::memcpy(static_cast<void*>(&context), static_cast<const void*>(std::addressof(callable)), sizeof(F));
    if (const std::uint32_t error = try_submit(&run, context, environment); error != 0) {
      throw_not_submitted(error);
    }
  }

  static void TIDEPOOL_CALLBACK run(::_TP_CALLBACK_INSTANCE* instance, void* context) noexcept {
    alignas(F) std::byte bytes[sizeof(F)];
    std::memcpy(bytes, &context, sizeof(F));  // creates the object, F being trivial enough
    run_one_off(*std::launder(reinterpret_cast<F*>(bytes)), instance, [] {});
  }
};

/// One that is plain bytes, and few of them, travels in the queue itself where the system can do that.
template <class F>
inline constexpr bool fits_in_queue =
    closures_in_queue && std::is_trivially_copyable_v<F> && std::is_trivially_destructible_v<F> &&
    sizeof(F) <= 4 * sizeof(std::uint64_t) && alignof(F) <= alignof(std::max_align_t);

template <class F>
struct one_off_in_queue {
  /// Returns false, and has done nothing, when it has to travel in a block after all.
  static bool submit(const F& callable, const callback_environment* environment) {
    std::uint64_t words[(sizeof(F) + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t)]{};
    std::memcpy(static_cast<void*>(words), static_cast<const void*>(std::addressof(callable)), sizeof(F));
    return try_submit_closure(&run, words, std::size(words), environment);
  }

  static void TIDEPOOL_CALLBACK run(::_TP_CALLBACK_INSTANCE* instance, void* context) noexcept {
    run_one_off(*std::launder(static_cast<F*>(context)), instance, [] {});
  }
};

/// Any other travels in a block.
template <class F>
struct one_off_in_block {
  template <class Given>
  static void submit(Given&& given, const callback_environment* environment) {
    memory block;
    F* const callable = ::new (block.address) F(std::forward<Given>(given));
    if (const std::uint32_t error = try_submit(&run, callable, environment); error != 0) {
      callable->~F();
      throw_not_submitted(error);
    }
    block.address = nullptr;  // the callback's from here on
  }

  static void TIDEPOOL_CALLBACK run(::_TP_CALLBACK_INSTANCE* instance, void* context) noexcept {
    F& callable = *static_cast<F*>(context);
    run_one_off(callable, instance, [&callable] {
      callable.~F();
      free_one_off(std::addressof(callable), sizeof(F), alignof(F));
    });
  }

 private:
  struct memory {
    memory() : address(allocate_one_off(sizeof(F), alignof(F))) {}
    memory(const memory&) = delete;
    memory& operator=(const memory&) = delete;
    ~memory() {
      if (address != nullptr) {
        free_one_off(address, sizeof(F), alignof(F));
      }
    }
    void* address;
  };
};

/// Brings its pool along, where queued one-offs do not keep it themselves.
template <class F>
struct callable_on_pool {
  std::shared_ptr<::_TP_POOL> pool;  // first, so that it goes after the callable
  F callable;

  void operator()()
    requires(!takes_instance<F>)
  {
    static_cast<void>(std::invoke(callable));
  }
  void operator()(callback_instance& instance)
    requires takes_instance<F>
  {
    static_cast<void>(std::invoke(callable, instance));
  }
};

template <class Given>
void submit_one_off(Given&& given, const callback_environment* environment) {
  using F = std::decay_t<Given>;
  check_callable<Given>();
  check_not_null<F>(given);
  if constexpr (!closed_pool_runs_one_offs) {
    if (environment != nullptr && access::pool_of(*environment) != nullptr) {
      using on_pool = callable_on_pool<F>;
      one_off_in_block<on_pool>::submit(on_pool{access::pool_of(*environment), F(std::forward<Given>(given))},
                                        environment);
      return;
    }
  }
  if constexpr (fits_in_pointer<F>) {
    one_off_in_pointer<F>::submit(std::forward<Given>(given), environment);
  } else if constexpr (fits_in_queue<F>) {
    F callable(std::forward<Given>(given));
    if (!one_off_in_queue<F>::submit(callable, environment)) {
      one_off_in_block<F>::submit(std::move(callable), environment);
    }
  } else {
    one_off_in_block<F>::submit(std::forward<Given>(given), environment);
  }
}

}  // namespace tidepool::detail
