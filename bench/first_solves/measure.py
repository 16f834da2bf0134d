#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures first solves: the problems of this folder with a cache that holds the record of the machine alone, and again with what that left there.

usage: measure.py [--rounds N] [--json FILE] RAFTER [NAME...]

RAFTER is the program, NAME the name of a problem without .toml (all of them unless given). Each round begins with an empty cache. Prints, as medians of the
rounds: kernels that were compiled, seconds of the first solve, of the second one and of this one before its first kernel runs (reading, spaces, kernels found),
and processor seconds of both, compilers among them. `empty` is a first solve that also measures the ceilings of the machine.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

FOLDER = pathlib.Path(__file__).resolve().parent
# What is solved with other keys than the file has: name -> file, options.
VARIANTS = {"four-shapes-p8": ("four-shapes", ["--set", "fields.u.degree=8"])}
COLUMNS = ("kernels", "empty", "first", "cpu", "second", "second_cpu", "before_kernels")


def run(command, cache):
    """Runs a solve. Returns seconds, processor seconds of it and of what it started, what it printed and its report."""
    environment = dict(os.environ, XDG_CACHE_HOME=cache)
    report = pathlib.Path(cache) / "report.json"
    begin, before = time.perf_counter(), os.times()
    done = subprocess.run([*command, "--json", str(report)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    seconds, after = time.perf_counter() - begin, os.times()
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return seconds, cpu, done.stderr, json.loads(report.read_text(encoding="utf-8"))


def measure(rafter, name):
    file, options = VARIANTS.get(name, (name, []))
    command = [rafter, "solve", str(FOLDER / f"{file}.toml"), *options]
    result = {}
    with tempfile.TemporaryDirectory() as cache:
        result["empty"] = run(command, cache)[0]
        for kept in pathlib.Path(cache).glob("rafter/*"):
            if not kept.name.startswith("machine-"):
                subprocess.run(["rm", "-r", str(kept)], check=True)
        result["first"], result["cpu"], printed, _ = run(command, cache)
        result["kernels"] = max((int(n) for n in re.findall(r"of (\d+) kernels", printed)), default=0)
        result["second"], result["second_cpu"], _, report = run(command, cache)
        result["before_kernels"] = sum(report["seconds"].get(phase, 0) for phase in ("mesh", "spaces", "kernels"))
    return result


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json")
    parser.add_argument("rafter")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    known = sorted([*(path.stem for path in FOLDER.glob("*.toml")), *VARIANTS])
    unknown = set(options.names) - set(known)
    if unknown:
        sys.exit(f"no problem {', '.join(sorted(unknown))}; there are: {', '.join(known)}")
    rafter = str(pathlib.Path(options.rafter).resolve())
    table = {}
    for name in options.names or known:
        rounds = [measure(rafter, name) for _ in range(options.rounds)]
        table[name] = {column: statistics.median(r[column] for r in rounds) for column in COLUMNS}
        if len(table) == 1:
            print(f"{'problem':20}", *(f"{column:>14}" for column in COLUMNS))
        print(f"{name:20}", *(f"{value:14.3g}" for value in table[name].values()), flush=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
