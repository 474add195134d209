"""What a program of tests is made of.

It is linked from one object file for each source. A defect in a public header would have all of them compiled again,
where the tests that a case names are in one or two. So a case gets a program of its own: everything that holds no test,
and the sources of the tests it names.
"""
import json
import subprocess

import process
import verdict

SECONDS = 60


class Parts:
    def __init__(self, link, program, sources, tests):
        self._link = link              # the words of the command that links the whole program, run in the build folder
        self._program = program        # its file, relative to the build folder
        self._sources = sources        # object file -> source, for what is linked
        self._tests = tests            # full name of a test -> source

    def needed(self, test_filter):
        """The words of the link command that name what a program with these tests needs."""
        named = {source for test, source in self._tests.items() if verdict.matches(test_filter, test)}
        left_out = set(self._tests.values()) - named
        return [word for word in self._link if self._sources.get(word) not in left_out]

    @staticmethod
    def files(words):
        """Those of a link command that are made in the build folder."""
        return [word for word in words if word.endswith((".o", ".a", ".so")) and not word.startswith(("-", "/"))]

    def link(self, words):
        """The command that links them, for a shell in the build folder, and the file that it makes."""
        made = f"{self._program}-of-a-case"
        return " ".join(made if word == self._program else word for word in words), made


def read(folder, program, log):
    """Of a program in a build folder, which has been built. None if it can only be had as a whole."""
    name = str(program.relative_to(folder))
    printed = subprocess.run(["ninja", "-C", str(folder), "-t", "commands", "-s", name], capture_output=True, text=True)
    lines = [line for line in printed.stdout.splitlines() if not line.startswith("ninja: ")]
    listing = folder / "tests-of-a-program.json"
    listing.unlink(missing_ok=True)
    listed = process.run([str(program), "--gtest_list_tests", f"--gtest_output=json:{listing}"], log, SECONDS, folder)
    if printed.returncode != 0 or len(lines) != 1 or listed.status != 0 or not listing.is_file():
        return None
    link = lines[0].split(" ")
    suites = json.loads(listing.read_text(encoding="utf-8"))["testsuites"]
    listing.unlink()
    tests = {f"{suite['name']}.{test['name']}": (folder / test["file"]).resolve()
             for suite in suites for test in suite["testsuite"]}
    sources = {}
    for compilation in json.loads((folder / "compile_commands.json").read_text(encoding="utf-8")):
        words = compilation["command"].split(" ")
        compiled = words[words.index("-o") + 1]
        if compiled in link:
            sources[compiled] = (folder / compilation["directory"] / compilation["file"]).resolve()
    # Tests that a header defines may be in any source.
    return Parts(link, name, sources, tests) if set(tests.values()) <= set(sources.values()) else None
