// One contestant's program: measures one case once and prints what it saw as one line of JSON.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cases.hpp"
#include "echo.hpp"
#include "files.hpp"
#include "groups.hpp"
#include "signals.hpp"
#include "sources.hpp"
#include "timers.hpp"

namespace bench {

struct request {
  std::string case_name;
  plan how;
  bool quick = false;
};

[[noreturn]] inline void refuse(const char* program, const std::string& why) {
  std::fprintf(stderr,
               "%s: %s\nusage: %s --case A|A1|B|C|D|D1|E|F_arm|F_late|F_beside|G_event|G_fd|G_event_cycles|G_fd_cycles|"
               "H|ECHO|GROUP|I [--placement free|spread] [--workers N] [--quick]\n",
               program, why.c_str(), program);
  std::exit(2);
}

inline request parse(int argc, char** argv) {
  request asked;
  asked.how.cores = usable_cores();
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--quick") {
      asked.quick = true;
      continue;
    }
    if (i + 1 == argc) {
      refuse(argv[0], std::string(option) + " is unknown or lacks its value");
    }
    const std::string value = argv[++i];
    if (option == "--case") {
      asked.case_name = value;
    } else if (option == "--placement" && (value == "free" || value == "spread")) {
      asked.how.where = value == "free" ? placement::free : placement::spread;
    } else if (option == "--workers" && std::atoi(value.c_str()) > 0) {
      asked.how.workers = static_cast<std::size_t>(std::atoi(value.c_str()));
    } else {
      refuse(argv[0], "cannot make sense of " + std::string(option) + " " + value);
    }
  }
  return asked;
}

struct outcome {
  std::vector<metric> metrics;
  std::uint64_t operations;  // callbacks in the timed part
};

// What a slow contestant does in this time says as much about it as the whole number would: it does fewer.
constexpr auto longest_run = std::chrono::seconds(4);
constexpr auto longest_warm_up = std::chrono::milliseconds(500);

// `run(n)` makes `callbacks_of(n)` callbacks. A pilot run starts the threads and finds the pace for the warm-up,
// which fills the allocators' caches, faults pages in and finds the pace for the run that counts. `smaller(n)` is
// the next size to try when n would take too long.
template <class Run, class CallbacksOf, class Smaller>
outcome per_callback(std::uint64_t pilot, std::uint64_t warm_up, std::uint64_t size, Run run, CallbacksOf callbacks_of,
                     Smaller smaller) {
  const auto pace_of = [&](std::uint64_t n) { return nanoseconds(run(n)) / static_cast<double>(callbacks_of(n)); };
  const auto fit = [&](std::uint64_t n, double pace, clock::duration limit) {
    while (n > pilot && pace * static_cast<double>(callbacks_of(n)) > nanoseconds(limit)) {
      n = smaller(n);
    }
    return n;
  };
  warm_up = fit(warm_up, pace_of(pilot), longest_warm_up);
  size = fit(size, pace_of(warm_up), longest_run);
  return {{{"per_callback", "ns", pace_of(size)}}, callbacks_of(size)};
}

template <class Run>
outcome per_submission(std::uint64_t submissions, std::uint64_t callbacks_of_one, Run run) {
  return per_callback(
      submissions / 100, submissions / 10, submissions, run,
      [callbacks_of_one](std::uint64_t n) { return n * callbacks_of_one; }, [](std::uint64_t n) { return n - n / 4; });
}

