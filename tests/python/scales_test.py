#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What residuals are compared with comes from the problem: boundary values that exert no force at first, derivatives that vanish or
have no value at the start, and numbers near the ends of the range of doubles.

usage: scales_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import os
import sys
import unittest

import command_test
from command_test import DONE, NOT_SOLVED, WRONG_INPUT

SIGMA = 5.67e-8
AT_XMIN = "(u*ds('xmin'))/(1*ds('xmin'))"


def problem(form, value="2.0", box="cells = [2, 2]", initial="", more="", degree=1, at=AT_XMIN):
    """The text of a residual form whose unknown has this value on xmax."""
    start = f"initial = {initial}\n" if initial else ""
    condition = f'[[dirichlet]]\ntags = "xmax"\nvalue = {value}\n' if value else ""
    return (f"[mesh]\nbox = {{ {box} }}\n[fields.u]\ndegree = {degree}\n{start}[forms]\nF = \"{form}\"\n{condition}"
            f"[functionals]\nat = \"{at}\"\n{more}")


def root(function, low, high):
    """The root of an increasing function."""
    for _ in range(200):
        middle = 0.5*(low + high)
        low, high = (low, middle) if function(middle) > 0 else (middle, high)
    return low


class ScalesTest(command_test.CommandTest):
    def value(self, text, *arguments):
        report = self.report(text, *arguments)
        self.assertNotIn("rounding", report.get("warning", ""))
        return report["functionals"]["at"]


