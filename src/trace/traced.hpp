// Native calls with a record before and one after.
#pragma once

#include <type_traits>

#include "trace/recorder.hpp"

namespace tidepool::recorder {

/// What a call is about comes first, if it is about anything.
template <class First, class... Others>
const void* target_of([[maybe_unused]] First first, Others...) noexcept {
  if constexpr (std::is_pointer_v<First> && !std::is_function_v<std::remove_pointer_t<First>>) {
    return first;
  } else {
    return nullptr;
  }
}
inline const void* target_of() noexcept { return nullptr; }

template <class Result, class... Parameters>
TIDEPOOL_COLD Result call_recorded(const char* name, Result (*function)(Parameters...),
                                   Parameters... arguments) noexcept {
  struct bracket {
    const void* target;
    const char* name;
    bracket(const void* about, const char* named) noexcept : target(about), name(named) {
      write(kind::call, action::enter, target, reinterpret_cast<std::uintptr_t>(name), 0);
    }
    ~bracket() { write(kind::call, action::leave, target, reinterpret_cast<std::uintptr_t>(name), 0); }
  };
  const bracket recorded(target_of(arguments...), name);
  return function(arguments...);
}

template <class Result, class... Parameters>
struct traced_call {
  Result (*function)(Parameters...);
  const char* name;

  Result operator()(Parameters... arguments) const noexcept {
    if (is_on(categories_of(kind::call, action::enter))) [[unlikely]] {
      return call_recorded(name, function, arguments...);
    }
    return function(arguments...);
  }
};

template <class Result, class... Parameters>
constexpr traced_call<Result, Parameters...> traced(Result (*function)(Parameters...), const char* name) noexcept {
  return {function, name};
}

}  // namespace tidepool::recorder

/// TRACED(CloseThreadpoolWork)(work): the call, recorded under its name. The last error is that of the call.
#define TRACED(function) ::tidepool::recorder::traced(&(function), #function)
