// Every kind of object lives a whole life, so that there is nothing in docs/reference/trace.md that does not occur. census.py
// runs it, with different categories on, and holds the page against the captures.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <tidepool/tidepool.hpp>

#include "contract/gate.hpp"
#include "heal/owing_pools.hpp"
#include "heal/pool_repair.hpp"

namespace {

using namespace std::chrono_literals;
using contract::gate;
using contract::tally;
using tidepool::trace::category;

void require(bool condition, const char* what) {
  if (!condition) {
    std::fprintf(stderr, "%s\n", what);
    std::_Exit(1);
  }
}

/// Whether the trace has such a record by now.
bool is_recorded(const std::string& kind, const std::string& action) {
  static const std::filesystem::path file = std::string(std::getenv("TIDEPOOL_TRACE_FILE")) + ".so-far";
  tidepool::trace::write(file);
  std::ifstream lines(file, std::ios::binary);
  bool found = false;
  for (std::string line; !found && std::getline(lines, line);) {
    const std::size_t at = line.find(" " + kind + " 0x");
    found = at != std::string::npos && line.find(" " + action, at) != std::string::npos;
  }
  lines.close();
  std::filesystem::remove(file);
  return found;
}

/// Does it again and again until that is recorded; once if it will not be, since none of the categories is on. If it does not
/// come to that the census says so, by name.
void until_recorded(const char* kind, const char* action, category categories, const std::function<void()>& what) {
  const bool will_be = (tidepool::trace::enabled() & categories) != category::none;
  static_cast<void>(contract::eventually([&] {
    what();
    return !will_be || is_recorded(kind, action);
  }));
}

/// Drains it while one of its callbacks runs, so that what that asks for is discarded.
template <class Object>
void drain_inside(Object& object, gate& inside) {
  require(inside.pass(), "a callback does not run");
  object.stop_and_drain();
}

void live_as_work() {
  tally calls;
  {
    tidepool::work object([&](tidepool::callback_instance& instance) {
      static_cast<void>(instance.may_run_long());
      instance.disassociate();
      calls.add();
    });
    object.submit();
    object.wait_for_callbacks();
    object.cancel_pending();
    object.submit();
    object.stop_and_drain();
  }
  {
    tidepool::work owing([&] { calls.add(); });
    owing.submit();
  }
  tidepool::submit([&calls, once = 1u] { calls.add(once); });  // two words, which the engine keeps in its queue
  tidepool::submit([&, large = std::string(100, 'x')] { calls.add(); });
  require(calls.reaches(5), "work does not run");
}

void live_as_a_timer() {
  gate inside;
  tally calls;
  std::optional<tidepool::timer> object;
  object.emplace([&](tidepool::timer_firing& firing) {
    calls.add();
    firing.rearm_after(0s);
    if (calls.count() == 2) {
      inside.open();
      until_recorded("timer", "rearm-suppressed", category::timer | category::rearm, [&] { object->set_after(1h); });
    }
  });
  object->set_after(0s);
  drain_inside(*object, inside);
  object->disarm();
  static_cast<void>(object->is_set());
  object->set_after(1h);
  object->cancel_pending();
  object.reset();  // owes a drain
}

void live_as_a_periodic_timer() {
  gate inside;
  std::optional<tidepool::periodic_timer> object;
  object.emplace(1h, [&](tidepool::periodic_tick&) {
    inside.open();
    until_recorded("periodic_timer", "rearm-suppressed", category::timer | category::rearm, [&] { object->start(); });
  });
  object->start_after(0s);
  drain_inside(*object, inside);
  object->start();
  object->stop();
  object->cancel_pending();
  object->start();
  object.reset();  // owes a drain
}

void live_as_a_wait() {
  gate inside;
  tally calls;
  const tidepool::event signal(tidepool::reset_mode::automatic);
  std::optional<tidepool::wait> object;
  object.emplace(signal, [&](tidepool::wait_activation& activation) {
    calls.add();
    activation.rearm();
    if (calls.count() == 2) {
      inside.open();
      until_recorded("wait", "rearm-suppressed", category::wait | category::rearm, [&] { object->arm(1h); });
    }
  });
  object->arm();
  signal.set();
  require(calls.reaches(1), "a wait does not run");
  signal.set();
  drain_inside(*object, inside);
  object->arm(1h);
  object->disarm();
  object->wait_for_callbacks();
  object->arm();
  object.reset();  // owes a drain
}

void live_as_io() {
  tally calls;
  auto ends = tidepool::endpoint::make_pipe();
  tidepool::io reader(std::move(ends.first));
  tidepool::io writer(std::move(ends.second));
  const auto note = [&](const tidepool::transfer<std::string>&) { calls.add(); };
  reader.read(std::string(1, ' '), note);
  writer.write(std::string("x"), note);
  require(calls.reaches(2), "a pipe does not work");
  reader.accept([&] { calls.add(); });  // is refused, and so the system does not complete it
  require(calls.reaches(3), "what is refused has no callback");
  static_cast<void>(reader.cancel(reader.read(std::string(1, ' '), note)));
  reader.run_down();
  reader.read(std::string(1, ' '), note);
  reader.stop_and_drain();
  reader.read(std::string(1, ' '), note);  // and owes a drain
}

void live_as_a_group() {
  tally calls;
  tidepool::cleanup_group group;
  for (const bool cancel_pending : {false, true}) {
    const auto member = group.create_work([&] { calls.add(); });
    member.submit();
    require(calls.reaches(cancel_pending ? 2 : 1), "a member does not run");
    group.close_members(cancel_pending);
  }
}

void live_as_a_pool() {
  tally calls;
  {
    tidepool::pool pool;
    pool.set_max_threads(2);
    pool.set_min_threads(1);
    pool.set_stack_size(pool.get_stack_size());
    tidepool::callback_environment environment;
    environment.set_pool(pool);
    tidepool::work object([&] { calls.add(); }, environment);
    object.submit();
    object.stop_and_drain();
  }
#ifndef _WIN32
  until_recorded("worker", "ended", category::pool, [] { std::this_thread::yield(); });
#endif
}

/// A pool that is given a repair and for a while does not get to it.
void live_as_a_repaired_pool() {
  gate inside;
  gate release;
  tidepool::pool pool;
  pool.set_max_threads(1);
  tidepool::callback_environment environment;
  environment.set_pool(pool);
  tidepool::wait cancelled(tidepool::event(tidepool::reset_mode::manual), [] {}, environment);
  tidepool::work holder(
      [&] {
        inside.open();
        require(release.pass(), "a held thread is not released");
      },
      environment);
  holder.submit();
  require(inside.pass(), "a callback does not run");
  cancelled.try_cancel_pending();
  const category seen = category::pool | category::report;
  until_recorded("pool", "repair-submitted", seen, [] { std::this_thread::yield(); });
  tidepool::heal::tick_all(tidepool::heal::now() + 2 * tidepool::heal::repair_state::patience);
  release.open();
  until_recorded("pool", "repair-started", seen, [] { std::this_thread::yield(); });
}

void live_as_an_event() {
  const tidepool::event object(tidepool::reset_mode::manual);
  object.set();
  object.wait();
  object.reset();
}

void throw_something() {
  try {
    throw std::string("caught");
  } catch (const std::string&) {
  }
}

}  // namespace

int main() {
  require(std::getenv("TIDEPOOL_TRACE_FILE") != nullptr, "TIDEPOOL_TRACE_FILE is not set");
  live_as_work();
  live_as_a_timer();
  live_as_a_periodic_timer();
  live_as_a_wait();
  live_as_io();
  live_as_a_group();
  live_as_a_pool();
  live_as_a_repaired_pool();
  live_as_an_event();
  throw_something();
  return 0;
}
