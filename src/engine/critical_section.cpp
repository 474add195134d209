// Critical sections: recursive locks that live in the caller's memory.
#include <atomic>
#include <cstdint>
#include <new>

#include "engine/assertion.hpp"
#include "engine/blocking_region.hpp"
#include "engine/futex.hpp"
#include "engine/thread_record.hpp"
#include "tidepool/win32/synchapi.h"

namespace {

using namespace tidepool::engine;

/// What is inside a CRITICAL_SECTION.
class critical_section {
 public:
  explicit critical_section(DWORD spin_count) noexcept : spin_count_(spin_count) {}

  static critical_section& in(LPCRITICAL_SECTION memory) noexcept {
    return *std::launder(reinterpret_cast<critical_section*>(memory));
  }

  void enter() noexcept {
    if (!try_enter()) {
      enter_slow();
      own();
    }
  }

  [[nodiscard]] bool try_enter() noexcept {
    // Relaxed: only this thread can have stored its own identity, and it sees its own stores.
    if (owner_.load(std::memory_order_relaxed) == &thread_record::current()) {
      ++recursion_;
      return true;
    }
    if (!try_lock()) {
      return false;
    }
    own();
    return true;
  }

  void leave() noexcept {
    TIDEPOOL_ASSERT(owner_.load(std::memory_order_relaxed) == &thread_record::current());
    if (--recursion_ != 0) {
      return;
    }
    owner_.store(nullptr, std::memory_order_relaxed);
    // Release: pairs with the acquire of the next try_lock() or enter_slow(). From here on another thread may enter,
    // leave and delete the section; waking uses only the address.
    if (word_.exchange(unlocked, std::memory_order_release) == contended) {
      futex_wake(word_, 1);
    }
  }

  /// Relaxed: a hint about how long to try.
  DWORD set_spin_count(DWORD spin_count) noexcept {
    return spin_count_.exchange(spin_count, std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint32_t unlocked = 0;
  static constexpr std::uint32_t locked = 1;
  static constexpr std::uint32_t contended = 2;  // locked, and somebody may sleep

  [[nodiscard]] bool try_lock() noexcept {
    std::uint32_t expected = unlocked;
    // Acquire: pairs with the release in leave().
    return word_.compare_exchange_strong(expected, locked, std::memory_order_acquire, std::memory_order_relaxed);
  }

  void own() noexcept {
    owner_.store(&thread_record::current(), std::memory_order_relaxed);
    recursion_ = 1;
  }

  void enter_slow() noexcept {
    for (DWORD spin = spin_count_.load(std::memory_order_relaxed); spin != 0; --spin) {
      if (word_.load(std::memory_order_relaxed) == unlocked && try_lock()) {
        return;
      }
      cpu_pause();
    }
    // Whoever sleeps assumes that others do too, so that the word becomes `contended` also when the lock is taken.
    // Acquire: pairs with the release in leave().
    if (word_.exchange(contended, std::memory_order_acquire) == unlocked) {
      return;
    }
    const blocking_region region;
    do {
      futex_wait(word_, contended);
    } while (word_.exchange(contended, std::memory_order_acquire) != unlocked);
  }

  std::atomic<std::uint32_t> word_{unlocked};
  std::atomic<DWORD> spin_count_;
  std::uint64_t recursion_ = 0;  // used by the owner alone
  std::atomic<const thread_record*> owner_{nullptr};
};

static_assert(sizeof(critical_section) <= sizeof(CRITICAL_SECTION));
static_assert(alignof(critical_section) <= alignof(CRITICAL_SECTION));

// What a short critical section is worth waiting for, compared with going to sleep.
constexpr DWORD default_spin_count = 100;

// The upper bits of a spin count are flags of other systems.
constexpr DWORD spin_count_mask = 0x00FFFFFF;

}  // namespace

VOID InitializeCriticalSection(LPCRITICAL_SECTION section) noexcept {
  new (section) critical_section{default_spin_count};
}

BOOL InitializeCriticalSectionAndSpinCount(LPCRITICAL_SECTION section, DWORD spin_count) noexcept {
  new (section) critical_section{spin_count & spin_count_mask};
  return TRUE;
}

BOOL InitializeCriticalSectionEx(LPCRITICAL_SECTION section, DWORD spin_count, DWORD /*flags*/) noexcept {
  return InitializeCriticalSectionAndSpinCount(section, spin_count);
}

DWORD SetCriticalSectionSpinCount(LPCRITICAL_SECTION section, DWORD spin_count) noexcept {
  return critical_section::in(section).set_spin_count(spin_count & spin_count_mask);
}

VOID EnterCriticalSection(LPCRITICAL_SECTION section) noexcept { critical_section::in(section).enter(); }

BOOL TryEnterCriticalSection(LPCRITICAL_SECTION section) noexcept { return critical_section::in(section).try_enter(); }

VOID LeaveCriticalSection(LPCRITICAL_SECTION section) noexcept { critical_section::in(section).leave(); }

VOID DeleteCriticalSection(LPCRITICAL_SECTION section) noexcept { critical_section::in(section).~critical_section(); }
