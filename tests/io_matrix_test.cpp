// Every way in which a request can go, for files, pipes and sockets:
//
//   immediate failure | immediate success | pending | cancelled | run down with requests outstanding
//
// In each of them the handler is called exactly once, on a thread of the pool and not inside the call, gets its buffer
// back, and finds the request accounted for.
#include "contract/blocked_call.hpp"
#include "io.hpp"

namespace safe {
namespace {

/// Files have no other end: requests on them are over when the system is.
struct file_kind {
  static constexpr endpoint_kind kind = endpoint_kind::file;
};

struct kind_names {
  template <class Kind>
  static std::string GetName(int) {
    switch (Kind::kind) {
      case endpoint_kind::file: return "file";
      case endpoint_kind::pipe: return "pipe";
      default: return "socket";
    }
  }
};

/// An io to read from with requests that it refuses, serves at once, or keeps for as long as nothing comes.
template <class Kind>
class source {
 public:
  explicit source(const tidepool::callback_environment& environment = {})
      : ends_(Kind::make()), out_(std::move(ends_.second), environment), in_(std::move(ends_.first), environment) {}

  io& in() { return in_; }
  void provide(const std::string& text) { write_and_wait<Kind>(out_, text); }

  template <class Handler>
  operation_id read(std::string into, Handler handler) {
    return Kind::read(in_, std::move(into), std::move(handler));
  }

  /// On the io, so that its accounting shows.
  template <class Handler>
  operation_id refused(std::string text, Handler handler) {
    return in_.read_at(0, std::move(text), std::move(handler));
  }

 private:
  std::pair<endpoint, endpoint> ends_;
  io out_;
  io in_;  // goes first: nobody is told that the other end has gone
};

template <>
class source<file_kind> {
 public:
  explicit source(const tidepool::callback_environment& environment = {})
      : in_(endpoint::open_file(file_.path(), access::read_write, creation::create_new), environment) {}

  io& in() { return in_; }
  void provide(const std::string& text) {
    text_answer written;
    in_.write_at(0, text, written.handler());
    expect_done(written.get(), text.size());
  }

  template <class Handler>
  operation_id read(std::string into, Handler handler) {
    return in_.read_at(0, std::move(into), std::move(handler));
  }

  template <class Handler>
  operation_id refused(std::string text, Handler handler) {
    return in_.receive(std::move(text), std::move(handler));
  }

