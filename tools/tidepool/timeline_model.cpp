#include "timeline_model.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "timeline_causes.hpp"

namespace tool {
namespace {

constexpr std::size_t longest_list = 10;

constexpr std::array<std::string_view, 6> kinds_with_callbacks{"work",           "one-off", "timer",
                                                               "periodic_timer", "wait",    "io"};

/// What an action opens or closes.
struct boundary {
  std::string_view begin, end;
  span_type type;
};
constexpr std::array<boundary, 5> boundaries{{{"enter", "leave", span_type::callback},
                                              {"drain-begin", "drain-end", span_type::drain},
                                              {"close-begin", "close-end", span_type::close},
                                              {"destroy-begin", "destroyed", span_type::destroy},
                                              {"rearm-enter", "rearm-leave", span_type::rearm}}};

/// Spans of one layer contain each other; those of different layers are shown one below the other.
int layer_of(span_type type) noexcept { return type == span_type::callback ? 0 : type == span_type::call ? 2 : 1; }

class builder {
 public:
  explicit builder(const capture& source) : source_{source} {}

  timeline build() {
    if (!source_.records.empty()) {
      lines_.begin = source_.records.front().time;
      lines_.end = source_.records.back().time;
    }
    find_objects();
    find_threads();
    find_spans();
    nest();
    find_stalls(match_causes(source_, lines_), lines_);
    find_markers();
    sum_up();
    return std::move(lines_);
  }

 private:
  // ---- objects ---------------------------------------------------------------------------------------

  void find_objects() {
    lines_.object_of.reserve(source_.records.size());
    for (const capture_record& record : source_.records) lines_.object_of.push_back(object_of(record));
  }

  index object_of(const capture_record& record) {
    if (record.kind == "call" || record.kind == "exception") return no_index;
    const bool of_worker = record.kind == "worker";  // its target is its pool
    index& known = objects_.try_emplace({of_worker ? "pool" : record.kind, record.target}, no_index).first->second;
    const bool begins = record.action == "created" || record.is("one-off", "submitted");
    if (known == no_index || begins) {
      known = static_cast<index>(lines_.objects.size());
      lines_.objects.push_back({of_worker ? "pool" : record.kind, record.target, {}, begins});
      if (has_callbacks(record.kind)) latest_at_[record.target] = known;
    }
    timeline_object& object = lines_.objects[known];
    if (object.site.empty() && record.action != "drain-owed") object.site = record.value("site").value_or("");
    if (record.action == "destroyed" || (!has_callbacks(record.kind) && record.action == "closed") ||
        record.is("one-off", "leave")) {
      object.destroyed = true;
    }
    if (record.is("group", "member")) {
      const auto member = latest_at_.find(record.address("member").value_or(0));
      if (member != latest_at_.end()) lines_.objects[member->second].group = known;
    }
    return known;
  }

  // ---- threads ---------------------------------------------------------------------------------------

  void find_threads() {
    std::map<std::uint64_t, timeline_thread> found;
    for (std::size_t i = 0; i < source_.records.size(); ++i) {
      const capture_record& record = source_.records[i];
      timeline_thread& thread = found.try_emplace(record.thread).first->second;
      if (record.kind == "worker") {
        thread.worker = true;
        thread.pool = lines_.object_of[i];
      } else if (record.action == "enter" && has_callbacks(record.kind)) {
        thread.worker = true;
      }
    }
    for (auto& [number, thread] : found) {
      thread.number = number;
      if (const auto name = source_.threads.find(number); name != source_.threads.end()) thread.name = name->second;
      lines_.threads.push_back(thread);
    }
    const auto place = [this](const timeline_thread& thread) {
      return std::tuple{thread.number != source_.process_number, thread.worker, thread.pool, thread.number};
    };
    std::sort(lines_.threads.begin(), lines_.threads.end(),
              [&](const timeline_thread& one, const timeline_thread& other) { return place(one) < place(other); });
    std::unordered_map<std::uint64_t, index> places;
    for (index i = 0; i < lines_.threads.size(); ++i) places[lines_.threads[i].number] = i;
    lines_.thread_of.reserve(source_.records.size());
    for (const capture_record& record : source_.records) lines_.thread_of.push_back(places[record.thread]);
  }

