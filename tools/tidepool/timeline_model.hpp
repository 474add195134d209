#pragma once

// What a capture means: which records are about the same object, where callbacks begin and end, what made each of them
// begin and how long it waited for a thread. Both outputs, the page and the Chrome trace, only draw this.

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "capture.hpp"

namespace tool {

using index = std::uint32_t;
inline constexpr index no_index = std::numeric_limits<index>::max();
inline constexpr std::int64_t no_time = -1;

/// When something is due and no callback begins for longer than this, the pool stalls.
inline constexpr std::chrono::nanoseconds stall_threshold = std::chrono::milliseconds{10};

struct timeline_thread {
  std::uint64_t number = 0;
  std::string name;
  bool worker = false;    ///< of a pool: it said so, or it ran callbacks
  index pool = no_index;  ///< the object that is its pool, when the capture says so
};

/// An object from its creation to its end. An address that is used again is another object.
struct timeline_object {
  std::string_view kind;
  std::uint64_t address = 0;
  std::string_view site;
  bool created = false;    ///< its creation is in the capture
  bool destroyed = false;  ///< its end is
  index group = no_index;  ///< the cleanup group it is a member of
  index callbacks = 0;
  std::int64_t running = 0;  ///< nanoseconds in callbacks, those of several threads added up
};

enum class span_type : std::uint8_t { callback, drain, close, destroy, rearm, call };

enum class due_reason : std::uint8_t { unknown, submitted, due_time, signalled, timed_out };

/// Something with a beginning and an end on one thread.
struct timeline_span {
  span_type type = span_type::callback;
  bool begin_lost = false;  ///< it began before the capture does
  bool unfinished = false;  ///< its end is not in the capture
  bool cancelling = false;  ///< of a drain, or the closing of members: what has not begun is dropped
  std::uint16_t depth = 0;  ///< how many spans of its layer contain it; a layer is callbacks, calls, or the rest
  index thread = 0;
  index object = no_index;
  std::string_view name;  ///< of a call: the function
  std::string_view site;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  index begin_record = no_index;
  index end_record = no_index;

  // Of a callback: since when it could have run, and why.
  due_reason reason = due_reason::unknown;
  std::int64_t due = no_time;
  std::int64_t queue_wait() const noexcept { return due == no_time ? no_time : begin - due; }
};

enum class flow_kind : std::uint8_t { submit, arm, set, request };

/// What led to a callback: from a record to a span.
struct timeline_flow {
  flow_kind kind = flow_kind::submit;
  index record = 0;
  index span = 0;
};

/// A stretch of time in which something was due and no callback of the process began.
struct timeline_stall {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  index waiting = 0;        ///< how much was due at its end
  index running = 0;        ///< callbacks that ran all the while
  bool unfinished = false;  ///< the capture ends first
};

enum class marker_kind : std::uint8_t { suppressed, owed, exception };

struct timeline_marker {
  marker_kind kind = marker_kind::suppressed;
  index record = 0;
};

struct timeline {
  std::int64_t begin = 0;                ///< of the first record
  std::int64_t end = 0;                  ///< of the last
  std::vector<timeline_thread> threads;  ///< in the order to be shown: the first of the process, others, workers
  std::vector<timeline_object> objects;
  std::vector<timeline_span> spans;      ///< in the order of their beginnings, the outer one first
  std::vector<timeline_flow> flows;      ///< in the order of their spans
  std::vector<timeline_stall> stalls;    ///< in the order of time
  std::vector<timeline_marker> markers;  ///< in the order of time
  std::vector<index> thread_of;          ///< for each record
  std::vector<index> object_of;          ///< for each record; calls and exceptions have none

  std::vector<index> busiest_objects;  ///< with the most time in callbacks, at most ten
  std::vector<index> longest_waits;    ///< callbacks, at most ten
};

/// The result points into the capture, which must live longer.
timeline timeline_of(const capture& source);

/// "work", "wait" and so on: the kinds that have callbacks.
bool has_callbacks(std::string_view kind) noexcept;

/// What to call an object or a callback: its kind, and the file and line where it was made.
std::string label_of(std::string_view kind, std::string_view site);

/// Words for the reader of an output.
std::string_view name_of(span_type type) noexcept;
std::string_view name_of(flow_kind kind) noexcept;
std::string_view name_of(due_reason reason) noexcept;
std::string_view name_of(marker_kind kind) noexcept;

}  // namespace tool
