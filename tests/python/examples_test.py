#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Laws that the example problems obey when they are varied. (That each is solved within its bounds: problem_test.py.)

usage: examples_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from command_test import PATIENCE_SECONDS

RAFTER, SOURCE = "", ""


def solve(name, *arguments):
    """Returns the report of an example, and its exit code."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(SOURCE, "examples", name)
        result = subprocess.run([RAFTER, "solve", path, "--json", "r.json", *arguments], cwd=directory, timeout=PATIENCE_SECONDS,
                                capture_output=True, text=True, check=False)
        if not os.path.exists(os.path.join(directory, "r.json")):
            raise AssertionError(f"{name}: {result.returncode}: {result.stderr}")
        with open(os.path.join(directory, "r.json"), encoding="utf-8") as file:
            return json.load(file), result.returncode


def elastica(bending, down, side, steps=1000):
    """Returns how far the top of an upright elastica of length 1 moves sideways, which is clamped below and loaded above.

    The angle satisfies theta'' = -(down sin(theta) + side cos(theta))/bending from the top, where theta' = 0, to the base,
    where theta = 0. It is found by shooting with the Runge-Kutta method of order 4, for loads between once and twice the critical one.
    """
    def rate(state):
        return state[1], -(down*math.sin(state[0]) + side*math.cos(state[0]))/bending, math.sin(state[0])

    def base(top):
        state = (top, 0.0, 0.0)
        for _ in range(steps):
            slopes = [rate(state)]
            for length in (0.5, 0.5, 1.0):
                slopes.append(rate([a + length/steps*b for a, b in zip(state, slopes[-1])]))
            state = [a + (k[0] + 2*k[1] + 2*k[2] + k[3])/(6*steps) for a, k in zip(state, zip(*slopes))]
        return state

    low, high = 0.5, 3.0
    for _ in range(40):
        middle = 0.5*(low + high)
        low, high = (middle, high) if base(middle)[0] < 0 else (low, middle)
    return base(low)[2]


class Examples(unittest.TestCase):
    def test_a_column_buckles_as_eulers_elastica(self):
        """Stretch and shear make a difference, which falls with the square of the width."""
        for width, bound in ((0.05, 6e-3), (0.025, 1.6e-3)):
            with self.subTest(width):
                load, side = 0.28*width**2, 0.0028*width**2
                report, code = solve("buckling.toml", "--set", f"mesh.box.size=[{width}, 1.0]", "--set",
                                     f"coefficients.load={-load}", "--set", f"coefficients.side={side}")
                self.assertEqual(code, 0)
                self.assertLess(report["iterations"], 60)
                exact = elastica(width**3/12, load*width, side*width)
                self.assertLess(abs(report["functionals"]["deflection"]/width/exact - 1), bound)

    def test_newtons_method_converges_quadratically_and_tells_so(self):
        for name, most_steps in (("bratu.toml", 6), ("st-venant-kirchhoff.toml", 8), ("neo-hookean.toml", 8),
                                 ("p-laplacian.toml", 15)):
            with self.subTest(name):
                report, code = solve(name)
                self.assertEqual(code, 0)
                steps = report["newton"]["steps"]
                self.assertEqual(len(steps), report["iterations"] + 1)
                self.assertLessEqual(report["iterations"], most_steps)
                self.assertEqual([step["residual"] for step in steps], report["history"])
                self.assertEqual(steps[-1]["residual"], report["residual"])
                self.assertEqual(report["newton"]["linear_iterations"],
                                 sum(step["linear_iterations"] for step in steps[:-1]))
                orders = [math.log(c["residual"]/b["residual"])/math.log(b["residual"]/a["residual"])
                          for a, b, c in zip(steps, steps[1:], steps[2:]) if c["residual"] < b["residual"] < min(0.3, a["residual"])]
                self.assertGreater(max(orders), 1.7)
                self.assertEqual(steps[-2]["length"], 1)

    def test_one_file_serves_every_shape(self):
        for shape in ("hexahedron", "tetrahedron", "prism", "pyramid", "mixed"):
            with self.subTest(shape):
                report, code = solve("poisson.toml", "--set", f"mesh.box.shape={shape}", "--set",
                                     "check.max_l2_error=2e-6", "--set", "check.max_h1_error=5e-5")
                self.assertEqual(code, 0, report["errors"])
                self.assertEqual(shape == "mixed", len(report["cells"]) == 4)

    def test_stored_energy_is_half_the_work_of_the_load(self):
        """This is Clapeyron's theorem, which also holds for the discrete solution."""
        for name in ("beam.toml", "plate.toml", "free-body.toml"):
            with self.subTest(name):
                functionals = solve(name, "--set", "solver.rtol=1e-9")[0]["functionals"]
                self.assertGreater(functionals["energy"], 0)
                self.assertAlmostEqual(functionals["energy"] / functionals["work"], 1, places=8)

    def test_energy_of_the_beam_grows_to_its_limit(self):
        """Richer nested spaces store more energy under a given load, and the steps become smaller."""
        energies = [solve("beam.toml", "--set", "mesh.refine=1", "--set", f"fields.u.degree={degree}", "--set",
                          "solver.rtol=1e-9")[0]["functionals"]["energy"] for degree in (1, 2, 4)]
        self.assertLess(energies[0], energies[1])
        self.assertLess(energies[1], energies[2])
        self.assertLess(energies[2] - energies[1], 0.5 * (energies[1] - energies[0]))

    def test_means_and_rigid_motions_are_fixed(self):
        self.assertAlmostEqual(solve("neumann.toml", "--set", "constraint.0.mean=2.5", "--set", "check.u=exact + 2.5")[0]["functionals"]["mean"], 2.5, places=13)
        self.assertAlmostEqual(solve("stokes.toml")[0]["functionals"]["mean_pressure"], 0, places=15)
        functionals = solve("free-body.toml")[0]["functionals"]
        self.assertAlmostEqual(functionals["motion"], 0, places=15)
        self.assertAlmostEqual(functionals["rotation"], 0, places=15)

    def test_a_periodic_solution_may_be_shifted(self):
        """A shift by whole cells changes no error, even if the identified sides cut the wave."""
        error, shifted = (solve("periodic.toml", "--set", f"definitions.exact=sin(pi*(x[0] + {shift}))*exp(x[1])")[0]["errors"]["u"]["l2"]
                          for shift in (0, 0.75))
        self.assertAlmostEqual(shifted / error, 1, places=6)

    def test_period_along_every_axis_of_every_shape(self):
        for shape in ("triangle", "quadrilateral"):
            with self.subTest(shape):
                report, code = solve("periodic.toml", "--set", f"mesh.box.shape={shape}", "--set", "periodic.0.from=ymin",
                                     "--set", "periodic.0.to=[4]", "--set", "dirichlet.0.tags=all", "--set",
                                     "definitions.exact=cos(2*pi*x[1])*exp(x[0])", "--set", "check.max_l2_error=1e-3",
                                     "--set", "check.max_h1_error=1e-2")
                self.assertEqual(code, 0, report["errors"])

    def test_each_is_in_the_table(self):
        folder = pathlib.Path(SOURCE, "examples")
        table = (folder / "README.md").read_text(encoding="utf-8")
        self.assertEqual([path.name for path in folder.glob("*.toml") if f"`{path.name}`" not in table], [])

    def test_area_of_the_hole(self):
        """The hole has the radius 0.4, the plate the thickness 0.5; edges of degree 2 give the area within 0.1 %."""
        area = solve("plate.toml")[0]["functionals"]["hole_area"]
        self.assertAlmostEqual(area / (2 * math.pi * 0.4 * 0.5), 1, places=3)


if __name__ == "__main__":
    RAFTER, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