  // ---- spans -----------------------------------------------------------------------------------------

  void find_spans() {
    for (index i = 0; i < source_.records.size(); ++i) {
      const capture_record& record = source_.records[i];
      for (const boundary& edge : boundaries) {
        const span_type type = record.kind == "call" ? span_type::call : edge.type;
        if (type == span_type::callback && !has_callbacks(record.kind)) continue;
        if (record.action == edge.begin) open(i, record, type);
        if (record.action == edge.end) close(i, record, type);
        if (type == span_type::call && &edge == &boundaries.front()) break;
      }
    }
    for (timeline_span& span : lines_.spans) {
      if (span.end_record == no_index && !span.unfinished) {
        span.unfinished = true;
        span.end = lines_.end;
      }
    }
    // A destruction that ends on another thread, after the callback that began it, is not a stretch of time of this one.
    std::erase_if(lines_.spans,
                  [](const timeline_span& span) { return span.type == span_type::destroy && span.unfinished; });
  }

  void open(index i, const capture_record& record, span_type type) {
    timeline_span span;
    span.type = type;
    span.thread = lines_.thread_of[i];
    span.object = lines_.object_of[i];
    span.begin = record.time;
    span.begin_record = i;
    span.cancelling = record.number("cancel") == 1;
    describe(span, record);
    if (type == span_type::callback) end_callback_before(span);
    open_[key_of(span, record)].push_back(lines_.spans.size());
    lines_.spans.push_back(span);
  }

  /// A thread runs one callback at a time: if another has not ended here, its end is missing.
  void end_callback_before(const timeline_span& next) {
    const auto [found, is_first] = latest_callback_.try_emplace(next.thread, lines_.spans.size());
    if (is_first) return;
    timeline_span& before = lines_.spans[std::exchange(found->second, lines_.spans.size())];
    if (before.end_record != no_index) return;
    before.unfinished = true;
    before.end = next.begin;
    open_[{before.type, before.thread, before.object, 0, {}}].clear();
  }

  void close(index i, const capture_record& record, span_type type) {
    timeline_span ended;
    ended.type = type;
    ended.thread = lines_.thread_of[i];
    ended.object = lines_.object_of[i];
    std::vector<std::size_t>& open = open_[key_of(ended, record)];
    if (!open.empty()) {
      timeline_span& span = lines_.spans[open.back()];
      open.pop_back();
      span.end = record.time;
      span.end_record = i;
      last_end_[{span.thread, layer_of(type)}] = record.time;
    } else if (type != span_type::destroy) {
      ended.begin_lost = true;
      // It cannot have begun before what came before it on this thread was over.
      ended.begin = last_end_.try_emplace({ended.thread, layer_of(type)}, lines_.begin).first->second;
      ended.end = record.time;
      ended.end_record = i;
      describe(ended, record);
      lines_.spans.push_back(ended);
    }
  }

  void describe(timeline_span& span, const capture_record& record) const {
    span.name = record.value("call").value_or("");
    span.site = record.value("site").value_or("");
    if (span.site.empty() && span.object != no_index) span.site = lines_.objects[span.object].site;
  }

  using span_key = std::tuple<span_type, index, index, std::uint64_t, std::string_view>;
  static span_key key_of(const timeline_span& span, const capture_record& record) {
    const bool call = span.type == span_type::call;
    return {span.type, span.thread, span.object, call ? record.target : 0,
            call ? record.value("call").value_or("") : std::string_view{}};
  }

