// Callback environments: their layout, their setters, and what they keep alive.
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>

#include "safe.hpp"

namespace safe {
namespace {

using tidepool::callback_environment;
using tidepool::priority;

class environments : public safe_test {};

/// TP_CALLBACK_ENVIRON_V3 as 64-bit Windows has it, written down from its documentation.
struct expected_layout {
  std::uint32_t version = 3;
  void* pool = nullptr;
  void* cleanup_group = nullptr;
  void* cleanup_group_cancel_callback = nullptr;
  void* race_dll = nullptr;
  void* activation_context = nullptr;
  void* finalization_callback = nullptr;
  std::uint32_t flags = 0;
  std::int32_t callback_priority = 1;
  std::uint32_t size = 72;
};
static_assert(sizeof(expected_layout) == 72);
static_assert(offsetof(expected_layout, pool) == 8);
static_assert(offsetof(expected_layout, cleanup_group) == 16);
static_assert(offsetof(expected_layout, cleanup_group_cancel_callback) == 24);
static_assert(offsetof(expected_layout, race_dll) == 32);
static_assert(offsetof(expected_layout, activation_context) == 40);
static_assert(offsetof(expected_layout, finalization_callback) == 48);
static_assert(offsetof(expected_layout, flags) == 56);
static_assert(offsetof(expected_layout, callback_priority) == 60);
static_assert(offsetof(expected_layout, size) == 64);

expected_layout read(callback_environment& environment) {
  expected_layout result;
  std::memcpy(static_cast<void*>(&result), tidepool::unsafe::native_environment(environment), sizeof result);
  return result;
}

/// Field by field: what lies between and behind the fields says nothing.
void expect_equal(const expected_layout& actual, const expected_layout& expected) {
  EXPECT_EQ(actual.version, expected.version);
  EXPECT_EQ(actual.pool, expected.pool);
  EXPECT_EQ(actual.cleanup_group, expected.cleanup_group);
  EXPECT_EQ(actual.cleanup_group_cancel_callback, expected.cleanup_group_cancel_callback);
  EXPECT_EQ(actual.race_dll, expected.race_dll);
  EXPECT_EQ(actual.activation_context, expected.activation_context);
  EXPECT_EQ(actual.finalization_callback, expected.finalization_callback);
  EXPECT_EQ(actual.flags, expected.flags);
  EXPECT_EQ(actual.callback_priority, expected.callback_priority);
  EXPECT_EQ(actual.size, expected.size);
}

TEST_F(environments, start_as_version_3_with_normal_priority_and_nothing_else) {
  callback_environment environment;
  expect_equal(read(environment), {});
  EXPECT_FALSE(environment.has_pool());
  EXPECT_EQ(environment.get_priority(), priority::normal);
  EXPECT_FALSE(environment.runs_long());
  EXPECT_FALSE(environment.persistent());
  EXPECT_FALSE(environment.has_library());
}

TEST_F(environments, hold_the_priority_as_windows_numbers_it) {
  callback_environment environment;
  environment.set_priority(priority::high);
  expect_equal(read(environment), {.callback_priority = 0});
  EXPECT_EQ(environment.get_priority(), priority::high);
  environment.set_priority(priority::low);
  expect_equal(read(environment), {.callback_priority = 2});
  EXPECT_EQ(environment.get_priority(), priority::low);
  environment.set_priority(priority::normal);
  expect_equal(read(environment), {.callback_priority = 1});
  EXPECT_EQ(environment.get_priority(), priority::normal);
}

TEST_F(environments, refuse_a_priority_that_there_is_not) {
  callback_environment environment;
  environment.set_priority(priority::low);
  for (const int none : {-1, 3, 4, 1000}) {
    EXPECT_SYSTEM_ERROR(environment.set_priority(static_cast<priority>(none)), std::errc::invalid_argument);
  }
  expect_equal(read(environment), {.callback_priority = 2});
}

TEST_F(environments, hold_runs_long_in_the_lowest_flag_bit_and_persistent_in_the_next) {
  callback_environment long_one;
  long_one.set_runs_long();
  expect_equal(read(long_one), {.flags = 0x1});
  EXPECT_TRUE(long_one.runs_long());
  EXPECT_FALSE(long_one.persistent());

  callback_environment persistent_one;
  persistent_one.set_persistent();
  expect_equal(read(persistent_one), {.flags = 0x2});
  EXPECT_FALSE(persistent_one.runs_long());
  EXPECT_TRUE(persistent_one.persistent());

  persistent_one.set_runs_long();
  expect_equal(read(persistent_one), {.flags = 0x3});
}

TEST_F(environments, hold_the_pool_until_it_is_cleared) {
  const tidepool::pool pool;
  callback_environment environment;
  environment.set_pool(pool);
  expect_equal(read(environment), {.pool = tidepool::unsafe::native_handle(pool)});
  EXPECT_TRUE(environment.has_pool());
  environment.clear_pool();
  expect_equal(read(environment), {});
  EXPECT_FALSE(environment.has_pool());
}

TEST_F(environments, are_changed_by_nobody_who_uses_them) {
  private_pool pool(1);
  pool.environment.set_priority(priority::high);
  pool.environment.set_runs_long();
  pool.environment.set_library_of(reinterpret_cast<const void*>(&read));
  std::array<std::byte, 72> before;
  std::memcpy(before.data(), tidepool::unsafe::native_environment(pool.environment), before.size());
  {
    tally ran;
    work first([&] { ran.add(); }, pool.environment);
    work second([&] { ran.add(); }, pool.environment);
    first.submit();
    second.submit();
    tidepool::submit([&] { ran.add(); }, pool.environment);
    EXPECT_TRUE(ran.reaches(3));
  }
  EXPECT_EQ(std::memcmp(before.data(), tidepool::unsafe::native_environment(pool.environment), before.size()), 0);
}

TEST_F(environments, may_change_after_an_object_was_made_without_affecting_it) {
  private_pool pool(1);
  std::atomic<contract::thread_number> held_thread = 0;
  work who([&] { held_thread = this_thread(); }, pool.environment);
  who.submit();
  who.stop_and_drain();

  std::atomic<contract::thread_number> ran_on = 0;
  work work([&] { ran_on = this_thread(); }, pool.environment);
  pool.environment.clear_pool();
  occupier other_threads(pool.environment, 2);  // the default pool has something else to do
  ASSERT_TRUE(other_threads.held());
  work.submit();
  work.stop_and_drain();
  EXPECT_EQ(ran_on, held_thread);
}

TEST_F(environments, can_be_copied_and_the_copies_go_their_own_ways) {
  const private_pool pool(1);
  callback_environment original = pool.environment;
  original.set_priority(priority::high);
  callback_environment copy = original;
  expect_equal(read(copy), read(original));

  copy.set_priority(priority::low);
  copy.clear_pool();
  copy.set_runs_long();
  expect_equal(read(original), {.pool = tidepool::unsafe::native_handle(pool.pool), .callback_priority = 0});
  expect_equal(read(copy), {.flags = 1, .callback_priority = 2});

  copy = original;
  expect_equal(read(copy), read(original));
}

TEST_F(environments, stay_whole_when_they_are_moved_from) {
  const private_pool pool(1);
  callback_environment original = pool.environment;
  callback_environment moved = std::move(original);
  expect_equal(read(original), read(moved));
}

TEST_F(environments, keep_the_pool_when_the_pool_object_has_gone) {
  std::optional<private_pool> pool(1);
  const callback_environment environment = pool->environment;
  pool.reset();
  tally ran;
  work work([&] { ran.add(); }, environment);
  work.submit();
  work.stop_and_drain();
  tidepool::submit([&] { ran.add(); }, environment);
  EXPECT_TRUE(ran.reaches(2));
}

TEST_F(environments, serve_several_threads_at_once) {
  const private_pool pool(2);
  tally ran;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i != 4; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n != 200; ++n) {
          const callback_environment copy = pool.environment;
          work work([&] { ran.add(); }, n % 2 == 0 ? copy : pool.environment);
          work.submit();
        }
      });
    }
  }
  EXPECT_EQ(ran.count(), 800u);
}

