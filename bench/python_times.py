#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times the package for Python: a solve beside the same one by the command, and how long forms take until their kernels are ready.

    PYTHONPATH=build/python build/python-env/bin/python bench/python_times.py --command build/rafter

Runs take turns, each in a process of its own; medians are printed. The machine's record and compiled kernels are in a cache of this run alone.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

FILE = """mesh.box = {{ cells = [{n}, {n}, {n}], shape = "hexahedron" }}
fields.u.degree = 4
forms.a = "inner(grad(u), grad(v))*dx"
forms.L = "x[0]*v*dx"
[[dirichlet]]
field = "u"
tags = "all"
value = 0.0
[solver]
method = "cg"
preconditioner = "multigrid"
"""

SOLVE = """
import json, sys, rafter, ufl
from ufl import dx, grad, inner
mesh = rafter.box([int(sys.argv[1])] * 3)
V = rafter.FunctionSpace(mesh, "Lagrange", 4)
u, v, uh = ufl.TrialFunction(V), ufl.TestFunction(V), rafter.Function(V, name="u")
s = rafter.solve(inner(grad(u), grad(v)) * dx == ufl.SpatialCoordinate(mesh)[0] * v * dx, uh, rafter.DirichletBC(V, 0.0),
                 solver={"method": "cg", "preconditioner": "multigrid"}, threads=1)
print(json.dumps(s.to_dict()["seconds"]))
"""

APPLY = """
import json, statistics, sys, time, numpy as np, rafter, ufl
V = rafter.FunctionSpace(rafter.box([int(sys.argv[1])] * 3), "Lagrange", 4)
A = rafter.Operator(ufl.inner(ufl.grad(ufl.TrialFunction(V)), ufl.grad(ufl.TestFunction(V))) * ufl.dx)
values = np.sin(np.arange(A.shape[1]))
x, y = A.vector(values), A.row_vector()
def seconds(call):
    times = []
    for _ in range(20):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)
print(json.dumps({"rows": A.shape[0], "array": seconds(lambda: A @ values), "vectors": seconds(lambda: A.apply(x, y))}))
"""

FORM = """
import json, time, rafter, ufl
from rafter import _core
from rafter._lowering import Lowering
from rafter._operator import _spaces
V = rafter.FunctionSpace(rafter.box([4, 4, 4], shape="tetrahedron"), "Lagrange", 2, shape=(3,))
rafter.Operator(ufl.inner(ufl.TrialFunction(V), ufl.TestFunction(V)) * ufl.dx)  # what a process does once
w, v, du = rafter.Function(V), ufl.TestFunction(V), ufl.TrialFunction(V)
F = ufl.Identity(3) + ufl.grad(w)
J = ufl.det(F)
energy = (0.5 * ufl.inner(F, F) - ufl.ln(J) + 0.5 * ufl.ln(J) ** 2) * ufl.dx
a = ufl.derivative(ufl.derivative(energy, w, v), w, du)
begin = time.time()
lowering = Lowering()
form = lowering.form(a)
lowered = time.time()
data = _core.DataArguments([(name, values) for name, _, values in lowering.data()], lowering.parameters())
spaces = [_spaces(lowering, a, number) for number in (0, 1)]
_core.Operator(form, *spaces, [], _core.RunArguments("host", 1, "", None), data)
print(json.dumps({"lowering": lowered - begin, "lowered_at": lowered, "ready": time.time() - lowered}))
"""

# A compiler that writes down when it was called.
COMPILER = """#!/bin/sh
date +%s.%N >>"$RAFTER_CALLS"
exec {compiler} "$@"
"""


def run(arguments, environment):
    result = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"{' '.join(arguments)}\n{result.stdout}{result.stderr}")
    return result.stdout


def of_solves(command, n, repeats, folder, environment):
    """Seconds of set-up and solution: by the command, and from Python."""
    (folder / "problem.toml").write_text(FILE.format(n=n))
    times = {"command": [], "python": []}
    for _ in range(repeats + 1):
        run([command, "solve", str(folder / "problem.toml"), "--quiet", "--threads", "1", "--json", str(folder / "r.json")], environment)
        times["command"].append(json.loads((folder / "r.json").read_text())["seconds"])
        times["python"].append(json.loads(run([sys.executable, "-c", SOLVE, str(n)], environment)))
    for phase in ("setup", "solve"):  # what belongs to meshes and spaces is done elsewhere in Python
        median = {who: statistics.median(seconds[phase] for seconds in of_one[1:]) for who, of_one in times.items()}
        print(f"{phase:8} command {median['command']:.4f} s, Python {median['python']:.4f} s, ratio {median['python'] / median['command']:.3f}")


def of_applications(n, repeats, environment):
    """Milliseconds of an application from Python, of arrays and of vectors that are there."""
    found = [json.loads(run([sys.executable, "-c", APPLY, str(n)], environment)) for _ in range(repeats)]
    median = {what: 1e3 * statistics.median(of_one[what] for of_one in found) for what in found[0]}
    print(f"an application of {found[0]['rows']} rows: A @ x {median['array']:.2f} ms, A.apply(x, y) {median['vectors']:.2f} ms")


def of_forms(repeats, folder, environment):
    """Seconds of a tangent of a neo-Hookean body, unseen and compiled before."""
    programs = folder / "programs"
    programs.mkdir()
    for name in ("cc", "gcc", "clang"):
        if compiler := shutil.which(name):
            (programs / name).write_text(COMPILER.format(compiler=compiler))
            (programs / name).chmod(0o755)
    environment = {**environment, "PATH": f"{programs}:{environment['PATH']}", "RAFTER_CALLS": str(folder / "calls")}
    unseen, lowering, ready = [], [], []
    for _ in range(repeats):
        for compiled in (folder / "cache/rafter").glob("*.so"):
            compiled.unlink()
        (folder / "calls").write_text("")
        first = json.loads(run([sys.executable, "-c", FORM], environment))
        calls = [float(line) for line in (folder / "calls").read_text().split()]
        unseen.append(min(call for call in calls if call > first["lowered_at"]) - first["lowered_at"])
        again = json.loads(run([sys.executable, "-c", FORM], environment))
        lowering.append(again["lowering"])
        ready.append(again["ready"])
    print(f"tangent of a neo-Hookean body: lowered in {1e3 * statistics.median(lowering):.0f} ms; then its kernels, compiled before, are ready in "
          f"{1e3 * statistics.median(ready):.0f} ms, and unseen ones reach the compiler in {1e3 * statistics.median(unseen):.0f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default="build/rafter", help="the command to compare with")
    parser.add_argument("--cells", type=int, default=24, help="cells along each edge of the cube")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
        of_solves(str(pathlib.Path(options.command).resolve()), options.cells, options.repeats, folder, environment)
        of_applications(options.cells, options.repeats, environment)
        of_forms(options.repeats, folder, environment)


if __name__ == "__main__":
    main()
