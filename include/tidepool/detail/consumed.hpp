// Annotations for clang's consumed analysis (-Wconsumed), which finds uses of what has been given up, as far as one
// function's code shows them. Other compilers see nothing.
#pragma once

#if defined(__clang__)
#define TIDEPOOL_CONSUMABLE [[clang::consumable(unconsumed)]]
#define TIDEPOOL_CONSUMED_AFTER [[clang::return_typestate(consumed)]]
#define TIDEPOOL_CONSUMES [[clang::set_typestate(consumed)]]
#define TIDEPOOL_UNLESS_CONSUMED [[clang::callable_when("unconsumed", "unknown")]]
#else
#define TIDEPOOL_CONSUMABLE
#define TIDEPOOL_CONSUMED_AFTER
#define TIDEPOOL_CONSUMES
#define TIDEPOOL_UNLESS_CONSUMED
#endif
