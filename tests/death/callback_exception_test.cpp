// An exception that leaves a callback ends the process, with its message.
#include <stdexcept>

#include "safe.hpp"

namespace safe {
namespace {

[[noreturn]] void throw_something() { throw std::runtime_error("the sea is too rough"); }

/// Blocks until the process has ended, or for as long as the test has patience.
void wait_for_the_end() {
  gate never;
  static_cast<void>(never.pass());
}

TEST(exceptions, that_leave_a_work_callback_end_the_process_with_their_message) {
  EXPECT_DEATH(
      {
        tidepool::work object([] { throw_something(); });
        object.submit();
        wait_for_the_end();
      },
      "the sea is too rough");
}

TEST(exceptions, that_leave_a_work_callback_with_instance_end_the_process_with_their_message) {
  EXPECT_DEATH(
      {
        tidepool::work object([](tidepool::callback_instance&) { throw_something(); });
        object.submit();
        wait_for_the_end();
      },
      "the sea is too rough");
}

TEST(exceptions, that_leave_a_one_off_end_the_process_with_their_message) {
  EXPECT_DEATH(
      {
        tidepool::submit([] { throw_something(); });
        wait_for_the_end();
      },
      "the sea is too rough");
}

TEST(exceptions, that_leave_a_large_one_off_end_the_process_with_their_message) {
  EXPECT_DEATH(
      {
        const private_pool pool(1);
        tidepool::submit([text = std::string(100, 'x')](tidepool::callback_instance&) { throw_something(); },
                         pool.environment);
        wait_for_the_end();
      },
      "the sea is too rough");
}

TEST(exceptions, that_a_callback_catches_itself_are_its_own_business) {
  EXPECT_EXIT(
      {
        tidepool::work object([] {
          try {
            throw_something();
          } catch (const std::runtime_error&) {
          }
        });
        object.submit();
        object.stop_and_drain();
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(exceptions, that_an_empty_function_throws_end_the_process_too) {
  EXPECT_DEATH(
      {
        tidepool::submit(std::function<void()>());
        wait_for_the_end();
      },
      "bad_function_call");
}

}  // namespace
}  // namespace safe
