#include "io_context.hpp"

#include <utility>

#include "teardown/fail_fast.hpp"

namespace tidepool::detail {

namespace {

/// Of the whole process, so that an id of one io names nothing of another. Zero is nobody's.
constinit std::atomic<std::uint64_t> last_generation{0};

void destroy(callback_context* context) noexcept { delete static_cast<io_context*>(context); }

}  // namespace

io_context::io_context(endpoint&& what, const std::source_location& where) noexcept
    : callback_context(nullptr, &destroy, object_kind::io, "io::run_down", where),
      file(std::move(what)),
      unconnected(access::is_unconnected(file)) {}

request_table::slot& request_table::add(operation_base& request) {
  if (first_free_ == none) {
    slots_.emplace_back();
    slots_.back().next_free = none;
    first_free_ = static_cast<std::uint32_t>(slots_.size() - 1);
  }
  const std::uint32_t number = first_free_;
  slot& taken = slots_[number];
  first_free_ = taken.next_free;
  // Relaxed: all that matters is that each is given out once.
  taken = {&request, last_generation.fetch_add(1, std::memory_order_relaxed) + 1, 0, false, none};
  request.slot = number;
  ++size_;
  return taken;
}

void request_table::remove(const operation_base& request) noexcept {
  slot& left = slots_[request.slot];
  if (left.request != &request) [[unlikely]] {
    fail_fast("a request is over that was not outstanding");
  }
  left.request = nullptr;
  left.next_free = std::exchange(first_free_, request.slot);
  --size_;
}

request_table::slot* request_table::find(std::uint32_t number, std::uint64_t generation) noexcept {
  if (number >= slots_.size() || slots_[number].generation != generation || slots_[number].request == nullptr) {
    return nullptr;
  }
  return &slots_[number];
}

void request_queue::push(operation_base& last) noexcept {
  last.next = nullptr;
  (last_ != nullptr ? last_->next : first_) = &last;
  last_ = &last;
}

operation_base& request_queue::pop() noexcept {
  operation_base& first = *first_;
  first_ = first.next;
  if (first_ == nullptr) {
    last_ = nullptr;
  }
  return first;
}

}  // namespace tidepool::detail
