// io::stop_and_drain(): cancels and waits, discards what handlers start meanwhile, and leaves the io usable.
#include <functional>

#include "io.hpp"

namespace safe {
namespace {

template <class Kind>
class stopping : public safe_test {};

TYPED_TEST_SUITE(stopping, stream_kinds, stream_names);

TYPED_TEST(stopping, cancels_what_is_outstanding_and_waits_for_its_handler) {
  channel<TypeParam> ends;
  std::atomic<bool> handled = false;
  TypeParam::read(ends.reader, std::string(1, ' '), [&](const transfer<std::string>& result) {
    EXPECT_EQ(result.error, std::errc::operation_canceled);
    let_another_pool_work(1);
    handled = true;
  });
  ends.reader.stop_and_drain();
  EXPECT_TRUE(handled);
  EXPECT_EQ(ends.reader.outstanding(), 0u);
}

TYPED_TEST(stopping, leaves_an_io_that_can_be_used_again) {
  channel<TypeParam> ends;
  for (int round = 0; round != 3; ++round) {
    TypeParam::read(ends.reader, std::string(1, ' '), [] {});
    ends.reader.stop_and_drain();
    text_answer read;
    TypeParam::read(ends.reader, std::string(1, ' '), read.handler());
    write_and_wait<TypeParam>(ends.writer, "x");
    expect_read(read.get(), "x");
  }
}

TYPED_TEST(stopping, lets_handlers_start_again_afterwards) {
  channel<TypeParam> ends;
  ends.reader.stop_and_drain();
  text_answer second;
  tally started;
  TypeParam::read(ends.reader, std::string(1, ' '), [&] {
    EXPECT_TRUE(TypeParam::read(ends.reader, std::string(1, ' '), second.handler()));
    started.add();
  });
  write_and_wait<TypeParam>(ends.writer, "x");
  ASSERT_TRUE(started.reaches(1));
  write_and_wait<TypeParam>(ends.writer, "y");
  expect_read(second.get(), "y");
}

TYPED_TEST(stopping, comes_to_an_end_though_handlers_always_start_more) {
  for (int round = 0; round != 50; ++round) {
    channel<TypeParam> ends;
    std::atomic<int> alive = 0;
    std::atomic<int> handled = 0;
    std::atomic<int> given = 0;
    std::function<void()> next = [&] {
      const operation_id id =
          TypeParam::read(ends.reader, std::string(1, ' '), [&, state = counted(alive)](const transfer<std::string>&) {
            ++handled;
            next();  // for ever
          });
      given += id ? 1 : 0;
    };
    next();
    next();
    write_and_wait<TypeParam>(ends.writer, "xxxx");
    ends.reader.stop_and_drain();
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(handled, given);
    EXPECT_GE(handled, 2);
    EXPECT_EQ(ends.reader.outstanding(), 0u);
  }
}

TYPED_TEST(stopping, does_not_discard_what_other_threads_start) {
  channel<TypeParam> ends;
  tally begun;
  gate go_on;
  TypeParam::read(ends.reader, std::string(1, ' '), [&] {
    begun.add();
    EXPECT_TRUE(go_on.pass());
  });
  write_and_wait<TypeParam>(ends.writer, "x");
  ASSERT_TRUE(begun.reaches(1));
  std::jthread stopper([&] { ends.reader.stop_and_drain(); });
  // It waits for the handler that is held, so this comes before its end.
  text_answer read;
  EXPECT_TRUE(TypeParam::read(ends.reader, std::string(1, ' '), read.handler()));
  write_and_wait<TypeParam>(ends.writer, "y");
  go_on.open();
  stopper.join();
  EXPECT_TRUE(read.is_here());
}

TYPED_TEST(stopping, at_the_same_time_as_another_thread_is_fine) {
  for (int round = 0; round != 50; ++round) {
    channel<TypeParam> ends;
    std::function<void()> next = [&] { TypeParam::read(ends.reader, std::string(1, ' '), [&] { next(); }); };
    next();
    {
      const std::jthread other([&] { ends.reader.stop_and_drain(); });
      ends.reader.stop_and_drain();
    }
    EXPECT_EQ(ends.reader.outstanding(), 0u);
  }
}

TYPED_TEST(stopping, inside_a_handler_of_the_same_io_is_refused) {
  channel<TypeParam> ends;
  tally refused;
  TypeParam::write(ends.writer, std::string("x"), [&] {
    EXPECT_SYSTEM_ERROR(ends.writer.stop_and_drain(), std::errc::resource_deadlock_would_occur);
    refused.add();
  });
  EXPECT_TRUE(refused.reaches(1));
  ends.writer.stop_and_drain();
}

}  // namespace
}  // namespace safe
