#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails where a source, script or build file does not name its licence within its first three lines.

usage: check_spdx.py [--self-test]
"""
import sys

import tracked

SUFFIXES = {".hpp", ".cpp", ".h", ".c", ".cu", ".py", ".sh", ".cmake"}
NAMES = {"CMakeLists.txt", ".ci/run"}
LINE = "SPDX-License-Identifier: BSD-3-Clause"


def checked(root):
    files = tracked.tracked_files(root)
    return [p for p in files if p.suffix in SUFFIXES or p.name in NAMES or str(p) in NAMES]


def check(root):
    return [f"{path}: no '{LINE}' in its first three lines" for path in checked(root)
            if not any(LINE in line for line in tracked.read(root, path).splitlines()[:3])]


CASES = [
    ("named", {"a.cpp": f"// {LINE}\n", "b.py": f"#!/usr/bin/env python3\n# {LINE}\n"}, None),
    ("data needs none", {"mesh.msh": "$MeshFormat\n"}, None),
    ("not named", {"a/b.hpp": "#pragma once\n"}, "a/b.hpp: no"),
    ("another licence", {"a.cpp": "// SPDX-License-Identifier: MIT\n"}, "a.cpp: no"),
    ("too late", {"a.cpp": "\n\n\n" + f"// {LINE}\n"}, "a.cpp: no"),
    ("build file", {"x/CMakeLists.txt": "project(x)\n"}, "CMakeLists.txt: no"),
]


def run():
    return tracked.report("check_spdx", check(tracked.ROOT), f"{len(checked(tracked.ROOT))} files read")


if __name__ == "__main__":
    sys.exit(tracked.main("check_spdx", run, check, CASES))
