#include "advice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string>

namespace {

using tidepool::observation;
using tool::limit;
using tool::machine;

using names = std::vector<std::string>;

constexpr std::uint32_t most_threads = 500;

struct circumstances {
  machine here;
  tool::timer_delays timers{41, 0, 60, 200};
  double clock_read_ns = 25;

  circumstances() {
    here.online_processors = 8u;
    here.allowed_processors = 4u;
    here.processors_of_group = std::optional<double>{};
    here.open_files = limit{1024};
    here.most_open_files = limit{4096};
    here.threads_of_user = limit{};
    here.threads_of_group = limit{500};
    here.threads_of_system = limit{32768};
    here.requests.taken = "io_uring";
    here.requests.asked_for = "auto";
    here.requests.io_uring_error = 0;
    here.requests.io_uring_disabled = 0;
  }

  [[nodiscard]] std::vector<tool::report::warning> warnings() const {
    return advice(here, most_threads, timers, clock_read_ns);
  }
};

names warnings_after(const std::function<void(circumstances&)>& change) {
  circumstances changed;
  change(changed);
  names result;
  for (const auto& each : changed.warnings()) {
    EXPECT_FALSE(each.message.empty() || each.remedy.empty()) << each.name;
    result.push_back(each.name);
  }
  return result;
}

std::string remedy_after(const std::function<void(circumstances&)>& change) {
  circumstances changed;
  change(changed);
  const auto found = changed.warnings();
  return found.empty() ? "" : found.front().remedy;
}

std::string message_after(const std::function<void(circumstances&)>& change) {
  circumstances changed;
  change(changed);
  const auto found = changed.warnings();
  return found.empty() ? "" : found.front().message;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(advice, is_none_where_all_is_well) {
  EXPECT_EQ(warnings_after([](auto&) {}), names{});
}

TEST(advice, is_none_about_what_is_not_known) {
  EXPECT_EQ(warnings_after([](circumstances& its) { its.here = machine{}; }), names{});
}

TEST(advice, says_how_io_uring_is_enabled_when_the_sysctl_forbids_it) {
  for (const int value : {1, 2}) {
    const auto forbidden = [value](circumstances& its) {
      its.here.requests.io_uring_error = EPERM;
      its.here.requests.io_uring_disabled = value;
    };
    EXPECT_EQ(warnings_after(forbidden), names{"io_uring_disabled"});
    EXPECT_TRUE(contains(message_after(forbidden), "kernel.io_uring_disabled is " + std::to_string(value)));
    EXPECT_TRUE(contains(remedy_after(forbidden), "sysctl kernel.io_uring_disabled=0"));
  }
}

TEST(advice, blames_a_filter_for_what_the_sysctl_allows) {
  for (const int error : {EPERM, ENOSYS}) {
    const auto refused = [error](circumstances& its) { its.here.requests.io_uring_error = error; };
    EXPECT_EQ(warnings_after(refused), names{"io_uring_refused"});
    EXPECT_TRUE(contains(message_after(refused), "seccomp"));
    EXPECT_TRUE(contains(remedy_after(refused), "io_uring_setup"));
  }
}

TEST(advice, tells_an_old_kernel_from_a_forbidden_one) {
  EXPECT_EQ(warnings_after([](circumstances& its) { its.here.requests.io_uring_error = EOPNOTSUPP; }),
            names{"io_uring_too_old"});
  EXPECT_EQ(warnings_after([](circumstances& its) { its.here.requests.io_uring_error = ENOMEM; }),
            names{"io_uring_memory"});
  EXPECT_EQ(warnings_after([](circumstances& its) { its.here.requests.io_uring_error = EMFILE; }),
            names{"io_uring_refused"});
}

TEST(advice, is_about_what_TIDEPOOL_IO_asks_for) {
  EXPECT_EQ(warnings_after([](circumstances& its) { its.here.requests.asked_for = "uring"; }), names{});
  EXPECT_EQ(warnings_after([](circumstances& its) { its.here.requests.asked_for = "portable"; }),
            names{"io_choice_slow"});
  EXPECT_EQ(warnings_after([](circumstances& its) { its.here.requests.asked_for = "io_uring"; }),
            names{"io_choice_unknown"});
  EXPECT_EQ(warnings_after([](circumstances& its) {
              its.here.requests.asked_for = "uring";
              its.here.requests.io_uring_error = ENOSYS;
            }),
            (names{"io_uring_refused", "io_choice_impossible"}));
}

TEST(advice, says_how_the_limit_of_open_files_is_raised) {
  const auto low = [](std::uint64_t hard) {
    return [hard](circumstances& its) {
      its.here.open_files = limit{1023};
      its.here.most_open_files = limit{hard};
    };
  };
  EXPECT_EQ(warnings_after(low(4096)), names{"open_files_low"});
  EXPECT_TRUE(contains(remedy_after(low(4096)), "ulimit -n 4096"));
  EXPECT_FALSE(contains(remedy_after(low(1023)), "ulimit -n")) << "it is at the hard limit";
}

TEST(advice, compares_the_tightest_limit_of_threads_with_what_a_pool_may_grow_to) {
  using member = observation<limit> machine::*;
  for (const member each : {&machine::threads_of_user, &machine::threads_of_group, &machine::threads_of_system}) {
    EXPECT_EQ(warnings_after([each](circumstances& its) { its.here.*each = limit{499}; }), names{"threads_low"});
  }
}

TEST(advice, is_about_a_share_of_more_processors) {
  const auto share = [](double processors) {
    return [processors](circumstances& its) { its.here.processors_of_group = std::optional<double>{processors}; };
  };
  EXPECT_EQ(warnings_after(share(4)), names{});
  EXPECT_EQ(warnings_after(share(1.5)), names{"processors_limited"});
  EXPECT_TRUE(contains(message_after(share(1.5)), "only 1.5 processors"));
}

TEST(advice, is_about_slow_clocks_and_bad_timers) {
  EXPECT_EQ(warnings_after([](circumstances& its) { its.clock_read_ns = 1500; }), names{"clock_slow"});
  EXPECT_EQ(warnings_after([](circumstances& its) { its.timers.median_us = 21'000; }), names{"timers_late"});
  EXPECT_EQ(warnings_after([](circumstances& its) { its.timers.early = 1; }), names{"timers_early"});
}

}  // namespace
