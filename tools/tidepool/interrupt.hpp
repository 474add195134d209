#pragma once

namespace tool {

/// From here on the first Ctrl-C (and on POSIX the first SIGTERM) is only noted, so that the program can finish what it
/// has begun. The second one ends the process at once, as it would have without this call. A signal that the caller had
/// set to be ignored, as nohup and the background jobs of a script have, stays ignored.
void notice_interrupts();

/// Whether one has been noted. Any thread.
bool interrupted() noexcept;

/// The exit status for a program that ended early because of it: 128 and the number of the signal.
int interrupt_exit_status() noexcept;

}  // namespace tool