template <class Contestant>
outcome measure_pool(const request& asked, const char* program) {
  const plan& how = asked.how;
  const std::string& name = asked.case_name;
  if (name == "I") {
    Contestant pool(setup{0, 1});
    const clock::duration time = block_until_another_runs(pool);
    return {{{"total", "ms", nanoseconds(time) / 1e6}}, blockers + 1};
  }

  Contestant pool(setup{how.workers, name == "B" ? std::size_t{2} : std::size_t{1}});
  place_workers(pool, how);
  const std::uint64_t submissions = asked.quick ? 100'000 : 2'000'000;
  if (name == "A") {
    return per_submission(submissions, 1, [&](std::uint64_t n) { return submit_repeatedly(pool, how, 1, n); });
  }
  if (name == "A1") {
    return per_submission(submissions, 1, [&](std::uint64_t n) { return submit_closures(pool, how, n); });
  }
  if (name == "B") {
    return per_submission(submissions, 2, [&](std::uint64_t n) { return submit_repeatedly(pool, how, 2, n); });
  }
  if (name == "C") {
    const std::uint64_t depth = asked.quick ? 15 : 20;
    return per_callback(
        depth - 7, depth - 3, depth, [&](std::uint64_t n) { return grow_tree(pool, how, static_cast<int>(n)); },
        [](std::uint64_t n) { return tree_size(static_cast<int>(n)); }, [](std::uint64_t n) { return n - 1; });
  }
  if (name == "D" || name == "D1") {
    const std::size_t samples = asked.quick ? 100 : 1000;
    return {wake_idle_pool(pool, how, samples, name == "D1"), samples};
  }
  if (name == "E") {
    const std::uint64_t times = asked.quick ? 20'000 : 200'000;
    return per_submission(times, 2, [&](std::uint64_t n) { return submit_each_other(pool, how, n); });
  }
  refuse(program, "has no case '" + name + "'");
}

