"""tidepool doctor: the same facts for people and for programs, under documented names, with warnings where they belong."""

import ctypes
import json
import os
import platform
import re
import struct
import subprocess
import sys
import unittest

import harness
from harness import ToolTest, posix_only

DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../docs/tool.md")
UNITS = ("bytes", "ms", "us", "ns")
# What is measured, or moves: another run says something else.
CHANGING = re.compile(r"clock\.(read_ns|step_ns)|timers\.late_\w+|default_pool\.\w+")
IO_URING_SETUP = 425  # on all of Linux's architectures but alpha


def facts_of(report):
    """Section.name -> value, of JSON."""
    return {f"{section}.{name}": value for section, facts in report.items()
            if isinstance(facts, dict) and section != "unavailable" for name, value in facts.items()}


def label_of(name):
    """A name, section included, as the text has it, and its unit."""
    section, name = name.split(".")
    stem, _, last = name.rpartition("_")
    unit = last if stem and last in UNITS else ""
    name = stem if unit else name
    return section.replace("_", " ") + "." + (name if name.startswith("io_uring") else name.replace("_", " ")), unit


def facts_of_text(text):
    facts, section = {}, ""
    for line in text.split("\n"):
        if not line.startswith(" "):
            section = line
        elif not section.endswith(("warning", "warnings")):
            name, value = re.fullmatch(r"  (\S+(?: \S+)*)  +(.*)", line).groups()
            facts[f"{section}.{name}"] = value
    return facts


