#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How many .cpp files a header is in, directly or through others, so that they are compiled again when it changes (files by
themselves, RAFTER_UNITY=OFF): of the headers that are in most, or of those that are named, with the headers that bring them.

    scripts/count_includers.py [--top NUMBER] [HEADER...]        HEADER as in an #include: rafter/schedule/plan.hpp"""
import argparse
import collections
import pathlib
import re

import tracked

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
FOLDERS = ("rafter", "apps", "bench", "tests", "adapters")


def include_graph():
    """Each file to the files of the project that it includes."""
    names = {str(name) for name in tracked.tracked_files(suffixes={".hpp", ".cpp", ".h"})
             if name.parts[0] in FOLDERS and "consumer" not in name.parts}
    graph = {}
    for name in names:
        ways = ("", str(pathlib.PurePath(name).parent), "apps", "adapters")
        found = [[way + "/" * bool(way) + include for way in ways if way + "/" * bool(way) + include in names]
                 for include in INCLUDE.findall(tracked.read(tracked.ROOT, name))]
        graph[name] = {candidates[0] for candidates in found if candidates}
    return graph


def reached(graph, start):
    seen, open_files = set(), [start]
    while open_files:
        for name in graph[open_files.pop()] - seen:
            seen.add(name)
            open_files.append(name)
    return seen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--top", type=int, default=20)
    parser.add_argument("headers", nargs="*")
    options = parser.parse_args()
    graph = include_graph()
    unknown = [header for header in options.headers if header not in graph]
    if unknown:
        parser.error(f"no such header: {', '.join(unknown)}")
    units = [name for name in graph if name.endswith(".cpp")]
    counts = collections.Counter(header for unit in units for header in reached(graph, unit))
    print(f"{len(units)} files are compiled")
    for header in options.headers or [name for name, _ in counts.most_common(options.top)]:
        print(f"{counts[header]:5d}  {header}")
    for header in options.headers:
        ways = sorted((name for name in graph if header in graph[name] and name in counts), key=lambda name: -counts[name])
        print(f"\n{header} comes through")
        for way in ways:
            print(f"{counts[way]:5d}  {way}")


if __name__ == "__main__":
    main()
