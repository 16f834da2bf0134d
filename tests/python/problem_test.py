#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One problem file, solved by the command in a temporary directory: exit code 0, status "converged", the output file there.

usage: problem_test.py RAFTER PROBLEM [--optimised]

With --optimised kernels are compiled as users compile them (tests/labels.cmake).

Comments at the start of the problem file may say more:
    # expect NAME = VALUE within BOUND     value of a functional (BOUND is absolute)
    # refused: TEXT                        exit code 2 instead, with TEXT in the message and nothing written
    # not converged: TEXT                  exit code 1 instead, with TEXT in the message
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib


def expectations(text):
    """Returns the comments before the first other line, as (kind, rest)."""
    found = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        match = re.match(r"# (expect|refused:|not converged:) (.*)$", line)
        if match:
            found.append(match.groups())
    return found


def require(condition, message):
    if not condition:
        sys.exit(f"FAILED: {message}")


def check_solved(problem, report, left, wanted):
    require(report["status"] == "converged", f"status {report['status']}")
    output = problem.get("output", {}).get("file")
    require(left == sorted(["report.json"] + ([output] if output else [])), f"files left: {left}")
    exact = set(problem.get("check", {})) - {"max_l2_error", "max_h1_error"}
    require(set(report["errors"]) == exact, f"errors of {set(report['errors'])} instead of {exact}")
    require(set(report["functionals"]) == set(problem.get("functionals", {})), "functionals are missing")
    require(exact or report["functionals"], "the file says nothing of its solution: it needs [check] or [functionals]")
    for kind, text in wanted:
        name, value, bound = re.fullmatch(r"(\w+) = (\S+) within (\S+)", text).groups()
        found = report["functionals"][name]
        require(abs(found - float(value)) <= float(bound), f"{name} is {found!r}, expected {value} within {bound}")


def main():
    rafter, path = map(os.path.abspath, sys.argv[1:3])
    with open(path, encoding="utf-8") as file:
        text = file.read()
    problem = tomllib.loads(text)
    wanted = expectations(text)
    failures = [(kind, fragment) for kind, fragment in wanted if kind != "expect"]
    if "--optimised" in sys.argv[3:]:
        os.environ["PATH"] = os.environ.get("RAFTER_USERS_PATH", os.environ["PATH"])
    with tempfile.TemporaryDirectory() as directory:
        result = subprocess.run([rafter, "solve", path, "--json", "report.json"], cwd=directory, capture_output=True,
                                text=True, check=False)
        print(result.stdout, result.stderr, sep="\n")
        too_long = [line for line in result.stdout.splitlines() if len(line) > 120]
        require(not too_long, f"lines of more than 120 characters: {too_long}")
        warnings = (result.stdout + result.stderr).count("was busy")
        require(warnings <= (result.stdout != ""), f"{warnings} warnings of a busy machine")
        left = sorted(os.listdir(directory))
        for kind, fragment in failures:
            require(result.returncode == (2 if kind == "refused:" else 1), f"exit code {result.returncode}")
            require(fragment in result.stderr + result.stdout, f"the message lacks: {fragment}")
            require(kind != "refused:" or left == [], f"files left: {left}")
        if failures:
            return
        require(result.returncode == 0, f"exit code {result.returncode}")
        with open(os.path.join(directory, "report.json"), encoding="utf-8") as file:
            check_solved(problem, json.load(file), left, wanted)


if __name__ == "__main__":
    main()
