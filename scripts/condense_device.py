#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Condenses what bench/device.sh left to one file for bench/data/devices: the machine, answers of examples, solves, rows of benchmarks.

usage: condense_device.py FOLDER DEVICE > bench/data/devices/NAME.json

FOLDER is that of the results, DEVICE a line that names device, driver and host. Numbers of rows are rounded to four digits.
"""
import datetime
import json
import pathlib
import re
import sys
import tarfile

ROW = ["geometry", "case", "kernel", "equation", "degree", "dofs", "iterations", "mdofs_per_second", "seconds", "preconditioner_seconds", "spread", "share",
       "effective_gflops", "plan"]


def rounded(value):
    return float(f"{value:.4g}") if isinstance(value, float) else value


def rows_of(reports):
    result = []
    for name, report in sorted(reports.items()):
        if name.startswith("bench-"):
            result += [{"suite": report["suite"], **{key: rounded(row[key]) for key in ROW if key in row}} for row in report["rows"]]
    return result


def solves_of(reports):
    return {pathlib.PurePath(name).stem: {"dofs": report["dofs"], "iterations": report["iterations"],
                                         "seconds": {key: rounded(value) for key, value in report["seconds"].items()}}
            for name, report in sorted(reports.items()) if name.startswith("iterations/") and "iterations" in report}


def examples_of(text):
    """The table of compare_reports.py."""
    line = re.compile(r"^(\S+) +(?:yes|no) +(\S+) +(\d+)/(\d+) +(\S+) +(\S+) +(\S+) +(\S+)$", re.MULTILINE)
    return [{"example": name, "difference": float(difference), "iterations": [int(host), int(device)], "host_seconds": float(a),
             "device_seconds": float(b), "host_solve_seconds": float(c), "device_solve_seconds": float(d)}
            for name, difference, host, device, a, b, c, d in line.findall(text)]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    reports = {}
    with tarfile.open(folder / "reports.tar.gz") as archive:
        for member in archive:
            if member.isfile() and member.name.endswith(".json"):
                reports[member.name.removeprefix("reports/")] = json.load(archive.extractfile(member))
    text = lambda name: (folder / name).read_text(encoding="utf-8") if (folder / name).exists() else ""
    result = {"date": datetime.date.today().isoformat(), "command": "bench/device.sh", "device": sys.argv[2], "machine": reports.get("machine.json"),
              "probe": text("probe.txt").splitlines(), "examples": examples_of(text("examples.txt")), "solves": solves_of(reports),
              "benchmarks": rows_of(reports)}
    print(json.dumps({key: value for key, value in result.items() if value}, indent=1))


if __name__ == "__main__":
    main()
