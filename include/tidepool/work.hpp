// Work: a callback that is submitted any number of times.
#pragma once

#include <source_location>
#include <type_traits>
#include <utility>

#include "tidepool/callback_environment.hpp"
#include "tidepool/callback_instance.hpp"
#include "tidepool/detail/callback_context.hpp"
#include "tidepool/native.hpp"

namespace tidepool {

namespace detail {

struct work_context : callback_context {
  using token_type = callback_instance;
  using frame_type = callback_frame;

  work_context(call_function call, destroy_function destroy, const std::source_location& where) noexcept
      : callback_context(call, destroy, object_kind::work, "work::stop_and_drain", where) {}

  native::work native = nullptr;
};

/// What a work is made of.
template <class F>
work_context* make_work_context(F&& callable, const std::source_location& where) {
  check_callable<F>();
  check_not_null<std::decay_t<F>>(callable);
  return new context_with_callable<work_context, std::decay_t<F>>(std::forward<F>(callable), where);
}

}  // namespace detail

/// A callback that runs once for each submission, on the threads of a pool.
///
/// The callback is any callable that takes no argument or a `callback_instance&`; what it returns is dropped. It may
/// be move-only. Several submissions may run at the same time, so a callable with state of its own has to protect it.
/// An exception that leaves the callback ends the process by std::terminate, with its message on the standard error
/// stream.
///
/// The destructor drains: it waits until every submission has run and returned, releases the native object, and then
/// destroys the callable, on the calling thread and outside every lock. Nothing is cancelled. So a `work` declared
/// after what its callback uses needs no further care, unless its callback submits it for ever: a submission is never
/// discarded, so that callback has to stop by itself.
///
/// An object that is drained by its own callback would wait for itself for ever. stop_and_drain(), wait_for_callbacks()
/// and cancel_pending() throw std::system_error (std::errc::resource_deadlock_would_occur) instead, and a destructor or
/// an assignment that would have to wait ends the process with a message that names the place where the object was
/// created. A callback that has called callback_instance::disassociate() may do all of this. What can not be seen is
/// a circle: two callbacks that each drain the other's object.
///
/// Thread safety: any thread may call any member function at any time, the object's own callbacks included, unless the
/// object itself is being assigned, moved or destroyed. What happened before submit() is visible to the callback it
/// leads to, and what a callback did is visible to whoever drained it. A moved-from work can be destroyed and assigned
/// to; any other use of it ends the process with a message.
///
/// Win32: PTP_WORK.
class work {
 public:
  /// Copies or moves `callable` into the object. `environment` is read now and not kept. `where` is named in messages
  /// about the object; left alone it is the place of the call, which for std::make_unique and the like lies in the
  /// standard library.
  ///
  /// Throws std::system_error when the system refuses, std::bad_alloc when there is no memory, and what copying or
  /// moving the callable throws. Costs one allocation beside the native object's own. Win32: CreateThreadpoolWork.
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, work>)
  explicit work(F&& callable, const callback_environment& environment = {},
                const std::source_location& where = std::source_location::current())
      : work(*detail::make_work_context(std::forward<F>(callable), where), environment) {}

  /// The object takes over the other's callback and submissions; running callbacks do not notice.
  work(work&& other) noexcept : context_(std::exchange(other.context_, nullptr)) {}

  /// Drains what the object held before, as the destructor does.
  work& operator=(work&& other) noexcept;

  work(const work&) = delete;
  work& operator=(const work&) = delete;

  /// Drains; see above. Blocks until all submissions have run.
  ~work();

  /// Has the callback run once more. Never fails, throws or allocates. Win32: SubmitThreadpoolWork.
  void submit() noexcept;

  /// Waits until every submission made so far has run and returned, those not yet started included. Submissions that
  /// others make meanwhile, the callback itself among them, may prolong the wait. Throws as described above when called by the object's own callback.
  /// Win32: WaitForThreadpoolWorkCallbacks(…, FALSE).
  void wait_for_callbacks();

  /// Drops the submissions that have not started and waits for those that are running, and for what others, the
  /// callback itself among them, submit meanwhile. Throws as described above when
  /// called by the object's own callback. Win32: WaitForThreadpoolWorkCallbacks(…, TRUE).
  void cancel_pending();

  /// The synchronous close, under the name that all callback sources share: afterwards nothing of the object is queued
  /// or running, and everything that was submitted before has run. The object can be submitted again. For work the same
  /// as wait_for_callbacks(). Throws as described above when called by the object's own callback.
  void stop_and_drain();

 private:
  friend struct detail::access;

  /// Takes over the context, also when it throws.
  work(detail::work_context& context, const callback_environment& environment);

  detail::work_context* context_;
};

}  // namespace tidepool
