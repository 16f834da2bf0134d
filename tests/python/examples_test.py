#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Laws that the example problems obey when they are varied. (That each is solved within its bounds: problem_test.py.)

usage: examples_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

RAFTER, SOURCE = "", ""


def solve(name, *arguments):
    """The report of an example, and its exit code."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(SOURCE, "examples", name)
        result = subprocess.run([RAFTER, "solve", path, "--json", "r.json", *arguments], cwd=directory, timeout=280,
                                capture_output=True, text=True, check=False)
        if not os.path.exists(os.path.join(directory, "r.json")):
            raise AssertionError(f"{name}: {result.returncode}: {result.stderr}")
        with open(os.path.join(directory, "r.json"), encoding="utf-8") as file:
            return json.load(file), result.returncode


class Examples(unittest.TestCase):
    def test_one_file_serves_every_shape(self):
        for shape in ("hexahedron", "tetrahedron", "prism", "pyramid", "mixed"):
            with self.subTest(shape):
                report, code = solve("poisson.toml", "--set", f"mesh.box.shape={shape}", "--set",
                                     "check.max_l2_error=2e-6", "--set", "check.max_h1_error=5e-5")
                self.assertEqual(code, 0, report["errors"])
                self.assertEqual(shape == "mixed", len(report["cells"]) == 4)

    def test_stored_energy_is_half_the_work_of_the_load(self):
        """Clapeyron's theorem, which holds for the discrete solution, too."""
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
        """By cells: the wave is resolved as well wherever it begins, also where the seam cuts it."""
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

    def test_area_of_the_hole(self):
        """A hole of radius 0.4 through a plate of thickness 0.5, on edges of degree 2: within 0.1 %."""
        area = solve("plate.toml")[0]["functionals"]["hole_area"]
        self.assertAlmostEqual(area / (2 * math.pi * 0.4 * 0.5), 1, places=3)


if __name__ == "__main__":
    RAFTER, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
