// The buffer: what it holds, what it counts as lost, and what a reader sees while others write.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <thread>

#include "contract/gate.hpp"
#include "contract/watchdog.hpp"
#include "trace/buffer.hpp"
#include "trace/recorder.hpp"
#include "trace/thread_segment.hpp"

namespace traces {
namespace {

using namespace tidepool::recorder;
using contract::gate;
using contract::tally;

constexpr std::size_t capacity = std::size_t{segment_count} * segment::capacity;

/// A record every field of which follows from one number.
void make(std::uint64_t number) {
  write(static_cast<kind>(number % std::size(kind_names)), static_cast<action>(number % std::size(action_names)),
        reinterpret_cast<const void*>(static_cast<std::uintptr_t>(number)), number * 3, ~number);
}

std::uint64_t now() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

bool is_whole(const record& what) {
  return what.first == what.target * 3 && what.second == ~what.target &&
         static_cast<std::size_t>(what.what) == what.target % std::size(kind_names) &&
         static_cast<std::size_t>(what.which) == what.target % std::size(action_names);
}

/// What has been recorded and what has been lost, since the test began: the test's own records and nothing else.
class buffer : public testing::Test {
 protected:
  buffer() { prepare_threads(); }

  /// Made and not lost: what is held, of this test or of earlier ones.
  void expect_made(std::uint64_t made) const { EXPECT_EQ(copy_records().size() + lost.load() - at_first_, made); }

 private:
  contract::watchdog watchdog_;
  const std::uint64_t at_first_ = copy_records().size() + lost.load();
};

void in_a_thread(const std::function<void()>& what) { std::thread(what).join(); }

/// Every segment that there is, or those that are left, so that nobody else gets one.
class all_segments {
 public:
  all_segments() {
    while (segment* const next = take_next()) {
      taken_.push_back(next);
    }
  }
  ~all_segments() {
    while (!taken_.empty()) {
      give_one_up();
    }
  }
  all_segments(const all_segments&) = delete;
  all_segments& operator=(const all_segments&) = delete;

  void give_one_up() {
    taken_.back()->give_up();
    taken_.pop_back();
  }
  [[nodiscard]] std::size_t count() const { return taken_.size(); }

 private:
  std::vector<segment*> taken_;
};

// ---- one thread ------------------------------------------------------------------------------------------

TEST_F(buffer, holds_what_one_thread_records_in_the_order_in_which_it_did) {
  in_a_thread([] {
    for (std::uint64_t i = 0; i != 1000; ++i) {
      make(i);
    }
  });
  const std::vector<record> held = copy_records();
  ASSERT_GE(held.size(), 1000u);
  for (std::uint64_t i = 0; i != 1000; ++i) {
    const record& each = held[held.size() - 1000 + i];
    ASSERT_EQ(each.target, i);
    ASSERT_TRUE(is_whole(each));
  }
  expect_made(1000);
}

TEST_F(buffer, lets_the_oldest_go_first_and_counts_them) {
  constexpr std::uint64_t made = 3 * capacity + 17;
  const std::size_t free = all_segments().count();  // other threads may have one
  std::uint32_t thread = 0;
  in_a_thread([&] {
    thread = this_thread();
    for (std::uint64_t i = 0; i != made; ++i) {
      make(i);
    }
  });
  expect_made(made);
  std::vector<record> held = copy_records();
  held.erase(std::remove_if(held.begin(), held.end(), [&](const record& each) { return each.thread != thread; }),
             held.end());
  // A segment is emptied as a whole, when there is no other.
  EXPECT_GT(held.size(), (free - 1) * segment::capacity);
  EXPECT_LE(held.size(), free * segment::capacity);
  for (std::size_t i = 0; i != held.size(); ++i) {
    ASSERT_EQ(held[i].target, made - held.size() + i);
  }
}

TEST_F(buffer, keeps_the_order_of_records_with_the_same_time) {
  // Across the end of the ring too. The segments are filled by hand, as a thread fills its own.
  in_a_thread([] {
    std::uint64_t number = 0;
    for (std::uint32_t i = 0; i != 2 * segment_count + segment_count / 2; ++i) {
      segment* const own = take_next();
      ASSERT_NE(own, nullptr);
      own->append({1, 1, kind::pool, action::set, number++, 0, 0});
      own->give_up();
    }
  });
  std::uint64_t last = 0;
  std::size_t seen = 0;
  for (const record& each : copy_records()) {
    if (each.time == 1) {
      ASSERT_TRUE(seen == 0 || each.target > last) << each.target << " after " << last;
      last = each.target;
      ++seen;
    }
  }
  EXPECT_EQ(seen, segment_count);
}

// ---- many threads ----------------------------------------------------------------------------------------

TEST_F(buffer, loses_count_of_nothing_when_threads_come_and_go) {
  constexpr unsigned writers = 4;
  constexpr unsigned generations = 200;
  std::atomic<std::uint64_t> made = 0;
  std::vector<std::thread> crowd;
  for (unsigned writer = 0; writer != writers; ++writer) {
    crowd.emplace_back([&made, writer] {
      for (unsigned generation = 0; generation != generations; ++generation) {
        in_a_thread([&] {
          const std::uint64_t count = (generation * 37 + writer * 11) % 500;
          for (std::uint64_t i = 0; i != count; ++i) {
            make(i);
          }
          made += count;
        });
      }
    });
  }
  for (std::thread& each : crowd) {
    each.join();
  }
  expect_made(made);
}

/// Threads that do something again and again, with numbers from 1 on, until they are stopped.
class busy_threads {
 public:
  busy_threads(unsigned count, const std::function<void(std::uint64_t)>& what) {
    for (unsigned i = 0; i != count; ++i) {
      crowd_.emplace_back([this, what] {
        begun_.add();
        std::uint64_t number = 0;
        while (!enough_) {
          what(++number);
        }
        done_ += number;
      });
    }
    EXPECT_TRUE(begun_.reaches(count));
  }
  ~busy_threads() { stop(); }
  busy_threads(const busy_threads&) = delete;
  busy_threads& operator=(const busy_threads&) = delete;

