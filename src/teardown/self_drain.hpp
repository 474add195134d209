// An object that is drained from inside its own callback would wait for itself for ever.
#pragma once

#include <string>

#include "tidepool/detail/callback_context.hpp"

namespace tidepool {

/// "which was created at <file>:<line>", for the messages of exceptions.
[[nodiscard]] std::string created_at(const std::source_location& where);

/// For functions that drain: throws std::system_error (std::errc::resource_deadlock_would_occur) inside a callback of
/// `context`. `function` is the public name of the function.
void refuse_self_drain(const detail::callback_context& context, const char* function);

/// For destructors, which can not throw: ends the process inside a callback of `context`.
void fail_fast_on_self_drain(const detail::callback_context& context) noexcept;

}  // namespace tidepool
