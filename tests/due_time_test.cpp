// Durations and points in time on their way to the system. What is expected here is written a second time, in numbers.
#include <chrono>
#include <limits>
#include <ratio>

#include "safe.hpp"
#include "tidepool/detail/due_time.hpp"

namespace safe {
namespace {

using namespace std::chrono_literals;
using std::chrono::duration;
using std::chrono::sys_time;
using tidepool::detail::due_after;
using tidepool::detail::due_at;
using tidepool::detail::period_length;
using tidepool::detail::time_out_after;
using tidepool::detail::window_length;

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Read at run time: a compiler that converts it to an integer itself may choose the number that is expected.
const volatile double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t ninety_five_years = -30'000'000'000'000'000;
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min();

class due_times : public safe_test {};

TEST_F(due_times, count_a_hundred_nanoseconds_backwards_and_round_up) {
  EXPECT_EQ(due_after(1ns), -1);
  EXPECT_EQ(due_after(100ns), -1);
  EXPECT_EQ(due_after(101ns), -2);
  EXPECT_EQ(due_after(1us), -10);
  EXPECT_EQ(due_after(1ms), -10'000);
  EXPECT_EQ(due_after(1h), -36'000'000'000);
  EXPECT_EQ(due_after(duration<long long, std::pico>(100'001)), -2);
  EXPECT_EQ(due_after(duration<double>(0.5)), -5'000'000);
  EXPECT_EQ(due_after(duration<double>(1e-300)), -1);
  EXPECT_EQ(due_after(duration<float, std::milli>(2.5F)), -25'000);
  EXPECT_EQ(due_after(duration<unsigned char, std::ratio<60>>(255)), -153'000'000'000);
  EXPECT_EQ(due_after(duration<long long, std::ratio<1, 3>>(1)), -3'333'334);
}

TEST_F(due_times, of_single_precision_are_not_early_either) {
  constexpr float seconds = 123.456F;
  EXPECT_LE(due_after(duration<float>(seconds)), -static_cast<std::int64_t>(static_cast<double>(seconds) * 1e7));
}

TEST_F(due_times, that_are_not_in_the_future_are_at_once) {
  EXPECT_EQ(due_after(0ns), 0);
  EXPECT_EQ(due_after(-1ns), 0);
  EXPECT_EQ(due_after(std::chrono::nanoseconds::min()), 0);
  EXPECT_EQ(due_after(std::chrono::hours::min()), 0);
  EXPECT_EQ(due_after(duration<double>(-0.0)), 0);
  EXPECT_EQ(due_after(duration<double>(-infinity)), 0);
  EXPECT_EQ(due_after(duration<double>(double{not_a_number})), 0);
}

TEST_F(due_times, are_at_most_95_years_away) {
  EXPECT_EQ(due_after(3'000'000'000s), ninety_five_years);
  EXPECT_EQ(due_after(3'000'000'001s), ninety_five_years);
  EXPECT_EQ(due_after(std::chrono::nanoseconds::max()), ninety_five_years);
  EXPECT_EQ(due_after(std::chrono::hours::max()), ninety_five_years);
  EXPECT_EQ(due_after(duration<unsigned long long, std::ratio<86400 * 365>>::max()), ninety_five_years);
  EXPECT_EQ(due_after(duration<double>(infinity)), ninety_five_years);
  EXPECT_EQ(due_after(2'999'999'999s), ninety_five_years + 10'000'000);
}

TEST_F(due_times, of_time_outs_are_the_same_and_have_no_end_after_95_years) {
  EXPECT_EQ(time_out_after(101ns), -2);
  EXPECT_EQ(time_out_after(0ns), 0);
  EXPECT_EQ(time_out_after(-1h), 0);
  EXPECT_EQ(time_out_after(duration<double>(double{not_a_number})), 0);
  EXPECT_EQ(time_out_after(3'000'000'000s), ninety_five_years);
  EXPECT_EQ(time_out_after(3'000'000'001s), never);
  EXPECT_EQ(time_out_after(std::chrono::hours::max()), never);
  EXPECT_EQ(time_out_after(duration<double>(infinity)), never);
}

TEST_F(due_times, of_the_clock_count_from_1601_and_round_up) {
  EXPECT_EQ(due_at(sys_time<std::chrono::seconds>(0s)), 116'444'736'000'000'000);
  EXPECT_EQ(due_at(sys_time<std::chrono::nanoseconds>(1ns)), 116'444'736'000'000'001);
  EXPECT_EQ(due_at(sys_time<std::chrono::seconds>(1'000'000'000s)), 126'444'736'000'000'000);
  EXPECT_EQ(due_at(sys_time<std::chrono::seconds>(-11'644'473'599s)), 10'000'000);
  EXPECT_EQ(due_at(std::chrono::sys_days(std::chrono::year(1969) / 12 / 31)), 116'443'872'000'000'000);
}

TEST_F(due_times, before_1601_are_at_once_like_any_other_past) {
  EXPECT_EQ(due_at(sys_time<std::chrono::seconds>(-11'644'473'600s)), 0);
  EXPECT_EQ(due_at(std::chrono::sys_days(std::chrono::year(1492) / 10 / 12)), 0);
  EXPECT_EQ(due_at(sys_time<std::chrono::hours>::min()), 0);
  EXPECT_EQ(due_at(sys_time<duration<double>>(duration<double>(-infinity))), 0);
  EXPECT_EQ(due_at(sys_time<duration<double>>(duration<double>(double{not_a_number}))), 0);
}

TEST_F(due_times, end_with_the_year_9999) {
  constexpr std::int64_t end = 2'650'467'744'000'000'000;
  EXPECT_EQ(due_at(std::chrono::sys_days(std::chrono::year(10000) / 1 / 1)), end);
  EXPECT_EQ(due_at(std::chrono::sys_days(std::chrono::year(20000) / 1 / 1)), end);
  EXPECT_EQ(due_at(sys_time<std::chrono::hours>::max()), end);
  EXPECT_EQ(due_at(sys_time<duration<double>>(duration<double>(infinity))), end);
  EXPECT_LT(due_at(sys_time<std::chrono::nanoseconds>::max()), end);
}

TEST_F(due_times, may_be_late_by_whole_milliseconds_that_are_not_exceeded) {
  EXPECT_EQ(window_length(0ms), 0u);
  EXPECT_EQ(window_length(999'999ns), 0u);
  EXPECT_EQ(window_length(1ms), 1u);
  EXPECT_EQ(window_length(1'999us), 1u);
  EXPECT_EQ(window_length(2s), 2000u);
  EXPECT_EQ(window_length(-1h), 0u);
  EXPECT_EQ(window_length(duration<double>(double{not_a_number})), 0u);
  EXPECT_EQ(window_length(std::chrono::hours::max()), 2'147'483'647u);
  EXPECT_EQ(window_length(duration<double>(infinity)), 2'147'483'647u);
}

TEST_F(due_times, of_periods_are_whole_milliseconds_that_are_not_too_short) {
  EXPECT_EQ(period_length(1ms), 1u);
  EXPECT_EQ(period_length(1'000'001ns), 2u);
  EXPECT_EQ(period_length(1500us), 2u);
  EXPECT_EQ(period_length(1min), 60'000u);
  EXPECT_EQ(period_length(duration<double>(0.0025)), 3u);
  EXPECT_EQ(period_length(4'294'967'295ms), 4'294'967'295u);
  EXPECT_EQ(period_length(4'294'967'294'000'001ns), 4'294'967'295u);
}

TEST_F(due_times, of_periods_out_of_range_are_refused) {
  EXPECT_SYSTEM_ERROR(period_length(0ms), std::errc::invalid_argument);
  EXPECT_SYSTEM_ERROR(period_length(-1ms), std::errc::invalid_argument);
  EXPECT_SYSTEM_ERROR(period_length(999'999ns), std::errc::invalid_argument);
  EXPECT_SYSTEM_ERROR(period_length(4'294'967'295'000'001ns), std::errc::invalid_argument);
  EXPECT_SYSTEM_ERROR(period_length(4'294'967'296ms), std::errc::invalid_argument);
  EXPECT_SYSTEM_ERROR(period_length(std::chrono::hours::max()), std::errc::invalid_argument);
  EXPECT_SYSTEM_ERROR(period_length(duration<double>(infinity)), std::errc::invalid_argument);
  EXPECT_SYSTEM_ERROR(period_length(duration<double>(double{not_a_number})), std::errc::invalid_argument);
}

}  // namespace
}  // namespace safe