  /// Puts the spans in their order, and says how deep each lies within its layer.
  void nest() {
    const auto place = [](const timeline_span& span) {
      const std::int64_t began = span.begin_record == no_index ? -1 : std::int64_t{span.begin_record};
      return std::tuple{span.begin, -span.end, began, -std::int64_t{span.end_record}};
    };
    std::sort(lines_.spans.begin(), lines_.spans.end(),
              [&](const timeline_span& one, const timeline_span& other) { return place(one) < place(other); });
    std::map<std::pair<index, int>, std::vector<std::int64_t>> around;  // where the spans end that are still open
    for (timeline_span& span : lines_.spans) {
      std::vector<std::int64_t>& ends = around[{span.thread, layer_of(span.type)}];
      while (!ends.empty() && ends.back() <= span.begin) ends.pop_back();
      span.depth = static_cast<std::uint16_t>(std::min<std::size_t>(ends.size(), 100));
      ends.push_back(span.end);
      if (span.type != span_type::callback || span.object == no_index) continue;
      timeline_object& object = lines_.objects[span.object];
      ++object.callbacks;
      object.running += span.end - span.begin;
    }
  }

  // ---- what one looks for ----------------------------------------------------------------------------

  void find_markers() {
    for (index i = 0; i < source_.records.size(); ++i) {
      const capture_record& record = source_.records[i];
      if (record.action == "rearm-suppressed") {
        lines_.markers.push_back({marker_kind::suppressed, i});
      } else if (record.action == "drain-owed") {
        lines_.markers.push_back({marker_kind::owed, i});
      } else if (record.kind == "exception") {
        lines_.markers.push_back({marker_kind::exception, i});
      }
    }
  }

  template <typename Measure>
  static std::vector<index> largest(std::size_t count, Measure measure) {
    std::vector<index> order;
    for (index i = 0; i < count; ++i) {
      if (measure(i) > 0) order.push_back(i);
    }
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(order.size(), longest_list));
    std::partial_sort(order.begin(), end, order.end(), [&](index one, index other) {
      return measure(one) != measure(other) ? measure(one) > measure(other) : one < other;
    });
    order.erase(end, order.end());
    return order;
  }

  void sum_up() {
    lines_.busiest_objects = largest(lines_.objects.size(), [this](index i) { return lines_.objects[i].running; });
    lines_.longest_waits = largest(lines_.spans.size(), [this](index i) { return lines_.spans[i].queue_wait(); });
  }

  const capture& source_;
  timeline lines_;
  std::map<std::pair<std::string_view, std::uint64_t>, index> objects_;  // the latest with this kind and address
  std::unordered_map<std::uint64_t, index> latest_at_;                   // the latest with callbacks, whatever its kind
  std::map<span_key, std::vector<std::size_t>> open_;
  std::unordered_map<index, std::size_t> latest_callback_;  // of each thread: its span
  std::map<std::pair<index, int>, std::int64_t> last_end_;  // of the spans of a thread and a layer
};

}  // namespace

timeline timeline_of(const capture& source) { return builder{source}.build(); }

bool has_callbacks(std::string_view kind) noexcept {
  return std::find(kinds_with_callbacks.begin(), kinds_with_callbacks.end(), kind) != kinds_with_callbacks.end();
}

std::string label_of(std::string_view kind, std::string_view site) {
  std::string label{kind};
  if (!site.empty()) {
    label += ' ';
    label += site.substr(site.find_last_of("/\\") + 1);
  }
  return label;
}

std::string_view name_of(span_type type) noexcept {
  switch (type) {
    case span_type::callback: return "callback";
    case span_type::drain: return "drain";
    case span_type::close: return "close members";
    case span_type::destroy: return "destroy";
    case span_type::rearm: return "re-arm";
    case span_type::call: return "call";
  }
  return "";
}

std::string_view name_of(flow_kind kind) noexcept {
  switch (kind) {
    case flow_kind::submit: return "submitted";
    case flow_kind::arm: return "armed";
    case flow_kind::set: return "signalled";
    case flow_kind::request: return "requested";
  }
  return "";
}

std::string_view name_of(due_reason reason) noexcept {
  switch (reason) {
    case due_reason::unknown: return "unknown";
    case due_reason::submitted: return "submission";
    case due_reason::due_time: return "due time";
    case due_reason::signalled: return "signal";
    case due_reason::timed_out: return "time-out";
  }
  return "";
}

std::string_view name_of(marker_kind kind) noexcept {
  switch (kind) {
    case marker_kind::suppressed: return "re-arm suppressed";
    case marker_kind::owed: return "drain owed";
    case marker_kind::exception: return "exception";
  }
  return "";
}

}  // namespace tool
