// The handle table from inside: how slots are reused, and when not.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "engine/event.hpp"
#include "engine/handle_table.hpp"

namespace tidepool::engine {
namespace {

/// Opens a handle to a new event.
HANDLE open_event(handle_table& table) { return table.open(*new event_object{true, false}); }

std::uintptr_t index_of(HANDLE handle) { return reinterpret_cast<std::uintptr_t>(handle) >> 2 & 0xFFFFFF; }

TEST(handle_table_test, reuses_the_slot_of_a_closed_handle_under_another_number) {
  static handle_table table;  // never destroyed, like that of the process
  const HANDLE first = open_event(table);
  ASSERT_TRUE(table.close(first));
  const HANDLE second = open_event(table);
  EXPECT_NE(first, second);
  EXPECT_EQ(index_of(first), index_of(second));
  EXPECT_EQ(table.pin(first), nullptr);
  EXPECT_FALSE(table.close(first));
  ASSERT_TRUE(table.close(second));
}

TEST(handle_table_test, keeps_the_slot_of_a_closed_handle_while_it_is_pinned) {
  static handle_table table;  // never destroyed, like that of the process
  const HANDLE first = open_event(table);
  handle_table::slot* const pinned = table.pin(first);
  ASSERT_NE(pinned, nullptr);
  handle_table::slot* const again = table.pin(first);
  ASSERT_EQ(pinned, again);
  ASSERT_TRUE(table.close(first));
  EXPECT_EQ(table.pin(first), nullptr);
  const HANDLE second = open_event(table);
  EXPECT_NE(index_of(first), index_of(second));

  static_cast<event_object*>(pinned->object)->set();  // still there
  table.unpin(*pinned);
  static_cast<event_object*>(again->object)->reset();
  table.unpin(*again);
  const HANDLE third = open_event(table);
  EXPECT_EQ(index_of(first), index_of(third));
  ASSERT_TRUE(table.close(second));
  ASSERT_TRUE(table.close(third));
}

TEST(handle_table_test, retires_a_slot_that_has_had_all_its_generations) {
  static handle_table table;  // never destroyed, like that of the process
  const HANDLE first = open_event(table);
  handle_table::slot* const slot = table.pin(first);
  ASSERT_NE(slot, nullptr);
  table.unpin(*slot);
  ASSERT_TRUE(table.close(first));
  constexpr std::uint64_t last_but_one = (std::uint64_t{1} << 37) - 2;
  slot->word.store(last_but_one << 27);

  const HANDLE last = open_event(table);
  EXPECT_EQ(index_of(first), index_of(last));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(last) >> 63, 0u);
  ASSERT_TRUE(table.close(last));
  const HANDLE next = open_event(table);
  EXPECT_NE(index_of(first), index_of(next));
  EXPECT_EQ(table.pin(last), nullptr);
  ASSERT_TRUE(table.close(next));
}

TEST(handle_table_test, grows_and_stays_where_it_is) {
  static handle_table table;  // never destroyed, like that of the process
  const HANDLE first = open_event(table);
  handle_table::slot* const pinned = table.pin(first);
  std::vector<HANDLE> more;
  std::set<std::uintptr_t> indices;
  for (int i = 0; i != 3000; ++i) {
    more.push_back(open_event(table));
    indices.insert(index_of(more.back()));
  }
  EXPECT_EQ(indices.size(), more.size());
  EXPECT_EQ(*indices.rbegin(), 3000u);
  handle_table::slot* const again = table.pin(first);
  EXPECT_EQ(pinned, again);
  table.unpin(*pinned);
  table.unpin(*again);
  for (const HANDLE handle : more) {
    ASSERT_TRUE(table.close(handle));
  }
  ASSERT_TRUE(table.close(first));
}

TEST(handle_table_test, finds_nothing_under_numbers_with_any_bits_set) {
  static handle_table table;  // never destroyed, like that of the process
  const HANDLE event = open_event(table);
  const auto number = reinterpret_cast<std::uintptr_t>(event);
  for (unsigned bit = 0; bit != 64; ++bit) {
    const std::uintptr_t one = std::uintptr_t{1} << bit;
    for (const std::uintptr_t made_up : {one, one - 1, ~one, ~(one - 1), number ^ one}) {
      const HANDLE handle = reinterpret_cast<HANDLE>(made_up);
      if (made_up >> 2 != number >> 2) {  // the two low bits do not count
        EXPECT_EQ(table.pin(handle), nullptr) << made_up;
        EXPECT_FALSE(table.close(handle)) << made_up;
      }
    }
  }
  EXPECT_TRUE(table.close(event));
}

}  // namespace
}  // namespace tidepool::engine
