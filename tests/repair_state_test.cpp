// When a pool is repaired, on invented moments.
#include "heal/repair_state.hpp"

#include <gtest/gtest.h>

namespace {

using tidepool::heal::moment;
using tidepool::heal::repair_state;
using step = repair_state::step;

constexpr moment patience = repair_state::patience;

TEST(repair_state, asks_for_nothing_while_nothing_is_cancelled) {
  repair_state state;
  EXPECT_EQ(step::nothing, state.tick(1));
  state.note_started(2);  // by whatever means
  EXPECT_EQ(step::nothing, state.tick(3 + patience));
  EXPECT_FALSE(state.is_owed());
}

TEST(repair_state, asks_for_one_repair_after_a_cancellation) {
  repair_state state;
  state.note_cancelled(10);
  EXPECT_TRUE(state.is_owed());
  EXPECT_EQ(step::submit, state.tick(11));
  EXPECT_EQ(step::nothing, state.tick(12));
  EXPECT_TRUE(state.is_owed());
  state.note_started(13);
  EXPECT_FALSE(state.is_owed());
  EXPECT_EQ(step::nothing, state.tick(14));
}

TEST(repair_state, takes_a_repair_that_began_at_the_moment_of_the_cancellation_for_an_earlier_one) {
  repair_state state;
  state.note_cancelled(10);
  EXPECT_EQ(step::submit, state.tick(10));
  state.note_started(10);
  EXPECT_TRUE(state.is_owed());
  EXPECT_EQ(step::submit, state.tick(11));
  state.note_started(12);
  EXPECT_FALSE(state.is_owed());
}

TEST(repair_state, goes_by_the_latest_cancellation) {
  repair_state state;
  state.note_cancelled(10);
  EXPECT_EQ(step::submit, state.tick(11));
  state.note_started(12);
  state.note_cancelled(20);  // a state that kept the earliest would be healed for ever
  EXPECT_TRUE(state.is_owed());
  EXPECT_EQ(step::submit, state.tick(21));
}

TEST(repair_state, is_not_told_by_one_who_is_late_that_there_was_no_later_cancellation) {
  repair_state state;
  state.note_cancelled(20);
  state.note_started(15);
  state.note_cancelled(10);  // read the clock before the other did
  EXPECT_TRUE(state.is_owed());
}

// Of a repair that was submitted twice, two threads may run the callback at the same time.
TEST(repair_state, is_not_told_by_a_repair_that_is_late_that_no_later_one_has_begun) {
  repair_state state;
  state.note_cancelled(10);
  EXPECT_EQ(step::submit, state.tick(11));
  EXPECT_EQ(step::submit_again, state.tick(12 + patience));
  state.note_started(14 + patience);
  state.note_started(12);  // read the clock before the other was even submitted
  EXPECT_FALSE(state.is_owed());
  state.note_cancelled(15 + patience);
  EXPECT_EQ(step::submit, state.tick(16 + patience));
}

TEST(repair_state, lets_one_repair_stand_for_what_is_cancelled_before_it_begins) {
  repair_state state;
  state.note_cancelled(10);
  EXPECT_EQ(step::submit, state.tick(11));
  state.note_cancelled(12);
  EXPECT_EQ(step::nothing, state.tick(13));
  state.note_started(14);
  EXPECT_FALSE(state.is_owed());
  EXPECT_EQ(step::nothing, state.tick(15));
}

TEST(repair_state, asks_again_when_something_is_cancelled_while_the_repair_runs) {
  repair_state state;
  state.note_cancelled(10);
  EXPECT_EQ(step::submit, state.tick(11));
  state.note_started(12);
  state.note_cancelled(13);
  EXPECT_EQ(step::submit, state.tick(14));
  EXPECT_EQ(step::nothing, state.tick(15));
}

// A tick clears nothing, so what comes about while it decides is there for the next: here it has read the time before.
TEST(repair_state, does_not_lose_a_cancellation_that_lands_while_a_tick_decides) {
  repair_state state;
  state.note_cancelled(10);
  EXPECT_EQ(step::submit, state.tick(11));
  state.note_started(12);
  const moment read_before = 13;
  state.note_cancelled(14);
  EXPECT_EQ(step::submit, state.tick(read_before));
  EXPECT_TRUE(state.is_owed());
  state.note_started(15);
  EXPECT_FALSE(state.is_owed());
}

TEST(repair_state, is_patient_and_then_asks_again_once) {
  repair_state state;
  state.note_cancelled(10);
  EXPECT_EQ(step::submit, state.tick(20));
  EXPECT_EQ(step::nothing, state.tick(20 + patience));
  EXPECT_EQ(step::submit_again, state.tick(21 + patience));
  EXPECT_EQ(step::nothing, state.tick(21 + 2 * patience));
  EXPECT_EQ(step::give_up, state.tick(22 + 2 * patience));
  EXPECT_EQ(step::nothing, state.tick(22 + 3 * patience));
  EXPECT_EQ(step::give_up, state.tick(23 + 3 * patience));
  EXPECT_TRUE(state.is_owed());
}

TEST(repair_state, is_as_patient_with_the_next_fault) {
  repair_state state;
  state.note_cancelled(10);
  EXPECT_EQ(step::submit, state.tick(20));
  EXPECT_EQ(step::submit_again, state.tick(21 + patience));
  state.note_started(22 + patience);
  EXPECT_EQ(step::nothing, state.tick(23 + patience));

  constexpr moment later = 10 * patience;
  state.note_cancelled(later);
  EXPECT_EQ(step::submit, state.tick(later + 1));
  EXPECT_EQ(step::submit_again, state.tick(later + 2 + patience));
}

// The healer was slow to tick after the repair had begun, and finds the next fault at once.
TEST(repair_state, begins_an_episode_anew_though_no_tick_has_seen_the_pool_well) {
  repair_state state;
  state.note_cancelled(10);
  EXPECT_EQ(step::submit, state.tick(20));
  EXPECT_EQ(step::submit_again, state.tick(21 + patience));
  state.note_started(22 + patience);
  state.note_cancelled(23 + patience);
  EXPECT_EQ(step::submit, state.tick(24 + patience));
  EXPECT_EQ(step::submit_again, state.tick(25 + 2 * patience));
}

}  // namespace