 private:
  scratch_file file_;
  io in_;
};

template <class Kind>
class every_request : public safe_test {
 protected:
  static constexpr bool waits_for_a_peer = Kind::kind != endpoint_kind::file;
};

using kinds = testing::Types<file_kind, pipe_kind, socket_kind>;
TYPED_TEST_SUITE(every_request, kinds, kind_names);

TYPED_TEST(every_request, that_fails_at_once_calls_its_handler_on_the_pool) {
  source<TypeParam> from;
  gate call_is_over;
  text_answer read;
  std::thread::id where;
  from.refused("buffer", [&, answer = read.handler()](transfer<std::string> result) {
    EXPECT_TRUE(call_is_over.pass());
    where = std::this_thread::get_id();
    EXPECT_EQ(from.in().outstanding(), 0u);
    answer(std::move(result));
  });
  call_is_over.open();
  EXPECT_EQ(read.get().error, std::errc::not_supported);
  EXPECT_EQ(read.get().bytes, 0u);
  EXPECT_EQ(read.get().buffer, "buffer");
  EXPECT_NE(where, std::this_thread::get_id());
  from.in().run_down();
  EXPECT_EQ(from.in().outstanding(), 0u);
}

TYPED_TEST(every_request, that_succeeds_at_once_calls_its_handler_on_the_pool) {
  source<TypeParam> from;
  from.provide("content");
  gate call_is_over;
  text_answer read;
  std::thread::id where;
  from.read(std::string(7, ' '), [&, answer = read.handler()](transfer<std::string> result) {
    EXPECT_TRUE(call_is_over.pass());
    where = std::this_thread::get_id();
    EXPECT_EQ(from.in().outstanding(), 0u);
    answer(std::move(result));
  });
  call_is_over.open();
  expect_read(read.get(), "content");
  EXPECT_NE(where, std::this_thread::get_id());
  from.in().run_down();
  EXPECT_EQ(from.in().outstanding(), 0u);
}

TYPED_TEST(every_request, that_is_pending_is_outstanding_until_it_completes) {
  source<TypeParam> from;
  if (!TestFixture::waits_for_a_peer) {
    from.provide("content");
  }
  text_answer read;
  const operation_id id = from.read(std::string(7, ' '), read.handler());
  EXPECT_TRUE(id);
  if (TestFixture::waits_for_a_peer) {
    EXPECT_EQ(from.in().outstanding(), 1u);
    let_another_pool_work();
    EXPECT_FALSE(read.is_here());
    from.provide("content");
  }
  expect_read(read.get(), "content");
  EXPECT_EQ(from.in().outstanding(), 0u);
  EXPECT_FALSE(from.in().cancel(id));
}

TYPED_TEST(every_request, that_is_cancelled_gives_its_buffer_back) {
  source<TypeParam> from;
  if (!TestFixture::waits_for_a_peer) {
    from.provide("content");
  }
  text_answer read;
  const operation_id id = from.read(std::string(7, ' '), read.handler());
  const bool found = from.in().cancel(id);
  const transfer<std::string>& result = read.get();
  EXPECT_EQ(result.buffer.size(), 7u);
  if (TestFixture::waits_for_a_peer) {
    EXPECT_TRUE(found);
    EXPECT_EQ(result.error, std::errc::operation_canceled);
    EXPECT_EQ(result.bytes, 0u);
  } else if (result.error) {  // the disk may have been faster
    EXPECT_EQ(result.error, std::errc::operation_canceled);
  } else {
    expect_read(result, "content");
  }
  from.in().run_down();
  EXPECT_FALSE(from.in().cancel(id));
}

TYPED_TEST(every_request, that_is_outstanding_is_waited_for_by_a_run_down) {
  source<TypeParam> from;
  if (!TestFixture::waits_for_a_peer) {
    from.provide("content");
  }
  tally begun;
  gate let_it_finish;
  std::atomic<bool> finished = false;
  from.read(std::string(7, ' '), [&](const transfer<std::string>& result) {
    expect_read(result, "content");
    begun.add();
    EXPECT_TRUE(let_it_finish.pass());
    finished = true;
  });
  std::atomic<bool> over = false;
  tally entered;
  std::jthread waiter([&] {
    entered.add();
    from.in().run_down();
    EXPECT_TRUE(finished);
    over = true;
  });
  EXPECT_TRUE(entered.reaches(1));
  let_another_pool_work();
  EXPECT_FALSE(over);
  if (TestFixture::waits_for_a_peer) {
    from.provide("content");
  }
  EXPECT_TRUE(begun.reaches(1));
  let_another_pool_work();
  EXPECT_FALSE(over);
  let_it_finish.open();
  waiter.join();
  EXPECT_TRUE(over);
}

TYPED_TEST(every_request, that_was_refused_is_waited_for_by_a_run_down) {
  source<TypeParam> from;
  tally begun;
  gate let_it_finish;
  std::atomic<bool> finished = false;
  from.refused("buffer", [&] {
    begun.add();
    EXPECT_TRUE(let_it_finish.pass());
    finished = true;
  });
  EXPECT_TRUE(begun.reaches(1));
  contract::blocked_call run_down([&] {
    from.in().run_down();
    EXPECT_TRUE(finished);
  });
  EXPECT_TRUE(run_down.blocks());
  let_it_finish.open();
}

TYPED_TEST(every_request, that_is_outstanding_is_over_when_the_io_has_been_destroyed) {
  std::atomic<int> calls = 0;
  std::atomic<int> alive = 0;
  {
    source<TypeParam> from;
    if (!TestFixture::waits_for_a_peer) {
      from.provide("content");
    }
    for (int i = 0; i != 10; ++i) {
      from.read(std::string(7, ' '), [&, state = counted(alive)](const transfer<std::string>& result) {
        EXPECT_EQ(result.buffer.size(), 7u);
        if (result.error || TestFixture::waits_for_a_peer) {
          EXPECT_EQ(result.error, std::errc::operation_canceled);
        }
        ++calls;
      });
    }
    if (TestFixture::waits_for_a_peer) {
      EXPECT_EQ(alive, 10);
    }
  }
  EXPECT_EQ(calls, 10);
  EXPECT_EQ(alive, 0);
}

TYPED_TEST(every_request, that_was_refused_is_over_when_the_io_has_been_destroyed) {
  std::atomic<int> calls = 0;
  {
    source<TypeParam> from;
    for (int i = 0; i != 10; ++i) {
      from.refused("buffer", [&] { ++calls; });
    }
  }
  EXPECT_EQ(calls, 10);
}

}  // namespace
}  // namespace safe
