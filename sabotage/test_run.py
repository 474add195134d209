#!/usr/bin/env python3
"""Tests of the sabotage runner, on a small project that they make themselves."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import textwrap
import time
import unittest

import manifest
import verdict
from small_project import CONTROL, MANIFEST, RUNNER, Project, case, table


def running_with(text):
    """The processes that have the text among their arguments, this one aside."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                found += [int(entry.name)] if text.encode() in (entry / "cmdline").read_bytes() else []
            except OSError:
                pass                      # it ended meanwhile
    return found


class ASweep(unittest.TestCase):
    """One sweep with a case of every kind."""

    @classmethod
    def setUpClass(cls):
        two = [{"program": "checks", "filter": "Add.sums_two"}, {"program": "checks", "filter": "Nothing.*"}]
        script = [{"ctest": "^script[.]adds$", "targets": ["script_subject"]}]
        endless = 'if (a == 2) { std::system("sleep 98765 &"); for (;;) {} } return a + b;'
        cls.project = Project([
            CONTROL,
            case("survives", "return b + a;"),
            case("survives-untested", "return a - 8;", find="return a - 7;"),
            case("crashes", "__builtin_trap();"),
            case("crashes-after-assertion", "if (a == 1) __builtin_trap(); return a - b;",
                 tests=[{"program": "checks", "filter": "Add.then_doubles"}]),
            case("never-ends", endless, timeout=2),
            case("hangs-after-assertion", "if (a == 1) for (;;) {} return a - b;", timeout=250,
                 tests=[{"program": "checks", "filter": "Add.then_doubles"}]),
            case("looks-at-the-environment", 'return std::getenv("SMALL_ANSWER") ? 42 : a + b;'),
            case("leaves-with-zero", "std::exit(0);"),
            case("leaves-with-one", "std::exit(1);"),
            case("text-is-gone", "return 3;", find="return a + c;"),
            case("text-is-twice", "return 3;", find="return a ^ 1;"),
            case("file-is-gone", "return 3;", file="products.cpp"),
            case("not-cpp", "return a +;"),
            case("one-of-two-entries-survives", "return a * b;", tests=two),
            case("wildcards", "return a * 3;", find="return a * 2;", row="B2",
                 tests=[{"program": "checks", "filter": "Twice.*:Add.then_doubles"}]),
            case("script-caught", "return a - b + 9;", tests=script),
            case("script-crashes", "return 200 + a;", tests=script),
            case("script-survives", "return b + a;", tests=script),
            case("report-in-strict", "return a + b + (a << (b + 40));", configuration="strict",
                 tests=[{"program": "checks", "filter": "Nothing.*"}]),
        ])
        cls.project.write("ignored.txt", "not for the copy")
        cls.done = cls.project.run("--sweep", "--json", str(cls.project.folder / "build/result.json"))
        cls.result = json.loads((cls.project.folder / "build/result.json").read_text())
        cls.cases = {entry["id"]: entry for entry in cls.result["cases"]}

    @classmethod
    def tearDownClass(cls):
        cls.project.remove()

    def verdict_of(self, name):
        return self.cases[name]["verdict"]

    def test_an_assertion_in_a_named_test_is_caught_and_cited(self):
        self.assertEqual(self.verdict_of("control"), "caught")
        self.assertIn("Add.sums_two", self.cases["control"]["detail"])
        self.assertIn("Value of: condition", self.cases["control"]["detail"])
        self.assertEqual(self.verdict_of("wildcards"), "caught")

    def test_a_defect_no_test_sees_survives(self):
        self.assertEqual(self.verdict_of("survives"), "survived")
        self.assertEqual(self.verdict_of("survives-untested"), "survived")

    def test_a_crash_is_not_a_catch(self):
        self.assertEqual(self.verdict_of("crashes"), "crash or time-out")
        self.assertIn("signal", self.cases["crashes"]["detail"])

    def test_an_assertion_that_failed_before_a_crash_is_a_catch(self):
        self.assertEqual(self.verdict_of("crashes-after-assertion"), "caught")
        self.assertIn("Value of: condition", self.cases["crashes-after-assertion"]["detail"])

    def test_nothing_is_waited_for_after_an_assertion(self):
        self.assertEqual(self.verdict_of("hangs-after-assertion"), "caught")
        self.assertLess(self.cases["hangs-after-assertion"]["seconds"], 100)

    def test_a_configuration_has_an_environment_for_its_tests(self):
        self.assertEqual(self.verdict_of("looks-at-the-environment"), "caught")

    def test_a_test_that_never_ends_is_stopped_with_all_its_processes(self):
        self.assertEqual(self.verdict_of("never-ends"), "crash or time-out")
        self.assertIn("no end after 2 s", self.cases["never-ends"]["detail"])
        self.assertEqual(running_with("98765"), [])

    def test_leaving_before_the_tests_end_is_a_crash_whatever_the_status(self):
        self.assertEqual(self.verdict_of("leaves-with-zero"), "crash or time-out")
        self.assertEqual(self.verdict_of("leaves-with-one"), "crash or time-out")

    def test_the_text_must_occur_exactly_once(self):
        for name in ("text-is-gone", "text-is-twice", "file-is-gone"):
            self.assertEqual(self.verdict_of(name), "does not apply", name)
        self.assertIn("2 times", self.cases["text-is-twice"]["detail"])

    def test_a_defect_the_compiler_refuses_is_told_apart(self):
        self.assertEqual(self.verdict_of("not-cpp"), "does not compile")

    def test_every_entry_must_catch(self):
        self.assertEqual(self.verdict_of("one-of-two-entries-survives"), "survived")
        self.assertIn("Nothing.*", self.cases["one-of-two-entries-survives"]["detail"])

    def test_ctest_entries_are_judged_alike(self):
        self.assertEqual(self.verdict_of("script-caught"), "caught")
        self.assertEqual(self.verdict_of("script-crashes"), "crash or time-out")
        self.assertEqual(self.verdict_of("script-survives"), "survived")

    def test_a_sanitizer_report_is_a_catch_where_the_configuration_says_so(self):
        self.assertEqual(self.verdict_of("report-in-strict"), "caught")
        self.assertIn("runtime error", self.cases["report-in-strict"]["detail"])

    def test_the_last_line_counts_and_the_status_tells(self):
        self.assertEqual(self.done.stdout.splitlines()[-1], "sabotage: 7 caught, 13 not caught")
        self.assertEqual((self.result["caught"], self.result["not_caught"]), (7, 13))
        self.assertEqual(self.done.returncode, 1)
        self.assertEqual(self.result["controls"], {"unchanged": True, "defect": True})

    def test_the_table_has_the_rows_and_names_those_without_a_case(self):
        lines = self.done.stdout.splitlines()
        self.assertTrue(any(line.startswith("B2") for line in lines))
        self.assertTrue(any(line.startswith("Z9") and line.endswith("no case") for line in lines))
        self.assertEqual(self.result["rows_without_case"], ["Z9"])

    def test_the_tree_is_untouched_and_the_copy_is_restored(self):
        original = (self.project.folder / "sums.cpp").read_bytes()
        self.assertEqual(original.count(b"return a + b;"), 1)
        self.assertEqual((self.project.scratch / "sums.cpp").read_bytes(), original)

    def test_the_copy_holds_what_git_does_not_ignore(self):
        self.assertTrue((self.project.scratch / "checks.hpp").is_file())
        self.assertFalse((self.project.scratch / "ignored.txt").exists())
        self.assertFalse((self.project.scratch / "build/sabotage").exists())


