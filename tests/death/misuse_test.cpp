// What is used where it must not be, and found out.
#include <optional>

#include "safe.hpp"

namespace safe {
namespace {

using tidepool::callback_instance;
using tidepool::pool;
using tidepool::work;

TEST(moved_from_objects, end_the_process_when_they_are_used) {
  EXPECT_DEATH(
      {
        work object([] {});
        const work taken(std::move(object));
        object.submit();
      },
      "tidepool: a work was used after it had been moved from");
  EXPECT_DEATH(
      {
        work object([] {});
        const work taken(std::move(object));
        object.stop_and_drain();
      },
      "tidepool: a work was used after it had been moved from");
  EXPECT_DEATH(
      {
        work object([] {});
        const work taken(std::move(object));
        object.cancel_pending();
      },
      "tidepool: a work was used after it had been moved from");
  EXPECT_DEATH(
      {
        pool object;
        const pool taken(std::move(object));
        object.set_max_threads(1);
      },
      "tidepool: a pool was used after it had been moved from");
  EXPECT_DEATH(
      {
        pool object;
        const pool taken(std::move(object));
        tidepool::callback_environment environment;
        environment.set_pool(object);
      },
      "tidepool: callback_environment::set_pool was given a pool that has been moved from");
}

TEST(moved_from_objects, can_be_destroyed_and_assigned) {
  EXPECT_EXIT(
      {
        work object([] {});
        std::optional<work> taken(std::move(object));
        taken.reset();
        object = work([] {});
        object.submit();
        object.stop_and_drain();
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(callback_instances, end_the_process_when_they_are_used_on_another_thread) {
  EXPECT_DEATH(
      {
        work object([](callback_instance& instance) { std::jthread other([&] { instance.may_run_long(); }); });
        object.submit();
        object.stop_and_drain();
      },
      "tidepool: a callback_instance was used outside its callback, or on another thread");
}

TEST(callback_instances, end_the_process_when_a_one_off_leaves_its_own_to_another_thread) {
  EXPECT_DEATH(
      {
        tidepool::event used(tidepool::reset_mode::manual);
        tidepool::submit([&](callback_instance& instance) { std::jthread other([&] { instance.disassociate(); }); });
        static_cast<void>(used.wait_for(patience));
      },
      "tidepool: a callback_instance was used outside its callback, or on another thread");
}

}  // namespace
}  // namespace safe
