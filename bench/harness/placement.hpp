// Where the benchmark's threads run.
#pragma once

#include <sched.h>

#include <cstddef>
#include <system_error>
#include <vector>

#include "tally.hpp"

namespace bench {

enum class placement {
  free,   // every thread is left to the scheduler
  spread  // worker i is bound to core i, submitter j to core j (modulo the number of cores)
};

// The cores this process may use, lowest first.
inline std::vector<int> usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) {
    throw std::system_error(errno, std::generic_category(), "sched_getaffinity");
  }
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) {
      cores.push_back(core);
    }
  }
  return cores;
}

inline void bind_this_thread(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) {  // 0 names the calling thread, not the process
    throw std::system_error(errno, std::generic_category(), "sched_setaffinity");
  }
}

struct plan {
  placement where = placement::free;
  std::size_t workers = 2;
  std::vector<int> cores;  // those the process may use

  void place_submitter(std::size_t index) const {
    if (where == placement::spread) {
      bind_this_thread(cores[index % cores.size()]);
    }
  }

  // For a thread that is going to run callbacks: takes its slot of the tally and binds itself when the placement
  // says so.
  void place_worker(std::size_t index) const {
    tally::slot& mine = callbacks.this_threads_slot();
    if (where == placement::spread) {
      bind_this_thread(cores[index % cores.size()]);
      mine.bound.store(true, std::memory_order_relaxed);
    }
  }
};

}  // namespace bench
