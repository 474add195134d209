#include "tidepool/io.hpp"

#include <new>

#include "io_context.hpp"
#include "last_error.hpp"
#include "native_environment.hpp"
#include "requests.hpp"
#include "support/block_cache.hpp"
#include "teardown/context_lifetime.hpp"
#include "teardown/fail_fast.hpp"
#include "teardown/obligation.hpp"
#include "teardown/run_callback.hpp"
#include "teardown/self_drain.hpp"
#include "tidepool/unsafe_submit.hpp"
#include "trace/traced.hpp"

namespace tidepool {

namespace {

using detail::io_context;
using detail::issued;
using detail::operation_base;
using detail::operation_state;
using detail::outcome;
using detail::request_table;

constexpr const char* moved_from = "an io was used after it had been moved from";

HANDLE handle_of(const io_context& self) noexcept { return detail::access::handle_of(self); }

/// Whoever has a request lets go of it only from where it is.
void hand_over(operation_base& request, operation_state from, operation_state to) noexcept {
  if (request.state != from) [[unlikely]] {
    fail_fast("a request has been handed over twice, or came back twice");
  }
  request.state = to;
}

// ---- cancelling ----------------------------------------------------------------------------------------

bool is_cancelled(const io_context& self, const request_table::slot& slot) noexcept {
  return slot.cancelled || slot.cancellations != self.cancel_all;
}

/// Under the lock, so that the request is not deregistered, and its memory used for another, in between.
void ask_to_cancel(io_context& self, const request_table::slot& slot) noexcept {
  TRACED(CancelIoEx)(handle_of(self), reinterpret_cast<OVERLAPPED*>(slot.request->overlapped));
}

/// `first` is called under the lock, with the cancellation one step for those who start requests.
template <class First>
void cancel_everything(io_context& self, First first) noexcept {
  recorder::note_of<recorder::action::cancel>(self);
  {
    const std::lock_guard guard(self.mutex);
    first();
    ++self.cancel_all;
    self.cancellations.fetch_add(1, std::memory_order_seq_cst);  // see hand_to_system
  }
  TRACED(CancelIoEx)(handle_of(self), nullptr);
}

// ---- starting ------------------------------------------------------------------------------------------

/// What a request is called while the thread that has just handed it over may no longer look at it.
struct registered {
  operation_id id;
  std::uint64_t cancellations = 0;  // of the io, by then
};

/// `slot` is that of a request which is about to be handed over. Under the lock.
registered note(const io_context& self, const request_table::slot& slot) noexcept {
  // Relaxed: it is written under the lock.
  return {detail::access::make_id(slot.request->slot, slot.generation),
          self.cancellations.load(std::memory_order_relaxed)};
}

/// When it returns `pending` the request may be over, and gone.
issued hand_to_system(io_context& self, operation_base& request, const registered& name) noexcept {
  hand_over(request, operation_state::registered, operation_state::with_the_system);
  auto* const overlapped = ::new (static_cast<void*>(request.overlapped)) OVERLAPPED{};
  const issued result = request.functions->issue(request, self, overlapped);
  // A cancellation that came after the registration may have found no request in the system yet. Whoever cancels counts
  // first and looks then, here it is the other way round, and both sides go through the system's own lock: either that
  // one finds the request, or this one finds the count changed.
  if (result.pending && self.cancellations.load(std::memory_order_seq_cst) != name.cancellations) [[unlikely]] {
    const std::lock_guard guard(self.mutex);
    const request_table::slot* const slot =
        self.requests.find(detail::access::slot_of(name.id), detail::access::generation_of(name.id));
    if (slot != nullptr && is_cancelled(self, *slot)) {
      ask_to_cancel(self, *slot);
    }
  }
  return result;
}

/// There will be no completion, so the handler runs by way of the work object. One step with the lowering of the count,
/// so that whoever runs the io down finds either the request or the submission.
void complete_without_system(io_context& self, operation_base& request, const outcome& how) noexcept {
  hand_over(request, operation_state::with_the_system, operation_state::over);
  request.at_once = how;
  const std::lock_guard guard(self.mutex);
  self.requests.remove(request);
  self.over.push(request);
  TRACED(CancelThreadpoolIo)(self.native);
  TRACED(SubmitThreadpoolWork)(self.at_once);
}

// ---- completing ----------------------------------------------------------------------------------------

/// A part of the request is over. Returns true if the next one is with the system; otherwise the request is over, and
/// `how` says how. It stays registered in between: its memory is not given back, and its name keeps its meaning.
bool goes_on(io_context& self, operation_base& request, outcome& how) noexcept {
  const auto advance = request.functions->advance;
  while (advance != nullptr && advance(request, how)) {
    registered name;
    bool cancelled;
    {
      const std::lock_guard guard(self.mutex);
      const request_table::slot& slot = self.requests.of(request);
      name = note(self, slot);
      cancelled = is_cancelled(self, slot);
    }
    if (cancelled) {
      how = {ERROR_OPERATION_ABORTED, 0};
      continue;
    }
    hand_over(request, operation_state::over, operation_state::registered);
    TRACED(StartThreadpoolIo)(self.native);  // in place of the one that this completion has balanced
    const issued result = hand_to_system(self, request, name);
    if (result.pending) {
      return true;
    }
    TRACED(CancelThreadpoolIo)(self.native);
    hand_over(request, operation_state::with_the_system, operation_state::over);
    how = result.how;
  }
  return false;
}

/// noexcept: an exception that leaves the handler ends the process.
void run_handler(io_context& self, PTP_CALLBACK_INSTANCE instance, operation_base& request,
                 const outcome& how) noexcept {
  detail::callback_frame frame(instance, &self);
  recorder::note<recorder::kind::io, recorder::action::request_end>(&self, reinterpret_cast<std::uintptr_t>(&request),
                                                                    recorder::outcome_of(how.error, how.bytes));
  call_in_frame(frame, [&] {
    hand_over(request, operation_state::over, operation_state::owned);
    request.functions->complete(request, frame, how);
  });
  pop_callback(frame);
}

/// Every completion begins here.
void CALLBACK run(PTP_CALLBACK_INSTANCE instance, PVOID context, PVOID overlapped, ULONG error, ULONG_PTR bytes,
                  PTP_IO) noexcept {
  auto& self = static_cast<io_context&>(*static_cast<detail::callback_context*>(context));
  auto& request = *reinterpret_cast<operation_base*>(overlapped);
  hand_over(request, operation_state::with_the_system, operation_state::over);
  outcome how{error, bytes};
  if (goes_on(self, request, how)) {
    return;
  }
  {
    const std::lock_guard guard(self.mutex);
    self.requests.remove(request);
  }
  run_handler(self, instance, request, how);
}

/// And here, what the system has no completion for.
void CALLBACK run_at_once(PTP_CALLBACK_INSTANCE instance, PVOID context, PTP_WORK) noexcept {
  auto& self = static_cast<io_context&>(*static_cast<detail::callback_context*>(context));
  operation_base* request;
  {
    const std::lock_guard guard(self.mutex);
    request = &self.over.pop();
  }
  run_handler(self, instance, *request, request->at_once);
}

// ---- the end -------------------------------------------------------------------------------------------

/// Requests that were counted before the waits have been started natively too, and are covered by the first, as are the
/// calls that started them; what runs without a completion by the second. If none has been started since, nothing is
/// left.
void run_out(io_context& self, bool cancelled) noexcept {
  recorder::note_of<recorder::action::drain_begin>(self, cancelled ? 1 : 0);
  while (true) {
    std::uint64_t before;
    {
      const std::lock_guard guard(self.mutex);
      before = self.started;
    }
    TRACED(WaitForThreadpoolIoCallbacks)(self.native, FALSE);
    TRACED(WaitForThreadpoolWorkCallbacks)(self.at_once, FALSE);
    const std::lock_guard guard(self.mutex);
    if (self.started == before && self.requests.size() == 0) {
      settle_drain(self);
      break;
    }
  }
  recorder::note_of<recorder::action::drain_end>(self);
}

void cancel_and_run_out(io_context& self) noexcept {
  fail_fast_on_self_drain(self);
  recorder::note_of<recorder::action::destroy_begin>(self);
  const bool owed = owes_drain(self);
  cancel_everything(self, [&]() noexcept { self.ended = true; });
  run_out(self, true);
  if (owed) {
    report_owed_drain(self);
  }
}

void release(io_context& self) noexcept {
  TRACED(CloseThreadpoolIo)(self.native);
  TRACED(CloseThreadpoolWork)(self.at_once);
  detail::access::close(self.file);
  recorder::note_of<recorder::action::closed>(self);
  give_back(self);
}

/// The body of the assignment and of the destructor. Handlers that use the object find the old context until they are
/// over.
void replace(io_context*& held, io_context* with) noexcept {
  if (held != nullptr) {
    cancel_and_run_out(*held);
  }
  io_context* const before = std::exchange(held, with);
  if (before != nullptr) {
    release(*before);
  }
}

}  // namespace

// ---- the object ----------------------------------------------------------------------------------------

io::io(endpoint file, const callback_environment& environment, const std::source_location& where) : context_(nullptr) {
  require_not_moved_from(detail::access::handle_of(file), "an io was given an endpoint that holds nothing");
  auto& self = *new io_context(std::move(file), where);
  self.pool = detail::access::pool_of(environment);
  self.library = detail::access::library_of(environment);
  TP_CALLBACK_ENVIRON_V3 native = *native_for_creation(environment);
  SetThreadpoolCallbackCleanupGroup(&native, nullptr, nullptr);
  const auto context = static_cast<detail::callback_context*>(&self);
  self.at_once = TRACED(CreateThreadpoolWork)(&run_at_once, context, &native);
  const char* refused = self.at_once == nullptr ? "CreateThreadpoolWork" : "CreateThreadpoolIo";
  if (self.at_once != nullptr) {
    self.native = TRACED(CreateThreadpoolIo)(handle_of(self), &run, context, &native);
  }
  if (self.native == nullptr) {
    const DWORD error = GetLastError();
    if (self.at_once != nullptr) {
      TRACED(CloseThreadpoolWork)(self.at_once);
    }
    give_back(self);
    throw std::system_error(win32_error(error), refused);
  }
  recorder::note_site_of<recorder::action::created>(self);
  context_ = &self;
}

io& io::operator=(io&& other) noexcept {
  if (this != &other) {
    replace(context_, std::exchange(other.context_, nullptr));
  }
  return *this;
}

io::~io() { replace(context_, nullptr); }

operation_id io::start_request(detail::operation_base& what) {
  require_not_moved_from(context_, moved_from);
  io_context& self = *context_;
  registered name;
  const bool in_handler = runs_on_this_thread(self);  // which is waited for
  {
    std::unique_lock lock(self.mutex);
    if (self.ended || (self.drains != 0 && in_handler)) {
      lock.unlock();
      what.functions->discard(what);
      return {};
    }
    request_table::slot& slot = self.requests.add(what);
    owe_drain(self);
    hand_over(what, operation_state::owned, operation_state::registered);
    slot.cancellations = self.cancel_all;
    ++self.started;
    name = note(self, slot);
    TRACED(StartThreadpoolIo)(self.native);
    if (!in_handler) {
      // Once more, for this call: the request may be over before it returns, and whoever ends the io then waits for it.
      TRACED(StartThreadpoolIo)(self.native);
    }
  }
  recorder::note_of<recorder::action::request_begin>(self, reinterpret_cast<std::uintptr_t>(&what));
  if (const issued result = hand_to_system(self, what, name); !result.pending) {
    complete_without_system(self, what, result.how);
  }
  if (!in_handler) {
    TRACED(CancelThreadpoolIo)(self.native);  // the io may be gone from here on
  }
  return name.id;
}

bool io::cancel(operation_id id) noexcept {
  require_not_moved_from(context_, moved_from);
  recorder::note_of<recorder::action::cancel>(*context_);
  const std::lock_guard guard(context_->mutex);
  request_table::slot* const slot =
      context_->requests.find(detail::access::slot_of(id), detail::access::generation_of(id));
  if (slot == nullptr) {
    return false;
  }
  slot->cancelled = true;
  context_->cancellations.fetch_add(1, std::memory_order_seq_cst);  // see hand_to_system
  ask_to_cancel(*context_, *slot);
  return true;
}

void io::cancel_all() noexcept {
  require_not_moved_from(context_, moved_from);
  cancel_everything(*context_, []() noexcept {});
}

std::size_t io::outstanding() const noexcept {
  require_not_moved_from(context_, moved_from);
  const std::lock_guard guard(context_->mutex);
  return context_->requests.size();
}

void io::run_down() {
  require_not_moved_from(context_, moved_from);
  refuse_self_drain(*context_, "io::run_down");
  run_out(*context_, false);
}

void io::stop_and_drain() {
  require_not_moved_from(context_, moved_from);
  io_context& self = *context_;
  refuse_self_drain(self, "io::stop_and_drain");
  cancel_everything(self, [&]() noexcept { ++self.drains; });
  run_out(self, true);
  const std::lock_guard guard(self.mutex);
  --self.drains;
}

std::error_code io::shutdown_send() noexcept {
  require_not_moved_from(context_, moved_from);
  if (context_->file.kind() != endpoint_kind::socket) {
    return win32_error(ERROR_NOT_SUPPORTED);
  }
  if (context_->unconnected.load(std::memory_order_relaxed)) {
    return win32_error(WSAENOTCONN);
  }
  const std::uint32_t error = system::stop_sending(handle_of(*context_));
  if (error == ERROR_SUCCESS) {
    context_->silent.store(true, std::memory_order_relaxed);
  }
  return win32_error(error);
}

}  // namespace tidepool

