#!/usr/bin/env python3
"""test_names.py CTEST BUILD_FOLDER DOCUMENT…: every test that a document names exists.

A name is code such as `suite.test`, without the name of the test program. `suite/*.test` is one of every kind.
"""
import fnmatch
import json
import pathlib
import re
import subprocess
import sys

NAME = re.compile(r"`([a-z][a-z0-9_]*(?:/(?:[a-z0-9_]+|\*))?\.[a-z][a-z0-9_]+)`")
FILES = (".cpp", ".hpp", ".md", ".py", ".toml", ".txt", ".h", ".c", ".sh")


def names_in(document):
    for number, line in enumerate(document.read_text(encoding="utf-8").splitlines(), 1):
        for name in NAME.findall(line):
            if not name.endswith(FILES):
                yield number, name


def tests_of(ctest, folder):
    """Those of GoogleTest by what their programs are asked to run, for CTest's names of them differ with its version."""
    listed = subprocess.run([ctest, "--test-dir", folder, "--show-only=json-v1"], check=True, stdout=subprocess.PIPE)
    names = set()
    for test in json.loads(listed.stdout)["tests"]:
        names.add(test["name"])
        for argument in test.get("command", ()):
            if argument.startswith("--gtest_filter="):
                names.add(argument.partition("=")[2])
    return names


def main(arguments):
    if len(arguments) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    tests = tests_of(arguments[0], arguments[1])
    problems = []
    for document in map(pathlib.Path, arguments[2:]):
        named = list(names_in(document))
        if not named:
            problems.append(f"{document.name} names no test at all")
        problems += [f"{document.name}:{number}: there is no test {name}" for number, name in named if not fnmatch.filter(tests, name)]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


sys.exit(main(sys.argv[1:]))
