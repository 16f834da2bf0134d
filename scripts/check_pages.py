#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails where a link or a path in a page (a Markdown file) leads to no file.

usage: check_pages.py [--self-test]

A path is a word in backquotes that begins with a folder of the repository or a module: `mesh/mesh.hpp`, `mesh/` or, of files with the usual
endings, `mesh/mesh`. In pages that say how to add something, docs/add_*.md, every other word in backquotes must be in a file of the code.
Words with a placeholder (NAME, NNNN, `<`, `*`, `{`), blocks of code and the changelog, which names files that went, are left out.
"""
import pathlib
import posixpath
import re
import sys

import tracked

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
WORD = re.compile(r"`([^`\s]+)`")
NAME = re.compile(r"[A-Za-z_]\w+")
ENDINGS = (".hpp", ".cpp", ".py", ".sh")
PLACEHOLDER = re.compile(r"[<*{]|[A-Z]{4,}[._/]|NNNN|NAME\b")


def without_blocks(text):
    return re.sub(r"^```.*?^```", lambda block: "\n" * block.group().count("\n"), text, flags=re.M | re.S)


def mentioned(page, text, folders, modules):
    """(line, what stands there, path from the root) of every link and path"""
    for number, line in enumerate(without_blocks(text).splitlines(), 1):
        for target in LINK.findall(line):
            if not re.match(r"[a-z]+:", target):
                yield number, target, posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
        for word in WORD.findall(line):
            first = word.split("/")[0]
            is_path = first in folders | modules and re.fullmatch(r"[\w.-]+/([a-z\d_/-]*|[\w./-]+\.[a-z\d]+)", word)
            if is_path and not PLACEHOLDER.search(word):
                yield number, word, word if first in folders else f"rafter/{word}"


def exists(root, path):
    if (pathlib.Path(root) / "tests" / f"{path}_test.py").exists():  # the name of a test, such as python/report
        return True
    path = pathlib.Path(root) / path
    return path.exists() or any(path.with_name(path.name + ending).exists() for ending in ENDINGS)


def unknown_words(page, text, words, folders):
    """(line, word) of what a page says of the code and the code, whose words are given, does not have"""
    for number, line in enumerate(without_blocks(text).splitlines(), 1):
        for code in re.findall(r"`([^`]+)`", line):
            if not PLACEHOLDER.search(code) and code.split("/")[0] not in folders:
                yield from ((number, name) for name in NAME.findall(code) if name not in words)


def check_words(root, files, pages, folders):
    pages = [page for page in pages if re.fullmatch(r"docs/add_\w+\.md", page)]
    words = set()
    for path in files if pages else []:
        if path.suffix != ".md":
            words.update(NAME.findall(f"{path}\n{tracked.read(root, path)}"))
    return [f"{page}:{line}: the code has no {word}" for page in pages
            for line, word in unknown_words(page, tracked.read(root, page), words, folders)]


def check(root):
    files = tracked.tracked_files(root)
    folders = {path.parts[0] for path in files if len(path.parts) > 1}
    modules = {path.parts[1] for path in files if len(path.parts) > 2 and path.parts[0] == "rafter"}
    pages = [str(path) for path in files if path.suffix == ".md" and path.name != "CHANGELOG.md"]
    problems = [f"{page}:{line}: there is no {word}" for page in pages
                for line, word, path in mentioned(page, tracked.read(root, page), folders, modules) if not exists(root, path)]
    return problems + check_words(root, files, pages, folders)


CASES = [
    ("a path", {"a.md": "`src/b.hpp`", "src/b.hpp": ""}, None),
    ("a path that is gone", {"docs/a.md": "\n`src/gone.hpp`", "src/b.hpp": ""}, "docs/a.md:2: there is no src/gone.hpp"),
    ("a path in a module", {"a.md": "`mesh/b.hpp` `mesh/gone.hpp`", "rafter/mesh/b.hpp": ""}, "a.md:1: there is no mesh/gone.hpp"),
    ("a folder", {"a.md": "`src/` `src/c/`", "src/b.hpp": ""}, "there is no src/c/"),
    ("a test in Python", {"a.md": "`python/b` `python/gone`", "tests/python/b_test.py": "", "python/c.py": ""}, "a.md:1: there is no python/gone"),
    ("a placeholder", {"a.md": "`src/NAME.hpp` `src/<x>.hpp` `src/A`", "src/b.hpp": ""}, None),
    ("a link", {"docs/a.md": "[b](../src/b.hpp#part) [web](https://example.org)", "src/b.hpp": ""}, None),
    ("a link that is gone", {"docs/a.md": "[b](src/b.hpp)", "src/b.hpp": ""}, "there is no src/b.hpp"),
    ("a block of code", {"a.md": "```\n`src/gone.hpp`\n```\n", "src/b.hpp": ""}, None),
    ("a pair of files", {"a.md": "`mesh/b` `mesh/gone`", "rafter/mesh/b.hpp": ""}, "a.md:1: there is no mesh/gone"),
    ("words of the code", {"docs/add_a.md": "`B::f(int)` `b.hpp` `read_NAME(path)`", "src/b.hpp": "class B {\n int f;"}, None),
    ("a word that is gone", {"docs/add_a.md": "\n`B::gone`", "src/b.hpp": "class B"}, "docs/add_a.md:2: the code has no gone"),
    ("words of another page", {"docs/a.md": "`gone`"}, None),
    ("not of the repository", {"a.md": "`build/gone.hpp`", "src/b.hpp": ""}, None),
]


def run():
    return tracked.report("check_pages", check(tracked.ROOT), "links and paths of all pages")


if __name__ == "__main__":
    sys.exit(tracked.main("check_pages", run, check, CASES))
