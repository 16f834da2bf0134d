#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How far ill-conditioned solutions are trusted, which methods problems get that name none, and what is refused.

usage: trust_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import os
import sys
import unittest

import command_test

STRIP = """[mesh]
box = { cells = [20, 1], size = [1.0, 0.001] }
[fields.u]
components = 2
degree = 3
[coefficients]
E = 210e9
[forms]
a = "E*inner(sym(grad(u)), sym(grad(v)))*dx"
L = "-1000*v[1]*ds('xmax')"
[[dirichlet]]
tags = ["xmin"]
value = [0.0, 0.0]
[functionals]
tip = "u[1]*ds('xmax')/0.001"
[solver]
"""
# The exact solution of pure bending is a polynomial of degree 2, whatever the degree of the elements above that.
BENDING = STRIP.split("[functionals]", maxsplit=1)[0].replace("-1000*v[1]", "-E*x[1]*v[0]") + """[check]
u = ["-x[0]*x[1]", "0.5*x[0]**2"]
[solver]
"""
PLATE = """[mesh]
box = { cells = [6, 4, 1], size = [1.0, 0.7, 0.001], shape = "hexahedron" }
[fields.u]
components = 3
degree = 2
[forms]
a = "210e9*inner(sym(grad(u)), sym(grad(v)))*dx"
L = "-210e9*x[2]*v[0]*ds('xmax')"
[[dirichlet]]
tags = ["xmin"]
value = [0.0, 0.0, 0.0]
[check]
u = ["-x[0]*x[2]", "0", "0.5*x[0]**2"]
[solver]
"""
# Pure bending in plane strain, with the ratio lam / mu of a Poisson ratio of 0.4999999975.
INCOMPRESSIBLE = """[mesh]
box = { cells = [6, 6] }
[fields.u]
components = 2
degree = 2
[coefficients]
mu = 1.0
lam = 2e8
c = "2*mu*(2*mu + 2*lam)/(2*mu + lam)"
[forms]
a = "(2*mu*inner(sym(grad(u)), sym(grad(v))) + lam*div(u)*div(v))*dx"
L = "-c*x[1]*v[0]*ds('xmax') + c*x[1]*v[0]*ds('xmin')"
[[dirichlet]]
tags = ["ymin"]
value = ["0.0", "0.5*x[0]**2"]
[check]
u = ["-x[0]*x[1]", "0.5*x[0]**2 + 0.5*lam/(2*mu + lam)*x[1]**2"]
[solver]
"""
# Bars of stiffness 1 and 1e12 by turns, pulled by 1: each of the 8 soft ones is longer by 1.
CHAIN = """[mesh]
box = { cells = [16], size = [16.0] }
[fields.u]
degree = 1
[coefficients]
k = "exp(27.631021115928547*conditional(lt(sin(3.141592653589793*x[0]), 0), 1, 0))"
[forms]
a = "k*inner(grad(u), grad(v))*dx"
L = "v*ds('xmax')"
[[dirichlet]]
tags = ["xmin"]
value = 0.0
[functionals]
end = "u*ds('xmax')"
[solver]
"""
SMALL = """[mesh]
box = { cells = [4, 4] }
[fields.u]
degree = 2
[forms]
a = "inner(grad(u), grad(v))*dx"
L = "v*dx"
[[dirichlet]]
tags = "all"
value = 0.0
[solver]
"""
STOKES = """[mesh]
box = { cells = [8, 8] }
[fields.u]
components = 2
degree = 2
[fields.p]
degree = 1
[forms]
a = "(inner(grad(u), grad(v_u)) - p*div(v_u) - div(u)*v_p)*dx"
[[dirichlet]]
field = "u"
tags = ["xmin", "ymin", "ymax"]
value = ["4*x[1]*(1 - x[1])", 0.0]
"""
ITERATIONS = [("cg", "multigrid"), ("cg", "amg"), ("gmres", "amg")]


def strip_mesh(num_cells):
    """Returns the Gmsh file of a strip of two rows of cells, of length 1 and thickness 0.001, in which a facet is listed twice."""
    nodes = [(i/num_cells, 0.0005*(j - 1)) for i in range(num_cells + 1) for j in range(3)]
    number = lambda i, j: 3*i + j + 1
    lines = [(tag, number(i, j), number(i, j + 1)) for tag, i in ((1, 0), (1, 0), (2, num_cells)) for j in range(2)]
    cells = [(3, number(i, j), number(i + 1, j), number(i + 1, j + 1), number(i, j + 1)) for i in range(num_cells) for j in range(2)]
    elements = [(1 if len(rest) == 2 else 3, tag, rest) for tag, *rest in lines + cells]
    text = '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n1 1 "xmin"\n1 2 "xmax"\n2 3 "strip"\n$EndPhysicalNames\n'
    text += f"$Nodes\n{len(nodes)}\n" + "".join(f"{k + 1} {x!r} {y!r} 0\n" for k, (x, y) in enumerate(nodes)) + "$EndNodes\n"
    text += f"$Elements\n{len(elements)}\n"
    text += "".join(f"{k + 1} {kind} 2 {tag} {tag} {' '.join(map(str, of))}\n" for k, (kind, tag, of) in enumerate(elements))
    return text + "$EndElements\n"