class ARun(unittest.TestCase):
    """Shorter runs that share one project."""

    @classmethod
    def setUpClass(cls):
        cls.project = Project([CONTROL])

    @classmethod
    def tearDownClass(cls):
        cls.project.remove()

    def setUp(self):
        twice = [{"program": "checks", "filter": "Twice.*"}]
        self.cases = [CONTROL, case("product", "return a * b;"),
                      case("other", "return a * 3;", find="return a * 2;", tests=twice)]
        self.write_cases()
        self.addCleanup(self.project.write, "sums.cpp", (self.project.folder / "sums.cpp").read_text())

    def write_cases(self, *more):
        self.project.write_cases([*self.cases, *more])

    def last_line(self, done):
        return done.stdout.splitlines()[-1]

    def test_succeeds_when_all_chosen_defects_are_caught(self):
        done = self.project.run("--case", "product", "other")
        self.assertEqual(self.last_line(done), "sabotage: 2 caught, 0 not caught")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_sweep_fails_while_a_row_has_no_case(self):
        done = self.project.run("--sweep")
        self.assertEqual(self.last_line(done), "sabotage: 3 caught, 0 not caught")
        self.assertEqual(done.returncode, 1)

    def test_an_unchanged_tree_that_fails_stops_the_run(self):
        sums = self.project.folder / "sums.cpp"
        sums.write_text(sums.read_text().replace("return a * 2;", "return a * 5;"))
        done = self.project.run("--case", "product", "other")
        self.assertIn("control: FAILED: the unchanged tree does not pass", done.stdout)
        self.assertEqual(self.last_line(done), "sabotage: 0 caught, 2 not caught")
        self.assertEqual(done.returncode, 1)

    def test_an_unchanged_tree_that_does_not_build_stops_the_run(self):
        sums = self.project.folder / "sums.cpp"
        sums.write_text(sums.read_text() + "oops")
        done = self.project.run("--case", "product")
        self.assertIn("control: FAILED: the unchanged tree does not build", done.stdout)
        self.assertEqual(done.returncode, 1)

    def test_a_known_defect_that_survives_stops_the_run(self):
        self.cases[0] = case("control", "return b + a;", control=True)
        self.write_cases()
        done = self.project.run("--case", "product")
        self.assertIn("control: FAILED: the known defect was not caught", done.stdout)
        self.assertEqual(self.last_line(done), "sabotage: 0 caught, 1 not caught")
        self.assertEqual(done.returncode, 1)

    def test_a_filter_that_names_no_test_is_found_by_the_control(self):
        self.write_cases(case("stale", "return 1;", tests=[{"program": "checks", "filter": "Add.*:Add.was_renamed"}]))
        done = self.project.run("--case", "stale")
        self.assertIn("no test that runs is called Add.was_renamed", done.stdout)
        self.assertEqual(done.returncode, 1)

    def test_a_file_that_left_the_tree_leaves_the_copy(self):
        extra = self.project.folder / "extra.txt"
        extra.write_text("here")
        self.project.run("--case", "product")
        self.assertTrue((self.project.scratch / "extra.txt").is_file())
        extra.unlink()
        self.project.run("--case", "product")
        self.assertFalse((self.project.scratch / "extra.txt").exists())

    def test_keep_leaves_the_defect_and_the_next_run_removes_it(self):
        self.project.run("--keep", "--case", "product")
        self.assertIn("return a * b;", (self.project.scratch / "sums.cpp").read_text())
        self.project.run("--case", "other")
        self.assertNotIn("return a * b;", (self.project.scratch / "sums.cpp").read_text())

    def test_a_defect_in_a_header_leaves_nothing_behind_and_nothing_to_compile(self):
        self.project.write("zero.hpp", "inline int zero() { return 0; }\n")
        sums = self.project.folder / "sums.cpp"
        sums.write_text('#include "zero.hpp"\n' + sums.read_text().replace("return a * 2;", "return a * 2 + zero();"))
        twice = [{"program": "checks", "filter": "Twice.*"}]
        self.write_cases(case("header", "return 1;", find="return 0;", file="zero.hpp", tests=twice),
                         case("harmless", "return b + a;", tests=twice))
        compiled = self.project.scratch / "build/dev/CMakeFiles/checks.dir/sums.cpp.o"
        times = []
        for _ in range(2):
            done = self.project.run("--case", "header", "harmless")
            self.assertEqual(self.last_line(done), "sabotage: 1 caught, 1 not caught", done.stdout)
            times.append(compiled.stat().st_mtime_ns)
        self.assertEqual(times[0], times[1])

    def test_only_the_sources_of_the_named_tests_are_compiled(self):
        header = self.project.folder / "checks.hpp"
        self.addCleanup(self.project.write, "checks.hpp", header.read_text())
        header.write_text(header.read_text() + "inline int zero() { return 0; }\n")
        other = self.project.folder / "other_checks.cpp"
        self.addCleanup(self.project.write, "other_checks.cpp", other.read_text())
        other.write_text("#define IN_OTHER\n" + other.read_text())
        refused = "\n#ifdef IN_OTHER\n#error refused\n#endif\nreturn 0; }\n#define expect(x) (expect)(false && (x))\n//"
        self.write_cases(case("refused-by-the-other", refused, find="return 0; }", file="checks.hpp"),
                         case("refused-by-its-own", refused, find="return 0; }", file="checks.hpp",
                              tests=[{"program": "checks", "filter": "Add.sums_two:Twice.doubles"}]))
        done = self.project.run("--case", "refused-by-the-other", "refused-by-its-own")
        self.assertRegex(done.stdout, "caught .*refused-by-the-other")
        self.assertRegex(done.stdout, "does not compile .*refused-by-its-own")

    def test_a_program_with_tests_in_a_header_is_built_as_a_whole(self):
        main = self.project.folder / "main.cpp"
        self.addCleanup(self.project.write, "main.cpp", main.read_text())
        main.write_text('#include "shared_checks.hpp"\n' + main.read_text())
        self.project.write("shared_checks.hpp", '#include "checks.hpp"\nCHECK(Shared, passes) {}\n')
        self.addCleanup((self.project.folder / "shared_checks.hpp").unlink)
        self.write_cases(case("in-the-header", "{ expect(false); }", find="{}", file="shared_checks.hpp",
                              tests=[{"program": "checks", "filter": "Shared.passes"}]))
        done = self.project.run("--case", "product", "in-the-header")
        self.assertEqual(self.last_line(done), "sabotage: 2 caught, 0 not caught", done.stdout)

    def test_lanes_try_cases_at_the_same_time(self):
        # Each of the two waits for the other before it fails.
        def meeting(mine, other):
            here = self.project.folder / "build"
            return (f'if (a == 2) std::system("touch {here}/{mine}; '
                    f'for i in $(seq 1000); do test -e {here}/{other} && exit; sleep 0.1; done; kill $PPID"); '
                    'return a * b;')
        self.write_cases(case("one", meeting("one", "two"), timeout=100),
                         case("two", meeting("two", "one"), timeout=100))
        done = self.project.run("--lanes", "2", "--case", "one", "two", "other")
        self.assertEqual(self.last_line(done), "sabotage: 3 caught, 0 not caught", done.stdout)

    def test_a_repeated_case_is_caught_only_if_it_is_each_time(self):
        marks = self.project.folder / "build/marks"
        third_survives = (f'std::system("echo >> {marks}"); '
                          f'return std::system("test $(wc -l < {marks}) = 3") == 0 ? a + b : a * b;')
        self.write_cases(case("by-luck", third_survives))
        done = self.project.run("--repeat", "5", "--case", "by-luck", "product")
        self.assertRegex(done.stdout, r"survived .*by-luck: \[3/5\]")
        self.assertRegex(done.stdout, r"caught .*product: \[5/5\]")
        self.assertEqual(self.last_line(done), "sabotage: 1 caught, 1 not caught", done.stdout)

    def test_what_there_is_no_time_for_is_neither_caught_nor_not(self):
        self.write_cases(case("survivor", "return b + a;"))
        done = self.project.run("--seconds", "0.01", "--case", "control", "product", "survivor")   # the controls take longer
        self.assertEqual(self.last_line(done), "sabotage: 1 caught, 0 not caught, 2 not tried", done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout)

    def cached(self):
        """How many compilations the cache has been asked for, and how many of them it knew."""
        printed = subprocess.run(["ccache", "--print-stats"], capture_output=True, text=True, check=True,
                                 env=self.project.environment()).stdout
        statistics = {name: int(value) for name, value in map(str.split, printed.splitlines())}
        hits = statistics["direct_cache_hit"] + statistics["preprocessed_cache_hit"]
        return statistics["cache_miss"] + hits, hits

    SOURCES = 4                               # of the program `checks`

    @unittest.skipUnless(shutil.which("ccache"), "ccache is not installed")
    def test_what_one_lane_has_compiled_the_others_need_not(self):
        shutil.rmtree(self.project.folder / "build", ignore_errors=True)
        done = self.project.run("--lanes", "3", "--case", "product")
        self.assertEqual(self.last_line(done), "sabotage: 1 caught, 0 not caught", done.stdout)
        self.assertEqual(self.cached(), (3 * self.SOURCES, 2 * self.SOURCES))

    @unittest.skipUnless(shutil.which("ccache"), "ccache is not installed")
    def test_what_our_script_of_tests_has_compiled_no_lane_needs(self):
        shutil.rmtree(self.project.folder / "build", ignore_errors=True)
        lines = (RUNNER.parent.parent / "test").read_text().splitlines()
        settings = "\n".join(line for line in lines if line.startswith(("export CCACHE_", "by_ccache=")))
        subprocess.run(["bash", "-euc", f"root=$PWD\n{settings}\n"
                        'cmake -G Ninja -B build/dev -DMORE=-DNOT_LOOKED_AT "${by_ccache[@]}"\n'
                        "cmake --build build/dev --target checks"],
                       cwd=self.project.folder, env=self.project.environment(), capture_output=True, check=True)
        self.assertEqual(self.cached(), (self.SOURCES, 0))
        done = self.project.run("--lanes", "2", "--case", "product")
        self.assertEqual(self.last_line(done), "sabotage: 1 caught, 0 not caught", done.stdout)
        self.assertEqual(self.cached(), (3 * self.SOURCES, 2 * self.SOURCES))

    def test_a_defect_leaves_nothing_behind_in_the_build(self):
        self.write_cases(case("survivor", "return b + a;"))
        done = self.project.run("--case", "product", "survivor", "other", "survivor")
        self.assertEqual(self.last_line(done), "sabotage: 2 caught, 2 not caught", done.stdout)

    def interrupt(self, number):
        names = ("endless", "endless-too")
        self.write_cases(*(case(name, f"while (a == 2 && b == {3 + i} - {i}) {{}} return a + b;", timeout=250)
                           for i, name in enumerate(names)))
        logs = [self.project.folder / f"build/sabotage/logs/{name}.log" for name in names]
        for log in logs:
            log.unlink(missing_ok=True)  # of the test before
        # A shell that starts this in the background has it ignore SIGINT.
        runner = subprocess.Popen(self.project.command("--lanes", "2", "--case", *names), stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True,
                                  preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
        deadline = time.monotonic() + 120
        while not all(log.is_file() and "RUN" in log.read_text() for log in logs):
            self.assertLess(time.monotonic(), deadline, "the endless tests never started")
            self.assertIsNone(runner.poll())
            time.sleep(0.02)
        runner.send_signal(number)
        output, _ = runner.communicate(timeout=60)
        self.assertEqual(runner.returncode, 130)
        self.assertIn("interrupted", output)
        self.assertNotIn("Traceback", output)
        for lane in (1, 2):
            self.assertEqual((self.project.folder / f"build/sabotage/tree-{lane}/sums.cpp").read_bytes(),
                             (self.project.folder / "sums.cpp").read_bytes())
        self.assertEqual(running_with(str(self.project.folder / "build")), [])

    def test_ctrl_c_leaves_no_process_and_no_defect(self):
        self.interrupt(signal.SIGINT)

    def test_termination_leaves_no_process_and_no_defect(self):
        self.interrupt(signal.SIGTERM)

    def test_an_unknown_case_is_an_error(self):
        done = self.project.run("--case", "nobody")
        self.assertIn("there is no case nobody", done.stderr)
        self.assertEqual(done.returncode, 2)

    def test_list_tells_what_applies(self):
        self.write_cases(case("moved-on", "return 3;", find="return a + c;"))
        done = self.project.run("--list")
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 4)
        self.assertIn("product", lines[1])
        self.assertNotIn("DOES NOT APPLY", lines[1])
        self.assertIn("DOES NOT APPLY: the text occurs 0 times in sums.cpp", lines[3])
        self.assertEqual(done.returncode, 0)