def refuse_io_uring(error):
    """For the child: from here on io_uring_setup fails with `error`."""
    program = b"".join(struct.pack("HBBI", *step) for step in (
        (0x20, 0, 0, 0),                    # load the number of the system call
        (0x15, 0, 1, IO_URING_SETUP),       # if it is not this, skip one
        (0x06, 0, 0, 0x00050000 | error),   # fail
        (0x06, 0, 0, 0x7FFF0000)))          # allow
    steps = ctypes.create_string_buffer(program, len(program))
    filter_ = ctypes.create_string_buffer(struct.pack("HP", 4, ctypes.addressof(steps)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, filter_, 0, 0) != 0:
        os._exit(99)


class Doctor(ToolTest):
    def doctor(self, *arguments, environment=None, **options):
        variables = {name: value for name, value in os.environ.items() if name != "TIDEPOOL_IO"}
        result = self.run_tool("doctor", *arguments, env={**variables, **(environment or {})}, **options)
        self.assertEqual((result.err, result.status), (b"", 0))
        return result.out.decode()

    def report(self, **options):
        return json.loads(self.doctor("--json", **options))

    def warnings(self, **options):
        return {warning["name"]: warning for warning in self.report(**options)["warnings"]}

    def test_the_same_facts_come_out_as_text_and_as_json(self):
        report = self.report()
        text = facts_of_text(self.doctor())
        facts = facts_of(report)
        self.assertGreater(len(facts), 30)
        self.assertEqual([label_of(name)[0] for name in facts], list(text))
        for name, value in facts.items():
            label, unit = label_of(name)
            if value is None:
                shown = "not available here: " + report["unavailable"][name]
            elif CHANGING.fullmatch(name):
                continue
            elif isinstance(value, bool):
                shown = "yes" if value else "no"
            else:
                shown = f"{value} {unit}".strip()
            self.assertEqual(text[label], shown, name)

    def test_json_is_valid_and_says_why_a_fact_is_missing(self):
        out = self.doctor("--json")
        check = subprocess.run([sys.executable, "-m", "json.tool"], input=out.encode(), stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, timeout=harness.TIME_OUT, check=False)
        self.assertEqual(check.returncode, 0, check.stdout)
        report = json.loads(out)
        missing = {name for name, value in facts_of(report).items() if value is None}
        self.assertEqual(set(report["unavailable"]), missing)
        self.assertTrue(all(report["unavailable"].values()))

    def test_the_names_are_the_documented_ones(self):
        with open(DOCUMENT, encoding="utf-8") as file:
            documented = re.findall(r"^\| `(\w+\.\w+)` \|", file.read(), re.MULTILINE)
        self.assertEqual(documented, list(facts_of(self.report())))

    def test_every_warning_is_documented(self):
        with open(DOCUMENT, encoding="utf-8") as file:
            documented = set(re.findall(r"^\| `(\w+)` \|", file.read(), re.MULTILINE))
        with open(os.path.join(os.path.dirname(DOCUMENT), "../tools/tidepool/advice.cpp"), encoding="utf-8") as file:
            given = set(re.findall(r'\{"([a-z]+_\w+)",', file.read()))
        self.assertGreater(len(given), 10)
        self.assertEqual(documented, given)

    def test_timers_are_measured_and_none_is_early(self):
        timers = self.report()["timers"]
        self.assertEqual(timers["early"], 0)
        self.assertGreater(timers["measured"], 20)
        self.assertGreaterEqual(timers["late_worst_us"], timers["late_median_us"])

    @posix_only
    def test_facts_agree_with_what_the_system_says(self):
        import resource  # is not there on Windows
        facts = facts_of(self.report())
        self.assertEqual(facts["system.kernel"], f"Linux {platform.release()}")
        self.assertEqual(facts["processors.allowed"], len(os.sched_getaffinity(0)))
        self.assertEqual(facts["processors.used_by_a_pool"], len(os.sched_getaffinity(0)))
        self.assertEqual(facts["limits.open_files"], resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        self.assertEqual(facts["new_pool.maximum"], 500)
        self.assertEqual(facts["default_pool.callbacks_run"], facts["timers.measured"])
        self.assertEqual(facts["default_pool.appears_stalled"], False)

    @posix_only
    def test_fewer_processors_are_seen(self):
        first = min(os.sched_getaffinity(0))
        facts = facts_of(self.report(preexec_fn=lambda: os.sched_setaffinity(0, {first})))
        self.assertEqual((facts["processors.allowed"], facts["processors.used_by_a_pool"]), (1, 1))

    @posix_only
    def test_few_open_files_are_warned_of(self):
        import resource  # is not there on Windows
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if hard <= 200:
            self.skipTest("the hard limit is low already")
        options = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (200, hard))}
        warnings = self.warnings(**options)
        self.assertIn("open_files_low", warnings)
        warning = warnings["open_files_low"]
        self.assertIn("200 files", warning["message"])
        text = self.doctor(**options)
        self.assertIn(f"  {warning['message']}\n    {warning['remedy']}\n", text)
        self.assertNotIn("open_files_low", self.warnings(
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 1024), hard))))

    @posix_only
    def test_a_forbidden_io_uring_is_told_from_an_unwanted_one(self):
        for error, words in ((1, "Operation not permitted"), (38, "Function not implemented")):
            report = self.report(preexec_fn=lambda error=error: refuse_io_uring(error))
            self.assertEqual(report["requests"]["carried_out_by"], "portable")
            self.assertEqual(report["requests"]["io_uring"], words)
            self.assertTrue({"io_uring_refused", "io_uring_disabled"} &
                            {warning["name"] for warning in report["warnings"]})
        report = self.report(environment={"TIDEPOOL_IO": "uring"}, preexec_fn=lambda: refuse_io_uring(38))
        self.assertIn("io_choice_impossible", {warning["name"] for warning in report["warnings"]})
        report = self.report(environment={"TIDEPOOL_IO": "portable"})
        self.assertEqual(report["requests"]["carried_out_by"], "portable")
        self.assertEqual(report["requests"]["asked_for"], "portable")
        if report["requests"]["io_uring"] == "available":
            self.assertIn("io_choice_slow", {warning["name"] for warning in report["warnings"]})

    @unittest.skipUnless(harness.ON_WINDOWS, "about Windows")
    def test_what_the_system_refuses_is_not_available_rather_than_zero(self):
        report = self.report()
        for name in ("threads", "port_depth", "may_create", "create_in_progress", "scheduled", "appears_stalled"):
            self.assertIsNone(report["default_pool"][name])
            self.assertTrue(report["unavailable"]["default_pool." + name])
        self.assertIsNotNone(report["timers"]["late_median_us"])

    def test_mistakes_are_named_with_exit_status_2(self):
        for mistake, *arguments in (("unknown option '--frobnicate'", "--frobnicate"), ("unknown subcommand 'all'", "all"),
                                    ("--json", "--json=perhaps")):
            result = self.run_tool("doctor", *arguments)
            self.assertEqual((result.status, result.out), (2, b""))
            self.assertIn("tidepool doctor: ", result.err.decode())
            self.assertIn(mistake, result.err.decode())
            self.assertIn("Try 'tidepool doctor --help'.", result.err.decode())

    @posix_only
    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            result = self.run_tool("doctor", stdout=full)
        self.assertEqual(result.err, b"tidepool doctor: cannot write to standard output: No space left on device\n")
        self.assertEqual(result.status, 1)

    def test_its_help_goes_to_standard_output(self):
        result = self.run_tool("doctor", "--help")
        self.assertEqual((result.status, result.err), (0, b""))
        self.assertIn(b"--json", result.out)


if __name__ == "__main__":
    harness.main()
