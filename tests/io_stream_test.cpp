// Reads and writes of pipes and sockets: what comes of them.
#include <vector>

#include "io.hpp"

namespace safe {
namespace {

template <class Kind>
class streams : public safe_test {
 protected:
  static std::string read(io& from, std::size_t size) {
    text_answer answer;
    Kind::read(from, std::string(size, ' '), answer.handler());
    EXPECT_FALSE(answer.get().error) << answer.get().error.message();
    return text_of(answer.get());
  }

  /// Reads that much, in as many requests as it takes.
  static std::string read_all(io& from, std::size_t size) {
    std::string all;
    while (all.size() < size) {
      const std::string next = read(from, size - all.size());
      if (next.empty()) {
        ADD_FAILURE() << "the stream ended too early";
        break;
      }
      all += next;
    }
    return all;
  }
};

TYPED_TEST_SUITE(streams, stream_kinds, stream_names);

TYPED_TEST(streams, bring_what_was_written) {
  channel<TypeParam> ends;
  write_and_wait<TypeParam>(ends.writer, "content");
  EXPECT_EQ(this->read(ends.reader, 7), "content");
  write_and_wait<TypeParam>(ends.writer, "more");
  EXPECT_EQ(this->read(ends.reader, 4), "more");
}

TYPED_TEST(streams, do_not_wait_until_a_buffer_is_full) {
  channel<TypeParam> ends;
  write_and_wait<TypeParam>(ends.writer, "content");
  EXPECT_EQ(this->read(ends.reader, 100), "content");
}

TYPED_TEST(streams, keep_what_does_not_fit_for_the_next_read) {
  channel<TypeParam> ends;
  write_and_wait<TypeParam>(ends.writer, "content");
  EXPECT_EQ(this->read(ends.reader, 3), "con");
  EXPECT_EQ(this->read(ends.reader, 100), "tent");
}

TYPED_TEST(streams, serve_reads_in_the_order_in_which_they_were_started) {
  channel<TypeParam> ends;
  std::vector<text_answer> answers(10);
  for (const text_answer& each : answers) {
    TypeParam::read(ends.reader, std::string(2, ' '), each.handler());
  }
  EXPECT_EQ(ends.reader.outstanding(), 10u);
  for (char i = 0; i != 10; ++i) {
    write_and_wait<TypeParam>(ends.writer, std::string(2, static_cast<char>('a' + i)));
    expect_read(answers[static_cast<std::size_t>(i)].get(), std::string(2, static_cast<char>('a' + i)));
  }
}

TYPED_TEST(streams, end_when_the_other_end_is_closed) {
  auto [first, second] = TypeParam::make();
  io reader(std::move(first));
  {
    const endpoint closed = std::move(second);
  }
  text_answer answer;
  TypeParam::read(reader, std::string(3, ' '), answer.handler());
  EXPECT_EQ(answer.get().bytes, 0u);
  EXPECT_EQ(answer.get().buffer, "   ");
  if (TypeParam::ends_with_an_error) {
    EXPECT_EQ(answer.get().error, std::errc::broken_pipe);
    EXPECT_EQ(answer.get().error, std::error_code(109, tidepool::win32_category()));
  } else {
    EXPECT_FALSE(answer.get().error) << answer.get().error.message();
  }
}

TYPED_TEST(streams, end_a_pending_read_when_the_other_end_is_closed) {
  auto [first, second] = TypeParam::make();
  io reader(std::move(first));
  text_answer answer;
  TypeParam::read(reader, std::string(3, ' '), answer.handler());
  {
    const io closed(std::move(second));
  }
  EXPECT_EQ(answer.get().bytes, 0u);
  if (TypeParam::ends_with_an_error) {
    EXPECT_EQ(answer.get().error, std::errc::broken_pipe);
  } else {
    EXPECT_FALSE(answer.get().error) << answer.get().error.message();
  }
}

TYPED_TEST(streams, bring_what_was_written_before_the_other_end_was_closed) {
  auto [first, second] = TypeParam::make();
  io reader(std::move(first));
  {
    io writer(std::move(second));
    write_and_wait<TypeParam>(writer, "content");
  }
  EXPECT_EQ(this->read(reader, 100), "content");
}

TYPED_TEST(streams, that_nobody_reads_any_more_fail_when_written) {
  auto [first, second] = TypeParam::make();
  io writer(std::move(second));
  {
    const endpoint closed = std::move(first);
  }
  // A socket learns of it by what it sends.
  std::error_code error;
  for (int i = 0; i != 1000 && !error; ++i) {
    text_answer answer;
    TypeParam::write(writer, std::string("text"), answer.handler());
    error = answer.get().error;
    EXPECT_EQ(answer.get().buffer, "text");
  }
  if (TypeParam::kind == endpoint_kind::pipe) {
    EXPECT_EQ(error, std::errc::broken_pipe);
  } else {
    EXPECT_TRUE(error == std::errc::broken_pipe || error == std::errc::connection_reset ||
                error == std::errc::connection_aborted)
        << error.message();
  }
}

TYPED_TEST(streams, transfer_nothing_when_they_are_told_to) {
  channel<TypeParam> ends;
  text_answer read_answer;
  TypeParam::read(ends.reader, std::string(), read_answer.handler());
  expect_done(read_answer.get(), 0);
  text_answer later;
  TypeParam::read(ends.reader, std::string(3, ' '), later.handler());
  write_and_wait<TypeParam>(ends.writer, "");
  let_another_pool_work();
  EXPECT_FALSE(later.is_here());  // writing nothing is not a message of no bytes
  write_and_wait<TypeParam>(ends.writer, "abc");
  expect_read(later.get(), "abc");
}

TYPED_TEST(streams, transfer_part_of_a_buffer) {
  channel<TypeParam> ends;
  text_answer written;
  TypeParam::write(ends.writer, std::string("content"), 3, written.handler());
  expect_done(written.get(), 3);
  EXPECT_EQ(written.get().buffer, "content");
  write_and_wait<TypeParam>(ends.writer, "x");
  text_answer read_answer;
  TypeParam::read(ends.reader, std::string("......"), 2, read_answer.handler());
  expect_done(read_answer.get(), 2);
  EXPECT_EQ(read_answer.get().buffer, "co....");
  EXPECT_EQ(this->read_all(ends.reader, 2), "nx");
}

TYPED_TEST(streams, refuse_what_only_others_can_do) {
  channel<TypeParam> ends;
  text_answer answers[4];
  ends.reader.read_at(0, std::string(3, ' '), answers[0].handler());
  ends.writer.write_at(0, std::string(3, ' '), answers[1].handler());
  if (TypeParam::kind == endpoint_kind::pipe) {
    ends.reader.receive(std::string(3, ' '), answers[2].handler());
    ends.writer.send(std::string(3, ' '), answers[3].handler());
  } else {
    ends.reader.read(std::string(3, ' '), answers[2].handler());
    ends.writer.write(std::string(3, ' '), answers[3].handler());
  }
  answer<acceptance> accepted;
  ends.reader.accept(accepted.handler());
  for (text_answer& each : answers) {
    EXPECT_EQ(each.get().error, std::errc::not_supported);
  }
  EXPECT_EQ(accepted.get().error, std::errc::not_supported);
}

// ---- several buffers -----------------------------------------------------------------------------------

TYPED_TEST(streams, bring_several_buffers_in_order) {
  channel<TypeParam> ends;
  answer<transfer<std::vector<std::string>>> written;
  TypeParam::write(ends.writer, std::vector<std::string>{"the", "", " con", "tent"}, written.handler());
  expect_done(written.get(), 11);
  EXPECT_EQ(written.get().buffer, (std::vector<std::string>{"the", "", " con", "tent"}));
  EXPECT_EQ(this->read_all(ends.reader, 11), "the content");
}

TYPED_TEST(streams, fill_several_buffers_with_what_there_is) {
  channel<TypeParam> ends;
  using texts = std::vector<std::string>;
  write_and_wait<TypeParam>(ends.writer, "content");
  answer<transfer<texts>> read_answer;
  TypeParam::read(ends.reader, texts{"...", "", "..", "...."}, read_answer.handler());
  expect_done(read_answer.get(), 7);
  EXPECT_EQ(read_answer.get().buffer, (texts{"con", "", "te", "nt.."}));
  answer<transfer<texts>> pending;
  TypeParam::read(ends.reader, texts{"...", "..."}, pending.handler());
  write_and_wait<TypeParam>(ends.writer, "abc");  // as much as one of them takes: the other one waits for nothing
  expect_done(pending.get(), 3);
  EXPECT_EQ(pending.get().buffer, (texts{"abc", "..."}));
}

// ---- size ----------------------------------------------------------------------------------------------

TYPED_TEST(streams, bring_several_megabytes_by_one_write) {
  channel<TypeParam> ends;
  const std::string content = pattern(8 << 20);
  text_answer written;
  TypeParam::write(ends.writer, content, written.handler());
  EXPECT_EQ(this->read_all(ends.reader, content.size()), content);
  expect_done(written.get(), content.size());
}

TYPED_TEST(streams, bring_several_megabytes_from_several_buffers_by_one_write) {
  channel<TypeParam> ends;
  std::vector<std::string> parts;
  std::string content;
  for (std::size_t i = 0; i != 40; ++i) {
    parts.push_back(pattern(100'000 + i));
    content += parts.back();
  }
  answer<transfer<std::vector<std::string>>> written;
  TypeParam::write(ends.writer, std::move(parts), written.handler());
  EXPECT_EQ(this->read_all(ends.reader, content.size()), content);
  expect_done(written.get(), content.size());
}

TYPED_TEST(streams, do_not_complete_a_write_before_it_is_written) {
  channel<TypeParam> ends;
  const std::string content = pattern(8 << 20);
  text_answer written;
  TypeParam::write(ends.writer, content, written.handler());
  const std::string first = this->read(ends.reader, 10);
  let_another_pool_work();
  EXPECT_FALSE(written.is_here());  // nothing takes in that much
  EXPECT_EQ(first + this->read_all(ends.reader, content.size() - first.size()), content);
  expect_done(written.get(), content.size());
}

TYPED_TEST(streams, stop_in_the_middle_of_a_write_that_is_cancelled) {
  channel<TypeParam> ends;
  const std::string content = pattern(8 << 20);
  text_answer written;
  const operation_id id = TypeParam::write(ends.writer, content, written.handler());
  const std::string first = this->read(ends.reader, 10);  // so it is under way
  EXPECT_EQ(first, content.substr(0, first.size()));
  EXPECT_TRUE(ends.writer.cancel(id));
  EXPECT_EQ(written.get().error, std::errc::operation_canceled);
  EXPECT_LT(written.get().bytes, content.size());
  EXPECT_EQ(written.get().buffer, content);
}

}  // namespace
}  // namespace safe
