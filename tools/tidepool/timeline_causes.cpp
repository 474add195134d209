// Which submission, arming, signal or request led to which callback. The trace does not say so: several submissions of
// one object are alike, and an event does not know whom it will wake. What is found here is the order in which the pool
// hands things out, which is the order in which they came.

#include "timeline_causes.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace tool {
namespace {

constexpr std::int64_t nanoseconds_per_millisecond = 1'000'000;

// Whatever is armed for later than a year from now is armed for then: sums of times do not overflow.
constexpr std::int64_t a_year = std::int64_t{366} * 24 * 3600 * 1'000'000'000;

struct arming {
  index record = no_index;
  std::int64_t time = 0;
  std::int64_t due = no_time;  // of a timer, and the time-out of a wait
  std::int64_t window = 0;     // a timer may be this much later and still be on time
  std::int64_t period = 0;     // of a periodic timer
  std::uint64_t handle = 0;    // of a wait
};

/// An event that was set. Waits take such signals, each at most one.
struct signal {
  index record = no_index;
  std::int64_t time = 0;
  bool taken = false;
  bool reset = false;
};

struct event_state {
  std::vector<signal> signals;
  bool manual = false;  // somebody resets it: a signal stays when it has been taken
};

struct object_state {
  std::deque<index> submissions;
  // How many more there were than the capture shows, as far as its callbacks tell.
  std::size_t lost_submissions = 0;
  std::optional<arming> armed;
  std::optional<arming> before;  // replaced or disarmed; a callback of it may be on its way
  index rearming = no_index;     // a re-arm has begun, and its arming is not known yet
  std::uint64_t handle = 0;      // of the latest arming
  std::int64_t drain_began = no_time;
  bool cancelling = false;
};

class matcher {
 public:
  matcher(const capture& source, timeline& lines) : source_{source}, lines_{lines}, states_(lines.objects.size()) {}

  std::vector<due_interval> run() {
    find_manual_events();
    count_lost_submissions();
    span_of_enter_.assign(source_.records.size(), no_index);
    for (index i = 0; i < lines_.spans.size(); ++i) {
      const timeline_span& span = lines_.spans[i];
      if (span.type == span_type::callback && span.begin_record != no_index) span_of_enter_[span.begin_record] = i;
    }
    for (index i = 0; i < source_.records.size(); ++i) follow(i);
    for (object_state& state : states_) abandon(state, lines_.end);
    const auto place = [](const timeline_flow& flow) { return std::tuple{flow.span, flow.kind, flow.record}; };
    std::sort(lines_.flows.begin(), lines_.flows.end(),
              [&](const timeline_flow& one, const timeline_flow& other) { return place(one) < place(other); });
    return std::move(due_);
  }

 private:
  void find_manual_events() {
    for (const capture_record& record : source_.records) {
      if (record.is("event", "reset")) resets_.insert(record.target);
    }
  }

  /// An object whose creation is lost may have been submitted before the capture begins. It has been at least as often
  /// as its callbacks outrun its submissions, until a drain settles that.
  void count_lost_submissions() {
    if (source_.lost == 0) return;
    struct balance {
      std::size_t submitted = 0, begun = 0;
      bool settled = false;
    };
    std::vector<balance> balances(states_.size());
    for (index i = 0; i < source_.records.size(); ++i) {
      const index object = lines_.object_of[i];
      if (object == no_index || lines_.objects[object].created) continue;
      if (source_.records[i].kind != "work") continue;
      balance& known = balances[object];
      if (known.settled) continue;
      const std::string_view action = source_.records[i].action;
      if (action == "submitted") {
        ++known.submitted;
      } else if (action == "drain-end") {
        known.settled = true;
      } else if (action == "enter" && ++known.begun > known.submitted + states_[object].lost_submissions) {
        ++states_[object].lost_submissions;
      }
    }
  }

