// Reading, writing, accepting and connecting without a thread that waits for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <system_error>
#include <utility>

#include "tidepool/callback_environment.hpp"
#include "tidepool/callback_instance.hpp"
#include "tidepool/detail/connection_operation.hpp"
#include "tidepool/detail/transfer_operation.hpp"
#include "tidepool/endpoint.hpp"
#include "tidepool/native.hpp"
#include "tidepool/operation.hpp"
#include "tidepool/transfer.hpp"

namespace tidepool {

/// An endpoint that is bound to a pool: requests are started on it, and their handlers run on the threads of the pool.
///
/// **Requests.** Starting one returns at once. Its handler is called exactly once, on a thread of the pool and never
/// inside the call that started it, whatever comes of the request: also when the system refuses it at once. A handler
/// is any callable that takes the result (by value, or by reference), the result and a callback_instance&, or nothing;
/// it may be move-only. Handlers of one io can run at the same time. The result, an error included, is what the members
/// below give to the handler; the members themselves throw std::bad_alloc, and what moving a buffer or a handler
/// throws, and then nothing has been started. An exception that leaves a handler ends the process by std::terminate.
/// Each request costs one allocation, with a buffer of several parts up to three.
///
/// A request belongs to the io, not to the thread that starts it, which may end at once. The buffer belongs to the
/// request; nobody else has access to it until the handler gets it back. After the handler, and on its thread, what it
/// has left of the buffer is destroyed, then the handler itself. Both happen outside every lock, and before anybody who
/// waits for handlers goes on.
///
/// **Buffers** own their bytes: buffer, std::vector, std::string, std::array of elements that are plain bytes, or a
/// range of them, such as std::vector<buffer>, which is filled or written from the first to the last part (zero-sized
/// ones do no harm). Where a number of bytes can be given, that many from the beginning of the buffer are transferred.
/// More than the buffer has is std::errc::invalid_argument, thrown. A transfer of no bytes is complete without asking
/// the system.
///
/// Reads transfer what there is, but at least one byte unless there is an error or the end; writes are complete when
/// everything is written, or failed. Reads of one pipe or socket are served in the order in which they were started,
/// and so are writes; their handlers may run in another.
///
/// What the endpoint is not fit for (see endpoint_kind) is refused: ERROR_NOT_SUPPORTED.
///
/// **Accounting.** One number counts the requests that the system has been asked for and has not completed. It goes up
/// before the system is asked, and down before the handler is called.
///
/// **The end.** The destructor, and the assignment for what the io held before, cancels what is outstanding, waits for
/// it and for the handlers, releases the native object, and only then closes the endpoint. What handlers start
/// meanwhile is discarded: its buffer and its handler are destroyed at once, and no handler runs. Whoever wants
/// requests to complete calls run_down() first.
///
/// A handler can run, and lead to the end of the io on another thread, before the call that started its request has
/// returned. The destructor and the drains wait for such a call too.
///
/// An io that is run down by one of its own handlers would wait for itself for ever. run_down() and stop_and_drain() throw
/// std::system_error (std::errc::resource_deadlock_would_occur) instead, and a destructor or an assignment that would
/// have to wait ends the process with a message that names the place where the io was created. A handler that has
/// called callback_instance::disassociate() may do all of this. A handler that owns the last reference to the io is
/// destroyed inside its own callback too; it has to give the reference away before, to tidepool::submit() for example.
///
/// Thread safety: any thread may call any member function at any time, handlers included, unless the io itself is being
/// assigned, moved or destroyed. What happened before a request was started is visible to its handler, and what a
/// handler did is visible to whoever ran the io down. A moved-from io can be destroyed and assigned to; any other use
/// of it ends the process with a message.
///
/// Win32: PTP_IO.
class io {
 public:
  /// Takes over the endpoint, also when it throws: std::system_error when the system refuses, std::bad_alloc.
  /// `environment` is read now and not kept; a cleanup group that it has been given (unsafe::set_cleanup_group) does
  /// not get the io, since requests that are outstanding can not be released with the others. `where` is named in
  /// messages about the object; left alone it is the place of the call. Win32: CreateThreadpoolIo.
  explicit io(endpoint file, const callback_environment& environment = {},
              const std::source_location& where = std::source_location::current());

  /// The object takes over the other's endpoint and requests; running handlers do not notice.
  io(io&& other) noexcept : context_(std::exchange(other.context_, nullptr)) {}

  /// Ends what the object held before, as the destructor does.
  io& operator=(io&& other) noexcept;

  io(const io&) = delete;
  io& operator=(const io&) = delete;

  /// Cancels, waits, closes; see above.
  ~io();

  // ---- files: handlers are given a transfer<Buffer> ----------------------------------------------------

