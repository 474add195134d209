// Cancelling, and the names of requests.
#include <random>
#include <unordered_set>
#include <vector>

#include "io.hpp"

namespace safe {
namespace {

using tidepool::detail::access;

class cancelling : public safe_test {
 protected:
  channel<pipe_kind> ends_;

  /// A read that stays pending.
  operation_id start(const text_answer& read) { return ends_.reader.read(std::string(1, ' '), read.handler()); }
};

TEST_F(cancelling, stops_the_one_that_is_named) {
  std::vector<text_answer> answers(20);
  std::vector<operation_id> ids;
  for (const text_answer& each : answers) {
    ids.push_back(start(each));
  }
  EXPECT_TRUE(ends_.reader.cancel(ids[7]));
  EXPECT_EQ(answers[7].get().error, std::errc::operation_canceled);
  EXPECT_EQ(ends_.reader.outstanding(), 19u);
  for (std::size_t i = 0; i != answers.size(); ++i) {
    EXPECT_EQ(answers[i].is_here(), i == 7);
  }
  write_and_wait<pipe_kind>(ends_.writer, std::string(19, 'x'));
  for (std::size_t i = 0; i != answers.size(); ++i) {
    if (i != 7) {
      expect_read(answers[i].get(), "x");
    }
  }
}

TEST_F(cancelling, all_stops_all_and_later_requests_go_on) {
  std::vector<text_answer> answers(20);
  for (const text_answer& each : answers) {
    start(each);
  }
  ends_.reader.cancel_all();
  for (text_answer& each : answers) {
    EXPECT_EQ(each.get().error, std::errc::operation_canceled);
  }
  text_answer later;
  start(later);
  EXPECT_EQ(ends_.reader.outstanding(), 1u);
  write_and_wait<pipe_kind>(ends_.writer, "x");
  expect_read(later.get(), "x");
}

TEST_F(cancelling, nothing_does_nothing) {
  ends_.reader.cancel_all();
  EXPECT_FALSE(ends_.reader.cancel(operation_id()));
  text_answer read;
  start(read);
  EXPECT_FALSE(ends_.reader.cancel(operation_id()));
  write_and_wait<pipe_kind>(ends_.writer, "x");
  expect_read(read.get(), "x");
}

TEST_F(cancelling, twice_is_the_same_as_once) {
  text_answer read;
  const operation_id id = start(read);
  EXPECT_TRUE(ends_.reader.cancel(id));
  static_cast<void>(ends_.reader.cancel(id));  // it may be over
  EXPECT_EQ(read.get().error, std::errc::operation_canceled);
  EXPECT_FALSE(ends_.reader.cancel(id));
}

TEST_F(cancelling, does_not_find_what_is_over_even_in_its_own_handler) {
  gate known;
  operation_id id;
  std::atomic<bool> found = true;
  tally called;
  id = ends_.reader.read(std::string(1, ' '), [&] {
    EXPECT_TRUE(known.pass());
    found = ends_.reader.cancel(id);
    called.add();
  });
  known.open();
  write_and_wait<pipe_kind>(ends_.writer, "x");
  EXPECT_TRUE(called.reaches(1));
  EXPECT_FALSE(found);
}

TEST_F(cancelling, does_not_find_what_was_refused) {
  answer<acceptance> refused;
  const operation_id id = ends_.reader.accept(refused.handler());
  EXPECT_FALSE(ends_.reader.cancel(id));
  EXPECT_EQ(refused.get().error, std::errc::not_supported);
}

TEST_F(cancelling, does_not_find_requests_of_another_io) {
  channel<pipe_kind> others;
  text_answer read;
  text_answer other;
  const operation_id id = start(read);
  others.reader.read(std::string(1, ' '), other.handler());
  EXPECT_FALSE(others.reader.cancel(id));
  EXPECT_FALSE(others.writer.cancel(id));
  write_and_wait<pipe_kind>(ends_.writer, "x");
  write_and_wait<pipe_kind>(others.writer, "y");
  expect_read(read.get(), "x");
  expect_read(other.get(), "y");
}

// ---- names that were kept too long ---------------------------------------------------------------------

TEST_F(cancelling, by_a_name_that_is_too_old_does_not_touch_the_request_in_its_place) {
  text_answer first;
  const operation_id old = start(first);
  write_and_wait<pipe_kind>(ends_.writer, "x");
  expect_read(first.get(), "x");
  text_answer second;
  const operation_id now = start(second);
  ASSERT_EQ(access::slot_of(now), access::slot_of(old));  // what the test is about
  EXPECT_NE(now, old);
  EXPECT_FALSE(ends_.reader.cancel(old));
  let_another_pool_work();
  EXPECT_FALSE(second.is_here());
  write_and_wait<pipe_kind>(ends_.writer, "y");
  expect_read(second.get(), "y");
}

TEST_F(cancelling, by_a_forged_name_finds_nothing) {
  text_answer read;
  const operation_id real = start(read);
  const std::uint32_t slot = access::slot_of(real);
  const std::uint64_t generation = access::generation_of(real);
  const operation_id forged[] = {
      access::make_id(slot, generation - 1), access::make_id(slot, generation + 1),   access::make_id(slot, 0),
      access::make_id(slot + 1, generation), access::make_id(UINT32_MAX, generation), access::make_id(slot, UINT64_MAX),
  };
  for (const operation_id& each : forged) {
    EXPECT_FALSE(ends_.reader.cancel(each));
  }
  let_another_pool_work();
  EXPECT_FALSE(read.is_here());
  EXPECT_TRUE(ends_.reader.cancel(access::make_id(slot, generation)));  // the control
  EXPECT_EQ(read.get().error, std::errc::operation_canceled);
}

TEST_F(cancelling, by_a_forged_name_for_a_free_slot_finds_nothing) {
  text_answer read;
  const operation_id id = start(read);
  EXPECT_TRUE(ends_.reader.cancel(id));
  EXPECT_EQ(read.get().error, std::errc::operation_canceled);
  ends_.reader.run_down();
  EXPECT_FALSE(ends_.reader.cancel(id));
  EXPECT_FALSE(ends_.reader.cancel(access::make_id(access::slot_of(id), 0)));
}

TEST_F(cancelling, never_sees_a_generation_again) {
  std::unordered_set<std::uint64_t> seen;
  std::unordered_set<operation_id> ids;
  for (int round = 0; round != 20; ++round) {
    channel<pipe_kind> ends;
    for (int i = 0; i != 20; ++i) {
      const operation_id id = ends.reader.read(std::string(1, ' '), [] {});
      EXPECT_TRUE(seen.insert(access::generation_of(id)).second);
      EXPECT_TRUE(ids.insert(id).second);
    }
  }
}

TEST(operation_ids, name_nothing_unless_they_come_from_a_request) {
  const operation_id nothing;
  EXPECT_FALSE(nothing);
  EXPECT_EQ(nothing, operation_id());
  EXPECT_LT(nothing, access::make_id(0, 1));
  EXPECT_NE(access::make_id(0, 1), access::make_id(1, 1));
}

// ---- races ---------------------------------------------------------------------------------------------

TEST_F(cancelling, that_races_with_completion_leads_to_one_or_the_other) {
  constexpr int rounds = 2000;
  std::atomic<int> completed = 0;
  std::atomic<int> cancelled = 0;
  std::minstd_rand random(1);
  for (int round = 0; round != rounds; ++round) {
    text_answer read;
    text_answer written;
    const operation_id id = start(read);
    std::atomic<bool> go = false;
    std::jthread canceller([&] {
      while (!go) {
      }
      static_cast<void>(ends_.reader.cancel(id));
    });
    go = true;
    for (auto i = random() % 200; i != 0; --i) {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    ends_.writer.write(std::string("x"), written.handler());
    const transfer<std::string>& result = read.get();
    if (result.error) {
      ASSERT_EQ(result.error, std::errc::operation_canceled);
      ASSERT_EQ(result.bytes, 0u);
      ++cancelled;
      text_answer left;  // what was written is still there
      start(left);
      expect_read(left.get(), "x");
    } else {
      expect_read(result, "x");
      ++completed;
    }
    expect_done(written.get(), 1);
  }
  EXPECT_EQ(completed + cancelled, rounds);
  EXPECT_EQ(ends_.reader.outstanding(), 0u);
}

TEST_F(cancelling, everything_while_others_start_requests_leaves_none_behind) {
  constexpr unsigned threads = 4;
  constexpr unsigned each = 1000;
  std::atomic<unsigned> called = 0;
  std::atomic<unsigned> running = threads;
  {
    std::vector<std::jthread> starters;
    for (unsigned i = 0; i != threads; ++i) {
      starters.emplace_back([&] {
        for (unsigned n = 0; n != each; ++n) {
          ends_.reader.read(std::string(1, ' '), [&](const transfer<std::string>& result) {
            EXPECT_EQ(result.error, std::errc::operation_canceled);
            ++called;
          });
        }
        --running;
      });
    }
    while (running != 0) {
      ends_.reader.cancel_all();
    }
  }
  ends_.reader.cancel_all();
  ends_.reader.run_down();
  EXPECT_EQ(called, threads * each);
}

/// A request whose completion comes between its parts can not be missed by a cancellation.
TEST_F(cancelling, a_write_in_thousands_of_parts_stops_it) {
  const scratch_file file;
  io object(endpoint::open_file(file.path(), tidepool::access::write, creation::create_new));
  for (int round = 0; round != 20; ++round) {
    answer<transfer<std::vector<std::string>>> written;
    const operation_id id = object.write_at(0, std::vector<std::string>(20'000, "text"), written.handler());
    const bool found = object.cancel(id);
    const auto& result = written.get();
    if (result.error) {
      EXPECT_TRUE(found);
      EXPECT_EQ(result.error, std::errc::operation_canceled);
      EXPECT_LT(result.bytes, 80'000u);
    } else {
      EXPECT_EQ(result.bytes, 80'000u);
    }
    EXPECT_EQ(object.outstanding(), 0u);
  }
}

}  // namespace
}  // namespace safe
