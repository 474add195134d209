#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "capture.hpp"
#include "timeline_model.hpp"

namespace tool {

/// A capture with these records, and the timeline of it.
struct trace {
  explicit trace(const std::vector<std::string>& records, std::uint64_t lost = 0)
      : source{*read_capture(text_of(records, lost), refusal)}, lines{timeline_of(source)} {}

  static std::vector<char> text_of(const std::vector<std::string>& records, std::uint64_t lost) {
    std::string text =
        "tidepool capture 1\nprocess 1 /bin/program\nsystem linux\nbegan 1764494032.5\ncategories work\nheld " +
        std::to_string(records.size()) + "\nlost " + std::to_string(lost) + "\nthread 1 program\nrecords\n";
    for (const std::string& record : records) text += record + "\n";
    text += "end\n";
    return {text.begin(), text.end()};
  }

  /// The callbacks in the order of their beginnings.
  std::vector<timeline_span> callbacks() const {
    std::vector<timeline_span> found;
    for (const timeline_span& span : lines.spans) {
      if (span.type == span_type::callback) found.push_back(span);
    }
    return found;
  }

  /// When the callback that begins at this moment was due, or no_time.
  std::int64_t due(std::int64_t begin) const { return callback_at(begin).due; }
  due_reason reason(std::int64_t begin) const { return callback_at(begin).reason; }

  /// The moments of what led to the callback that begins at this moment, as "submitted 10".
  std::vector<std::string> causes(std::int64_t begin) const {
    std::vector<std::string> found;
    for (const timeline_flow& flow : lines.flows) {
      if (lines.spans[flow.span].begin != begin || lines.spans[flow.span].type != span_type::callback) continue;
      found.push_back(std::string{name_of(flow.kind)} + " " + std::to_string(source.records[flow.record].time));
    }
    return found;
  }

  const timeline_span& callback_at(std::int64_t begin) const {
    for (const timeline_span& span : lines.spans) {
      if (span.type == span_type::callback && span.begin == begin) return span;
    }
    static const timeline_span none{};
    return none;
  }

  std::string refusal;
  capture source;
  timeline lines;
};

using strings = std::vector<std::string>;

}  // namespace tool
