#!/usr/bin/env python3
"""probes.py DOCUMENT PROGRAM: the probes that the table of the document lists are those of the program, and have two arguments."""
import pathlib
import re
import subprocess
import sys


def listed(document):
    rows = re.findall(r"^\| `(\w+)` \|", document.read_text(encoding="utf-8"), re.MULTILINE)
    return set(rows)


def built_in(program):
    """The probes of tidepool, each with its numbers of arguments."""
    notes = subprocess.run(["readelf", "--notes", "--wide", program], check=True, capture_output=True, text=True).stdout
    found = {}
    for provider, name, arguments in re.findall(r"Provider: (\S+)\s+Name: (\S+)\s+Location:[^\n]*\n\s+Arguments: ([^\n]*)",
                                                notes):
        if provider == "tidepool":
            found.setdefault(name, set()).add(len(re.findall(r"(?:^| )-?\d+@", arguments)))
    return found


def main(document, program):
    names, probes = listed(pathlib.Path(document)), built_in(program)
    problems = [f"the document lists {name}, which {program} does not have" for name in sorted(names - probes.keys())]
    problems += [f"{program} has {name}, which the document does not list" for name in sorted(probes.keys() - names)]
    problems += [f"{name} has {counts} arguments" for name, counts in sorted(probes.items()) if counts != {2}]
    print("\n".join(problems) if problems else f"{len(probes)} probes")
    return 1 if problems or not probes else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
