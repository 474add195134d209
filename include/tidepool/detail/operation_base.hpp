// The storage of one request, as far as it does not depend on what is requested.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <system_error>
#include <type_traits>
#include <utility>

#include "tidepool/detail/callback_frame.hpp"
#include "tidepool/detail/platform.hpp"
#include "tidepool/error.hpp"
#include "tidepool/native.hpp"

namespace tidepool::detail {

struct io_context;
struct operation_base;

/// How a request, or a part of one, has ended.
struct outcome {
  std::uint32_t error = 0;  // a Win32 code
  std::size_t bytes = 0;
};

/// What the system said to a request.
struct issued {
  bool pending = true;  // there will be a completion
  outcome how;          // otherwise: what it has come to
};

/// What can be done with a request, whatever it is.
struct operation_functions {
  /// Hands the request, or its next part, to the system.
  issued (*issue)(operation_base& self, io_context& on, native::overlapped overlapped) noexcept;
  /// A part is over: whether there is another. If not, `how` is that of the whole. Null for requests of one part.
  bool (*advance)(operation_base& self, outcome& how) noexcept;
  /// Calls the handler, and destroys the request. On a thread of the pool, inside `frame`.
  void (*complete)(operation_base& self, callback_frame& frame, outcome how);
  /// Destroys the request. No handler runs.
  void (*discard)(operation_base& self) noexcept;
};

/// Who has a request: each hand-over checks that it comes from where it is.
enum class operation_state : std::uint8_t { owned, registered, with_the_system, over };

struct operation_base {
  alignas(void*) std::byte overlapped[overlapped_size];  // an OVERLAPPED; first, so that its address is the request's
  const operation_functions* functions = nullptr;
  operation_base* next = nullptr;  // of those that are over without a completion
  outcome at_once;                 // how such a one has ended
  std::uint32_t slot = 0;          // in its io's table, while it is registered
  operation_state state = operation_state::owned;
};

static_assert(std::is_standard_layout_v<operation_base>);

/// Memory for one request. Throws std::bad_alloc.
[[nodiscard]] void* allocate_operation(std::size_t size, std::size_t alignment);
void free_operation(void* memory, std::size_t size, std::size_t alignment) noexcept;

template <class Operation>
void destroy_operation(Operation& what) noexcept {
  what.~Operation();
  free_operation(std::addressof(what), sizeof(Operation), alignof(Operation));
}

struct operation_destroyer {
  template <class Operation>
  void operator()(Operation* what) const noexcept {
    destroy_operation(*what);
  }
};

template <class Operation>
using operation_owner = std::unique_ptr<Operation, operation_destroyer>;

template <class Operation, class... Arguments>
operation_owner<Operation> make_operation(Arguments&&... arguments) {
  struct memory {
    memory() : address(allocate_operation(sizeof(Operation), alignof(Operation))) {}
    memory(const memory&) = delete;
    memory& operator=(const memory&) = delete;
    ~memory() {
      if (address != nullptr) {
        free_operation(address, sizeof(Operation), alignof(Operation));
      }
    }
    void* address;
  } block;
  auto* const made = ::new (block.address) Operation(std::forward<Arguments>(arguments)...);
  block.address = nullptr;
  return operation_owner<Operation>(made);
}

[[nodiscard]] inline std::error_code error_of(const outcome& how) noexcept {
  return {static_cast<int>(how.error), win32_category()};
}

}  // namespace tidepool::detail
