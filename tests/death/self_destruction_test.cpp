// An object that is destroyed inside its own callback would wait for itself for ever; the process ends instead.
#include <memory>
#include <optional>

#include "safe.hpp"

namespace safe {
namespace {

using tidepool::work;

void wait_for_the_end() {
  gate never;
  static_cast<void>(never.pass());
}

TEST(works, that_are_destroyed_inside_their_own_callback_end_the_process_and_name_their_origin) {
  EXPECT_DEATH(
      {
        std::unique_ptr<work> object;
        object = std::make_unique<work>([&] { object.reset(); });
        object->submit();
        wait_for_the_end();
      },
      "tidepool: the work created at .*unique_ptr.* is being destroyed inside its own callback");
}

TEST(works, name_the_file_in_which_they_were_created) {
  EXPECT_DEATH(
      {
        std::optional<work> object;
        object = work([&] { object.reset(); });
        object->submit();
        wait_for_the_end();
      },
      "self_destruction_test.cpp");
}

TEST(works, that_are_assigned_inside_their_own_callback_end_the_process) {
  EXPECT_DEATH(
      {
        work object([] {});
        object = work([&] { object = work([] {}); });
        object.submit();
        wait_for_the_end();
      },
      "tidepool: the work created at .*self_destruction_test.cpp.* is being destroyed inside its own callback");
}

TEST(works, that_are_destroyed_by_a_callback_inside_another_thread_are_fine) {
  EXPECT_EXIT(
      {
        auto object = std::make_unique<work>([] {});
        object->submit();
        object->stop_and_drain();
        work other([&] { object.reset(); });
        other.submit();
        other.stop_and_drain();
        std::_Exit(object == nullptr ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(works, whose_refusal_to_drain_is_not_caught_end_the_process_with_its_message) {
  EXPECT_DEATH(
      {
        std::optional<work> object;
        object.emplace([&] { object->stop_and_drain(); });
        object->submit();
        wait_for_the_end();
      },
      "work::stop_and_drain inside a callback of the same object");
}

}  // namespace
}  // namespace safe
