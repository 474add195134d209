// CreateFile: dispositions, access, and what it refuses.
#include <string>

#include "contract/io_fixtures.hpp"

namespace {

using namespace contract;

class io_file_open : public io_test {
 protected:
  struct opened {
    bool valid;
    DWORD error;  // also of a success: some dispositions tell by it what they found
  };

  /// Opens the file of that name in the folder, and closes it again.
  opened open(std::string_view name, DWORD disposition, DWORD access = GENERIC_READ | GENERIC_WRITE,
              DWORD flags = FILE_ATTRIBUTE_NORMAL) {
    SetLastError(0x1234);
    const HANDLE file =
        CreateFileA(folder_.path(name).c_str(), access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                    disposition, flags, nullptr);
    const opened result{file != INVALID_HANDLE_VALUE, GetLastError()};
    EXPECT_NE(file, nullptr);
    if (result.valid) {
      EXPECT_TRUE(CloseHandle(file));
    }
    return result;
  }

  void expect_refused(DWORD error, opened how) {
    EXPECT_FALSE(how.valid);
    EXPECT_EQ(how.error, error);
  }

  temporary_folder folder_;
};

TEST_F(io_file_open, open_existing_takes_a_file_as_it_is_and_does_not_make_one) {
  static_cast<void>(folder_.file("there", "content"));
  EXPECT_TRUE(open("there", OPEN_EXISTING).valid);
  EXPECT_EQ(folder_.content("there"), "content");
  expect_refused(ERROR_FILE_NOT_FOUND, open("none", OPEN_EXISTING));
  EXPECT_FALSE(folder_.has("none"));
}

TEST_F(io_file_open, create_new_makes_a_file_and_does_not_take_one) {
  EXPECT_TRUE(open("new", CREATE_NEW).valid);
  EXPECT_TRUE(folder_.has("new"));
  static_cast<void>(folder_.file("there", "content"));
  expect_refused(ERROR_FILE_EXISTS, open("there", CREATE_NEW));
  EXPECT_EQ(folder_.content("there"), "content");
}

TEST_F(io_file_open, create_always_makes_an_empty_file_and_tells_whether_there_was_one) {
  const opened made = open("new", CREATE_ALWAYS);
  EXPECT_TRUE(made.valid);
  EXPECT_EQ(made.error, code(NO_ERROR));
  static_cast<void>(folder_.file("there", "content"));
  const opened replaced = open("there", CREATE_ALWAYS);
  EXPECT_TRUE(replaced.valid);
  EXPECT_EQ(replaced.error, code(ERROR_ALREADY_EXISTS));
  EXPECT_EQ(folder_.content("there"), "");
}

TEST_F(io_file_open, open_always_takes_or_makes_a_file_and_tells_which) {
  const opened made = open("new", OPEN_ALWAYS);
  EXPECT_TRUE(made.valid);
  EXPECT_EQ(made.error, code(NO_ERROR));
  EXPECT_TRUE(folder_.has("new"));
  static_cast<void>(folder_.file("there", "content"));
  const opened taken = open("there", OPEN_ALWAYS);
  EXPECT_TRUE(taken.valid);
  EXPECT_EQ(taken.error, code(ERROR_ALREADY_EXISTS));
  EXPECT_EQ(folder_.content("there"), "content");
}

TEST_F(io_file_open, truncate_existing_empties_a_file_and_does_not_make_one) {
  static_cast<void>(folder_.file("there", "content"));
  EXPECT_TRUE(open("there", TRUNCATE_EXISTING).valid);
  EXPECT_TRUE(folder_.has("there"));
  EXPECT_EQ(folder_.content("there"), "");
  expect_refused(ERROR_FILE_NOT_FOUND, open("none", TRUNCATE_EXISTING));
  EXPECT_FALSE(folder_.has("none"));
}

TEST_F(io_file_open, truncating_wants_the_right_to_write) {
  SKIP_UNDER_WINE("a file opened for reading only can be truncated");
  static_cast<void>(folder_.file("there", "content"));
  EXPECT_FALSE(open("there", TRUNCATE_EXISTING, GENERIC_READ).valid);
  EXPECT_EQ(folder_.content("there"), "content");
}

TEST_F(io_file_open, an_unknown_disposition_is_an_invalid_parameter) {
  for (const DWORD disposition : {0u, 6u, 99u}) {
    expect_refused(ERROR_INVALID_PARAMETER, open("file", disposition));
  }
  EXPECT_FALSE(folder_.has("file"));
}

TEST_F(io_file_open, a_folder_is_refused) {
  for (const DWORD disposition : {OPEN_EXISTING, OPEN_ALWAYS}) {
    for (const DWORD access : {DWORD{GENERIC_READ}, DWORD{GENERIC_READ | GENERIC_WRITE}}) {
      expect_refused(ERROR_ACCESS_DENIED, open(".", disposition, access));
    }
  }
}

TEST_F(io_file_open, a_folder_that_is_not_there_is_a_path_that_is_not_found) {
  expect_refused(ERROR_PATH_NOT_FOUND, open("none/file", OPEN_EXISTING));
  expect_refused(ERROR_PATH_NOT_FOUND, open("none/file", CREATE_NEW));
  expect_refused(ERROR_PATH_NOT_FOUND, open("none/file", OPEN_ALWAYS));
}

TEST_F(io_file_open, a_file_is_no_folder) {
  static_cast<void>(folder_.file("file", "content"));
  expect_refused(ERROR_PATH_NOT_FOUND, open("file/inside", OPEN_EXISTING));
}

TEST_F(io_file_open, a_path_of_no_characters_is_not_found) {
  SetLastError(0x1234);
  EXPECT_EQ(CreateFileA("", GENERIC_READ, 0, nullptr, OPEN_EXISTING, 0, nullptr), INVALID_HANDLE_VALUE);
  EXPECT_EQ(GetLastError(), code(ERROR_PATH_NOT_FOUND));
}

TEST_F(io_file_open, the_wide_form_does_the_same) {
  const auto wide = [&](std::string_view name) {
    const std::string path = folder_.path(name);
    return std::basic_string<WCHAR>(path.begin(), path.end());
  };
  static_cast<void>(folder_.file("there", "content"));
  const HANDLE file = CreateFileW(wide("there").c_str(), GENERIC_READ, FILE_SHARE_READ, nullptr, OPEN_EXISTING,
                                  FILE_FLAG_OVERLAPPED, nullptr);
  ASSERT_NE(file, INVALID_HANDLE_VALUE);
  {
    request its{7};
    recorded_io io{file};
    EXPECT_EQ(io.read(file, its), success(7));
    EXPECT_EQ(its.text(7), "content");
  }
  EXPECT_TRUE(CloseHandle(file));
  SetLastError(0x1234);
  EXPECT_EQ(CreateFileW(wide("none").c_str(), GENERIC_READ, 0, nullptr, OPEN_EXISTING, 0, nullptr),
            INVALID_HANDLE_VALUE);
  EXPECT_EQ(GetLastError(), code(ERROR_FILE_NOT_FOUND));
}

TEST_F(io_file_open, the_wide_form_takes_characters_of_every_plane) {
  // Latin, Greek, an ideogram, and one that takes two units.
  static constexpr WCHAR name[] = {'/', 0xE4, 0x3A9, 0x6C34, 0xD83C, 0xDF0A, 0};
  const std::string& folder = folder_.path();
  const std::basic_string<WCHAR> path = std::basic_string<WCHAR>(folder.begin(), folder.end()) + name;
  for (const DWORD disposition : {CREATE_NEW, OPEN_EXISTING}) {
    const HANDLE file = CreateFileW(path.c_str(), GENERIC_WRITE, 0, nullptr, disposition, 0, nullptr);
    ASSERT_NE(file, INVALID_HANDLE_VALUE) << GetLastError();
    EXPECT_TRUE(CloseHandle(file));
  }
}

TEST_F(io_file_open, the_size_of_a_file_is_told_and_follows_its_writes) {
  const io_file file{"content"};
  LARGE_INTEGER size{};
  EXPECT_TRUE(GetFileSizeEx(file.reader(), &size));
  EXPECT_EQ(size.QuadPart, 7);
  recorded_io io{file.writer()};
  request its{"more", 10};
  EXPECT_EQ(io.write(file.writer(), its), success(4));
  EXPECT_TRUE(GetFileSizeEx(file.reader(), &size));
  EXPECT_EQ(size.QuadPart, 14);
}

TEST_F(io_file_open, only_a_file_has_a_size) {
  LARGE_INTEGER size{};
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, GetFileSizeEx(nullptr, &size));
  const handle event = manual_event();
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, GetFileSizeEx(event, &size));
}

TEST_F(io_file_open, a_handle_of_a_file_is_closed_once) {
  const std::string path = folder_.file("file", "content");
  const HANDLE file = CreateFileA(path.c_str(), GENERIC_READ, 0, nullptr, OPEN_EXISTING, 0, nullptr);
  ASSERT_NE(file, INVALID_HANDLE_VALUE);
  EXPECT_TRUE(CloseHandle(file));
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, CloseHandle(file));
}

}  // namespace