class BoundaryValuesWithoutForces(ScalesTest):
    """The first linear step brings the boundary values everywhere, and only then does the other end exert its force."""

    def test_a_cubic_spring(self):
        form = "inner(grad(u), grad(v))*dx + u**3*v*ds('xmin')" # 2 - u = u^3
        for box, more in (("cells = [2, 2]", ""), ("cells = [3, 3], shape = 'triangle'", ""), ("cells = [2, 2, 2]", ""),
                          ("cells = [2, 2]", "[newton]\nload_steps = 4\n"), ("cells = [2, 2]", "[newton]\nline_search = false\n"),
                          ("cells = [2, 2]", "[solver]\nmethod = 'direct'\n")):
            with self.subTest(box + more):
                self.assertAlmostEqual(self.value(problem(form, box=box, more=more)), 1, delta=1e-9)

    def test_contact(self):
        form = "inner(grad(u), grad(v))*dx - K*max_value(0, -u - 0.1)*v*ds('xmin')"
        for stiffness in (100, 1e6):
            with self.subTest(stiffness):
                found = self.value(problem(form.replace("K", str(stiffness)), "-0.3"))
                self.assertAlmostEqual(found, -(0.3 + 0.1*stiffness)/(1 + stiffness), delta=1e-9)

    def test_an_obstacle_along_a_body(self):
        # It pushes -K (u + 0.1) in all of the body, where 0.3 at xmax decays as cosh(k x)/cosh(k).
        found = self.value(problem("inner(grad(u), grad(v))*dx - 4*max_value(0, -u - 0.1)*v*dx", "-0.3", "cells = [32]", degree=3))
        self.assertAlmostEqual(found, -0.1 - 0.2/3.7621956910836314, delta=1e-7) # cosh(2)

    def test_a_rod_that_radiates_to_nothing(self):
        form = f"50*inner(grad(u), grad(v))*dx + {SIGMA}*u**4*v*ds('xmin')"
        expected = root(lambda u: SIGMA*u**4 - 50*(1000 - u), 0, 1000)
        for box in ("cells = [4]", "cells = [2, 1, 1]"):
            with self.subTest(box):
                self.assertAlmostEqual(self.value(problem(form, "1000.0", box)), expected, delta=1e-6)

    def test_surfaces_that_radiate_to_each_other(self):
        text = (f"[mesh]\nbox = {{ cells = [3] }}\n[fields.u]\ndegree = 1\n[fields.w]\ndegree = 1\n[forms]\nF = \"50*inner(grad(u), "
                f"grad(v_u))*dx + 20*inner(grad(w), grad(v_w))*dx + {SIGMA}*(u**4 - w**4)*(v_u - v_w)*ds('xmin')\"\n"
                "[[dirichlet]]\nfield = 'u'\ntags = 'xmax'\nvalue = 1000.0\n[[dirichlet]]\nfield = 'w'\ntags = 'xmax'\nvalue = 300.0\n"
                f"[functionals]\nat = \"{AT_XMIN}\"\nother = \"w*ds('xmin')\"\n")
        other = lambda u: 300 + 2.5*(1000 - u)
        expected = root(lambda u: SIGMA*(u**4 - other(u)**4) - 50*(1000 - u), 0, 1000)
        report = self.report(text)
        self.assertAlmostEqual(report["functionals"]["at"], expected, delta=1e-6)
        self.assertAlmostEqual(report["functionals"]["other"], other(expected), delta=1e-6)

    def test_springs_of_a_body_that_is_moved(self):
        form = "inner(sym(grad(u)), grad(v))*dx + dot(u, u)*dot(u, v)*ds('xmin')"
        text = problem(form, "[2.0, 0.0]", at="(u[0]*ds('xmin'))/(1*ds('xmin'))").replace("degree = 1", "degree = 1\ncomponents = 2")
        self.assertAlmostEqual(self.value(text), 1, delta=1e-9) # no strain across: the body is free to narrow, but nothing asks it to

    def test_steps_in_time(self):
        form = "dt(u)*v*dx + inner(grad(u), grad(v))*dx + u**3*v*ds('xmin')"
        more = "[time]\nend = 20.0\nstep = 1.0\n"
        self.assertAlmostEqual(self.value(problem(form, more=more)), 1, delta=1e-6)
        ramp = problem(form, '"min_value(t, 2.0)"', more=more) # the value comes in steps, each of them without force at first
        self.assertAlmostEqual(self.value(ramp), 1, delta=1e-6)

    def test_a_steady_state_in_time_is_one_without_a_warning(self):
        form = "dt(u)*v*dx + inner(grad(u), grad(v))*dx + (u**3 - 2.197)*v*ds('xmin')"
        self.assertAlmostEqual(self.value(problem(form, "", initial="1.3", more="[time]\nend = 1.0\nstep = 0.25\n")), 1.3, delta=1e-12)

    def test_no_force_at_all(self):
        report, result = self.solved(problem("(1 + u**2)*inner(grad(u), grad(v))*dx", "0.7"))
        self.assertAlmostEqual(report["functionals"]["at"], 0.7, delta=1e-13)
        self.assertLess(report["residual"], 1e-12)
        self.assertNotIn("rounding", result.stdout)

    def test_linear_methods_find_motions_without_force_and_warn_of_nothing(self):
        text = """[mesh]
box = { cells = [5, 4], shape = "SHAPE" }
[fields.u]
components = 2
degree = 2
[forms]
a = "inner(sym(grad(u)), sym(grad(v)))*dx"
[[dirichlet]]
tags = "all"
value = VALUE
[solver]
rtol = 1e-10
[check]
u = VALUE
max_l2_error = 1e-14
"""
        for value in ("[0.3, -7.0]", '["0.3 - 3*x[1]", "3*x[0]"]'): # a shift, and a rotation with one
            for keys in (["method=cg"], ["method=gmres"], ["method=minres"], ["method=bicgstab"], ["method=direct"], ["preconditioner=multigrid"],
                         ["preconditioner=multigrid", "norm=preconditioned"]):
                for shape in ("triangle", "quadrilateral"):
                    with self.subTest(value=value, keys=keys, shape=shape):
                        report = self.report(text.replace("VALUE", value).replace("SHAPE", shape), sets=["solver." + key for key in keys])
                        self.assertNotIn("warning", report)
                        self.assertNotIn("relative_error", report)
                        self.assertLess(report["residual"], 1e-14)
                        self.assertLess(report["residuals"]["residual"], 1e-14)
                        self.assertEqual(report["history"][-1], report["residual"])

    def test_a_load_beside_a_motion_is_solved_for(self):
        """What forces there are is not lost beside the motion: a load of 1e-9 is above the rounding errors of its products."""
        text = "[mesh]\nbox = { cells = [8] }\n[fields.u]\ndegree = 2\n[forms]\na = \"inner(grad(u), grad(v))*dx\"\nL = \"1e-9*v*dx\"\n"
        text += "[[dirichlet]]\ntags = 'all'\nvalue = 1.0\n[functionals]\nsag = \"(u - 1)*dx\"\n"
        for method in ("cg", "direct"):
            self.assertAlmostEqual(self.report(text, sets=["solver.method=" + method])["functionals"]["sag"]*1e9, 1/12, delta=1e-5)

    def test_a_start_far_from_the_solution_does_not_loosen_the_tolerance(self):
        form = "inner(grad(u), grad(v))*dx + u**3*v*ds('xmin')"
        expected = root(lambda u: u**3 - (2000 - u), 0, 2000)
        for start in ("2000.0", "20000.0"):
            self.assertAlmostEqual(self.value(problem(form, "2000.0", initial=start)), expected, delta=1e-6)


