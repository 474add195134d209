#include "trace/capture.hpp"

#include <algorithm>
#include <cinttypes>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trace/buffer.hpp"
#include "trace/exceptions.hpp"
#include "trace/process.hpp"
#include "trace/recorder.hpp"
#include "trace/session.hpp"

namespace tidepool::recorder {

namespace {

/// A line has no control characters but its end.
std::string one_line(std::string text) {
  std::replace_if(text.begin(), text.end(), [](unsigned char each) { return each < ' ' || each == 0x7f; }, '?');
  return text;
}

/// The names that records have by address, each of which is read once.
class names {
 public:
  const char* at(std::uint64_t address) {
    auto [found, added] = known_.try_emplace(address);
    if (added) {
      found->second = one_line(text_at(address));
    }
    return found->second.c_str();
  }

 private:
  std::map<std::uint64_t, std::string> known_;
};

std::string list_of(std::uint32_t categories) {
  std::string list;
  for (std::size_t i = 0; i < std::size(category_names); ++i) {
    if ((categories & (1u << i)) != 0) {
      list.append(list.empty() ? "" : ",").append(category_names[i]);
    }
  }
  return list;
}

void write_value(std::FILE* to, const value_format& format, std::uint64_t value, std::uint64_t other, names& known) {
  switch (format.how) {
    case form::none: break;
    case form::number: std::fprintf(to, " %s=%" PRIu64, format.name, value); break;
    case form::optional_time:
      if (static_cast<std::int64_t>(value) == never) {
        break;
      }
      [[fallthrough]];
    case form::signed_number: std::fprintf(to, " %s=%" PRId64, format.name, static_cast<std::int64_t>(value)); break;
    case form::outcome:
      std::fprintf(to, " %s=%" PRIu64 " bytes=%" PRIu64, format.name, error_in(value), bytes_in(value));
      break;
    case form::address: std::fprintf(to, " %s=0x%" PRIx64, format.name, value); break;
    case form::site: std::fprintf(to, " %s=%s:%" PRIu64, format.name, known.at(value), other); break;
    case form::text: std::fprintf(to, " %s=%s", format.name, known.at(value)); break;
    case form::type: std::fprintf(to, " %s=%s", format.name, readable_type(known.at(value)).c_str()); break;
  }
}

void write_record(std::FILE* to, const record& what, std::uint64_t began, names& known) {
  std::fprintf(to, "%" PRIu64 " %" PRIu32 " %s 0x%" PRIx64 " %s", what.time - std::min(began, what.time), what.thread,
               kind_names[static_cast<std::size_t>(what.what)], what.target,
               action_names[static_cast<std::size_t>(what.which)]);
  const action_format format = format_of(what.what, what.which);
  write_value(to, format.first, what.first, what.second, known);
  write_value(to, format.second, what.second, 0, known);
  std::fputc('\n', to);
}

}  // namespace

void write_capture(std::FILE* to) {
  using std::chrono::duration_cast;
  using std::chrono::nanoseconds;
  const session& trace = current_session();
  const std::vector<record> records = copy_records();

  std::fputs("tidepool capture 1\n", to);
  std::fprintf(to, "process %" PRIu32 " %s\n", process_number(), one_line(program_name()).c_str());
#ifdef _WIN32
  std::fputs("system windows\n", to);
#else
  std::fputs("system linux\n", to);
#endif
  const auto calendar = duration_cast<nanoseconds>(trace.began_by_calendar.time_since_epoch()).count();
  std::fprintf(to, "began %" PRId64 ".%09" PRId64 "\n", std::int64_t{calendar / 1'000'000'000},
               std::int64_t{calendar % 1'000'000'000});
  std::fprintf(to, "categories %s\n", list_of(enabled.load(std::memory_order_relaxed)).c_str());
  if (!trace.ignored.empty()) {
    std::fprintf(to, "ignored %s\n", one_line(trace.ignored).c_str());
  }
  if (is_on(exception_category) && !exceptions_are_observed()) {
    std::fputs("observer absent\n", to);
  }
  std::fprintf(to, "held %zu\nlost %" PRIu64 "\n", records.size(), lost.load(std::memory_order_relaxed));
  std::set<std::uint32_t> threads;
  for (const record& each : records) {
    threads.insert(each.thread);
  }
  for (const std::uint32_t each : threads) {
    std::fprintf(to, "thread %" PRIu32 " %s\n", each, one_line(thread_name(each)).c_str());
  }
  std::fputs("records\n", to);
  const auto began = static_cast<std::uint64_t>(duration_cast<nanoseconds>(trace.began.time_since_epoch()).count());
  names known;
  for (const record& each : records) {
    write_record(to, each, began, known);
  }
  std::fputs("end\n", to);
}

}  // namespace tidepool::recorder
