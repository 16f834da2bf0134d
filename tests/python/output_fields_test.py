#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Output files of the command: derived fields as VTK reads them, and what is refused.

usage: output_fields_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import hashlib
import os
import subprocess
import sys
import tempfile
import unittest

from command_test import PATIENCE_SECONDS

RAFTER = ""

BAR = """
[mesh]
box = { cells = [4, 2], size = [2.0, 1.0], shape = "triangle" }
[fields.u]
components = 2
degree = 2
[coefficients]
lambda = 2.0
mu = 3.0
[definitions]
"stress(w)" = "lambda*div(w)*Identity(2) + 2*mu*sym(grad(w))"
[forms]
a = "inner(stress(u), sym(grad(v)))*dx"
[[dirichlet]]
tags = "all"
value = "[x[0] + 2*x[1], x[1]]"
[solver]
rtol = 1.0e-12
[output]
file = "u.vtkhdf"
fields = { stress = "stress(u)", pressure = { expression = "-tr(stress(u))/2", per = "cell" } }
"""


class Output(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def solve(self, *arguments):
        with open(os.path.join(self.directory.name, "p.toml"), "w", encoding="utf-8") as file:
            file.write(BAR)
        return subprocess.run([RAFTER, "solve", "p.toml", *arguments], cwd=self.directory.name, capture_output=True,
                              text=True, timeout=PATIENCE_SECONDS, check=False)

    def path(self):
        return os.path.join(self.directory.name, "u.vtkhdf")

    def test_stress_is_a_tensor_and_means_are_cell_data(self):
        """The solution is u = (x + 2y, y): div u = 2 and sym(grad u) = [[1, 1], [1, 1]], so that stress = [[10, 6], [6, 10]]."""
        try:
            from vtkmodules.vtkIOHDF import vtkHDFReader
        except ImportError:
            self.skipTest("no VTK (Debian: python3-vtk9)")
        result = self.solve()
        self.assertEqual(result.returncode, 0, result.stderr)
        reader = vtkHDFReader()
        reader.SetFileName(self.path())
        reader.Update()
        points, cells = reader.GetOutput().GetPointData(), reader.GetOutput().GetCellData()
        stress, pressure = points.GetArray("stress"), cells.GetArray("pressure")
        self.assertEqual(points.GetArray("u").GetNumberOfTuples(), 9 * 5)
        self.assertEqual(stress.GetNumberOfTuples(), 9 * 5)
        for i in range(stress.GetNumberOfTuples()):
            for found, expected in zip(stress.GetTuple(i), (10, 6, 0, 6, 10, 0, 0, 0, 0), strict=True):
                self.assertAlmostEqual(found, expected, places=8)
        self.assertEqual(pressure.GetNumberOfTuples(), 16)
        for i in range(16):
            self.assertAlmostEqual(pressure.GetValue(i), -10, places=8)

    def test_files_are_the_same_for_any_number_of_threads(self):
        digests = set()
        for threads in ("1", "2", "3"):
            self.assertEqual(self.solve("--threads", threads).returncode, 0)
            with open(self.path(), "rb") as file:
                digests.add(hashlib.sha256(file.read()).hexdigest())
        self.assertEqual(len(digests), 1)

    def test_wrong_fields_are_refused_with_their_place(self):
        for value, *fragments in (
                ('"straim(u)"', "output.fields.w", "unknown function 'straim'"),
                ('"stres(u)"', "did you mean 'stress'?"),
                ('"inner(u, v)"', "has a test or trial function"),
                ('"n"', "the normal n"),
                ('"u*dx"', "an integrand must be a scalar"),
                ('"outer(grad(u), u)"', "matrices up to 3 x 3", "shape (2, 2, 2)"),
                ('"u[0] < 1"', "is a condition"),
                ('"div(grad(u))"', "second derivatives"),
                ("3", "output.fields.w", "the integer 3"),
                ('{ expression = "u", per = "cel" }', "output.fields.w.per", "did you mean 'cell'?"),
                ('{ expresion = "u" }', "did you mean 'expression'?"),
                ("{ per = 'cell' }", "expression")):
            with self.subTest(value):
                result = self.solve("--set", f"output.fields.w={value}")
                self.assertEqual(result.returncode, 2, result.stderr)
                for fragment in fragments:
                    self.assertIn(fragment, result.stderr)
                self.assertFalse(os.path.exists(self.path()))

    def test_names_that_are_taken_are_refused(self):
        self.assertIn("'u' is a field", self.solve("--set", 'output.fields.u="x"').stderr)
        self.assertIn("tags of the cells",
                      self.solve("--set", 'output.fields.tag={ expression = "x", per = "cell" }').stderr)
        self.assertIn("'a b' is not a name", self.solve("--set", 'output.fields={ "a b" = "x" }').stderr)

    def test_values_that_are_not_finite_are_refused_with_their_point(self):
        result = self.solve("--set", 'output.fields.w="sqrt(1 - x[0])"')
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertRegex(result.stderr, r"output.fields.w: its value is nan at x = \(1\.\d+, 0\.\d+\)")
        self.assertFalse(os.path.exists(self.path()))


if __name__ == "__main__":
    RAFTER = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
