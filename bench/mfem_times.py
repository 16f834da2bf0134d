#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Times MFEM's partial assembly and Rafter side by side on one thread: millions of unknowns per second on a cube of deformed hexahedra.

MFEM comes from its package for Python, in an environment of its own that stands outside the repository:

    python3 -m venv ../mfem-env && ../mfem-env/bin/pip install "mfem~=4.10.0"
    ../mfem-env/bin/python bench/mfem_times.py --rafter build/rafter --compiler g++ --degrees 1..8 --json times.json

The bake-off problems apply an operator to a global vector: bp1 is the mass matrix and bp3 the Laplacian, with Gauss rules of p+2 points along
each axis, and elasticity is isotropic with p+1 points. In MFEM they are BilinearForm.Mult with AssemblyLevel.PARTIAL. The kernels bk1 and bk3 go
from cell vector to cell vector. In MFEM they are AddMultPA of the integrator; it adds to its result, which is not set to zero within the clock,
and the restriction to cells is outside of it.

Rafter's figures are those of `rafter bench bp` and `rafter bench bk --geometry deformed --threads 1 --machine kept`. The number of cells is read from
Rafter's report, and MFEM's cube has as many, its vertices moved by the same waves. Unknowns are counted as Rafter counts them: of bk1 and bk3, p^3 for
each cell. The programs take turns, and the one that begins changes from round to round. A figure of a round is the median of three samples by the
processor's clock, after a warm-up; of the figures of all rounds, medians are printed with their spread, and the ratios of the rounds. Before anything
is timed, partial assembly, and for bk1 and bk3 the kernel between restrictions, are held against MFEM's assembled matrix on eight cells of each degree
(of elasticity up to degree 5: its code is one for all degrees, and matrices of higher ones take minutes).

What the figures do not say:
- The wheel is compiled for any processor of x86-64, with vectors of 128 bits, whereas Rafter compiles for the processor that it finds. With --compiler,
  MFEM's kernels of mass and Laplacian are also compiled from the wheel's headers for this processor (-O3 -march=native) and timed beside the wheel's;
  ratios are over the faster ones of each round. There is one for degree 8, too, where the wheel falls back on a kernel for all degrees. Everything else
  is that of the wheel: restrictions, and elasticity.
- MFEM's elasticity with partial assembly makes no use of tensor products, so its work for an unknown grows with p^3 rather than with p.
- MFEM stores geometric factors at all points, Rafter stores or recomputes them as its planner decides. At low degrees the planner of bp may also
  assemble a matrix, and the last column then says so; with --applications 0 it assembles none.
- MFEM's cells are numbered row by row instead of along the space-filling curve that is its default: bp1 was faster so at degree 2, and as fast at 4.
"""

import argparse
import ctypes
import dataclasses
import json
import math
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import mfem.ser as mfem
    import numpy as np

    missing_package = ""
except ImportError as import_error:
    missing_package = str(import_error)

SAMPLES = 3  # of which a round takes the median, for both programs
LARGEST_DEGREE = 8
LARGEST_DIFFERENCE = 1e-12  # of results that differ by rounding, relative to the largest value
LARGEST_EXCESS = 0.01  # of the unknowns of one program over those of the other


@dataclasses.dataclass(frozen=True)
class Problem:
    """An operator of `rafter bench`: its suite and case there, and MFEM's integrator for it."""

    suite: str
    case: str
    integrator: str
    extra_points: int
    components: int = 1
    largest_checked_degree: int = LARGEST_DEGREE

    @property
    def is_kernel(self):
        return self.suite == "bk"


PROBLEMS = {"bp1": Problem("bp", "bp1", "mass", 2), "bp3": Problem("bp", "bp3", "diffusion", 2),
            "elasticity": Problem("bp", "elasticity", "elasticity", 1, components=3, largest_checked_degree=5),
            "bk1": Problem("bk", "bp1", "mass", 2), "bk3": Problem("bk", "bp3", "diffusion", 2)}

# Dispatch tables are shared with the library of the wheel, so that its integrators find these kernels. The number of the wheel's own is returned.
KERNELS = """
#include <mfem.hpp>
#include <fem/integ/bilininteg_{name}_kernels.hpp>
using Kernels = mfem::{integrator}::ApplyPAKernels;
template <int... p> void add(std::integer_sequence<int, p...>) {{ (Kernels::Specialization<3, p + 2, p + 3>::Add(), ...); }}
extern "C" int use_kernels(bool are_compiled) {{
  auto& table = const_cast<std::decay_t<decltype(Kernels::GetDispatchTable())>&>(Kernels::GetDispatchTable());
  static const auto of_wheel = table;
  table = of_wheel;
  if (are_compiled) add(std::make_integer_sequence<int, {degrees}>());
  return static_cast<int>(of_wheel.size());
}}
"""


