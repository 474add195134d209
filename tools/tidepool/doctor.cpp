// tidepool doctor: what this machine offers, and what tidepool uses of it.

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "advice.hpp"
#include "console.hpp"
#include "machine.hpp"
#include "measurements.hpp"
#include "report.hpp"
#include "subcommand.hpp"
#include "tidepool/pool.hpp"
#include "tidepool/snapshot.hpp"
#include "tidepool/trace.hpp"
#include "tidepool/version.hpp"

namespace tool {
namespace {

using tidepool::observation;
using tidepool::pool_snapshot;

std::string compiler() {
#if defined(__clang__)
  return fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
  return fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#elif defined(_MSC_VER)
  return fmt::format("MSVC {}", _MSC_FULL_VER);
#else
  return "unknown";
#endif
}

constexpr bool built_with_assertions =
#ifdef TIDEPOOL_ASSERTIONS
    true;
#else
    false;
#endif

constexpr bool built_to_fail_fast =
#ifdef TIDEPOOL_FAIL_FAST
    true;
#else
    false;
#endif

constexpr bool built_optimised =
#if defined(__OPTIMIZE__) || defined(NDEBUG)
    true;
#else
    false;
#endif

/// To a tenth, beyond which measurements say nothing.
double rounded(double value) { return std::round(value * 10) / 10; }

/// A figure of a count of milliseconds.
observation<std::int64_t> in_milliseconds(const observation<std::chrono::milliseconds>& span) {
  return span ? observation<std::int64_t>{span->count()} : observation<std::int64_t>::unavailable(span.why_not());
}

void add_tidepool(report& into) {
  into.begin_section("tidepool");
  into.add("version", tidepool::version_string);
  into.add("compiler", compiler());
  into.add("optimised", built_optimised);
  into.add("assertions", built_with_assertions);
  into.add("fail_fast", built_to_fail_fast);
  into.add("sanitizer", TIDEPOOL_BUILT_WITH_SANITIZER);
  into.add("trace", tidepool::trace::is_available());
}

void add_machine(report& into, const machine& here, const pool_snapshot& fresh) {
  into.begin_section("system");
  into.add("name", here.system);
  into.add("kernel", here.kernel);
  into.add("architecture", here.architecture);

  into.begin_section("processors");
  into.add("online", here.online_processors);
  into.add("allowed", here.allowed_processors);
  into.add("of_control_group", here.processors_of_group);
  into.add("used_by_a_pool", fresh.concurrency);

  into.begin_section("limits");
  into.add("open_files", here.open_files);
  into.add("open_files_at_most", here.most_open_files);
  into.add("threads_of_user", here.threads_of_user);
  into.add("threads_of_control_group", here.threads_of_group);
  into.add("threads_of_system", here.threads_of_system);
  into.add("locked_memory_bytes", here.locked_memory);

  into.begin_section("requests");
  into.add("carried_out_by", here.requests.taken);
  into.add("asked_for", here.requests.asked_for);
  into.add("io_uring", here.requests.io_uring_says);
  into.add("io_uring_disabled", here.requests.io_uring_disabled);
}

void add_times(report& into, const machine& here, const timer_delays& timers, double clock_read_ns) {
  into.begin_section("clock");
  into.add("source", here.clock_source);
  into.add("read_ns", rounded(clock_read_ns));
  into.add("step_ns", measure_clock_step());

  into.begin_section("timers");
  into.add("measured", timers.measured);
  into.add("early", timers.early);
  into.add("late_median_us", rounded(timers.median_us));
  into.add("late_worst_us", rounded(timers.worst_us));
}

void add_limits_of_pool(report& into, const pool_snapshot& pool) {
  into.add("minimum", pool.minimum);
  into.add("maximum", pool.maximum);
  into.add("idle_timeout_ms", in_milliseconds(pool.idle_timeout));
}

void add_pools(report& into, const pool_snapshot& fresh, std::size_t stack) {
  into.begin_section("new_pool");
  add_limits_of_pool(into, fresh);
  into.add("stack_bytes", stack);

  const pool_snapshot standard = tidepool::snapshot_of_default_pool();
  into.begin_section("default_pool");
  add_limits_of_pool(into, standard);
  into.add("threads", standard.threads);
  into.add("idle_threads", standard.idle_threads);
  into.add("blocked_threads", standard.blocked_threads);
  into.add("may_create", standard.may_create);
  into.add("create_in_progress", standard.create_in_progress);
  into.add("scheduled", standard.scheduled);
  into.add("port_depth", standard.port_depth);
  into.add("queued_callbacks", standard.queued_callbacks);
  into.add("callbacks_run", standard.callbacks_run);
  into.add("appears_stalled", standard.appears_stalled());

  const tidepool::snapshot all = tidepool::snapshot::take();
  const auto number = [](const auto& list) {
    return list ? observation<std::size_t>{list->size()} : observation<std::size_t>::unavailable(list.why_not());
  };
  into.begin_section("process");
  into.add("pools", number(all.pools));
  into.add("other_completion_ports", number(all.ports));
}

report examine() {
  constexpr std::uint32_t usual_maximum = 500;  // where the system does not tell
  report result;
  const machine here = look_at_machine();
  const tidepool::pool pool;
  const pool_snapshot fresh = tidepool::snapshot_of(pool);
  const timer_delays timers = measure_timers();
  const double clock_read_ns = measure_clock_read();
  add_tidepool(result);
  add_machine(result, here, fresh);
  add_times(result, here, timers, clock_read_ns);
  add_pools(result, fresh, pool.get_stack_size().reserve);
  for (report::warning& each : advice(here, fresh.maximum.value_or(usual_maximum), timers, clock_read_ns)) {
    result.add(std::move(each));
  }
  return result;
}

int run_doctor(bool json) {
  console console{"tidepool doctor"};
  const report found = examine();
  console.result(json ? found.as_json() : found.as_text());
  console.flush();
  if (const std::error_code error = console.output_error()) {
    if (is_broken_pipe(error)) end_by_broken_pipe();
    console.message("cannot write to standard output: " + error.message());
    return exit_failure;
  }
  return exit_success;
}

constexpr const char* footer = R"(Looks at the system, its limits and its clock, sets some timers, and prints what it
finds: what to add to a report of a problem. Takes a fraction of a second, and
changes nothing. Warnings at the end say what is bad for tidepool, and what helps.

Exit status: 0, warnings or not; 1 when the output could not be written; 2 for a
mistake on the command line.)";

}  // namespace

void add_doctor(CLI::App& app, chosen_command& chosen) {
  CLI::App* doctor = app.add_subcommand("doctor", "Print what this machine offers, and what tidepool uses of it");
  auto json = std::make_shared<bool>(false);
  doctor->add_flag("--json", *json, "Print JSON, for programs");
  doctor->footer(footer);
  doctor->callback([json, &chosen] { chosen = [json] { return run_doctor(*json); }; });
}

}  // namespace tool
