"""What the end-to-end tests of the tool share: running it, trees of files, and waiting for what it prints.

The tool comes from the environment: TIDEPOOL_TOOL is the program, TIDEPOOL_EMULATOR the command that runs it (a word a
line), empty when it runs by itself. TIDEPOOL_SANITIZE is not empty when the tool was built with a sanitizer.
TIDEPOOL_RECORDS is 0 when it was built without the trace, TIDEPOOL_HEALS when it was without the self-heal.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

TOOL = os.environ.get("TIDEPOOL_TOOL", "")
EMULATOR = os.environ.get("TIDEPOOL_EMULATOR", "").splitlines()
ON_WINDOWS = bool(EMULATOR)
SANITIZED = bool(os.environ.get("TIDEPOOL_SANITIZE"))
TIME_OUT = float(os.environ.get("TIDEPOOL_TEST_TIME_OUT", 240))  # seconds; a failure, never a measurement

RECORDS = os.environ.get("TIDEPOOL_RECORDS", "1") == "1"
HEALS = os.environ.get("TIDEPOOL_HEALS", "1") == "1"

posix_only = unittest.skipIf(ON_WINDOWS, "needs POSIX")
needs_trace = unittest.skipUnless(RECORDS, "needs the trace, which this build is without")
needs_xxh128sum = unittest.skipUnless(shutil.which("xxh128sum"), "needs xxh128sum")


def command(*arguments):
    return [*EMULATOR, TOOL, *arguments]


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def lines(self):
        return self.out.split(b"\n")[:-1]

    def paths(self):
        return [line.split(b"  ", 1)[1] for line in self.lines()]


class Running:
    """The tool as a child process whose output can be waited for."""

    def __init__(self, *arguments, cwd, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        self.process = subprocess.Popen(command(*arguments), cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        **options)
        self.changed = threading.Condition()
        self.out, self.err = b"", b""
        self.readers = [threading.Thread(target=self.read, args=(name,), daemon=True) for name in ("out", "err")]
        for reader in self.readers:
            reader.start()

    def read(self, name):
        stream = self.process.stdout if name == "out" else self.process.stderr
        while data := os.read(stream.fileno(), 65536):
            with self.changed:
                setattr(self, name, getattr(self, name) + data)
                self.changed.notify_all()

    def wait_until(self, condition, what):
        with self.changed:
            if not self.changed.wait_for(lambda: condition(self), TIME_OUT):
                self.process.kill()
                raise AssertionError(f"no {what} in time; out {self.out!r}, err {self.err!r}")

    def finish(self, seconds=TIME_OUT):
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        for reader in self.readers:
            reader.join(TIME_OUT)
        self.process.stdout.close()
        self.process.stderr.close()
        return Result(status, self.out, self.err)


class ToolTest(unittest.TestCase):
    """A test with an empty folder of its own, `self.root`, which the tool is run in."""

    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="tidepool-tool-")
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)

    def path(self, name):
        if isinstance(name, bytes):
            return os.path.join(os.fsencode(self.root), name)
        return os.path.join(self.root, name)

    def write(self, name, contents=b""):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(contents)

    def sparse(self, name, size):
        self.write(name)
        os.truncate(self.path(name), size)

    def run_tool(self, *arguments, **options):
        return self.run_words(command(*arguments), **options)

    def run_words(self, words, **options):
        options.setdefault("stdin", None if "input" in options else subprocess.DEVNULL)
        if options["stdin"] is None:
            del options["stdin"]
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        try:
            done = subprocess.run(words, cwd=self.root, timeout=TIME_OUT, check=False, **options)
        except subprocess.TimeoutExpired:
            self.fail(f"{words} does not come to its end")
        return Result(done.returncode, done.stdout, done.stderr)

    def start_tool(self, *arguments, **options):
        running = Running(*arguments, cwd=self.root, **options)
        self.addCleanup(lambda: running.process.poll() is None and running.process.kill())
        return running

    def sum(self, *arguments, **options):
        return self.run_tool("sum", *arguments, **options)

    def assert_sums(self, result, paths, status=0):
        """The result lists exactly these paths in this order, with no message, and the sums are right."""
        self.assertEqual(result.err, b"")
        self.assertEqual(result.status, status)
        self.assertEqual(result.paths(), [os.fsencode(path) for path in paths])
        self.assert_verified(result)

    def assert_verified(self, result):
        if not result.out or shutil.which("xxh128sum") is None:  # xxh128sum refuses an empty list
            return
        check = subprocess.run(["xxh128sum", "-c", "--strict", "-"], input=result.out, cwd=self.root,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIME_OUT, check=False)
        self.assertEqual(check.returncode, 0, check.stdout)
        self.assertEqual(check.stdout.count(b": OK"), len(result.lines()), check.stdout)


def wait_for(condition, what, seconds=TIME_OUT):
    """Polls something that cannot be waited for, such as a file in /proc."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"no {what} in time")
        time.sleep(0.005)


def main():
    """`--list` prints the names of the tests, one a line; names run those tests; nothing runs all. The exit status is
    77 and the last line the reason when every test that ran was skipped."""
    module = sys.modules["__main__"]
    if sys.argv[1:] == ["--list"]:
        for suite in unittest.defaultTestLoader.loadTestsFromModule(module):
            for test in suite:
                print(test.id().removeprefix("__main__."))
        return
    if not TOOL:
        sys.exit("TIDEPOOL_TOOL names no program")
    program = unittest.main(verbosity=2, exit=False)
    result = program.result
    if not result.wasSuccessful():
        sys.exit(1)
    if len(result.skipped) == result.testsRun:
        print(f"skipped: {result.skipped[0][1]}", flush=True)
        sys.exit(77)