def fail(message):
    sys.exit(f"mfem_times.py: {message}")


def make_cube(n):
    """The unit cube of n^3 trilinear cells, deformed as `--geometry deformed` of Rafter does it (bench/geometries.cpp)."""
    mesh = mfem.Mesh.MakeCartesian3D(n, n, n, mfem.Element.HEXAHEDRON, 1.0, 1.0, 1.0, False)
    mesh.SetCurvature(1)
    nodes = mesh.GetNodes()
    values = nodes.GetDataArray()
    x = values.reshape(-1, 3).T if nodes.FESpace().GetOrdering() == mfem.Ordering.byVDIM else values.reshape(3, -1)
    old = x.copy()
    for d in range(3):
        x[d] += 0.05 * np.sin(3 * old[(d + 1) % 3] + old[(d + 2) % 3])
    mesh.NodesUpdated()
    return mesh


def vector_of(size):
    """A vector of MFEM with values of all sizes."""
    return mfem.Vector(np.sin(0.1 * np.arange(1, size + 1)))


def zeros(size):
    vector = mfem.Vector(size)
    vector.Assign(0.0)
    return vector


class Form:
    """A bilinear form of MFEM with all that it refers to, partially assembled or as a matrix."""

    def __init__(self, problem, mesh, degree, is_partial):
        self.mesh, self.problem = mesh, problem
        self.collection = mfem.H1_FECollection(degree, 3)
        self.space = mfem.FiniteElementSpace(mesh, self.collection, problem.components, mfem.Ordering.byNODES)
        points = degree + problem.extra_points
        self.rule = mfem.IntRules.Get(mfem.Geometry.CUBE, 2 * points - 1)
        if self.rule.GetNPoints() != points**3:
            fail(f"MFEM's rule has {self.rule.GetNPoints()} points where {points}^3 are expected")
        self.coefficients = [mfem.ConstantCoefficient(1.0), mfem.ConstantCoefficient(0.7)]  # Lame's constants of Rafter's suites
        self.integrator = {"mass": mfem.MassIntegrator, "diffusion": mfem.DiffusionIntegrator,
                           "elasticity": lambda: mfem.ElasticityIntegrator(*self.coefficients)}[problem.integrator]()
        self.integrator.SetIntegrationRule(self.rule)
        self.form = mfem.BilinearForm(self.space)
        if is_partial:
            self.form.SetAssemblyLevel(mfem.AssemblyLevel_PARTIAL)
        self.form.AddDomainIntegrator(self.integrator)
        self.form.Assemble()
        if not is_partial:
            self.form.Finalize()
        self.size = self.space.GetVSize()
        self.restriction = self.space.GetElementRestriction(mfem.ElementDofOrdering_LEXICOGRAPHIC)

    def product(self):
        """A x as an array, for the vector of all sizes."""
        x, y = vector_of(self.size), zeros(self.size)
        self.form.Mult(x, y)
        return y.GetDataArray().copy()

    def product_by_kernel(self):
        """The same by the kernel alone between restrictions to and from cells."""
        x, y = vector_of(self.size), zeros(self.size)
        cells_x, cells_y = self.on_cells(x)
        self.integrator.AddMultPA(cells_x, cells_y)
        self.restriction.MultTranspose(cells_y, y)
        return y.GetDataArray().copy()

    def on_cells(self, x):
        cells_x, cells_y = zeros(self.restriction.Height()), zeros(self.restriction.Height())
        self.restriction.Mult(x, cells_x)
        return cells_x, cells_y

    def timed_call(self):
        """What is timed, as a function without arguments."""
        x, y = vector_of(self.size), zeros(self.size)
        if not self.problem.is_kernel:
            return lambda: self.form.Mult(x, y)
        cells_x, cells_y = self.on_cells(x)
        return lambda: self.integrator.AddMultPA(cells_x, cells_y)

    def counted_dofs(self, degree):
        """Unknowns as Rafter counts them: for kernels, those of a mesh without boundary."""
        return self.mesh.GetNE() * degree**3 * self.problem.components if self.problem.is_kernel else self.size


