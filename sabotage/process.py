"""Starting a program so that nothing of it is left behind: own process group, no core file, output into a file."""
import contextlib
import dataclasses
import os
import resource
import select
import signal
import subprocess
import threading
import time

LOOK_SECONDS = 0.1       # how often at the output of what runs

_lock = threading.Lock()
_running = set()         # every child that has not been reaped
_stopped = False


@dataclasses.dataclass(frozen=True)
class Ended:
    """How a program ended: its status as subprocess gives it (negative: a signal), or None when its time ran out."""
    status: int | None
    seconds: float

    @property
    def timed_out(self):
        return self.status is None


def write_no_core_files():
    """For this process and all that it starts."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def environment():
    """Ours, without what would change how git, GoogleTest or ctest behave; our own tests give up early."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "GTEST_", "CTEST_"))}
    return kept | {"LC_ALL": "C.UTF-8", "GTEST_COLOR": "no", "TIDEPOOL_TEST_TIME_OUT": "10"}


def _kill_group(child):
    # Before the child is reaped its number can not have been given to a stranger.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


def _start(command, output, cwd, more_environment):
    with _lock:
        if _stopped:
            raise KeyboardInterrupt
        # Not a preexec_fn, which other threads make unsafe. It dies with the thread that starts it.
        child = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", *command], stdin=subprocess.DEVNULL,
                                 stdout=output, stderr=subprocess.STDOUT, cwd=cwd,
                                 env=environment() | more_environment, start_new_session=True)
        _running.add(child)
        return child


def _ends(exited, log, timeout, enough):
    """Whether the process of the pidfd ends in time. Not waited for any longer once its output is enough."""
    readable = select.poll()
    readable.register(exited, select.POLLIN)
    if enough is None:
        return bool(readable.poll(timeout * 1000))
    deadline, seen = time.monotonic() + timeout, 0
    while not readable.poll(LOOK_SECONDS * 1000):
        if time.monotonic() > deadline:
            return False
        size = log.stat().st_size
        if size != seen and enough(read_log(log)):
            return False
        seen = size
    return True


def run(command, log, timeout, cwd=None, more_environment=(), enough=None):
    """Runs the command with its output in the file `log`. Its process group is dead when this returns or raises.

    Its time is also over when `enough` of its output says so. Raises KeyboardInterrupt when stop_all() has been called,
    on whatever thread.
    """
    began = time.monotonic()
    with open(log, "wb") as output:
        child = _start(command, output, cwd, dict(more_environment))
    exited = None
    try:
        exited = os.pidfd_open(child.pid)
        timed_out = not _ends(exited, log, timeout, enough)
    finally:
        _kill_group(child)
        with _lock:
            _running.discard(child)
            child.wait()
        if exited is not None:
            os.close(exited)
    if _stopped:
        raise KeyboardInterrupt
    return Ended(None if timed_out else child.returncode, time.monotonic() - began)


def stop_all():
    """Ends what runs on any thread, and lets nothing more start."""
    global _stopped
    with _lock:
        _stopped = True
        for child in _running:
            _kill_group(child)


def read_log(log):
    return log.read_text(encoding="utf-8", errors="replace")
