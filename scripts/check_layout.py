#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds docs/layout.md to the truth: every file of a module is named in the module's section, and every name there is a file; and decision
records to numbers of their own.

usage: check_layout.py [--self-test]

A section begins with `## module: what it is`, where a module may be a folder of another one; names stand in backquotes in the first column of its table, with the ending or, for a pair,
without.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def modules(text):
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def named_files(layout):
    """section -> names in the first column of its tables"""
    result = {}
    for section in re.split(r"^## ", layout, flags=re.M)[1:]:
        head, *rows = section.splitlines()
        cells = [row.split("|")[1] for row in rows if row.startswith("|")]
        result[re.split(r"[^\w/]", head)[0]] = {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}
    return result


def check(layout, files):
    """Problems; files: module -> paths in it."""
    named, problems = named_files(layout), []
    for module, paths in files.items():
        if module not in named:
            problems.append(f"no section '## {module}'")
            continue
        stems = {path: path.rsplit(".", 1)[0] for path in paths}
        problems += [f"{module}: {path} is not named" for path, stem in sorted(stems.items()) if not {path, stem} & named[module]]
        known = set(stems) | set(stems.values())
        problems += [f"{module}: there is no file {name}" for name in sorted(named[module] - known)]
    return problems


def shared_numbers(names):
    """Problems of decision records, NNNN-title.md."""
    numbers = [name.split("-")[0] for name in names]
    return [f"decision {number} exists {numbers.count(number)} times" for number in sorted(set(numbers)) if numbers.count(number) > 1]


def self_test():
    layout = "## base: x\n\n| file | |\n|---|---|\n| `a`, `sub/b.hpp` | `c` |\n\n## comm\n"
    cases = [("true", {"base": ["a.cpp", "a.hpp", "sub/b.hpp"], "comm": []}, 0), ("file not named", {"base": ["a.cpp", "sub/b.hpp", "c.cpp"]}, 1),
             ("no such file", {"base": ["a.cpp"]}, 1), ("half a pair", {"base": ["a.cpp", "sub/b.hpp", "sub/b.cpp"]}, 1), ("no section", {"mesh": []}, 1)]
    failures = [name for name, files, count in cases if len(check(layout, files)) != count]
    failures += ["decisions"] * (len(shared_numbers(["0001-a.md", "0002-b.md", "0002-c.md"])) != 1)
    print(f"check_layout --self-test: {len(cases) + 1} cases, {len(failures)} failed {' '.join(failures)}")
    return 1 if failures else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1:]:
        sys.exit(__doc__)
    files = {}
    names = modules((ROOT / "rafter/layers.txt").read_text())
    for module in names:
        folder = ROOT / "rafter" / module
        others = {ROOT / "rafter" / other for other in names if other.startswith(module + "/")}
        files[module] = [str(path.relative_to(folder)) for path in folder.rglob("*.[ch]pp") if not others & set(path.parents)]
    problems = check((ROOT / "docs/layout.md").read_text(), files)
    problems += shared_numbers([path.name for path in (ROOT / "docs/decisions").glob("*.md")])
    print(*(f"docs/layout.md: {problem}" for problem in problems), sep="\n", end="\n" if problems else "")
    print(f"check_layout: {len(problems)} problem(s); {sum(map(len, files.values()))} files")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
