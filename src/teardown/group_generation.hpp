// The members of a cleanup group that are closed together. docs/design/groups.md goes through the races.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "support/reference_count.hpp"
#include "teardown/drain.hpp"
#include "tidepool/detail/callback_context.hpp"
#include "win32.hpp"

namespace tidepool::detail {

struct group_generation;
struct group_state;

/// What closing a group does with a member, by its kind.
struct member_functions {
  void (*close_gate)(callback_context&) noexcept;
  void (*run_out)(callback_context&) noexcept;
  void (*drop)(callback_context&) noexcept;  // disarms, drops what is queued, and waits for what runs
  void (*end_use)(callback_context&) noexcept;
};

template <class Context>
inline constexpr member_functions member_functions_of{
    [](callback_context& member) noexcept { tidepool::close_gate(static_cast<Context&>(member)); },
    [](callback_context& member) noexcept { tidepool::run_out(static_cast<Context&>(member)); },
    [](callback_context& member) noexcept {
      auto& context = static_cast<Context&>(member);
      if constexpr (rearming<Context>) {
        disarm(context);
      }
      drop_pending(context);
    },
    [](callback_context& member) noexcept { tidepool::end_use(static_cast<Context&>(member)); }};

/// What is left of a member for as long as there is a handle.
struct member_record {
  member_record(callback_context& of, const member_functions& by_kind) noexcept
      : context(of), functions(by_kind), kind(of.kind), created_at(of.created_at) {}

  support::reference_count references;  // the generation's, and one for each handle

  // Operations under way, in steps of one_use, and two flags. An operation enters and then looks (acquire) at the flags;
  // the closing sets `closing` (release, with all that it did before) and then looks at the uses. One sees the other.
  std::atomic<std::uint32_t> uses{0};
  static constexpr std::uint32_t closing = 1;   // only the group's own callbacks may use the member
  static constexpr std::uint32_t released = 2;  // nobody may
  static constexpr std::uint32_t one_use = 4;

  callback_context& context;  // there until `released` is set, and only for those that the closing waits for

  // Who it belongs to: to be compared, never followed. Somebody who has seen `closing` and not `released` can be overtaken
  // by the whole rest of the closing before he has found out whether he is inside a callback of this generation. If he is,
  // it is there; if not, no callback that he is inside of can belong to another one at the same address, since both
  // were there when he looked at the flags.
  const group_generation* generation = nullptr;

  const member_functions& functions;
  const object_kind kind;
  const std::source_location created_at;
};

struct group_generation {
  explicit group_generation(const group_state& owner) noexcept : of(owner) {}

  const group_state& of;
  PTP_CLEANUP_GROUP native = nullptr;
  std::vector<member_record*> members;  // grows under the group's lock, until the closing takes the generation over

  // Set before `closing` is, for those who find that set, and for callbacks that begin.
  std::atomic<bool> cancelling{false};

  /// How often callbacks of members have submitted work since the closing began. Counted after the submission and before
  /// the callback returns, so that whoever has waited for the callback finds it counted. Relaxed: that wait orders it.
  std::atomic<std::uint64_t> late_submissions{0};
};

}  // namespace tidepool::detail

namespace tidepool {

/// Whether the calling thread is inside a callback, not disassociated, of a member of `generation`, which need not exist
/// any more. Such a callback is waited for before anything is released.
[[nodiscard]] bool runs_in_callback_of(const detail::group_generation* generation) noexcept;
/// Whether it is inside a callback of any of the group's members, disassociated or not: the end of a closing waits for
/// both.
[[nodiscard]] bool runs_in_callback_of(const detail::group_state& group) noexcept;

/// Whether a callback that begins has been dropped: it was queued when its group was closed with cancellation, and a thread
/// has been faster than the closing.
[[nodiscard]] inline bool is_dropped(const detail::callback_context& context) noexcept {
  // Relaxed: a callback that begins at the same time may run as well.
  return context.group != nullptr && context.group->cancelling.load(std::memory_order_relaxed);
}

/// Wakes the closings that wait for operations: one of them has ended.
void tell_departure() noexcept;

/// Ends all members up to the release of their native objects. Nobody adds any.
void close_natives(detail::group_generation& generation, bool cancel_pending) noexcept;

/// Destroys what close_natives() has left, and the generation. Outside every lock.
void destroy_members(detail::group_generation* generation) noexcept;

/// One handle less, or the generation.
inline void give_back(detail::member_record& record) noexcept {
  if (record.references.drop()) {
    delete &record;
  }
}

}  // namespace tidepool
