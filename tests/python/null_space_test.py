#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Singular problems with [[constraint]]: what is fixed, what is removed from right-hand sides, which claims are refused.

usage: null_space_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import os
import sys
import unittest

import command_test
import singular_test

NEUMANN = """[mesh]
box = { cells = [4, 4] }
[fields.u]
degree = 2
[forms]
a = "inner(grad(u), grad(v))*dx"
L = "pi**2*cos(pi*x[0])*v*dx"
[[constraint]]
mean = 1.5
[functionals]
mean = "u*dx"
[check]
u = "cos(pi*x[0]) + 1.5"
max_l2_error = 2e-3
"""
ELASTIC = """[mesh]
box = { cells = [3, 3] }
[fields.u]
degree = 2
components = 2
[forms]
a = "inner(sym(grad(u)), sym(grad(v)))*dx"
L = "(x[0]**3*v[1] + x[1]**2*v[0])*dx"
[[constraint]]
rigid_modes = true
[functionals]
along_x = "u[0]*dx"
along_y = "u[1]*dx"
turned = "(u[1]*(x[0] - 0.5) - u[0]*(x[1] - 0.5))*dx"
"""
CAVITY = """mesh.box = { cells = [4, 4] }
fields.u = { degree = 2, components = 2 }
fields.p = { degree = 1 }
forms.F = "(nu*inner(grad(u), grad(v_u)) + inner(dot(grad(u), u), v_u) - p*div(v_u) - v_p*div(u))*dx"
coefficients.nu = 0.02
dirichlet = [{ field = "u", tags = ["xmin", "xmax", "ymin"], value = [0.0, 0.0] },
             { field = "u", tags = ["ymax"], value = ["16*x[0]**2*(1 - x[0])**2", "0"] }]
constraint = [{ field = "p", mean = 0.25 }]
functionals = { mean = "p*dx", energy = "inner(u, u)*dx", corner = "p*ds('xmin')" }
"""
HELD = '[[dirichlet]]\nfield = "u"\ntags = {}\ncomponents = {}\nvalue = {}\n'


