// asio::thread_pool. With BENCH_ASIO_DEFER, callbacks submit with the relationship "continuation" (asio::defer),
// which keeps the closure on the worker's private queue until the callback returns; otherwise as asio::post does. With
// BENCH_ASIO_TUNED, timers bring the memory that arming takes, and share one look at the clock.
#include <asio/execution.hpp>
#include <asio/prefer.hpp>
#include <asio/require.hpp>
#include <asio/thread_pool.hpp>

#include <cstddef>
#include <memory>
#include <utility>

#include "../harness/main.hpp"
#include "asio_server.hpp"
#include "asio_sources.hpp"

namespace {

namespace execution = asio::execution;

#ifdef BENCH_ASIO_DEFER
constexpr const char* contestant_name = "asio_defer";
constexpr auto relationship_inside = execution::relationship.continuation;
#else
constexpr auto relationship_inside = execution::relationship.fork;
#ifdef BENCH_ASIO_TUNED
constexpr const char* contestant_name = "asio_tuned";
constexpr bool tuned = true;
#else
constexpr const char* contestant_name = "asio";
constexpr bool tuned = false;
#endif
#endif

// What asio::post (fork) and asio::defer (continuation) ask of the executor, asked once instead of each time.
template <class Relationship>
auto executor_of(asio::thread_pool& pool, Relationship relationship) {
  return asio::prefer(asio::require(pool.get_executor(), execution::blocking.never), relationship);
}

class asio_pool {
 public:
  static constexpr const char* name = contestant_name;

  explicit asio_pool(const bench::setup& wanted)
      : pool_(wanted.workers > 0 ? std::make_unique<asio::thread_pool>(wanted.workers)
                                 : std::make_unique<asio::thread_pool>()) {}

  ~asio_pool() { pool_->join(); }

  class session {
   public:
    explicit session(asio::thread_pool& pool)
        : outside_(executor_of(pool, execution::relationship.fork)), inside_(executor_of(pool, relationship_inside)) {}

    template <class F>
    void submit(F f) {
      execution::execute(outside_, std::move(f));
    }
    template <class F>
    void submit_inside(F f) {
      execution::execute(inside_, std::move(f));
    }

    template <class F>
    struct handle {
      session& mine;
      F f;
      void submit() { mine.submit(f); }
      void submit_inside() { mine.submit_inside(f); }
    };
    template <class F>
    handle<F> repeat(F f, std::size_t) {
      return {*this, std::move(f)};
    }

    template <class Wait>
    void wait(Wait for_callbacks) {
      for_callbacks();
    }

   private:
    asio::thread_pool::executor_type outside_;
    asio::thread_pool::executor_type inside_;
  };

  template <class Body>
  void as_submitter(Body body) {
    session mine(*pool_);
    body(mine);
  }

  asio::thread_pool& native() { return *pool_; }

 private:
  std::unique_ptr<asio::thread_pool> pool_;
};

}  // namespace

#ifdef BENCH_ASIO_DEFER
int main(int argc, char** argv) { return bench::run<asio_pool>(argc, argv); }
#else
int main(int argc, char** argv) {
  return bench::run<asio_pool, asio_sources<asio_pool, tuned>, bench::none, asio_server>(argc, argv);
}
#endif