template <class Sources>
outcome measure_sources(const request& asked, const char* program) {
  const plan& how = asked.how;
  const std::string& name = asked.case_name;
  Sources sources(how);
  if constexpr (cancels_timers<Sources>) {
    if (name == "F_arm") {
      return {arm_and_cancel(sources, how, asked.quick), timer_counts[std::size(timer_counts) - 1].timers};
    }
  }
  if (name == "F_late" || name == "F_beside") {
    const std::size_t timers = asked.quick ? 100 : 1000;
    return {fire_on_time(sources, how, timers, name == "F_beside"), timers};
  }
  const std::size_t samples = asked.quick ? 100 : 1000;
  if (name == "G_event") {
    return {wake_by_signal<signal_kind::event>(sources, how, samples), samples};
  }
  if (name == "G_fd") {
    return {wake_by_signal<signal_kind::descriptor>(sources, how, samples), samples};
  }
  const auto cycles = [&](auto objects) {
    const std::uint64_t times = (asked.quick ? 50'000 : 1'000'000) / cycling_objects;
    return per_submission(times, cycling_objects, [&](std::uint64_t n) { return objects.run(how, n); });
  };
  if (name == "G_event_cycles") {
    return cycles(signal_cycles<signal_kind::event, Sources>(sources));
  }
  if (name == "G_fd_cycles") {
    return cycles(signal_cycles<signal_kind::descriptor, Sources>(sources));
  }
  refuse(program, "has no case '" + name + "'");
}

// Where operations overlap, a rate says more than a time; and the processor time, of all threads of this process, depends
// less on what else the machine does.
inline void report_rate(outcome& seen, const char* of_what, double processor_time) {
  seen.metrics.push_back({"rate", of_what, 1e9 / seen.metrics.front().value});
  seen.metrics.push_back({"processor_time", "ns", processor_time / static_cast<double>(seen.operations)});
}

template <class Files>
outcome measure_files(const request& asked) {
  const cached_file file(asked.quick ? 4'096 : 65'536);  // blocks of 4 KiB
  Files files(asked.how, file.get());
  const std::uint64_t times = (asked.quick ? 64'000 : 1'000'000) / reads_in_flight;
  double processor_time = 0;
  outcome seen = per_submission(times, reads_in_flight, [&](std::uint64_t n) {
    const double before = processor_nanoseconds();
    const clock::duration time = read_at_random(files, file, asked.how, n);
    processor_time = processor_nanoseconds() - before;
    return time;
  });
  report_rate(seen, "reads/s", processor_time);
  return seen;
}

template <class Server>
outcome measure_server(const request& asked) {
  Server server(asked.how);
  echo_times last;
  double processor_time = 0;
  const std::uint64_t times = (asked.quick ? 6'400 : 48'000) / echo_connections;
  outcome seen = per_submission(times, echo_connections, [&](std::uint64_t n) {
    const double before = processor_nanoseconds();
    last = answer(server, asked.how, n);
    processor_time = processor_nanoseconds() - before;
    return clock::duration(static_cast<clock::rep>(last.total));
  });
  seen.metrics.push_back({"p50", "ns", last.p50});
  seen.metrics.push_back({"p99", "ns", last.p99});
  report_rate(seen, "requests/s", processor_time);
  return seen;
}

template <class Pool, class Sources, class Files, class Server, class Group>
outcome measure(const request& asked, const char* program) {
  if (asked.case_name.starts_with("F_") || asked.case_name.starts_with("G_")) {
    if constexpr (!std::is_same_v<Sources, none>) {
      return measure_sources<Sources>(asked, program);
    }
  } else if (asked.case_name == "H") {
    if constexpr (!std::is_same_v<Files, none>) {
      return measure_files<Files>(asked);
    }
  } else if (asked.case_name == "ECHO") {
    if constexpr (!std::is_same_v<Server, none>) {
      return measure_server<Server>(asked);
    }
  } else if (asked.case_name == "GROUP") {
    if constexpr (!std::is_same_v<Group, none>) {
      return {create_and_close<Group>(asked.how, asked.quick), member_counts[std::size(member_counts) - 1].members};
    }
  } else if constexpr (!std::is_same_v<Pool, none>) {
    return measure_pool<Pool>(asked, program);
  }
  refuse(program, "has no case '" + asked.case_name + "'");
}

// The name of the first part that there is.
template <class Part, class... Parts>
constexpr const char* name_of() {
  if constexpr (std::is_same_v<Part, none>) {
    return name_of<Parts...>();
  } else {
    return Part::name;
  }
}

inline void print_json(const char* contestant, const request& asked, const outcome& seen) {
  std::printf(R"({"contestant": "%s", "case": "%s", "placement": "%s", "metrics": [)", contestant,
              asked.case_name.c_str(), asked.how.where == placement::free ? "free" : "spread");
  const char* separator = "";
  for (const metric& each : seen.metrics) {
    std::printf(R"(%s{"metric": "%s", "unit": "%s", "value": %.4f})", separator, each.name.c_str(), each.unit.c_str(),
                each.value);
    separator = ", ";
  }
  std::printf(R"(], "operations": %ju, "threads": %zu, "unbound_threads": %zu, "cores": {)",
              static_cast<std::uintmax_t>(seen.operations), callbacks.threads(), callbacks.unbound_threads());
  const std::vector<std::uint64_t> samples = callbacks.samples_by_core();
  std::uint64_t sum = 0;
  for (const std::uint64_t each : samples) {
    sum += each;
  }
  separator = "";
  for (std::size_t core = 0; core < samples.size(); ++core) {
    if (samples[core] > 0) {
      std::printf(R"(%s"%zu": %.3f)", separator, core, static_cast<double>(samples[core]) / static_cast<double>(sum));
      separator = ", ";
    }
  }
  std::puts("}}");
  std::fflush(stdout);
}

template <class Pool, class Sources = none, class Files = none, class Server = none, class Group = none>
int run(int argc, char** argv) {
  try {
    const request asked = parse(argc, argv);
    print_json(name_of<Pool, Sources, Files, Server, Group>(), asked,
               measure<Pool, Sources, Files, Server, Group>(asked, argv[0]));
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s: %s\n", argv[0], problem.what());
    return 1;
  }
}

}  // namespace bench
