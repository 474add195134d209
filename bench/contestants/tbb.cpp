// oneTBB: task_group::run in an arena that has a slot for each submitting thread beside its workers. The
// submitting thread sleeps while it waits instead of helping, so that the pool has its two workers and no third.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <cstddef>
#include <optional>
#include <utility>

#include "../harness/main.hpp"

namespace {

class tbb_pool {
 public:
  static constexpr const char* name = "tbb";

  explicit tbb_pool(const bench::setup& wanted) {
    if (wanted.workers > 0) {
      // The limit counts one submitting thread as a worker, whatever the number of submitters.
      limit_.emplace(tbb::global_control::max_allowed_parallelism, wanted.workers + 1);
      arena_.emplace(static_cast<int>(wanted.workers + wanted.submitters), static_cast<unsigned>(wanted.submitters));
    } else {
      arena_.emplace();
    }
  }

  class session {
   public:
    template <class F>
    void submit(F f) {
      group_.run(std::move(f));
    }
    template <class F>
    void submit_inside(F f) {
      group_.run(std::move(f));
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

    ~session() { group_.wait(); }  // the callbacks have run; a group insists on being asked

   private:
    tbb::task_group group_;
  };

  template <class Body>
  void as_submitter(Body body) {
    arena_->execute([&body] {
      session mine;
      body(mine);
    });
  }

 private:
  std::optional<tbb::global_control> limit_;
  std::optional<tbb::task_arena> arena_;
};

}  // namespace

int main(int argc, char** argv) { return bench::run<tbb_pool>(argc, argv); }
