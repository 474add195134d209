#include "trace/session.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <thread>

#include "support/keep_loaded.hpp"
#include "trace/capture.hpp"
#include "trace/exceptions.hpp"
#include "trace/process.hpp"
#include "trace/recorder.hpp"
#include "trace/thread_segment.hpp"

namespace tidepool::recorder {

// Here, so that a program which can record anything has what reads its environment linked in.
constinit std::atomic<std::uint32_t> enabled{0};

namespace {

/// Never destroyed: threads may record, and the capture be written, to the very end.
session& the_session() {
  static session& only = *new session{std::chrono::steady_clock::now(), std::chrono::system_clock::now(), {}};
  return only;
}

// Where the capture goes at the end of the process, and which process that is: not the child of a fork. Written before
// main.
char file_at_end[4096];
std::uint32_t process_of_file = 0;

/// Writes `pattern` with each %p replaced by the process's number. What is too long is cut, and then not to be opened.
void expand(const char* pattern) noexcept {
  std::size_t used = 0;
  for (; *pattern != '\0' && used + 1 < sizeof file_at_end; ++pattern) {
    if (pattern[0] == '%' && pattern[1] == 'p') {
      const int length = std::snprintf(file_at_end + used, sizeof file_at_end - used, "%lu",
                                       static_cast<unsigned long>(process_number()));
      used = std::min(used + static_cast<std::size_t>(std::max(length, 0)), sizeof file_at_end - 1);
      ++pattern;
    } else {
      file_at_end[used++] = *pattern;
    }
  }
  file_at_end[used] = '\0';
}

std::terminate_handler terminate_before = nullptr;

[[noreturn]] void write_and_terminate() {
  write_at_end();
  if (terminate_before != nullptr) {
    terminate_before();
  }
  std::abort();
}

struct from_environment {
  from_environment() {
    const char* const list = environment_variable("TIDEPOOL_TRACE");
    const char* const file = environment_variable("TIDEPOOL_TRACE_FILE");
    const bool to_file = file != nullptr && *file != '\0';
    if (list != nullptr && *list != '\0') {
      std::string unknown;
      const std::uint32_t categories = parse_categories(list, unknown);
      enable(categories);
      the_session().ignored = unknown;
    } else if (to_file) {
      enable(every_category);
    }
    if (to_file) {
      expand(file);
      process_of_file = process_number();
      terminate_before = std::set_terminate(&write_and_terminate);
      std::atexit([] { write_at_end(); });
    }
  }
};

// Before every other static object, so that what their constructors do is recorded, and after all that their destructors do
// the capture is written.
#ifdef __GNUC__
[[gnu::init_priority(101)]]
#endif
const from_environment at_the_beginning;

}  // namespace

void enable(std::uint32_t categories) {
  // The system will call into it at the ends of threads.
  static const bool stays = support::keep_loaded(reinterpret_cast<const void*>(&enable));
  static_cast<void>(stays);
  prepare_threads();
  if ((categories & exception_category) != 0) {
    observe_exceptions();
  }
  the_session();
  enabled.store(categories, std::memory_order_relaxed);
}

const session& current_session() { return the_session(); }

std::uint32_t parse_categories(std::string_view list, std::string& unknown) {
  std::uint32_t result = 0;
  while (!list.empty()) {
    const std::string_view name = list.substr(0, list.find(','));
    list.remove_prefix(std::min(name.size() + 1, list.size()));
    const auto* const found = std::find(std::begin(category_names), std::end(category_names), name);
    if (name == "all") {
      result |= every_category;
    } else if (found != std::end(category_names)) {
      result |= 1u << std::distance(std::begin(category_names), found);
    } else if (!name.empty()) {
      unknown.append(unknown.empty() ? "" : ",").append(name);
    }
  }
  return result;
}

void write_at_end() noexcept {
  constexpr std::uint32_t not_begun = 0;
  constexpr std::uint32_t over = ~0u;  // in between it is the number of the thread that writes
  static constinit std::atomic<std::uint32_t> state{not_begun};
  if (process_of_file != process_number()) {
    return;
  }
  std::uint32_t writer = not_begun;
  const std::uint32_t me = this_thread();
  // Relaxed: what others have recorded is read as it is, and nobody reads what is written.
  if (!state.compare_exchange_strong(writer, me, std::memory_order_relaxed)) {
    // Whoever comes second is about to end the process, and so waits for the first; not for ever, since the system may
    // have ended that thread.
    for (int i = 0; writer != over && writer != me && i < 10'000; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      writer = state.load(std::memory_order_relaxed);
    }
    return;
  }
  if (std::FILE* const to = std::fopen(file_at_end, "wb")) {
    try {
      write_capture(to);
    } catch (...) {
      std::fputs("no memory\n", to);  // and no end
    }
    std::fclose(to);
  }
  state.store(over, std::memory_order_relaxed);
}

}  // namespace tidepool::recorder
