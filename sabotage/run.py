#!/usr/bin/env python3
"""Applies deliberate defects to a scratch copy of the tree and sees whether the tests that must fail do fail.

A defect is caught when every test entry its case names reports it by a failed assertion. A crash or a time-out, a
survival, a text that is no longer there and a defect that does not compile all count as not caught. Two controls come
first: the unchanged tree must pass every test that a chosen case names, and the known defect must be caught. The exit
status is 0 when all chosen defects are caught, those aside that there was no time for, and both controls held.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import dataclasses
import fcntl
import json
import math
import pathlib
import random
import shutil
import signal
import sys
import threading
import time

import manifest as manifests
import process
import scratch
import verdict as verdicts
from verdict import Outcome, Verdict

CONTROL_SECONDS = 300
REPEAT_SECONDS = 20      # after which a case is not judged once more
SECONDS_PER_DAY = 86400
SIGNAL_SECONDS = 0.2     # how soon an interruption is noticed
NOT_CAUGHT = (Verdict.CRASH, Verdict.SURVIVED, Verdict.NOT_APPLICABLE, Verdict.NOT_COMPILING)


class ControlFailed(Exception):
    pass


class Lane:
    """A tree of its own, with its builds. It has one defect at a time; lanes do not disturb each other."""

    def __init__(self, number, manifest, root, work, cache, options):
        self.manifest = manifest
        self.cache = cache
        self.jobs = options.jobs
        self.keep = options.keep
        self.repeat = options.repeat
        self.work = work
        self.number = number
        self.tree = scratch.Tree(root, work / f"tree-{number}")
        self.builds = {}

    def log(self, name):
        return self.work / "logs" / f"{name}.log"

    def prepare(self, cases):
        """For the configurations of these cases."""
        self.tree.sync()
        for name in sorted({case.configuration for case in cases}):
            self.builds[name] = scratch.Build(self.tree, self.manifest.configurations[name], self.cache, self.jobs,
                                              self.log(f"build-{name}-{self.number}"))
            self.builds[name].configure()

    def takes(self, case):
        return case.configuration in self.builds

    def build_unchanged(self, cases):
        for configuration, build in self.builds.items():
            named = self._named(configuration, cases)
            built, _ = build.build({target for test in named for target in test.targets})
            if not built:
                raise ControlFailed(f"the unchanged tree does not build ({configuration}): {build.first_error()}")
            build.keep({test.program for test in named if test.program})

    def check_unchanged(self, cases):
        """The unchanged tree passes every test that a case names, and every entry names at least one."""
        for configuration, build in self.builds.items():
            problems = []
            for union in self._unions(build, self._named(configuration, cases)):
                build.log = self.log(f"unchanged-{configuration}-build")
                built, _ = build.build_tests([union])
                if not built:
                    raise ControlFailed(f"the unchanged tree does not build ({configuration}): {build.first_error()}")
                outcome = verdicts.run_test(build, union, CONTROL_SECONDS, self.log(f"unchanged-{configuration}"),
                                            self.manifest.failure, stop_early=False)
                if outcome.verdict is not Verdict.SURVIVED:
                    problems.append(f"the unchanged tree does not pass ({configuration}): {outcome.detail}")
                    continue
                patterns = union.filter.split(":") if union.program else []
                problems += [f"no test that runs is called {pattern} in {union.program}" for pattern in patterns
                             if not any(verdicts.matches(pattern, name) for name in outcome.passed)]
            if problems:
                raise ControlFailed("\n".join(problems))
        self.restore()

    @staticmethod
    def _named(configuration, cases):
        return {test for case in cases if case.configuration == configuration for test in case.tests}

    @staticmethod
    def _unions(build, named):
        """Each program that cases get once, with all filters; each ctest entry by itself."""
        filters = collections.defaultdict(set)
        for test in named:
            if test.program:
                parts = build.parts[test.program]
                contents = parts and tuple(parts.needed(test.filter))
                filters[test.program, contents].update(test.filter.split(":"))
        unions = {manifests.NamedTest(program=program, filter=":".join(sorted(patterns)))
                  for (program, _), patterns in filters.items()}
        return sorted(unions, key=str) + sorted((test for test in named if test.ctest), key=str)

    def try_case(self, case):
        """The case's entry in the results."""
        began = time.monotonic()
        build_seconds = 0.0
        build = self.builds[case.configuration]
        build.log = self.log(f"{case.id}-build")
        self.restore()                        # what --keep has kept
        try:
            problem = self.tree.apply(case)
            if problem:
                outcome = Outcome(Verdict.NOT_APPLICABLE, problem)
            else:
                built, build_seconds = build.build_tests(case.tests)
                outcome = self._judge(build, case) if built else Outcome(Verdict.NOT_COMPILING, build.first_error())
        finally:
            if not self.keep:
                self.restore()
        seconds = time.monotonic() - began
        print(f"{outcome.verdict.value:<17} {seconds:5.1f} s  {case.row:<3} {case.id}: {outcome.detail}", flush=True)
        return {"id": case.id, "row": case.row, "configuration": case.configuration, "verdict": outcome.verdict.value,
                "detail": outcome.detail, "build_seconds": round(build_seconds, 1), "seconds": round(seconds, 1)}

    def _judge(self, build, case):
        """As often as asked, while it is caught and there is time."""
        began = time.monotonic()
        for count in range(1, self.repeat + 1):
            outcome = verdicts.judge(build, case, self.log(case.id), self.manifest.failure)
            if outcome.verdict is not Verdict.CAUGHT or time.monotonic() - began > REPEAT_SECONDS:
                break
        if self.repeat > 1:
            outcome = dataclasses.replace(outcome, detail=f"[{count}/{self.repeat}] {outcome.detail}")
        return outcome

    def restore(self):
        for build in self.builds.values():
            build.put_back()
        self.tree.restore()


