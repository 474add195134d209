// WinPR's implementation of the Win32 thread pool API.
#include <winpr/pool.h>

#include <cstddef>
#include <latch>
#include <memory>
#include <stdexcept>
#include <utility>

#include "../harness/closure.hpp"
#include "../harness/main.hpp"

namespace {

PTP_WORK create_work(PTP_WORK_CALLBACK callback, void* context, PTP_CALLBACK_ENVIRON environment) {
  PTP_WORK work = CreateThreadpoolWork(callback, context, environment);
  if (work == nullptr) {
    throw std::runtime_error("CreateThreadpoolWork failed");
  }
  return work;
}

class winpr_pool {
 public:
  static constexpr const char* name = "winpr";

  // A pool of WinPR 2 has four threads from the start and neither grows nor shrinks: the maximum is stored and
  // not looked at. To leave the number of workers that was asked for, the others are held in callbacks for good.
  explicit winpr_pool(const bench::setup& wanted)
      : surplus_(wanted.workers > 0 && wanted.workers < fixed_threads ? fixed_threads - wanted.workers : 0),
        held_(static_cast<std::ptrdiff_t>(surplus_)) {
    if (wanted.workers == 0) {
      return;  // the process's default pool, which takes a null environment: one without a pool is not understood
    }
    pool_ = CreateThreadpool(nullptr);
    if (pool_ == nullptr || !SetThreadpoolThreadMinimum(pool_, static_cast<DWORD>(wanted.workers))) {
      throw std::runtime_error("CreateThreadpool failed");
    }
    InitializeThreadpoolEnvironment(&environment_);
    SetThreadpoolCallbackPool(&environment_, pool_);
    for (std::size_t i = 0; i < surplus_; ++i) {
      SubmitThreadpoolWork(create_work(&winpr_pool::hold_thread, this, &environment_));
    }
    held_.wait();
  }

  ~winpr_pool() {
    release_.count_down();
    if (pool_ != nullptr) {
      CloseThreadpool(pool_);
    }
  }
  winpr_pool(const winpr_pool&) = delete;
  winpr_pool& operator=(const winpr_pool&) = delete;

  class session {
   public:
    explicit session(PTP_CALLBACK_ENVIRON environment) : environment_(environment) {}

    // TrySubmitThreadpoolCallback is not implemented: a closure takes a work object that closes itself.
    template <class F>
    void submit(F f) {
      SubmitThreadpoolWork(create_work(&run_once<F>, new F(std::move(f)), environment_));
    }
    template <class F>
    void submit_inside(F f) {
      submit(std::move(f));
    }

    template <class F>
    class handle {
     public:
      handle(F f, PTP_CALLBACK_ENVIRON environment)
          : f_(std::move(f)), work_(create_work(&handle::run, this, environment)) {}
      ~handle() { CloseThreadpoolWork(work_); }
      handle(const handle&) = delete;
      handle& operator=(const handle&) = delete;

      void submit() { SubmitThreadpoolWork(work_); }
      void submit_inside() { SubmitThreadpoolWork(work_); }

     private:
      static void run(PTP_CALLBACK_INSTANCE, void* self, PTP_WORK) { static_cast<handle*>(self)->f_(); }

      F f_;
      PTP_WORK work_;
    };
    template <class F>
    handle<F> repeat(F f, std::size_t) {
      return handle<F>(std::move(f), environment_);
    }

    template <class Wait>
    void wait(Wait for_callbacks) {
      for_callbacks();
    }

   private:
    template <class F>
    static void run_once(PTP_CALLBACK_INSTANCE, void* context, PTP_WORK work) {
      const std::unique_ptr<F> f(static_cast<F*>(context));
      (*f)();
      CloseThreadpoolWork(work);
    }

    PTP_CALLBACK_ENVIRON environment_;
  };

  template <class Body>
  void as_submitter(Body body) {
    session mine(pool_ != nullptr ? &environment_ : nullptr);
    body(mine);
  }

 private:
  static constexpr std::size_t fixed_threads = 4;

  static void hold_thread(PTP_CALLBACK_INSTANCE, void* context, PTP_WORK work) {
    auto* self = static_cast<winpr_pool*>(context);
    self->held_.count_down();
    self->release_.wait();
    CloseThreadpoolWork(work);
  }

  std::size_t surplus_;
  std::latch held_;
  std::latch release_{1};
  TP_CALLBACK_ENVIRON environment_{};
  PTP_POOL pool_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) { return bench::run<winpr_pool>(argc, argv); }
