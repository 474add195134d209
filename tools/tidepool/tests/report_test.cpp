#include "report.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>
#include <utility>
#include <vector>

namespace {

using tidepool::observation;
using tool::report;

using limit = std::optional<std::uint64_t>;

/// One fact of each sort, and how it is to look as text.
struct sample {
  report made;
  std::vector<std::pair<std::string, std::string>> lines;  // label and value, in order

  sample() {
    made.begin_section("first_things");
    add("count", 7, "count", "7");
    add("some_flag", true, "some flag", "yes");
    add("other_flag", false, "other flag", "no");
    add("name", std::string{"a name"}, "name", "a name");
    made.begin_section("times");
    add("late_median_us", 12.5, "late median", "12.5 us");
    add("stack_bytes", 4096, "stack", "4096 bytes");
    add("idle_timeout_ms", observation<int>{5000}, "idle timeout", "5000 ms");
    add("read_ns", 3, "read", "3 ns");
    add("io_uring_disabled", observation<int>{0}, "io_uring_disabled", "0");
    add("most", observation<limit>{limit{}}, "most", "unlimited");
    add("least", observation<limit>{limit{3}}, "least", "3");
    add("hidden", observation<bool>::unavailable("it is refused"), "hidden", "not available here: it is refused");
  }

  template <class T>
  void add(const std::string& name, const T& value, const std::string& label, const std::string& text) {
    made.add(name, value);
    lines.emplace_back(label, text);
  }
};

TEST(report, has_the_same_facts_as_text_and_as_json) {
  const sample its;
  std::istringstream text{its.made.as_text()};
  std::vector<std::pair<std::string, std::string>> lines;
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with("  ")) continue;
    const std::size_t gap = line.find("  ", 2);
    ASSERT_NE(gap, std::string::npos) << line;
    lines.emplace_back(line.substr(2, gap - 2), line.substr(line.find_first_not_of(' ', gap)));
  }
  EXPECT_EQ(lines, its.lines);

  const report::json expected = report::json::parse(R"({
    "format": 1,
    "first_things": {"count": 7, "some_flag": true, "other_flag": false, "name": "a name"},
    "times": {"late_median_us": 12.5, "stack_bytes": 4096, "idle_timeout_ms": 5000, "read_ns": 3,
              "io_uring_disabled": 0, "most": "unlimited", "least": 3, "hidden": null},
    "unavailable": {"times.hidden": "it is refused"},
    "warnings": []
  })");
  EXPECT_EQ(report::json::parse(its.made.as_json()), expected);
}

TEST(report, aligns_the_values_of_all_sections) {
  const sample its;
  std::istringstream text{its.made.as_text()};
  std::size_t column = 0;
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with("  ")) continue;
    const std::size_t value = line.find_first_not_of(' ', line.find("  ", 2));
    if (column == 0) column = value;
    EXPECT_EQ(value, column) << line;
  }
}

TEST(report, has_its_warnings_in_both) {
  report made;
  EXPECT_NE(made.as_text().find("No warnings.\n"), std::string::npos);
  made.add(report::warning{"files_low", "There are few.", "Have more."});
  EXPECT_NE(made.as_text().find("1 warning\n  There are few.\n    Have more.\n"), std::string::npos);
  EXPECT_EQ(report::json::parse(made.as_json())["warnings"],
            report::json::parse(R"([{"name": "files_low", "message": "There are few.", "remedy": "Have more."}])"));
}

TEST(report, is_json_whatever_bytes_are_in_it) {
  report made;
  made.begin_section("odd");
  made.add("value", std::string{"\xff\"\n"});
  EXPECT_EQ(report::json::parse(made.as_json())["odd"]["value"], "\xEF\xBF\xBD\"\n");
}

}  // namespace
