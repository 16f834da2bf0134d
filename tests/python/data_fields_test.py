#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Coefficients that are fields, from expressions and from files of earlier solves, and starting values from them.

usage: data_fields_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import os
import sys
import unittest

import command_test

MESH = """[mesh]
box = { cells = [4, 3], size = [2.0, 1.0], shape = "quadrilateral" }
"""
# The solution has degree 3 in each variable, and the flux is derived from it.
FIRST = MESH + """[fields.u]
degree = 3
[forms]
a = "inner(grad(u), grad(v))*dx"
L = "-6*x[0]*v*dx"
[[dirichlet]]
tags = "all"
value = "x[0]**3 + x[1]"
[solver]
rtol = 1.0e-13
[output]
file = "first.vtkhdf"
fields = { flux = "grad(u)" }
"""
SECOND = MESH + """[fields.z]
degree = 3
[coefficients]
w = { file = "first.vtkhdf", field = "u" }
[forms]
a = "(1 + w)*inner(grad(z), grad(v))*dx"
L = "(-(1 + w)*div(grad(exact)) - dot(grad(w), grad(exact)))*v*dx"
[definitions]
exact = "x[0]*x[1]*x[1]"
[[dirichlet]]
tags = "all"
value = "exact"
[solver]
rtol = 1.0e-12
[check]
z = "exact"
max_l2_error = 1.0e-9
[functionals]
difference = "(w - x[0]**3 - x[1])**2*dx"
slope = "inner(grad(w), grad(w))*dx"
"""
RESIDUAL = MESH + """[fields.u]
degree = 3
initial = { file = "first.vtkhdf", field = "u" }
[forms]
F = "(inner(grad(u), grad(v)) + 6*x[0]*v + (u - x[0]**3 - x[1])**3*v)*dx"
[[dirichlet]]
tags = "all"
value = "x[0]**3 + x[1]"
[newton]
atol = 1.0e-9
[functionals]
mean = "u*dx"
"""


