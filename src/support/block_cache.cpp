#include "support/block_cache.hpp"

#if TIDEPOOL_BLOCK_CACHE

#include <pthread.h>
#include <sys/mman.h>

#include <cstdint>
#include <mutex>
#include <new>

namespace tidepool::support::detail {

constinit thread_local block_magazines magazines_here;

namespace {

/// Memory of the system for blocks of one size. At an address that is a multiple of its size, so that a block
/// tells where it belongs. Guarded by its depot's lock while it has one.
struct slab {
  static constexpr std::size_t size = std::size_t{64} << 10;

  slab* next = nullptr;
  slab* previous = nullptr;
  free_block_link* first_free = nullptr;
  std::size_t carved = 0;  // blocks that have been handed out at least once; the rest has never been touched
  std::size_t free = 0;    // of those, the ones that came back

  static slab& of(void* block) noexcept {
    return *reinterpret_cast<slab*>(reinterpret_cast<std::uintptr_t>(block) & ~(size - 1));
  }

  static constexpr std::size_t capacity(std::size_t block_size) noexcept { return (size - first_offset) / block_size; }

  [[nodiscard]] bool exhausted(std::size_t block_size) const noexcept {
    return first_free == nullptr && carved == capacity(block_size);
  }

  void* take(std::size_t block_size) noexcept {
    if (first_free != nullptr) {
      free_block_link* const block = first_free;
      first_free = block->next;
      --free;
      return block;
    }
    return reinterpret_cast<char*>(this) + first_offset + carved++ * block_size;
  }

  void give_back(free_block_link& block) noexcept {
    block.next = first_free;
    first_free = &block;
    ++free;
  }

 private:
  static constexpr std::size_t first_offset = 256;  // keeps every block size's natural alignment
};

/// Slabs without a block in use, for whatever size asks next.
class slab_store {
 public:
  slab* take() noexcept {
    {
      const std::lock_guard guard(mutex_);
      if (slab* const kept = first_) {
        first_ = kept->next;
        --count_;
        return ::new (kept) slab;
      }
    }
    return map();
  }

  void lock() noexcept { mutex_.lock(); }
  void unlock() noexcept { mutex_.unlock(); }

  void put(slab& empty) noexcept {
    {
      const std::lock_guard guard(mutex_);
      if (count_ < most_kept) {
        empty.next = first_;
        first_ = &empty;
        ++count_;
        return;
      }
    }
    munmap(&empty, slab::size);
  }

 private:
  /// Enough for the ups and downs of a queue, not for its highest tide.
  static constexpr std::size_t most_kept = (std::size_t{16} << 20) / slab::size;

  static slab* map() noexcept {
    // Twice as much as is needed holds an aligned slab; the rest goes back at once.
    void* const memory = mmap(nullptr, 2 * slab::size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      return nullptr;
    }
    char* const begin = static_cast<char*>(memory);
    const std::size_t before = -reinterpret_cast<std::uintptr_t>(memory) & (slab::size - 1);
    if (before != 0) {
      munmap(begin, before);
    }
    munmap(begin + before + slab::size, slab::size - before);
    char* const aligned = begin + before;
    madvise(aligned, slab::size, MADV_POPULATE_WRITE);  // one call instead of a page fault each; may be unknown
    return ::new (aligned) slab;
  }

  std::mutex mutex_;
  slab* first_ = nullptr;
  std::size_t count_ = 0;
};

// These are constant-initialised and without a destructor that does anything: usable as long as the process runs.
constinit slab_store store;

/// The blocks of one size that no thread has at hand: full batches for the next thread that runs out, and slabs
/// that the batches are made from and dissolved into. The lock is taken once per batch.
class depot {
 public:
  /// A chain of blocks, of `batch` unless memory is short; null when there is none.
  free_block_link* take_batch(std::size_t block_size) noexcept {
    {
      const std::lock_guard guard(mutex_);
      if (free_block_link* const full = first_batch_) {
        first_batch_ = full->next_batch;
        --batches_;
        return full;
      }
    }
    return take_from_slabs(block_magazine::batch, block_size);
  }

  /// A chain of `wanted` blocks, or of fewer; null when there is no memory.
  free_block_link* take_from_slabs(std::size_t wanted, std::size_t block_size) noexcept {
    free_block_link* chain = nullptr;
    std::unique_lock lock(mutex_);
    while (wanted != 0) {
      if (first_slab_ == nullptr) {
        lock.unlock();
        slab* const fresh = store.take();
        lock.lock();
        if (fresh == nullptr) {
          break;
        }
        link(*fresh);
      }
      slab& from = *first_slab_;
      do {
        chain = ::new (from.take(block_size)) free_block_link{chain, nullptr};
        --wanted;
      } while (wanted != 0 && !from.exhausted(block_size));
      if (from.exhausted(block_size)) {
        unlink(from);
      }
    }
    return chain;
  }

