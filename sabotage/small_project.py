"""A small project with a manifest of its own, for the tests of the runner."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap

RUNNER = pathlib.Path(__file__).resolve().parent / "run.py"

# The project: a library, and a program whose arguments and output are GoogleTest's.
PROJECT = {
    "CMakeLists.txt": """
        cmake_minimum_required(VERSION 3.23)
        project(small LANGUAGES CXX)
        enable_testing()
        add_compile_options(${MORE})
        add_executable(checks main.cpp add_checks.cpp other_checks.cpp sums.cpp)
        add_executable(script_subject script_subject.cpp sums.cpp)
        add_test(NAME script.adds COMMAND sh ${CMAKE_SOURCE_DIR}/script.sh $<TARGET_FILE:script_subject>)
        """,
    "sums.cpp": """
        #include <cstdlib>
        int add(int a, int b) { return a + b; }
        int twice(int a) { return a * 2; }
        int untested(int a) { return a - 7; }
        int repeated_one(int a) { return a ^ 1; }
        int repeated_two(int a) { return a ^ 1; }
        """,
    "checks.hpp": r"""
        #pragma once
        #include <cstdio>
        #include <vector>
        struct check { const char* suite; const char* name; void (*body)(); const char* file; };
        inline std::vector<check> checks;
        inline bool good = true;
        inline void expect(bool condition) {
          if (!condition) {
            std::puts("checks.hpp:7: Failure\nValue of: condition\n  Actual: false");
            std::fflush(stdout);
            good = false;
          }
        }
        #define CHECK(suite, name)                                                                           \
          static void suite##_##name();                                                                      \
          static const bool suite##_##name##_is_known =                                                      \
              (checks.push_back({#suite, #name, &suite##_##name, __FILE__}), true);                          \
          static void suite##_##name()
        """,
    "add_checks.cpp": """
        #include "checks.hpp"
        int add(int, int);
        int twice(int);
        CHECK(Add, sums_two) { expect(add(2, 3) == 5); }
        CHECK(Add, then_doubles) { expect(add(2, 3) == 5); expect(twice(add(1, 1)) == 4); }
        """,
    "other_checks.cpp": """
        #include "checks.hpp"
        int add(int, int);
        int twice(int);
        CHECK(Twice, doubles) { expect(twice(4) == 8); }
        CHECK(Nothing, is_checked) { add(1, 1); }
        """,
    "main.cpp": r"""
        #include "checks.hpp"
        #include <cstring>
        #include <string>
        static int failed_tests = 0;
        static bool chosen(const std::string& name, std::string filter) {
          for (filter += ':'; !filter.empty(); filter.erase(0, filter.find(':') + 1)) {
            const std::string one = filter.substr(0, filter.find(':'));
            const bool open = !one.empty() && one.back() == '*';
            if (open ? name.rfind(one.substr(0, one.size() - 1), 0) == 0 : name == one) return true;
          }
          return false;
        }
        static int list(const char* into) {
          std::FILE* const file = std::fopen(into, "w");
          const char* between = "{\"testsuites\": [";
          for (const check& each : checks) {
            std::fprintf(file, "%s{\"name\": \"%s\", \"testsuite\": [{\"name\": \"%s\", \"file\": \"%s\"}]}", between,
                         each.suite, each.name, each.file);
            between = ", ";
          }
          std::fputs("]}", file);
          return std::fclose(file);
        }
        int main(int argc, char** argv) {
          std::string filter = "*";
          for (int i = 1; i < argc; ++i) {
            if (std::strncmp(argv[i], "--gtest_filter=", 15) == 0) filter = argv[i] + 15;
            if (std::strncmp(argv[i], "--gtest_output=json:", 20) == 0) return list(argv[i] + 20);
          }
          int ran = 0;
          for (const check& test : checks) {
            const std::string name = std::string(test.suite) + "." + test.name;
            if (!chosen(name, filter)) continue;
            ++ran;
            std::printf("[ RUN      ] %s\n", name.c_str());
            std::fflush(stdout);
            good = true;
            test.body();
            std::printf("%s %s (0 ms)\n", good ? "[       OK ]" : "[  FAILED  ]", name.c_str());
            failed_tests += !good;
          }
          std::printf("[==========] %d tests from 3 test suites ran. (0 ms total)\n", ran);
          return failed_tests == 0 ? 0 : 1;
        }
        """,
    "script_subject.cpp": """
        int add(int, int);
        int main() { return add(1, 2); }
        """,
    "script.sh": """
        "$1"
        status=$?
        [ $status -gt 100 ] && kill -SEGV $$
        [ $status -eq 3 ] || { echo "FAIL: the sum is $status"; exit 1; }
        """,
    ".gitignore": "/build/\n/ignored.txt\n",
}

MANIFEST = r"""
    rows = ["A1", "Z9"]
    failure = '^FAIL: '
    [configuration.dev]
    options = []
    environment = { SMALL_ANSWER = "42" }
    [configuration.strict]
    options = ["-DCMAKE_CXX_FLAGS=-fsanitize=undefined -fno-sanitize-recover=all"]
    finding = 'runtime error: .*'
    """


def case(name, replace, find="return a + b;", tests=None, **more):
    fields = {"id": name, "row": "A1", "file": "sums.cpp", "find": find, "replace": replace, "why": "to see",
              "timeout": 5, "tests": tests or [{"program": "checks", "filter": "Add.sums_two"}]} | more
    return fields


def toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


def table(fields):
    return "[[case]]\n" + "".join(f"{key} = {toml(value)}\n" for key, value in fields.items())


CONTROL = case("control", "return a - b;", control=True)


class Project:
    def __init__(self, cases, manifest_text=MANIFEST):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sabotage-test-"))
        for name, text in PROJECT.items():
            self.write(name, textwrap.dedent(text).lstrip("\n"))
        subprocess.run(["git", "init", "-q", self.folder], check=True)
        self.write("sabotage/manifest.toml", textwrap.dedent(manifest_text))
        self.write_cases(cases)

    def write(self, name, text):
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def write_cases(self, cases):
        self.write("sabotage/cases/all.toml", "\n".join(map(table, cases)))

    @property
    def scratch(self):
        return self.folder / "build/sabotage/tree-1"

    def command(self, *arguments):
        return [sys.executable, str(RUNNER), "--root", str(self.folder), *arguments]

    def run(self, *arguments):
        return subprocess.run(self.command(*arguments), env=self.environment(), capture_output=True, text=True, timeout=300)

    def environment(self):
        """With a compiler cache of its own."""
        return os.environ | {"LC_ALL": "C", "CCACHE_DIR": str(self.folder / "build/ccache")}

    def remove(self):
        shutil.rmtree(self.folder)
