"""tidepool sum: Ctrl-C. A large sparse file takes long to read and no room, which keeps the tool busy for certain."""

import os
import re
import signal
import subprocess

import harness
from harness import ToolTest, posix_only, wait_for

LARGE = 1 << (28 if harness.SANITIZED else 30)


def signal_set(process, name):
    """One of the signal masks in /proc/PID/status, as a set of signal numbers."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
        mask = int(re.search(rf"^{name}:\s*([0-9a-f]+)", status.read(), re.M).group(1), 16)
    return {number for number in range(1, 65) if mask >> (number - 1) & 1}


def is_reading(child):
    """The progress shows bytes, so a file has been begun."""
    return re.search(rb"[1-9][0-9.]* [KMG]iB/", child.err) is not None


class Interrupt(ToolTest):
    def start_on_large_files(self, *options):
        for i in range(16):
            self.sparse(f"tree/{i:02}", LARGE)
        running = self.start_tool("sum", "--jobs", "1", "--progress", "always", *options, "tree")
        running.wait_until(is_reading, "progress")
        return running

    def assert_drained(self, running, status):
        result = running.finish()
        said = re.search(rb"tidepool sum: interrupted: (\d+) summed, (\d+) not summed\n$", result.err)
        self.assertIsNotNone(said, result.err)
        summed, left_out = int(said[1]), int(said[2])
        self.assertEqual(result.status, status)
        self.assertGreaterEqual(summed, 1, "the file being read was not finished")
        self.assertGreaterEqual(left_out, 1)
        self.assertEqual(summed + left_out, 16)
        self.assertEqual(result.paths(), [f"tree/{i:02}".encode() for i in range(summed)])
        self.assertEqual(len({line.split()[0] for line in result.lines()}), 1, "files of equal contents differ")

    def test_ctrl_c_finishes_the_files_being_read_and_counts_the_others(self):
        running = self.start_on_large_files()
        running.process.send_signal(signal.SIGINT)
        self.assert_drained(running, 130)

    @posix_only
    def test_a_request_to_terminate_drains_too(self):
        running = self.start_on_large_files()
        running.process.send_signal(signal.SIGTERM)
        self.assert_drained(running, 143)

    @posix_only
    def test_a_second_ctrl_c_ends_at_once(self):
        running = self.start_on_large_files()
        running.process.send_signal(signal.SIGINT)
        wait_for(lambda: signal.SIGINT not in signal_set(running.process, "SigCgt"), "end of the first handler")
        running.process.send_signal(signal.SIGINT)
        result = running.finish()
        self.assertEqual(result.status, -signal.SIGINT)
        self.assertLess(len(result.lines()), 16)

    @posix_only
    def test_a_signal_that_the_caller_ignores_stays_ignored(self):
        running = self.start_tool("sum", "--progress", "always", "-", stdin=subprocess.PIPE,
                                  preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        running.wait_until(lambda child: b"files" in child.err, "progress")
        self.assertIn(signal.SIGINT, signal_set(running.process, "SigIgn"))
        running.process.send_signal(signal.SIGINT)
        running.process.stdin.write(b"abc")
        running.process.stdin.close()
        result = running.finish()
        self.assertEqual(result.out, b"06b05ab6733a618578af5f94892f3950  stdin\n")
        self.assertEqual(result.status, 0)

    @posix_only
    def test_ctrl_c_gives_up_standard_input(self):
        for name in ("a", "b", "tree/c"):
            self.write(name, name.encode())
        running = self.start_tool("sum", "--jobs", "1", "--progress", "always", "-", "a", "b", "tree",
                                  stdin=subprocess.PIPE)
        running.process.stdin.write(b"x" * 4096)
        running.process.stdin.flush()
        running.wait_until(is_reading, "progress")
        running.process.send_signal(signal.SIGINT)
        result = running.finish()
        running.process.stdin.close()
        self.assertEqual(result.out, b"")
        self.assertTrue(result.err.endswith(b"tidepool sum: interrupted: 0 summed, 4 not summed\n"), result.err)
        self.assertEqual(result.status, 130)


if __name__ == "__main__":
    harness.main()