  /// Returns how often they have done it.
  std::uint64_t stop() {
    enough_ = true;
    for (std::thread& each : crowd_) {
      each.join();
    }
    crowd_.clear();
    return done_;
  }

 private:
  tally begun_;
  std::atomic<bool> enough_ = false;
  std::atomic<std::uint64_t> done_ = 0;
  std::vector<std::thread> crowd_;
};

TEST_F(buffer, shows_a_reader_whole_records_of_each_thread_in_order_while_they_write) {
  const std::uint64_t began = now();
  busy_threads writers(4, make);
  std::size_t seen = 0;
  const bool enough = contract::eventually_without_sleep([&] {
    std::map<std::uint32_t, record> last;
    for (const record& each : copy_records()) {
      if (each.time < began) {
        continue;  // of another test
      }
      const auto before = last.find(each.thread);
      if (!is_whole(each) || (before != last.end() && each.target <= before->second.target)) {
        ADD_FAILURE() << "of " << each.target << ": " << each.first << ", " << each.second << ", after "
                      << (before != last.end() ? before->second.target : 0);
        return true;
      }
      last[each.thread] = each;
      ++seen;
    }
    return seen > 60 * capacity;
  });
  EXPECT_TRUE(enough || seen > capacity);
  expect_made(writers.stop());
}

TEST_F(buffer, does_not_show_a_reader_what_is_thrown_away_meanwhile) {
  // Each content's records are of its own number; a segment that is read while it changes hands would give some of each.
  segment changing;
  busy_threads owner(1, [&](std::uint64_t content) {
    changing.begin_anew(content);
    for (std::uint32_t i = 0; i != segment::capacity; ++i) {
      changing.append({content, 0, kind::pool, action::set, content, content, content});
    }
    std::this_thread::yield();  // so that it is sometimes read before it changes
  });
  std::vector<placed_record> copied;
  std::uint64_t whole = 0;
  const bool enough = contract::eventually_without_sleep([&] {
    copied.clear();
    changing.copy_to(copied);
    for (const placed_record& each : copied) {
      const std::uint64_t content = each.place / segment::capacity;
      if (each.what.time != content || each.what.target != content || each.what.first != content ||
          each.what.second != content) {
        ADD_FAILURE() << "content " << content << " has a record of " << each.what.time << ", " << each.what.target;
        return true;
      }
    }
    whole += copied.empty() ? 0 : 1;
    return whole == 200'000;
  });
  EXPECT_TRUE(enough || whole > 100);
}

// ---- more threads than segments --------------------------------------------------------------------------

TEST_F(buffer, counts_what_it_can_not_keep_for_want_of_a_segment) {
  std::optional<all_segments> taken(std::in_place);
  EXPECT_GT(taken->count(), std::size_t{segment_count} / 2);  // the rest is other threads'
  const std::size_t held = copy_records().size();
  const std::uint64_t lost_before = lost;
  in_a_thread([&] {
    make(1);
    make(2);
    EXPECT_EQ(lost - lost_before, 2u);
    EXPECT_EQ(copy_records().size(), held);
    taken->give_one_up();
    make(3);  // it has one now
    EXPECT_EQ(lost - lost_before, 2u);
    EXPECT_EQ(copy_records().size(), held + 1);
  });
  taken->give_one_up();
  taken.reset();
  in_a_thread([] { make(4); });
  EXPECT_EQ(copy_records().back().target, 4u);
}

TEST_F(buffer, serves_more_threads_than_it_has_segments) {
#ifdef _WIN32
  GTEST_SKIP() << "so many threads at once take Wine minutes";
#endif
  constexpr unsigned threads = segment_count + 100;
  tally made;
  gate go_on;
  std::vector<std::thread> crowd;
  for (unsigned i = 0; i != threads; ++i) {
    crowd.emplace_back([&] {
      make(1);
      made.add();
      EXPECT_TRUE(go_on.pass());
      make(2);
    });
  }
  EXPECT_TRUE(made.reaches(threads));
  go_on.open();
  for (std::thread& each : crowd) {
    each.join();
  }
  expect_made(2 * threads);
}

// ---- the beginning and the end of threads ----------------------------------------------------------------

struct makes_one_when_destroyed {
  std::uint64_t number;
  explicit makes_one_when_destroyed(std::uint64_t of) : number(of) {}
  ~makes_one_when_destroyed() { make(number); }
  void be_there() const noexcept {}
};

TEST_F(buffer, takes_records_of_the_destructors_of_a_thread) {
  std::uint32_t thread = 0;
  in_a_thread([&] {
    thread = this_thread();
    static thread_local const makes_one_when_destroyed made_before_the_first_record(1001);
    made_before_the_first_record.be_there();
    make(1000);
    static thread_local const makes_one_when_destroyed made_after_it(1002);
    made_after_it.be_there();
  });
  std::vector<std::uint64_t> seen;
  for (const record& each : copy_records()) {
    if (each.thread == thread && each.target >= 1000 && each.target <= 1002) {
      EXPECT_TRUE(is_whole(each));
      seen.push_back(each.target);
    }
  }
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{1000, 1002, 1001}));
  expect_made(3);
}

