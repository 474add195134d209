#!/usr/bin/env python3
"""Tests of bench/compare and bench/sum_compare. Made-up contestants show what the driver does with what they print; with
TIDEPOOL_BENCH_DIR naming a build folder, the real ones run once, with few operations."""

import contextlib
import io
import json
import math
import os
import pathlib
import runpy
import select
import shutil
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from driver import chart, measure, summary, sums, table  # noqa: E402

REAL = os.environ.get("TIDEPOOL_BENCH_DIR")
FIELDS = {"case": str, "placement": str, "contestant": str, "metric": str, "unit": str, "runs": int, "cores": dict,
          "status": str}


def printed(contestant, case, placement, value, **more):
    metric, unit = ("total", "ms") if case == "I" else ("per_callback", "ns")
    return {"contestant": contestant, "case": case, "placement": placement, "operations": 100, "threads": 2,
            "unbound_threads": 0 if placement == "spread" else 2, "cores": {"0": 0.25, "1": 0.75},
            "metrics": [{"metric": metric, "unit": unit, "value": value}], **more}


def compare(*arguments):
    """bench/compare's exit status and what it printed."""
    main = runpy.run_path(str(HERE / "compare"))["main"]
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        status = main(list(arguments))
    return status, output.getvalue(), errors.getvalue()


