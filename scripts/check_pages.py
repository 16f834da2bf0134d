#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails where a link or a path in a page (a Markdown file) leads to no file.

usage: check_pages.py [--self-test]

A path is a word in backquotes that begins with a folder of the repository or a module and has an ending, such as `mesh/mesh.hpp`, or is a
folder and ends with `/`. Words with a placeholder (NAME, NNNN, `<`, `*`, `{`), blocks of code and the changelog, which tells of files that went, are
left out.
"""
import pathlib
import posixpath
import re
import sys

import tracked

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
WORD = re.compile(r"`([^`\s]+)`")
PLACEHOLDER = re.compile(r"[<*{]|[A-Z]{4,}[._/]|NNNN")


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
            is_path = first in folders | modules and (word.endswith("/") or re.search(r"/.*\.[a-z0-9]+$", word))
            if is_path and not PLACEHOLDER.search(word):
                yield number, word, word if first in folders else f"rafter/{word}"


def check(root):
    files = tracked.tracked_files(root)
    folders = {path.parts[0] for path in files if len(path.parts) > 1}
    modules = {path.parts[1] for path in files if len(path.parts) > 2 and path.parts[0] == "rafter"}
    pages = [str(path) for path in files if path.suffix == ".md" and path.name != "CHANGELOG.md"]
    return [f"{page}:{line}: there is no {word}" for page in pages for line, word, path in mentioned(page, tracked.read(root, page), folders, modules)
            if not (pathlib.Path(root) / path).exists()]


CASES = [
    ("a path", {"a.md": "`src/b.hpp`", "src/b.hpp": ""}, None),
    ("a path that is gone", {"docs/a.md": "\n`src/gone.hpp`", "src/b.hpp": ""}, "docs/a.md:2: there is no src/gone.hpp"),
    ("a path in a module", {"a.md": "`mesh/b.hpp` `mesh/gone.hpp`", "rafter/mesh/b.hpp": ""}, "a.md:1: there is no mesh/gone.hpp"),
    ("a folder", {"a.md": "`src/` `src/c/`", "src/b.hpp": ""}, "there is no src/c/"),
    ("a placeholder", {"a.md": "`src/NAME.hpp` `src/<x>.hpp`", "src/b.hpp": ""}, None),
    ("a link", {"docs/a.md": "[b](../src/b.hpp#part) [web](https://example.org)", "src/b.hpp": ""}, None),
    ("a link that is gone", {"docs/a.md": "[b](src/b.hpp)", "src/b.hpp": ""}, "there is no src/b.hpp"),
    ("a block of code", {"a.md": "```\n`src/gone.hpp`\n```\n", "src/b.hpp": ""}, None),
    ("not of the repository", {"a.md": "`build/gone.hpp`", "src/b.hpp": ""}, None),
]


def run():
    return tracked.report("check_pages", check(tracked.ROOT), "links and paths of all pages")


if __name__ == "__main__":
    sys.exit(tracked.main("check_pages", run, check, CASES))
