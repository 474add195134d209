#!/usr/bin/env python3
"""Compiles one thing and says whether the result is the one expected.

  compile_check.py header NAME COMPILER [FLAGS...]      #include NAME, twice, compiles by itself
  compile_check.py precompile NAME INTO COMPILER [FLAGS...]
                                                        makes the folder INTO, for checks of files that include NAME
  compile_check.py fail FILE FOLDER COMPILER [FLAGS...] FILE does not compile, for the reason it states; with -DCONTROL it
                                                        does. FOLDER was made by precompile, with the same COMPILER and FLAGS

A FILE of the last kind has, among its first lines, one or more of

  // expect: REGULAR EXPRESSION

each of which the compiler's messages must match, and may have

  // only: clang                   another compiler can not know; where Clang is not installed the check is skipped (status 77)
  // flags: FLAGS                  for this file

What stands under #ifdef CONTROL is the same program without the
mistake, so that a file which fails for some other reason (a missing header, a renamed function) is found out.
"""
import os
import re
import shutil
import subprocess
import sys

SKIPPED = 77


def is_clang(compiler):
    said = subprocess.run([compiler, "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return "clang" in said.stdout


def clang_in_place_of(compiler):
    """The same command with a Clang in place of another compiler, or None when there is no Clang."""
    if is_clang(compiler[0]):
        return compiler
    clang = shutil.which("clang++-19") or shutil.which("clang++")
    return clang and [clang, *compiler[1:]]


def compiles(compiler, arguments, source=None):
    """Runs the compiler without keeping its output; returns whether it succeeded and what it said."""
    command = [*compiler, "-S", "-o", "-", *arguments]
    done = subprocess.run(command, input=source, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          errors="replace", timeout=300)
    return done.returncode == 0, done.stderr


def check_header(name, compiler):
    # Something must follow the includes: a translation unit of nothing but comments is not C.
    source = f'#include "{name}"\n#include "{name}"\nextern int after_the_header;\n'
    good, messages = compiles(compiler, ["-"], source)
    if not good:
        return f"{name} does not compile by itself:\n{messages}"
    return None


def precompiled(folder):
    return os.path.join(folder, "precompiled.hpp")


def precompile(name, folder, compiler):
    os.makedirs(folder, exist_ok=True)
    header = precompiled(folder)
    with open(header, "w", encoding="utf-8") as text:
        text.write(f'#include "{name}"\n')
    done = subprocess.run([*compiler, "-x", "c++-header", header, "-o", f"{header}.gch"], timeout=300)
    return None if done.returncode == 0 else f"{name} can not be precompiled"


def check_failure(file, folder, compiler):
    with open(file, encoding="utf-8") as text:
        source = text.read()
    expectations = re.findall(r"^// expect: (.+?)\s*$", source, re.MULTILINE)
    if not expectations:
        return f"{file} does not say what the compiler must say (// expect: REGULAR EXPRESSION)"
    usual = compiler
    if re.search(r"^// only: clang$", source, re.MULTILINE):
        compiler = clang_in_place_of(compiler)
        if compiler is None:
            print(f"{file} is for Clang, which is not installed")
            sys.exit(SKIPPED)
    for flags in re.findall(r"^// flags: (.+)$", source, re.MULTILINE):
        compiler = [*compiler, *flags.split()]
    if compiler == usual:  # no other one can use it
        compiler = [*compiler, "-include", precompiled(folder)]
    good, messages = compiles(compiler, ["-DCONTROL", file])
    if not good:
        return f"the control does not compile, so the failure proves nothing:\n{messages}"
    good, messages = compiles(compiler, [file])
    if good:
        return f"{file} compiles, and must not"
    # GCC and Clang quote with typographic marks in some locales; expectations are written with plain ones.
    plain = re.sub("[\u2018\u2019]", "'", messages)
    missing = [expectation for expectation in expectations if not re.search(expectation, plain)]
    if missing:
        return "the compiler did not say " + " nor ".join(repr(one) for one in missing) + f"; it said:\n{messages}"
    return None


def main(arguments):
    checks = {"header": (check_header, 1), "precompile": (precompile, 2), "fail": (check_failure, 2)}
    check, subjects = checks.get(arguments[0] if arguments else "", (None, 0))
    if check is None or len(arguments) < 1 + subjects + 1:
        print(__doc__, file=sys.stderr)
        return 2
    problem = check(*arguments[1 : 1 + subjects], arguments[1 + subjects :])
    if problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


sys.exit(main(sys.argv[1:]))
