// Reads and writes of files: what comes of them.
#include <array>
#include <vector>

#include "io.hpp"

namespace safe {
namespace {

class files : public safe_test {
 protected:
  static io open(const scratch_file& file, access how = access::read_write) {
    return io(endpoint::open_file(file.path(), how));
  }

  static std::string read(io& from, std::uint64_t offset, std::size_t size) {
    text_answer answer;
    from.read_at(offset, std::string(size, ' '), answer.handler());
    EXPECT_FALSE(answer.get().error) << answer.get().error.message();
    return text_of(answer.get());
  }
};

TEST_F(files, are_read_where_they_are_told_to_be) {
  const scratch_file file("the content of a file");
  io object = open(file, access::read);
  EXPECT_EQ(read(object, 0, 3), "the");
  EXPECT_EQ(read(object, 4, 7), "content");
  EXPECT_EQ(read(object, 0, 21), "the content of a file");
}

TEST_F(files, are_read_up_to_their_end) {
  const scratch_file file("content");
  io object = open(file, access::read);
  EXPECT_EQ(read(object, 0, 100), "content");
  EXPECT_EQ(read(object, 6, 100), "t");
}

TEST_F(files, report_their_end_as_an_error) {
  const scratch_file file("content");
  io object = open(file, access::read);
  for (const std::uint64_t offset : {std::uint64_t{7}, std::uint64_t{8}, std::uint64_t{1} << 40}) {
    text_answer answer;
    object.read_at(offset, std::string(3, ' '), answer.handler());
    EXPECT_EQ(answer.get().error, std::error_code(38, tidepool::win32_category()));
    EXPECT_EQ(answer.get().bytes, 0u);
    EXPECT_EQ(answer.get().buffer, "   ");
  }
}

TEST_F(files, are_written_where_they_are_told_to_be) {
  const scratch_file file("the content of a file");
  {
    io object = open(file, access::write);
    text_answer answer;
    object.write_at(4, std::string("CONTENT"), answer.handler());
    expect_done(answer.get(), 7);
    EXPECT_EQ(answer.get().buffer, "CONTENT");
  }
  EXPECT_EQ(file.content(), "the CONTENT of a file");
}

TEST_F(files, grow_when_they_are_written_past_their_end) {
  const scratch_file file("abc");
  {
    io object = open(file);
    text_answer answer;
    object.write_at(5, std::string("xyz"), answer.handler());
    expect_done(answer.get(), 3);
  }
  EXPECT_EQ(file.content(), std::string("abc\0\0xyz", 8));
}

TEST_F(files, are_read_and_written_beyond_four_gigabytes) {
  const scratch_file file;
  constexpr std::uint64_t distant = (std::uint64_t{5} << 30) + 3;
  io object(endpoint::open_file(file.path(), access::read_write, creation::create_new));
  text_answer written;
  object.write_at(distant, std::string("far out"), written.handler());
  expect_done(written.get(), 7);
  EXPECT_EQ(read(object, distant + 4, 10), "out");
}

TEST_F(files, transfer_nothing_when_they_are_told_to) {
  const scratch_file file("content");
  io object = open(file);
  for (const std::uint64_t offset : {0u, 7u, 100u}) {
    text_answer read_answer;
    object.read_at(offset, std::string(), read_answer.handler());
    expect_done(read_answer.get(), 0);
    text_answer write_answer;
    object.write_at(offset, std::string("unused"), 0, write_answer.handler());
    expect_done(write_answer.get(), 0);
    EXPECT_EQ(write_answer.get().buffer, "unused");
  }
  EXPECT_EQ(file.content(), "content");
}

TEST_F(files, transfer_part_of_a_buffer) {
  const scratch_file file("content");
  io object = open(file);
  text_answer read_answer;
  object.read_at(0, std::string("......."), 3, read_answer.handler());
  expect_done(read_answer.get(), 3);
  EXPECT_EQ(read_answer.get().buffer, "con....");
  text_answer write_answer;
  object.write_at(0, std::string("XYZ"), 2, write_answer.handler());
  expect_done(write_answer.get(), 2);
  EXPECT_EQ(file.content(), "XYntent");
}

TEST_F(files, refuse_more_than_a_buffer_has) {
  const scratch_file file("content");
  io object = open(file);
  EXPECT_SYSTEM_ERROR(object.read_at(0, std::string(3, ' '), 4, [] {}), std::errc::invalid_argument);
  EXPECT_SYSTEM_ERROR(object.write_at(0, std::string(3, ' '), 4, [] {}), std::errc::invalid_argument);
  EXPECT_EQ(object.outstanding(), 0u);
}

TEST_F(files, report_what_the_system_refuses_through_the_handler) {
  const scratch_file file("content");
  io to_be_read = open(file, access::read);
  text_answer write_answer;
  to_be_read.write_at(0, std::string("text"), write_answer.handler());
  EXPECT_EQ(write_answer.get().error, std::errc::permission_denied);
  EXPECT_EQ(write_answer.get().bytes, 0u);
  EXPECT_EQ(write_answer.get().buffer, "text");
  io to_be_written = open(file, access::write);
  text_answer read_answer;
  to_be_written.read_at(0, std::string(7, ' '), read_answer.handler());
  EXPECT_EQ(read_answer.get().error, std::errc::permission_denied);
  EXPECT_EQ(file.content(), "content");
}

TEST_F(files, refuse_what_only_pipes_and_sockets_can_do) {
  const scratch_file file("content");
  io object = open(file);
  text_answer answers[4];
  answer<acceptance> accepted;
  answer<connection_result> connected;
  object.read(std::string(3, ' '), answers[0].handler());
  object.write(std::string(3, ' '), answers[1].handler());
  object.receive(std::string(3, ' '), answers[2].handler());
  object.send(std::string(3, ' '), answers[3].handler());
  object.accept(accepted.handler());
  object.connect(socket_address::loopback(1), connected.handler());
  for (text_answer& each : answers) {
    EXPECT_EQ(each.get().error, std::errc::not_supported);
  }
  EXPECT_EQ(accepted.get().error, std::errc::not_supported);
  EXPECT_FALSE(accepted.get().connection);
  EXPECT_EQ(connected.get().error, std::errc::not_supported);
  EXPECT_EQ(object.shutdown_send(), std::errc::not_supported);
  EXPECT_EQ(file.content(), "content");
}

// ---- buffers -------------------------------------------------------------------------------------------

TEST_F(files, fill_the_very_memory_that_was_handed_over) {
  const scratch_file file("content");
  io object = open(file);
  buffer memory(7);
  const std::byte* const where = memory.data();
  answer<transfer<>> answer;
  object.read_at(0, std::move(memory), answer.handler());
  expect_done(answer.get(), 7);
  EXPECT_EQ(answer.get().buffer.data(), where);
  EXPECT_EQ(static_cast<char>(answer.get().buffer.bytes()[6]), 't');
}

TEST_F(files, take_any_owner_of_plain_bytes) {
  const scratch_file file("content.");
  io object = open(file);
  answer<transfer<std::array<char, 8>>> array;
  object.read_at(0, std::array<char, 8>{}, array.handler());
  expect_done(array.get(), 8);
  EXPECT_EQ(array.get().buffer[0], 'c');
  answer<transfer<std::vector<std::uint16_t>>> vector;
  object.read_at(0, std::vector<std::uint16_t>(4), vector.handler());
  expect_done(vector.get(), 8);
  EXPECT_EQ(vector.get().buffer[3], 't' | ('.' << 8));
}

TEST_F(files, are_read_into_several_buffers) {
  const scratch_file file("the content of a file");
  io object = open(file);
  answer<transfer<std::vector<std::string>>> read_answer;
  object.read_at(4, std::vector<std::string>{"....", "", "...", "......"}, read_answer.handler());
  expect_done(read_answer.get(), 13);
  EXPECT_EQ(read_answer.get().buffer, (std::vector<std::string>{"cont", "", "ent", " of a "}));
}

TEST_F(files, that_end_in_the_middle_of_several_buffers_fill_the_first_ones) {
  const scratch_file file("content");
  io object = open(file);
  using texts = std::vector<std::string>;
  const std::pair<texts, texts> cases[] = {
      {{"....", "....", "...."}, {"cont", "ent.", "...."}},
      {{"...", "....", "..."}, {"con", "tent", "..."}},  // ends with a part
      {{"........", "."}, {"content.", "."}},
  };
  for (const auto& [before, after] : cases) {
    answer<transfer<texts>> read_answer;
    object.read_at(0, texts(before), read_answer.handler());
    expect_done(read_answer.get(), 7);
    EXPECT_EQ(read_answer.get().buffer, after);
  }
  answer<transfer<texts>> nothing;
  object.read_at(7, texts{"...", "..."}, nothing.handler());
  EXPECT_EQ(nothing.get().error, std::error_code(38, tidepool::win32_category()));
  EXPECT_EQ(nothing.get().bytes, 0u);
}

TEST_F(files, are_written_from_several_buffers) {
  const scratch_file file("0123456789");
  io object = open(file);
  answer<transfer<std::array<std::string, 4>>> write_answer;
  object.write_at(2, std::array<std::string, 4>{"ab", "", "c", "defg"}, write_answer.handler());
  expect_done(write_answer.get(), 7);
  EXPECT_EQ(file.content(), "01abcdefg9");
}

TEST_F(files, are_transferred_in_thousands_of_parts) {
  const scratch_file file;
  io object(endpoint::open_file(file.path(), access::read_write, creation::create_new));
  std::vector<std::string> parts;
  std::string all;
  for (int i = 0; i != 3000; ++i) {
    parts.push_back(pattern(static_cast<std::size_t>(1 + i % 5)));
    all += parts.back();
  }
  std::vector<std::string> empty;
  for (const std::string& each : parts) {
    empty.emplace_back(each.size(), ' ');
  }
  answer<transfer<std::vector<std::string>>> written;
  object.write_at(0, std::vector<std::string>(parts), written.handler());
  expect_done(written.get(), all.size());
  EXPECT_EQ(file.content(), all);
  answer<transfer<std::vector<std::string>>> read_answer;
  object.read_at(0, std::move(empty), read_answer.handler());
  const transfer<std::vector<std::string>>& result = read_answer.get();
  EXPECT_FALSE(result.error);
  EXPECT_EQ(result.bytes, all.size());
  EXPECT_EQ(result.buffer, parts);
  EXPECT_EQ(object.outstanding(), 0u);
}

}  // namespace
}  // namespace safe
