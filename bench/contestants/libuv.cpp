// libuv: uv_queue_work. Only the thread of a loop may submit to it, so each submitting thread has a loop of its own,
// and what a callback submits is submitted for it by the loop when it hears that the callback is done. With
// BENCH_LIBUV_REARM, descriptors are watched anew for each callback.
#include <uv.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "../harness/closure.hpp"
#include "../harness/main.hpp"
#include "libuv_io.hpp"
#include "libuv_sources.hpp"

namespace {

struct job {
  uv_work_t request;
  bench::runnable* closure = nullptr;
  void (*dispose)(job*) = nullptr;  // for jobs that nobody keeps
  job* first_child = nullptr;       // what the callback submitted
  job* next_sibling = nullptr;
};

thread_local job* running = nullptr;

void run_job(uv_work_t* request) {
  running = static_cast<job*>(request->data);
  running->closure->run(running->closure);
}

void queue_job(uv_loop_t* loop, job* what);

void job_done(uv_work_t* request, int) {
  job* const done = static_cast<job*>(request->data);
  uv_loop_t* const loop = request->loop;
  job* child = std::exchange(done->first_child, nullptr);
  if (done->dispose != nullptr) {
    done->dispose(done);
  }
  while (child != nullptr) {
    job* const next = std::exchange(child->next_sibling, nullptr);
    queue_job(loop, child);
    child = next;
  }
}

void queue_job(uv_loop_t* loop, job* what) {
  what->request.data = what;
  if (uv_queue_work(loop, &what->request, &run_job, &job_done) != 0) {
    throw std::runtime_error("uv_queue_work failed");
  }
}

void queue_after_this_callback(job* child) {
  child->next_sibling = running->first_child;
  running->first_child = child;
}

#ifdef BENCH_LIBUV_REARM
constexpr const char* contestant_name = "libuv_rearm";
constexpr bool rearm = true;
#else
constexpr const char* contestant_name = "libuv";
constexpr bool rearm = false;
#endif

class libuv_pool {
 public:
  static constexpr const char* name = contestant_name;

  explicit libuv_pool(const bench::setup& wanted) {
    if (wanted.workers > 0) {
      setenv("UV_THREADPOOL_SIZE", std::to_string(wanted.workers).c_str(), 1);  // read at the first submission
    }
  }

  class session {
   public:
    session() {
      if (uv_loop_init(&loop_) != 0) {
        throw std::runtime_error("uv_loop_init failed");
      }
    }
    ~session() {
      uv_run(&loop_, UV_RUN_DEFAULT);
      uv_loop_close(&loop_);
    }
    session(const session&) = delete;
    session& operator=(const session&) = delete;

    template <class F>
    void submit(F f) {
      queue_job(&loop_, one_off_job(std::move(f)));
    }
    template <class F>
    void submit_inside(F f) {
      queue_after_this_callback(one_off_job(std::move(f)));
    }

    // A request can not be in the pool twice, so the handle owns one for each submission, made beforehand.
    template <class F>
    class handle {
     public:
      handle(session& mine, F f, std::size_t times) : mine_(mine), closure_(std::move(f)), jobs_(times) {
        for (job& each : jobs_) {
          each.closure = &closure_;
        }
      }
      handle(const handle&) = delete;
      handle& operator=(const handle&) = delete;

      void submit() { queue_job(&mine_.loop_, next()); }
      void submit_inside() { queue_after_this_callback(next()); }

     private:
      job* next() {
        job* const result = &jobs_[used_];
        used_ = used_ + 1 == jobs_.size() ? 0 : used_ + 1;
        return result;
      }

      session& mine_;
      bench::kept<F> closure_;
      std::vector<job> jobs_;
      std::size_t used_ = 0;
    };
    template <class F>
    handle<F> repeat(F f, std::size_t times) {
      return handle<F>(*this, std::move(f), times);
    }

    template <class Wait>
    void wait(Wait for_callbacks) {
      uv_run(&loop_, UV_RUN_DEFAULT);  // until every request has been reaped
      for_callbacks();
    }

   private:
    template <class F>
    static job* one_off_job(F f) {
      struct closure_job : job {
        explicit closure_job(F callable) : closure_in_place(std::move(callable)) {
          closure = &closure_in_place;
          dispose = [](job* self) { delete static_cast<closure_job*>(self); };
        }
        bench::kept<F> closure_in_place;
      };
      return new closure_job(std::move(f));
    }

    uv_loop_t loop_;
  };

  template <class Body>
  void as_submitter(Body body) {
    session mine;
    body(mine);
  }
};

}  // namespace

int main(int argc, char** argv) {
  return bench::run<libuv_pool, libuv_sources<rearm>, libuv_files, libuv_server>(argc, argv);
}