  void follow(index i) {
    const capture_record& record = source_.records[i];
    if (record.kind == "event") return follow_event(i, record);
    const index object = lines_.object_of[i];
    if (object == no_index || !has_callbacks(record.kind)) return;
    object_state& state = states_[object];
    if (record.action == "submitted") {
      state.submissions.push_back(i);
    } else if (record.action == "request-begin") {
      requests_.insert_or_assign(record.address("request").value_or(0), i);
    } else if (record.action == "armed") {
      arm(state, arming_of(i, record));
      state.rearming = no_index;
    } else if (record.action == "rearm-enter") {
      state.rearming = i;
    } else if (record.action == "rearm-leave") {
      arm_again(state);
    } else if (record.action == "disarmed") {
      drop_armed(state, record.time);
    } else if (record.action == "drain-begin") {
      state.drain_began = record.time;
      state.cancelling = record.number("cancel") == 1;
    } else if (record.action == "drain-end") {
      settle(state);
    } else if (record.action == "closed" || record.action == "destroyed") {
      abandon(state, record.time);
    } else if (record.action == "request-end") {
      finished_[record.thread] = {object, take_request(record)};
    } else if (record.action == "enter" && span_of_enter_[i] != no_index) {
      begin(span_of_enter_[i], record, object, state);
    }
  }

  void follow_event(index i, const capture_record& record) {
    event_state& event = events_[record.target];
    if (record.action == "set") {
      event.signals.push_back({i, record.time});
    } else if (record.action == "reset") {
      if (!event.signals.empty()) event.signals.back().reset = true;
    } else if (record.action == "created" || record.action == "closed") {
      event.signals.clear();
    }
    event.manual = resets_.contains(record.target);
  }

  static std::int64_t milliseconds(const capture_record& record, std::string_view name) {
    constexpr std::int64_t most = a_year / nanoseconds_per_millisecond;
    return std::clamp<std::int64_t>(record.number(name).value_or(0), 0, most) * nanoseconds_per_millisecond;
  }

  static arming arming_of(index i, const capture_record& record) {
    arming made{i, record.time};
    if (const auto after = record.number(record.kind == "wait" ? "timeout_ns" : "after_ns")) {
      made.due = record.time + std::clamp<std::int64_t>(*after, 0, a_year);
    }
    made.window = milliseconds(record, "window_ms");
    made.period = milliseconds(record, "period_ms");
    made.handle = record.address("handle").value_or(0);
    return made;
  }

  static void arm(object_state& state, const arming& made) {
    if (state.armed) state.before = state.armed;
    state.armed = made;
    state.handle = made.handle;
  }

  /// A re-arm that left no record of its arming: when it is due is not known.
  void arm_again(object_state& state) {
    if (state.rearming == no_index) return;
    arming made{state.rearming, source_.records[state.rearming].time};
    made.handle = state.handle;
    arm(state, made);
    state.rearming = no_index;
  }

  // ---- what ends without a callback ------------------------------------------------------------------

  /// Nothing of what came before the drain is on its way any more: a cancelling one has dropped what did not begin.
  void settle(object_state& state) {
    if (state.drain_began == no_time) return;
    while (!state.submissions.empty() && source_.records[state.submissions.front()].time <= state.drain_began) {
      if (state.cancelling) was_due(state.submissions.front(), state.drain_began);
      state.submissions.pop_front();
    }
    if (state.cancelling && state.armed && due_before(*state.armed, state.drain_began)) {
      drop_armed(state, state.drain_began);
    }
    state.lost_submissions = 0;
    state.before.reset();
    state.drain_began = no_time;
  }

  void drop_armed(object_state& state, std::int64_t now) {
    if (!state.armed) return;
    if (const auto since = due_before(*state.armed, now)) due_.push_back({*since, now});
    state.before = std::exchange(state.armed, std::nullopt);
  }

  void abandon(object_state& state, std::int64_t now) {
    if (state.cancelling) settle(state);
    for (const index submitted : state.submissions) was_due(submitted, now);
    state.submissions.clear();
    drop_armed(state, now);
    state.before.reset();
    state.rearming = no_index;
  }

  void was_due(index submitted, std::int64_t until) {
    const capture_record& record = source_.records[submitted];
    if (record.kind != "io") due_.push_back({record.time, until});  // a request is due when the system is done with it
  }

