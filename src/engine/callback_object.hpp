// What work, timers and waits have in common: a callback that runs once per submission.
#pragma once

#include <new>

#include "engine/environment.hpp"
#include "engine/packet.hpp"
#include "engine/work_state.hpp"
#include "tidepool/win32/errhandlingapi.h"
#include "tidepool/win32/winerror.h"

namespace tidepool::engine {

struct callback_object : packet {
  /// `of`: null unless the object is plain work, whose callback is called without further ado.
  callback_object(PVOID callback_context, const callback_settings& asked, PTP_WORK_CALLBACK of = nullptr) noexcept;
  virtual ~callback_object();
  callback_object(const callback_object&) = delete;
  callback_object& operator=(const callback_object&) = delete;

  /// Once it is whole: from now on the group may release it.
  void join_group() noexcept;
  void submit() noexcept;
  void wait() noexcept;
  /// Drops the submissions that no callback has been started for; returns whether there were any. `own`: claims of the
  /// caller that stand for no submission.
  bool cancel(std::uint64_t own = 0) noexcept;
  /// What the API calls cancelling pending callbacks.
  virtual bool drop() noexcept { return cancel(); }
  /// The user closes it: the object is freed when its last submission has run.
  void close() noexcept;
  /// Ends what submits the object by itself. No such submission is made after the return, unless it is armed again.
  virtual void disarm() noexcept {}
  /// By its own callback, on `on`: nobody waits for this run any more, and the object may be gone after.
  void disassociate(worker& on, _TP_CALLBACK_INSTANCE& instance) noexcept;

  work_state state;
  const PTP_WORK_CALLBACK plain_callback;
  const PVOID context;
  const callback_settings settings;

  // Membership in settings.group; guarded by the group's lock.
  callback_object* group_next = nullptr;
  callback_object* group_previous = nullptr;
  bool in_group = false;
  bool is_one_off = false;          // closed from the start
  bool cancelled_by_group = false;  // used by the thread that closes the group

  static void dispatch_object(worker& on, packet& entry) noexcept;

 protected:
  /// Keeps the object from being freed by a callback that closes it, while what leads to the callback is still at work
  /// on the object.
  class in_use {
   public:
    explicit in_use(callback_object& object) noexcept : object_(object) { object_.state.submit_claimed(); }
    ~in_use() { object_.settle(); }
    in_use(const in_use&) = delete;
    in_use& operator=(const in_use&) = delete;

   private:
    callback_object& object_;
  };

  /// Calls the callback, and what the environment wants called after it.
  void run_with_settings(worker& on, _TP_CALLBACK_INSTANCE& instance) noexcept;
  /// After that. False when the callback has been disassociated: its claim is settled, and the object may be gone.
  static bool end_run(worker& on, const callback_object* object, _TP_CALLBACK_INSTANCE& instance) noexcept;
  void settle() noexcept;

  /// Calls the user's callback. The object may be gone after, if the callback disassociates itself.
  virtual void call(_TP_CALLBACK_INSTANCE& instance) noexcept = 0;

 private:
  static callback_object* run(worker& on, callback_object& object) noexcept;
};

/// How many callbacks a queued entry stands for.
std::uint64_t queued_callbacks(const packet& entry) noexcept;

/// What every CreateThreadpool... function of a callback object does.
/// `prepared`: what has to be there first, if anything; false when it can not be had.
template <class Object, class Callback>
Object* create_object(Callback callback, PVOID context, PTP_CALLBACK_ENVIRON environment,
                      bool (*prepared)() noexcept = nullptr) noexcept {
  callback_settings settings{};
  if (callback == nullptr) {
    SetLastError(ERROR_INVALID_PARAMETER);
    return nullptr;
  }
  if (!callback_settings::read(environment, settings)) {
    return nullptr;
  }
  if (prepared != nullptr && !prepared()) {
    SetLastError(ERROR_NO_SYSTEM_RESOURCES);
    return nullptr;
  }
  auto* const object = new (std::nothrow) Object(callback, context, settings);
  if (object == nullptr) {
    SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    return nullptr;
  }
  object->join_group();
  return object;
}

}  // namespace tidepool::engine
