// A library that was built without its trace: it says so, and nothing else changes.
#include <stdexcept>
#include <system_error>

#include "safe.hpp"
#include "trace/capture_file.hpp"

namespace traces {
namespace {

using tidepool::trace::category;

class trace_left_out : public safe::safe_test {};

TEST_F(trace_left_out, is_not_available_and_never_enabled) {
  EXPECT_FALSE(tidepool::trace::is_available());
  tidepool::trace::enable(category::all);
  EXPECT_EQ(tidepool::trace::enabled(), category::none);
}

TEST_F(trace_left_out, says_that_it_can_not_be_written) {
  const scratch_path file;
  try {
    tidepool::trace::write(file.path());
    ADD_FAILURE() << "it is written";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::not_supported);
    EXPECT_NE(std::string(error.what()).find(file.path().string()), std::string::npos) << error.what();
  }
  EXPECT_FALSE(file.is_there());
}

TEST_F(trace_left_out, takes_no_notice_of_the_environment) {
  const scratch_path file;
  const variable asked("TIDEPOOL_TRACE", "all");
  const variable name("TIDEPOOL_TRACE_FILE", file.path().string());
  EXPECT_EXIT(
      {
        tidepool::work object([] {
          try {
            throw std::runtime_error("caught");
          } catch (const std::runtime_error&) {
          }
        });
        object.submit();
        object.stop_and_drain();
        std::exit(7);
      },
      testing::ExitedWithCode(7), "^$");
  EXPECT_FALSE(file.is_there());
}

}  // namespace
}  // namespace traces