  /// Since when the arming has been due at this moment, if it is and no callback took it.
  std::optional<std::int64_t> due_before(const arming& made, std::int64_t now) {
    std::optional<std::int64_t> since;
    if (made.due != no_time && made.due + made.window < now) since = made.due + made.window;
    if (const signal* found = signal_for(made, now); found != nullptr && !found->taken) {
      const std::int64_t signalled = std::max(found->time, made.time);
      if (!since || signalled < *since) since = signalled;
    }
    return since;
  }

  // ---- what a callback came from ----------------------------------------------------------------------

  void begin(index span, const capture_record& record, index object, object_state& state) {
    if (record.kind == "work" || record.kind == "one-off") {
      begin_submitted(span, state);
    } else if (record.kind == "io") {
      begin_handler(span, record, object);
    } else {
      begin_armed(span, record, state);
    }
  }

  /// The oldest submission, if it is in the capture.
  static index take_submission(object_state& state) {
    if (state.lost_submissions > 0) {
      --state.lost_submissions;
      return no_index;
    }
    if (state.submissions.empty()) return no_index;
    const index submitted = state.submissions.front();
    state.submissions.pop_front();
    return submitted;
  }

  void begin_submitted(index span, object_state& state) {
    const index submitted = take_submission(state);
    if (submitted == no_index) return;
    add_flow(flow_kind::submit, submitted, span);
    set_due(span, due_reason::submitted, source_.records[submitted].time);
  }

  index take_request(const capture_record& end) {
    const auto request = requests_.extract(end.address("request").value_or(0));
    return request.empty() ? no_index : request.mapped();
  }

  void begin_handler(index span, const capture_record& record, index object) {
    const auto found = finished_.find(record.thread);
    if (found == finished_.end() || found->second.first != object) return;
    if (found->second.second != no_index) add_flow(flow_kind::request, found->second.second, span);
    finished_.erase(found);
  }

  void begin_armed(index span, const capture_record& record, object_state& state) {
    if (state.rearming != no_index && !state.armed) arm_again(state);
    if (record.kind == "periodic_timer") return begin_tick(span, record, state);
    // It comes from an earlier arming when the present one cannot have been due yet.
    const bool early = state.armed && state.before && !ready(*state.armed, record.time);
    std::optional<arming>& used = early || !state.armed ? state.before : state.armed;
    if (!used) return;
    const arming made = *used;
    used.reset();
    if (!early) state.before.reset();
    add_flow(flow_kind::arm, made.record, span);
    if (record.kind == "wait") {
      begin_wait(span, record, made);
    } else if (made.due != no_time) {
      set_due(span, due_reason::due_time, std::min(made.due, record.time), made.window);
    }
  }

  bool ready(const arming& made, std::int64_t now) {
    if (made.handle != 0) return signal_for(made, now) != nullptr || (made.due != no_time && made.due <= now);
    return made.due == no_time || made.due <= now;
  }

  /// A tick that finds one queued is merged with it, so the tick that begins now was due at the first moment of the
  /// period after the one before began.
  void begin_tick(index span, const capture_record& record, object_state& state) {
    std::optional<arming>& used = state.armed ? state.armed : state.before;
    if (!used) return;
    add_flow(flow_kind::arm, used->record, span);
    if (used->due == no_time) return;
    set_due(span, due_reason::due_time, std::min(used->due, record.time));
    if (used->period > 0 && used->due <= record.time) {
      used->due += ((record.time - used->due) / used->period + 1) * used->period;
    }
  }

  void begin_wait(index span, const capture_record& record, const arming& made) {
    const bool in_time = made.due != no_time && made.due <= record.time;
    signal* found = signal_for(made, record.time);
    if (found == nullptr && !in_time) found = standing_signal(made, record.time);
    const std::int64_t signalled = found != nullptr ? std::max(found->time, made.time) : no_time;
    if (found != nullptr && (!in_time || signalled <= made.due)) {
      found->taken = true;
      add_flow(flow_kind::set, found->record, span);
      set_due(span, due_reason::signalled, signalled);
    } else if (in_time) {
      set_due(span, due_reason::timed_out, made.due);
    }
  }

