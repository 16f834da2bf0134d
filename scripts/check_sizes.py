#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails on source files of more than 600 lines that do not say why ("Long file: reason"); lists functions of more than 60 lines.

usage: check_sizes.py [--self-test]
"""
import re
import sys

import tracked

FILE_LIMIT, FUNCTION_LIMIT = 600, 60
SUFFIXES = {".hpp", ".cpp", ".h", ".c", ".cu", ".py", ".sh"}
LITERAL = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum)\b[^()]*$|^\s*extern\b\s*$")
CONTROL = re.compile(r"^\s*(if|for|while|switch|else|do|try|catch|return)\b")


def blanked(text):
    """The text with strings and comments blanked, line breaks kept."""
    return LITERAL.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def long_functions(text):
    """(first line, lines, head) of every function of more than FUNCTION_LIMIT lines, found by matching braces."""
    clean = re.sub(r"^\s*#[^\n]*", lambda m: " " * len(m.group()), blanked(text), flags=re.MULTILINE)
    found, stack, start = [], [], 0
    for position, character in enumerate(clean):
        if character == "{":
            head = clean[start:position]
            outside = all(kind == "scope" for kind, *_ in stack)
            function = outside and "(" in head and not SCOPE.search(head) and not CONTROL.match(head)
            kind = "function" if function else "scope" if SCOPE.search(head) else "block"
            stack.append((kind, start + len(head) - len(head.lstrip()), " ".join(head.split())))
        elif character == "}" and stack:
            kind, begin, head = stack.pop()
            length = clean.count("\n", begin, position) + 1
            if kind == "function" and length > FUNCTION_LIMIT:
                found.append((clean.count("\n", 0, begin) + 1, length, head))
        if character in "{};":
            start = position + 1
    return found


def check(root):
    problems = []
    for path in tracked.tracked_files(root, SUFFIXES):
        text = tracked.read(root, path)
        lines = text.count("\n")
        if lines > FILE_LIMIT and not re.search(r"Long file: \S", text):
            problems.append(f"{path}: {lines} lines (limit {FILE_LIMIT}); split it, or say why in a line 'Long file: ...'")
    return problems


def functions(root):
    return [f"{path}:{line}: {length} lines: {head[:90]}" for path in tracked.tracked_files(root, {".hpp", ".cpp"})
            for line, length, head in long_functions(tracked.read(root, path))]


def check_both(root):
    return check(root) + functions(root)


def body(lines):
    return "int f(int a) {\n" + "  a += 1;\n" * lines + "}\n"


CASES = [
    ("short", {"a.cpp": body(50)}, None),
    ("long file", {"a.cpp": "int x;\n" * 601}, "a.cpp: 601 lines"),
    ("long file with a reason", {"a.cpp": "// Long file: one table\n" + "int x;\n" * 601}, None),
    ("long file with an empty reason", {"a.cpp": "// Long file: \n" + "int x;\n" * 601}, "a.cpp: 602 lines"),
    ("long function", {"a.cpp": "namespace n {\n" + body(60) + "}\n"}, "a.cpp:2: 62 lines: int f(int a)"),
    ("long method", {"a.hpp": "class A {\n  " + body(60) + "};\n"}, "a.hpp:2: 62 lines"),
    ("long namespace", {"a.hpp": "namespace n {\n" + "int g();\n" * 80 + "}\n"}, None),
    ("brace in a string", {"a.cpp": 'void g() { h("{"); }\n' + "int x;\n" * 80}, None),
]


def run():
    listed = functions(tracked.ROOT)
    for line in listed:
        print("long function (for information):", line)
    files = tracked.tracked_files(tracked.ROOT, SUFFIXES)
    lines = sum(tracked.read(tracked.ROOT, path).count("\n") for path in files)
    summary = f"{len(files)} files, {lines} lines, {len(listed)} functions of more than {FUNCTION_LIMIT} lines"
    return tracked.report("check_sizes", check(tracked.ROOT), summary)


if __name__ == "__main__":
    sys.exit(tracked.main("check_sizes", run, check_both, CASES))
