#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails on source files of more than 600 lines that do not say why ("Long file: reason") and on classes of more than 300 lines, with the methods
that the same file defines outside of them, and on lines of Markdown of more than 160 characters; lists functions of more than 60 lines.

usage: check_sizes.py [--self-test]
"""
import pathlib
import re
import sys

import tracked

FILE_LIMIT, CLASS_LIMIT, FUNCTION_LIMIT, PAGE_LIMIT = 600, 300, 60, 160
# Classes that are still to be split, as (path, name). An entry that is not needed any more is a problem, too.
LARGE_CLASSES = frozenset()
SUFFIXES = {".hpp", ".cpp", ".h", ".c", ".cu", ".py", ".sh"}
LITERAL = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum)\b[^()]*$|^\s*extern\b\s*$")
CLASS = re.compile(r"\b(?:class|struct|union)\s+([\w:]+)[^()]*$")
METHOD = re.compile(r"((?:\w+::)*[A-Z]\w*)(?:<[^<>]*>)?::(?:~?\w+|operator\s*[^\w\s]*)\s*$")
MEMBER_INITIALIZER = re.compile(r"\)[^;]*[^:;]:(?!:)\s*(?:[^;]*,\s*)?\w+\s*$")
CONTROL = re.compile(r"^\s*(if|for|while|switch|else|do|try|catch|return)\b")


def blanked(text):
    """The text with strings and comments blanked, line breaks kept."""
    return LITERAL.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def definitions(text):
    """(kind, first line, lines, head) of every "function" and "class", found by matching braces."""
    clean = re.sub(r"^\s*#[^\n]*", lambda m: " " * len(m.group()), blanked(text), flags=re.MULTILINE)
    found, stack, start = [], [], 0
    for position, character in enumerate(clean):
        if character == "{":
            head = clean[start:position]
            outside = all(kind in ("scope", "class") for kind, *_ in stack)
            if outside and MEMBER_INITIALIZER.search(head):
                kind = "initializer"
            elif SCOPE.search(head):
                kind = "class" if class_name(head) else "scope"
            else:
                kind = "function" if outside and "(" in head and not CONTROL.match(head) else "block"
            stack.append((kind, start + len(head) - len(head.lstrip()), " ".join(head.split())))
            is_boundary = kind != "initializer"
        elif character == "}" and stack:
            kind, begin, head = stack.pop()
            if kind in ("function", "class"):
                found.append((kind, clean.count("\n", 0, begin) + 1, clean.count("\n", begin, position) + 1, head))
            is_boundary = kind != "initializer"
        else:
            is_boundary = character in "};"
        if is_boundary:
            start = position + 1
    return found


def class_name(head):
    """Of the head of a class, struct or union; None for enumerations and namespaces."""
    match = CLASS.search(re.sub(r"template\s*<[^{;]*?>\s*(?=class|struct|union)", "", head))
    return None if match is None or re.search(r"\benum\b", head) else match.group(1)


def method_class(head):
    """The class of a method that is defined outside of it; None for other functions."""
    match = METHOD.search(head[:head.index("(")])
    return match and match.group(1)


def long_functions(text):
    """(first line, lines, head) of every function of more than FUNCTION_LIMIT lines."""
    return [(line, length, head) for kind, line, length, head in definitions(text)
            if kind == "function" and length > FUNCTION_LIMIT]


def class_sizes(text):
    """{name: lines} of classes, with those of their methods that stand outside."""
    sizes = {}
    for kind, _, length, head in definitions(text):
        name = class_name(head) if kind == "class" else method_class(head)
        if name:
            sizes[name] = sizes.get(name, 0) + length
    return sizes


def check(root):
    problems = []
    for path in tracked.tracked_files(root, SUFFIXES):
        text = tracked.read(root, path)
        lines = text.count("\n")
        if lines > FILE_LIMIT and not re.search(r"Long file: \S", text):
            problems.append(f"{path}: {lines} lines (limit {FILE_LIMIT}); split it, or say why in a line 'Long file: ...'")
    return problems


def check_classes(root, exceptions=frozenset()):
    sizes = {(str(path), name): lines for path in tracked.tracked_files(root, {".hpp", ".cpp"})
             for name, lines in class_sizes(tracked.read(root, path)).items()}
    problems = [f"{path}: class {name} has {lines} lines (limit {CLASS_LIMIT}); split it by what changes together"
                for (path, name), lines in sizes.items() if lines > CLASS_LIMIT and (path, name) not in exceptions]
    return problems + [f"{path}: class {name} is no large class any more: take it from LARGE_CLASSES of check_sizes.py"
                       for path, name in sorted(exceptions) if sizes.get((path, name), 0) <= CLASS_LIMIT]


def check_pages(root):
    """Lines of prose, tables and code."""
    return [f"{path}:{number}: {len(line)} characters (limit {PAGE_LIMIT}); break the line, or make a list of the table"
            for path in tracked.tracked_files(root, {".md"}) for number, line in enumerate(tracked.read(root, path).splitlines(), 1)
            if len(line) > PAGE_LIMIT]


def functions(root):
    return [f"{path}:{line}: {length} lines: {head[:90]}" for path in tracked.tracked_files(root, {".hpp", ".cpp"})
            for line, length, head in long_functions(tracked.read(root, path))]


def check_all(root):
    """As the self-test needs it: one class of its trees may be large."""
    exceptions = {("known.cpp", "Known")} if (pathlib.Path(root) / "known.cpp").exists() else frozenset()
    return check(root) + check_classes(root, exceptions) + check_pages(root) + functions(root)


def body(lines):
    return "int f(int a) {\n" + "  a += 1;\n" * lines + "}\n"


def methods(class_name, number):
    return f"int {class_name}::f() {{\n" + "  a += 1;\n" * number + "}\n"


def class_text(name, lines):
    return f"class {name} {{\n" + "  int a;\n" * lines + "};\n"


CASES = [
    ("short", {"a.cpp": body(50)}, None),
    ("long file", {"a.cpp": "int x;\n" * 601}, "a.cpp: 601 lines"),
    ("long file with a reason", {"a.cpp": "// Long file: one table\n" + "int x;\n" * 601}, None),
    ("long file with an empty reason", {"a.cpp": "// Long file: \n" + "int x;\n" * 601}, "a.cpp: 602 lines"),
    ("long function", {"a.cpp": "namespace n {\n" + body(60) + "}\n"}, "a.cpp:2: 62 lines: int f(int a)"),
    ("long method", {"a.hpp": "class A {\n  " + body(60) + "};\n"}, "a.hpp:2: 62 lines"),
    ("long namespace", {"a.hpp": "namespace n {\n" + "int g();\n" * 80 + "}\n"}, None),
    ("class", {"a.hpp": class_text("A", 298)}, None),
    ("large class", {"a.hpp": "namespace n {\n" + class_text("A final : public B", 299) + "}\n"}, "a.hpp: class A has 301 lines"),
    ("large template", {"a.hpp": "template <class T> " + class_text("A", 299)}, "a.hpp: class A has 301 lines"),
    ("large enumeration", {"a.hpp": "enum class A {\n" + "  a,\n" * 310 + "};\n"}, None),
    ("methods outside", {"a.cpp": class_text("A", 259) + methods("A", 38)}, "a.cpp: class A has 301 lines"),
    ("methods of two classes", {"a.cpp": class_text("A", 200) + class_text("B", 200) + methods("A", 50) + methods("B", 50)}, None),
    ("methods of a class inside", {"a.cpp": class_text("A::B", 259) + methods("A::B", 38)}, "a.cpp: class A::B has 301 lines"),
    ("constructor with braces", {"a.cpp": class_text("A", 257) + "A::A(int b) : a{b}, c(1) {\n" + "  a += 1;\n" * 40 + "}\n"},
     "a.cpp: class A has 301 lines"),
    ("free functions", {"a.cpp": class_text("A", 200) + methods("n", 50) * 5}, None),
    ("large class that is known", {"known.cpp": class_text("Known", 310)}, None),
    ("known class that is large no more", {"known.cpp": class_text("Known", 10)}, "known.cpp: class Known is no large class any more"),
    ("prose", {"a.md": "a" * 160 + "\n"}, None),
    ("wide prose", {"a.md": "- " + "a " * 80 + "\n"}, "a.md:1: 162 characters"),
    ("wide table", {"a.md": "| a |\n|---|\n| " + "a " * 80 + "|\n"}, "a.md:3: 163 characters"),
    ("wide code", {"a.md": "```sh\n" + "c" * 170 + "\n```\n"}, "a.md:2: 170 characters"),
    ("brace in a string", {"a.cpp": 'void g() { h("{"); }\n' + "int x;\n" * 80}, None),
]


def run():
    listed = functions(tracked.ROOT)
    for line in listed:
        print("long function (for information):", line)
    files = tracked.tracked_files(tracked.ROOT, SUFFIXES)
    lines = sum(tracked.read(tracked.ROOT, path).count("\n") for path in files)
    summary = f"{len(files)} files, {lines} lines, {len(listed)} functions of more than {FUNCTION_LIMIT} lines"
    problems = check(tracked.ROOT) + check_classes(tracked.ROOT, LARGE_CLASSES) + check_pages(tracked.ROOT)
    return tracked.report("check_sizes", problems, summary)


if __name__ == "__main__":
    sys.exit(tracked.main("check_sizes", run, check_all, CASES))
