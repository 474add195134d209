#include "timeline_page.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "tidepool/version.hpp"
#include "timeline_page_text.hpp"

namespace tool {
namespace {

using nlohmann::json;

/// Each text once; what refers to it is its number.
class string_table {
 public:
  index operator()(std::string_view text) {
    const auto [found, is_new] = numbers_.try_emplace(std::string{text}, static_cast<index>(numbers_.size()));
    if (is_new) strings_.push_back(text);
    return found->second;
  }
  json take() { return std::move(strings_); }

 private:
  std::unordered_map<std::string, index> numbers_;
  json strings_ = json::array();
};

std::int64_t or_minus_one(index i) noexcept { return i == no_index ? -1 : std::int64_t{i}; }

/// One array for each quantity, not one object for each thing: half the size, and what the page wants.
template <typename Things, typename Get>
json column_of(const Things& things, Get get) {
  json values = json::array();
  for (const auto& thing : things) values.push_back(get(thing));
  return values;
}

/// The differences between one time and the next: shorter.
template <typename Things, typename Get>
json steps_of(const Things& things, Get get) {
  json values = json::array();
  std::int64_t before = 0;
  for (const auto& thing : things) values.push_back(get(thing) - std::exchange(before, get(thing)));
  return values;
}

json facts_of(const capture& source) {
  return {{"process", source.process},       {"number", std::to_string(source.process_number)},
          {"system", source.system},         {"began", source.began},
          {"categories", source.categories}, {"lost", source.lost}};
}

json threads_of(const timeline& lines) {
  const auto& all = lines.threads;
  return {{"number", column_of(all, [](const auto& one) { return std::to_string(one.number); })},
          {"name", column_of(all, [](const auto& one) { return one.name; })},
          {"worker", column_of(all, [](const auto& one) { return one.worker ? 1 : 0; })},
          {"pool", column_of(all, [](const auto& one) { return or_minus_one(one.pool); })}};
}

json objects_of(const timeline& lines, string_table& text) {
  const auto& all = lines.objects;
  return {{"kind", column_of(all, [&](const auto& one) { return text(one.kind); })},
          {"address", column_of(all, [&](const auto& one) { return text(fmt::format("{:#x}", one.address)); })},
          {"site", column_of(all, [&](const auto& one) { return text(one.site); })},
          {"created", column_of(all, [](const auto& one) { return one.created ? 1 : 0; })},
          {"destroyed", column_of(all, [](const auto& one) { return one.destroyed ? 1 : 0; })},
          {"group", column_of(all, [](const auto& one) { return or_minus_one(one.group); })},
          {"callbacks", column_of(all, [](const auto& one) { return one.callbacks; })},
          {"running", column_of(all, [](const auto& one) { return one.running; })}};
}

json records_of(const capture& source, const timeline& lines, string_table& text) {
  const auto& all = source.records;
  return {{"time", steps_of(all, [](const auto& one) { return one.time; })},
          {"kind", column_of(all, [&](const auto& one) { return text(one.kind); })},
          {"action", column_of(all, [&](const auto& one) { return text(one.action); })},
          {"target", column_of(all, [&](const auto& one) { return text(fmt::format("{:#x}", one.target)); })},
          {"values", column_of(all, [&](const auto& one) { return text(one.values); })},
          {"thread", lines.thread_of},
          {"object", column_of(lines.object_of, or_minus_one)}};
}

json spans_of(const timeline& lines, string_table& text) {
  const auto& all = lines.spans;
  const auto flags = [](const timeline_span& one) {
    return (one.begin_lost ? 1 : 0) | (one.unfinished ? 2 : 0) | (one.cancelling ? 4 : 0);
  };
  return {{"type", column_of(all, [](const auto& one) { return static_cast<int>(one.type); })},
          {"flags", column_of(all, flags)},
          {"depth", column_of(all, [](const auto& one) { return one.depth; })},
          {"thread", column_of(all, [](const auto& one) { return one.thread; })},
          {"object", column_of(all, [](const auto& one) { return or_minus_one(one.object); })},
          {"name", column_of(all, [&](const auto& one) { return text(one.name); })},
          {"site", column_of(all, [&](const auto& one) { return text(one.site); })},
          {"begin", steps_of(all, [](const auto& one) { return one.begin; })},
          {"length", column_of(all, [](const auto& one) { return one.end - one.begin; })},
          {"beginRecord", column_of(all, [](const auto& one) { return or_minus_one(one.begin_record); })},
          {"endRecord", column_of(all, [](const auto& one) { return or_minus_one(one.end_record); })},
          {"reason", column_of(all, [](const auto& one) { return static_cast<int>(one.reason); })},
          {"wait", column_of(all, [](const auto& one) { return one.queue_wait(); })}};
}

json flows_of(const timeline& lines) {
  const auto& all = lines.flows;
  return {{"kind", column_of(all, [](const auto& one) { return static_cast<int>(one.kind); })},
          {"record", column_of(all, [](const auto& one) { return one.record; })},
          {"span", column_of(all, [](const auto& one) { return one.span; })}};
}

json stalls_of(const timeline& lines) {
  const auto& all = lines.stalls;
  return {{"begin", column_of(all, [](const auto& one) { return one.begin; })},
          {"end", column_of(all, [](const auto& one) { return one.end; })},
          {"waiting", column_of(all, [](const auto& one) { return one.waiting; })},
          {"running", column_of(all, [](const auto& one) { return one.running; })},
          {"unfinished", column_of(all, [](const auto& one) { return one.unfinished ? 1 : 0; })}};
}

json markers_of(const timeline& lines) {
  const auto& all = lines.markers;
  return {{"kind", column_of(all, [](const auto& one) { return static_cast<int>(one.kind); })},
          {"record", column_of(all, [](const auto& one) { return one.record; })}};
}

template <typename Enumerator>
json names_up_to(Enumerator last) {
  json names = json::array();
  for (int i = 0; i <= static_cast<int>(last); ++i) names.push_back(name_of(static_cast<Enumerator>(i)));
  return names;
}

/// JSON that can stand in a script element: it has no "<", and so no end of the element.
std::string as_script(const json& value) {
  const std::string plain = value.dump(-1, ' ', true, json::error_handler_t::replace);
  std::string safe;
  safe.reserve(plain.size());
  for (const char c : plain) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace

std::vector<std::string> notices_of(const capture& source) {
  std::vector<std::string> notices;
  if (source.records.empty()) notices.emplace_back("The capture holds no records.");
  if (source.lost > 0) {
    notices.push_back(
        fmt::format("{} record{} before the first {} lost: the buffer holds only the newest. "
                    "What began before may be shown without its beginning.",
                    source.lost, source.lost == 1 ? "" : "s", source.lost == 1 ? "is" : "are"));
  }
  if (!source.ignored.empty()) {
    notices.push_back(fmt::format("TIDEPOOL_TRACE named categories that do not exist: {}.", source.ignored));
  }
  if (source.unobserved) {
    notices.emplace_back(
        "Exceptions were asked for, and nothing observes them: the program is not linked with "
        "tidepool::exception_observer.");
  }
  return notices;
}

std::string timeline_page(const capture& source, const timeline& lines, std::string_view name) {
  string_table text;
  json data{{"file", name},
            {"version", tidepool::version_string},
            {"facts", facts_of(source)},
            {"problems", source.problems},
            {"notices", notices_of(source)},
            {"begin", lines.begin},
            {"end", lines.end},
            {"stallThreshold", stall_threshold.count()},
            {"spanTypes", names_up_to(span_type::call)},
            {"flowKinds", names_up_to(flow_kind::request)},
            {"dueReasons", names_up_to(due_reason::timed_out)},
            {"markerKinds", names_up_to(marker_kind::exception)},
            {"threads", threads_of(lines)},
            {"objects", objects_of(lines, text)},
            {"records", records_of(source, lines, text)},
            {"spans", spans_of(lines, text)},
            {"flows", flows_of(lines)},
            {"stalls", stalls_of(lines)},
            {"markers", markers_of(lines)},
            {"busiest", lines.busiest_objects},
            {"waits", lines.longest_waits}};
  data["strings"] = text.take();

  constexpr std::string_view place = "{{capture}}";
  const std::string_view page = timeline_page_text();
  const std::size_t at = page.find(place);
  std::string result{page.substr(0, at)};
  result += as_script(data);
  result += page.substr(at + place.size());
  return result;
}

}  // namespace tool
