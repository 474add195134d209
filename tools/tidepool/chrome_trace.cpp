#include "chrome_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

namespace tool {
namespace {

using nlohmann::json;

// A flow binds to the slice around it, and most submissions stand in none: they get one, this long.
constexpr std::int64_t longest_source = 1000;

// Shorter queue waits are an argument of their callback, and no track of their own.
constexpr std::int64_t shortest_shown_wait = 1'000'000;

std::string as_json(std::string_view text) { return json(text).dump(-1, ' ', true, json::error_handler_t::replace); }

/// Microseconds, with all the nanoseconds.
std::string microseconds(std::int64_t nanoseconds) {
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

/// A stretch of time on a thread. The slices of a thread may contain each other, and not overlap otherwise.
struct slice {
  index thread = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  index span = no_index;  // or else
  index record = no_index;
};

class writer {
 public:
  writer(const capture& source, const timeline& lines) : source_{source}, lines_{lines} {}

  std::string write() {
    text_ = "{\"displayTimeUnit\":\"ns\",\"otherData\":" + facts() + ",\"traceEvents\":[";
    name_threads();
    for (const slice& one : slices()) {
      if (one.span != no_index) {
        write_span(one);
      } else {
        write_source(one);
      }
    }
    write_flows();
    write_markers();
    write_waits();
    write_stalls();
    text_ += "\n]}\n";
    return std::move(text_);
  }

 private:
  std::string facts() const {
    const json facts{{"process", source_.process},       {"system", source_.system}, {"began", source_.began},
                     {"categories", source_.categories}, {"lost", source_.lost},     {"problems", source_.problems}};
    return facts.dump(-1, ' ', true, json::error_handler_t::replace);
  }

  void event(std::string_view phase, std::string_view name, std::string_view category, std::int64_t time, index thread,
             std::string_view more) {
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
    text_ += fmt::format(R"({{"ph":"{}","name":{},"cat":{},"ts":{},"pid":{},"tid":{}{}}})", phase, as_json(name),
                         as_json(category), microseconds(time), source_.process_number,
                         lines_.threads.empty() ? 0 : lines_.threads[thread].number, more);
  }

  void metadata(std::string_view name, index thread, std::string_view arguments) {
    event("M", name, "__metadata", 0, thread, fmt::format(R"(,"args":{{{}}})", arguments));
  }

  void name_threads() {
    if (lines_.threads.empty()) return;
    metadata("process_name", 0, "\"name\":" + as_json(source_.process));
    for (index i = 0; i < lines_.threads.size(); ++i) {
      const timeline_thread& thread = lines_.threads[i];
      std::string_view name = thread.name;
      if (name.empty()) name = thread.worker ? "pool worker" : "thread";
      metadata("thread_name", i, "\"name\":" + as_json(name));
      metadata("thread_sort_index", i, fmt::format("\"sort_index\":{}", i));
    }
  }

  /// Spans and what flows begin in, ordered and cut so that they nest.
  std::vector<slice> slices() const {
    std::vector<slice> all;
    for (index i = 0; i < lines_.spans.size(); ++i) {
      const timeline_span& span = lines_.spans[i];
      all.push_back({span.thread, span.begin, span.end, i, no_index});
    }
    std::vector<std::int64_t> next(lines_.threads.size(), lines_.end);  // record of the same thread
    std::vector<bool> is_source(source_.records.size());
    for (const timeline_flow& flow : lines_.flows) is_source[flow.record] = true;
    for (index i = static_cast<index>(source_.records.size()); i-- > 0;) {
      const std::int64_t time = source_.records[i].time;
      const index thread = lines_.thread_of[i];
      if (is_source[i]) all.push_back({thread, time, std::min(next[thread], time + longest_source), no_index, i});
      next[thread] = time;
    }
    const auto place = [](const slice& one) { return std::tuple{one.begin, -one.end, one.span, one.record}; };
    std::sort(all.begin(), all.end(), [&](const slice& one, const slice& other) { return place(one) < place(other); });
    std::vector<std::vector<std::int64_t>> around(lines_.threads.size());
    for (slice& one : all) {
      std::vector<std::int64_t>& ends = around[one.thread];
      while (!ends.empty() && ends.back() <= one.begin) ends.pop_back();
      if (!ends.empty()) one.end = std::min(one.end, ends.back());
      ends.push_back(one.end);
    }
    return all;
  }

  void write_slice(const slice& one, std::string_view name, std::string_view category, const json& arguments) {
    event("X", name, category, one.begin, one.thread,
          fmt::format(R"(,"dur":{},"args":{})", microseconds(one.end - one.begin),
                      arguments.dump(-1, ' ', true, json::error_handler_t::replace)));
  }

  void write_span(const slice& one) {
    const timeline_span& span = lines_.spans[one.span];
    json arguments = json::object();
    std::string name{span.name};
    std::string_view category = name_of(span.type);
    if (span.object != no_index) {
      const timeline_object& object = lines_.objects[span.object];
      name = label_of(object.kind, span.site);
      if (span.type == span_type::callback) {
        category = object.kind;
      } else {
        name = fmt::format("{} {}", name_of(span.type), name);
      }
      arguments["object"] = fmt::format("{:#x}", object.address);
    } else {
      arguments["object"] = fmt::format("{:#x}", source_.records[any_record_of(span)].target);
    }
    if (!span.site.empty()) arguments["site"] = span.site;
    if (span.due != no_time) {
      arguments["waited_since"] = name_of(span.reason);
      arguments["waited_ns"] = span.queue_wait();
    }
    if (span.cancelling) arguments["cancel"] = true;
    if (span.begin_lost) arguments["begin_lost"] = true;
    if (span.unfinished) arguments["unfinished"] = true;
    write_slice(one, name, category, arguments);
  }

  static index any_record_of(const timeline_span& span) noexcept {
    return span.begin_record != no_index ? span.begin_record : span.end_record;
  }

  void write_source(const slice& one) {
    const capture_record& record = source_.records[one.record];
    write_slice(one, fmt::format("{} {}", record.kind, record.action), "source",
                {{"object", fmt::format("{:#x}", record.target)}, {"values", record.values}});
  }

  void write_flows() {
    for (index i = 0; i < lines_.flows.size(); ++i) {
      const timeline_flow& flow = lines_.flows[i];
      const std::string_view name = name_of(flow.kind);
      const timeline_span& span = lines_.spans[flow.span];
      event("s", name, "flow", source_.records[flow.record].time, lines_.thread_of[flow.record],
            fmt::format(R"(,"id":{})", i));
      event("f", name, "flow", span.begin, span.thread, fmt::format(R"(,"id":{},"bp":"e")", i));
    }
  }

  void write_markers() {
    for (const timeline_marker& marker : lines_.markers) {
      const capture_record& record = source_.records[marker.record];
      event("i", name_of(marker.kind), record.kind, record.time, lines_.thread_of[marker.record],
            R"(,"s":"t","args":{"values":)" + as_json(record.values) + "}");
    }
  }

  void stretch(std::string_view name, std::string_view category, std::int64_t begin, std::int64_t end, index thread) {
    const std::string more = fmt::format(R"(,"id":{})", next_stretch_++);
    event("b", name, category, begin, thread, more);
    event("e", name, category, end, thread, more);
  }

  void write_waits() {
    for (const timeline_span& span : lines_.spans) {
      if (span.queue_wait() < shortest_shown_wait || span.object == no_index) continue;
      stretch("waits: " + label_of(lines_.objects[span.object].kind, span.site), "queue wait", span.due, span.begin,
              span.thread);
    }
  }

  void write_stalls() {
    for (const timeline_stall& stall : lines_.stalls) {
      stretch(fmt::format("stall: {} due, {} running", stall.waiting, stall.running), "stall", stall.begin, stall.end,
              0);
    }
  }

  const capture& source_;
  const timeline& lines_;
  std::string text_;
  bool first_ = true;
  index next_stretch_ = 0;
};

}  // namespace

std::string chrome_trace(const capture& source, const timeline& lines) { return writer{source, lines}.write(); }

}  // namespace tool
