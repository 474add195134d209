#include "allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

#include "sanitizers.hpp"

namespace safe {

namespace {

// Constant-initialised: the first allocation comes before everything.
constinit std::atomic<std::size_t> of_all_threads = 0;
constinit thread_local std::size_t of_this_thread = 0;
constinit std::atomic<std::size_t> largest_seen = 0;

[[maybe_unused]] void note(std::size_t size) {
  of_all_threads.fetch_add(1, std::memory_order_relaxed);
  ++of_this_thread;
  std::size_t largest = largest_seen.load(std::memory_order_relaxed);
  while (largest < size && !largest_seen.compare_exchange_weak(largest, size, std::memory_order_relaxed)) {
  }
}

std::size_t seen(allocation_count::of whose) {
  return whose == allocation_count::of::this_thread ? of_this_thread : of_all_threads.load(std::memory_order_relaxed);
}

}  // namespace

allocation_count::allocation_count(of whose) : whose_(whose), before_(seen(whose)) { largest_seen = 0; }

std::size_t allocation_count::count() const { return seen(whose_) - before_; }

std::size_t allocation_count::largest() const { return largest_seen; }

}  // namespace safe

#if !TIDEPOOL_TEST_UNDER_SANITIZER && defined(__GLIBC__)

// The C library's own entry points stay reachable under these names. operator new goes through malloc.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t number, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  safe::note(size);
  return __libc_malloc(size);
}
void* calloc(std::size_t number, std::size_t size) {
  safe::note(number * size);
  return __libc_calloc(number, size);
}
void* realloc(void* block, std::size_t size) {
  safe::note(size);
  return __libc_realloc(block, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  safe::note(size);
  return __libc_memalign(alignment, size);
}
}

#elif !TIDEPOOL_TEST_UNDER_SANITIZER

void* operator new(std::size_t size) {
  safe::note(size);
  if (void* const block = std::malloc(size != 0 ? size : 1)) {
    return block;
  }
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  safe::note(size);
  return std::malloc(size != 0 ? size : 1);
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }

#endif