class WithContestants(unittest.TestCase):
    """A folder of made-up contestants; each appends its name to a log when it runs."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.log = self.folder / "log"

    def contestant(self, name, script):
        program = self.folder / ("bench_" + name)
        program.write_text(f"#!/bin/sh\necho {name} >> '{self.log}'\n{script}\n")
        program.chmod(0o755)

    def contestant_that_prints(self, name, value, placement="free", **more):
        self.contestant(name, f"echo '{json.dumps(printed(name, 'A', placement, value, **more))}'")

    def order(self):
        return self.log.read_text().split()


class Measuring(WithContestants):
    def measure(self, contestants, runs):
        return measure.measure(str(self.folder), ["A"], ["free"], contestants, runs, True, lambda text: None)

    def test_contestants_take_turns_run_by_run(self):
        for name in ("tidepool", "mutex", "asio"):
            self.contestant_that_prints(name, 1)
        self.measure(["tidepool", "mutex", "asio"], 3)
        self.assertEqual(self.order(), ["tidepool", "mutex", "asio"] * 3)

    def test_short_runs_are_made_more_often_unless_quick(self):
        for name in ("tidepool", "asio"):
            self.contestant_that_prints(name, 1)
        for quick, turns in ((True, 2), (False, 2 * measure.SHORT_RUNS["ECHO"])):
            self.log.unlink(missing_ok=True)
            measure.measure(str(self.folder), ["ECHO"], ["free"], ["tidepool", "asio"], 2, quick, lambda text: None)
            self.assertEqual(self.order(), ["tidepool", "asio"] * turns)

    def test_a_contestant_that_hangs_is_stopped_and_reported(self):
        self.contestant("glib", "exec sleep 1000")
        seen = measure.run_once(str(self.folder), "glib", "I", "free", True, 0.2)
        self.assertEqual(seen, {"status": "timed out", "limit_seconds": 0.2})

    def test_what_a_stopped_contestant_started_is_stopped_with_it(self):
        child = self.folder / "child"
        self.contestant("glib", f"sleep 1000 & echo $! > '{child}.new'; mv '{child}.new' '{child}'; wait")
        measure.run_once(str(self.folder), "glib", "I", "free", True, 5)
        try:
            descriptor = os.pidfd_open(int(child.read_text()))
        except ProcessLookupError:
            return  # dead, and reaped
        self.addCleanup(os.close, descriptor)
        # It has been killed, and may take a moment to die of it.
        self.assertEqual(select.select([descriptor], [], [], 10)[0], [descriptor], "it goes on")

    def test_a_contestant_that_failed_is_not_asked_again_in_that_case(self):
        self.contestant_that_prints("tidepool", 1)
        self.contestant("mutex", "echo broken >&2; exit 3")
        results = self.measure(["tidepool", "mutex"], 3)
        self.assertEqual(self.order().count("mutex"), 1)
        self.assertEqual(self.order().count("tidepool"), 3)
        self.assertEqual(results["A", "free", "mutex"][0]["error"], "exit status 3: broken")

    def test_a_contestant_that_prints_nonsense_has_failed(self):
        self.contestant("tidepool", "echo nonsense")
        self.assertEqual(self.measure(["tidepool"], 1)["A", "free", "tidepool"][0]["status"], "failed")

    def test_a_contestant_runs_only_the_cases_in_which_it_differs(self):
        competing = {(case, placement): names
                     for case, placement, names in measure.plan(measure.CASES, measure.PLACEMENTS, measure.CONTESTANTS)}
        self.assertNotIn("asio_defer", competing["A", "free"])
        self.assertIn("asio_defer", competing["E", "spread"])
        self.assertNotIn(("I", "spread"), competing)
        self.assertEqual(competing["F_arm", "free"], ["tidepool", "asio", "asio_tuned", "libuv"])
        self.assertEqual(competing["F_late", "free"], ["tidepool", "asio", "libuv", "epoll"])
        self.assertEqual(competing["F_beside", "spread"], ["tidepool", "asio"])
        self.assertEqual(competing["G_fd_cycles", "spread"], ["tidepool", "asio", "libuv", "libuv_rearm", "epoll"])
        self.assertNotIn("epoll", competing["A", "free"])

    def test_files_and_connections_have_contestants_of_their_own(self):
        competing = {case: names for case, _, names in measure.plan(["A", "H", "ECHO"], ["free"], measure.CONTESTANTS)}
        self.assertEqual(competing["H"], ["tidepool", "tidepool1", "mutex", "asio_uring", "asio_uring1", "libuv", "uring",
                                          "uring2", "pread", "pread2"])
        self.assertEqual(competing["ECHO"], ["tidepool", "asio", "asio_uring", "libuv", "epoll", "epoll2"])
        self.assertFalse({"asio_uring", "uring", "pread", "tidepool1"} & set(competing["A"]))

    def test_groups_have_contestants_of_their_own_and_need_no_placement(self):
        self.assertEqual(list(measure.plan(["GROUP"], measure.PLACEMENTS, measure.CONTESTANTS)),
                         [("GROUP", "free", ["tidepool", "engine", "tidepool_alone"])])
        self.assertFalse({"engine", "tidepool_alone"} & {name for _, _, names in measure.plan(
            [case for case in measure.CASES if case != "GROUP"], measure.PLACEMENTS, measure.CONTESTANTS) for name in names})

    def test_a_contestant_can_be_the_program_of_another_with_fewer_threads(self):
        self.contestant("uring", f"echo \"$@\" >> '{self.log}'; echo '{{}}'")
        for name in ("uring", "uring2"):
            measure.run_once(str(self.folder), name, "H", "free", False, 5)
        self.assertEqual(self.log.read_text().splitlines(), ["uring", "--case H --placement free --workers 1",
                                                             "uring", "--case H --placement free"])

    def test_a_family_stands_for_its_cases(self):
        self.assertEqual(measure.cases_named(["G", "B", "F"]), ["B", "F_arm", "F_late", "F_beside", "G_event",
                                                                "G_fd", "G_event_cycles", "G_fd_cycles"])
        self.assertEqual(measure.cases_named(["F_late", "F"]), ["F_arm", "F_late", "F_beside"])
        self.assertEqual(measure.cases_named(measure.CASES), list(measure.CASES))


class Summing(unittest.TestCase):
    def rows(self, **values):
        return summary.summarise({("A", "spread", name): [{**printed(name, "A", "spread", value), "status": "ok"}
                                                          for value in each] for name, each in values.items()})

    def test_figures_are_the_least_the_median_and_the_most_of_the_runs(self):
        row = self.rows(tidepool=[30, 10, 80])[0]
        self.assertEqual((row["min"], row["median"], row["max"], row["runs"]), (10, 30, 80, 3))

    def test_the_ratio_is_tidepool_over_the_peer(self):
        ratios = {row["contestant"]: row["ratio"] for row in self.rows(tidepool=[50], mutex=[100], asio=[25])}
        self.assertEqual(ratios, {"tidepool": 1, "mutex": 0.5, "asio": 2})

    def test_a_contestant_without_a_result_has_a_row_that_says_so(self):
        rows = summary.summarise({("I", "free", "tidepool"): [{**printed("tidepool", "I", "free", 4), "status": "ok"}],
                                  ("I", "free", "mutex"): [{"status": "timed out", "limit_seconds": 10}]})
        late = rows[1]
        self.assertEqual((late["status"], late["median"], late["ratio"]), ("timed out", None, None))
        self.assertIn("none in 10 s", table.table(rows, measure.CONTESTANTS))
        self.assertEqual(summary.problems(rows), [])

    def test_tidepool_without_a_result_is_a_problem(self):
        rows = summary.summarise({("I", "free", "tidepool"): [{"status": "timed out", "limit_seconds": 10}]})
        self.assertEqual(len(summary.problems(rows)), 1)

    def test_a_callback_on_a_thread_that_was_not_placed_is_a_problem(self):
        rows = summary.summarise({("A", "spread", "asio"): [
            {**printed("asio", "A", "spread", 5, unbound_threads=1), "status": "ok"}]})
        self.assertEqual(len(summary.problems(rows)), 1)

    def test_the_table_shows_ratio_time_and_cores(self):
        text = table.table(self.rows(tidepool=[50], mutex=[1250]), measure.CONTESTANTS)
        self.assertIn("50.0 ns @2", text)
        self.assertIn("0.040  1.25 us @2", text)

    def test_the_table_names_the_fastest_peer(self):
        text = table.table(self.rows(tidepool=[50], mutex=[40], asio=[100]), measure.CONTESTANTS)
        self.assertIn("1.25  mutex", text)

    def test_a_time_of_fewer_operations_is_marked(self):
        rows = summary.summarise({
            ("A", "free", "tidepool"): [{**printed("tidepool", "A", "free", 5), "status": "ok"}],
            ("A", "free", "winpr"): [{**printed("winpr", "A", "free", 50, operations=10), "status": "ok"}]})
        self.assertIn("0.10  ~50.0 ns", table.table(rows, measure.CONTESTANTS))

    def summed(self, case, **metrics):
        """Rows of `case`, where metrics are metric=(unit, {contestant: value}); without cores, as nothing has run."""
        names = {name for _, values in metrics.values() for name in values}
        return summary.summarise({(case, "free", name): [{
            **printed(name, case, "free", 0), "cores": {}, "status": "ok",
            "metrics": [{"metric": metric, "unit": unit, "value": values[name]}
                        for metric, (unit, values) in metrics.items() if name in values]}] for name in sorted(names)})

    def test_bytes_and_growth_are_shown_with_their_units(self):
        text = table.table(self.summed("F_arm", arm_1M=("ns", {"tidepool": 60, "asio": 240}),
                                       arm_1M_to_10k=("times", {"tidepool": 1.5, "asio": 4}),
                                       bytes_per_timer_1M=("B", {"tidepool": 300, "asio": 200})), measure.CONTESTANTS)
        lines = [line.split() for line in text.splitlines()]
        self.assertIn("F_arm free arm 1M 60.0 ns 0.25 240 ns 0.25 asio".split(), lines)
        self.assertIn("F_arm free arm 1M to 10k x 1.50 x 4.00 -".split(), lines)
        self.assertIn("F_arm free bytes per timer 1M 300 B 1.50 200 B 1.50 asio".split(), lines)

    def test_timers_and_signals_have_a_table_of_their_own(self):
        text = table.table(self.rows(tidepool=[50], mutex=[40]) +
                           self.summed("F_late", p50=("ns", {"tidepool": 50, "epoll": 40})), measure.CONTESTANTS)
        heads = [line.split()[3:] for line in text.splitlines() if line.startswith("case ")]
        self.assertEqual(heads, [["tidepool", "mutex", "fastest", "peer"], ["tidepool", "epoll", "fastest", "peer"]])

    def test_files_and_connections_have_a_table_of_their_own_with_a_rate(self):
        text = table.table(self.rows(tidepool=[50], mutex=[40]) + self.summed(
            "H", per_callback=("ns", {"tidepool": 500, "uring": 400}),
            rate=("reads/s", {"tidepool": 2_000_000, "uring": 2_500_000})), measure.CONTESTANTS)
        lines = [line.split() for line in text.splitlines()]
        self.assertIn("case placement metric tidepool uring fastest peer".split(), lines)
        self.assertIn("H free per callback 500 ns 1.25 400 ns 1.25 uring".split(), lines)
        self.assertIn("H free rate 2000000 reads/s 2500000 reads/s -".split(), lines)

    def test_only_tidepool_must_not_fire_early(self):
        self.assertEqual(summary.problems(self.summed("F_late", early=("timers", {"tidepool": 0, "libuv": 7}))), [])
        self.assertEqual(summary.problems(self.summed("F_late", early=("timers", {"tidepool": 2}))),
                         ["tidepool in F_late, free: up to 2 timers fired early"])

    def test_quantities_get_the_unit_that_suits_them(self):
        for value, unit, text in ((9.996, "ns", "10.0 ns"), (0.25, "ns", "0.25 ns"), (1500, "ns", "1.50 us"),
                                  (12.5, "ms", "12.5 ms"), (62000, "ms", "62.0 s"), (0.5, "of 1", "50 %"),
                                  (424.04, "B", "424 B"), (2.125, "times", "x 2.12"), (3, "timers", "3 timers")):
            self.assertEqual(table.quantity(value, unit), text)

    def test_the_chart_is_well_formed_and_shows_every_contestant(self):
        rows = self.rows(tidepool=[50], mutex=[40, 60], asio=[100]) + summary.summarise(
            {("I", "free", "libuv"): [{"status": "timed out", "limit_seconds": 10}]})
        drawn = xml.etree.ElementTree.fromstring(chart.chart(rows, measure.CONTESTANTS, 2))
        texts = {element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")}
        self.assertLessEqual({"tidepool", "mutex", "asio", "libuv", "nothing in 10 s"}, texts)

    def test_the_chart_has_panels_for_arming_and_cancelling(self):
        drawn = chart.chart(self.summed("F_arm", arm_1M=("ns", {"tidepool": 60}), cancel_1M=("ns", {"tidepool": 30})),
                            measure.CONTESTANTS, 1)
        for title in ("(arm 1M)", "(cancel 1M)"):
            self.assertIn(title, drawn)


def check_json(test, file):
    """The promised form of --json; returns the rows."""
    rows = json.loads(file.read_text())
    test.assertIsInstance(rows, list)
    test.assertTrue(rows)
    for row in rows:
        for field, kind in FIELDS.items():
            test.assertIsInstance(row[field], kind, field)
        if row["status"] == "ok":
            test.assertTrue(0 <= row["min"] <= row["median"] <= row["max"] and math.isfinite(row["max"]), row)
            test.assertEqual(len(row["values"]), row["runs"])
            if row["case"] != "F_arm":  # where no callback runs
                test.assertAlmostEqual(sum(row["cores"].values()), 1, delta=0.02)
        else:
            test.assertIsNone(row["median"])
    return rows


class Comparing(WithContestants):
    def test_table_json_and_chart_are_written(self):
        self.contestant_that_prints("tidepool", 40)
        self.contestant_that_prints("mutex", 80)
        status, output, errors = compare(
            "--no-build", "--build-dir", str(self.folder), "--case", "A", "--placement", "free", "--contestant",
            "tidepool", "mutex", "--json", str(self.folder / "out.json"), "--svg", str(self.folder / "out.svg"))
        self.assertEqual((status, errors), (0, ""))
        self.assertIn("0.50  80.0 ns", output)
        rows = check_json(self, self.folder / "out.json")
        self.assertEqual([row["runs"] for row in rows], [7, 7])
        xml.etree.ElementTree.parse(self.folder / "out.svg")

    def test_a_failing_contestant_makes_the_comparison_fail_and_is_named(self):
        self.contestant_that_prints("tidepool", 40)
        self.contestant("mutex", "kill -SEGV $$")
        status, output, errors = compare("--no-build", "--build-dir", str(self.folder), "--case", "A", "--placement",
                                         "free", "--contestant", "tidepool", "mutex", "--quick")
        self.assertEqual(status, 1)
        self.assertIn("failed", output)
        self.assertIn("mutex in A, free: ended by SIGSEGV", errors)

    def test_a_family_of_cases_can_be_asked_for(self):
        self.contestant("epoll", 'echo "$2" >> ' + f"'{self.folder / 'cases'}'" + "; echo '" +
                        json.dumps(printed("epoll", "G_fd", "free", 5)) + "'")
        status, _, errors = compare("--no-build", "--build-dir", str(self.folder), "--case", "G", "--placement", "free",
                                    "--contestant", "epoll", "--runs", "1")
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual((self.folder / "cases").read_text().split(), measure.FAMILIES["G"])

    def test_a_folder_without_contestants_is_refused(self):
        status, _, errors = compare("--no-build", "--build-dir", str(self.folder))
        self.assertEqual(status, 1)
        self.assertIn("there are no contestants in it", errors)

    def test_an_unknown_case_is_refused(self):
        with self.assertRaises(SystemExit) as refused:
            compare("--case", "Z")
        self.assertEqual(refused.exception.code, 2)

    @unittest.skipUnless(REAL, "TIDEPOOL_BENCH_DIR names no build folder")
    def test_the_real_contestants_measure_every_case(self):
        file = self.folder / "out.json"
        status, _, errors = compare("--no-build", "--build-dir", REAL, "--quick", "--runs", "1", "--json", str(file))
        self.assertEqual((status, errors), (0, ""))
        rows = check_json(self, file)
        measured = {(row["case"], row["placement"], row["contestant"]) for row in rows}
        expected = {(case, placement, name)
                    for case, placement, names in measure.plan(measure.CASES, measure.PLACEMENTS, measure.CONTESTANTS)
                    for name in names}
        self.assertEqual(measured, expected)
        measured_metrics = {"F_late": {"p50", "p99", "early"}, "F_beside": {"p50", "p99", "early"},
                            "H": {"per_callback", "rate", "processor_time"},
                            "ECHO": {"per_callback", "p50", "p99", "rate", "processor_time"}, "F_arm": {
            metric + size for metric in ("arm_", "cancel_", "bytes_per_timer_") for size in ("10k", "100k", "1M")}}
        measured_metrics["F_arm"] |= {"arm_1M_to_10k", "cancel_1M_to_10k"}
        for row in rows:
            if row["status"] == "ok" and row["case"] != "I":
                alone = row["contestant"] in measure.WORKERS or (
                    row["case"] not in measure.SUBMISSION_CASES and row["contestant"] in ("libuv", "libuv_rearm"))
                self.assertEqual(row["threads"], 1 if alone else 2, row)
        for case, metrics in measured_metrics.items():
            found = {row["metric"] for row in rows if row["case"] == case and row["contestant"] == "tidepool"}
            self.assertLessEqual(metrics, found, case)


def sum_compare(*arguments):
    """bench/sum_compare's exit status and what it printed."""
    main = runpy.run_path(str(HERE / "sum_compare"))["main"]
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        status = main(list(arguments))
    return status, output.getvalue(), errors.getvalue()