class TheManifest(unittest.TestCase):
    def load(self, *cases, manifest_text=MANIFEST):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "cases").mkdir()
            (folder / "manifest.toml").write_text(textwrap.dedent(manifest_text))
            (folder / "cases/all.toml").write_text("\n".join(map(table, cases)))
            return manifest.load(folder)

    def refused(self, message, *cases):
        with self.assertRaisesRegex(manifest.ManifestError, message):
            self.load(*cases)

    def test_reads_cases(self):
        loaded = self.load(CONTROL, case("one", "x", tests=[{"program": "p", "filter": "A.b"}]))
        self.assertEqual(loaded.cases[1].tests[0], manifest.NamedTest("p", "A.b", targets=("p",)))
        self.assertEqual(loaded.rows_without_case, ["Z9"])

    def test_refuses_what_it_does_not_understand(self):
        self.refused("no field 'colour'", CONTROL, case("one", "x", colour="red"))
        self.refused("wrong type", CONTROL, case("one", 3))
        self.refused("wrong type", CONTROL, case("one", "x", timeout="long"))
        self.refused("why missing", CONTROL, {key: value for key, value in case("one", "x").items() if key != "why"})
        self.refused("two cases are called one", CONTROL, case("one", "x"), case("one", "y"))
        self.refused("no configuration 'fast'", CONTROL, case("one", "x", configuration="fast"))

    def test_refuses_configurations_it_does_not_understand(self):
        with self.assertRaisesRegex(manifest.ManifestError, "'environment' has the wrong type"):
            self.load(CONTROL, manifest_text=MANIFEST.replace('{ SMALL_ANSWER = "42" }', '"SMALL_ANSWER=42"'))

    def test_refuses_replacements_that_change_nothing(self):
        self.refused("must differ", CONTROL, case("one", "return a + b;"))
        self.refused("must differ", CONTROL, case("one", "x", find=""))

    def test_wants_exactly_one_control(self):
        self.refused("exactly one case is the control", case("one", "x"))
        self.refused("exactly one case is the control", CONTROL, case("one", "x", control=True))

    def test_refuses_tests_that_can_not_be_run(self):
        for tests in ([{"program": "p"}], [{"filter": "A.*"}], [{"program": "p", "filter": "A.*", "ctest": "x"}]):
            self.refused("either program and filter, or ctest", CONTROL, case("one", "x", tests=tests))
        self.refused("needs 'targets'", CONTROL, case("one", "x", tests=[{"ctest": "x"}]))
        self.refused("excludes tests", CONTROL, case("one", "x", tests=[{"program": "p", "filter": "A.*-A.b"}]))