  void lock() noexcept { mutex_.lock(); }
  void unlock() noexcept { mutex_.unlock(); }

  void put_batch(free_block_link& full, std::size_t block_size) noexcept {
    {
      const std::lock_guard guard(mutex_);
      if (batches_ < most_batches) {
        full.next_batch = first_batch_;
        first_batch_ = &full;
        ++batches_;
        return;
      }
    }
    dissolve(&full, block_size);
  }

  void dissolve(free_block_link* chain, std::size_t block_size) noexcept {
    slab* emptied = nullptr;
    {
      const std::lock_guard guard(mutex_);
      while (chain != nullptr) {
        free_block_link& block = *chain;
        chain = block.next;
        slab& home = slab::of(&block);
        if (home.exhausted(block_size)) {
          link(home);
        }
        home.give_back(block);
        if (home.free == home.carved) {
          unlink(home);
          home.next = emptied;
          emptied = &home;
        }
      }
    }
    while (emptied != nullptr) {
      slab& each = *emptied;
      emptied = each.next;
      store.put(each);
    }
  }

 private:
  /// Few: what is in a batch keeps its slab from becoming empty.
  static constexpr std::size_t most_batches = 16;

  void link(slab& partial) noexcept {
    partial.previous = nullptr;
    partial.next = first_slab_;
    if (first_slab_ != nullptr) {
      first_slab_->previous = &partial;
    }
    first_slab_ = &partial;
  }

  void unlink(slab& partial) noexcept {
    (partial.previous != nullptr ? partial.previous->next : first_slab_) = partial.next;
    if (partial.next != nullptr) {
      partial.next->previous = partial.previous;
    }
  }

  std::mutex mutex_;
  free_block_link* first_batch_ = nullptr;
  std::size_t batches_ = 0;
  slab* first_slab_ = nullptr;  // those with a block to give
};

constinit depot depots[block_size_count];

void unlock_all() noexcept {
  store.unlock();
  for (depot& each : depots) {
    each.unlock();
  }
}

[[maybe_unused]] const bool held_in_forks = (hold_block_caches_in_forks(), true);

/// Empties the thread's magazines when it ends.
struct at_thread_exit {
  at_thread_exit() noexcept = default;
  at_thread_exit(const at_thread_exit&) = delete;
  at_thread_exit& operator=(const at_thread_exit&) = delete;
  ~at_thread_exit() {
    for (std::size_t size_class = 0; size_class < block_size_count; ++size_class) {
      block_magazine& magazine = magazines_here.of[size_class];
      depots[size_class].dissolve(magazine.spare, block_sizes[size_class]);
      depots[size_class].dissolve(magazine.loaded, block_sizes[size_class]);
      magazine = {nullptr, nullptr, closed};
    }
  }

  /// A count no magazine reaches, and that makes every allocation and release take the slow path.
  static constexpr unsigned closed = block_magazine::batch + 1;
};

/// Whether this thread keeps blocks; arranges for its exit on the first call.
bool keeps_blocks(const block_magazine& magazine) noexcept {
  if (magazine.loaded_count == at_thread_exit::closed) {
    return false;
  }
  static thread_local at_thread_exit hook;
  (void)hook;
  return true;
}

}  // namespace

void* allocate_slowly(std::size_t size_class) noexcept {
  block_magazine& magazine = magazines_here.of[size_class];
  if (!keeps_blocks(magazine)) {
    return depots[size_class].take_from_slabs(1, block_sizes[size_class]);
  }
  free_block_link* chain = magazine.spare;
  magazine.spare = nullptr;
  if (chain == nullptr) {
    chain = depots[size_class].take_batch(block_sizes[size_class]);
    if (chain == nullptr) {
      return nullptr;
    }
  }
  magazine.loaded = chain->next;
  magazine.loaded_count = block_magazine::batch - 1;  // when memory is short it is fewer: nothing relies on more
  return chain;
}

void free_slowly(void* memory, std::size_t size_class) noexcept {
  block_magazine& magazine = magazines_here.of[size_class];
  auto* const block = ::new (memory) free_block_link{nullptr, nullptr};
  if (!keeps_blocks(magazine)) {
    depots[size_class].dissolve(block, block_sizes[size_class]);
    return;
  }
  // The loaded batch is full: it becomes the spare one, and a spare one that was there goes to the depot.
  free_block_link* const full = magazine.spare;
  magazine.spare = magazine.loaded;
  magazine.loaded = block;
  magazine.loaded_count = 1;
  if (full != nullptr) {
    depots[size_class].put_batch(*full, block_sizes[size_class]);
  }
}

}  // namespace tidepool::support::detail

void tidepool::support::hold_block_caches_in_forks() noexcept {
  [[maybe_unused]] static const int held = pthread_atfork(
      [] {
        for (detail::depot& each : detail::depots) {
          each.lock();
        }
        detail::store.lock();
      },
      detail::unlock_all, detail::unlock_all);
}

#endif