  /// The signal that a wait armed like this would have taken by now: the first since then that nobody took; or one from
  /// before that is still there.
  signal* signal_for(const arming& made, std::int64_t now) {
    const auto event = events_.find(made.handle);
    if (made.handle == 0 || event == events_.end()) return nullptr;
    std::vector<signal>& signals = event->second.signals;
    const auto first = std::lower_bound(signals.begin(), signals.end(), made.time,
                                        [](const signal& one, std::int64_t time) { return one.time < time; });
    if (first != signals.begin()) {
      signal& last = *std::prev(first);
      if (!last.reset && (event->second.manual || !last.taken)) return &last;
    }
    const auto found =
        std::find_if(first, signals.end(), [&](const signal& one) { return event->second.manual || !one.taken; });
    return found != signals.end() && found->time <= now ? &*found : nullptr;
  }

  /// The signal of an event that is set and stays so, as far as it can be told: somebody else has taken it, and still it
  /// woke this wait too.
  signal* standing_signal(const arming& made, std::int64_t now) {
    const auto event = events_.find(made.handle);
    if (made.handle == 0 || event == events_.end()) return nullptr;
    std::vector<signal>& signals = event->second.signals;
    return !signals.empty() && !signals.back().reset && signals.back().time <= now ? &signals.back() : nullptr;
  }

  void add_flow(flow_kind kind, index record, index span) { lines_.flows.push_back({kind, record, span}); }

  void set_due(index i, due_reason reason, std::int64_t time, std::int64_t window = 0) {
    timeline_span& span = lines_.spans[i];
    span.reason = reason;
    span.due = time;
    due_.push_back({std::min(time + window, span.begin), span.begin, true});
  }

  const capture& source_;
  timeline& lines_;
  std::vector<object_state> states_;
  std::unordered_map<std::uint64_t, event_state> events_;
  std::unordered_set<std::uint64_t> resets_;
  std::unordered_map<std::uint64_t, index> requests_;  // under way, by their numbers: the records of their beginnings
  // The request whose handler is next on a thread: its object, and the record of its beginning.
  std::unordered_map<std::uint64_t, std::pair<index, index>> finished_;
  std::vector<index> span_of_enter_;
  std::vector<due_interval> due_;
};

}  // namespace

std::vector<due_interval> match_causes(const capture& source, timeline& lines) { return matcher{source, lines}.run(); }

void find_stalls(std::vector<due_interval> due, timeline& lines) {
  enum change { comes_due, begins, is_dropped };
  std::vector<std::tuple<std::int64_t, change, bool>> changes;  // the last: something that was due began
  std::vector<std::int64_t> begun, ended;
  for (const due_interval& interval : due) {
    if (interval.begin > interval.end) continue;
    changes.emplace_back(interval.begin, comes_due, false);
    if (interval.entered) changes.emplace_back(interval.end, begins, true);
    if (!interval.entered && interval.end < lines.end) changes.emplace_back(interval.end, is_dropped, false);
  }
  for (const timeline_span& span : lines.spans) {
    if (span.type != span_type::callback) continue;
    if (!span.begin_lost && span.due == no_time) changes.emplace_back(span.begin, begins, false);
    begun.push_back(span.begin);
    if (!span.unfinished) ended.push_back(span.end);
  }
  std::sort(changes.begin(), changes.end());
  std::sort(ended.begin(), ended.end());

  index waiting = 0;
  std::int64_t since = no_time;  // something is due, and no callback has begun
  const auto close = [&](std::int64_t now, bool unfinished) {
    if (since != no_time && now - since > stall_threshold.count()) {
      const auto running = (std::upper_bound(begun.begin(), begun.end(), since) - begun.begin()) -
                           (std::lower_bound(ended.begin(), ended.end(), now) - ended.begin());
      lines.stalls.push_back(
          {since, now, waiting, static_cast<index>(std::max<std::ptrdiff_t>(running, 0)), unfinished});
    }
  };
  for (const auto& [time, what, was_due] : changes) {
    switch (what) {
      case comes_due:
        if (waiting++ == 0) since = time;
        break;
      case begins:
        close(time, false);
        if (was_due) --waiting;
        since = waiting > 0 ? time : no_time;
        break;
      case is_dropped:
        if (waiting == 1) close(time, false);
        if (--waiting == 0) since = no_time;
        break;
    }
  }
  close(lines.end, true);
}

}  // namespace tool
