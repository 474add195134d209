// What a callback is told: the request, its result, how many bytes. Files, at their ends and far out.
#include <deque>

#include "contract/io_fixtures.hpp"

namespace {

using namespace contract;

template <class Kind>
class io_callback : public io_test {};
TYPED_TEST_SUITE(io_callback, io_kinds);

// Contract 28
TYPED_TEST(io_callback, it_gets_the_context_the_request_the_result_the_bytes_and_the_object) {
  struct arguments {
    PTP_CALLBACK_INSTANCE instance = nullptr;
    PVOID context = nullptr;
    PVOID overlapped = nullptr;
    ULONG error = 0xDEAD;
    ULONG_PTR bytes = 0;
    PTP_IO io = nullptr;
    gate came;
  } seen;
  TypeParam channel;
  channel.provide("word");
  request its{10};
  const PTP_IO object = CreateThreadpoolIo(
      channel.reader(),
      [](PTP_CALLBACK_INSTANCE instance, PVOID context, PVOID overlapped, ULONG error, ULONG_PTR bytes, PTP_IO io) {
        auto& to = *static_cast<arguments*>(context);
        to.instance = instance;
        to.context = context;
        to.overlapped = overlapped;
        to.error = error;
        to.bytes = bytes;
        to.io = io;
        to.came.open();
      },
      &seen, nullptr);
  ASSERT_NE(object, nullptr);
  StartThreadpoolIo(object);
  ASSERT_TRUE(under_way(issue_read(channel.reader(), its)));
  ASSERT_TRUE(seen.came.pass());
  EXPECT_NE(seen.instance, nullptr);
  EXPECT_EQ(seen.context, &seen);
  EXPECT_EQ(seen.overlapped, static_cast<OVERLAPPED*>(&its));
  EXPECT_EQ(seen.error, code(NO_ERROR));
  EXPECT_EQ(seen.bytes, 4u);
  EXPECT_EQ(seen.io, object);
  WaitForThreadpoolIoCallbacks(object, FALSE);
  CloseThreadpoolIo(object);
}

// Contract 28
TYPED_TEST(io_callback, the_result_of_a_request_agrees_with_what_its_callback_was_told) {
  TypeParam channel;
  channel.provide("word");
  request its{10};
  recorded_io io{channel.reader()};
  EXPECT_EQ(io.read(channel.reader(), its), success(4));
  EXPECT_TRUE(is_complete(its));
  EXPECT_EQ(result_of(channel.reader(), its), success(4));
}

// Contract 28
TYPED_TEST(io_callback, a_read_gives_what_there_is_when_that_is_less_than_was_asked_for) {
  TypeParam channel;
  channel.provide("word");
  recorded_io io{channel.reader()};
  request its{1000};
  EXPECT_EQ(io.read(channel.reader(), its), success(4));
  EXPECT_EQ(its.text(5), std::string("word\0", 5)) << "no more than what was told is written";
}

// Contract 28
TYPED_TEST(io_callback, a_transfer_of_no_bytes_completes) {
  TypeParam channel;
  channel.provide("word");
  recorded_io reads{channel.reader()};
  request nothing{std::size_t{0}};
  EXPECT_EQ(reads.read(channel.reader(), nothing), success(0));
  request its{4};
  EXPECT_EQ(reads.read(channel.reader(), its), success(4)) << "nothing was taken";
  EXPECT_EQ(its.text(4), "word");
}

// Contract 28
TYPED_TEST(io_callback, a_write_of_no_bytes_completes_and_writes_none) {
  TypeParam channel;
  recorded_io writes{channel.writer()};
  request nothing{std::size_t{0}};
  EXPECT_EQ(writes.write(channel.writer(), nothing), success(0));
  if (!TypeParam::is_stream) {
    EXPECT_EQ(channel.taken(1), "");
  }
}

// ---- files -------------------------------------------------------------------------------------------

class io_of_file : public io_test {};

// Contract 28
TEST_F(io_of_file, a_read_takes_place_where_its_request_says) {
  const io_file file{"0123456789"};
  recorded_io io{file.reader()};
  for (const unsigned offset : {7u, 0u, 3u}) {
    request its{3, offset};
    EXPECT_EQ(io.read(file.reader(), its), success(3));
    EXPECT_EQ(its.text(3), std::string("0123456789").substr(offset, 3));
  }
}

// Contract 28
TEST_F(io_of_file, a_read_that_reaches_the_end_is_short) {
  const io_file file{"0123456789"};
  recorded_io io{file.reader()};
  request its{5, 7};
  EXPECT_EQ(io.read(file.reader(), its), success(3));
  EXPECT_EQ(its.text(3), "789");
}

// Contract 28
TEST_F(io_of_file, a_read_at_the_end_and_past_it_fails_with_end_of_file) {
  const io_file file{"0123456789"};
  recorded_io io{file.reader()};
  for (const ULONGLONG offset : {10ull, 11ull, 100'000ull, 6'000'000'000ull}) {
    request its{5, offset};
    EXPECT_EQ(io.read(file.reader(), its), (outcome{ERROR_HANDLE_EOF, 0})) << offset;
  }
  io.wait_for_callbacks();
}

// Contract 28
TEST_F(io_of_file, a_read_of_an_empty_file_fails_with_end_of_file) {
  const io_file file;
  recorded_io io{file.reader()};
  request its{5};
  EXPECT_EQ(io.read(file.reader(), its), (outcome{ERROR_HANDLE_EOF, 0}));
}

// Contract 28
TEST_F(io_of_file, end_of_file_is_also_the_result_of_the_request) {
  const io_file file{"0123456789"};
  const handle complete = manual_event();
  request its{5, 10};
  its.hEvent = complete;
  const DWORD issued = issue_read(file.reader(), its);
  if (under_way(issued)) {
    EXPECT_EQ(result_of(file.reader(), its, TRUE), (outcome{ERROR_HANDLE_EOF, 0}));
  } else {
    EXPECT_EQ(issued, code(ERROR_HANDLE_EOF));
  }
}

// Contract 28
TEST_F(io_of_file, a_write_takes_place_where_its_request_says) {
  const io_file file{"0123456789"};
  recorded_io io{file.writer()};
  request its{"abc", 4};
  EXPECT_EQ(io.write(file.writer(), its), success(3));
  EXPECT_EQ(file.content(), "0123abc789");
}

// Contract 28
TEST_F(io_of_file, a_write_past_the_end_makes_the_file_longer) {
  const io_file file{"01"};
  recorded_io io{file.writer()};
  request its{"abc", 4};
  EXPECT_EQ(io.write(file.writer(), its), success(3));
  EXPECT_EQ(file.content(), std::string("01\0\0abc", 7));
  LARGE_INTEGER size{};
  EXPECT_TRUE(GetFileSizeEx(file.writer(), &size));
  EXPECT_EQ(size.QuadPart, 7);
}

// Documented for WriteFile: with both halves of the offset 0xFFFFFFFF it writes to the end of the file
TEST_F(io_of_file, an_offset_of_all_ones_appends) {
  const io_file file{"0123"};
  recorded_io io{file.writer()};
  for (const char* text : {"ab", "cd"}) {
    request its{text, ~0ull};
    EXPECT_EQ(io.write(file.writer(), its), success(2));
  }
  EXPECT_EQ(file.content(), "0123abcd");
}

// Documented for OVERLAPPED: offsets are not negative
TEST_F(io_of_file, negative_offsets_are_refused_and_touch_nothing) {
  const io_file file{"0123"};
  const auto ended = [&](DWORD issued, request& its) {
    return under_way(issued) ? result_of(file.writer(), its, TRUE) : outcome{issued, 0};
  };
  for (const ULONGLONG offset : {~0ull - 2, 1ull << 63, (1ull << 63) + 1}) {
    request out{"abcd", offset};
    EXPECT_EQ(ended(issue_write(file.writer(), out), out), (outcome{ERROR_INVALID_PARAMETER, 0})) << offset;
    request in{4, offset};
    EXPECT_EQ(ended(issue_read(file.reader(), in), in), (outcome{ERROR_INVALID_PARAMETER, 0})) << offset;
  }
  request in{4, ~0ull};
  EXPECT_EQ(ended(issue_read(file.reader(), in), in), (outcome{ERROR_INVALID_PARAMETER, 0}))
      << "only a write can be at the end";
  EXPECT_EQ(file.content(), "0123");
}

// Contract 28
TEST_F(io_of_file, offsets_beyond_four_gigabytes_are_kept_apart_from_those_below) {
  constexpr ULONGLONG beyond = (5ull << 30) + 3;
  const io_file file{"0123456789"};
  file.make_sparse();
  recorded_io io{file.writer()};
  request written{"far out", beyond};
  ASSERT_EQ(io.write(file.writer(), written), success(7));
  LARGE_INTEGER size{};
  EXPECT_TRUE(GetFileSizeEx(file.writer(), &size));
  EXPECT_EQ(static_cast<ULONGLONG>(size.QuadPart), beyond + 7);
  request read{20, beyond};
  EXPECT_EQ(io.read(file.reader(), read), success(7));
  EXPECT_EQ(read.text(7), "far out");
  request below{7, static_cast<DWORD>(beyond)};
  EXPECT_EQ(io.read(file.reader(), below), success(7));
  EXPECT_EQ(below.text(7), std::string(7, '\0'));
  request end{20, beyond + 7};
  EXPECT_EQ(io.read(file.reader(), end), (outcome{ERROR_HANDLE_EOF, 0}));
}

// Contract 28
TEST_F(io_of_file, a_large_transfer_is_one_request) {
  std::string content(8 << 20, '\0');
  for (std::size_t i = 0; i != content.size(); ++i) {
    content[i] = static_cast<char>(i * 7 / 4096);
  }
  const io_file file;
  recorded_io io{file.writer()};
  request out{content};
  EXPECT_EQ(io.write(file.writer(), out), success(content.size()));
  request in{content.size()};
  EXPECT_EQ(io.read(file.reader(), in), success(content.size()));
  EXPECT_TRUE(in.text(content.size()) == content);
  io.wait_for_callbacks();
  EXPECT_EQ(io.count(), 2u);
}

// Contract 28
TEST_F(io_of_file, requests_at_different_places_can_be_under_way_together) {
  constexpr unsigned many = 64;
  const io_file file{std::string(many * 4, '.')};
  recorded_io io{file.writer()};
  std::deque<request> some;
  for (unsigned i = 0; i != many; ++i) {
    some.emplace_back(std::to_string(1000 + i), 4 * i);
    ASSERT_TRUE(under_way(io.start_write(file.writer(), some.back())));
  }
  io.wait_for_callbacks();
  std::string expected;
  for (unsigned i = 0; i != many; ++i) {
    EXPECT_EQ(io.of(some[i]), success(4));
    expected += std::to_string(1000 + i);
  }
  EXPECT_EQ(file.content(), expected);
}

// Contract 38
TEST_F(io_of_file, an_invalid_handle_is_refused) {
  request its{4};
  EXPECT_EQ(issue_read(nullptr, its), code(ERROR_INVALID_HANDLE));
  EXPECT_EQ(issue_write(nullptr, its), code(ERROR_INVALID_HANDLE));
  const handle event = manual_event();
  EXPECT_FALSE(under_way(issue_read(event, its)));
}

}  // namespace