class Trees(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def tool(self, script):
        program = self.folder / "tidepool"
        program.write_text("#!/bin/sh\n" + script + "\n")
        program.chmod(0o755)
        return program

    def test_trees_are_the_same_on_every_run(self):
        seen = []
        for name in ("one", "other"):
            tree = self.folder / name
            sums.make_small(tree, True)
            seen.append({file.relative_to(tree): file.read_bytes() for file in tree.rglob("*") if file.is_file()})
        self.assertEqual(*seen)
        sizes = [len(data) for data in seen[0].values()]
        self.assertEqual(len(sizes), 500)
        self.assertTrue(100 <= min(sizes) < 200 and 30_000 < max(sizes) <= 40_000)

    def test_the_peer_is_tried_with_several_batches(self):
        self.assertEqual(list(sums.commands("tidepool", "small", "/tree")),
                         ["tidepool sum", *(f"xargs -P2 -n {batch}" for batch in sums.BATCHES["small"])])

    def test_a_command_that_fails_is_an_error(self):
        with self.assertRaisesRegex(RuntimeError, "broken"):
            sums.run_once("echo broken >&2; exit 3", self.folder / "out")

    def test_quotients_are_taken_round_by_round(self):
        seen = {sums.BASE: [{"wall": wall, "user": 1, "system": 2} for wall in (1, 10, 4)],
                "xargs": [{"wall": wall, "user": 1, "system": 2} for wall in (2, 30, 4)]}
        rows = {row["command"]: row for row in sums.summarise("small", 5, 1000, seen)}
        self.assertEqual(rows["xargs"]["times_as_fast"], 2)
        self.assertEqual((rows["xargs"]["min"], rows["xargs"]["median"], rows["xargs"]["max"]), (2, 4, 30))
        self.assertIn("x 2.00 as fast", sums.table(list(rows.values())))

    @unittest.skipIf(shutil.which("xxh128sum") is None, "xxh128sum is not installed")
    def test_sums_that_agree_are_timed(self):
        tool = self.tool('find "$2" -type f -print0 | sort -z | xargs -0 xxh128sum')
        file = self.folder / "out.json"
        status, output, errors = sum_compare("--tool", str(tool), "--quick", "--runs", "2", "--tree", "small", "--json",
                                             str(file), "--folder", str(self.folder))
        self.assertEqual((status, errors), (0, ""))
        self.assertIn("tidepool sum", output)
        rows = json.loads(file.read_text())
        self.assertEqual([row["command"] for row in rows], list(sums.commands("", "small", "")))
        self.assertTrue(all(row["files"] == 500 and row["runs"] == 2 and 0 < row["min"] <= row["median"] for row in rows))
        self.assertEqual(sorted(entry.name for entry in self.folder.iterdir()), ["out.json", "tidepool"])

    @unittest.skipIf(shutil.which("xxh128sum") is None, "xxh128sum is not installed")
    def test_sums_that_do_not_agree_are_an_error(self):
        status, _, errors = sum_compare("--tool", str(self.tool("echo nonsense")), "--quick", "--tree", "small")
        self.assertEqual(status, 1)
        self.assertIn("do not agree", errors)


if __name__ == "__main__":
    unittest.main()