class Starts(ScalesTest):
    """Newton's method needs a derivative at its start."""

    def test_a_derivative_that_vanishes_names_the_start(self):
        for more in ("", "[solver]\nmethod = 'cg'\npreconditioner = 'none'\n", "[solver]\nmethod = 'gmres'\npreconditioner = 'none'\n"):
            with self.subTest(more):
                result = self.run_rafter("solve", self.write(problem("u**4*v*dx - 1*v*dx", "", more=more)))
                self.assertEqual(result.returncode, NOT_SOLVED, result.stderr)
                text = " ".join((result.stdout + result.stderr).split())
                self.assertIn("the derivative of the residual is zero at this state in 9 of 9 equations", text)
                self.assertIn("(initial)", text)
                self.assertNotIn("Neumann", text)
                self.assertAlmostEqual(self.value(problem("u**4*v*dx - 1*v*dx", "", initial="0.5", more=more)), 1, delta=1e-8)

    def test_a_derivative_that_does_not_see_constants_names_the_start(self):
        radiation = problem("400*inner(grad(u), grad(v))*dx + 5.67e-8*u**4*v*ds('xmax') - 1e6*v*ds('xmin')", "")
        for text, code in ((problem("inner(grad(u), grad(v))*dx + u**3*v*dx - v*dx", ""), NOT_SOLVED), (radiation, WRONG_INPUT)):
            with self.subTest(text):
                result = self.run_rafter("solve", self.write(text))
                self.assertEqual(result.returncode, code, result.stderr)
                words = " ".join((result.stdout + result.stderr).split())
                self.assertIn("initial", words)
                self.assertNotIn("Neumann", words)

    def test_a_derivative_that_is_not_finite_names_cell_and_state(self):
        for form, more in (("sqrt(u*u)*u*v*dx - 1*v*dx", ""), ("dt(u)*v*dx + sqrt(u*u)*u*v*dx - 1*v*dx", "[time]\nend = 1.0\nstep = 0.5\n")):
            with self.subTest(form):
                self.refused(problem(form, "", more=more), "derivative", "no finite value of 'u' in quadrilateral", "where u is 0",
                             "initial")
        self.assertAlmostEqual(self.value(problem("sqrt(u*u)*u*v*dx - 1*v*dx", "", initial="0.5")), 1, delta=1e-8)