class NullSpace(command_test.CommandTest):
    def functionals(self, text, *arguments):
        """Returns the functionals and the printed text."""
        report, result = self.solved(text, *arguments)
        return report["functionals"], " ".join(result.stdout.split())  # undoes line breaks in messages

    def replaced(self, text, *changes):
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        return text

    def test_constant_source_without_a_solution_is_removed_and_reported(self):
        functionals, said = self.functionals(NEUMANN)
        self.assertAlmostEqual(functionals["mean"], 1.5, 13)
        self.assertNotIn("warning", said)
        more = self.replaced(NEUMANN, ("pi**2*cos(pi*x[0])*v*dx", "(pi**2*cos(pi*x[0]) + 5)*v*dx"))  # the solution is the same
        for options in ["", '[solver]\nmethod = "gmres"\n', '[solver]\nfused = false\n', '[solver]\npreconditioner = "chebyshev"\n']:
            with self.subTest(options):
                functionals, said = self.functionals(more + options)
                self.assertAlmostEqual(functionals["mean"], 1.5, 13)
                self.assertIn("of its size in the null space, which no solution can balance: it was removed", said)

    def test_nothing_but_a_constant_source(self):
        text = self.replaced(NEUMANN, ("pi**2*cos(pi*x[0])*v*dx", "3*v*dx"), ("cos(pi*x[0]) + 1.5", "1.5"), ("2e-3", "1e-14"))
        self.functionals(text)

    def test_value_at_a_point(self):
        self.functionals(self.replaced(NEUMANN, ("mean = 1.5", "point = [1.0, 0.3]\nvalue = 0.5")))
        self.refused(self.replaced(NEUMANN, ("mean = 1.5", "point = [1.5, 0.3]\nvalue = 0.5")), "problem.toml:9:9:",
                     "constraint[0].point", "(1.5, 0.3) is not in the mesh", "from (0, 0) to (1, 1)")
        self.refused(self.replaced(NEUMANN, ("mean = 1.5", "point = [1.0]\nvalue = 0.5")), "1 coordinate", "accepted are 2")

    def test_precision_of_floats(self):
        functionals, _ = self.functionals(NEUMANN, "--plan", "compute=float", "--set", "solver.rtol=1e-5")
        self.assertAlmostEqual(functionals["mean"], 1.5, 13)

    def test_modes_that_the_form_sees(self):
        self.refused(self.replaced(NEUMANN, ("grad(v))*dx", "grad(v))*dx + 1e-4*u*v*dx")), "problem.toml:9:8:", "constraint[0].mean",
                     "constants of u are not in the null space", "|A v| is 3.7e-07 of |A| |v|")
        self.refused(self.replaced(ELASTIC, ("sym(grad(u)), sym(grad(v))", "grad(u), grad(v)")), "constraint[0].rigid_modes",
                     "rotations of u are not in the null space")
        self.refused(self.replaced(NEUMANN, ("mean = 1.5", "rigid_modes = true")), "one per axis, here 2", "field 'u' has 1")

    def test_modes_that_conditions_hold(self):
        self.refused(NEUMANN + HELD.format('["xmin"]', [0], 0.0), "constraint[0].mean", "constants of u are held by Dirichlet conditions")
        self.refused(ELASTIC + HELD.format('["xmin"]', [0, 1], [0.0, 0.0]), "all rigid modes of u are held")

    def test_components_that_no_condition_holds(self):
        text = self.replaced(ELASTIC, ("sym(grad(u)), sym(grad(v))", "grad(u), grad(v)"), ("rigid_modes = true", "mean = [2.0, 0.5]"))
        text += HELD.format('["xmin"]', [0], 0.0)
        self.refused(text, "constants of component 0 of u are held")
        functionals, _ = self.functionals(text.replace("mean = [2.0, 0.5]", "components = [1]\nmean = [0.5]"))
        self.assertAlmostEqual(functionals["along_y"], 0.5, 13)
        point = self.replaced(text, ("mean = [2.0, 0.5]", "components = [1]\npoint = [0.0, 0.0]\nvalue = [0.5]"))
        self.assertNotAlmostEqual(self.functionals(point)[0]["along_y"], 0.5, 3)

    def test_mean_leaves_rotations(self):
        self.refused(self.replaced(ELASTIC, ("rigid_modes = true", "mean = [0.0, 0.0]")), "singular", "does not see rotations of u",
                     '[[constraint]] (field = "u", rigid_modes = true)')

    def test_problems_without_the_section_name_it(self):
        self.refused(NEUMANN.replace("[[constraint]]\nmean = 1.5\n", ""), "singular", '[[constraint]] (field = "u", mean = 0.0)')

    def test_sliding_support_leaves_a_translation(self):
        functionals, _ = self.functionals(ELASTIC + HELD.format('["xmin"]', [0], 0.25))
        self.assertAlmostEqual(functionals["along_y"], 0, 13)
        self.assertGreater(abs(functionals["along_x"]), 1e-3)  # a condition fixes this component
        functionals, _ = self.functionals(ELASTIC)
        for name in functionals:
            self.assertAlmostEqual(functionals[name], 0, 13)

    def test_removed_loads_are_no_part_of_what_residuals_are_relative_to(self):
        text = self.replaced(ELASTIC, ("inner(sym(grad(u)), sym(grad(v)))", "(100*div(u)*div(v) + inner(sym(grad(u)), sym(grad(v))))"))
        text += HELD.format('["xmin", "xmax"]', [0], "'0.1*x[1]'")
        reports = []
        for load in ["", " + 1e3*v[1]"]:  # a weight along the support, which nothing balances
            reports.append(self.report(text.replace("*v[0])*dx", f"*v[0]{load})*dx")))
        # The same first residual, relative to the same loads: numbers of iterations would show rounding errors, too.
        self.assertAlmostEqual(reports[0]["history"][0] / reports[1]["history"][0], 1, 8)
        for name, value in reports[0]["functionals"].items():
            self.assertAlmostEqual(value, reports[1]["functionals"][name], 7)

    def test_transpose_with_another_null_space(self):
        self.refused(self.replaced(NEUMANN, ("grad(v))*dx", "grad(v))*dx + u.dx(0)*v*dx")) + '[solver]\nmethod = "gmres"\n',
                     "constraint[0].mean", "not symmetric", "transpose has another null space")

    def test_every_connected_component_that_nothing_holds_has_its_mean(self):
        self.write(singular_test.strip_mesh([1, None, 5, 5]), "strip.mesh")
        text = singular_test.STRIP.replace("tags = [1]", "tags = [2]") + '[functionals]\nfirst = "u*dx(1)"\nsecond = "u*dx(5)"\n'
        free, held = text.split("[[dirichlet]]")
        free += held[held.index("[functionals]"):] + "[[constraint]]\nmean = 3.0\n"
        functionals, _ = self.functionals(free)
        self.assertAlmostEqual(functionals["first"], 3, 13)
        self.assertAlmostEqual(functionals["second"], 6, 13)
        functionals, _ = self.functionals(text + "[[constraint]]\nmean = 3.0\n")  # a condition fixes the second component
        self.assertAlmostEqual(functionals["first"], 3, 13)
        self.assertGreater(abs(functionals["second"] - 6), 1e-2)
        self.refused(free.replace("mean = 3.0", "point = [2.5, 0.5]\nvalue = 1.0"), "singular", "constants of u", "tag 1")

    def test_connected_component_that_the_form_itself_fixes_keeps_its_solution(self):
        self.write(singular_test.strip_mesh([1, None, 5]), "strip.mesh")
        text = singular_test.STRIP.split("[[dirichlet]]")[0].replace("grad(v))*dx", "grad(v))*dx + 2*u*v*ds(1)")
        text += '[[constraint]]\nmean = 3.0\n[functionals]\nfirst = "2*u*ds(1)"\nsecond = "u*dx(5)"\n'
        functionals, _ = self.functionals(text)
        self.assertAlmostEqual(functionals["first"], 1, 9)  # the whole source acts on it
        self.assertAlmostEqual(functionals["second"], 3, 13)

    def test_several_fields_have_a_section_each(self):
        text = self.replaced(NEUMANN, ("[forms]", "[fields.w]\ndegree = 1\n[forms]"), ("grad(u), grad(v))*dx", "grad(u), grad(v_u))*dx + inner(grad(w), grad(v_w))*dx"),
                             ("*v*dx", "*v_u*dx + (x[1] - 0.5)*v_w*dx"), ("mean = 1.5", 'field = "u"\nmean = 1.5'), ('mean = "u*dx"', 'mean = "u*dx"\nother = "w*dx"'))
        self.refused(text, "singular", "constants of w", 'field = "w"')
        functionals, _ = self.functionals(text + '[[constraint]]\nfield = "w"\nmean = -4.0\n')
        self.assertAlmostEqual(functionals["mean"], 1.5, 13)
        self.assertAlmostEqual(functionals["other"], -4, 13)

    def test_newtons_method_fixes_pressures(self):
        functionals, _ = self.functionals(CAVITY)
        self.assertAlmostEqual(functionals["mean"], 0.25, delta=1e-12)
        # A small term fixes the pressure, too, nearly.
        term = CAVITY.replace("constraint = [{ field = \"p\", mean = 0.25 }]\n", "").replace("- v_p*div(u))", "- v_p*div(u) - 1e-9*(p - 0.25)*v_p)")
        expected, _ = self.functionals(term)
        for name, value in functionals.items():
            self.assertAlmostEqual(value, expected[name], delta=1e-7, msg=name)
        iterated, _ = self.functionals(CAVITY + '[solver]\nmethod = "gmres"\npreconditioner = "none"\nmax_iterations = 2000\n[newton]\nrtol = 1e-10\n')
        for name, value in functionals.items():
            self.assertAlmostEqual(iterated[name], value, delta=1e-6, msg=name)

    def test_steps_of_newtons_method_fix_pressures(self):
        text = CAVITY.replace('forms.F = "(', 'forms.F = "(inner(dt(u), v_u) + ') + "[time]\nstep = 0.5\nend = 40.0\n"
        functionals, _ = self.functionals(text)
        steady, _ = self.functionals(CAVITY)
        for name, value in steady.items():
            self.assertAlmostEqual(functionals[name], value, delta=1e-6, msg=name)

    def test_nonlinear_equations_without_boundary_values(self):
        text = self.replaced(NEUMANN.split("[check]")[0], ('a = "inner(grad(u), grad(v))*dx"\nL = "pi**2*cos(pi*x[0])*v*dx"',
                                                           'F = "(1 + inner(grad(u), grad(u)))*inner(grad(u), grad(v))*dx - cos(pi*x[0])*v*dx"'))
        functionals, _ = self.functionals(text)
        self.assertAlmostEqual(functionals["mean"], 1.5, delta=1e-12)
        result = self.run_rafter("solve", self.write(text.replace("cos(pi*x[0])", "1.0")))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("no state balances these loads", " ".join(result.stderr.split() + result.stdout.split()))

    def test_too_many_connected_components(self):
        self.write(singular_test.strip_mesh([1, None] * 65), "strip.mesh")
        text = singular_test.STRIP.split("[[dirichlet]]")[0] + "[[constraint]]\nmean = 0.0\n"
        self.refused(text, "constraint[0].mean", "more than 64 null vectors", "65 connected components")
        held = [tag for tag in range(1, 66) if tag not in (7, 9)]  # tag 9 is also on other edges; fixed ones do not count
        self.functionals(text.replace("degree = 2", "degree = 1") + f"[[dirichlet]]\ntags = {held}\nvalue = 0.0\n[functionals]\nany = \"u*dx\"\n")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    command_test.RAFTER, command_test.SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
