// The callback of a write that is complete at once comes next on the worker that started it, as far as that is fair. One
// worker of a pool of two is held, so that the order of the other is visible.
#include <deque>
#include <optional>
#include <string>

#include "contract/io_fixtures.hpp"

namespace {

using namespace contract;

class io_overtaking : public io_test {
 protected:
  static constexpr unsigned chain = 20;

  /// Runs `what` as a callback, and returns what was noted, in its order, when `callbacks` of them are over.
  template <class F>
  std::string order_of(unsigned callbacks, F what) {
    work starter{what, where_};
    std::optional<occupier> busy;
    if (held_ != 0) {
      busy.emplace(where_, held_);
      EXPECT_TRUE(busy->held());
    }
    starter.submit();
    EXPECT_TRUE(over_.reaches(callbacks));
    return order_.text();
  }

  void note(char what) {
    order_.note(what);
    over_.add();
  }

  void submit(char name) {
    EXPECT_TRUE(submit_one_off([this, name](PTP_CALLBACK_INSTANCE) { note(name); }, where_));
  }

  void write() { EXPECT_EQ(writes_.start_write(channel_.writer(), requests_.emplace_back("x")), code(NO_ERROR)); }

  void use_one_thread() {
    SetThreadpoolThreadMaximum(pool_.get(), 1);
    held_ = 0;
  }

  const pool pool_{2};
  environment where_{pool_};
  unsigned held_ = 1;
  unsigned further_writes_ = 0;  // that the callbacks of writes start
  journal order_;
  tally over_;
  std::deque<request> requests_;
  io_socket channel_;
  io writes_{channel_.writer(),
             [this] {
               if (further_writes_ != 0) {
                 --further_writes_;
                 write();
               }
               note('w');
             },
             where_};
};

TEST_F(io_overtaking, the_callback_of_a_write_comes_before_what_was_queued_earlier) {
  EXPECT_EQ(order_of(3,
                     [this] {
                       submit('a');
                       submit('b');
                       write();
                     }),
            "wab");
}

TEST_F(io_overtaking, of_several_writes_only_the_first_overtakes) {
  EXPECT_EQ(order_of(4,
                     [this] {
                       submit('a');
                       write();
                       write();
                       submit('b');
                     }),
            "wawb");
}

TEST_F(io_overtaking, whoever_writes_again_and_again_waits_for_the_others) {
  further_writes_ = chain;
  EXPECT_EQ(order_of(chain + 3,
                     [this] {
                       submit('a');
                       submit('b');
                       write();
                     })
                .substr(0, 4),
            "wabw");
}

TEST_F(io_overtaking, on_one_thread_the_first_in_is_the_first_out) {
  use_one_thread();
  EXPECT_EQ(order_of(3,
                     [this] {
                       submit('a');
                       submit('b');
                       write();
                     }),
            "abw");
}

}  // namespace