class Trust(command_test.CommandTest):
    """Solutions with a small backward error are kept, with the digits to trust."""

    def test_digits_that_a_plan_costs_are_computed_again(self):
        # With many cells, plans sum integrals along each axis, whose roundings change the tip by a hundredth.
        report = self.report(STRIP, "--set", "mesh.box.cells=[1000, 2]")
        self.assertAlmostEqual(report["functionals"]["tip"], -0.0190476305, delta=1e-10)
        self.assertLess(report["relative_error"], 1e-8)

    def test_a_second_try_takes_the_mesh_of_the_first_and_repeats_no_warning(self):
        self.write(strip_mesh(1000), "strip.msh")
        report, result = self.solved(STRIP.replace("box = { cells = [20, 1], size = [1.0, 0.001] }", 'file = "strip.msh"'))
        self.assertIn("solving again with a plan", result.stderr)
        self.assertEqual(list(report["seconds"])[:2], ["first try", "spaces"])
        self.assertEqual(result.stderr.count("strip.msh"), 1, result.stderr)
        self.assertEqual(result.stderr.count("mesh: 2000 cells"), 1, result.stderr)
        self.assertAlmostEqual(report["functionals"]["tip"], -0.0190476305, delta=1e-10)

    def assert_trusted(self, text, *arguments, most=1.0):
        """The error against the exact solution is at most the one that is reported, and that at most `most`."""
        report = self.report(text, *arguments)
        error = report["errors"]["u"]["l2"]
        self.assertLessEqual(error, report["relative_error"])
        self.assertLessEqual(report["relative_error"], most)
        self.assertIn("to be trusted", report["warning"])
        return report

    def test_the_tip_of_a_strip_is_right_to_the_digits_reported(self):
        methods = ["", 'method = "direct"\n'] + [f'method = "{m}"\npreconditioner = "{p}"\n' for m, p in ITERATIONS]
        for keys in methods:
            with self.subTest(keys):
                report = self.report(STRIP + keys)
                # The value is that of finer meshes.
                self.assertAlmostEqual(report["functionals"]["tip"], -0.0190476305, delta=max(0.0190476305 * report["relative_error"], 5.1e-11))
                self.assertLessEqual(report["relative_error"], 1e-8)
                self.assertIn("the body is slender: it is 1 long and 0.001 thick", report["warning"])
                self.assertNotIn("Neumann", report["warning"])

    def test_bending_of_slender_bodies_is_within_the_digits_reported(self):
        for changes in ["fields.u.degree=2", "fields.u.degree=5", "mesh.box.cells=[7, 2]", "mesh.box.size=[1.0, 0.0003]", "mesh.box.shape='triangle'"]:
            with self.subTest(changes):
                self.assert_trusted(BENDING, "--set", changes, most=1e-8)
        for shape in ["hexahedron", "tetrahedron", "prism"]:
            with self.subTest(shape):
                self.assert_trusted(PLATE.replace("hexahedron", shape), most=1e-8)

    def test_plans_that_round_the_entries_of_matrices_are_reported(self):
        for plan in ["mapping=assembled", "contraction=separable"]:
            report = self.assert_trusted(BENDING, "--plan", plan)
            self.assertGreater(report["errors"]["u"]["l2"], 1e-5)  # a direct solve of the same equations loses so much
        self.assert_trusted(BENDING, "--plan", "contraction=dense", most=1e-8)

    def test_nearly_incompressible_bodies(self):
        for keys in ["", 'method = "cg"\npreconditioner = "amg"\n']:
            report = self.assert_trusted(INCOMPRESSIBLE + keys, most=1e-6)
            self.assertIn("the material is nearly incompressible", report["warning"])

    def test_a_chain_of_materials(self):
        report = self.report(CHAIN)
        self.assertAlmostEqual(report["functionals"]["end"], 8 + 8e-12, delta=8 * max(report.get("relative_error", 0), 1e-12))

    def test_ordinary_problems_have_no_warning(self):
        report = self.report(SMALL)
        self.assertNotIn("warning", report)
        self.assertNotIn("relative_error", report)

    def test_singular_problems_are_refused_still(self):
        free = STRIP.replace('tags = ["xmin"]\nvalue = [0.0, 0.0]', 'tags = ["xmin"]\ncomponents = [0]\nvalue = 0.0')
        self.refused(free, "singular", "component 1 of u")
        # Functions of x[0] alone are mapped to zero, but the condition fixes the constants.
        mechanism = SMALL.replace("inner(grad(u), grad(v))", "u.dx(1)*v.dx(1)").replace('tags = "all"', 'tags = ["xmin"]')
        for shape in ["quadrilateral", "triangle"]:
            text = mechanism.replace("[4, 4] }", f'[4, 4], shape = "{shape}" }}')
            result = self.run_rafter("solve", self.write(text))
            self.assertEqual(result.returncode, command_test.NOT_SOLVED, result.stdout)
            self.assertIn("singular", result.stdout + result.stderr)

    def test_fields_that_vanish_are_no_sign_of_a_singular_matrix(self):
        channel = """mesh.box = { cells = [3, 3], shape = "triangle" }
fields.u = { degree = 2, components = 2 }
fields.p = { degree = 1 }
forms.a = "inner(grad(u), grad(v_u))*dx - p*div(v_u)*dx - v_p*div(u)*dx"
forms.L = "v_u[0]*dx"
dirichlet = [{ field = "u", tags = ["ymin", "ymax"], value = [0.0, 0.0] }]
functionals.pressure = "p*p*dx"
check = { u = ["0.5*x[1]*(1 - x[1])", "0"], max_l2_error = 1e-12 }
"""
        report = self.report(channel)
        self.assertEqual(report["status"], "converged")
        self.assertLess(report["functionals"]["pressure"], 1e-26)
        self.assertIn("field 2 of 2 are rounding errors", report["warning"])
        coupled = """mesh.box = { cells = [4, 4] }
fields = { f = { degree = 2 }, g = { degree = 2 } }
forms.a = "inner(grad(f), grad(v_f))*dx + SECOND + 1e3*(g*v_g - f*v_g)*dx"
forms.L = "-1e3*x[0]*v_g*dx"
dirichlet = [{ field = "f", tags = "all", value = "x[0]" }]
functionals.largest = "g*g*dx"
"""
        self.assertLess(self.report(coupled.replace("SECOND", "inner(grad(g), grad(v_g))*dx"))["functionals"]["largest"], 1e-26)
        # The second field's values are not noise but what no digit is right of: the matrix is singular.
        loose = coupled.replace("SECOND + 1e3*(g*v_g - f*v_g)*dx", "inner(grad(g), grad(v_g))*dx + 1e-17*g*v_g*dx - 1e3*f*v_g*dx")
        self.assertNotEqual(self.run_rafter("solve", self.write(loose)).returncode, 0)

    def test_small_problems_are_solved_directly_whatever_their_form(self):
        texts = {"symmetric": SMALL, "convection": SMALL.replace("grad(v))*dx", "grad(v))*dx + 10*u.dx(0)*v*dx"), "saddle": STOKES,
                 "newton": SMALL.replace('a = "inner(grad(u), grad(v))*dx"\nL = "v*dx"', 'F = "((1 + u**2)*inner(grad(u), grad(v)) - v)*dx"'),
                 "time": SMALL.replace('a = "inner(grad(u), grad(v))*dx"\nL = "v*dx"', 'F = "(dt(u)*v + inner(grad(u), grad(v)) - v)*dx"') + "[time]\nstep = 0.1\nend = 0.3\n"}
        for name, text in texts.items():
            with self.subTest(name):
                report = self.report(text)
                self.assertIn("direct", report["method"])
                self.assertIn("chosen because", report["reason"])
                self.assertRegex(report["reason"], r"about \S+ s and \S+ GB for \d+ unknowns")

    def test_keys_of_iterations_keep_cg(self):
        for keys in ['preconditioner = "jacobi"', "max_iterations = 500", 'norm = "preconditioned"', "fused = false", 'method = "cg"']:
            report = self.report(SMALL + keys + "\n")
            self.assertEqual(report["method"], "cg", keys)
            self.assertNotIn("reason", report)

    def test_large_problems_that_cg_cannot_take_are_refused_before_kernels(self):
        for text in [STOKES.replace("[8, 8]", "[24, 24, 24]").replace("components = 2", "components = 3").replace(", 0.0]", ", 0.0, 0.0]"),
                     SMALL.replace("[4, 4]", "[32, 32, 32]").replace("grad(v))*dx", "grad(v))*dx + 10*u.dx(0)*v*dx")]:
            result = self.run_rafter("solve", self.write(text))
            self.assert_refused(result, "problem.toml:", "forms.a", "cg, the method of problems without solver.method", "factors", 'solver.method = "gmres"')
            self.assertNotIn("compiling", result.stderr)
            self.assertNotIn("kernels:", result.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    command_test.RAFTER, command_test.SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