class GoogleTestText(unittest.TestCase):
    def test_finds_failures_of_plain_parameterised_and_unfinished_tests(self):
        output = verdict.GoogleTestOutput(textwrap.dedent("""\
            [==========] Running 4 tests from 1 test suite.
            [ RUN      ] S.passes
            said without a newline[       OK ] S.passes (0 ms)
            [ RUN      ] S.fails
            /a/b.cpp:12: Failure
            Expected: x
            [  FAILED  ] S.fails (1 ms)
            [ RUN      ] P/S.fails/0
            unknown file: Failure
            C++ exception with description "no" thrown in the test body.
            [  FAILED  ] P/S.fails/0, where GetParam() = 3 (1 ms)
            [ RUN      ] S.hangs
            b.cpp:9: Failure
            Value of: y
            """))
        self.assertEqual(output.passed, {"S.passes"})
        self.assertEqual(set(output.failures), {"S.fails", "P/S.fails/0", "S.hangs"})
        self.assertTrue(output.failures["S.fails"].startswith("/a/b.cpp:12: Failure\nExpected: x"))
        self.assertEqual(output.running, "S.hangs")
        self.assertFalse(output.finished)

    def test_a_finished_run_is_recognised(self):
        self.assertTrue(verdict.GoogleTestOutput("[==========] 1 test from 1 test suite ran. (0 ms total)\n").finished)

    def test_filters_match_as_in_googletest(self):
        self.assertTrue(verdict.matches("A.b:C.*", "C.anything"))
        self.assertTrue(verdict.matches("A.?", "A.b"))
        self.assertFalse(verdict.matches("A.b", "A.bc"))
        self.assertFalse(verdict.matches("A.b", "Axb"))


if __name__ == "__main__":
    unittest.main()
