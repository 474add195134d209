// Waits: signals that meet arming, disarming, time-outs and teardown.
#include "contract/fixtures.hpp"
#include "stress.hpp"

#ifndef _WIN32
#include <sys/eventfd.h>
#include <unistd.h>
#endif

namespace stress {
namespace {

using tidepool::event;
using tidepool::reset_mode;
using tidepool::wait_activation;
using tidepool::wait_result;

class waits : public scenario {};

TEST_F(waits, that_rearm_themselves_see_every_signal_and_never_overlap) {
  const int signals = scaled(20'000);
  constexpr unsigned number = 8;
  struct chain {
    event signal{reset_mode::automatic};
    crowd inside;
    std::atomic<int> seen{0};
    std::optional<wait> object;
  };
  std::vector<chain> chains(number);
  tally ended;
  for (chain& each : chains) {
    each.object.emplace(each.signal, [&each, &ended, signals](wait_activation& activation) {
      each.inside.enter();
      activation.rearm();
      const int seen = ++each.seen;
      each.inside.leave();
      if (seen < signals) {
        each.signal.set();
      } else {
        ended.add();
      }
    });
    each.object->arm();
    each.signal.set();
  }
  EXPECT_TRUE(ended.reaches(number));
  for (chain& each : chains) {
    each.object->stop_and_drain();
    EXPECT_EQ(each.seen, signals);
    EXPECT_EQ(each.inside.peak(), 1u);
  }
}

TEST_F(waits, share_the_signals_of_an_automatic_event_without_loss_or_surplus) {
  const auto signals = static_cast<unsigned>(scaled(5000));
  event signal(reset_mode::automatic);
  tally taken;
  std::vector<std::unique_ptr<wait>> objects;
  for (int i = 0; i != 32; ++i) {
    objects.push_back(std::make_unique<wait>(signal, [&](wait_activation& activation) {
      activation.rearm();
      taken.add();
    }));
    objects.back()->arm();
  }
  for (unsigned i = 1; i <= signals; ++i) {
    signal.set();
    ASSERT_TRUE(taken.reaches(i));
  }
  objects.clear();
  EXPECT_EQ(taken.count(), signals);
}

TEST_F(waits, can_be_armed_disarmed_and_signalled_at_once) {
  event signal(reset_mode::automatic);
  std::atomic<int> taken{0};
  std::vector<std::unique_ptr<wait>> objects;
  for (int i = 0; i != 8; ++i) {
    objects.push_back(std::make_unique<wait>(signal, [&] { ++taken; }));
  }
  on_threads(4, [&](unsigned index) {
    std::minstd_rand random(index + 1);
    int i = 0;
    for (rounds turn(5000); turn.go_on([&] { return taken != 0; }); ++i) {
      wait& object = *objects[random() % objects.size()];
      switch (index) {
        case 0: object.arm(); break;
        case 1: object.arm(random_time(random, 50)); break;
        case 2: object.disarm(); break;
        default: signal.set();
      }
      if (i % 32 == 0) {
        std::this_thread::yield();
      }
    }
  });
  for (const auto& each : objects) {
    each->stop_and_drain();
  }
  EXPECT_GT(taken, 0);
}

TEST_F(waits, end_each_arming_once_when_signal_and_time_out_meet) {
  event signal(reset_mode::automatic);
  tally ended;
  std::atomic<int> timed_out{0};
  std::atomic<int> signalled{0};
  wait object(signal, [&](wait_activation& activation) {
    (activation.result() == wait_result::timed_out ? timed_out : signalled) += 1;
    ended.add();
  });
  std::minstd_rand random(5);
  unsigned i = 1;
  for (rounds turn(3000); turn.go_on([&] { return timed_out != 0 && signalled != 0; }); ++i) {
    object.arm(random_time(random, 60));
    spin_for(random_time(random, 100));
    signal.set();
    ASSERT_TRUE(ended.reaches(i));
    object.wait_for_callbacks();
    ASSERT_EQ(ended.count(), i);
    signal.reset();
  }
  EXPECT_GT(timed_out, 0);
  EXPECT_GT(signalled, 0);
}

TEST_F(waits, time_out_again_and_again) {
  const int rounds = scaled(2000);
  event never(reset_mode::manual);
  std::atomic<int> timed_out{0};
  tally ended;
  wait object(never, [&](wait_activation& activation) {
    EXPECT_EQ(activation.result(), wait_result::timed_out);
    if (++timed_out < rounds) {
      activation.rearm(10us);
    } else {
      ended.add();
    }
  });
  object.arm(10us);
  EXPECT_TRUE(ended.reaches(1));
}

TEST_F(waits, all_see_a_manual_event_in_a_large_population) {
  const auto number = static_cast<unsigned>(scaled(20'000));
  event signal(reset_mode::manual);
  tally taken;
  std::vector<std::unique_ptr<wait>> objects;
  for (unsigned i = 0; i != number; ++i) {
    objects.push_back(std::make_unique<wait>(signal, [&] { taken.add(); }));
    objects.back()->arm();
  }
  signal.set();
  EXPECT_TRUE(taken.reaches(number));
  objects.clear();
  EXPECT_EQ(taken.count(), number);
}

TEST_F(waits, can_be_destroyed_while_they_are_signalled) {
  SKIP_UNDER_WINE("a signal that meets the closing of a wait can use the wait after it has been freed");
  const int rounds = scaled(5000);
  std::atomic<int> taken{0};
  event signal(reset_mode::automatic);
  const std::jthread signaller([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      signal.set();
      std::this_thread::yield();
    }
  });
  on_threads(2, [&](unsigned) {
    for (int round = 0; round != rounds; ++round) {
      wait object(signal, [&](wait_activation& activation) {
        ++taken;
        activation.rearm();
      });
      object.arm();
      if (round % 8 == 0) {
        const int before = taken;
        EXPECT_TRUE(contract::eventually_without_sleep([&] { return taken != before; }));
      }
    }
  });
  EXPECT_GT(taken, 0);
}

TEST_F(waits, can_be_destroyed_inside_an_activation_that_asks_to_be_rearmed) {
  const int rounds = scaled(2000);
  for (int round = 0; round != rounds; ++round) {
    event signal(reset_mode::manual, true);
    std::atomic<int> begun{0};
    {
      wait object(signal, [&](wait_activation& activation) {
        ++begun;
        activation.rearm();
      });
      object.arm();
      while (begun == 0) {
        std::this_thread::yield();
      }
    }
    const int quiet = begun;
    spin_for(2us);
    ASSERT_EQ(begun, quiet);
  }
}

TEST_F(waits, can_be_torn_down_by_eight_threads_at_once) {
  std::atomic<int> taken{0};
  for (rounds turn(100); turn.go_on([&] { return taken != 0; });) {
    event signal(reset_mode::automatic);
    std::vector<std::unique_ptr<wait>> objects;
    for (int i = 0; i != 64; ++i) {
      objects.push_back(std::make_unique<wait>(signal, [&](wait_activation& activation) {
        ++taken;
        activation.rearm();
        signal.set();
      }));
      objects.back()->arm();
    }
    signal.set();
    on_threads(8, [&](unsigned index) {
      for (std::size_t i = index; i < objects.size(); i += 8) {
        objects[i].reset();
      }
    });
  }
  EXPECT_GT(taken, 0);
}

TEST_F(waits, and_threads_share_the_signals_of_one_event) {
  const auto signals = static_cast<unsigned>(scaled(3000));
  event signal(reset_mode::automatic);
  tally taken;
  wait object(signal, [&](wait_activation& activation) {
    activation.rearm();
    taken.add();
  });
  object.arm();
  std::jthread thread([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (signal.wait_for(1ms)) {
        taken.add();
      }
    }
  });
  for (unsigned i = 1; i <= signals; ++i) {
    signal.set();
    ASSERT_TRUE(taken.reaches(i));
  }
  thread.request_stop();
  thread.join();
  object.stop_and_drain();
  EXPECT_EQ(taken.count(), signals);
}

#ifndef _WIN32

/// An eventfd, which the waits' callbacks empty and signal again.
class counter {
 public:
  counter() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { EXPECT_GE(descriptor_, 0); }
  ~counter() { close(descriptor_); }
  counter(const counter&) = delete;
  counter& operator=(const counter&) = delete;
  operator int() const { return descriptor_; }
  void signal() const { eventfd_write(descriptor_, 1); }
  void empty() const {
    eventfd_t value;
    eventfd_read(descriptor_, &value);
  }

 private:
  int descriptor_;
};

TEST_F(waits, on_descriptors_go_round_and_round) {
  const int rounds = scaled(5000);
  constexpr unsigned number = 16;
  struct chain {
    counter signal;
    std::atomic<int> seen{0};
    std::optional<wait> object;
  };
  std::vector<chain> chains(number);
  tally ended;
  for (chain& each : chains) {
    each.object.emplace(tidepool::waitable_handle::from_descriptor(each.signal),
                        [&each, &ended, rounds](wait_activation& activation) {
                          each.signal.empty();
                          activation.rearm();
                          if (++each.seen < rounds) {
                            each.signal.signal();
                          } else {
                            ended.add();
                          }
                        });
    each.object->arm();
    each.signal.signal();
  }
  EXPECT_TRUE(ended.reaches(number));
}

TEST_F(waits, on_descriptors_can_be_destroyed_while_they_are_signalled) {
  const counter signal;
  std::atomic<int> taken{0};
  const std::jthread signaller([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      signal.signal();
      std::this_thread::yield();
    }
  });
  on_threads(2, [&](unsigned) {
    int round = 0;
    for (rounds turn(2000); turn.go_on([&] { return taken != 0; }); ++round) {
      wait object(tidepool::waitable_handle::from_descriptor(signal), [&](wait_activation& activation) {
        ++taken;
        signal.empty();
        activation.rearm(50us);
      });
      object.arm();
      if (round % 4 == 0) {
        spin_for(20us);
      }
    }
  });
  EXPECT_GT(taken, 0);
}

#endif

}  // namespace
}  // namespace stress
