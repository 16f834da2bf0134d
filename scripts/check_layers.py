#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails where an include runs against rafter/layers.txt, names an unknown module or a relative path, or closes a circle of
files.

usage: check_layers.py [--self-test]
"""
import re
import sys

import tracked

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"](rafter/[^>"]+)[>"]', re.MULTILINE)
SHORT_INCLUDE = re.compile(r'^\s*#\s*include\s*"(?!rafter/)([^"]+)"', re.MULTILINE)


def module_of(path, order):
    """Module of rafter/<module>/...: the longest folder that is one; None for a header directly in rafter/ (the umbrella)."""
    folders = str(path).split("/")[1:-1]
    for length in range(len(folders), 1, -1):
        if "/".join(folders[:length]) in order:
            return "/".join(folders[:length])
    return folders[0] if folders else None


def order_of(root):
    lines = tracked.read(root, "rafter/layers.txt").splitlines()
    names = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    return {name: rank for rank, name in enumerate(names)}


def circles(graph):
    """One problem per include that closes a circle (depth-first search with the open path)."""
    problems, done = [], set()

    def visit(node, path):
        if node in path:
            problems.append("circular include: " + " -> ".join(path[path.index(node):] + [node]))
        elif node not in done:
            for target in graph.get(node, []):
                visit(target, path + [node])
            done.add(node)

    for node in sorted(graph):
        visit(node, [])
    return problems


def check(root):
    order = order_of(root)
    graph, problems = {}, []
    for path in tracked.tracked_files(root, {".hpp", ".cpp"}):
        name = str(path)
        text = tracked.read(root, path)
        graph[name] = INCLUDE.findall(text)
        if not name.startswith("rafter/"):
            continue
        module = module_of(name, order)
        if module is not None and module not in order:
            problems.append(f"{name}: module '{module}' is not in rafter/layers.txt")
            continue
        line_of = lambda match: f"{name}:{text.count(chr(10), 0, match.start(1)) + 1}"
        problems += [f'{line_of(match)}: "{match.group(1)}" is written <rafter/module/file.hpp> in the library'
                     for match in SHORT_INCLUDE.finditer(text)]
        for match in INCLUDE.finditer(text):
            where = line_of(match)
            target = module_of(match.group(1), order)
            if target is not None and target not in order:
                problems.append(f"{where}: includes <{match.group(1)}> of unknown module '{target}'")
            elif module is not None and target is None:
                problems.append(f"{where}: a module may not include <{match.group(1)}>, which stands above all modules")
            elif module is not None and order[target] > order[module]:
                problems.append(f"{where}: {module} may not include <{match.group(1)}>: {target} is a later layer")
    return problems + circles(graph)


LAYERS = {"rafter/layers.txt": "# order\nbase\nmesh\n"}
CASES = [
    ("right way", {**LAYERS, "rafter/mesh/a.cpp": "#include <rafter/base/b.hpp>\n", "rafter/base/b.hpp": ""}, None),
    ("umbrella", {**LAYERS, "rafter/rafter.hpp": "#include <rafter/mesh/b.hpp>\n", "rafter/mesh/b.hpp": ""}, None),
    ("wrong way", {**LAYERS, "rafter/base/a.hpp": "#include <rafter/mesh/b.hpp>\n"}, "a.hpp:1: base may not include"),
    ("quotes too", {**LAYERS, "rafter/base/a.hpp": '#include "rafter/mesh/b.hpp"\n'}, "base may not include"),
    ("short path", {**LAYERS, "rafter/base/a.hpp": '#include "../mesh/b.hpp"\n'}, "a.hpp:1: \"../mesh/b.hpp\" is written"),
    ("unknown target", {**LAYERS, "rafter/mesh/a.cpp": "#include <rafter/mess/b.hpp>\n"}, "unknown module 'mess'"),
    ("unknown folder", {**LAYERS, "rafter/more/a.cpp": "\n"}, "not in rafter/layers.txt"),
    ("umbrella inside", {**LAYERS, "rafter/mesh/a.cpp": "#include <rafter/rafter.hpp>\n"}, "may not include"),
    ("module in a module", {"rafter/layers.txt": "base\nmesh/low\nmesh\n", "rafter/mesh/low/a.hpp": "#include <rafter/mesh/b.hpp>\n"},
     "a.hpp:1: mesh/low may not include"),
    ("its way", {"rafter/layers.txt": "base\nmesh/low\nmesh\n", "rafter/mesh/sub/a.hpp": "#include <rafter/mesh/low/b.hpp>\n"}, None),
    ("circle", {**LAYERS, "rafter/mesh/a.hpp": "#include <rafter/mesh/b.hpp>\n",
                "rafter/mesh/b.hpp": "#include <rafter/mesh/a.hpp>\n"}, "circular include"),
]


def run():
    count = len(tracked.tracked_files(tracked.ROOT, {".hpp", ".cpp"}))
    return tracked.report("check_layers", check(tracked.ROOT), f"{count} files read")


if __name__ == "__main__":
    sys.exit(tracked.main("check_layers", run, check, CASES))
