#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times solves with Jacobi and with multigrid on this machine: what the choice between them is tested with.

usage: record_choices.py RAFTER FILE

Writes FILE, such as bench/data/choices/amd-avx2.json: the record of the machine, and for each problem of the table below its text, its unknowns, and of
both preconditioners the iterations and the seconds from spaces to solution, the least of five runs in turn on one thread, kernels compiled. A run takes
minutes. Pin the command to one core that nobody else uses (`taskset`), and measure the machine there first (`rafter machine --fresh`), which has to call
itself quiet.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS = 5
PHASES = ("spaces", "kernels", "setup", "solve")
LAPLACE = "inner(grad(u), grad(v))*dx"


def problem(mesh, degree, dim, form=LAPLACE, components=0, fixed='"all"'):
    """A problem whose solution is smooth: scalar with values on the boundary, or a body under its weight."""
    wave = "exp(x[0])*sin(3*x[1])" + ("*cos(2*x[2])" if dim == 3 else "")
    weight = [0.0] * (dim - 1) + [-0.01]
    load = "inner(weight, v)*dx" if components else "-div(grad(wave))*v*dx"
    given = f"[coefficients]\nweight = {weight}" if components else f'[definitions]\nwave = "{wave}"'
    value = [0.0] * dim if components else '"wave"'
    return f"""[mesh]
{mesh}
[fields.u]
degree = {degree}
{f"components = {components}" if components else ""}
{given}
[forms]
a = "{form}"
L = "{load}"
[[dirichlet]]
tags = {fixed}
value = {value}
[solver]
rtol = 1e-8
"""


def box(shape, cells, degree, dim=3, **others):
    """The same on a box with so many cells along each axis."""
    cells = cells if isinstance(cells, list) else [cells] * dim
    return problem(f'box = {{ cells = {cells}, shape = "{shape}" }}', degree, dim, **others)


def body(shape, cells, degree, dim=3):
    """Linear elasticity on a box that is held at one side."""
    form = f"inner(div(u)*Identity({dim}) + 2*sym(grad(u)), sym(grad(v)))*dx"
    return box(shape, cells, degree, dim, form=form, components=dim, fixed="[1]")


PROBLEMS = {
    "hexahedra 1": box("hexahedron", 48, 1),
    "hexahedra 2": box("hexahedron", 40, 2),
    "hexahedra 4": box("hexahedron", 20, 4),
    "hexahedra 8": box("hexahedron", 8, 8),
    "hexahedra 4, few": box("hexahedron", 6, 4),
    "tetrahedra 2": box("tetrahedron", 26, 2),
    "tetrahedra 3": box("tetrahedron", 16, 3),
    "prisms 2": box("prism", 24, 2),
    "quadrilaterals 4": box("quadrilateral", 120, 4, 2),
    "triangles 2": box("triangle", 200, 2, 2),
    "elasticity, hexahedra 2": body("hexahedron", 18, 2),
    "elasticity, tetrahedra 2": body("tetrahedron", 14, 2),
    "elasticity, long": body("hexahedron", [80, 8, 8], 2),
    "mostly mass": box("hexahedron", 24, 3, form=LAPLACE + " + 1000.0*u*v*dx"),
    "curved tetrahedra 2": problem('file = "examples/meshes/plate-with-hole-tet-order2.msh"\nrefine = 2', 2, 3),
    "curved hexahedra 4": problem('file = "examples/meshes/annulus-hex-order2.msh"\nrefine = 3', 4, 3),
}


def run(rafter, text, preconditioner, folder):
    """Solves once: seconds, iterations and unknowns."""
    file, report = folder / "problem.toml", folder / "report.json"
    file.write_text(text.replace('file = "', f'file = "{ROOT}/'))
    subprocess.run([rafter, "solve", file, "--threads", "1", "--set", f"solver.preconditioner={preconditioner}", "--json", report], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = json.loads(report.read_text())
    return {"seconds": sum(found["seconds"].get(phase, 0) for phase in PHASES), "iterations": found["iterations"]}, found["dofs"]


def main(rafter, output):
    records = []
    with tempfile.TemporaryDirectory() as name:
        for title, text in PROBLEMS.items():
            record = {"name": title, "text": text}
            for number in range(RUNS + 1):  # the first run compiles
                for preconditioner in ("jacobi", "multigrid"):
                    found, record["unknowns"] = run(rafter, text, preconditioner, pathlib.Path(name))
                    if number > 0:
                        record[preconditioner] = min(found, record.get(preconditioner, found), key=lambda of: of["seconds"])
            records.append(record)
            print(f"{title}: jacobi {record['jacobi']}, multigrid {record['multigrid']}", flush=True)
        machine = json.loads(subprocess.run([rafter, "machine", "--json"], check=True, capture_output=True, text=True).stdout)
        output.write_text(json.dumps({"machine": machine, "threads": 1, "problems": records}, indent=1) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
