"""The scratch copy of the tree, its builds, and the one defect it has at a time."""
import collections
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess

import parts as parts_of_programs
import process

CONFIGURE_SECONDS = 300
BUILD_SECONDS = 1800


class ScratchError(Exception):
    pass


def why_not_applicable(case, tree):
    """Why the case's text can not be replaced in the tree, or None."""
    file = tree / case.file
    if not file.is_file():
        return f"there is no {case.file}"
    count = file.read_bytes().decode("utf-8").count(case.find)
    return None if count == 1 else f"the text occurs {count} times in {case.file}"


def _files(folder):
    """The files below a folder, by their relative paths, each with what tells whether it has been written since."""
    found = {}
    for path in folder.rglob("*"):
        status = path.lstat()
        if not stat.S_ISDIR(status.st_mode):
            found[path.relative_to(folder)] = (status.st_mtime_ns, status.st_size)
    return found


def _mirror(source, target):
    """Makes the files in `target` those in `source`, times included. Copies only what differs in time or size."""
    wanted, present = _files(source), _files(target)
    for name in present.keys() - wanted.keys():
        (target / name).unlink()
    for name, state in wanted.items():
        if present.get(name) != state:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).unlink(missing_ok=True)
            shutil.copy2(source / name, target / name, follow_symlinks=False)


class Tree:
    """A copy of what git knows and does not ignore. Unchanged files keep their time: builds are incremental.

    Its builds are below it, as deep as those of a tree by hand: so the compiler cache, which sees the sources by their
    relative paths, knows again what it has compiled for another tree.
    """
    BUILDS = "build"

    def __init__(self, root, folder):
        self.root = root
        self.folder = folder
        self._original = None

    def sync(self):
        listed = subprocess.run(["git", "-C", str(self.root), "ls-files", "-z", "--cached", "--others",
                                 "--exclude-standard"], env=process.environment(), capture_output=True)
        if listed.returncode != 0:
            raise ScratchError(f"git ls-files: {listed.stderr.decode(errors='replace').strip()}")
        names = {name for name in listed.stdout.decode(errors="surrogateescape").split("\0")
                 if name and (self.root / name).is_file()}
        for name in names:
            copy = self.folder / name
            content = (self.root / name).read_bytes()
            if not copy.is_file() or copy.read_bytes() != content:
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(content)
            shutil.copymode(self.root / name, copy)
        for folder, folders, files in os.walk(self.folder):
            if pathlib.Path(folder) == self.folder and self.BUILDS in folders:
                folders.remove(self.BUILDS)
            for file in (pathlib.Path(folder, name) for name in files):
                if str(file.relative_to(self.folder)) not in names:
                    file.unlink()

    def apply(self, case):
        """Puts the defect in. Returns why that is not possible, or None."""
        problem = why_not_applicable(case, self.folder)
        if problem:
            return problem
        file = self.folder / case.file
        text = file.read_bytes().decode("utf-8")
        self._original = (file, text, file.stat())
        file.write_bytes(text.replace(case.find, case.replace).encode("utf-8"))
        return None

    def restore(self):
        """Takes the defect out. The file gets its old time back: what was built from it has to be put back first."""
        if self._original:
            file, text, status = self._original
            file.write_bytes(text.encode("utf-8"))
            os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
            self._original = None


