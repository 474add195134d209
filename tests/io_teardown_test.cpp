// How an io ends, and what happens to requests and handlers meanwhile.
#include <cstddef>
#include <memory>
#include <vector>

#include "contract/blocked_call.hpp"
#include "contract/win32.hpp"
#include "io.hpp"

namespace safe {
namespace {

/// Whether the number names an open handle.
bool is_open(tidepool::native::handle handle) {
#ifdef _WIN32
  DWORD flags = 0;
  return GetHandleInformation(handle, &flags) != FALSE;
#else
  return CompareObjectHandles(handle, handle) != FALSE;
#endif
}

template <class Kind>
class ending : public safe_test {};

TYPED_TEST_SUITE(ending, stream_kinds, stream_names);

// ---- run_down ------------------------------------------------------------------------------------------

TYPED_TEST(ending, by_run_down_does_not_cancel_and_the_io_goes_on) {
  channel<TypeParam> ends;
  text_answer read;
  TypeParam::read(ends.reader, std::string(1, ' '), read.handler());
  {
    tally entered;
    std::jthread waiter([&] {
      entered.add();
      ends.reader.run_down();
    });
    EXPECT_TRUE(entered.reaches(1));
    let_another_pool_work();
    EXPECT_FALSE(read.is_here());
    write_and_wait<TypeParam>(ends.writer, "x");
  }
  expect_read(read.get(), "x");
  text_answer later;
  TypeParam::read(ends.reader, std::string(1, ' '), later.handler());
  write_and_wait<TypeParam>(ends.writer, "y");
  expect_read(later.get(), "y");
}

TYPED_TEST(ending, by_run_down_with_nothing_outstanding_returns_at_once) {
  channel<TypeParam> ends;
  ends.reader.run_down();
  ends.reader.run_down();
}

TYPED_TEST(ending, by_run_down_waits_for_what_handlers_start) {
  channel<TypeParam> ends;
  constexpr int rounds = 200;
  std::atomic<int> handled = 0;
  std::function<void()> next = [&] {
    TypeParam::read(ends.reader, std::string(1, ' '), [&](const transfer<std::string>& result) {
      EXPECT_FALSE(result.error);
      if (++handled != rounds) {
        next();
      }
    });
  };
  next();
  write_and_wait<TypeParam>(ends.writer, std::string(rounds, 'x'));
  ends.reader.run_down();
  EXPECT_EQ(handled, rounds);
}

TYPED_TEST(ending, by_run_down_waits_for_what_handlers_start_and_the_system_refuses) {
  channel<TypeParam> ends;
  constexpr int rounds = 200;
  std::atomic<int> handled = 0;
  std::function<void()> next = [&] {
    ends.reader.accept([&] {  // refused, and so by way of the work object
      if (++handled % 2 != 0) {
        TypeParam::read(ends.reader, std::string(1, ' '), [&] {  // completed by the system
          if (++handled != rounds) {
            next();
          }
        });
      }
    });
  };
  write_and_wait<TypeParam>(ends.writer, std::string(rounds, 'x'));
  next();
  ends.reader.run_down();
  EXPECT_EQ(handled, rounds);
}

// It waits for what the system completes first and for the rest afterwards, and then the one may have led to the other.
TYPED_TEST(ending, by_run_down_looks_again_when_it_has_waited) {
  channel<TypeParam> ends;
  gate start;
  gate finish;
  gate first_is_over;
  tally inside;
  std::atomic<bool> handled = false;
  {
    const std::shared_ptr<void> end_of_first(nullptr, [&](std::nullptr_t) { first_is_over.open(); });
    ends.reader.accept([&, end_of_first] {  // refused, and so by way of the work object
      inside.add();
      EXPECT_TRUE(start.pass());
      TypeParam::read(ends.reader, std::string(1, ' '), [&] {  // completed by the system
        inside.add();
        EXPECT_TRUE(finish.pass());
        handled = true;
      });
    });
  }
  write_and_wait<TypeParam>(ends.writer, "x");
  ASSERT_TRUE(inside.reaches(1));
  contract::blocked_call run_down([&] { ends.reader.run_down(); });
  EXPECT_TRUE(run_down.blocks());
  start.open();
  EXPECT_TRUE(inside.reaches(2));
  EXPECT_TRUE(first_is_over.pass());
  let_another_pool_work();
  EXPECT_TRUE(run_down.blocks());
  EXPECT_FALSE(handled);
  finish.open();
  EXPECT_TRUE(run_down.returns());
  EXPECT_TRUE(handled);
}

TYPED_TEST(ending, by_run_down_while_others_start_requests_loses_none) {
  channel<TypeParam> ends;
  constexpr unsigned threads = 4;
  constexpr unsigned each = 300;
  std::atomic<unsigned> handled = 0;
  std::atomic<unsigned> running = threads;
  write_and_wait<TypeParam>(ends.writer, std::string(threads * each / 2, 'x'));
  {
    std::vector<std::jthread> starters;
    for (unsigned i = 0; i != threads; ++i) {
      starters.emplace_back([&] {
        for (unsigned n = 0; n != each; ++n) {
          if (n % 2 == 0) {
            TypeParam::read(ends.reader, std::string(1, ' '), [&] { ++handled; });
          } else {
            ends.reader.accept([&] { ++handled; });
          }
        }
        --running;
      });
    }
    while (running != 0) {
      ends.reader.run_down();
    }
  }
  ends.reader.run_down();
  EXPECT_EQ(handled, threads * each);
  EXPECT_EQ(ends.reader.outstanding(), 0u);
}

TYPED_TEST(ending, by_run_down_in_an_own_handler_is_refused) {
  channel<TypeParam> ends;
  tally refusals;
  const auto attempt = [&] {
    EXPECT_SYSTEM_ERROR(ends.reader.run_down(), std::errc::resource_deadlock_would_occur);
    refusals.add();
  };
  TypeParam::read(ends.reader, std::string(1, ' '), attempt);
  write_and_wait<TypeParam>(ends.writer, "x");
  EXPECT_TRUE(refusals.reaches(1));
  ends.reader.accept(attempt);  // refused at once
  EXPECT_TRUE(refusals.reaches(2));
}

TYPED_TEST(ending, by_run_down_in_a_handler_of_another_io_is_fine) {
  channel<TypeParam> ends;
  channel<TypeParam> others;
  tally done;
  TypeParam::read(ends.reader, std::string(1, ' '), [&] {
    others.reader.run_down();
    done.add();
  });
  write_and_wait<TypeParam>(ends.writer, "x");
  EXPECT_TRUE(done.reaches(1));
}

// ---- destruction ---------------------------------------------------------------------------------------

TYPED_TEST(ending, by_destruction_waits_for_a_handler_that_runs) {
  std::atomic<bool> finished = false;
  tally begun;
  gate let_it_finish;
  std::optional<channel<TypeParam>> ends;
  ends.emplace();
  TypeParam::read(ends->reader, std::string(1, ' '), [&] {
    begun.add();
    EXPECT_TRUE(let_it_finish.pass());
    finished = true;
  });
  write_and_wait<TypeParam>(ends->writer, "x");
  EXPECT_TRUE(begun.reaches(1));
  std::jthread destroyer([&] {
    ends.reset();
    EXPECT_TRUE(finished);
  });
  let_another_pool_work();
  let_it_finish.open();
}

TYPED_TEST(ending, by_destruction_discards_what_handlers_start) {
  for (int round = 0; round != 20; ++round) {
    std::atomic<int> alive = 0;
    std::atomic<int> handled = 0;
    std::atomic<int> given = 0;
    {
      auto [first, second] = TypeParam::make();
      io peer(std::move(second));
      std::function<void()> next;  // used until the io is gone
      io object(std::move(first));
      next = [&] {
        const operation_id id =
            TypeParam::read(object, std::string(1, ' '), [&, state = counted(alive)](const transfer<std::string>&) {
              ++handled;
              next();  // for ever
            });
        given += id ? 1 : 0;
      };
      next();
      next();
      write_and_wait<TypeParam>(peer, "xxxx");
    }
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(handled, given);
    EXPECT_GE(handled, 2);
  }
}

TYPED_TEST(ending, by_destruction_destroys_a_discarded_request_at_once_and_on_the_thread_that_started_it) {
  SKIP_WHEN_FAILING_FAST();
  auto [first, second] = TypeParam::make();
  std::optional<io> object;
  object.emplace(std::move(first));
  tally begun;
  gate go_on;
  std::atomic<bool> discarded = false;
  std::atomic<bool> ran = false;
  io& use = *object;
  TypeParam::read(use, std::string(1, ' '), [&] {
    begun.add();
    EXPECT_TRUE(go_on.pass());
    const auto here = std::this_thread::get_id();
    on_destruction when_destroyed([&, here] {
      EXPECT_EQ(std::this_thread::get_id(), here);
      discarded = true;
    });
    const operation_id id = use.accept([&, kept = std::move(when_destroyed)] { ran = true; });
    EXPECT_FALSE(id);
    EXPECT_TRUE(discarded);
  });
  io writer(std::move(second));
  write_and_wait<TypeParam>(writer, "x");
  EXPECT_TRUE(begun.reaches(1));
  std::jthread destroyer([&] { object.reset(); });
  // The destructor has begun when requests are discarded; it waits for this handler meanwhile.
  EXPECT_TRUE(eventually([&] { return !use.accept([] {}); }));
  go_on.open();
  destroyer.join();
  EXPECT_TRUE(discarded);
  EXPECT_FALSE(ran);
}

TYPED_TEST(ending, by_destruction_closes_the_endpoint_after_the_handlers) {
  SKIP_WHEN_FAILING_FAST();
  auto [first, second] = TypeParam::make();
  const tidepool::native::handle handle = tidepool::unsafe::native_handle(first);
  std::optional<io> object;
  object.emplace(std::move(first));
  io& use = *object;
  tally begun;
  gate look;
  std::atomic<bool> was_open = false;
  use.accept([&] {
    begun.add();
    EXPECT_TRUE(look.pass());
    was_open = is_open(handle);
  });
  EXPECT_TRUE(begun.reaches(1));
  contract::blocked_call destroyer([&] { object.reset(); });
  EXPECT_TRUE(destroyer.blocks());
  look.open();
  destroyer.join();
  EXPECT_TRUE(was_open);
  io peer(std::move(second));  // finds out that it has been closed; the handle's number may be another's by now
  text_answer end;
  if (TypeParam::kind == endpoint_kind::socket) {
    TypeParam::read(peer, std::string(1, ' '), end.handler());
    expect_read(end.get(), "");
  } else {
    TypeParam::write(peer, std::string("x"), end.handler());
    EXPECT_EQ(end.get().error, std::errc::broken_pipe);
  }
}

TYPED_TEST(ending, by_assignment_ends_what_was_there_and_takes_over_the_other) {
  channel<TypeParam> ends;
  channel<TypeParam> others;
  text_answer cancelled;
  TypeParam::read(ends.reader, std::string(1, ' '), cancelled.handler());
  text_answer kept;
  TypeParam::read(others.reader, std::string(1, ' '), kept.handler());
  ends.reader = std::move(others.reader);
  EXPECT_TRUE(cancelled.is_here());
  EXPECT_EQ(cancelled.get().error, std::errc::operation_canceled);
  EXPECT_EQ(ends.reader.outstanding(), 1u);
  write_and_wait<TypeParam>(others.writer, "x");
  expect_read(kept.get(), "x");
}

TYPED_TEST(ending, of_a_moved_io_does_not_disturb_its_requests) {
  channel<TypeParam> ends;
  text_answer read;
  const operation_id id = TypeParam::read(ends.reader, std::string(1, ' '), read.handler());
  std::optional<io> moved(std::move(ends.reader));
  EXPECT_EQ(moved->outstanding(), 1u);
  EXPECT_TRUE(moved->cancel(id));
  EXPECT_EQ(read.get().error, std::errc::operation_canceled);
}

TYPED_TEST(ending, by_a_handler_that_is_disassociated_is_fine) {
  auto [first, second] = TypeParam::make();
  std::optional<io> object;
  object.emplace(std::move(first));
  io peer(std::move(second));
  const tidepool::event returned(tidepool::reset_mode::manual);
  TypeParam::read(*object, std::string(1, ' '), [&](transfer<std::string>, tidepool::callback_instance& instance) {
    instance.set_event_when_returns(returned);
    instance.disassociate();
    object->run_down();
    object.reset();
  });
  write_and_wait<TypeParam>(peer, "x");
  EXPECT_TRUE(returned.wait_for(patience));
  EXPECT_FALSE(object.has_value());
}

TYPED_TEST(ending, leaves_the_pool_to_the_io_for_as_long_as_it_needs_it) {
  std::optional<channel<TypeParam>> ends;
  {
    const private_pool temporary(2);
    ends.emplace(temporary.environment);
  }
  text_answer read;
  TypeParam::read(ends->reader, std::string(1, ' '), read.handler());
  write_and_wait<TypeParam>(ends->writer, "x");
  expect_read(read.get(), "x");
  text_answer cancelled;
  TypeParam::read(ends->reader, std::string(1, ' '), cancelled.handler());
  ends.reset();
  EXPECT_TRUE(cancelled.is_here());
}

// ---- threads -------------------------------------------------------------------------------------------

TYPED_TEST(ending, of_the_thread_that_started_a_request_changes_nothing) {
  channel<TypeParam> ends;
  std::vector<text_answer> answers(8);
  for (const text_answer& each : answers) {
    std::thread([&] { TypeParam::read(ends.reader, std::string(1, ' '), each.handler()); }).join();
  }
  let_another_pool_work();
  EXPECT_EQ(ends.reader.outstanding(), answers.size());
  std::thread([&] { write_and_wait<TypeParam>(ends.writer, std::string(8, 'x')); }).join();
  for (text_answer& each : answers) {
    expect_read(each.get(), "x");
  }
}

}  // namespace
}  // namespace safe