class DataFields(command_test.CommandTest):
    def setUp(self):
        super().setUp()
        result = self.run_rafter("solve", self.write(FIRST))
        self.assertEqual(result.returncode, command_test.DONE, result.stderr)

    def solve(self, text, *sets):
        return self.report(text, sets=sets)

    def refused(self, text, *overrides):
        before = sorted(os.listdir(self.directory.name))
        path = self.write(text)
        sets = [argument for override in overrides for argument in ("--set", override)]
        result = self.run_rafter("solve", path, *sets)
        self.assertEqual(result.returncode, command_test.WRONG_INPUT, result.stderr + result.stdout)
        self.assertEqual(sorted(os.listdir(self.directory.name)), sorted({*before, os.path.basename(path)}))
        return result.stderr

    def test_a_result_is_a_coefficient_of_the_operator_the_load_and_functionals(self):
        """This holds on the same mesh, on others, and with another method and plan."""
        for overrides in ((), ("mesh.box.shape=triangle", "mesh.box.cells=[5,4]"), ("mesh.refine=1",),
                          ("solver.method=gmres", "fields.z.degree=4")):
            with self.subTest(overrides):
                functionals = self.solve(SECOND, *overrides)["functionals"]
                self.assertLess(functionals["difference"], 1e-20)
                self.assertAlmostEqual(functionals["slope"], 9*2**5/5 + 2, places=10)

    def test_a_lower_degree_interpolates(self):
        report = self.solve(SECOND, "coefficients.w.degree=1", "check.max_l2_error=1")
        self.assertGreater(report["functionals"]["difference"], 1e-4)

    def test_expressions_and_other_fields_are_fields(self):
        functionals = self.solve(SECOND, 'coefficients.s={value="x[0]*x[1]", degree=2}',
                                 'coefficients.g={value="grad(w)", degree=2}', 'coefficients.b={value=["x[0]", 2.0]}',
                                 'coefficients.c={value="s*b[0]", degree=3}', "functionals.s=(s - x[0]*x[1])**2*dx",
                                 "functionals.g=inner(g - grad(w), g - grad(w))*dx",
                                 "functionals.b=inner(grad(b), grad(b))*dx",
                                 "functionals.c=(c - x[0]**2*x[1])**2*dx")["functionals"]
        self.assertLess(functionals["s"], 1e-25)
        self.assertLess(functionals["g"], 1e-18)
        self.assertLess(functionals["c"], 1e-25)
        self.assertAlmostEqual(functionals["b"], 2.0, places=12)

    def test_derived_fields_and_vectors_are_read(self):
        functionals = self.solve(SECOND, 'coefficients.g={file="first.vtkhdf", field="flux"}',
                                 "functionals.g=(g[0] - 3*x[0]**2)**2*dx + (g[1] - 1)**2*dx")["functionals"]
        self.assertLess(functionals["g"], 1e-18)

    def test_known_fields_serve_derived_ones_and_checks(self):
        self.solve(SECOND, "output.file=second.vtkhdf", "output.fields={p='w*grad(z)', w='w'}")
        functionals = self.solve(SECOND, "coefficients.w.file=second.vtkhdf", "coefficients.w.field=w")["functionals"]
        self.assertLess(functionals["difference"], 1e-18)
        report = self.solve(SECOND, 'coefficients.e={value="exact"}', "check.z=e")
        self.assertLess(report["errors"]["z"]["l2"], 1e-9)

    def test_newtons_method_starts_from_a_result(self):
        self.assertEqual(self.solve(RESIDUAL)["iterations"], 0)
        self.assertGreater(self.solve(RESIDUAL, "fields.u.initial=0")["iterations"], 1)
        self.assertLessEqual(self.solve(RESIDUAL, "mesh.box.shape=triangle")["iterations"], 1)

    def test_a_residual_holds_known_fields(self):
        report = self.solve(RESIDUAL, 'coefficients.w={file="first.vtkhdf", field="u"}',
                            "forms.F=(inner(grad(u), grad(v)) + 6*x[0]*v + (u - w)**3*v)*dx", "fields.u.initial=w0",
                            "definitions.w0='0.5*x[0]'")
        self.assertAlmostEqual(report["functionals"]["mean"], 2**4/4 + 1, places=7)

    def test_no_output_replaces_what_is_read(self):
        with open(self.path("first.vtkhdf"), "rb") as file:
            before = file.read()
        for text in (SECOND, RESIDUAL):
            message = self.refused(text, "output.file=first.vtkhdf")
            self.assertIn("first.vtkhdf", message)
            self.assertIn("coefficients.w.file" if text == SECOND else "fields.u.initial.file", message)
        for command, option in (("solve", "--json"), ("kernel", "--matrix"), ("tune", "--record")):
            result = self.run_rafter(command, self.write(SECOND), option, "first.vtkhdf")
            self.assertEqual(result.returncode, command_test.WRONG_INPUT, result.stderr)
            self.assertIn(option, result.stderr)
        with open(self.path("first.vtkhdf"), "rb") as file:
            self.assertEqual(file.read(), before)

    def test_wrong_input_is_named(self):
        for overrides, parts in (
                (("coefficients.w.file=none.vtkhdf",), ("coefficients.w.file", "no such file")),
                (("coefficients.w.field=v",), ("coefficients.w", "no point data 'v'", "it has: u, flux")),
                (("coefficients.w.components=2",), ("coefficients.w", "'u' has 1 components, expected are 2")),
                (("mesh.box.size=[2.5, 1.0]",), ("coefficients.w", "first.vtkhdf", "does not cover")),
                (("mesh.box={cells=[2, 2, 2]}", "functionals={}"), ("coefficients.w", "dimension 2")),
                (("dirichlet.0.value=w",), ("dirichlet[0].value", "no fields")),
                (('coefficients.s={value="ln(-w)"}',), ("coefficients.s", "is nan at x = (")),
                (('coefficients.s={value="1/(x[0] - 0.5)"}',), ("coefficients.s", "inf")),
                (('coefficients.s={value="w + t"}',), ("coefficients.s.value", "'t'")),
                (('coefficients.s={value="outer(b, b)"}', "coefficients.b=[1, 2]"), ("coefficients.s", "(2, 2)"))):
            with self.subTest(overrides):
                message = self.refused(SECOND, *overrides)
                for part in parts:
                    self.assertIn(part, message)
        with open(self.path("first.vtkhdf"), "wb") as file:
            file.write(b"\x89HDF\r\n\x1a\n" + bytes(100))
        self.assertIn("cannot be read", self.refused(SECOND))
        self.assertIn("fields.u.initial", self.refused(RESIDUAL))


if __name__ == "__main__":
    command_test.RAFTER, command_test.SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
