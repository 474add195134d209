// The queries of ntdll that a snapshot is made from. Well known rather than documented: they are looked up at run time, the
// layouts are stated here, and everything may be refused.
#pragma once

#include <windows.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tidepool/observation.hpp"

namespace tidepool::system {

/// What NtQueryInformationWorkerFactory writes for WorkerFactoryBasicInformation, since Windows 8.1.
struct worker_factory_information {
  LARGE_INTEGER timeout;
  LARGE_INTEGER retry_timeout;
  LARGE_INTEGER idle_timeout;  // in 100 ns; negative: a span
  BOOLEAN paused;
  BOOLEAN timer_set;
  BOOLEAN queued_to_ex_worker;
  BOOLEAN may_create;
  BOOLEAN create_in_progress;
  BOOLEAN inserted_into_queue;
  BOOLEAN shutdown;
  ULONG binding_count;
  ULONG thread_minimum;
  ULONG thread_maximum;
  ULONG pending_worker_count;
  ULONG waiting_worker_count;
  ULONG total_worker_count;
  ULONG release_count;
  LONGLONG infinite_wait_goal;
  PVOID start_routine;
  PVOID start_parameter;  // of a pool's factory: the PTP_POOL
  HANDLE process_id;
  SIZE_T stack_reserve;
  SIZE_T stack_commit;
  LONG last_thread_creation_status;
};

enum class handle_kind { other, worker_factory, completion_port };

struct typed_handle {
  HANDLE value;
  handle_kind kind;
};

/// The functions, as far as this system has them. Queries that fail say why; none changes anything.
class native_queries {
 public:
  native_queries() noexcept;

  /// The handles of this process that are worker factories or completion ports. A handle that is closed meanwhile is left
  /// out.
  [[nodiscard]] observation<std::vector<typed_handle>> handles() const;
  [[nodiscard]] observation<worker_factory_information> factory(HANDLE of) const;
  [[nodiscard]] observation<std::uint64_t> depth(HANDLE port) const;

  /// Empty when factories can be asked at all.
  [[nodiscard]] std::string why_no_factories() const;

 private:
  using query_process = LONG(NTAPI*)(HANDLE, ULONG, PVOID, ULONG, PULONG);
  using query_handle = LONG(NTAPI*)(HANDLE, ULONG, PVOID, ULONG, PULONG);  // of the others

  struct listed_handle {
    HANDLE value;
    ULONG type;
  };
  LONG list_of_process(std::vector<listed_handle>& into) const;
  /// Where there is no list, under Wine. Wine's list of all processes' handles is no way out: asking for it can crash the
  /// server of all processes.
  [[nodiscard]] std::vector<typed_handle> found_by_trying() const;
  [[nodiscard]] bool kind_of(HANDLE value, handle_kind& into) const;

  query_process process_;
  query_handle object_;
  query_handle factory_;
  query_handle port_;
};

}  // namespace tidepool::system