class CompilerCache:
    """ccache, where it is installed. With the settings of ./test, so that nothing is compiled twice."""

    @staticmethod
    def is_there():
        return shutil.which("ccache") is not None

    def options(self):
        """For cmake."""
        return [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")] if self.is_there() else []

    def environment(self, tree, use):
        """`use`: what is compiled now may be wanted again."""
        if not self.is_there():
            return {}
        return {"CCACHE_BASEDIR": str(tree.folder), "CCACHE_NOHASHDIR": "1",
                "CCACHE_SLOPPINESS": "locale,pch_defines,time_macros"} | ({} if use else {"CCACHE_DISABLE": "1"})


class Build:
    """The build of the scratch tree in one configuration.

    What is built of the unchanged tree is kept aside, and put back after each defect, so that taking a defect out again
    costs no compilation.
    """

    def __init__(self, tree, configuration, cache, jobs, log):
        self.tree = tree
        self.configuration = configuration
        self.cache = cache
        self.folder = tree.folder / tree.BUILDS / configuration.name
        self._kept = self.folder.with_name(self.folder.name + "-unchanged")
        self._is_kept = self._is_changed = False
        self.jobs = jobs
        self.log = log
        self._programs = None
        self._of_a_case = {}           # what build_tests() has made in the place of programs
        self.parts = {}                # of the programs that cases name

    def configure(self):
        # The file API tells where each target's program is.
        query = self.folder / ".cmake/api/v1/query/codemodel-v2"
        query.parent.mkdir(parents=True, exist_ok=True)
        query.touch()
        ended = process.run(["cmake", "-S", str(self.tree.folder), "-B", str(self.folder), "-G", "Ninja",
                             "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *self.configuration.options, *self.cache.options()],
                            self.log, CONFIGURE_SECONDS, more_environment=self.cache.environment(self.tree, use=False))
        if ended.status != 0:
            raise ScratchError(f"the configuration {self.configuration.name} is not possible; see {self.log}")

    def build(self, targets):
        """Returns whether the targets, or files, could be built, and the seconds it took."""
        self._programs, self._of_a_case = None, {}
        if not targets:
            return True, 0.0
        self._is_changed = True
        # Tests that run meanwhile, of another defect, come first.
        ended = process.run(["nice", "cmake", "--build", str(self.folder), "--parallel", str(self.jobs), "--target",
                             *sorted(targets)], self.log, BUILD_SECONDS,
                            more_environment=self.cache.environment(self.tree, use=not self._is_kept))
        return ended.status == 0, ended.seconds

    def build_tests(self, tests):
        """The same for tests that a case names; of each program only what these need. After keep()."""
        filters = collections.defaultdict(list)
        for test in tests:
            if test.program:
                filters[test.program].append(test.filter)
        targets = {target for test in tests if not test.program for target in test.targets}
        links = {}
        for name, patterns in filters.items():
            parts = self.parts[name]
            if parts is None:
                targets.add(name)
                continue
            words = parts.needed(":".join(patterns))
            targets.update(parts.files(words))
            links[name] = parts.link(words)
        good, seconds = self.build(targets)
        for name, (command, made) in links.items():
            if good:
                ended = process.run(["nice", "sh", "-c", command], self.log, BUILD_SECONDS, self.folder)
                good, seconds = ended.status == 0, seconds + ended.seconds
                self._of_a_case[name] = self.folder / made
        return good, seconds

    def keep(self, programs):
        """Keeps aside what is built now, of the unchanged tree. The programs are those that cases name."""
        self.parts = {name: parts_of_programs.read(self.folder, self.program(name), self.log) for name in programs}
        _mirror(self.folder, self._kept)
        self._is_kept, self._is_changed = True, False

    def put_back(self):
        if self._is_changed:
            _mirror(self._kept, self.folder)
            self._is_changed = False
            self._programs, self._of_a_case = None, {}

    def first_error(self):
        """What the last build complained about first."""
        lines = process.read_log(self.log).splitlines()
        errors = (line.strip() for line in lines if re.search(r"\berror\b|undefined reference", line))
        return next(errors, f"see {self.log}")

    def program(self, target):
        if target in self._of_a_case:
            return self._of_a_case[target]
        if self._programs is None:
            self._programs = {}
            for file in (self.folder / ".cmake/api/v1/reply").glob("target-*.json"):
                reply = json.loads(file.read_text(encoding="utf-8"))
                if reply["type"] == "EXECUTABLE":
                    self._programs[reply["name"]] = self.folder / reply["artifacts"][0]["path"]
        if target not in self._programs:
            raise ScratchError(f"there is no program {target}")
        return self._programs[target]
