// Requests of a program's own making: storage, hand-over, accounting.
#include <array>
#include <vector>

#include "contract/blocked_call.hpp"
#include "contract/win32.hpp"
#include "io.hpp"

namespace safe {
namespace {

using tidepool::callback_instance;
using tidepool::operation;
using tidepool::unsafe::completed;
using tidepool::unsafe::issued;
using tidepool::unsafe::submit;

struct payload {
  explicit payload(std::atomic<int>& alive) : count(alive) {}
  payload(const payload&) = delete;  // pinned

  counted count;
  std::array<char, 8> bytes{};
};

class operations : public safe_test {
 protected:
  channel<pipe_kind> ends_;
  std::atomic<int> alive_ = 0;

  static issued answer_of(BOOL succeeded) {
    const DWORD error = succeeded ? ERROR_SUCCESS : GetLastError();
    return error == ERROR_SUCCESS || error == ERROR_IO_PENDING ? issued::pending() : issued::refused(error);
  }

  static issued read(tidepool::native::handle file, tidepool::native::overlapped overlapped, payload& into) noexcept {
    return answer_of(ReadFile(file, into.bytes.data(), static_cast<DWORD>(into.bytes.size()), nullptr, overlapped));
  }
};

TEST_F(operations, are_made_of_what_their_payload_is_made_of) {
  operation<payload> op(alive_);
  EXPECT_TRUE(op);
  EXPECT_EQ(alive_, 1);
  const payload* const where = &op.payload();
  op->bytes[0] = 'x';
  operation<payload> moved(std::move(op));
  EXPECT_FALSE(op);
  EXPECT_EQ(&moved.payload(), where);
  EXPECT_EQ(moved->bytes[0], 'x');
  moved = operation<payload>(alive_);
  EXPECT_EQ(alive_, 1);
}

TEST_F(operations, come_back_through_their_completion_and_can_be_used_again) {
  operation<payload> op(alive_);
  const payload* const where = &op.payload();
  for (int round = 0; round != 3; ++round) {
    answer<completed<payload>> read_answer;
    const operation_id id = submit(ends_.reader, std::move(op), read, read_answer.handler());
    EXPECT_TRUE(id);
    EXPECT_FALSE(op);
    EXPECT_EQ(ends_.reader.outstanding(), 1u);
    EXPECT_EQ(alive_, 1);
    write_and_wait<pipe_kind>(ends_.writer, "content");
    completed<payload>& result = read_answer.get();
    EXPECT_FALSE(result.error);
    EXPECT_EQ(result.bytes, 7u);
    EXPECT_EQ(&result.op.payload(), where);
    EXPECT_EQ(std::string(result.op->bytes.data()), "content");
    EXPECT_EQ(ends_.reader.outstanding(), 0u);
    op = std::move(result.op);
  }
}

TEST_F(operations, that_nobody_keeps_are_destroyed_with_their_completion) {
  tally handled;
  for (int i = 0; i != 5; ++i) {
    submit(ends_.reader, operation<payload>(alive_), read, [&] { handled.add(); });
  }
  EXPECT_EQ(alive_, 5);
  write_and_wait<pipe_kind>(ends_.writer, "12345678");
  EXPECT_TRUE(handled.reaches(1));
  ends_.reader.cancel_all();
  ends_.reader.run_down();
  EXPECT_EQ(handled.count(), 5u);
  EXPECT_EQ(alive_, 0);
}

TEST_F(operations, can_be_cancelled_by_their_name) {
  answer<completed<payload>> read_answer;
  const operation_id id = submit(ends_.reader, operation<payload>(alive_), read, read_answer.handler());
  EXPECT_TRUE(ends_.reader.cancel(id));
  EXPECT_EQ(read_answer.get().error, std::errc::operation_canceled);
  EXPECT_FALSE(ends_.reader.cancel(id));
}

TEST_F(operations, that_are_refused_come_back_on_the_pool) {
  answer<completed<payload>> refused;
  std::thread::id where;
  gate call_is_over;
  submit(
      ends_.reader, operation<payload>(alive_),
      [](tidepool::native::handle, tidepool::native::overlapped, payload&) noexcept { return issued::refused(87); },
      [&, answer = refused.handler()](completed<payload> result, callback_instance&) {
        EXPECT_TRUE(call_is_over.pass());
        where = std::this_thread::get_id();
        EXPECT_EQ(ends_.reader.outstanding(), 0u);
        answer(std::move(result));
      });
  call_is_over.open();
  EXPECT_EQ(refused.get().error, std::errc::invalid_argument);
  EXPECT_TRUE(refused.get().op);
  EXPECT_NE(where, std::this_thread::get_id());
}

TEST_F(operations, that_are_done_at_once_come_back_on_the_pool) {
  auto [first, second] = endpoint::make_pipe();
  ASSERT_TRUE(
      SetFileCompletionNotificationModes(tidepool::unsafe::native_handle(first), FILE_SKIP_COMPLETION_PORT_ON_SUCCESS));
  io reader(std::move(first));
  io writer(std::move(second));
  write_and_wait<pipe_kind>(writer, "content");
  answer<completed<payload>> read_answer;
  std::atomic<bool> at_once = false;
  submit(
      reader, operation<payload>(alive_),
      [&](tidepool::native::handle file, tidepool::native::overlapped overlapped, payload& into) noexcept {
        DWORD bytes = 0;
        const BOOL done = ReadFile(file, into.bytes.data(), static_cast<DWORD>(into.bytes.size()), &bytes, overlapped);
        at_once = done != FALSE;
        return done ? issued::done_at_once(bytes) : answer_of(done);
      },
      read_answer.handler());
  EXPECT_TRUE(at_once);  // what the test is about
  EXPECT_FALSE(read_answer.get().error);
  EXPECT_EQ(read_answer.get().bytes, 7u);
  EXPECT_EQ(std::string(read_answer.get().op->bytes.data()), "content");
  reader.run_down();
  EXPECT_EQ(reader.outstanding(), 0u);
}

TEST_F(operations, that_are_cancelled_when_the_system_does_not_have_them_yet_are_cancelled_all_the_same) {
  answer<completed<payload>> cancelled;
  submit(
      ends_.reader, operation<payload>(alive_),
      [&](tidepool::native::handle file, tidepool::native::overlapped overlapped, payload& into) noexcept {
        ends_.reader.cancel_all();
        return read(file, overlapped, into);
      },
      cancelled.handler());
  EXPECT_EQ(cancelled.get().error, std::errc::operation_canceled);
}

TEST_F(operations, are_registered_while_they_are_issued) {
  std::size_t outstanding = 0;
  answer<completed<payload>> refused;
  submit(
      ends_.reader, operation<payload>(alive_),
      [&](tidepool::native::handle file, tidepool::native::overlapped, payload&) noexcept {
        EXPECT_NE(file, nullptr);
        outstanding = ends_.reader.outstanding();
        return issued::refused(87);
      },
      refused.handler());
  EXPECT_EQ(outstanding, 1u);
  EXPECT_TRUE(refused.get().error);
  ends_.reader.run_down();
  EXPECT_EQ(ends_.reader.outstanding(), 0u);
}

TEST_F(operations, that_are_over_before_they_have_been_issued_keep_the_io_until_they_are) {
  auto [first, second] = endpoint::make_pipe();
  std::optional<io> object(std::in_place, std::move(first));
  io writer(std::move(second));
  answer<completed<payload>> read_answer;
  tally with_the_system;
  gate may_return;
  const std::jthread starter([&, &use = *object] {
    submit(
        use, operation<payload>(alive_),
        [&](tidepool::native::handle file, tidepool::native::overlapped overlapped, payload& into) noexcept {
          const issued result = read(file, overlapped, into);
          with_the_system.add();
          EXPECT_TRUE(may_return.pass());
          return result;
        },
        read_answer.handler());
  });
  ASSERT_TRUE(with_the_system.reaches(1));
  write_and_wait<pipe_kind>(writer, "x");
  EXPECT_EQ(read_answer.get().bytes, 1u);
  contract::blocked_call destroyer([&] {
    object->stop_and_drain();
    object.reset();
  });
  EXPECT_TRUE(destroyer.blocks());
  may_return.open();
  EXPECT_TRUE(destroyer.returns());
}

TEST_F(operations, keep_what_is_called_in_the_end_whatever_its_size) {
  const std::array<int, 100> large{42};
  std::atomic<int> sum = 0;
  std::atomic<int> captured = 0;
  submit(ends_.reader, operation<payload>(alive_), read, [&, large, state = counted(captured)] { sum += large[0]; });
  struct copies_may_throw {
    explicit copies_may_throw(std::atomic<int>& of) : count(of) {}
    copies_may_throw(const copies_may_throw& other) noexcept(false) = default;
    void operator()(const completed<payload>&) const { *count.alive += 0; }
    counted count;
  };
  submit(ends_.reader, operation<payload>(alive_), read, copies_may_throw(captured));
  ends_.reader.cancel_all();
  ends_.reader.run_down();
  EXPECT_EQ(sum, 42);
  EXPECT_EQ(captured, 0);
  EXPECT_EQ(alive_, 0);
}

TEST_F(operations, that_handlers_submit_while_the_io_is_destroyed_are_discarded) {
  SKIP_WHEN_FAILING_FAST();
  std::atomic<int> captured = 0;
  tally begun;
  gate go_on;
  std::optional<io> object;
  auto [first, second] = endpoint::make_pipe();
  object.emplace(std::move(first));
  io& use = *object;
  std::atomic<bool> discarded = false;
  submit(use, operation<payload>(alive_), read, [&](completed<payload> result) {
    begun.add();
    EXPECT_TRUE(go_on.pass());
    const operation_id id = submit(use, std::move(result.op), read, [state = counted(captured)] {});
    EXPECT_FALSE(id);
    EXPECT_FALSE(result.op);
    EXPECT_EQ(alive_, 0);
    EXPECT_EQ(captured, 0);
    discarded = true;
  });
  io writer(std::move(second));
  write_and_wait<pipe_kind>(writer, "x");
  EXPECT_TRUE(begun.reaches(1));
  std::jthread destroyer([&] { object.reset(); });
  EXPECT_TRUE(eventually([&] { return !use.accept([] {}); }));
  go_on.open();
  destroyer.join();
  EXPECT_TRUE(discarded);
}

TEST_F(operations, and_ios_have_native_handles) {
  EXPECT_NE(tidepool::unsafe::native_handle(ends_.reader), nullptr);
  const io moved(std::move(ends_.reader));
  EXPECT_EQ(tidepool::unsafe::native_handle(ends_.reader), nullptr);
}

}  // namespace
}  // namespace safe
