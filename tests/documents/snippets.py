#!/usr/bin/env python3
"""Takes the C++ out of the documents, so that none of it can rot.

  snippets.py programs OUTPUT DOCUMENT...            writes each whole program (a ```cpp block with `int main`) to
                                                     OUTPUT/<document>_<n>.cpp, and the ```text block that follows it,
                                                     if there is one, to OUTPUT/<document>_<n>.txt; prints the names
  snippets.py excerpts EXAMPLES DOCUMENT...          every other ```cpp block, and every ```c block, stands, but for its
                                                     indentation, in a file of the folder EXAMPLES or in a whole program
                                                     of the same document
  snippets.py run EXPECTED COMMAND [ARGUMENTS...]    the command exits with 0 and prints what the file EXPECTED says,
                                                     or just exits with 0 when there is no such file
"""
import pathlib
import re
import subprocess
import sys

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


def blocks(document):
    """The fenced blocks of a document, as pairs of language and text."""
    return [(match[1], match[2]) for match in FENCE.finditer(document.read_text(encoding="utf-8"))]


def is_program(language, text):
    return language == "cpp" and re.search(r"\bint main\(", text) is not None


def write_if_different(path, text):
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def write_programs(output, documents):
    output.mkdir(parents=True, exist_ok=True)
    written = []
    for document in documents:
        found = blocks(document)
        number = 0
        for index, (language, text) in enumerate(found):
            if not is_program(language, text):
                continue
            number += 1
            path = output / f"{document.stem.lower()}_{number}.cpp"
            write_if_different(path, text)
            written.append(path)
            if index + 1 < len(found) and found[index + 1][0] == "text":
                write_if_different(path.with_suffix(".txt"), found[index + 1][1])
                written.append(path.with_suffix(".txt"))
    for stale in set(output.iterdir()) - set(written):
        stale.unlink()
    print(";".join(path.stem for path in written if path.suffix == ".cpp"), end="")
    return 0


def lines_of(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


def contains(whole, part):
    return any(whole[start:start + len(part)] == part for start in range(len(whole) - len(part) + 1))


def check_excerpts(examples, documents):
    sources = [lines_of(path.read_text(encoding="utf-8")) for path in examples.iterdir()]
    lost = 0
    for document in documents:
        found = blocks(document)
        programs = [lines_of(text) for language, text in found if is_program(language, text)]
        for language, text in found:
            if language not in ("c", "cpp") or is_program(language, text):
                continue
            if not any(contains(whole, lines_of(text)) for whole in sources + programs):
                print(f"{document}: this block stands in no example, so nothing compiles it:\n{text}", file=sys.stderr)
                lost += 1
    return 1 if lost else 0


def run(expected, command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    sys.stdout.write(done.stdout)
    if done.returncode != 0:
        print(f"exit status {done.returncode}", file=sys.stderr)
        return 1
    if expected.exists() and done.stdout.splitlines() != expected.read_text(encoding="utf-8").splitlines():
        print(f"the document says that it prints:\n{expected.read_text(encoding='utf-8')}", file=sys.stderr)
        return 1
    return 0


def main(arguments):
    if len(arguments) >= 3 and arguments[0] == "programs":
        return write_programs(pathlib.Path(arguments[1]), [pathlib.Path(name) for name in arguments[2:]])
    if len(arguments) >= 3 and arguments[0] == "excerpts":
        return check_excerpts(pathlib.Path(arguments[1]), [pathlib.Path(name) for name in arguments[2:]])
    if len(arguments) >= 3 and arguments[0] == "run":
        return run(pathlib.Path(arguments[1]), arguments[2:])
    print(__doc__, file=sys.stderr)
    return 2


sys.exit(main(sys.argv[1:]))
