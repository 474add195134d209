"""tidepool stall: what it counts, with and without the fault, and that it leaves no process behind.

Where the fault is injected, the pool takes WINDOW for its first thread, which no removal can miss, and still is well
within the deadline: a run only fails if the fault has struck.
"""

import csv
import os
import re
import signal
import time
import unittest

import harness
from harness import ToolTest, posix_only, wait_for

WINDOW = ("--window", "400000")  # microseconds
PATIENT = ("--deadline", "8000")
needs_fault = unittest.skipIf(harness.ON_WINDOWS, "the fault is injected into tidepool's own engine")
needs_heal = unittest.skipUnless(harness.HEALS, "needs the self-heal, which this build is without")
# Once there, a process of this arm stays for a second before it does anything.
LONG_ARM = ("--arm", "spin-1000000")


def rows_of(out):
    """Arm -> column -> text, of the table."""
    lines = out.decode().split("\n\n")[0].splitlines()
    names = re.split(r"\s{2,}", lines[0])
    rows = [re.split(r"\s{2,}", line) for line in lines[1:]]
    return {row[0]: dict(zip(names, row, strict=True)) for row in rows}


def children_of(process):
    try:
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
            return [int(number) for number in file.read().split()]
    except FileNotFoundError:
        return []


def has_begun(number):
    """It has its own arguments. Until then it shares the memory of the tool, which waits for it to go on."""
    try:
        with open(f"/proc/{number}/cmdline", "rb") as file:
            return b"\0stall-run\0" in file.read()
    except (FileNotFoundError, ProcessLookupError):
        return False


def state_of(number):
    """One letter, or nothing when there is no such process."""
    try:
        with open(f"/proc/{number}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def is_over(number):
    return state_of(number) in ("", "Z")


class StallTest(ToolTest):
    def stall(self, *arguments, status=0, err=b""):
        result = self.run_tool("stall", *arguments)
        self.assertEqual((result.err, result.status), (err, status), result.out.decode())
        return rows_of(result.out), result.out.decode()

    def counts(self, rows, column):
        return {arm: int(row[column]) for arm, row in rows.items()}

    def assert_not_removed(self, row):
        """Under Wine a signal takes its time until it has queued the wait, which is disarmed before."""
        if not harness.ON_WINDOWS:
            self.assertEqual(row["removed"], "0")

    def stall_csv(self, *arguments, status=0):
        self.stall(*arguments, "--csv", "runs.csv", status=status)
        with open(self.path("runs.csv"), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))


