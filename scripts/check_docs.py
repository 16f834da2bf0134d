#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the examples of README.md and docs/: the fenced blocks after a line <!-- run --> (or <!-- run exit=2 -->).

usage: check_docs.py [--build DIR] [--prefix DIR] [--self-test]

sh blocks run with bash -e, toml blocks are solved by `rafter solve`, cpp blocks are compiled against the installed package in
PREFIX and run (a block without main() becomes its body). All blocks of a document share one scratch folder, in which the
repository's files appear under their names, so that they may build on each other.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARK = re.compile(r"^\s*<!--\s*run\b(.*?)-->\s*$")
OPTION = re.compile(r"^exit=(\d+)$")
LANGUAGES = ("sh", "toml", "cpp")


class DocumentError(Exception):
    """A mark that nothing can be run for."""


def examples(text):
    """(line of the fence, language, code, expected exit code) of every marked block."""
    lines, found, index = text.splitlines(), [], 0
    while index < len(lines):
        mark = MARK.match(lines[index])
        index += 1
        if not mark:
            continue
        expected = 0
        for word in mark.group(1).split():
            option = OPTION.match(word)
            if not option:
                raise DocumentError(f"line {index}: unknown option '{word}'; accepted: exit=N")
            expected = int(option.group(1))
        while index < len(lines) and not lines[index].strip():
            index += 1
        language = lines[index].strip()[3:].strip() if index < len(lines) else ""
        if index >= len(lines) or not lines[index].strip().startswith("```") or language not in LANGUAGES:
            raise DocumentError(f"line {index + 1}: a run mark stands before a block in {', '.join(LANGUAGES)}")
        start = index + 1
        end = next((i for i in range(start, len(lines)) if lines[i].strip() == "```"), None)
        if end is None:
            raise DocumentError(f"line {index + 1}: the block is not closed")
        found.append((start, language, "\n".join(lines[start:end]) + "\n", expected))
        index = end + 1
    return found


def whole_program(code):
    """The block itself, or its statements in a main() after its #include and using lines."""
    if re.search(r"\bint main\(", code):
        return code
    head = [line for line in code.splitlines() if re.match(r"#include|using namespace", line)]
    body = [line for line in code.splitlines() if line not in head]
    return "\n".join(head + ["int main() {"] + body + ["}"]) + "\n"


def cpp_command(code, scratch, number, prefix):
    source = scratch / f"cpp-{number}"
    source.mkdir()
    (source / "main.cpp").write_text(whole_program(code))
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(example LANGUAGES CXX)\nfind_package(rafter REQUIRED)\n"
        "add_executable(example main.cpp)\ntarget_link_libraries(example PRIVATE rafter::rafter)\n")
    folder = source / "build"
    return ["bash", "-ec", f"cmake -G Ninja -S '{source}' -B '{folder}' -DCMAKE_PREFIX_PATH='{prefix}' -DCMAKE_BUILD_TYPE=Release"
            f" && cmake --build '{folder}' && '{folder}/example'"]


def command_for(language, code, scratch, number, prefix):
    if language == "sh":
        return ["bash", "-euo", "pipefail", "-c", code]
    if language == "toml":
        problem = scratch / f"example-{number}.toml"
        problem.write_text(code)
        return ["rafter", "solve", str(problem)]
    return cpp_command(code, scratch, number, prefix)


def run_document(name, text, build, prefix):
    """(number of blocks run, problems)."""
    try:
        blocks = examples(text)
    except DocumentError as error:
        return 0, [f"{name}: {error}"]
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        for entry in ROOT.iterdir():
            (scratch / entry.name).symlink_to(entry)
        (scratch / "build").unlink(missing_ok=True)
        (scratch / "build").symlink_to(build)
        environment = {**os.environ, "PATH": f"{build}:{os.environ['PATH']}"}
        for number, (line, language, code, expected) in enumerate(blocks):
            done = subprocess.run(command_for(language, code, scratch, number, prefix), cwd=scratch, env=environment,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            print(f"{name}:{line}: {language} block: exit {done.returncode}")
            if done.returncode != expected:
                problems.append(f"{name}:{line}: {language} block: exit {done.returncode} instead of {expected}\n{done.stdout}")
    return len(blocks), problems


def self_test():
    fence = "```"
    sh = lambda code, mark="<!-- run -->": f"{mark}\n{fence}sh\n{code}\n{fence}\n"
    cases = [("passes", sh("true"), 1, 0), ("fails", sh("false\ntrue"), 1, 1), ("pipe fails", sh("false | cat"), 1, 1),
             ("expected exit", sh("exit 2", "<!-- run exit=2 -->"), 1, 0), ("other exit", sh("exit 1", "<!-- run exit=2 -->"), 1, 1),
             ("not marked", f"{fence}sh\nfalse\n{fence}\n", 0, 0), ("bad option", sh("true", "<!-- run often -->"), 0, 1),
             ("no block", "<!-- run -->\ntext\n", 0, 1), ("not closed", f"<!-- run -->\n{fence}sh\ntrue\n", 0, 1),
             ("sees the repository", sh("test -f rafter/layers.txt"), 1, 0), ("shares files", sh("echo 1 > a") + sh("cat a"), 2, 0)]
    failures = 0
    for what, text, blocks, wrong in cases:
        found = run_document(what, text, ROOT / "build", ROOT)
        if (found[0], len(found[1])) != (blocks, wrong):
            failures += 1
            print(f"check_docs --self-test: {what}: expected {blocks} blocks and {wrong} problems, found {found}")
    if "int main() {\nf();" not in whole_program("#include <a>\nf();\n"):
        failures += 1
        print("check_docs --self-test: a block without main is not wrapped")
    print(f"check_docs --self-test: {len(cases) + 1} cases, {failures} failed")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--prefix", type=pathlib.Path, default=ROOT / "build/consumer/prefix")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    total, problems = 0, []
    for path in [p for p in [ROOT / "README.md"] if p.exists()] + sorted((ROOT / "docs").rglob("*.md")):
        count, wrong = run_document(str(path.relative_to(ROOT)), path.read_text(), options.build.resolve(), options.prefix.resolve())
        total += count
        problems += wrong
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"check_docs: {len(problems)} problem(s); {total} blocks run")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
