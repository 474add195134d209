#!/usr/bin/env python3
"""What a library that can record costs a program that records nothing: cost.py WITHOUT SOURCES BUILD

WITHOUT is tests/trace/cost.cpp built without the trace. The same is built from SOURCES with it, in BUILD, and callgrind counts
the instructions of both. Only the functions of the safe layer are compared, since what the engine does depends on which
thread is quicker: each submission passes the same path there. At most three instructions are allowed for each of the
recording sites that it passes.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

SUBMISSIONS = 10_000
SITES = ["submitted", "the call of SubmitThreadpoolWork", "enter", "leave"]
ALLOWED = 3


def build(sources, folder, without):
    """With the flags of the build that `without` comes from."""
    cache = dict(re.findall(r"^(CMAKE_(?:BUILD_TYPE|CXX_COMPILER|CXX_FLAGS)):\w+=(.*)$",
                            (without / "CMakeCache.txt").read_text(encoding="utf-8"), re.MULTILINE))
    options = [f"-D{name}={value}" for name, value in cache.items()]
    for command in (["cmake", "-G", "Ninja", "-S", sources, "-B", folder, *options, "-DTIDEPOOL_TRACE=ON",
                     "-DTIDEPOOL_BUILD_TOOL=OFF", "-DTIDEPOOL_BUILD_EXAMPLES=OFF"],
                    ["cmake", "--build", folder, "--target", "trace_cost"]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"the program could not be built with the trace:\n{done.stdout}{done.stderr}")
    return pathlib.Path(folder, "tests", "trace", "trace_cost")


def instructions(program):
    """For each submission, in each function of the safe layer."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "counts")
        subprocess.run(["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={file}", program], check=True)
        table = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no", "--show-percs=no", file],
                               check=True, capture_output=True, text=True).stdout
    counts = {}
    for number, name in re.findall(r"^ *([\d,]+)  \S*?:(tidepool::(?!engine::).*?)(?: \[.*\])?$", table, re.MULTILINE):
        # A part that is kept elsewhere belongs to its function; a dozen instructions in all are none for each.
        counts[name] = counts.get(name, 0) + round(int(number.replace(",", "")) / SUBMISSIONS)
    counts = {name: count for name, count in counts.items() if count != 0}
    if not any("work::submit" in name for name in counts):
        sys.exit(f"{program}: the submissions were not counted:\n{table}")
    return counts


def main(without, sources, folder):
    without = pathlib.Path(without)
    before = instructions(without)
    after = instructions(build(sources, folder, pathlib.Path(without).parents[2]))
    print("instructions for each submission and its callback, without the trace and with it:")
    for name in sorted(before | after):
        print(f"  {before.get(name, 0):4} {after.get(name, 0):4}  {name}")
    more = sum(after.values()) - sum(before.values())
    print(f"  {more} more, for {len(SITES)} sites: {', '.join(SITES)}")
    if more > ALLOWED * len(SITES):
        print(f"FAIL: more than {ALLOWED} instructions for each site")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
