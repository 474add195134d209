#!/usr/bin/env python3
"""summary.py RESULTS NAME: sums up what CTest wrote with --output-junit.

On stderr: each failed test of the run NAME with its output, each skipped one with its reason. A report by a sanitizer, which can be
long, is cut after its beginning, but the end of the output is there; all of it is in RESULTS. On stdout: three
numbers, passed, failed and skipped.
"""
import re
import sys
import xml.etree.ElementTree

REPORT = re.compile(r"ERROR: (?:Address|Leak)Sanitizer|WARNING: ThreadSanitizer|: runtime error: ")
LINES_OF_REPORT = 60
LINES_AT_THE_END = 40


def reason_for_skipping(output):
    """What the test printed where GoogleTest reports a skip, or the last line of any other program."""
    found = re.search(r": Skipped\s*\n(.*?)\n\[  SKIPPED \]", output, re.DOTALL)
    text = found[1] if found else (output.strip().splitlines() or ["it gave no reason"])[-1]
    return " ".join(text.split())


def what_to_show(output):
    lines = output.strip().splitlines()
    report = next((number for number, line in enumerate(lines) if REPORT.search(line)), len(lines))
    resume = max(report + LINES_OF_REPORT, len(lines) - LINES_AT_THE_END)
    left_out = resume - report - LINES_OF_REPORT
    return lines[:report + LINES_OF_REPORT] + ([f"[... {left_out} lines ...]"] if left_out else []) + lines[resume:]


def main(results, name):
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for case in xml.etree.ElementTree.parse(results).getroot().iter("testcase"):
        status, test = case.get("status"), case.get("name")
        output = case.findtext("system-out") or ""
        if status == "run":
            counts["passed"] += 1
        elif status in ("notrun", "disabled"):
            skip = case.find("skipped")
            message = skip.get("message", "") if skip is not None else ""
            # CTest gives a test whose program or fixture is missing the same status as one that skipped itself.
            if message.startswith("SKIP_"):
                counts["skipped"] += 1
                print(f"{name}: skipped {test}: {reason_for_skipping(output)}", file=sys.stderr)
            elif status == "disabled":
                counts["skipped"] += 1
                print(f"{name}: skipped {test}: it is disabled", file=sys.stderr)
            else:
                counts["failed"] += 1
                print(f"{name}: NOT RUN {test}: {message}", file=sys.stderr)
        else:
            counts["failed"] += 1
            failure = case.find("failure")
            message = failure.get("message", "") if failure is not None else ""
            print(f"{name}: FAILED {test} {message}", *what_to_show(output), "", sep="\n", file=sys.stderr)
    print(counts["passed"], counts["failed"], counts["skipped"])


main(*sys.argv[1:])
