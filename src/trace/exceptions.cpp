#include "trace/exceptions.hpp"

#include <atomic>

#include "trace/recorder.hpp"
#include "trace/thread_segment.hpp"

namespace tidepool::recorder {

namespace {

constinit std::atomic<bool> observed{false};  // relaxed: nothing is published by it

#ifdef _WIN32
LONG CALLBACK note_exception(EXCEPTION_POINTERS* what) noexcept {
  if (is_on(exception_category)) {
    const EXCEPTION_RECORD& record = *what->ExceptionRecord;
    write_exception(action::raised, what->ExceptionRecord, record.ExceptionCode,
                    reinterpret_cast<std::uintptr_t>(record.ExceptionAddress));
  }
  return EXCEPTION_CONTINUE_SEARCH;
}
#endif

}  // namespace

void write_exception(action which, const void* target, std::uint64_t first, std::uint64_t second) noexcept {
  const keep_last_error kept;
  const segment* const own = own_segment();
  if (own == nullptr) {
    // Not the thread's first record: to take a segment for good would allocate.
    write_shared(kind::exception, which, target, first, second);
  } else if (own->writing.load(std::memory_order_relaxed)) {
    lost.fetch_add(1, std::memory_order_relaxed);
  } else {
    write(kind::exception, which, target, first, second);
  }
}

void observe_exceptions() noexcept {
#ifdef _WIN32
  if (!observed.exchange(true, std::memory_order_relaxed)) {
    AddVectoredExceptionHandler(1, &note_exception);
  }
#endif
}

bool exceptions_are_observed() noexcept { return observed.load(std::memory_order_relaxed); }

void announce_observer() noexcept { observed.store(true, std::memory_order_relaxed); }

}  // namespace tidepool::recorder