  /// Reads at `offset`, in bytes from the beginning. Short if the file ends before. At or past its end:
  /// ERROR_HANDLE_EOF. Win32: ReadFile.
  template <class Buffer, class Handler>
  operation_id read_at(std::uint64_t offset, Buffer&& into, Handler&& handler) {
    return read_all(detail::transfer_kind::read_at, offset, std::forward<Buffer>(into), std::forward<Handler>(handler));
  }
  template <class Buffer, class Handler>
  operation_id read_at(std::uint64_t offset, Buffer&& into, std::size_t most, Handler&& handler) {
    return read_some(detail::transfer_kind::read_at, offset, std::forward<Buffer>(into), most,
                     std::forward<Handler>(handler));
  }

  /// Writes at `offset`, and makes the file larger if need be. Win32: WriteFile.
  template <class Buffer, class Handler>
  operation_id write_at(std::uint64_t offset, Buffer&& from, Handler&& handler) {
    return write_all(detail::transfer_kind::write_at, offset, std::forward<Buffer>(from),
                     std::forward<Handler>(handler));
  }
  template <class Buffer, class Handler>
  operation_id write_at(std::uint64_t offset, Buffer&& from, std::size_t bytes, Handler&& handler) {
    return write_some(detail::transfer_kind::write_at, offset, std::forward<Buffer>(from), bytes,
                      std::forward<Handler>(handler));
  }

  // ---- pipes: handlers are given a transfer<Buffer> ------------------------------------------------------

  /// Reads when something has been written. Win32: ReadFile.
  template <class Buffer, class Handler>
  operation_id read(Buffer&& into, Handler&& handler) {
    return read_all(detail::transfer_kind::read, 0, std::forward<Buffer>(into), std::forward<Handler>(handler));
  }
  template <class Buffer, class Handler>
  operation_id read(Buffer&& into, std::size_t most, Handler&& handler) {
    return read_some(detail::transfer_kind::read, 0, std::forward<Buffer>(into), most, std::forward<Handler>(handler));
  }

  /// Win32: WriteFile.
  template <class Buffer, class Handler>
  operation_id write(Buffer&& from, Handler&& handler) {
    return write_all(detail::transfer_kind::write, 0, std::forward<Buffer>(from), std::forward<Handler>(handler));
  }
  template <class Buffer, class Handler>
  operation_id write(Buffer&& from, std::size_t bytes, Handler&& handler) {
    return write_some(detail::transfer_kind::write, 0, std::forward<Buffer>(from), bytes,
                      std::forward<Handler>(handler));
  }

  // ---- sockets: handlers are given a transfer<Buffer>, an acceptance, a connection_result ----------------

  /// No error and no bytes: the peer has stopped sending. Win32: WSARecv.
  template <class Buffer, class Handler>
  operation_id receive(Buffer&& into, Handler&& handler) {
    return read_all(detail::transfer_kind::receive, 0, std::forward<Buffer>(into), std::forward<Handler>(handler));
  }
  template <class Buffer, class Handler>
  operation_id receive(Buffer&& into, std::size_t most, Handler&& handler) {
    return read_some(detail::transfer_kind::receive, 0, std::forward<Buffer>(into), most,
                     std::forward<Handler>(handler));
  }

  /// Win32: WSASend.
  template <class Buffer, class Handler>
  operation_id send(Buffer&& from, Handler&& handler) {
    return write_all(detail::transfer_kind::send, 0, std::forward<Buffer>(from), std::forward<Handler>(handler));
  }
  template <class Buffer, class Handler>
  operation_id send(Buffer&& from, std::size_t bytes, Handler&& handler) {
    return write_some(detail::transfer_kind::send, 0, std::forward<Buffer>(from), bytes,
                      std::forward<Handler>(handler));
  }

  /// Accepts one connection, on a listener. Win32: AcceptEx.
  template <class Handler>
  operation_id accept(Handler&& handler) {
    detail::check_handler<Handler, acceptance>();
    detail::check_not_null<std::decay_t<Handler>>(handler);
    return start(detail::make_operation<detail::connection_operation<detail::accept_request, std::decay_t<Handler>>>(
        std::forward<Handler>(handler)));
  }

  /// Connects the socket, which has to be of the address's family. When that fails the socket is of no further use.
  /// Win32: ConnectEx.
  template <class Handler>
  operation_id connect(const socket_address& to, Handler&& handler) {
    detail::check_handler<Handler, connection_result>();
    detail::check_not_null<std::decay_t<Handler>>(handler);
    return start(detail::make_operation<detail::connection_operation<detail::connect_request, std::decay_t<Handler>>>(
        std::forward<Handler>(handler), to));
  }

  /// Tells the peer that nothing more will be sent; receiving goes on. To be called when everything that was sent is
  /// complete: what is not may fail. Returns what went wrong, which a peer that has gone away can bring about at any
  /// time. Win32: shutdown.
  std::error_code shutdown_send() noexcept;