class Sweep:
    def __init__(self, manifest, root, work, options):
        self.manifest = manifest
        self.work = work
        cache = scratch.CompilerCache()
        self.lanes = [Lane(number + 1, manifest, root, work, cache, options) for number in range(options.lanes)]
        self.ends = time.monotonic() + (math.inf if options.seconds is None else options.seconds)
        self.results = []
        self.controls = {"unchanged": None, "defect": None}

    def prepare(self, cases):
        shutil.rmtree(self.work / "logs", ignore_errors=True)
        (self.work / "logs").mkdir(parents=True)
        # The first lane has every build; the others the one that most cases need.
        most_cases, _ = collections.Counter(case.configuration for case in cases).most_common(1)[0]
        for lane in self.lanes:
            lane.prepare(cases if lane is self.lanes[0] else
                         [case for case in cases if case.configuration == most_cases])

    def check_unchanged(self, cases):
        first, *others = self.lanes
        self.controls["unchanged"] = False
        first.build_unchanged(cases)
        first.check_unchanged(cases)
        for lane in others:                   # the same once more, as good as compiled
            lane.build_unchanged(cases)
        self.controls["unchanged"] = True

    def try_all(self, cases):
        """Each lane takes the next case that it can, those first that only the first lane can."""
        waiting = sorted(cases, key=lambda case: all(lane.takes(case) for lane in self.lanes))
        lock = threading.Lock()

        def next_for(lane):
            with lock:
                if time.monotonic() >= self.ends:
                    return None
                case = next((case for case in waiting if lane.takes(case)), None)
                if case is not None:
                    waiting.remove(case)
                return case

        def run(lane):
            while (case := next_for(lane)) is not None:
                self.results.append(lane.try_case(case))

        with concurrent.futures.ThreadPoolExecutor(len(self.lanes)) as threads:
            try:
                running = [threads.submit(run, lane) for lane in self.lanes]
                while running:                # not one long wait: another thread may be told of a signal
                    done, running = concurrent.futures.wait(running, SIGNAL_SECONDS, concurrent.futures.FIRST_COMPLETED)
                    for each in done:
                        each.result()
            except BaseException:
                process.stop_all()
                raise

    def run(self, cases):
        """Both controls, then the chosen cases."""
        control = next(case for case in self.manifest.cases if case.control)
        others = [case for case in cases if not case.control]
        self.prepare([control, *others])
        began = time.monotonic()
        self.check_unchanged([control, *others])
        print(f"control: the unchanged tree passes the named tests ({time.monotonic() - began:.1f} s)", flush=True)
        self.results.append(self.lanes[0].try_case(control))
        self.controls["defect"] = self.results[0]["verdict"] == Verdict.CAUGHT.value
        if not self.controls["defect"]:
            raise ControlFailed("the known defect was not caught")
        print("control: the known defect is caught", flush=True)
        self.try_all(others)
        order = [case.id for case in cases]
        self.results[1:] = sorted(self.results[1:], key=lambda result: order.index(result["id"]))


def print_table(results, rows):
    counted = collections.defaultdict(collections.Counter)
    for result in results:
        counted[result["row"]][result["verdict"]] += 1
    columns = [Verdict.CAUGHT, *NOT_CAUGHT]
    print("\n" + "  ".join(["row ", *(column.value for column in columns)]))
    for row in sorted(counted.keys() | set(rows)):
        cells = [str(counted[row][column.value]).rjust(len(column.value)) for column in columns]
        print("  ".join([f"{row:<4}", *cells]) + ("" if counted[row] else "  no case"))


