// What may serve as the handler of a request, and how it is called.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include "tidepool/detail/callable.hpp"

namespace tidepool::detail {

template <class H, class Result>
inline constexpr bool takes_result_and_instance = std::is_invocable_v<H&, Result, callback_instance&>;
template <class H, class Result>
inline constexpr bool takes_result_in_place_and_instance = std::is_invocable_v<H&, Result&, callback_instance&>;
template <class H, class Result>
inline constexpr bool takes_result = std::is_invocable_v<H&, Result>;
template <class H, class Result>
inline constexpr bool takes_result_in_place = std::is_invocable_v<H&, Result&>;

template <class Given, class Result>
consteval void check_handler() {
  using kept = std::decay_t<Given>;
  static_assert(
      takes_result_and_instance<kept, Result> || takes_result_in_place_and_instance<kept, Result> ||
          takes_result<kept, Result> || takes_result_in_place<kept, Result> || std::is_invocable_v<kept&>,
      "tidepool: the handler of a request is called with its result (tidepool::transfer<Buffer>, "
      "tidepool::acceptance or tidepool::connection_result), with that and a tidepool::callback_instance&, or "
      "without arguments; this callable can be called with none of them");
  check_kept<Given>();
}

/// `result` is where it has been kept, and a handler that takes it by value moves it from there.
template <class H, class Result>
void call_handler(H& handler, Result& result, callback_frame& frame) {
  if constexpr (takes_result_and_instance<H, Result>) {
    callback_instance instance = access::token_of<callback_instance>(frame);
    static_cast<void>(std::invoke(handler, std::move(result), instance));
  } else if constexpr (takes_result_in_place_and_instance<H, Result>) {
    callback_instance instance = access::token_of<callback_instance>(frame);
    static_cast<void>(std::invoke(handler, result, instance));
  } else if constexpr (takes_result<H, Result>) {
    static_cast<void>(std::invoke(handler, std::move(result)));
  } else if constexpr (takes_result_in_place<H, Result>) {
    static_cast<void>(std::invoke(handler, result));
  } else if constexpr (std::is_invocable_v<H&>) {  // else a static assertion has said what is wrong
    static_cast<void>(std::invoke(handler));
  }
}

}  // namespace tidepool::detail
