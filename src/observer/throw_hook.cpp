// Stands before the C++ library's function that every throw expression calls, and records the exception first. A program that
// links this has it take that function's place.
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <typeinfo>

#include "trace/exceptions.hpp"
#include "trace/recorder.hpp"

namespace {

using throw_function = void (*)(void* object, std::type_info* type, void (*destroy)(void*));

// Relaxed: everybody who looks it up finds the same.
constinit std::atomic<throw_function> next{nullptr};

throw_function find_next() noexcept {
  throw_function found = next.load(std::memory_order_relaxed);
  if (found == nullptr) {
    found = reinterpret_cast<throw_function>(::dlsym(RTLD_NEXT, "__cxa_throw"));
    next.store(found, std::memory_order_relaxed);
  }
  return found;
}

struct at_the_beginning {
  at_the_beginning() noexcept {
    find_next();  // which may take locks, and so is done before anything is thrown
    tidepool::recorder::announce_observer();
  }
};

[[gnu::init_priority(101)]] const at_the_beginning prepared;

}  // namespace

/// What a program asks the linker for, since others may have a __cxa_throw too: the sanitizers' libraries do.
extern "C" [[gnu::visibility("default")]] const char tidepool_exception_observer = 0;

extern "C" [[noreturn, gnu::visibility("default")]] void __cxa_throw(void* object, std::type_info* type,
                                                                     void (*destroy)(void*)) {
  using namespace tidepool::recorder;
  if (is_on(categories_of(kind::exception, action::thrown))) {
    write_exception(action::thrown, object, reinterpret_cast<std::uintptr_t>(type->name()), 0);
  }
  if (const throw_function found = find_next()) {
    found(object, type, destroy);
  }
  std::fputs("tidepool: the exception observer needs the C++ library as a shared one\n", stderr);
  std::abort();
}
