"""tidepool sum: the progress line."""

import os
import re
import subprocess

import harness
from harness import ToolTest, posix_only


def screen(output):
    """The lines a terminal shows for the output, without spaces at their ends."""
    lines, line, column = [], [], 0
    for character in output.decode():
        if character == "\r":
            column = 0
        elif character == "\n":
            lines.append("".join(line).rstrip())
            line, column = [], 0
        else:
            line[column:column + 1] = [character]
            column += 1
    return lines + ["".join(line).rstrip()]


class Pipe(ToolTest):
    def test_a_pipe_gets_no_progress(self):
        self.write("a", b"a")
        self.assertEqual(self.sum("a").err, b"")
        self.assertEqual(self.sum("--progress", "never", "a").err, b"")

    def test_progress_can_be_asked_for_and_is_erased_at_the_end(self):
        self.write("a", b"abc")
        running = self.start_tool("sum", "--progress", "always", "a", "-", stdin=subprocess.PIPE)
        running.wait_until(lambda child: re.search(rb"\[=+ *\] +\d+%  1/2 files  3 B/3 B", child.err), "bar")
        running.process.stdin.close()
        result = running.finish()
        self.assertEqual(screen(result.err), [""])
        self.assertEqual(result.paths(), [b"a", b"stdin"])


@posix_only
class Terminal(ToolTest):
    def on_terminal(self, *arguments, both=False, columns=0, **environment):
        """Runs with standard error, or both streams, on a terminal; returns what the terminal got, output, status."""
        import fcntl
        import pty
        import struct
        import termios

        master, slave = pty.openpty()
        attributes = termios.tcgetattr(slave)
        attributes[1] &= ~termios.OPOST  # the output as it is, with no CR added
        termios.tcsetattr(slave, termios.TCSANOW, attributes)
        if columns:
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        child = subprocess.Popen(harness.command("sum", *arguments), cwd=self.root, stdin=subprocess.DEVNULL,
                                 stdout=slave if both else subprocess.PIPE, stderr=slave,
                                 env={**os.environ, "TERM": "xterm", **environment})
        os.close(slave)
        shown = b""
        try:
            while data := os.read(master, 65536):
                shown += data
        except OSError:  # how a terminal says that its last user is gone
            pass
        os.close(master)
        out = b"" if both else child.stdout.read()
        if not both:
            child.stdout.close()
        return shown, out, child.wait(harness.TIME_OUT)

    def test_a_terminal_shows_progress_and_is_clean_at_the_end(self):
        self.write("a", b"a")
        shown, out, status = self.on_terminal("a")
        self.assertIn(b"files", shown)
        self.assertEqual(screen(shown), [""])
        self.assertEqual(out, b"a96faf705af16834e6c632b61e964e1f  a\n")
        self.assertEqual(status, 0)

    def test_results_and_messages_on_the_same_terminal_stay_whole(self):
        for i in range(2000):
            self.write(f"tree/{i:04}", b"a")
        os.symlink("gone", self.path("tree/0500link"))
        shown, _, status = self.on_terminal("tree", both=True)
        expected = [f"a96faf705af16834e6c632b61e964e1f  tree/{i:04}" for i in range(2000)]
        expected.insert(501, "tidepool sum: tree/0500link: broken link to 'gone'")
        expected += ["tidepool sum: 2000 summed, 1 could not be read", ""]
        self.assertEqual(screen(shown), expected)
        self.assertIn(b"files", shown)
        self.assertEqual(status, 1)

    def test_the_line_fits_a_narrow_terminal(self):
        self.write("a", b"a")
        shown, _, _ = self.on_terminal("a", columns=20)
        self.assertIn(b"files", shown)
        self.assertLessEqual(max(len(part) for part in re.split(rb"[\r\n]", shown)), 19)

    def test_a_dumb_terminal_gets_no_progress(self):
        self.write("a", b"a")
        self.assertEqual(self.on_terminal("a", TERM="dumb")[0], b"")

    def test_progress_can_be_refused(self):
        self.write("a", b"a")
        self.assertEqual(self.on_terminal("a", "--progress=never")[0], b"")


if __name__ == "__main__":
    harness.main()
