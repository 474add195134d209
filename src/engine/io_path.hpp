// By what requests on files are carried out.
#pragma once

namespace tidepool::engine {

class io_ring;

/// Chosen once in the life of the process, by the environment variable TIDEPOOL_IO and by what the kernel allows.
class io_path {
 public:
  /// Whether the variable asks for the ring, and there is none: then no file can be opened for overlapped use.
  [[nodiscard]] static bool is_unavailable() noexcept { return chosen().unavailable; }
  /// Whether what is in the page cache goes neither through the ring nor through blocking threads. Not when one of them
  /// has been asked for by name.
  [[nodiscard]] static bool takes_shortcuts() noexcept { return chosen().shortcuts; }
  /// Null when the portable path is taken.
  [[nodiscard]] static io_ring* ring() noexcept { return chosen().ring; }

 private:
  struct choice {
    io_ring* ring;
    bool shortcuts;
    bool unavailable;
  };
  static choice choose() noexcept;
  static const choice& chosen() noexcept;
};

}  // namespace tidepool::engine
