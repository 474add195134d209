#include "trace/buffer.hpp"

#include <algorithm>
#include <tuple>

namespace tidepool::recorder {

constinit std::array<segment, segment_count> segments;
constinit std::atomic<std::uint64_t> lost{0};

namespace {

constinit std::atomic<std::uint64_t> next_number{0};  // relaxed: only the numbers matter

constexpr std::uint64_t pack(const record& what) noexcept {
  return (std::uint64_t{what.thread} << 32) | (std::uint64_t{static_cast<std::uint8_t>(what.what)} << 8) |
         static_cast<std::uint8_t>(what.which);
}

}  // namespace

void segment::append(const record& what) noexcept {
  const std::uint32_t at = count();
  auto& words_of = records_[at];
  words_of[0].store(what.time, std::memory_order_relaxed);
  words_of[1].store(pack(what), std::memory_order_relaxed);
  words_of[2].store(what.target, std::memory_order_relaxed);
  words_of[3].store(what.first, std::memory_order_relaxed);
  words_of[4].store(what.second, std::memory_order_relaxed);
  count_.store(at + 1, std::memory_order_release);  // pairs with copy_to
}

void segment::begin_anew(std::uint64_t number) noexcept {
  number_.store(0, std::memory_order_relaxed);
  // Pairs with the fence in copy_to: whoever has read anything that is written from here on finds the number changed.
  std::atomic_thread_fence(std::memory_order_release);
  count_.store(0, std::memory_order_relaxed);
  number_.store(number, std::memory_order_release);  // pairs with copy_to: the count is that of this content
}

void segment::copy_to(std::vector<placed_record>& out) const {
  const std::uint64_t number = number_.load(std::memory_order_acquire);
  if (number == 0) {
    return;
  }
  const std::size_t before = out.size();
  const std::uint32_t held = count_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < held; ++i) {
    const auto& words_of = records_[i];
    const std::uint64_t packed = words_of[1].load(std::memory_order_relaxed);
    out.push_back({number * capacity + i,
                   {words_of[0].load(std::memory_order_relaxed), static_cast<std::uint32_t>(packed >> 32),
                    static_cast<kind>((packed >> 8) & 0xff), static_cast<action>(packed & 0xff),
                    words_of[2].load(std::memory_order_relaxed), words_of[3].load(std::memory_order_relaxed),
                    words_of[4].load(std::memory_order_relaxed)}});
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  if (number_.load(std::memory_order_relaxed) != number) {
    out.resize(before);  // its owner has counted them as lost
  }
}

std::vector<record> copy_records() {
  std::vector<placed_record> copied;
  copied.reserve(std::size_t{segment_count} * segment::capacity);
  for (const segment& each : segments) {
    each.copy_to(copied);
  }
  std::sort(copied.begin(), copied.end(), [](const placed_record& a, const placed_record& b) {
    return std::tie(a.what.time, a.place) < std::tie(b.what.time, b.place);
  });
  std::vector<record> result;
  result.reserve(copied.size());
  for (const placed_record& each : copied) {
    result.push_back(each.what);
  }
  return result;
}

segment* take_next() noexcept {
  for (std::uint32_t attempt = 0; attempt < segment_count; ++attempt) {
    const std::uint64_t number = next_number.fetch_add(1, std::memory_order_relaxed);
    segment& candidate = segments[number % segment_count];
    if (candidate.take()) {
      if (const std::uint32_t held = candidate.count(); held != 0) {
        lost.fetch_add(held, std::memory_order_relaxed);
      }
      candidate.begin_anew(number + 1);
      return &candidate;
    }
  }
  return nullptr;
}

}  // namespace tidepool::recorder