def check(name, degree, kernels):
    """Holds partial assembly, and kernels between restrictions, against the assembled matrix on 2^3 cells."""
    problem = PROBLEMS[name]
    partial = Form(problem, make_cube(2), degree, is_partial=True)
    expected = Form(problem, make_cube(2), degree, is_partial=False).product()
    for way in kernels.ways(problem):
        kernels.use(problem, way)
        results = {"partial assembly": partial.product()}
        if problem.is_kernel:
            results["the kernel between restrictions"] = partial.product_by_kernel()
        for what, result in results.items():
            difference = np.abs(result - expected).max() / np.abs(expected).max()
            if not difference <= LARGEST_DIFFERENCE:
                fail(f"{name}, degree {degree}: {what} of MFEM ({way}) differs from its assembled matrix by {difference:.1e} of the largest value, "
                     f"where {LARGEST_DIFFERENCE:.0e} is accepted; nothing was timed")


class Kernels:
    """MFEM's kernels: those of the wheel and, with a compiler, the same ones compiled for this processor."""

    def __init__(self, compiler, folder):
        names = {"mass": "MassIntegrator", "diffusion": "DiffusionIntegrator"} if compiler else {}
        self.libraries = {name: self.compiled(compiler, name, integrator, folder) for name, integrator in names.items()}

    def compiled(self, compiler, name, integrator, folder):
        """The library of these kernels, which the wheel's integrators find once use_kernels says so."""
        wheel = pathlib.Path(mfem.__file__).parent / "external" / "ser"
        source, library = folder / f"{name}.cpp", folder / f"{name}.so"
        source.write_text(KERNELS.format(name=name, integrator=integrator, degrees=LARGEST_DEGREE), encoding="utf-8")
        command = [compiler, "-O3", "-march=native", "-std=c++17", "-fPIC", "-shared", "-w", "-Wl,-Bsymbolic-functions", f"-I{wheel}/include",
                   f"-I{wheel}/include/mfem", str(source), f"{wheel}/lib/libmfem.so", f"-Wl,-rpath,{wheel}/lib", "-o", str(library)]
        try:
            result = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            fail(f"--compiler: {compiler} cannot be run: {error.strerror}")
        if result.returncode or not library.is_file():
            fail(f"--compiler: {' '.join(command)} made no library:\n{result.stderr}")
        getattr(mfem, integrator)()  # the wheel registers its own kernels with the first integrator
        loaded = ctypes.CDLL(str(library))
        if loaded.use_kernels(False) == 0:
            fail(f"--compiler: kernels by {compiler} do not reach the tables of the wheel, which was compiled by g++; a g++ is accepted")
        return loaded

    def ways(self, problem):
        """What there is for a problem: "wheel", and "compiled" where it was compiled."""
        return ["wheel", "compiled"] if problem.integrator in self.libraries else ["wheel"]

    def use(self, problem, way):
        if problem.integrator in self.libraries:
            self.libraries[problem.integrator].use_kernels(way == "compiled")


def seconds_of(call, repeats):
    begin = time.process_time()
    for _ in range(repeats):
        call()
    return (time.process_time() - begin) / repeats


def sampled_seconds(call, sample_seconds):
    """The median time of a call, over samples of about this length."""
    call()
    repeats = max(1, math.ceil(sample_seconds / max(seconds_of(call, 1), 1e-9)))
    return statistics.median(seconds_of(call, repeats) for _ in range(SAMPLES))


def rafter_rows(options, suite, cases, degrees, rounds, sample_seconds, folder):
    """Runs a suite of Rafter and returns the rows of its report by case and degree."""
    report = folder / "rafter.json"
    command = [options.rafter, "bench", suite, "--cases", ",".join(cases), "--geometry", "deformed", "--degrees", ",".join(map(str, degrees)),
               "--mdofs", str(options.mdofs), "--threads", "1", "--rounds", str(rounds), "--sample-seconds", str(sample_seconds), "--machine", "kept",
               "--json", str(report)]
    if suite == "bp" and options.applications is not None:
        command += ["--applications", str(options.applications)]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        fail(f"--rafter: {options.rafter} cannot be run: {error.strerror}")
    if result.returncode:
        fail(f"{' '.join(command)} failed:\n{result.stderr or result.stdout}")
    try:
        rows = {(row["case"], row["degree"]): row for row in json.loads(report.read_text(encoding="utf-8"))["rows"]}
        missing = [row for row in rows.values() if not {"cells", "dofs", "mdofs_per_second", "plan"} <= row.keys()]
    except (OSError, ValueError, KeyError) as error:
        fail(f"{' '.join(command)} left no report with rows: {error}")
    if missing or rows.keys() != {(case, degree) for case in cases for degree in degrees}:
        fail(f"{' '.join(command)} left a report without figures for some of the cases and degrees")
    return rows


