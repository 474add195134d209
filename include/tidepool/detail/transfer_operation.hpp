// Reads and writes.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>

#include "tidepool/detail/handler.hpp"
#include "tidepool/detail/operation_base.hpp"
#include "tidepool/transfer.hpp"

namespace tidepool::detail {

// ---- buffers -------------------------------------------------------------------------------------------

/// Whether the bytes of `B`, an object that owns them, can be transferred. A view owns nothing.
template <class B>
concept owned_bytes = !std::ranges::view<B> && requires(B& b) {
  { *b.data() };
  { b.size() } -> std::convertible_to<std::size_t>;
  requires std::is_trivially_copyable_v<std::remove_cvref_t<decltype(*b.data())>>;
  requires std::is_pointer_v<decltype(b.data())>;
};

template <class B>
concept several_owned_bytes = !owned_bytes<B> && std::ranges::forward_range<B> && !std::ranges::view<B> &&
                              owned_bytes<std::ranges::range_value_t<B>>;

template <class B>
concept writable_bytes = requires(B& b) { requires !std::is_const_v<std::remove_pointer_t<decltype(b.data())>>; };

template <class Given>
consteval void check_buffer() {
  using kept = std::decay_t<Given>;
  static_assert(owned_bytes<kept> || several_owned_bytes<kept>,
                "tidepool: a buffer owns its bytes until the transfer is over: tidepool::buffer, std::vector, "
                "std::string, std::array, or a range of these; this type does not");
  static_assert(std::is_constructible_v<kept, Given>,
                "tidepool: the buffer is kept by value, and it can not be copied; hand it over with std::move");
}

template <class Given>
consteval void check_buffer_to_read_into() {
  check_buffer<Given>();
  using kept = std::decay_t<Given>;
  if constexpr (owned_bytes<kept>) {
    static_assert(writable_bytes<kept>, "tidepool: this buffer can not be written to, so nothing can be read into it");
  }
  static_assert(
      !std::is_lvalue_reference_v<Given>,
      "tidepool: reading into a copy of this buffer would leave the buffer itself as it is; hand it over with "
      "std::move, the handler gets it back");
}

template <owned_bytes B>
std::size_t byte_size(B& buffer) noexcept {
  return buffer.size() * sizeof(*buffer.data());
}

template <several_owned_bytes B>
std::size_t byte_size(B& buffers) noexcept {
  std::size_t sum = 0;
  for (auto& each : buffers) {
    sum += byte_size(each);
  }
  return sum;
}

/// Throws std::system_error (std::errc::invalid_argument).
[[noreturn]] void throw_more_than_the_buffer();

// ---- requests ------------------------------------------------------------------------------------------

enum class transfer_kind : std::uint8_t { read_at, write_at, read, write, receive, send };

/// A piece of memory; a struct iovec, where there is one.
struct transfer_part {
  void* data;
  std::size_t size;
};

struct transfer_request : operation_base {
  transfer_request(transfer_kind what, std::uint64_t from) noexcept : offset(from), kind(what) {}

  // What is left to be transferred, and from where.
  transfer_part* parts = nullptr;
  std::size_t count = 0;
  std::uint64_t offset;

  std::size_t left = 0;   // in all
  std::size_t done = 0;   // by earlier parts
  std::size_t asked = 0;  // of the system, this time
  const transfer_kind kind;
  transfer_part whole{};  // the only part, usually

  static issued issue(operation_base& self, io_context& on, native::overlapped overlapped) noexcept;
  static bool advance(operation_base& self, outcome& how) noexcept;
};

/// The parts of a buffer that has several.
struct transfer_parts {
  std::unique_ptr<transfer_part[]> all;
  std::size_t count = 0;
  std::unique_ptr<std::byte[]> together;  // a copy in one piece, for those who need that
};

/// Makes one piece of the parts: of their content, or for it.
void gather(transfer_request& request, transfer_parts& parts);
/// Copies what came to where it belongs.
void scatter(const transfer_parts& parts, std::size_t bytes) noexcept;

struct no_parts {};

template <class Buffer, class Handler>
struct transfer_operation final : transfer_request {
  static constexpr bool in_parts = several_owned_bytes<Buffer>;

  template <class GivenBuffer, class GivenHandler>
  transfer_operation(transfer_kind what, std::uint64_t from, GivenBuffer&& buffer, GivenHandler&& given)
      : transfer_request(what, from),
        result{{}, 0, std::forward<GivenBuffer>(buffer)},
        handler(std::forward<GivenHandler>(given)) {
    functions = &all_functions;
  }

  /// `most`: how many bytes, if not all. To be called once, before anything else.
  void use(std::size_t most) {
    left = byte_size(result.buffer);
    if constexpr (in_parts) {
      parts_.all = std::make_unique_for_overwrite<transfer_part[]>(
          static_cast<std::size_t>(std::ranges::distance(result.buffer)));
      for (auto& each : result.buffer) {
        if (const std::size_t size = byte_size(each); size != 0) {
          parts_.all[parts_.count++] = part_of(each, size);
        }
      }
      parts = parts_.all.get();
      count = parts_.count;
      if (!pipes_take_parts && (kind == transfer_kind::read || kind == transfer_kind::write) && count > 1) {
        gather(*this, parts_);
      }
    } else {
      if (most > left) {
        throw_more_than_the_buffer();
      }
      left = most;
      whole = part_of(result.buffer, left);
      parts = &whole;
      count = 1;
    }
  }

  transfer<Buffer> result;
  Handler handler;

 private:
  template <class B>
  static transfer_part part_of(B& buffer, std::size_t size) noexcept {
    // Those that are written from may be constant; the system does not write to them.
    return {const_cast<void*>(static_cast<const void*>(buffer.data())), size};
  }

  static void complete(operation_base& self, callback_frame& frame, outcome how) {
    auto& mine = static_cast<transfer_operation&>(self);
    if constexpr (in_parts) {
      if (mine.parts_.together != nullptr && mine.kind == transfer_kind::read) {
        scatter(mine.parts_, how.bytes);
      }
    }
    mine.result.error = error_of(how);
    mine.result.bytes = how.bytes;
    call_handler(mine.handler, mine.result, frame);
    destroy_operation(mine);
  }

  static void discard(operation_base& self) noexcept { destroy_operation(static_cast<transfer_operation&>(self)); }

  static constexpr operation_functions all_functions{&transfer_request::issue, &transfer_request::advance, &complete,
                                                     &discard};

  [[no_unique_address]] std::conditional_t<in_parts, transfer_parts, no_parts> parts_;
};

}  // namespace tidepool::detail
