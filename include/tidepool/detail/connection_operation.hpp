// Accepting and connecting.
#pragma once

#include <cstddef>
#include <utility>

#include "tidepool/detail/handler.hpp"
#include "tidepool/detail/operation_base.hpp"
#include "tidepool/socket_address.hpp"
#include "tidepool/transfer.hpp"

namespace tidepool::detail {

struct accept_request : operation_base {
  acceptance result;
  native::handle listener = nullptr;
  alignas(void*) std::byte scratch[accept_scratch_size];

  static issued issue(operation_base& self, io_context& on, native::overlapped overlapped) noexcept;
  void conclude(outcome how) noexcept;
};

struct connect_request : operation_base {
  explicit connect_request(const socket_address& where) noexcept : to(where) {}

  connection_result result;
  const socket_address to;
  io_context* socket = nullptr;

  static issued issue(operation_base& self, io_context& on, native::overlapped overlapped) noexcept;
  void conclude(outcome how) noexcept;
};

template <class Request, class Handler>
struct connection_operation final : Request {
  template <class Given, class... More>
  explicit connection_operation(Given&& given, More&&... more)
      : Request(std::forward<More>(more)...), handler(std::forward<Given>(given)) {
    this->functions = &all_functions;
  }

  Handler handler;

 private:
  static void complete(operation_base& self, callback_frame& frame, outcome how) {
    auto& mine = static_cast<connection_operation&>(self);
    mine.conclude(how);
    call_handler(mine.handler, mine.result, frame);
    destroy_operation(mine);
  }

  static void discard(operation_base& self) noexcept { destroy_operation(static_cast<connection_operation&>(self)); }

  static constexpr operation_functions all_functions{&Request::issue, nullptr, &complete, &discard};
};

}  // namespace tidepool::detail
