// Mistakes with overlapped I/O that end the process.
#include <optional>

#include "io.hpp"

namespace safe {
namespace {

using tidepool::io;

void wait_for_the_end() {
  gate never;
  static_cast<void>(never.pass());
}

TEST(ios, that_are_destroyed_inside_their_own_handler_end_the_process_and_name_their_origin) {
  EXPECT_DEATH(
      {
        auto ends = endpoint::make_pipe();
        std::optional<io> object;
        object = io(std::move(ends.first));
        io writer(std::move(ends.second));
        object->read(std::string(1, ' '), [&] { object.reset(); });
        writer.write(std::string("x"), [] {});
        wait_for_the_end();
      },
      "tidepool: the io created at .*io_test.cpp.* is being destroyed inside its own callback");
}

TEST(ios, that_are_destroyed_inside_the_handler_of_a_refused_request_end_the_process) {
  EXPECT_DEATH(
      {
        std::optional<io> object;
        object = io(endpoint::make_pipe().first);
        object->accept([&] { object.reset(); });
        wait_for_the_end();
      },
      "tidepool: the io created at .*io_test.cpp.* is being destroyed inside its own callback");
}

TEST(ios, that_are_assigned_inside_their_own_handler_end_the_process) {
  EXPECT_DEATH(
      {
        io object(endpoint::make_pipe().first);
        object.accept([&] { object = io(endpoint::make_pipe().first); });
        wait_for_the_end();
      },
      "is being destroyed inside its own callback");
}

TEST(ios, whose_handler_owns_the_last_reference_end_the_process) {
  EXPECT_DEATH(
      {
        auto object = std::make_shared<io>(endpoint::make_pipe().first);
        io& use = *object;
        use.accept([owner = std::move(object)] {});
        wait_for_the_end();
      },
      "tidepool: the io created at .* is being destroyed inside its own callback");
}

TEST(ios, whose_handler_throws_end_the_process_with_its_message) {
  EXPECT_DEATH(
      {
        io object(endpoint::make_pipe().first);
        object.accept([] { throw std::runtime_error("a handler threw"); });
        wait_for_the_end();
      },
      "a handler threw");
}

TEST(ios, that_have_been_moved_from_end_the_process_when_they_are_used) {
  io object(endpoint::make_pipe().first);
  const io other(std::move(object));
  constexpr const char* message = "tidepool: an io was used after it had been moved from";
  EXPECT_DEATH(object.read(std::string(1, ' '), [] {}), message);
  EXPECT_DEATH(static_cast<void>(object.outstanding()), message);
  EXPECT_DEATH(object.cancel_all(), message);
  EXPECT_DEATH(static_cast<void>(object.cancel(operation_id())), message);
  EXPECT_DEATH(object.run_down(), message);
  EXPECT_DEATH(static_cast<void>(object.shutdown_send()), message);
}

TEST(ios, are_not_made_of_endpoints_that_hold_nothing) {
  EXPECT_DEATH(io{endpoint()}, "tidepool: an io was given an endpoint that holds nothing");
}

TEST(endpoints, that_hold_nothing_end_the_process_when_they_are_used) {
  const endpoint none;
  constexpr const char* message = "tidepool: an endpoint was used that holds nothing";
  EXPECT_DEATH(static_cast<void>(none.file_size()), message);
  EXPECT_DEATH(static_cast<void>(none.local_address()), message);
  EXPECT_DEATH(static_cast<void>(none.peer_address()), message);
}

TEST(operations, that_have_been_handed_over_end_the_process_when_they_are_submitted_again) {
  io object(endpoint::make_pipe().first);
  tidepool::operation<int> op(1);
  tidepool::operation<int> other(std::move(op));
  const auto issue = [](tidepool::native::handle, tidepool::native::overlapped, int&) noexcept {
    return tidepool::unsafe::issued::refused(1);
  };
  EXPECT_DEATH(tidepool::unsafe::submit(object, std::move(op), issue, [] {}),
               "tidepool: an operation was submitted after it had been moved from");
}

}  // namespace
}  // namespace safe
