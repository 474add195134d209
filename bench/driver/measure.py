"""Runs the contestants, one process for each measurement, interleaved."""

import json
import os
import signal
import subprocess

CONTESTANTS = ["tidepool", "tidepool1", "mutex", "asio", "asio_defer", "asio_tuned", "asio_uring", "asio_uring1", "tbb",
               "libuv", "libuv_rearm", "glib", "winpr", "epoll", "epoll2", "uring", "uring2", "pread", "pread2", "engine",
               "tidepool_alone"]
# Those that are one program with different numbers of threads; the number is two unless it is here.
PROGRAM_OF = {"tidepool1": "tidepool", "asio_uring1": "asio_uring", "epoll2": "epoll", "uring2": "uring",
              "pread2": "pread"}
WORKERS = dict.fromkeys(("tidepool1", "asio_uring1", "epoll", "uring", "pread"), 1)

# What each case measures, in the order in which the cases run.
CASES = {
    "A": "one thread submits one work object",
    "A1": "one thread submits one-off closures",
    "B": "two threads submit a work object each",
    "C": "a closure submits two more, to a depth",
    "D": "submit to an idle pool until the callback starts",
    "D1": "the same beside a callback that computes",
    "E": "two callbacks submit each other",
    "F_arm": "arm and cancel timers",
    "F_late": "a timer's due time until its callback starts",
    "F_beside": "the same beside a callback that computes",
    "G_event": "signal an event until the callback starts",
    "G_fd": "signal a descriptor until the callback starts",
    "G_event_cycles": "64 events: signal, callback, re-arm",
    "G_fd_cycles": "64 descriptors: signal, callback, re-arm",
    "H": "reads at random from a cached file, 64 in flight",
    "ECHO": "requests over 64 connections",
    "GROUP": "create objects that end together, and end them",
    "I": "64 callbacks block until the 65th runs",
}

PLACEMENTS = ["free", "spread"]

# Cases by the part of their names that they share: F and G.
FAMILIES = {name[0]: [case for case in CASES if case.startswith(name[0] + "_")] for name in CASES if "_" in name}
# Those of timers and signals, where there are other contestants than where work is submitted.
SOURCE_CASES = {case for cases in FAMILIES.values() for case in cases}
# And those of overlapped I/O.
IO_CASES = {"H", "ECHO"}
# And that of groups, in which tidepool competes with itself.
GROUP_CASES = {"GROUP"}
SUBMISSION_CASES = set(CASES) - SOURCE_CASES - IO_CASES - GROUP_CASES

# The cases of contestants that can not do all of them, or that differ from others only there: asio_defer where
# callbacks submit, asio_tuned where timers are armed, libuv_rearm where descriptors are re-armed. asio's files are
# there with io_uring only.
ONLY_IN = {
    **dict.fromkeys(("tbb", "glib", "winpr"), SUBMISSION_CASES),
    **dict.fromkeys(("tidepool1", "asio_uring1", "uring", "uring2", "pread", "pread2"), {"H"}),
    "mutex": SUBMISSION_CASES | {"H"},
    "asio": set(CASES) - {"H"} - GROUP_CASES,
    "libuv": set(CASES) - GROUP_CASES - {"D1", "F_beside"},
    "asio_uring": IO_CASES,
    **dict.fromkeys(("engine", "tidepool_alone"), GROUP_CASES),
    "epoll2": {"ECHO"},
    "asio_defer": {"C", "E"},
    "asio_tuned": {"F_arm"},
    "libuv_rearm": {"G_fd_cycles"},
    "epoll": SOURCE_CASES - {"F_arm", "F_beside"} | {"ECHO"},
}
# How many short runs stand for one. The load and the server share the cores, and what else the machine does changes the
# figures of either by a tenth from second to second: only contestants that alternate quickly meet the same.
SHORT_RUNS = {"ECHO": 6}
# How many threads case I needs, and when they come, is what it measures: there is nothing to bind beforehand. GROUP needs
# none.
PLACEMENTS_OF = {"GROUP": ["free"], "I": ["free"]}


def cases_named(names):
    """The cases that `names` of cases and families stand for, in the order in which they run."""
    wanted = {case for name in names for case in FAMILIES.get(name, [name])}
    return [case for case in CASES if case in wanted]


def time_limit(case, quick):
    """Seconds after which a contestant that has not finished is stopped."""
    if case == "I":
        return 5 if quick else 10
    return 60 if quick else 120


def run_once(folder, contestant, case, placement, quick, limit):
    """One measurement in a process of its own: what it printed, with its "status"."""
    program = "bench_" + PROGRAM_OF.get(contestant, contestant)
    command = [os.path.join(folder, program), "--case", case, "--placement", placement]
    if contestant in WORKERS:
        command += ["--workers", str(WORKERS[contestant])]
    if quick:
        command.append("--quick")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    try:
        output, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return {"status": "timed out", "limit_seconds": limit}
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    if process.returncode != 0:
        reason = f"exit status {process.returncode}"
        if process.returncode < 0:
            reason = "ended by " + signal.Signals(-process.returncode).name
        return {"status": "failed", "error": (reason + ": " + errors.strip()[-500:]).rstrip(": ")}
    try:
        return {**json.loads(output), "status": "ok"}
    except json.JSONDecodeError:
        return {"status": "failed", "error": "printed no JSON: " + output[:200]}


def plan(cases, placements, contestants):
    """(case, placement, its contestants), in the order in which they run."""
    for case in cases:
        for placement in PLACEMENTS_OF.get(case, PLACEMENTS):
            if placement in placements:
                yield case, placement, [name for name in contestants if case in ONLY_IN.get(name, CASES)]


def measure(folder, cases, placements, contestants, runs, quick, report):
    """All measurements: {(case, placement, contestant): [what each run printed]}.

    The contestants take turns, so that what changes on the machine meanwhile changes for all. One that has not
    finished in time or has failed is not asked again in that case.
    """
    results = {}
    for case, placement, competing in plan(cases, placements, contestants):
        for name in competing:
            results[case, placement, name] = []
        turns = runs if quick else runs * SHORT_RUNS.get(case, 1)
        for turn in range(turns):
            for name in competing:
                earlier = results[case, placement, name]
                if earlier and earlier[-1]["status"] != "ok":
                    continue
                report(f"{case} {placement}, run {turn + 1} of {turns}: {name}")
                earlier.append(run_once(folder, name, case, placement, quick, time_limit(case, quick)))
    return results