TEST_F(buffer, gets_the_segments_of_threads_back_that_have_ended) {
  for (unsigned i = 0; i != 2 * segment_count; ++i) {
    in_a_thread([] { make(1); });
  }
  const std::uint64_t lost_before = lost;
  in_a_thread([] { make(2); });
  EXPECT_LE(lost - lost_before, segment::capacity);
  EXPECT_EQ(copy_records().back().target, 2u);
  expect_made(2 * segment_count + 1);
}

TEST_F(buffer, gets_the_segments_of_threads_back_when_their_last_record_is_a_destructors) {
  const std::size_t free = all_segments().count();
  constexpr unsigned threads = 50;
  for (unsigned i = 0; i != threads; ++i) {
    in_a_thread([] {
      static thread_local const makes_one_when_destroyed made_before_the_first_record(1001);
      made_before_the_first_record.be_there();
      make(1000);
    });
  }
  EXPECT_EQ(all_segments().count(), free);
}

TEST_F(buffer, does_not_spend_a_segment_on_each_thread_that_shares) {
  // One record each, at the end of the thread, when it may have none of its own.
  constexpr unsigned threads = 3 * segment::capacity;
  const std::size_t held = copy_records().size();
  const std::uint64_t lost_before = lost;
  for (unsigned i = 0; i != threads; ++i) {
    in_a_thread([] { write_shared(kind::pool, action::set, nullptr, 0, 0); });
  }
  EXPECT_EQ(copy_records().size() + (lost - lost_before), held + threads);
  const all_segments taken;
  EXPECT_GT(taken.count(), std::size_t{segment_count} / 2);
}

}  // namespace
}  // namespace traces
