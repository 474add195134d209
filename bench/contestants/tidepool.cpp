// tidepool, through its safe layer.
#include <tidepool/tidepool.hpp>

#include <cstdint>
#include <optional>
#include <utility>

#include "../harness/main.hpp"
#include "tidepool_groups.hpp"
#include "tidepool_io.hpp"
#include "tidepool_sources.hpp"

namespace {

class tidepool_pool {
 public:
  static constexpr const char* name = "tidepool";

  explicit tidepool_pool(const bench::setup& wanted) {
    if (wanted.workers > 0) {
      const auto workers = static_cast<std::uint32_t>(wanted.workers);
      pool_.emplace();
      pool_->set_max_threads(workers);
      pool_->set_min_threads(workers);  // so that the workers stay, and stay bound
      environment_.set_pool(*pool_);
    }  // else: the process's default pool
  }

  class session {
   public:
    explicit session(const tidepool::callback_environment& environment) : environment_(environment) {}

    template <class F>
    void submit(F f) {
      tidepool::submit(std::move(f), environment_);
    }
    template <class F>
    void submit_inside(F f) {
      submit(std::move(f));
    }

    struct handle {
      tidepool::work work;
      void submit() noexcept { work.submit(); }
      void submit_inside() noexcept { work.submit(); }
    };
    template <class F>
    handle repeat(F f, std::size_t) {
      return {tidepool::work(std::move(f), environment_)};
    }

    template <class Wait>
    void wait(Wait for_callbacks) {
      for_callbacks();
    }

   private:
    const tidepool::callback_environment& environment_;
  };

  template <class Body>
  void as_submitter(Body body) {
    session mine(environment_);
    body(mine);
  }

  [[nodiscard]] const tidepool::callback_environment& environment() const noexcept { return environment_; }

 private:
  std::optional<tidepool::pool> pool_;
  tidepool::callback_environment environment_;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::run<tidepool_pool, tidepool_sources<tidepool_pool>, tidepool_files<tidepool_pool>,
                    tidepool_server<tidepool_pool>, tidepool_group>(argc, argv);
}
