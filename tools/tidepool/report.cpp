#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace tool {
namespace {

constexpr int format_version = 1;

constexpr std::array<std::string_view, 4> units{"bytes", "ms", "us", "ns"};

struct label {
  std::string text;
  std::string_view unit;  // or empty
};

label label_of(std::string_view name) {
  std::string_view unit;
  if (const std::size_t last = name.rfind('_'); last != std::string_view::npos) {
    const auto* const found = std::find(units.begin(), units.end(), name.substr(last + 1));
    if (found != units.end()) {
      unit = *found;
      name = name.substr(0, last);
    }
  }
  label result{std::string{name}, unit};
  if (!name.starts_with("io_uring")) std::replace(result.text.begin(), result.text.end(), '_', ' ');
  return result;
}

std::string text_of(const report::json& value, std::string_view unit) {
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_string()) return value.get<std::string>();
  return value.dump() + (unit.empty() ? "" : " ") + std::string{unit};
}

}  // namespace

std::string report::as_text() const {
  std::size_t width = 0;
  for (const section& each : sections_) {
    for (const fact& its : each.facts) width = std::max(width, label_of(its.name).text.size());
  }
  std::string text;
  for (const section& each : sections_) {
    text += label_of(each.name).text + "\n";
    for (const fact& its : each.facts) {
      const label name = label_of(its.name);
      const std::string value =
          its.why_not.empty() ? text_of(its.value, name.unit) : "not available here: " + its.why_not;
      text += fmt::format("  {:<{}}  {}\n", name.text, width, value);
    }
    text += "\n";
  }
  if (warnings_.empty()) return text + "No warnings.\n";
  text += warnings_.size() == 1 ? "1 warning\n" : fmt::format("{} warnings\n", warnings_.size());
  for (const warning& each : warnings_) text += fmt::format("  {}\n    {}\n", each.message, each.remedy);
  return text;
}

std::string report::as_json() const {
  json result{{"format", format_version}};
  json unavailable = json::object();
  for (const section& each : sections_) {
    json facts = json::object();
    for (const fact& its : each.facts) {
      facts[its.name] = its.value;
      if (!its.why_not.empty()) unavailable[each.name + "." + its.name] = its.why_not;
    }
    result[each.name] = std::move(facts);
  }
  result["unavailable"] = std::move(unavailable);
  result["warnings"] = json::array();
  for (const warning& each : warnings_) {
    result["warnings"].push_back({{"name", each.name}, {"message", each.message}, {"remedy", each.remedy}});
  }
  // What is no UTF-8, such as an odd value of an environment variable, is replaced rather than refused.
  return result.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace tool
