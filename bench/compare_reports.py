#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reports of the same problems, solved on the host and on a device: which agree, how far they differ, and what each took.

usage: compare_reports.py FOLDER [--self-test]

FOLDER holds pairs NAME.host.json and NAME.device.json of `rafter solve --json`; for a solve that left none, NAME.host.txt or NAME.device.txt says
why. Answers agree if the states and the unknowns are the same, functionals differ by 1e-9 of their value (those that vanish, by 1e-12 of the
largest norm), errors by 1e-9 of themselves or of the largest norm, and iterations by two or by 2 %. Norms are the functionals that
bench/device.sh adds to each problem, norm_of_FIELD, the squares of the fields' L2 norms. Exit code 1: some do not agree.
"""
import json
import math
import pathlib
import sys

BOUND, ROUNDING, NORM = 1e-9, 1e-12, "norm_of_"


def numbers_of(tree, path=""):
    """The numbers of nested objects and lists, by their paths."""
    if isinstance(tree, dict):
        return {key: value for name, child in tree.items() for key, value in numbers_of(child, f"{path}.{name}").items()}
    if isinstance(tree, list):
        return {key: value for i, child in enumerate(tree) for key, value in numbers_of(child, f"{path}[{i}]").items()}
    return {path: tree} if isinstance(tree, (int, float)) and not isinstance(tree, bool) else {}


def difference(a, b, scale):
    """|a - b| relative to a scale; what is no number differs from all."""
    distance = abs(a - b)
    return math.inf if math.isnan(distance) else distance / scale if distance > 0 else 0.0


def compare(host, device):
    """(what does not agree, the largest relative difference of an answer)"""
    problems, largest = [], 0.0
    for key in ("status", "dofs"):
        if host.get(key) != device.get(key):
            problems.append(f"{key}: {host.get(key)} and {device.get(key)}")
    norms = [math.sqrt(abs(value)) for name, value in host.get("functionals", {}).items() if name.startswith(NORM) and value is not None]
    norm = max(norms, default=1.0)
    for section in ("functionals", "errors"):
        expected, found = numbers_of(host.get(section, {})), numbers_of(device.get(section, {}))
        if expected.keys() != found.keys():
            problems.append(f"{section}: {sorted(expected)} and {sorted(found)}")
        for name in expected.keys() & found.keys():
            a, b = expected[name], found[name]
            scale = max(abs(a), ROUNDING / BOUND * norm if section == "functionals" else norm, 1e-300)
            relative = difference(a, b, scale)
            largest = max(largest, relative)
            if not relative <= BOUND:
                problems.append(f"{section}{name}: {a!r} and {b!r}")
    a, b = host.get("iterations"), device.get("iterations")
    if a is not None and b is not None and abs(a - b) > max(2, 0.02 * a):
        problems.append(f"iterations: {a} and {b}")
    return problems, largest


def total_seconds(report):
    return sum(report.get("seconds", {}).values())


def read(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def last_line(path):
    try:
        lines = [line for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    except OSError:
        return "it was not run"
    return lines[-1].strip() if lines else "stopped before it said anything"


def table(folder):
    """Prints the table and returns how many do not agree."""
    names = sorted({path.name.rsplit(".", 2)[0] for path in folder.glob("*.*.txt")} | {path.name.rsplit(".", 2)[0] for path in folder.glob("*.*.json")})
    print(f"{'problem':26} {'agrees':7} {'difference':>10} {'iterations':>12} {'host s':>8} {'device s':>8} {'solve s':>8} {'solve s':>8}")
    count = 0
    for name in names:
        host, device = (read(folder / f"{name}.{where}.json") for where in ("host", "device"))
        if host is None or device is None:
            count += 1
            missing = [f"{where}: {last_line(folder / f'{name}.{where}.txt')}" for where, report in (("host", host), ("device", device)) if report is None]
            print(f"{name:26} {'no':7} {'; '.join(missing)}")
            continue
        problems, largest = compare(host, device)
        count += bool(problems)
        steps = f"{host.get('iterations', '-')}/{device.get('iterations', '-')}"
        times = " ".join(f"{value:8.2f}" for value in (total_seconds(host), total_seconds(device), host["seconds"].get("solve", 0),
                                                       device["seconds"].get("solve", 0)))
        print(f"{name:26} {'no' if problems else 'yes':7} {largest:10.1e} {steps:>12} {times}")
        for problem in problems:
            print(f"{'':26} {problem}")
    print(f"{len(names) - count} of {len(names)} agree")
    return count


def self_test():
    host = {"status": "converged", "dofs": 9, "iterations": 10, "functionals": {"norm_of_u": 4.0, "mean": 0.0, "flux": 3.0}, "errors": {"u": {"l2": 1e-6}}}

    def changed(**values):
        return {**host, **values}

    cases = [("the same", host, True), ("iterations", changed(iterations=13), False), ("few iterations", changed(iterations=12), True),
             ("a functional", changed(functionals={**host["functionals"], "flux": 3.0 + 1e-8}), False),
             ("rounding of one that vanishes", changed(functionals={**host["functionals"], "mean": 1e-13}), True),
             ("one that should vanish", changed(functionals={**host["functionals"], "mean": 1e-10}), False),
             ("an error", changed(errors={"u": {"l2": 1.1e-6}}), False), ("no number", changed(errors={"u": {"l2": math.nan}}), False),
             ("a missing error", changed(errors={}), False), ("state", changed(status="stagnated"), False)]
    failures = [name for name, device, agrees in cases if (not compare(host, device)[0]) != agrees]
    print(f"compare_reports --self-test: {len(cases)} cases, {len(failures)} failed {' '.join(failures)}")
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(self_test() if sys.argv[1] == "--self-test" else 1 if table(pathlib.Path(sys.argv[1])) else 0)
