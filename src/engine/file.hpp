// What overlapped requests are made on: files, pipes and sockets.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/dispatcher_object.hpp"
#include "engine/futex_lock.hpp"
#include "engine/io_request.hpp"
#include "support/reference_count.hpp"
#include "tidepool/win32/winerror.h"

namespace tidepool::engine {

struct worker;

/// Lives as long as its handle object, a request on it, or the TP_IO that is bound to it does. Owns the descriptor, which
/// is closed when the last handle and the last request have gone.
class file {
 public:
  file(const file&) = delete;
  file& operator=(const file&) = delete;

  void add_reference() noexcept { references_.add(); }
  /// For a caller who has none, but knows that the file has not been destroyed yet.
  [[nodiscard]] bool try_add_reference() noexcept { return references_.try_add(); }
  void release() noexcept {
    if (references_.drop()) {
      delete this;
    }
  }

  // ---- the TP_IO that hears of its requests ----

  /// False when there is one already. The caller has seen to it that the TP_IO lives until unbind().
  bool bind(_TP_IO& io) noexcept;
  void unbind(const _TP_IO& io) noexcept;

  // ---- requests ----

  enum class started : std::uint8_t { pending, complete, refused };
  struct start_result {
    started how;
    DWORD error;       // if refused
    std::size_t done;  // if complete
  };
  /// Makes a request and starts it. `prepare(io_request&)` says what is asked for.
  template <class Prepare>
  start_result start(io_request::operation what, OVERLAPPED& overlapped, Prepare prepare) noexcept {
    DWORD error = ERROR_SUCCESS;
    io_request* const request = make(what, overlapped, error);
    if (request == nullptr) {
      return {started::refused, error, 0};
    }
    prepare(*request);
    return begin(*request);
  }

  /// What its descriptor has been opened for.
  struct access {
    bool read;
    bool write;
  };

  /// Asks for the end of the requests that are under way with `overlapped`, or of all (null). Returns whether there
  /// were any.
  bool cancel(const OVERLAPPED* overlapped) noexcept;
  /// Nobody hears any more of the requests that `io` would hear of and whose callback has not begun. Returns how many
  /// there were.
  std::size_t forget(const _TP_IO& io) noexcept;

  /// A callback for each request that succeeds at once is not wanted.
  void skip_on_success() noexcept { skips_.store(true, std::memory_order_relaxed); }

  /// Lets the calling thread carry out what is queued for a worker of a pool, before it waits for it.
  void hurry(const OVERLAPPED& overlapped) noexcept;

  /// The handle object and the requests use the file; the last one closes the descriptor. All uses together have one
  /// reference.
  void add_use() noexcept { uses_.add(); }
  void end_use() noexcept {
    if (uses_.drop()) {
      close_descriptor();
      release();
    }
  }

  /// The descriptor stays open when the file goes.
  void leave_descriptor() noexcept { owns_descriptor_ = false; }

  const int descriptor;
  const bool overlapped_use;  // made for overlapped requests
  const access opened_for;
  bool is_pipe = false;  // constant once the file is made

 protected:
  file(int of, bool overlapped) noexcept;
  virtual ~file();

  virtual void close_descriptor() noexcept;
  /// Starts a request that has place `caller`.
  virtual start_result begin(io_request& request) noexcept = 0;
  /// By a worker that has taken out a request with place `port` or `blocking`. False when it was passed on instead.
  virtual bool carry_out(worker& on, io_request& request) noexcept = 0;
  /// The same, by a thread that may wait: to the end.
  virtual void carry_out_here(io_request& request) noexcept = 0;
  /// With the lock held, for a request that has been asked to end, and has not finished. Returns whether it has been taken
  /// back from where it was; if not, it finishes some time.
  virtual bool take_back(io_request& request) noexcept = 0;

  // With the lock held:

  /// From now on others find the request, and it is known who hears of it.
  void enlist(io_request& request) noexcept;
  /// What a function that starts requests returns for one that is settled already; the request is given up.
  start_result conclude(io_request& request, bool enlisted = false) noexcept;
  /// Completes a settled request that has been taken from `from`. The caller has a reference to the file.
  void finish(io_request& request, io_request::place from) noexcept;
  /// The same, by a caller who has neither the lock nor a reference.
  void finish_alone(io_request& request, io_request::place from) noexcept;

  futex_lock lock_;

 private:
  /// Null, and `error` says why, when there can be none.
  io_request* make(io_request::operation what, OVERLAPPED& overlapped, DWORD& error) noexcept;
  void delist(io_request& request) noexcept;
  static void destroy(io_request& request) noexcept;
  static void dispatch(worker& on, packet& entry) noexcept;
  bool is_carried_out(worker& on, io_request& request) noexcept;
  static void run_callback(worker& on, io_request& request) noexcept;

  bool owns_descriptor_ = true;
  support::reference_count references_;
  support::reference_count uses_;
  std::atomic<bool> skips_{false};  // relaxed: set before the requests it is meant for
  // Guarded by the lock.
  _TP_IO* bound_ = nullptr;
  io_request* requests_ = nullptr;
};

/// What a handle of a file names. When the last handle is gone, the requests are cancelled.
class file_object final : public dispatcher_object {
 public:
  static constexpr object_kind kind_of_object = object_kind::file;

  explicit file_object(file& of) noexcept : dispatcher_object(kind_of_object), target(of) { target.add_use(); }

  [[nodiscard]] bool is_signalled_for(const thread_record*) const noexcept override { return false; }
  wait_status consume(thread_record*) noexcept override { return wait_status::signalled; }

  file& target;

 private:
  ~file_object() override;
};

/// The handle of a new file, whose maker's reference and use it takes over. Null, with the last error set and the file
/// released without closing the descriptor, when there is no memory.
[[nodiscard]] HANDLE open_file_object(file& target) noexcept;

// The result in an OVERLAPPED: writing it, which also wakes who waits for it and sets the event, after which the
// OVERLAPPED may be gone; asking for it; waiting for it and for the event.
void publish_result(OVERLAPPED& overlapped, event_object* event, DWORD error, std::size_t done) noexcept;
[[nodiscard]] bool has_result(OVERLAPPED& overlapped) noexcept;
void await_result(OVERLAPPED& overlapped) noexcept;

}  // namespace tidepool::engine