class Stall(StallTest):
    def test_without_the_fault_nothing_stalls(self):
        arms = ["cancel", "close", "drain", "warm", "delay", "spin-5"]
        rows, out = self.stall("--arm", *arms, "--runs", "4", *PATIENT)
        self.assertEqual(list(rows), arms)
        self.assertEqual(self.counts(rows, "stalled"), dict.fromkeys(arms, 0))
        self.assertEqual(self.counts(rows, "runs"), dict.fromkeys(arms, 4))
        self.assert_not_removed(rows["drain"])
        self.assertEqual(rows["drain"]["95 % interval"], "at most 60.2 %")
        self.assertIn("tidepool's teardown (drain) did not stall in 4 runs.\n", out)
        self.assertNotIn("fault", out)

    def test_all_arms_run_if_none_is_named_and_one_that_is_named_twice_runs_once(self):
        usual = ["cancel", "close", "drain", "warm", "delay", "spin-5", "spin-20", "spin-100", "spin-1000"]
        self.assertEqual(list(self.stall("--runs", "1", *PATIENT)[0]), usual)
        rows, _ = self.stall("--runs", "1", "--arm", "drain", "cancel", "--arm", "drain", *PATIENT)
        self.assertEqual(self.counts(rows, "runs"), {"drain": 1, "cancel": 1})

    @needs_fault
    def test_a_certain_fault_stalls_each_removal_from_a_cold_pool_and_a_work_item_ends_it(self):
        arms = ["cancel", "close", "delay", "spin-5"]
        rows, out = self.stall("--arm", *arms, "--runs", "2", "--jobs", "8", "--deadline", "2000", *WINDOW,
                               "--probability", "1", status=1)
        self.assertEqual(self.counts(rows, "stalled"), dict.fromkeys(arms, 2))
        self.assertEqual(self.counts(rows, "removed"), dict.fromkeys(arms, 2))
        self.assertEqual(rows["cancel"]["rate"], "100 %")
        self.assertEqual(rows["cancel"]["95 % interval"], "at least 15.8 %")
        self.assertEqual(out.count(": stalled\n"), 3, "the first three are shown")
        shown = out.split(": stalled\n")[1].split("\n\n")[0]
        pool = "    default pool: port depth {}, threads 0, idle 0, may create yes, creating no, scheduled no, appears stalled yes\n"
        self.assertTrue(shown.startswith("  after 2000 ms:\n" + pool.format(1) + "  another packet, which did not run:\n" +
                                         pool.format(2) + "  a work item, which ran; all had run "), shown)
        self.assertIn("Of 8 that stalled, another packet set 0 going, and a work item 8, after ", out)
        self.assertIn("The fault that was injected is seen", out)

    @needs_fault
    def test_a_certain_fault_does_nothing_to_a_drain_to_a_warm_pool_or_after_its_window(self):
        rows, _ = self.stall("--arm", "drain", "warm", "spin-900000", "--runs", "4", "--jobs", "6", *PATIENT, *WINDOW,
                             "--probability", "1")
        self.assertEqual(self.counts(rows, "stalled"), {"drain": 0, "warm": 0, "spin-900000": 0})
        self.assertEqual((rows["drain"]["removed"], rows["spin-900000"]["removed"]), ("0", "0"))

    @needs_fault
    def test_a_fault_that_never_strikes_stalls_nothing(self):
        rows, _ = self.stall("--arm", "cancel", "close", "--runs", "4", "--jobs", "8", *PATIENT, *WINDOW, "--probability", "0")
        self.assertEqual(self.counts(rows, "stalled"), {"cancel": 0, "close": 0})
        self.assertEqual(self.counts(rows, "removed"), {"cancel": 4, "close": 4})

    @needs_fault
    def test_the_fault_strikes_some_processes_and_with_the_same_seed_the_same_ones(self):
        def struck(seed):
            rows = self.stall_csv("--arm", "close", "--runs", "16", "--jobs", "16", "--deadline", "2000", *WINDOW, "--probability",
                                  "0.5", "--seed", seed, status=1)
            return [row["run"] for row in sorted(rows, key=lambda row: int(row["run"])) if row["outcome"] == "stalled"]

        first = struck("1")
        self.assertTrue(0 < len(first) < 16, first)
        self.assertEqual(struck("1"), first)
        self.assertNotEqual(struck("2"), first)

    @needs_fault
    @needs_heal
    def test_the_healer_recovers_every_cancellation_and_no_close(self):
        rows, out = self.stall("--arm", "cancel", "--runs", "6", "--jobs", "6", *PATIENT, *WINDOW, "--probability", "1",
                               "--heal", "on")
        self.assertEqual((rows["cancel"]["stalled"], rows["cancel"].get("recovered")), ("0", "6"))
        said = re.search(r"\ncancel: 6 had stalled and recovered, after (\d+\.\d) ms \(median\), (\d+\.\d) ms at most\n", out)
        self.assertIsNotNone(said, out)
        self.assertGreaterEqual(float(said[1]), 200)
        self.assertGreaterEqual(float(said[2]), float(said[1]))
        self.assertIn("The fault that was injected is seen", out)
        rows, _ = self.stall("--arm", "close", "--runs", "1", "--deadline", "2000", *WINDOW, "--probability", "1", "--heal", "on",
                             status=1)
        self.assertEqual(rows["close"]["stalled"], "1")

    @unittest.skipIf(harness.HEALS, "needs a build without the self-heal")
    def test_without_the_self_heal_it_is_refused(self):
        result = self.run_tool("stall", "--heal", "on")
        self.assertEqual((result.status, result.out), (2, b""))
        self.assertIn(b"tidepool stall: --heal: this build has no self-heal (TIDEPOOL_SELF_HEAL=OFF)\n", result.err)

    def test_a_csv_has_a_line_for_each_run(self):
        rows = self.stall_csv("--arm", "drain", "cancel", "--runs", "3", *PATIENT)
        self.assertEqual(sorted((row["arm"], row["run"]) for row in rows),
                         [(arm, number) for arm in ("cancel", "drain") for number in "123"])
        for row in rows:
            self.assertIn(row["outcome"], ("ran", "late"))
            self.assertGreaterEqual(int(row["ran_after_us"]), 0)
            self.assertEqual((row["depth"], row["work_ran"], row["how"]), ("", "", ""))
            if row["arm"] == "drain":
                self.assert_not_removed(row)

    @needs_fault
    def test_a_csv_has_the_fingerprint_of_a_stalled_run(self):
        row, = self.stall_csv("--arm", "close", "--runs", "1", "--deadline", "2000", *WINDOW, "--probability", "1", status=1)
        self.assertGreaterEqual(int(row.pop("freed_us")), 0)
        self.assertEqual(row, {"arm": "close", "run": "1", "outcome": "stalled", "removed": "1", "ran_after_us": "", "depth": "1",
                               "depth_after_packet": "2", "packet_ran": "0", "work_ran": "1", "all_ran": "1", "how": ""})

    def test_a_csv_that_cannot_be_written_is_an_error_before_anything_is_run(self):
        result = self.run_tool("stall", *LONG_ARM, "--runs", "1000", "--csv", "nowhere/runs.csv")
        self.assertEqual((result.status, result.out), (1, b""))
        self.assertTrue(result.err.startswith(b"tidepool stall: nowhere/runs.csv: "), result.err)

    def test_mistakes_are_named_with_exit_status_2(self):
        for mistake, *arguments in (("no arm 'shove'; there are cancel, close, drain, warm, delay and spin-N", "--arm", "cancel", "shove"),
                                    ("no arm 'spin-1000001'", "--arm", "spin-1000001"), ("no arm 'spin-05'", "--arm", "spin-05"),
                                    ("no arm 'spin-'", "--arm", "spin-"), ("no arm ''", "--arm", ""), ("--arm", "--arm"),
                                    ("--runs", "--runs", "0"), ("--runs", "--runs", "many"), ("--jobs", "--jobs", "257"),
                                    ("--heal", "--heal", "perhaps"), ("--deadline", "--deadline", "0"), ("--csv", "--csv"),
                                    ("unknown option '--frobnicate'", "--frobnicate")):
            result = self.run_tool("stall", *arguments)
            self.assertEqual((result.status, result.out), (2, b""), arguments)
            self.assertIn("tidepool stall: ", result.err.decode())
            self.assertIn(mistake, result.err.decode())
            self.assertIn("Try 'tidepool stall --help'.", result.err.decode())

    @needs_fault
    def test_mistakes_about_the_fault_are_named_too(self):
        for option, value in (("--probability", "1.5"), ("--probability", "-1"), ("--window", "-1"), ("--seed", "x")):
            result = self.run_tool("stall", option, value)
            self.assertEqual((result.status, result.out), (2, b""), option)
            self.assertIn(option, result.err.decode())

    @unittest.skipUnless(harness.ON_WINDOWS, "about Windows")
    def test_on_windows_there_is_nothing_to_inject_a_fault_into(self):
        result = self.run_tool("stall", "--probability", "1")
        self.assertEqual((result.status, result.out), (2, b""))
        self.assertIn(b"unknown option '--probability'", result.err)

    def test_its_help_goes_to_standard_output_and_the_command_of_its_processes_is_in_none(self):
        result = self.run_tool("stall", "--help")
        self.assertEqual((result.status, result.err), (0, b""))
        self.assertIn(b"--heal", result.out)
        self.assertEqual(b"--probability" in result.out, not harness.ON_WINDOWS)
        self.assertNotIn(b"stall-run", result.out + self.run_tool("--help").out)

    @posix_only
    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            result = self.run_tool("stall", "--arm", "drain", "--runs", "1", *PATIENT, stdout=full)
        self.assertEqual(result.err, b"tidepool stall: cannot write to standard output: No space left on device\n")
        self.assertEqual(result.status, 1)


