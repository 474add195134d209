// CreateThreadpoolIo: what it binds, and what it refuses.
#include <cstring>

#include "contract/io_fixtures.hpp"

namespace {

using namespace contract;

void CALLBACK never(PTP_CALLBACK_INSTANCE, PVOID, PVOID, ULONG, ULONG_PTR, PTP_IO) { ADD_FAILURE(); }

template <class Kind>
class io_creation : public io_test {};
TYPED_TEST_SUITE(io_creation, io_kinds);

TYPED_TEST(io_creation, an_object_without_an_environment_is_of_the_default_pool) {
  TypeParam channel;
  channel.provide("word");
  request its{4};
  recorded_io io{channel.reader(), nullptr};
  EXPECT_EQ(io.read(channel.reader(), its), success(4));
}

TYPED_TEST(io_creation, a_second_object_on_one_handle_is_refused_and_the_first_goes_on) {
  TypeParam channel;
  channel.provide("word");
  recorded_io io{channel.reader()};
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, CreateThreadpoolIo(channel.reader(), &never, nullptr, nullptr));
  request its{4};
  EXPECT_EQ(io.read(channel.reader(), its), success(4));
}

TYPED_TEST(io_creation, a_second_object_on_a_duplicate_of_the_handle_is_refused) {
  TypeParam channel;
  const recorded_io io{channel.reader()};
  const handle second = duplicate(channel.reader());
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, CreateThreadpoolIo(second, &never, nullptr, nullptr));
}

TYPED_TEST(io_creation, a_request_on_a_duplicate_of_the_handle_is_called_back) {
  TypeParam channel;
  channel.provide("word");
  recorded_io io{channel.reader()};
  const handle second = duplicate(channel.reader());
  request its{4};
  EXPECT_EQ(io.read(second, its), success(4));
}

TYPED_TEST(io_creation, without_a_callback_it_is_refused) {
  SKIP_UNDER_WINE("a null callback is accepted");
  const TypeParam channel;
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, CreateThreadpoolIo(channel.reader(), nullptr, nullptr, nullptr));
}

// Contract 3
TYPED_TEST(io_creation, a_priority_outside_high_normal_and_low_is_refused_and_binds_nothing) {
  TypeParam channel;
  for (const int priority : {3, 255, -1}) {
    SCOPED_TRACE(priority);
    environment wrong;
    std::memcpy(&wrong->CallbackPriority, &priority, sizeof priority);
    EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, CreateThreadpoolIo(channel.reader(), &never, nullptr, wrong));
  }
  channel.provide("word");
  request its{4};
  recorded_io io{channel.reader()};
  EXPECT_EQ(io.read(channel.reader(), its), success(4));
}

// Contract 3
TYPED_TEST(io_creation, an_unknown_environment_version_is_refused) {
  SKIP_UNDER_WINE("environment versions are not checked");
  const TypeParam channel;
  for (const TP_VERSION version : {0u, 2u, 4u, 0xFFFFFFFFu}) {
    SCOPED_TRACE(version);
    environment wrong;
    wrong->Version = version;
    EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, CreateThreadpoolIo(channel.reader(), &never, nullptr, wrong));
  }
}

class io_creation_refused : public io_test {
 protected:
  static PTP_IO create(HANDLE file) { return CreateThreadpoolIo(file, &never, nullptr, nullptr); }
};

// Contract 38
TEST_F(io_creation_refused, for_what_is_no_handle) {
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, create(nullptr));
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, create(INVALID_HANDLE_VALUE));
}

// Contract 38
TEST_F(io_creation_refused, for_a_handle_that_was_closed) {
  io_file file;
  const HANDLE closed = file.reader();
  file.close();
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, create(closed));
}

// Contract 38
TEST_F(io_creation_refused, for_a_handle_of_another_kind) {
  const handle event = manual_event();
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, create(event));
}

TEST_F(io_creation_refused, for_a_file_that_was_not_opened_for_overlapped_use) {
  const io_file file{"content", GENERIC_READ, FILE_ATTRIBUTE_NORMAL};
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, create(file.reader()));
}

}  // namespace