namespace tidepool::detail {

native::handle access::handle_of(const io_context& of) noexcept { return handle_of(of.file); }

native::io access::native_of(const io& of) noexcept { return of.context_ != nullptr ? of.context_->native : nullptr; }

bool access::owes_drain(const io& of) noexcept { return tidepool::owes_drain(*of.context_); }

operation_id access::start(io& on, operation_base& what) { return on.start_request(what); }

operation_id access::make_id(std::uint32_t slot, std::uint64_t generation) noexcept { return {slot, generation}; }

std::uint32_t access::slot_of(const operation_id& of) noexcept { return of.slot_; }

std::uint64_t access::generation_of(const operation_id& of) noexcept { return of.generation_; }

void* allocate_operation(std::size_t size, std::size_t alignment) {
  if (alignment > alignof(std::max_align_t)) {
    return ::operator new(size, std::align_val_t(alignment));
  }
  void* const block = support::allocate_block(size);
  if (block == nullptr) {
    throw std::bad_alloc();
  }
  return block;
}

void free_operation(void* memory, std::size_t size, std::size_t alignment) noexcept {
  if (alignment > alignof(std::max_align_t)) {
    ::operator delete(memory, size, std::align_val_t(alignment));
  } else {
    support::free_block(memory, size);
  }
}

void fail_without_storage() noexcept { fail_fast("an operation was submitted after it had been moved from"); }

static_assert(sizeof(OVERLAPPED) == overlapped_size);
static_assert(alignof(OVERLAPPED) <= alignof(void*));

}  // namespace tidepool::detail
