// Small blocks of memory that one thread allocates and another frees, a few nanoseconds each.
#pragma once

#include <cstddef>
#include <cstdlib>

// Whether freed memory is kept for the next who asks, or goes back to the heap.
#if defined(__SANITIZE_ADDRESS__)
#define TIDEPOOL_BLOCK_CACHE 0  // so that a use after free is seen
#elif defined(_WIN32)
#define TIDEPOOL_BLOCK_CACHE 0  // MinGW's thread-local variables are slow, and gone before a thread's last destructors
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TIDEPOOL_BLOCK_CACHE 0
#endif
#endif
#ifndef TIDEPOOL_BLOCK_CACHE
#define TIDEPOOL_BLOCK_CACHE 1
#endif

namespace tidepool::support {

/// Blocks come in these sizes; what is larger goes to the heap.
inline constexpr std::size_t block_sizes[] = {32, 64, 128, 256};
inline constexpr std::size_t block_size_count = sizeof block_sizes / sizeof block_sizes[0];

namespace detail {

struct free_block_link {
  free_block_link* next;        // in the same batch
  free_block_link* next_batch;  // used in the first block of a batch, while it is in the depot
};

/// What a thread has at hand of one size. Full batches move to and from the depot, so that a thread that only
/// allocates and one that only frees meet there once per batch.
struct block_magazine {
  static constexpr unsigned batch = 64;

  free_block_link* loaded = nullptr;
  free_block_link* spare = nullptr;  // a full batch, or none
  unsigned loaded_count = 0;
};

struct block_magazines {
  block_magazine of[block_size_count];
};

/// Constant-initialised and trivially destructible: usable from any static or thread-local constructor or
/// destructor. A thread's exit empties it (block_cache.cpp) and marks it full for ever, so that what is freed
/// later takes the slow path, to the heap.
extern thread_local constinit block_magazines magazines_here
#if defined(__ELF__)
    __attribute__((tls_model("initial-exec")))
#endif
    ;

void* allocate_slowly(std::size_t size_class) noexcept;
void free_slowly(void* memory, std::size_t size_class) noexcept;

constexpr std::size_t class_of(std::size_t size) noexcept {
  std::size_t size_class = 0;
  while (size_class < block_size_count && block_sizes[size_class] < size) {
    ++size_class;
  }
  return size_class;
}

}  // namespace detail

/// Memory for `size` bytes, aligned for any type of fundamental alignment; null when there is none.
inline void* allocate_block(std::size_t size) noexcept {
#if TIDEPOOL_BLOCK_CACHE
  const std::size_t size_class = detail::class_of(size);
  if (size_class < block_size_count) {
    detail::block_magazine& magazine = detail::magazines_here.of[size_class];
    if (detail::free_block_link* const block = magazine.loaded) [[likely]] {
      magazine.loaded = block->next;
      --magazine.loaded_count;
      return block;
    }
    return detail::allocate_slowly(size_class);
  }
#endif
  return std::malloc(size);
}

/// Memory can be had in the child of a fork made after this, whatever the parent's threads were doing. Called before main, and
/// by whoever allocates with a lock held that is held in forks too: handlers of later calls run first.
#if TIDEPOOL_BLOCK_CACHE
void hold_block_caches_in_forks() noexcept;
#else
inline void hold_block_caches_in_forks() noexcept {}
#endif

/// Gives back what allocate_block(size) returned, on any thread.
inline void free_block(void* memory, [[maybe_unused]] std::size_t size) noexcept {
#if TIDEPOOL_BLOCK_CACHE
  const std::size_t size_class = detail::class_of(size);
  if (size_class < block_size_count) {
    detail::block_magazine& magazine = detail::magazines_here.of[size_class];
    if (magazine.loaded_count < detail::block_magazine::batch) [[likely]] {
      auto* const block = static_cast<detail::free_block_link*>(memory);
      block->next = magazine.loaded;
      magazine.loaded = block;
      ++magazine.loaded_count;
      return;
    }
    detail::free_slowly(memory, size_class);
    return;
  }
#endif
  std::free(memory);
}

}  // namespace tidepool::support
