// The repair of one pool, on invented moments.
#include <algorithm>
#include <array>
#include <cstddef>
#include <new>

#include "heal/pool_repair.hpp"
#include "safe.hpp"
#include "tidepool/detail/access.hpp"

#ifndef TIDEPOOL_NO_SELF_HEAL

namespace safe {
namespace {

using tidepool::heal::pool_repair;

class pool_repairs : public safe_test {
 protected:
  [[nodiscard]] PTP_POOL native() const { return tidepool::detail::access::owner_of(where.pool).get(); }

  const private_pool where{1};
  occupier busy{where.environment};
};

TEST_F(pool_repairs, begin_when_a_thread_is_free) {
  ASSERT_TRUE(busy.held());
  pool_repair repair(native());
  repair.state.note_cancelled(1);
  EXPECT_FALSE(repair.tick(2));
  EXPECT_TRUE(repair.state.is_owed());
  busy.release();
  EXPECT_TRUE(contract::eventually([&] { return !repair.state.is_owed(); }));
}

TEST_F(pool_repairs, leave_a_healthy_pool_alone) {
  pool_repair repair(native());
  EXPECT_FALSE(repair.tick(1));
  EXPECT_FALSE(repair.state.is_owed());
}

// Its callback would be given what is no more.
TEST_F(pool_repairs, take_what_is_queued_with_them) {
  ASSERT_TRUE(busy.held());
  alignas(pool_repair) std::array<std::byte, sizeof(pool_repair)> memory;
  auto* const repair = ::new (memory.data()) pool_repair(native());
  repair->state.note_cancelled(1);
  EXPECT_FALSE(repair->tick(2));
  repair->~pool_repair();
  memory.fill(std::byte{0});
  busy.release();
  tally ran;
  work last([&] { ran.add(); }, where.environment);  // the pool's one thread comes to it after the repair
  last.submit();
  EXPECT_TRUE(ran.reaches(1));
  EXPECT_TRUE(std::all_of(memory.begin(), memory.end(), [](std::byte each) { return each == std::byte{0}; }));
}

}  // namespace
}  // namespace safe

#endif
