#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A Poisson problem on a mesh file: degree 3, f = 1, u = 0 on the whole boundary. Solved by the command; then the load's
work equals the energy, as the weak form with v = u says, and both are positive.

usage: mesh_test.py RAFTER MESH
"""
import json
import os
import subprocess
import sys
import tempfile

PROBLEM = """title = "Poisson"
[mesh]
file = {mesh}
[numerics]
points = "p+2" # one rule for form, load and functionals: else the law below holds up to quadrature on curved cells
[fields.u]
degree = 3
[forms]
a = "inner(grad(u), grad(v))*dx"
L = "1.0*v*dx"
[[dirichlet]]
tags = "all"
value = 0.0
[solver]
rtol = 1.0e-9
[functionals]
energy = "inner(grad(u), grad(u))*dx"
work = "u*dx"
"""


def main():
    rafter, mesh = map(os.path.abspath, sys.argv[1:3])
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "problem.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(PROBLEM.format(mesh=json.dumps(mesh)))
        result = subprocess.run([rafter, "solve", path, "--json", "report.json"], cwd=directory, capture_output=True,
                                text=True, check=False)
        print(result.stdout, result.stderr, sep="\n")
        if result.returncode != 0:
            sys.exit(f"FAILED: exit code {result.returncode}")
        with open(os.path.join(directory, "report.json"), encoding="utf-8") as file:
            report = json.load(file)
    values = report["functionals"]
    if not values["energy"] > 0:
        sys.exit(f"FAILED: {values}")
    if not abs(values["energy"] - values["work"]) <= 1e-8 * values["energy"]:
        sys.exit(f"FAILED: energy {values['energy']!r} is not the work {values['work']!r}")
    if report["status"] != "converged" or sum(report["cells"].values()) < 1:
        sys.exit(f"FAILED: {report['status']} on {report['cells']}")


if __name__ == "__main__":
    main()
