// GLib's GThreadPool: exclusive with its threads started at once, or (without a number of workers) unlimited.
#include <glib.h>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <utility>

#include "../harness/closure.hpp"
#include "../harness/main.hpp"

namespace {

class glib_pool {
 public:
  static constexpr const char* name = "glib";

  explicit glib_pool(const bench::setup& wanted)
      : pool_(wanted.workers > 0
                  ? g_thread_pool_new(&glib_pool::run, nullptr, static_cast<gint>(wanted.workers), TRUE, nullptr)
                  : g_thread_pool_new(&glib_pool::run, nullptr, -1, FALSE, nullptr)) {
    if (pool_ == nullptr) {
      throw std::runtime_error("g_thread_pool_new failed");
    }
  }
  ~glib_pool() { g_thread_pool_free(pool_, FALSE, TRUE); }
  glib_pool(const glib_pool&) = delete;
  glib_pool& operator=(const glib_pool&) = delete;

  class session {
   public:
    explicit session(GThreadPool* pool) : pool_(pool) {}

    template <class F>
    void submit(F f) {
      g_thread_pool_push(pool_, static_cast<bench::runnable*>(new bench::one_off<F>(std::move(f))), nullptr);
    }
    template <class F>
    void submit_inside(F f) {
      submit(std::move(f));
    }

    template <class F>
    struct handle {
      GThreadPool* pool;
      bench::kept<F> closure;
      void submit() { g_thread_pool_push(pool, static_cast<bench::runnable*>(&closure), nullptr); }
      void submit_inside() { submit(); }
    };
    template <class F>
    handle<F> repeat(F f, std::size_t) {
      return {pool_, bench::kept<F>(std::move(f))};
    }

    template <class Wait>
    void wait(Wait for_callbacks) {
      for_callbacks();
    }

   private:
    GThreadPool* pool_;
  };

  template <class Body>
  void as_submitter(Body body) {
    session mine(pool_);
    body(mine);
  }

 private:
  static void run(gpointer data, gpointer) {
    auto* closure = static_cast<bench::runnable*>(data);
    closure->run(closure);
  }

  GThreadPool* pool_;
};

}  // namespace

int main(int argc, char** argv) { return bench::run<glib_pool>(argc, argv); }