@contextlib.contextmanager
def only_one(work):
    work.mkdir(parents=True, exist_ok=True)
    with open(work / "lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise scratch.ScratchError(f"another run uses {work}") from None
        yield


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--sweep", action="store_true", help="try every case")
    what.add_argument("--case", nargs="+", metavar="ID", help="try these cases")
    what.add_argument("--list", action="store_true", help="list the cases and what does not apply any more")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent,
                        help="the project (default: the one this file is in)")
    parser.add_argument("--work", type=pathlib.Path, help="scratch folder (default: ROOT/build/sabotage)")
    parser.add_argument("--jobs", type=int, default=2, help="parallel compilations (default 2)")
    parser.add_argument("--lanes", type=int, metavar="N",
                        help="defects at a time (default: 2 for a sweep where ccache is installed, else 1)")
    parser.add_argument("--keep", action="store_true", help="leave the last defect in the scratch tree, to look at it")
    parser.add_argument("--repeat", type=int, default=1, metavar="N",
                        help=f"judge each case up to N times, for at most {REPEAT_SECONDS} s; all must catch it")
    parser.add_argument("--seconds", type=float, metavar="N",
                        help="begin no case N seconds from now on; each day another part of a sweep comes first")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the results there as well")
    options = parser.parse_args(arguments)
    if options.lanes is None:
        options.lanes = 2 if options.sweep and scratch.CompilerCache.is_there() else 1
    if options.lanes < 1 or (options.keep and options.lanes != 1):
        parser.error("--lanes is a number from 1 on, and 1 with --keep")
    if options.seconds is not None and not options.seconds > 0:
        parser.error("--seconds is a number above 0")
    if options.repeat < 1:
        parser.error("--repeat is a number from 1 on")
    return options


def choose(manifest, options):
    if options.sweep:
        if options.seconds is None:
            return list(manifest.cases)
        # So that none is always among those that there is no time for.
        return random.Random(int(time.time() // SECONDS_PER_DAY)).sample(manifest.cases, len(manifest.cases))
    known = {case.id: case for case in manifest.cases}
    unknown = [name for name in options.case if name not in known]
    if unknown:
        raise manifests.ManifestError(f"there is no case {', '.join(unknown)}")
    return [known[name] for name in options.case]


def sweep(options, manifest):
    began = time.monotonic()
    cases = choose(manifest, options)
    root = options.root.resolve()
    work = (options.work or root / "build" / "sabotage").resolve()
    runner = Sweep(manifest, root, work, options)
    held = True
    with only_one(work):
        try:
            runner.run(cases)
        except (ControlFailed, scratch.ScratchError) as failed:
            held = False
            print(f"control: FAILED: {failed}", flush=True)
    missing = manifest.rows_without_case if options.sweep else []
    print_table(runner.results, missing)
    chosen = {case.id for case in cases}
    caught = sum(result["verdict"] == Verdict.CAUGHT.value for result in runner.results if result["id"] in chosen)
    not_tried = len(chosen - {result["id"] for result in runner.results}) if held else 0   # for lack of time
    not_caught = len(cases) - caught - not_tried
    seconds = time.monotonic() - began
    if options.json:
        options.json.write_text(json.dumps({
            "caught": caught, "not_caught": not_caught, "not_tried": not_tried, "controls": runner.controls,
            "rows_without_case": missing, "seconds": round(seconds, 1), "cases": runner.results,
        }, indent=2) + "\n", encoding="utf-8")
    print(f"\ntotal time: {seconds:.0f} s")
    print(f"sabotage: {caught} caught, {not_caught} not caught" + (f", {not_tried} not tried" if not_tried else ""), flush=True)
    return 0 if held and not_caught == 0 and not missing else 1


def stop(*_):
    raise KeyboardInterrupt


def main(arguments):
    options = parse_arguments(arguments)
    signal.signal(signal.SIGTERM, stop)
    process.write_no_core_files()
    try:
        manifest = manifests.load(options.root / "sabotage")
        if options.list:
            for case in manifest.cases:
                problem = scratch.why_not_applicable(case, options.root)
                print(f"{case.row:<4} {case.id}{' (control)' if case.control else ''}: {case.why}"
                      + (f" DOES NOT APPLY: {problem}" if problem else ""))
            return 0
        return sweep(options, manifest)
    except KeyboardInterrupt:
        print("sabotage: interrupted", file=sys.stderr)
        return 130
    except (manifests.ManifestError, scratch.ScratchError, OSError) as error:
        print(f"sabotage: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