def all_rafter_rows(options, folder):
    """Rows of all problems and degrees by a short run, which also leaves their kernels compiled."""
    found = {}
    for suite in ("bp", "bk"):
        names = [name for name in options.problems if PROBLEMS[name].suite == suite]
        if names:
            rows = rafter_rows(options, suite, [PROBLEMS[name].case for name in names], options.degrees, 1, 0.001, folder)
            found.update({(name, degree): rows[PROBLEMS[name].case, degree] for name in names for degree in options.degrees})
    return found


def geometry_in(plan):
    """What a plan of Rafter does about the geometry, in a word."""
    if "mapping=assembled" in plan:
        return "assembled"
    return "; ".join(dict.fromkeys(word.removeprefix("factors=") for word in plan.split() if word.startswith("factors=")))


def spread(values):
    return (max(values) - min(values)) / statistics.median(values)


def measure(options, name, degree, first, kernels, folder):
    """Times the programs in turns and returns a row. `first` is the row of Rafter's short run."""
    problem = PROBLEMS[name]
    n = round(first["cells"] ** (1 / 3))
    if n**3 != first["cells"]:
        fail(f"{name}, degree {degree}: Rafter's mesh of {first['cells']} cells is no cube")
    form = Form(problem, make_cube(n), degree, is_partial=True)
    dofs = form.counted_dofs(degree)
    if abs(dofs - first["dofs"]) > LARGEST_EXCESS * min(dofs, first["dofs"]):
        fail(f"{name}, degree {degree}: MFEM has {dofs} unknowns and Rafter {first['dofs']}, which is not the same work")
    call = form.timed_call()
    rates = {way: [] for way in [*kernels.ways(problem), "rafter"]}
    plans = []

    def time_mfem():
        for way in kernels.ways(problem):
            kernels.use(problem, way)
            rates[way].append(1e-6 * dofs / sampled_seconds(call, options.sample_seconds))

    def time_rafter():
        row = rafter_rows(options, problem.suite, [problem.case], [degree], SAMPLES, options.sample_seconds, folder)[problem.case, degree]
        rates["rafter"].append(row["mdofs_per_second"])
        plans.append(row["plan"])

    for number in range(options.rounds):
        for step in (time_mfem, time_rafter) if number % 2 == 0 else (time_rafter, time_mfem):
            step()
    ratios = [of_round[-1] / max(of_round[:-1]) for of_round in zip(*rates.values())]
    return {"problem": name, "degree": degree, "cells": first["cells"], "mfem_dofs": dofs, "rafter_dofs": first["dofs"],
            "mdofs_per_second": {who: {"median": statistics.median(values), "spread": spread(values), "rounds": values} for who, values in rates.items()},
            "ratio": {"median": statistics.median(ratios), "least": min(ratios), "largest": max(ratios), "rounds": ratios},
            "rafter_plans": list(dict.fromkeys(plans))}


HEADER = (f"{'problem':<11}{'p':>2}{'cells':>9}{'MDoF':>7}{'Rafter':>8}{'MFEM':>9}{'spread %':>10}{'compiled':>10}{'spread %':>10}{'Rafter':>9}"
          f"{'spread %':>10}{'ratio':>8}{'least':>8}{'largest':>9}  Rafter's geometry")
LEGEND = """  MDoF               10^6 unknowns of MFEM, and of Rafter
  MFEM, Rafter       10^6 unknowns per second: medians of the rounds, each with its spread: largest minus least, over the median
  compiled           the same of MFEM with kernels compiled for this processor (--compiler)
  ratio              Rafter's rate over MFEM's, whose faster kernels count: median, least and largest of the rounds
  Rafter's geometry  how its plans hold geometric factors; assembled: a matrix was assembled instead"""


def line_of(row):
    def rate(who, width):
        found = row["mdofs_per_second"].get(who)
        return f"{found['median']:>{width}.1f}{100 * found['spread']:>10.0f}" if found else f"{'-':>{width}}{'-':>10}"

    ratio, geometry = row["ratio"], "; ".join(dict.fromkeys(map(geometry_in, row["rafter_plans"])))
    return (f"{row['problem']:<11}{row['degree']:>2}{row['cells']:>9}{1e-6 * row['mfem_dofs']:>7.2f}{1e-6 * row['rafter_dofs']:>8.2f}{rate('wheel', 9)}"
            f"{rate('compiled', 10)}{rate('rafter', 9)}{ratio['median']:>8.2f}{ratio['least']:>8.2f}{ratio['largest']:>9.2f}  {geometry}")