// ---- the owning library --------------------------------------------------------------------------------

// A library that every system has and nothing else here needs.
#ifdef _WIN32
constexpr const char* spare_library = "avicap32.dll";
constexpr const char* spare_function = "capCreateCaptureWindowA";
#else
constexpr const char* spare_library = "libresolv.so.2";
constexpr const char* spare_function = "ns_parserr";
#endif

bool is_loaded() {
  HMODULE module = nullptr;
  return GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT, spare_library, &module) != FALSE;
}

/// An environment whose library nobody else keeps loaded.
callback_environment with_spare_library(callback_environment environment = {}) {
  EXPECT_FALSE(is_loaded());
  const HMODULE module = LoadLibraryA(spare_library);
  environment.set_library_of(reinterpret_cast<const void*>(GetProcAddress(module, spare_function)));
  EXPECT_TRUE(environment.has_library());
  EXPECT_EQ(read(environment).race_dll, module);
  FreeLibrary(module);
  return environment;
}

TEST_F(environments, keep_their_library_loaded_until_it_is_cleared) {
  callback_environment environment = with_spare_library();
  EXPECT_TRUE(is_loaded());
  callback_environment copy = environment;
  environment.clear_library();
  EXPECT_FALSE(environment.has_library());
  EXPECT_EQ(read(environment).race_dll, nullptr);
  EXPECT_TRUE(is_loaded());
  copy.clear_library();
  EXPECT_FALSE(is_loaded());
}

