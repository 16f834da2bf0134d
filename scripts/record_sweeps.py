#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times every plan of a set of kernels on this machine: what the cost model is fitted to and the search is tested with.

usage: record_sweeps.py RAFTER FOLDER [NAME...]

Writes FOLDER/NAME.json (`rafter tune --record`) for each case of the table below, or for those that are named; files that are there stay.
FOLDER is one of the machine, such as bench/data/sweeps/amd-avx2: the record of the machine stands in each file, and the fit and the tests read all
folders. Most of the time is the compilers', half an hour and more on a free core; a second recording finds the kernels in the cache. Times are CPU
times of one thread; the plans of a kernel are sampled in turn. Pin the command to one core that nobody else uses (`taskset`), and measure the machine
there first (`rafter machine --fresh`), which has to call itself quiet.
"""
import math
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FORMS = {  # values are pairs of form and components
    "mass": ("u*v*dx", 0),
    "laplace": ("inner(grad(u), grad(v))*dx + eps*u*v*ds", 0),
    "helmholtz": ("((1 + x[0]**2)*inner(grad(u), grad(v)) + (2 + x[1])*u*v)*dx", 0),
    "elasticity": ("inner(lmbda*div(u)*Identity(len(x)) + 2*mu*sym(grad(u)), sym(grad(v)))*dx", 3),
}
# An entry is name: form, degree, mesh (shape and cells per direction of a box, "deformed" and cells, or a file and refinements).
CASES = {
    "mass-hex-2": ("mass", 2, ("hexahedron", 12)),
    "laplace-hex-1": ("laplace", 1, ("hexahedron", 20)),
    "laplace-hex-2": ("laplace", 2, ("hexahedron", 12)),
    "laplace-hex-3": ("laplace", 3, ("hexahedron", 10)),
    "laplace-hex-4": ("laplace", 4, ("hexahedron", 8)),
    "laplace-hex-6": ("laplace", 6, ("hexahedron", 6)),
    "laplace-hex-8": ("laplace", 8, ("hexahedron", 4)),
    "laplace-hex-2-memory": ("laplace", 2, ("hexahedron", 60)),
    "laplace-hex-4-memory": ("laplace", 4, ("hexahedron", 32)),
    "helmholtz-hex-3": ("helmholtz", 3, ("hexahedron", 10)),
    "elasticity-hex-2": ("elasticity", 2, ("hexahedron", 10)),
    "elasticity-hex-4": ("elasticity", 4, ("hexahedron", 6)),
    "elasticity-hex-8": ("elasticity", 8, ("hexahedron", 4)),
    "mass-deformed-3": ("mass", 3, ("deformed", 10)),
    "laplace-deformed-2": ("laplace", 2, ("deformed", 12)),
    "laplace-deformed-4": ("laplace", 4, ("deformed", 8)),
    "laplace-deformed-4-memory": ("laplace", 4, ("deformed", 30)),
    "elasticity-deformed-2": ("elasticity", 2, ("deformed", 10)),
    "elasticity-deformed-3": ("elasticity", 3, ("deformed", 8)),
    "laplace-curved-2": ("laplace", 2, ("examples/meshes/annulus-hex-order2.msh", 2)),
    "laplace-curved-4": ("laplace", 4, ("examples/meshes/annulus-hex-order2.msh", 1)),
    "laplace-quad-4": ("laplace", 4, ("quadrilateral", 40)),
    "laplace-tet-1": ("laplace", 1, ("tetrahedron", 12)),
    "laplace-tet-2": ("laplace", 2, ("tetrahedron", 8)),
    "laplace-tet-4": ("laplace", 4, ("tetrahedron", 5)),
    "elasticity-tet-2": ("elasticity", 2, ("tetrahedron", 6)),
    "helmholtz-tet-curved-2": ("helmholtz", 2, ("examples/meshes/plate-with-hole-tet-order2.msh", 1)),
    "laplace-prism-2": ("laplace", 2, ("prism", 8)),
    "elasticity-prism-3": ("elasticity", 3, ("prism", 4)),
    "laplace-pyramid-2": ("laplace", 2, ("pyramid", 6)),
    "elasticity-curved-2": ("elasticity", 2, ("examples/meshes/annulus-hex-order2.msh", 1)),
}


def write_deformed(path, n):
    """Returns a cube of n^3 hexahedra with straight edges, none of them a parallelepiped; MFEM mesh v1.0."""
    def vertex(i, j, k):
        return i + (n + 1) * (j + (n + 1) * k)

    corners = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))
    cells = [" ".join(str(vertex(i + a, j + b, k + c)) for a, b, c in corners)
             for k in range(n) for j in range(n) for i in range(n)]
    points = []
    for k in range(n + 1):
        for j in range(n + 1):
            for i in range(n + 1):
                x, y, z = i / n, j / n, k / n
                points.append(f"{x + 0.05 * math.sin(3 * y + z)} {y + 0.05 * math.sin(3 * z + x)} {z + 0.05 * math.sin(3 * x + y)}")
    quads = []
    for a in range(n):
        for b in range(n):
            for side in (0, n):
                quads += [[vertex(side, a, b), vertex(side, a + 1, b), vertex(side, a + 1, b + 1), vertex(side, a, b + 1)],
                          [vertex(a, side, b), vertex(a + 1, side, b), vertex(a + 1, side, b + 1), vertex(a, side, b + 1)],
                          [vertex(a, b, side), vertex(a + 1, b, side), vertex(a + 1, b + 1, side), vertex(a, b + 1, side)]]
    path.write_text("MFEM mesh v1.0\n\ndimension\n3\n\n" + f"elements\n{len(cells)}\n" + "".join(f"1 5 {cell}\n" for cell in cells) +
                    f"\nboundary\n{len(quads)}\n" + "".join(f"1 3 {' '.join(map(str, quad))}\n" for quad in quads) +
                    f"\nvertices\n{len(points)}\n3\n" + "\n".join(points) + "\n")


def problem_text(name, folder):
    form, degree, (mesh, size) = CASES[name]
    text, components = FORMS[form]
    dimension = 2 if mesh == "quadrilateral" else 3
    components = min(components, dimension)
    if mesh == "deformed":
        write_deformed(folder / f"{name}.mesh", size)
        section = f'file = "{folder / name}.mesh"'
    elif "/" in mesh:
        section = f'file = "{ROOT / mesh}"\nrefine = {size}'
    else:
        section = f'box = {{ cells = {[size] * dimension}, shape = "{mesh}" }}'
    return (f'title = "{name}"\n[mesh]\n{section}\n[fields.u]\ndegree = {degree}\n' + (f"components = {components}\n" if components else "") +
            f'[coefficients]\nlmbda = 1.0\nmu = 0.7\neps = 1.0\n[forms]\na = "{text.replace("len(x)", str(dimension))}"\n')


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    rafter, target, names = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:] or list(CASES)
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        for name in names:
            record = target / f"{name}.json"
            if record.exists():
                continue
            problem = pathlib.Path(scratch) / f"{name}.toml"
            problem.write_text(problem_text(name, pathlib.Path(scratch)))
            print(name, flush=True)
            subprocess.run([rafter, "tune", problem, "--threads", "1", "--record", record], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