class StallProcesses(StallTest):
    def start(self, *arguments):
        """Some runs that take a second each, three at a time, begun."""
        running = self.start_tool("stall", *LONG_ARM, "--jobs", "3", "--progress", "always", *arguments)
        running.wait_until(lambda child: b" runs  0 stalled" in child.err, "progress")
        return running

    def first_children(self, running):
        """Those that run, the youngest last."""
        children = []

        def are_there():
            children[:] = children_of(running.process)
            return len(children) == 3 and all(has_begun(child) for child in children)

        wait_for(are_there, "three processes")
        return children

    def test_ctrl_c_ends_the_processes_and_prints_what_there_is(self):
        running = self.start("--runs", "1000", "--csv", "runs.csv")
        running.wait_until(lambda child: re.search(rb"[1-9]\d*/1,000 runs", child.err), "run that is over")
        children = [] if harness.ON_WINDOWS else self.first_children(running)
        running.process.send_signal(signal.SIGINT)
        result = running.finish()
        self.assertEqual(result.status, 130)
        said = re.search(rb"tidepool stall: interrupted: (\d+) of 1000 runs\n$", result.err)
        self.assertIsNotNone(said, result.err)
        self.assertEqual(rows_of(result.out)["spin-1000000"]["runs"], said[1].decode())
        with open(self.path("runs.csv"), encoding="utf-8") as file:
            self.assertEqual(len(file.readlines()), 1 + int(said[1]))
        self.assertTrue(all(is_over(child) for child in children))

    @posix_only
    def test_as_many_processes_run_at_once_as_there_are_jobs(self):
        running = self.start("--runs", "9")
        most = 0
        while running.process.poll() is None:
            most = max(most, len(children_of(running.process)))
            time.sleep(0.01)
        self.assertEqual(most, 3)
        self.assertEqual(running.finish().status, 0)

    @needs_fault
    def test_they_end_with_the_one_that_started_them_however_that_ends(self):
        # Stalled, and so patient that without help they would be there for twenty minutes.
        running = self.start_tool("stall", "--arm", "close", "--jobs", "3", *WINDOW, "--probability", "1", "--deadline", "600000")
        children = self.first_children(running)
        running.process.kill()
        running.finish()
        try:
            wait_for(lambda: all(is_over(child) for child in children), "end of the processes", 15)
        finally:
            for child in children:
                if not is_over(child):
                    os.kill(child, signal.SIGKILL)

    @posix_only
    def test_one_that_crashes_is_no_run(self):
        running = self.start("--runs", "3")
        os.kill(self.first_children(running)[-1], signal.SIGSEGV)
        result = running.finish()
        self.assertEqual(result.status, 1)
        row = rows_of(result.out)["spin-1000000"]
        self.assertEqual((row["runs"], row["stalled"], row.get("crashed")), ("2", "0", "1"))
        self.assertRegex(result.out, rb"\nspin-1000000, run \d: crashed: (signal 11|exit status \d+)\n")

    @posix_only
    def test_one_that_hangs_is_killed_and_is_no_run(self):
        running = self.start("--runs", "3", "--deadline", "2000", "--csv", "runs.csv")
        child = self.first_children(running)[-1]
        os.kill(child, signal.SIGSTOP)
        wait_for(lambda: state_of(child) == "T", "stop")
        result = running.finish(max(harness.TIME_OUT, 60))  # the tool gives it 21 seconds
        self.assertEqual(result.status, 1)
        row = rows_of(result.out)["spin-1000000"]
        self.assertEqual((row["runs"], row["stalled"], row.get("killed")), ("2", "0", "1"))
        with open(self.path("runs.csv"), encoding="utf-8") as file:
            self.assertRegex(file.read(), r"\nspin-1000000,\d,killed,,,,,,,,,\n")
        self.assertTrue(is_over(child))


if __name__ == "__main__":
    harness.main()
