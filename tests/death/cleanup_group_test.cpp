// Cleanup groups: destruction by callbacks of their members, use after they or handles have been moved from, exceptions.
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>

#include "groups.hpp"

namespace safe {
namespace {

using namespace std::chrono_literals;
using tidepool::event;
using tidepool::periodic_timer_member;
using tidepool::reset_mode;
using tidepool::timer_member;
using tidepool::wait_member;
using tidepool::work_member;

void wait_for_the_end() {
  gate never;
  static_cast<void>(never.pass());
}

template <class Kind>
class groups_with_a_member_that_is : public testing::Test {};

TYPED_TEST_SUITE(groups_with_a_member_that_is, member_kinds, kind_names);

// ---- from inside -----------------------------------------------------------------------------------------

TYPED_TEST(groups_with_a_member_that_is, end_the_process_when_its_callback_destroys_or_assigns_them) {
  constexpr const char* message =
      "tidepool: the cleanup_group created at .*cleanup_group_test.cpp:.* is being destroyed inside a callback of one "
      "of "
      "its members";
  for (const ending how : {ending::destruction, ending::assignment}) {
    for (const bool disassociated : {false, true}) {
      EXPECT_DEATH(
          {
            std::optional<cleanup_group> group;
            group = cleanup_group();
            auto member = TypeParam::create(*group, [&](auto& token) {
              if (disassociated) {
                instance_of(token).disassociate();
              }
              end(group, how);
            });
            TypeParam::start(member);
            wait_for_the_end();
          },
          message);
    }
  }
}

TYPED_TEST(groups_with_a_member_that_is, end_the_process_with_the_message_of_a_refusal_that_nobody_catches) {
  EXPECT_DEATH(
      {
        cleanup_group group;
        auto member = TypeParam::create(group, [&] { group.close_members(false); });
        TypeParam::start(member);
        wait_for_the_end();
      },
      "cleanup_group::close_members inside a callback of a member of the group");
  EXPECT_DEATH(
      {
        cleanup_group group;
        cleanup_group closed;
        auto member = TypeParam::create(closed, [] {});
        closed.close_members(false);
        auto user = TypeParam::create(group, [&] { TypeParam::start(member); });
        TypeParam::start(user);
        wait_for_the_end();
      },
      "has closed its members");
}

TYPED_TEST(groups_with_a_member_that_is, end_the_process_with_the_message_of_an_exception_that_leaves_its_callback) {
  EXPECT_DEATH(
      {
        cleanup_group group;
        auto member = TypeParam::create(group, [] { throw std::runtime_error("the tide is out"); });
        TypeParam::start(member);
        wait_for_the_end();
      },
      "the tide is out");
}

// ---- moved from ------------------------------------------------------------------------------------------

template <class Object, class Use>
void use_after_move(Object object, Use use) {
  const Object taken(std::move(object));
  use(object);
}

TEST(moved_from_groups, end_the_process_when_they_are_used) {
  constexpr const char* message = "tidepool: a cleanup_group was used after it had been moved from";
  EXPECT_DEATH(use_after_move(cleanup_group(), [](cleanup_group& it) { it.close_members(false); }), message);
  EXPECT_DEATH(use_after_move(cleanup_group(), [](cleanup_group& it) { static_cast<void>(it.create_work([] {})); }),
               message);
  EXPECT_DEATH(use_after_move(cleanup_group(), [](cleanup_group& it) { static_cast<void>(it.create_timer([] {})); }),
               message);
  EXPECT_DEATH(use_after_move(cleanup_group(),
                              [](cleanup_group& it) { static_cast<void>(it.create_periodic_timer(1s, [] {})); }),
               message);
  EXPECT_DEATH(
      use_after_move(cleanup_group(),
                     [](cleanup_group& it) { static_cast<void>(it.create_wait(event(reset_mode::manual), [] {})); }),
      message);
}

TEST(moved_from_groups, can_be_destroyed_and_assigned) {
  EXPECT_EXIT(
      {
        tally ran;
        cleanup_group once;
        std::optional<cleanup_group> taken(std::move(once));
        taken.reset();
        {
          const cleanup_group gone(std::move(once));
        }
        once = cleanup_group();
        once.create_work([&] { ran.add(); }).submit();
        once.close_members(false);
        std::_Exit(ran.count() == 1 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

template <class Handle>
void use_handle_after_move(Handle handle) {
  const Handle taken(std::move(handle));
  for_each_operation(handle, [](auto operation) {
    EXPECT_DEATH(operation(), "a handle of a member was used after it had been moved from");
  });
}

TEST(moved_from_handles, end_the_process_when_they_are_used) {
  cleanup_group group;
  use_handle_after_move(group.create_work([] {}));
  use_handle_after_move(group.create_timer([] {}));
  use_handle_after_move(group.create_periodic_timer(1s, [] {}));
  use_handle_after_move(group.create_wait(event(reset_mode::manual), [] {}));
}

TEST(moved_from_handles, can_be_destroyed_assigned_and_copied) {
  cleanup_group group;
  work_member handle = group.create_work([] {});
  {
    work_member taken(std::move(handle));
    const work_member copy = handle;  // names nothing either
    EXPECT_DEATH(copy.submit(), "a handle of a member was used after it had been moved from");
    handle = std::move(taken);
  }
  handle.submit();
  handle.wait_for_callbacks();
}

TEST(moved_from_handles_of_waits, end_the_process_when_a_member_is_made_from_them) {
  EXPECT_DEATH(
      {
        cleanup_group group;
        tidepool::waitable_handle handle = event(reset_mode::manual);
        const tidepool::waitable_handle taken(std::move(handle));
        static_cast<void>(group.create_wait(std::move(handle), [] {}));
      },
      "tidepool: a wait was given a waitable_handle that has been moved from");
}

}  // namespace
}  // namespace safe
