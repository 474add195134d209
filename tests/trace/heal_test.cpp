// What is recorded of the repair of a pool.
#include "capture_file.hpp"
#include "heal/pool_repair.hpp"
#include "safe.hpp"
#include "tidepool/detail/access.hpp"

#ifndef TIDEPOOL_NO_SELF_HEAL

namespace traces {
namespace {

using tidepool::heal::pool_repair;
using tidepool::heal::repair_state;
using tidepool::trace::category;

/// Of the calls that `what` makes.
template <class F>
std::size_t calls_while(const std::string& name, F what) {
  const auto count = [&] {
    const std::vector<line> all = capture_now().of("call", "enter");
    return std::count_if(all.begin(), all.end(), [&](const line& each) { return each.values == "call=" + name; });
  };
  const auto before = count();
  what();
  return static_cast<std::size_t>(count() - before);
}

class trace_of_healing : public safe::safe_test {
 protected:
  [[nodiscard]] PTP_POOL native() const { return tidepool::detail::access::owner_of(where.pool).get(); }

  const safe::private_pool where{1};
  safe::occupier busy{where.environment};
};

// When a pool has to be repaired there may be no memory.
TEST_F(trace_of_healing, shows_that_a_repair_is_submitted_and_nothing_made) {
  ASSERT_TRUE(busy.held());
  const recording syscalls(category::syscall);
  pool_repair repair(native());
  repair.state.note_cancelled(1);
  std::size_t made = 0;
  EXPECT_EQ(calls_while("SubmitThreadpoolWork",
                        [&] { made = calls_while("CreateThreadpoolWork", [&] { EXPECT_FALSE(repair.tick(2)); }); }),
            1u);
  EXPECT_EQ(made, 0u);
}

TEST_F(trace_of_healing, reports_what_becomes_of_a_repair) {
  ASSERT_TRUE(busy.held());
  const recording reports(category::report);
  pool_repair repair(native());
  const auto count = [](const char* action) { return capture_now().of("pool", action).size(); };
  const std::size_t submitted = count("repair-submitted");
  const std::size_t started = count("repair-started");
  const std::size_t stuck = count("repair-stuck");
  repair.state.note_cancelled(1);
  EXPECT_FALSE(repair.tick(2));
  EXPECT_EQ(count("repair-submitted"), submitted + 1);
  EXPECT_FALSE(repair.tick(2 + repair_state::patience));
  EXPECT_EQ(count("repair-stuck"), stuck);
  EXPECT_FALSE(repair.tick(3 + repair_state::patience));
  EXPECT_EQ(count("repair-stuck"), stuck + 1);
  EXPECT_EQ(count("repair-submitted"), submitted + 2);
  EXPECT_EQ(count("repair-started"), started);
  busy.release();
  EXPECT_TRUE(contract::eventually([&] { return count("repair-started") == started + 2; }));
}

}  // namespace
}  // namespace traces

#endif
