// Win32 error codes as std::error_code.
#include <set>
#include <string>

#include "safe.hpp"

namespace safe {
namespace {

std::error_code code(int value) { return {value, tidepool::win32_category()}; }

TEST(win32_errors, have_a_category_of_their_own) {
  EXPECT_STREQ(tidepool::win32_category().name(), "win32");
  EXPECT_EQ(&tidepool::win32_category(), &tidepool::win32_category());
  EXPECT_NE(tidepool::win32_category(), std::generic_category());
  EXPECT_NE(tidepool::win32_category(), std::system_category());
}

// The values are Microsoft's, from winerror.h.
TEST(win32_errors, compare_equal_to_their_counterparts_in_errc) {
  EXPECT_EQ(code(2), std::errc::no_such_file_or_directory);          // ERROR_FILE_NOT_FOUND
  EXPECT_EQ(code(3), std::errc::no_such_file_or_directory);          // ERROR_PATH_NOT_FOUND
  EXPECT_EQ(code(5), std::errc::permission_denied);                  // ERROR_ACCESS_DENIED
  EXPECT_EQ(code(8), std::errc::not_enough_memory);                  // ERROR_NOT_ENOUGH_MEMORY
  EXPECT_EQ(code(14), std::errc::not_enough_memory);                 // ERROR_OUTOFMEMORY
  EXPECT_EQ(code(50), std::errc::not_supported);                     // ERROR_NOT_SUPPORTED
  EXPECT_EQ(code(87), std::errc::invalid_argument);                  // ERROR_INVALID_PARAMETER
  EXPECT_EQ(code(109), std::errc::broken_pipe);                      // ERROR_BROKEN_PIPE
  EXPECT_EQ(code(164), std::errc::resource_unavailable_try_again);   // ERROR_MAX_THRDS_REACHED
  EXPECT_EQ(code(170), std::errc::device_or_resource_busy);          // ERROR_BUSY
  EXPECT_EQ(code(183), std::errc::file_exists);                      // ERROR_ALREADY_EXISTS
  EXPECT_EQ(code(258), std::errc::timed_out);                        // WAIT_TIMEOUT
  EXPECT_EQ(code(995), std::errc::operation_canceled);               // ERROR_OPERATION_ABORTED
  EXPECT_EQ(code(1131), std::errc::resource_deadlock_would_occur);   // ERROR_POSSIBLE_DEADLOCK
  EXPECT_EQ(code(1450), std::errc::resource_unavailable_try_again);  // ERROR_NO_SYSTEM_RESOURCES
  EXPECT_EQ(code(1460), std::errc::timed_out);                       // ERROR_TIMEOUT
}

TEST(win32_errors, without_a_counterpart_equal_only_themselves) {
  const std::error_code invalid_handle = code(6);
  EXPECT_EQ(invalid_handle.default_error_condition(), std::error_condition(6, tidepool::win32_category()));
  EXPECT_NE(invalid_handle, std::errc::no_such_device_or_address);  // which is 6 in errno
  EXPECT_NE(invalid_handle, std::errc::invalid_argument);
  EXPECT_NE(code(5), std::errc::io_error);  // which is 5 in errno
  EXPECT_NE(code(87654321), std::errc::invalid_argument);
}

TEST(win32_errors, that_mean_success_are_no_error) {
  EXPECT_FALSE(code(0));
  EXPECT_NE(code(0), std::errc::invalid_argument);
}

TEST(win32_errors, have_messages_that_tell_them_apart) {
  std::set<std::string> messages;
  const int codes[] = {0, 2, 5, 6, 8, 50, 87, 100, 126, 127, 164, 170, 183, 288, 298, 1131, 1450, 1656};
  for (const int value : codes) {
    const std::string message = code(value).message();
    EXPECT_FALSE(message.empty()) << value;
    EXPECT_EQ(message.find_first_of("\r\n"), std::string::npos) << message;
    messages.insert(message);
  }
  EXPECT_EQ(messages.size(), std::size(codes));
}

TEST(win32_errors, that_nobody_knows_have_a_message_with_their_number) {
  EXPECT_NE(code(87654321).message().find("87654321"), std::string::npos) << code(87654321).message();
}

}  // namespace
}  // namespace safe