def degrees_of(text):
    """Reads "3", "1,2,4" or "1..8", which includes both ends."""
    result = []
    for part in text.split(","):
        ends = part.split("..")
        if len(ends) > 2 or not all(end.strip().isdecimal() for end in ends):
            raise argparse.ArgumentTypeError(f"'{part}' is no degree; a list such as 1,2,4 or a range such as 1..8 is accepted")
        first, last = int(ends[0]), int(ends[-1])
        if not 1 <= first <= last <= LARGEST_DEGREE:
            raise argparse.ArgumentTypeError(f"'{part}' is out of range or empty; degrees from 1 to {LARGEST_DEGREE} are accepted")
        result += range(first, last + 1)
    return list(dict.fromkeys(result))


def problems_of(text):
    names = list(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in PROBLEMS:
            raise argparse.ArgumentTypeError(f"'{name}' is unknown; accepted: {', '.join(PROBLEMS)}")
    return names


def number_of(kind, least, most, is_open=False):
    """A reader of numbers within these bounds, the lower one included unless it is open."""

    def read(text):
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not (least < value if is_open else least <= value) or not value <= most:
            what = f"{'an integer' if kind is int else 'a number'} {'above' if is_open else 'from'} {least} {'and up ' if is_open else ''}to {most}"
            raise argparse.ArgumentTypeError(f"'{text}' is not {what}")
        return value

    return read


def parsed_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rafter", required=True, metavar="COMMAND", help="the command of Rafter, an optimised build")
    parser.add_argument("--problems", type=problems_of, default=list(PROBLEMS), metavar="LIST", help=f"of {', '.join(PROBLEMS)} (default all)")
    parser.add_argument("--degrees", type=degrees_of, default=degrees_of("1..8"), metavar="LIST", help="such as 1,2,4 or 1..8 (default 1..8)")
    parser.add_argument("--mdofs", type=number_of(float, 0, 100, is_open=True), default=1.0, metavar="N", help="size in million unknowns (default 1)")
    parser.add_argument("--rounds", type=number_of(int, 1, 1000), default=5, metavar="N", help="turns of both programs (default 5)")
    parser.add_argument("--sample-seconds", type=number_of(float, 0, 100, is_open=True), default=0.1, metavar="N", help="length of a sample (default 0.1)")
    parser.add_argument("--applications", type=number_of(int, 0, 10**9), metavar="N",
                        help="passed on to `rafter bench bp`: applications that pay the set-up of an assembled matrix off; 0: none (default Rafter's)")
    parser.add_argument("--compiler", metavar="COMMAND", help="a g++ that compiles MFEM's kernels of mass and Laplacian for this processor "
                        "(default none: only those of the wheel are timed)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="writes the rows, with the figures of all rounds")
    options = parser.parse_args()
    command = shutil.which(options.rafter)
    if command is None:
        parser.error(f"argument --rafter: {options.rafter} is no program that can be run")
    options.rafter = command
    if options.json is not None and (options.json.is_dir() or not options.json.absolute().parent.is_dir()):
        parser.error(f"argument --json: {options.json} is a folder or lies in one that does not exist")
    if missing_package:
        parser.error(f"{missing_package}; run this with the Python of an environment that has MFEM's package, which --help says how to make")
    return options


def main():
    options = parsed_options()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        kernels = Kernels(options.compiler, folder)
        for problem in options.problems:
            for degree in sorted({min(degree, PROBLEMS[problem].largest_checked_degree) for degree in options.degrees}):
                check(problem, degree, kernels)
        first = all_rafter_rows(options, folder)
        print(f"MFEM {mfem.MFEM_VERSION_STRING} and Rafter, {options.rounds} rounds on one thread\n{HEADER}", flush=True)
        for (problem, degree), row in first.items():
            rows.append(measure(options, problem, degree, row, kernels, folder))
            print(line_of(rows[-1]), flush=True)
    print(LEGEND)
    if options.json is not None:
        report = {"command": sys.argv, "mfem": mfem.MFEM_VERSION_STRING, "compiler": options.compiler, "rounds": options.rounds,
                  "sample_seconds": options.sample_seconds, "rows": rows}
        try:
            options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            fail(f"--json: {options.json} cannot be written: {error.strerror}")


if __name__ == "__main__":
    main()
