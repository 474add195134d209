// ReadFile and WriteFile without an OVERLAPPED, on handles that were not made for overlapped use: they return when all
// is done, and the file has a position that moves.
#include <string>

#include "contract/io_fixtures.hpp"

namespace {

using namespace contract;

class io_file_position : public io_test {
 protected:
  static constexpr DWORD read_and_write = GENERIC_READ | GENERIC_WRITE;

  /// Reads up to `length` bytes at the position.
  static std::string read(HANDLE file, DWORD length) {
    std::string text(length, '\0');
    DWORD bytes = 0xDEAD;
    EXPECT_TRUE(ReadFile(file, text.data(), length, &bytes, nullptr)) << GetLastError();
    EXPECT_LE(bytes, length);
    text.resize(bytes);
    return text;
  }

  static DWORD write(HANDLE file, std::string_view text) {
    DWORD bytes = 0xDEAD;
    EXPECT_TRUE(WriteFile(file, text.data(), static_cast<DWORD>(text.size()), &bytes, nullptr)) << GetLastError();
    return bytes;
  }
};

TEST_F(io_file_position, reads_go_on_where_the_last_one_ended) {
  const io_file file{"0123456789", GENERIC_READ, FILE_ATTRIBUTE_NORMAL};
  EXPECT_EQ(read(file.reader(), 4), "0123");
  EXPECT_EQ(read(file.reader(), 4), "4567");
  EXPECT_EQ(read(file.reader(), 4), "89") << "the last one is short";
}

TEST_F(io_file_position, a_read_at_the_end_succeeds_with_no_bytes) {
  const io_file file{"0123", GENERIC_READ, FILE_ATTRIBUTE_NORMAL};
  EXPECT_EQ(read(file.reader(), 10), "0123");
  EXPECT_EQ(read(file.reader(), 10), "");
  EXPECT_EQ(read(file.reader(), 10), "");
}

TEST_F(io_file_position, writes_go_on_where_the_last_one_ended) {
  const io_file file{"0123456789", read_and_write, FILE_ATTRIBUTE_NORMAL};
  EXPECT_EQ(write(file.writer(), "abc"), 3u);
  EXPECT_EQ(write(file.writer(), "de"), 2u);
  EXPECT_EQ(file.content(), "abcde56789");
}

TEST_F(io_file_position, reads_and_writes_share_one_position) {
  const io_file file{"0123456789", read_and_write, FILE_ATTRIBUTE_NORMAL};
  EXPECT_EQ(read(file.reader(), 2), "01");
  EXPECT_EQ(write(file.writer(), "ab"), 2u);
  EXPECT_EQ(read(file.reader(), 2), "45");
  EXPECT_EQ(file.content(), "01ab456789");
}

TEST_F(io_file_position, a_write_at_the_end_makes_the_file_longer) {
  const io_file file{"01", read_and_write, FILE_ATTRIBUTE_NORMAL};
  EXPECT_EQ(read(file.reader(), 2), "01");
  EXPECT_EQ(write(file.writer(), "23"), 2u);
  EXPECT_EQ(file.content(), "0123");
}

TEST_F(io_file_position, two_handles_of_one_file_have_a_position_each_and_duplicates_share_one) {
  const io_file file{"0123456789", GENERIC_READ, FILE_ATTRIBUTE_NORMAL};
  const handle second{
      CreateFileA(file.path().c_str(), GENERIC_READ, FILE_SHARE_READ, nullptr, OPEN_EXISTING, 0, nullptr)};
  const handle same = duplicate(file.reader());
  EXPECT_EQ(read(file.reader(), 2), "01");
  EXPECT_EQ(read(second, 3), "012");
  EXPECT_EQ(read(same, 2), "23");
  EXPECT_EQ(read(file.reader(), 2), "45");
}

TEST_F(io_file_position, transfers_of_no_bytes_succeed_and_move_nothing) {
  const io_file file{"0123", read_and_write, FILE_ATTRIBUTE_NORMAL};
  EXPECT_EQ(read(file.reader(), 0), "");
  EXPECT_EQ(write(file.writer(), ""), 0u);
  EXPECT_EQ(read(file.reader(), 4), "0123");
}

TEST_F(io_file_position, a_large_transfer_is_done_at_once) {
  const std::string content(3 << 20, 'x');
  const io_file file{"", read_and_write, FILE_ATTRIBUTE_NORMAL};
  EXPECT_EQ(write(file.writer(), content), content.size());
  EXPECT_TRUE(file.content() == content);
}

// Documented for ReadFile: with an OVERLAPPED such a handle is read at its offset, and the call returns when done
TEST_F(io_file_position, an_overlapped_gives_the_place_and_the_position_follows) {
  const io_file file{"0123456789", GENERIC_READ, FILE_ATTRIBUTE_NORMAL};
  request its{3, 5};
  DWORD bytes = 0;
  ASSERT_TRUE(ReadFile(file.reader(), its.buffer.data(), 3, &bytes, &its));
  EXPECT_EQ(bytes, 3u);
  EXPECT_EQ(its.text(3), "567");
  EXPECT_EQ(result_of(file.reader(), its), success(3));
  EXPECT_EQ(read(file.reader(), 2), "89");
}

TEST_F(io_file_position, an_overlapped_at_the_end_of_the_file_fails_with_end_of_file) {
  const io_file file{"0123", GENERIC_READ, FILE_ATTRIBUTE_NORMAL};
  request its{3, 4};
  DWORD bytes = 0;
  EXPECT_FAILS_WITH(ERROR_HANDLE_EOF, ReadFile(file.reader(), its.buffer.data(), 3, &bytes, &its));
}

TEST_F(io_file_position, what_the_handle_has_no_right_to_do_is_denied) {
  const io_file readable{"0123", GENERIC_READ, FILE_ATTRIBUTE_NORMAL};
  const io_file writable{"0123", GENERIC_WRITE, FILE_ATTRIBUTE_NORMAL};
  char byte = 'x';
  DWORD bytes = 0;
  EXPECT_FAILS_WITH(ERROR_ACCESS_DENIED, WriteFile(readable.writer(), &byte, 1, &bytes, nullptr));
  EXPECT_FAILS_WITH(ERROR_ACCESS_DENIED, ReadFile(writable.reader(), &byte, 1, &bytes, nullptr));
  EXPECT_EQ(readable.content(), "0123");
}

TEST_F(io_file_position, a_handle_for_overlapped_use_wants_an_overlapped) {
  const io_file file{"0123"};
  char byte = 'x';
  DWORD bytes = 0;
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, ReadFile(file.reader(), &byte, 1, &bytes, nullptr));
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, WriteFile(file.writer(), &byte, 1, &bytes, nullptr));
  EXPECT_EQ(file.content(), "0123");
}

// Contract 38
TEST_F(io_file_position, an_invalid_handle_is_refused) {
  char byte = 'x';
  DWORD bytes = 0;
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, ReadFile(nullptr, &byte, 1, &bytes, nullptr));
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, WriteFile(nullptr, &byte, 1, &bytes, nullptr));
}

}  // namespace
