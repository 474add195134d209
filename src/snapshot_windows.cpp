// Snapshots on Windows: the system is asked, if it answers.
#ifdef _WIN32

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "snapshot_control.hpp"
#include "snapshot_native.hpp"
#include "snapshot_queries_windows.hpp"

namespace tidepool::system {

namespace {

/// A port with a known number of packets, to be looked for among the others.
class control_port {
 public:
  control_port() : port_(CreateIoCompletionPort(INVALID_HANDLE_VALUE, nullptr, 0, 1)) {
    while (port_ != nullptr && posted_ != wanted && PostQueuedCompletionStatus(port_.get(), 0, 0, nullptr)) {
      ++posted_;
    }
  }

  [[nodiscard]] HANDLE get() const noexcept { return port_.get(); }

  [[nodiscard]] std::string objection(const native_queries& queries, const std::vector<typed_handle>& handles) const {
    if (posted_ != wanted) {
      return "the port that depths are checked with could not be made";
    }
    const bool listed = std::any_of(handles.begin(), handles.end(), [this](const typed_handle& each) {
      return each.value == port_.get() && each.kind == handle_kind::completion_port;
    });
    return objection_to_depths(posted_, listed, queries.depth(port_.get()));
  }

 private:
  struct closer {
    void operator()(HANDLE port) const noexcept { CloseHandle(port); }
  };

  static constexpr unsigned wanted = 3;

  std::unique_ptr<void, closer> port_;
  unsigned posted_ = 0;
};

std::chrono::milliseconds span(LARGE_INTEGER native) noexcept {
  return std::chrono::milliseconds(std::abs(native.QuadPart) / 10'000);
}

template <class T>
void make_unavailable(observation<T>& figure, const std::string& why) {
  figure = observation<T>::unavailable(why);
}

/// A pool of which nothing is known.
pool_snapshot unknown_pool(const std::string& why) {
  pool_snapshot result;
  make_unavailable(result.kind, why);
  for (observation<std::uint32_t>* each : {&result.threads, &result.idle_threads, &result.blocked_threads,
                                           &result.minimum, &result.maximum, &result.concurrency}) {
    make_unavailable(*each, why);
  }
  for (observation<bool>* each : {&result.may_create, &result.create_in_progress, &result.scheduled}) {
    make_unavailable(*each, why);
  }
  make_unavailable(result.idle_timeout, why);
  for (observation<std::uint64_t>* each : {&result.port_depth, &result.queued_callbacks, &result.callbacks_run}) {
    make_unavailable(*each, why);
  }
  make_unavailable(result.nt, why);
  return result;
}

pool_snapshot snapshot_from(const worker_factory_information& native) {
  pool_snapshot result = unknown_pool("Windows does not tell");
  result.id = reinterpret_cast<std::uintptr_t>(native.start_parameter);
  result.threads = native.total_worker_count;
  result.idle_threads = native.waiting_worker_count;
  result.may_create = native.may_create != 0;
  result.create_in_progress = native.create_in_progress != 0;
  result.scheduled = native.timer_set != 0 || native.queued_to_ex_worker != 0;
  result.minimum = native.thread_minimum;
  result.maximum = native.thread_maximum;
  result.idle_timeout = span(native.idle_timeout);
  result.nt = nt_factory_flags{.timer_set = native.timer_set != 0,
                               .queued_to_ex_worker = native.queued_to_ex_worker != 0,
                               .inserted_into_queue = native.inserted_into_queue != 0,
                               .paused = native.paused != 0,
                               .shutdown = native.shutdown != 0,
                               .binding_count = native.binding_count,
                               .pending_worker_count = native.pending_worker_count,
                               .release_count = native.release_count,
                               .last_thread_creation_status = native.last_thread_creation_status};
  return result;
}

observation<std::vector<pool_snapshot>> pools_among(const std::vector<typed_handle>& handles,
                                                    const native_queries& queries) {
  using result = observation<std::vector<pool_snapshot>>;
  if (std::string why = queries.why_no_factories(); !why.empty()) {
    return result::unavailable(std::move(why));
  }
  std::vector<pool_snapshot> pools;
  for (const typed_handle& each : handles) {
    if (each.kind == handle_kind::worker_factory) {
      const auto seen = queries.factory(each.value);
      pools.push_back(seen ? snapshot_from(*seen) : unknown_pool(seen.why_not()));
    }
  }
  return pools;
}

observation<std::vector<port_snapshot>> ports_among(const std::vector<typed_handle>& handles,
                                                    const native_queries& queries, const control_port& control) {
  using result = observation<std::vector<port_snapshot>>;
  if (std::string objection = control.objection(queries, handles); !objection.empty()) {
    return result::unavailable(std::move(objection));
  }
  std::vector<port_snapshot> ports;
  for (const typed_handle& each : handles) {
    if (each.kind == handle_kind::completion_port && each.value != control.get()) {
      ports.push_back({reinterpret_cast<std::uintptr_t>(each.value), queries.depth(each.value)});
    }
  }
  return ports;
}

}  // namespace

snapshot take_snapshot() {
  const native_queries queries;
  const control_port control;
  const auto handles = queries.handles();
  snapshot result;
  if (!handles) {
    make_unavailable(result.pools, handles.why_not());
    make_unavailable(result.ports, handles.why_not());
    return result;
  }
  result.pools = pools_among(*handles, queries);
  result.ports = ports_among(*handles, queries, control);
  if (result.pools && result.pools->size() == 1 && result.ports && result.ports->size() == 1) {
    std::vector<pool_snapshot> pools = *result.pools;
    pools.front().port_depth = result.ports->front().depth;
    result = {std::move(pools), std::vector<port_snapshot>()};
  }
  return result;
}

pool_snapshot snapshot_of(native::pool which) {
  if (which == nullptr) {
    return unknown_pool("Windows does not tell which pool is the default one");
  }
  const snapshot all = take_snapshot();
  if (!all.pools) {
    return unknown_pool(all.pools.why_not());
  }
  const auto id = reinterpret_cast<std::uintptr_t>(which);
  const auto found =
      std::find_if(all.pools->begin(), all.pools->end(), [id](const auto& each) { return each.id == id; });
  return found != all.pools->end() ? *found : unknown_pool("no worker factory is found to be this pool's");
}

}  // namespace tidepool::system

#endif