class EndsOfTheRange(ScalesTest):
    """Loads, boundary values and coefficients are as large and as small as doubles are."""

    LINEAR = ('[mesh]\nbox = { cells = [4, 2] }\n[fields.u]\ndegree = 2\n[coefficients]\nk = 1.0\nc = 1.0\n'
              '[forms]\na = "k*inner(grad(u), grad(v))*dx"\nL = "c*v*dx"\n[[dirichlet]]\ntags = ["xmin", "xmax"]\nvalue = 0.0\n'
              '[functionals]\nmean = "(u*dx)/(1*dx)"\n') # c/k x (1 - x)/2, of mean c/(12 k)
    NONLINEAR = LINEAR.replace('a = "k*inner(grad(u), grad(v))*dx"\nL = "c*v*dx"',
                               'F = "k*(1 + max_value(0, -u)/c)*inner(grad(u), grad(v))*dx - c*v*dx"')

    def mean(self, text, load, *arguments):
        report = self.report(text, "--set", f"coefficients.c={load}", *arguments)
        return report["functionals"]["mean"]

    def test_loads(self):
        solvers = (("cg", "jacobi"), ("cg", "chebyshev"), ("cg", "amg"), ("minres", "jacobi"), ("gmres", "jacobi"), ("bicgstab", "jacobi"),
                   ("direct", "none"))
        for load in (1e-300, 1e-170, 1e156, 1e160):
            for method, preconditioner in solvers:
                with self.subTest(f"{load} {method} {preconditioner}"):
                    found = self.mean(self.LINEAR, load, "--set", f"solver.method={method}", "--set", f"solver.preconditioner={preconditioner}",
                                      "--set", "solver.rtol=1e-11")
                    self.assertAlmostEqual(found/load, 1/12, delta=1e-9)

    def test_norms_of_preconditioned_residuals(self):
        for load in (1e-170, 1e160):
            found = self.mean(self.LINEAR, load, "--set", "solver.norm=preconditioned", "--set", "solver.rtol=1e-11")
            self.assertAlmostEqual(found/load, 1/12, delta=1e-9)

    def test_multigrid_and_its_starts(self):
        for load in (1e-170, 1e160):
            for more in ([], ["--set", "solver.multigrid.start=full"], ["--set", "solver.norm=preconditioned", "--set", "solver.multigrid.start=full"]):
                with self.subTest(f"{load} {more}"):
                    found = self.mean(self.LINEAR, load, "--set", "solver.preconditioner=multigrid", "--set", "mesh.refine=1", *more)
                    self.assertAlmostEqual(found/load, 1/12, delta=1e-7)

    def test_iterations_on_a_device_with_memory_of_its_own(self):
        for load in (1e-170, 1e160):
            self.assertAlmostEqual(self.mean(self.LINEAR, load, "--device", "checked")/load, 1/12, delta=1e-7)
        form = "inner(grad(u), grad(v))*dx + u**3*v*ds('xmin')"
        self.assertAlmostEqual(self.value(problem(form), "--device", "checked"), 1, delta=1e-9)

    def test_coefficients(self):
        for k in (1e-160, 1e160):
            for method in ("cg", "minres", "direct"):
                with self.subTest(f"{k} {method}"):
                    found = self.mean(self.LINEAR, 1.0, "--set", f"coefficients.k={k}", "--set", f"solver.method={method}")
                    self.assertAlmostEqual(found*k, 1/12, delta=1e-5)

    def test_coefficients_and_loads_beside_boundary_values(self):
        # Only the ratio of load and coefficient matters: the body is at 300 and a bit.
        for unit in (1e-300, 1e-170, 1e-17, 1e150): # permeabilities are of size 1e-17
            found = self.mean(self.LINEAR, 12*unit, "--set", f"coefficients.k={unit}", "--set", "dirichlet.0.value=300.0")
            self.assertAlmostEqual(found, 301, delta=1e-4)

    def test_boundary_values(self):
        for value in (1e-170, 1e160):
            found = self.mean(self.LINEAR, 0.0, "--set", f'dirichlet=[{{tags="xmin", value={value}}}, {{tags="xmax", value={3*value}}}]')
            self.assertAlmostEqual(found/value, 2, delta=1e-5)

    def test_residual_forms(self):
        for load in (1e-170, 1e156):
            with self.subTest(load):
                self.assertAlmostEqual(self.mean(self.NONLINEAR, load)/load, 1/12, delta=1e-8)

    def test_steps_in_time(self):
        time = "[time]\nend = 4.0\nstep = 0.5\n"
        for text in (self.LINEAR.replace("k*inner", "dt(u)*v*dx + k*inner"), self.NONLINEAR.replace("F = \"", "F = \"dt(u)*v*dx + ")):
            for load in (1e-170, 1e156):
                found = self.mean(text + time, load)
                # (1 + pi^2/2)^-8 is left of the start
                self.assertAlmostEqual(found/load, 1/12, delta=1e-6)

    def test_what_has_no_value_is_a_failure(self):
        # The first step is 1e159, and its square times itself no double.
        result = self.run_rafter("solve", self.write(problem("((1+u**2)*inner(grad(u),grad(v)) - 1e160*v)*dx", "0.0")))
        self.assertEqual(result.returncode, NOT_SOLVED, result.stderr)
        self.assertIn("not finite", " ".join((result.stdout + result.stderr).split()))
        self.refused(self.LINEAR.replace("c*v", "1e308*1e10*v"), "forms.L")
        result = self.run_rafter("solve", self.write(self.LINEAR), "--set", "coefficients.c=1e300", "--set", "coefficients.k=1e-100")
        self.assertEqual(result.returncode, NOT_SOLVED, result.stderr + result.stdout)
        self.assertIn("exceeds the largest double", " ".join((result.stdout + result.stderr).split()))

    def test_exact_solutions(self):
        for exact, words in (("1/x[0]", "'1/x[0]' is inf at x = (0, 0)"), ("log(x[0])", "is -inf at x = (0, 0)"),
                             ("exp(370 + x[0])", "exceeds the largest double"), ("1e-170*x[0]", "its square vanishes")):
            with self.subTest(exact):
                self.refused(self.LINEAR + f'[check]\nu = "{exact}"\n', "check.u", words)
        self.solved(self.LINEAR + '[check]\nu = "sqrt(x[0])"\n') # whose gradient has a value at all points of quadrature


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    command_test.RAFTER, command_test.SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
