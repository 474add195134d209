// What may serve as a callback, and how it is called.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include "tidepool/detail/access.hpp"
#include "tidepool/detail/callback_frame.hpp"

namespace tidepool::detail {

/// Whether a callable asks for its run, in the shape that its object hands out. One that could be called both ways does.
template <class F, class Token>
inline constexpr bool takes_token = std::is_invocable_v<F&, Token&>;

template <class F>
inline constexpr bool takes_instance = takes_token<F, callback_instance>;

/// Whether what is kept of a callable can be called, with the token or without.
template <class Given, class Token>
inline constexpr bool serves_as_callback =
    takes_token<std::decay_t<Given>, Token> || std::is_invocable_v<std::decay_t<Given>&>;

/// Says in plain words what is wrong with keeping a callable. `Given` is what the user passed, as a forwarding reference
/// saw it.
template <class Given>
consteval void check_kept() {
  using kept = std::decay_t<Given>;
  static_assert(std::is_constructible_v<kept, Given>,
                "tidepool: the callable is kept by value, and it can not be copied; hand it over with std::move");
  static_assert(std::is_nothrow_destructible_v<kept>,
                "tidepool: the callable's destructor may throw, and nobody could catch that");
}

/// And with a callable whose token is the plain callback_instance.
template <class Given>
consteval void check_callable() {
  static_assert(
      serves_as_callback<Given, callback_instance>,
      "tidepool: a callback is called without arguments or with a tidepool::callback_instance&; this callable "
      "can be called with neither");
  check_kept<Given>();
}

/// Throws std::system_error (std::errc::invalid_argument) for a callback that is a null pointer.
[[noreturn]] void throw_null_callback();

template <class F>
void check_not_null(const F& callable) {
  if constexpr (std::is_pointer_v<F> || std::is_member_pointer_v<F>) {
    if (callable == nullptr) {
      throw_null_callback();
    }
  }
}

/// Calls it; what it returns, if anything, is of no interest to anybody.
template <class Token, class F, class Frame>
void call(F& callable, [[maybe_unused]] Frame& frame) {
  if constexpr (takes_token<F, Token>) {
    Token token = access::token_of<Token>(frame);
    static_cast<void>(std::invoke(callable, token));
  } else if constexpr (std::is_invocable_v<F&>) {  // else a static assertion has said what is wrong
    static_cast<void>(std::invoke(callable));
  }
}

}  // namespace tidepool::detail
