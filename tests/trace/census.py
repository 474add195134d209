#!/usr/bin/env python3
"""Holds docs/reference/trace.md against what is really recorded: census.py PAGE SOURCES SYSTEM COMMAND…

COMMAND runs tests/trace/lives.cpp. What the page has must occur, and what occurs the page must have: kinds, actions and the
names of their values with everything on; the calls; and for each category alone the kinds and actions that are its own.
SOURCES are asked for the calls and the callbacks that there are. SYSTEM is linux or windows.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ALONE = {"call", "event", "pool"}  # kinds whose actions belong to no second category, reports excepted
failures = []


def fail(what):
    print(f"FAIL: {what}")
    failures.append(what)


def compare(what, expected, found):
    for missing in sorted(expected - found):
        fail(f"{what}: the page has {describe(missing)}, which does not occur")
    for more in sorted(found - expected):
        fail(f"{what}: {describe(more)} occurs, which the page does not have")


def describe(item):
    return " ".join(item) if isinstance(item, tuple) else item


# ---- the page ----------------------------------------------------------------------------------------------

class Page:
    def __init__(self, text, system):
        self.other_system = {"linux": "(Windows)", "windows": "(Linux)"}[system]
        self.text = text

    def rows(self, first_columns):
        """Of the table that begins with these columns, those that hold for this system; any number of them, but some."""
        lines = iter(self.text.splitlines())
        head = "| " + " | ".join(first_columns) + " |"
        for line in lines:
            if line.startswith(head):
                break
        next(lines, None)
        rows = []
        for line in lines:
            if not line.startswith("|"):
                break
            if self.other_system not in line:
                rows.append([cell.strip() for cell in line.strip("|").split("|")])
        if not rows:
            sys.exit(f"FAIL: the page has no table {head}")
        return rows


def words(cell):
    return [word.strip() for word in cell.split(",") if word.strip()]


# ---- captures ----------------------------------------------------------------------------------------------

def capture(command, categories):
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"TIDEPOOL_TRACE": categories, "TIDEPOOL_TRACE_FILE": "capture.txt"}
        ran = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        file = pathlib.Path(folder, "capture.txt")
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
    if ran.returncode != 0:
        sys.exit(f"FAIL: with {categories} the program ended with {ran.returncode}: {ran.stderr}")
    head, _, rest = text.partition("\nrecords\n")
    if not rest.endswith("end\n"):
        sys.exit(f"FAIL: with {categories} the capture is not whole: {text[-200:]!r}")
    if f"\ncategories {categories}\n" not in head and categories != "all":
        fail(f"the categories are not {categories}: {head}")
    if "\nlost 0\n" not in head or "\nobserver absent" in head:
        fail(f"with {categories} something is lost, or not observed: {head}")
    return [line.split(" ", 5) for line in rest.removesuffix("end\n").splitlines()]


def name_values(record):
    values = record[5] if len(record) > 5 else ""
    return re.findall(r"(\w+)=", re.sub(r"\b(site|type)=.*", r"\1=", values))


def kinds_and_actions(records):
    return {(record[2], record[4]) for record in records}


def calls(records):
    return {record[5].removeprefix("call=") for record in records if record[2] == "call"}


# ---- the census --------------------------------------------------------------------------------------------

def take_census(page, command):
    table = {(kind, action): set(words(values)) for kind, action, values, _ in page.rows(["kind", "action", "values"])}
    everything = capture(command, "all")
    compare("records", set(table), kinds_and_actions(everything))
    named = {}
    for record in everything:
        named.setdefault((record[2], record[4]), set()).update(name_values(record))
    for item in sorted(set(table) & set(named)):
        compare(f"values of {describe(item)}", table[item], named[item])

    alone = {}
    for category, kinds, actions, _ in page.rows(["category", "kinds", "actions"]):
        name = category.strip("`")
        alone[name] = capture(command, name)
        expected = {(kind, action) for kind, action in table
                    if kind in words(kinds) or (action in words(actions) and (kind not in ALONE or name == "report"))}
        compare(f"records of {name} alone", expected, kinds_and_actions(alone[name]))
    compare("calls", {row[0] for row in page.rows(["call", "target"])}, calls(everything) | calls(alone["syscall"]))


def read_sources(page, sources):
    """The safe layer, comments left out."""
    layer = [file for pattern in ("*.?pp", "heal/*.?pp", "teardown/*.?pp") for file in sorted(sources.glob(pattern))]
    text = {file: re.sub(r"//.*", "", file.read_text(encoding="utf-8")) for file in layer}
    together = "\n".join(text.values())
    everywhere = Page(page.text, "linux")
    everywhere.other_system = "no such text"
    named = {row[0] for row in everywhere.rows(["call", "target"])}
    compare("calls in the source", named, set(re.findall(r"\bTRACED\((\w+)\)", together)))

    exempt = re.search(r"^Not recorded, (.*?)\n\n", page.text, re.MULTILINE | re.DOTALL)
    excused = set(re.findall(r"`(\w+)`", exempt[1])) if exempt else set()
    silent = set(re.findall(r"\b((?:Tidepool)?[A-Z]\w*(?:Threadpool|CallbackReturns|ForSingleObject|CancelIo)\w*)\(", together))
    compare("calls that are not recorded", excused, silent)

    callbacks = {(name, f"src/{file.relative_to(sources)}") for file, code in text.items()
                 for name in re.findall(r"^void CALLBACK (\w+)\(", code, re.MULTILINE)}
    compare("callbacks", {(row[0], row[1]) for row in page.rows(["function", "in"])}, callbacks)
    known = {row[0] for row in everywhere.rows(["kind", "action"])} | {row[1] for row in everywhere.rows(["kind", "action"])}
    for name, file, *around in page.rows(["function", "in"]):
        for word in re.split(r"[ ,]+", " ".join(around)):
            if word and word not in known:
                fail(f"callbacks: {name} of {file} is said to record {word}, which is nothing")


def main(page, sources, system, *command):
    page = Page(pathlib.Path(page).read_text(encoding="utf-8"), system)
    read_sources(page, pathlib.Path(sources))
    take_census(page, command)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
