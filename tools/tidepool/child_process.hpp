#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tidepool/waitable_handle.hpp"

namespace tool {

/// Another process of this program. It does not get the Ctrl-C of the terminal, and does not outlive this process, however
/// that ends.
class child_process {
 public:
  /// Starts it with these arguments, an empty standard input and the standard error stream of this process. For the main
  /// thread alone. Throws std::system_error.
  explicit child_process(const std::vector<std::string>& arguments);
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;
  /// Ends it if it has not ended.
  ~child_process();

  /// Signalled when it has ended. Throws std::system_error.
  [[nodiscard]] tidepool::waitable_handle ended() const;

  /// Ends it at once. Any thread, until collect().
  void end() noexcept;

  struct ending {
    bool succeeded = false;   ///< it returned 0 from main
    std::string description;  ///< "exit status 3", "signal 9"
    std::string output;       ///< what it wrote to standard output, which had to fit into a pipe
  };

  /// Once, and once it has ended: the main thread waits for that here, if it has to.
  [[nodiscard]] ending collect();

 private:
  struct system_process;
  std::unique_ptr<system_process> process_;
};

/// To be called first in a process that was started in this way, with the arguments it was given. Ends the process if the
/// one that started it is no more.
void become_child(const std::string& parent);

/// What is to be handed to become_child().
std::string own_identity();

}  // namespace tool
