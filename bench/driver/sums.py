"""`tidepool sum` and its peer: the trees, the commands, and their times."""

import os
import random
import shlex
import statistics
import subprocess
import time

from .table import proportion, quantity

BASE = "tidepool sum"
# The numbers of files for each xxh128sum that are tried, so that the peer is seen at its best: a process costs a
# millisecond or more, but a tree of a few files must be split between the two that run at a time.
BATCHES = {"small": [256, 1024, 2500, 10_000], "large": [1]}


def contents(seed):
    """Bytes that do not compress and are the same on every run."""
    return random.Random(seed).randbytes(1 << 20)


def make_small(tree, quick):
    """20,000 files of 100 B to 40 KB, half of them below 2 KB, in folders of a hundred."""
    sizes = random.Random(22)
    data = contents(23)
    for index in range(500 if quick else 20_000):
        folder = tree / f"{index // 2000:02}" / f"{index // 100 % 20:02}"
        if index % 100 == 0:
            folder.mkdir(parents=True)
        size = round(100 * 400 ** sizes.random())
        begin = sizes.randrange(len(data) - size)
        (folder / f"file-{index:05}.dat").write_bytes(data[begin:begin + size])


def make_large(tree, quick):
    """8 files of 256 MiB."""
    tree.mkdir(parents=True)
    for index in range(8):
        data = contents(24 + index)
        with open(tree / f"large-{index}.dat", "wb") as file:
            for _ in range(4 if quick else 256):
                file.write(data)


TREES = {"small": make_small, "large": make_large}


def warm(tree):
    """Reads everything once; the files and their bytes."""
    files = size = 0
    for folder, _, names in os.walk(tree):
        for name in names:
            with open(os.path.join(folder, name), "rb", buffering=0) as file:
                files += 1
                while data := file.read(1 << 20):
                    size += len(data)
    return files, size


def peer(tree, processes, batch):
    return f"find {shlex.quote(str(tree))} -type f -print0 | xargs -0 -P{processes} -n {batch} xxh128sum"


def commands(program, name, tree):
    """What is timed: {what to call it: its command line}."""
    return {BASE: f"exec {shlex.quote(str(program))} sum {shlex.quote(str(tree))}",
            **{f"xargs -P2 -n {batch}": peer(tree, 2, batch) for batch in BATCHES[name]}}


def run_once(command, output):
    """Seconds that the command took, and the processor time of all its processes; what it printed goes to `output`."""
    with open(output, "wb") as file:
        begin = time.monotonic()
        process = subprocess.Popen(["sh", "-c", command], stdout=file, stderr=subprocess.PIPE)
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        end = time.monotonic()
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stderr.close()
    if process.returncode != 0:
        raise RuntimeError(f"{command} failed:\n{errors.decode(errors='replace')[-2000:]}")
    return {"wall": end - begin, "user": usage.ru_utime, "system": usage.ru_stime}


def check(ours, tree, output):
    """Raises RuntimeError unless the file `ours` has the lines that the peer prints, in whatever order."""
    # One process at a time: two that print to one file break each other's lines.
    run_once(peer(tree, 1, 1024), output)
    lines = [sorted(file.read_bytes().splitlines()) for file in (ours, output)]
    if lines[0] != lines[1] or not lines[0]:
        raise RuntimeError(f"{BASE} and xxh128sum do not agree about the checksums")


def measure(program, name, tree, runs, report):
    """One row for each command."""
    files, size = warm(tree)
    timed = commands(program, name, tree)
    output = tree.parent / (name + ".out")
    seen = {what: [] for what in timed}
    for run in range(-1, runs):  # the first does not count
        for what, command in timed.items():
            report(f"{name}, run {max(run + 1, 0)} of {runs}: {what}")
            figures = run_once(command, output)
            if run >= 0:
                seen[what].append(figures)
            elif what == BASE:
                check(output, tree, tree.parent / "peer.out")
    return summarise(name, files, size, seen)


def summarise(name, files, size, seen):
    rows = []
    for what, figures in seen.items():
        walls = [each["wall"] for each in figures]
        # The machine's changes meet all commands of one round alike, so the quotients are taken round by round.
        ratios = [other["wall"] / ours["wall"] for ours, other in zip(seen[BASE], figures)]
        rows.append({"tree": name, "files": files, "bytes": size, "command": what, "runs": len(walls), "values": walls,
                     "min": min(walls), "median": statistics.median(walls), "max": max(walls),
                     "user": statistics.median(each["user"] for each in figures),
                     "system": statistics.median(each["system"] for each in figures),
                     "times_as_fast": statistics.median(ratios)})
    return rows


def table(rows):
    lines = [["tree", "command", "time", "user", "system", "bytes per second", "tidepool is"]]
    for row in rows:
        lines.append([row["tree"], row["command"], quantity(row["median"], "s"), quantity(row["user"], "s"),
                      quantity(row["system"], "s"), f"{row['bytes'] / row['median'] / 1e6:.0f} MB/s",
                      "-" if row["command"] == BASE else f"x {proportion(row['times_as_fast'])} as fast"])
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    text = ["  ".join(value.ljust(width) for value, width in zip(line, widths)).rstrip() for line in lines]
    text.insert(1, "-" * max(len(line) for line in text))
    return "\n".join(text) + """

Medians; "user" and "system" are the processor time of all processes and threads.
"""
