#!/usr/bin/env python3
"""Checks on the tree itself.

  tree_check.py sources ROOT COMPILE_COMMANDS [--without FOLDER…]  every src/**/*.cpp is compiled in this configuration
  tree_check.py version ROOT VERSION                               include/tidepool/version.hpp says VERSION
"""
import json
import pathlib
import re
import sys


def check_sources(root, compile_commands, left_out=()):
    compiled = {pathlib.Path(entry["directory"], entry["file"]).resolve()
                for entry in json.loads(pathlib.Path(compile_commands).read_text())}
    sources = {path.resolve() for path in (root / "src").rglob("*.cpp")}
    for folder in left_out:
        sources = {path for path in sources if root / folder not in path.parents}
    if not sources:
        return ["there is no source at all under src/"]
    return [f"{path.relative_to(root)} belongs to no target" for path in sorted(sources - compiled)]


def check_version(root, version):
    text = (root / "include/tidepool/version.hpp").read_text()
    problems = []
    for part, number in zip(("major", "minor", "patch"), version.split(".")):
        found = re.search(rf"\bversion_{part}\s*(?:=|\{{)\s*(\d+)", text)
        if not found:
            problems.append(f"version.hpp has no version_{part}")
        elif found[1] != number:
            problems.append(f"version.hpp says version_{part} = {found[1]}; CMakeLists.txt says {number}")
    if f'"{version}"' not in text:
        problems.append(f'version.hpp does not have the text "{version}"')
    return problems


def main(arguments):
    if arguments[:1] == ["sources"] and (len(arguments) == 3 or arguments[3:4] == ["--without"]):
        problems = check_sources(pathlib.Path(arguments[1]).resolve(), arguments[2], arguments[4:])
    elif arguments[:1] == ["version"] and len(arguments) == 3:
        problems = check_version(pathlib.Path(arguments[1]).resolve(), arguments[2])
    else:
        print(__doc__, file=sys.stderr)
        return 2
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


sys.exit(main(sys.argv[1:]))
