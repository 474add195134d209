"""Running named tests, and what their result says about a defect."""
import dataclasses
import enum
import re

import process

CTEST_SECONDS = 30       # what ctest itself may need beside the tests
DETAIL_LENGTH = 160


class Verdict(enum.Enum):
    CAUGHT = "caught"
    CRASH = "crash or time-out"
    SURVIVED = "survived"
    NOT_APPLICABLE = "does not apply"
    NOT_COMPILING = "does not compile"


@dataclasses.dataclass(frozen=True)
class Outcome:
    verdict: Verdict
    detail: str = ""
    passed: frozenset[str] = frozenset()      # names of the tests that ran and passed


class GoogleTestOutput:
    """What a GoogleTest program has printed."""
    _EVENT = re.compile(r"\[ RUN      \] (?P<run>\S+)|\[       OK \] (?P<ok>\S+) \("
                        r"|\[  FAILED  \] (?P<failed>\S+?),? (?:\(|where )")
    _FAILURE = re.compile(r"^\S.*: Failure$", re.MULTILINE)

    def __init__(self, text):
        self.passed = set()
        self.failures = {}                    # test -> message of its first failed assertion
        self.finished = bool(re.search(r"^\[==========\] \d+ tests? from .* ran\.", text, re.MULTILINE))
        self.running = None
        began = 0
        for event in self._EVENT.finditer(text):
            if event["run"]:
                self.running, began = event["run"], event.end()
                continue
            self._take_failure(event["failed"], text[began:event.start()])
            if event["ok"]:
                self.passed.add(event["ok"])
            self.running = None
        if self.running:                      # it never came to its end
            self._take_failure(self.running, text[began:])

    def _take_failure(self, test, said):
        failure = self._FAILURE.search(said)
        if test and failure:
            self.failures.setdefault(test, said[failure.start():])


def matches(test_filter, test):
    """Whether a GoogleTest filter (patterns joined by ':') matches the full name of a test."""
    def expression(pattern):
        return "".join({"*": ".*", "?": "."}.get(character, re.escape(character)) for character in pattern)
    return any(re.fullmatch(expression(pattern), test) for pattern in test_filter.split(":"))


def _short(text):
    line = " ".join(text.split())
    return line if len(line) <= DETAIL_LENGTH else line[:DETAIL_LENGTH - 1] + "…"


def _end_of(ended):
    if ended.timed_out:
        return f"no end after {ended.seconds:.0f} s"
    return f"signal {-ended.status}" if ended.status < 0 else f"exit status {ended.status}"


def _run_program(build, test, timeout, log, stop_early):
    def complaint(text):
        """What the program says about the defect by an assertion, or by a sanitizer; however it ends then."""
        finding = build.configuration.finding and re.search(build.configuration.finding, text)
        if finding:
            return finding[0]
        failures = GoogleTestOutput(text).failures.items()
        return next((f"{name}: {_short(message)}" for name, message in failures if matches(test.filter, name)), None)

    command = [str(build.program(test.program)), f"--gtest_filter={test.filter}"]
    ended = process.run(command + ["--gtest_fail_fast"] * stop_early, log, timeout, cwd=build.folder,
                        more_environment=build.configuration.environment, enough=complaint if stop_early else None)
    text = process.read_log(log)
    output = GoogleTestOutput(text)
    passed = frozenset(output.passed)
    said = complaint(text)
    if said:
        return Outcome(Verdict.CAUGHT, said, passed)
    if ended.status == 0 and output.finished:
        return Outcome(Verdict.SURVIVED, f"{len(passed)} tests passed", passed)
    return Outcome(Verdict.CRASH, f"{_end_of(ended)} in {output.running or 'no test'}", passed)


def _run_ctest(build, test, timeout, log, failure, stop_early):
    command = ["ctest", "--test-dir", str(build.folder), "-R", test.ctest, "--no-tests=error", "--output-on-failure",
               "--timeout", str(timeout)] + ["--stop-on-failure"] * stop_early
    ended = process.run(command, log, timeout + CTEST_SECONDS, more_environment=build.configuration.environment)
    text = process.read_log(log)
    results = re.findall(r"^ *\d+/\d+ Test +#\d+: (\S+) [ .]*(Passed|\*\*\*.*?)  ", text, re.MULTILINE)
    passed = frozenset(name for name, result in results if result == "Passed")
    bad = [(name, result) for name, result in results if result != "Passed"]
    if ended.status == 0 and not bad and passed:
        return Outcome(Verdict.SURVIVED, f"{len(passed)} tests passed", passed)
    message = re.search(failure, text, re.MULTILINE)
    if bad and all(result == "***Failed" for _, result in bad) and message:
        return Outcome(Verdict.CAUGHT, f"{bad[0][0]}: {_short(text[message.start():])}", passed)
    return Outcome(Verdict.CRASH, f"{bad[0][0]} {bad[0][1]}" if bad else f"ctest: {_end_of(ended)}", passed)


def run_test(build, test, timeout, log, failure, stop_early=True):
    """Runs what one entry of `tests` names. SURVIVED means that all of it passed."""
    if test.program:
        return _run_program(build, test, timeout, log, stop_early)
    return _run_ctest(build, test, timeout, log, failure, stop_early)


def judge(build, case, log, failure):
    """A defect is caught when every entry of `tests` reports it by an assertion."""
    outcomes = []
    for test in case.tests:
        outcome = run_test(build, test, case.timeout, log, failure)
        if outcome.verdict is not Verdict.CAUGHT:
            return outcome if len(case.tests) == 1 else Outcome(outcome.verdict, f"{test}: {outcome.detail}")
        outcomes.append(outcome)
    return outcomes[0]