TEST_F(environments, hand_their_library_on_to_objects) {
  std::optional<work> work(std::in_place, [] {}, with_spare_library());
  EXPECT_TRUE(is_loaded());
  work->submit();
  work.reset();
  EXPECT_FALSE(is_loaded());
}

TEST_F(environments, keep_the_library_until_the_state_of_the_callback_is_destroyed) {
  bool loaded_at_destruction = false;
  {
    work work([last = on_destruction([&] { loaded_at_destruction = is_loaded(); })] {}, with_spare_library());
  }
  EXPECT_TRUE(loaded_at_destruction);
  EXPECT_FALSE(is_loaded());
}

TEST_F(environments, keep_the_library_until_a_one_off_has_returned) {
  const auto release = std::make_shared<gate>();  // for the callback, whose end nothing here is ordered after
  tally running;
  {
    const callback_environment environment = with_spare_library();
    tidepool::submit(
        [&running, release] {
          running.add();
          EXPECT_TRUE(release->pass());
        },
        environment);
  }
  EXPECT_TRUE(running.reaches(1));
  EXPECT_TRUE(is_loaded());
  release->open();
  EXPECT_TRUE(eventually([] { return !is_loaded(); }));
}

TEST_F(environments, can_name_the_program_itself) {
  callback_environment environment;
  environment.set_library_of(reinterpret_cast<const void*>(&is_loaded));
  work work([] {}, environment);
  work.submit();
}

TEST_F(environments, refuse_an_address_that_is_in_no_module) {
  callback_environment environment;
  const std::unique_ptr<int> on_the_heap = std::make_unique<int>();
  EXPECT_SYSTEM_ERROR(environment.set_library_of(on_the_heap.get()), std::error_code(126, tidepool::win32_category()));
  EXPECT_FALSE(environment.has_library());
}

// ---- the raw seams -------------------------------------------------------------------------------------

TEST_F(environments, accept_a_foreign_pool_and_leave_it_to_its_owner) {
  const contract::pool foreign(1);
  callback_environment environment;
  tidepool::unsafe::set_pool(environment, foreign.get());
  expect_equal(read(environment), {.pool = foreign.get()});
  EXPECT_TRUE(environment.has_pool());
  {
    tally ran;
    work work([&] { ran.add(); }, environment);
    work.submit();
    tidepool::submit([&] { ran.add(); }, environment);
    EXPECT_TRUE(ran.reaches(2));
  }
  tidepool::unsafe::set_pool(environment, nullptr);
  expect_equal(read(environment), {});
}

TEST_F(environments, let_go_of_a_pool_of_ours_for_a_foreign_one) {
  const contract::pool foreign(1);
  private_pool pool(1);
  tidepool::unsafe::set_pool(pool.environment, foreign.get());
  expect_equal(read(pool.environment), {.pool = foreign.get()});
  pool.environment.set_pool(pool.pool);
  expect_equal(read(pool.environment), {.pool = tidepool::unsafe::native_handle(pool.pool)});
}

void CALLBACK note_cancelled(PVOID, PVOID cleanup_context) { static_cast<tally*>(cleanup_context)->add(); }

TEST_F(environments, accept_a_foreign_cleanup_group) {
  const private_pool pool(1);
  const PTP_CLEANUP_GROUP group = CreateThreadpoolCleanupGroup();
  ASSERT_NE(group, nullptr);
  callback_environment environment = pool.environment;
  tidepool::unsafe::set_cleanup_group(environment, group, &note_cancelled);
  expect_equal(read(environment), {.pool = tidepool::unsafe::native_handle(pool.pool),
                                   .cleanup_group = group,
                                   .cleanup_group_cancel_callback = reinterpret_cast<void*>(&note_cancelled)});

  std::atomic<int> alive = 0;
  tally ran;
  tally cancelled;
  work work([&ran, state = counted(alive)] { ran.add(); }, environment);
  occupier only_thread(pool.environment);
  ASSERT_TRUE(only_thread.held());
  work.submit();
  CloseThreadpoolCleanupGroupMembers(group, TRUE, &cancelled);
  EXPECT_EQ(cancelled.count(), 1u);
  EXPECT_EQ(ran.count(), 0u);
  EXPECT_EQ(alive, 1);
  tidepool::unsafe::disown(work);
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(tidepool::unsafe::native_handle(work), nullptr);
  CloseThreadpoolCleanupGroup(group);
}

TEST_F(environments, give_access_to_the_settings_that_the_class_does_not_offer) {
  tally finalized;
  callback_environment environment;
  // The context of a work's callback is none of the test's business, hence a global.
  static tally* finalizations;
  finalizations = &finalized;
  tidepool::unsafe::native_environment(environment)->FinalizationCallback = [](PTP_CALLBACK_INSTANCE, PVOID) {
    finalizations->add();
  };
  work work([] {}, environment);
  work.submit();
  work.submit();
  EXPECT_TRUE(finalized.reaches(2));
}

}  // namespace
}  // namespace safe
