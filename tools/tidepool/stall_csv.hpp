#pragma once

#include <string>

#include "stall_runs.hpp"

namespace tool {

/// A table in comma-separated values: a line for each run under one with the names.
class stall_csv {
 public:
  explicit stall_csv(const stall_plan& plan) : plan_{plan} {}

  void add(const stall_run& run);
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  const stall_plan& plan_;
  std::string text_ =
      "arm,run,outcome,removed,ran_after_us,depth,depth_after_packet,packet_ran,work_ran,all_ran,freed_us,how\n";
};

}  // namespace tool