  // ---- requests under way --------------------------------------------------------------------------------

  /// Asks for the end of one request. Returns false when the id names none that is outstanding on this io: it is over,
  /// or never was. True says no more than that it has been asked: the handler is told whether the request was stopped
  /// (std::errc::operation_canceled) or came to its end all the same. Never touches another request. Win32: CancelIoEx.
  bool cancel(operation_id id) noexcept;

  /// Asks for the end of all requests that are outstanding. They are still outstanding when it returns.
  void cancel_all() noexcept;

  /// How many requests are outstanding: those that the system still has. A handler does not find its own.
  [[nodiscard]] std::size_t outstanding() const noexcept;

  /// Waits until nothing is outstanding and no handler is queued or running; that of a request which was refused
  /// included. It cancels nothing: a request that nobody ever answers has to be cancelled first. What is started
  /// meanwhile, by handlers or by other threads, prolongs it. Throws as described above when called by one of the io's
  /// own handlers. Win32: WaitForThreadpoolIoCallbacks(…, FALSE).
  void run_down();

  /// The synchronous close, under the name that all callback sources share: cancels what is outstanding, waits for it and
  /// for the handlers, and discards what handlers start meanwhile, as the destructor does. Afterwards nothing is
  /// outstanding and no handler is queued or running. The io can be used again. What other threads start meanwhile is
  /// not cancelled, and prolongs it. Throws as described above when called by one of the io's own handlers.
  void stop_and_drain();

 private:
  friend struct detail::access;

  template <class Buffer, class Handler>
  static auto make_transfer(detail::transfer_kind kind, std::uint64_t offset, Buffer&& buffer, Handler&& handler) {
    using kept_buffer = std::decay_t<Buffer>;
    using kept_handler = std::decay_t<Handler>;
    detail::check_handler<Handler, transfer<kept_buffer>>();
    detail::check_not_null<kept_handler>(handler);
    return detail::make_operation<detail::transfer_operation<kept_buffer, kept_handler>>(
        kind, offset, std::forward<Buffer>(buffer), std::forward<Handler>(handler));
  }

  template <class Buffer, class Handler>
  operation_id transfer_all(detail::transfer_kind kind, std::uint64_t offset, Buffer&& buffer, Handler&& handler) {
    auto made = make_transfer(kind, offset, std::forward<Buffer>(buffer), std::forward<Handler>(handler));
    made->use(detail::byte_size(made->result.buffer));
    return start(std::move(made));
  }

  template <class Buffer, class Handler>
  operation_id transfer_some(detail::transfer_kind kind, std::uint64_t offset, Buffer&& buffer, std::size_t bytes,
                             Handler&& handler) {
    static_assert(detail::owned_bytes<std::decay_t<Buffer>>,
                  "tidepool: a number of bytes can be given for a single buffer, not for several");
    auto made = make_transfer(kind, offset, std::forward<Buffer>(buffer), std::forward<Handler>(handler));
    made->use(bytes);
    return start(std::move(made));
  }

  template <class Buffer, class Handler>
  operation_id read_all(detail::transfer_kind kind, std::uint64_t offset, Buffer&& into, Handler&& handler) {
    detail::check_buffer_to_read_into<Buffer>();
    return transfer_all(kind, offset, std::forward<Buffer>(into), std::forward<Handler>(handler));
  }
  template <class Buffer, class Handler>
  operation_id read_some(detail::transfer_kind kind, std::uint64_t offset, Buffer&& into, std::size_t most,
                         Handler&& handler) {
    detail::check_buffer_to_read_into<Buffer>();
    return transfer_some(kind, offset, std::forward<Buffer>(into), most, std::forward<Handler>(handler));
  }
  template <class Buffer, class Handler>
  operation_id write_all(detail::transfer_kind kind, std::uint64_t offset, Buffer&& from, Handler&& handler) {
    detail::check_buffer<Buffer>();
    return transfer_all(kind, offset, std::forward<Buffer>(from), std::forward<Handler>(handler));
  }
  template <class Buffer, class Handler>
  operation_id write_some(detail::transfer_kind kind, std::uint64_t offset, Buffer&& from, std::size_t bytes,
                          Handler&& handler) {
    detail::check_buffer<Buffer>();
    return transfer_some(kind, offset, std::forward<Buffer>(from), bytes, std::forward<Handler>(handler));
  }

  template <class Operation>
  operation_id start(detail::operation_owner<Operation> what) {
    const operation_id id = start_request(*what);
    static_cast<void>(what.release());  // it may be over, and gone
    return id;
  }

  /// Takes over the request, unless it throws.
  operation_id start_request(detail::operation_base& what);

  detail::io_context* context_;
};

}  // namespace tidepool
