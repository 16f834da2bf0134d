#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Problems that users of other codes have reported, with values that closed forms or other discretisations give
(docs/decisions/0067-problems-reported-elsewhere.md).

usage: reported_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import math
import os
import shutil
import sys
import unittest

import command_test


class ReportedTest(command_test.CommandTest):
    def sample(self, name):
        shutil.copy2(os.path.join(command_test.SOURCE, "tests", "data", "meshes", name), self.path(name))
        return name


BODY_AND_CONCENTRATION = """
[mesh]
box = { cells = [6, 1], size = [1.0, 0.2] }
[fields.u]
components = 2
degree = 2
[fields.c]
degree = 4
[coefficients]
E = 2.0e11
pull = 1.0e10
[forms]
F = "E*inner(sym(grad(u)), grad(v_u))*dx - pull*v_u[0]*ds('xmax') + (0.1*inner(grad(c), grad(v_c)) + c**3*v_c - 3*v_c)*dx"
[[dirichlet]]
field = "u"
tags = "xmin"
components = [0]
value = 0.0
[[dirichlet]]
field = "u"
tags = "ymin"
components = [1]
value = 0.0
[[dirichlet]]
field = "c"
tags = "xmin"
value = 0.0
[functionals]
mean = "c*dx/0.2"
stretch = "u[0]*ds('xmax')/0.2"
"""


class FieldsOfOtherUnits(ReportedTest):
    """The forces of a body in newtons are larger by ten orders of magnitude than the sources of a concentration, whose
    residual is nothing beside theirs and is judged by itself."""

    MEAN = 1.2241263223 # -0.1 c'' + c^3 = 3, c(0) = 0, c'(1) = 0, by SciPy's solve_bvp
    STRETCH = 0.05      # pull/E

    def test_newton_solves_the_small_one_too(self):
        for pull in (1e6, 1e10):
            with self.subTest(pull):
                found = self.report(BODY_AND_CONCENTRATION, sets=[f"coefficients.pull={pull}"])["functionals"]
                self.assertAlmostEqual(found["mean"], self.MEAN, delta=2e-6)
                self.assertAlmostEqual(found["stretch"]*1e10/pull, self.STRETCH, delta=1e-9)

    def test_steps_in_time_move_the_small_one(self):
        text = BODY_AND_CONCENTRATION.replace("(0.1*", "(dt(c)*v_c + 0.1*") + "[time]\nstep = 1.0\nend = 40.0\n"
        found = self.report(text)["functionals"]
        self.assertAlmostEqual(found["mean"], self.MEAN, delta=2e-6)

    def test_linear_methods_solve_the_small_one_too(self):
        text = BODY_AND_CONCENTRATION.replace("c**3*v_c - 3*v_c)*dx", "c*v_c)*dx").replace(" - pull*v_u[0]*ds('xmax')", "")
        text = text.replace("F = ", "L = \"pull*v_u[0]*ds('xmax') + 3*v_c*dx\"\na = ")
        mean = 3*(1 - math.sqrt(0.1)*math.tanh(1/math.sqrt(0.1)))
        for method in ("cg", "minres", "gmres", "bicgstab", "direct"):
            with self.subTest(method):
                # What the usual tolerance leaves of the error is another number on each processor.
                tolerance = [] if method == "direct" else ["solver.rtol=1e-10"]
                found = self.report(text, sets=[f"solver.method={method}", *tolerance])["functionals"]
                self.assertAlmostEqual(found["mean"], mean, delta=1e-5)
                self.assertAlmostEqual(found["stretch"], self.STRETCH, delta=1e-9)


    def test_a_field_at_rest_between_others_is_solved(self):
        """Gravity in a closed box is balanced by the pressure: what moves is what the tolerance leaves."""
        found = self.report("""
[mesh]
box = { cells = [6, 6], shape = "triangle" }
[fields.u]
components = 2
degree = 2
[fields.p]
degree = 1
[forms]
a = "(inner(grad(u), grad(v_u)) - p*div(v_u) - div(u)*v_p)*dx"
L = "-1000*v_u[1]*dx"
[[dirichlet]]
field = "u"
tags = "all"
value = [0.0, 0.0]
[[constraint]]
field = "p"
mean = 0.0
[solver]
method = "gmres"
preconditioner = "none"
[functionals]
speed = "sqrt(inner(u, u)*dx)"
[check]
p = "500 - 1000*x[1]"
""")
        self.assertLess(found["functionals"]["speed"], 1e-4)
        self.assertLess(found["errors"]["p"]["l2"], 1e-5)


class CurvedBoundaries(ReportedTest):
    DISC = """
[mesh]
file = "disc-quad-order2.msh"
[fields.u]
degree = 2
[forms]
a = "u*v*dx"
L = "7*v*dx"
[functionals]
length = "1*ds"
mean = "(u*ds)/(1*ds)"
normal = "inner(n, n)*ds"
"""

    def test_lengths_converge_as_the_geometry_does(self):
        # Means of a constant are the constant: both integrals take points for the length of curved edges.
        self.sample("disc-quad-order2.msh")
        lengths = []
        for refine in (0, 1, 2):
            found = self.report(self.DISC, sets=[f"mesh.refine={refine}", "solver.rtol=1e-13"])["functionals"]
            lengths.append(found["length"])
            self.assertAlmostEqual(found["mean"], 7, delta=1e-10)
            self.assertAlmostEqual(found["normal"], found["length"], delta=1e-12)
        self.assertAlmostEqual(lengths[2], 2*math.pi, delta=5e-5) # that of the mesh, whose edges are parabolas
        self.assertGreater((lengths[0] - lengths[1])/(lengths[1] - lengths[2]), 12) # order 4

    def test_a_point_beside_the_mesh_is_reported_with_the_nearest_node(self):
        self.sample("disc-quad-order2.msh")
        text = self.DISC.replace("u*v*dx", "inner(grad(u), grad(v))*dx").replace("7*v*dx", "0*v*dx")
        text += "[[constraint]]\npoint = [0.99955003, 0.02999550]\nvalue = 1.0\n"
        self.refused(text, "the point (0.99955, 0.0299955) is not in the mesh", "the nearest node of the mesh is (1, 0), ",
                     "0.03 away")


class Tags(ReportedTest):
    SQUARE = """$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
1
1 2 "all"
$EndPhysicalNames
$Nodes
4
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
$EndNodes
$Elements
5
1 1 2 2 1 1 2
2 1 2 {tag} 2 2 3
3 1 2 {tag} 3 3 4
4 1 2 2 4 4 1
5 3 2 5 5 1 2 3 4
$EndElements
"""
    PROBLEM = """
[mesh]
file = "square.msh"
[fields.u]
[forms]
a = "inner(grad(u), grad(v))*dx"
[[dirichlet]]
tags = "all"
value = 1.0
"""

    def test_a_group_called_all_that_is_a_part_of_the_boundary_is_asked_for_by_its_number(self):
        self.write(self.SQUARE.format(tag=3), "square.msh")
        self.refused(self.PROBLEM, 'dirichlet[0].tags: "all" stands for the whole boundary of 4 facets',
                     "a group of this name with 2 of them", "by its number (2)")
        self.write(self.SQUARE.format(tag=2), "square.msh")
        self.report(self.PROBLEM)


class Nonlinear(ReportedTest):
    def test_a_rod_closes_a_gap_to_a_stiff_penalty(self):
        text = """
[mesh]
box = { cells = [10] }
[fields.u]
[coefficients]
E = 2.1e11
gap = 1e-3
penalty = 1e16
[forms]
F = "E*u.dx(0)*v.dx(0)*dx - 1e9*v*ds('xmax') + penalty*max_value(0, u - gap)*v*ds('xmax')"
[[dirichlet]]
tags = "xmin"
value = 0.0
[functionals]
end = "u*ds('xmax')"
"""
        for gap, penalty in ((1e-3, 1e16), (5e-4, 1e16), (5e-4, 1e13)):
            with self.subTest(gap=gap, penalty=penalty):
                end = self.report(text, sets=[f"coefficients.gap={gap}", f"coefficients.penalty={penalty}"])["functionals"]["end"]
                self.assertAlmostEqual(end/((1e9 + penalty*gap)/(2.1e11 + penalty)), 1, delta=1e-9)

    def test_incompressible_stretch(self):
        """Pulled to twice its length a cube is thinner by 1 - 1/sqrt(2) whatever the mesh, under the pressure mu/2."""
        found = self.report("""
[mesh]
box = { cells = [2, 1, 1], shape = "tetrahedron" }
[fields.u]
components = 3
degree = 2
[fields.p]
degree = 1
[definitions]
F = "Identity(3) + grad(u)"
[forms]
F = "(inner(F - p*cofac(F), grad(v_u)) - (det(F) - 1)*v_p)*dx"
[[dirichlet]]
field = "u"
tags = "xmin"
components = [0]
value = 0.0
[[dirichlet]]
field = "u"
tags = "ymin"
components = [1]
value = 0.0
[[dirichlet]]
field = "u"
tags = "zmin"
components = [2]
value = 0.0
[[dirichlet]]
field = "u"
tags = "xmax"
components = [0]
value = 1.0
[functionals]
thinner = "u[1]*ds('ymax')"
pressure = "p*dx"
""")["functionals"]
        self.assertAlmostEqual(found["thinner"], 1/math.sqrt(2) - 1, delta=1e-9)
        self.assertAlmostEqual(found["pressure"], 0.5, delta=1e-9)

    def test_a_cell_of_micrometres_reacts_with_sinh(self):
        """A battery in SI units has no condition but the reaction; the values are those of SciPy's solve_bvp."""
        found = self.report("""
[mesh]
box = { cells = [64], size = [88e-6] }
[fields.u]
degree = 2
[forms]
F = "(9*u.dx(0)*v.dx(0) + 2.4e6*sinh(u/0.05139)*v)*dx - 30*v*ds('xmax') + 10*v*ds('xmin')"
[functionals]
right = "u*ds('xmax')"
left = "u*ds('xmin')"
""")["functionals"]
        self.assertAlmostEqual(found["right"], 0.0049729657, delta=1e-9)
        self.assertAlmostEqual(found["left"], 0.0047780653, delta=1e-9)

    def test_conditions_guard_quotients_and_their_derivatives(self):
        found = self.report("""
[mesh]
box = { cells = [8] }
[fields.u]
degree = 3
[forms]
F = "(u.dx(0)*v.dx(0) + conditional(abs(u) < 1e-8, 1, sin(u)/u)*u*v - 2*v)*dx"
[[dirichlet]]
tags = "all"
value = 0.0
[functionals]
mean = "u*dx"
""")["functionals"]
        self.assertAlmostEqual(found["mean"], 0.1516209223, delta=1e-7) # by SciPy's solve_bvp


class AroundAnAxis(ReportedTest):
    def test_flow_through_a_pipe(self):
        """Hagen and Poiseuille's flow with r = x[0]: hoop terms are divided by r, which is 0 on the axis."""
        found = self.report("""
[mesh]
box = { cells = [3, 3] }
[fields.u]
components = 2
degree = 2
[fields.p]
degree = 1
[forms]
a = "(inner(grad(u), grad(v_u))*x[0] + u[0]*v_u[0]/x[0] - p*(div(v_u)*x[0] + v_u[0]) - v_p*(div(u)*x[0] + u[0]))*dx"
L = "8*v_u[1]*x[0]*ds('ymin')"
[[dirichlet]]
field = "u"
tags = "xmax"
value = [0.0, 0.0]
[[dirichlet]]
field = "u"
tags = ["xmin", "ymin", "ymax"]
components = [0]
value = 0.0
[functionals]
flux = "2*pi*x[0]*u[1]*ds('ymax')"
[check]
u = ["0", "2*(1 - x[0]**2)"]
p = "8*(1 - x[1])"
""")
        for field in ("u", "p"):
            self.assertLess(found["errors"][field]["l2"], 1e-8)
        self.assertAlmostEqual(found["functionals"]["flux"], math.pi, delta=1e-8)


class Upwinding(ReportedTest):
    def test_one_dimension_is_exact_at_nodes(self):
        """The optimal streamline diffusion h/2 (coth Pe - 1/Pe) gives linear elements the exact values at their nodes."""
        cells, h = 10, 0.1
        for peclet in (0.5, 5.0, 500.0):
            k = h/(2*peclet)
            added = h/2*(1/math.tanh(peclet) - 1/peclet)
            found = self.report(f"""
[mesh]
box = {{ cells = [{cells}] }}
[fields.u]
[forms]
a = "({k + added!r}*u.dx(0)*v.dx(0) + u.dx(0)*v)*dx"
[[dirichlet]]
tags = "xmin"
value = 0.0
[[dirichlet]]
tags = "xmax"
value = 1.0
[functionals]
mean = "u*dx"
""")["functionals"]["mean"]
            exact = [math.exp((x - 1)/k)*(-math.expm1(-x/k))/(-math.expm1(-1/k)) for x in (i*h for i in range(cells + 1))]
            self.assertAlmostEqual(found, h*(sum(exact) - (exact[0] + exact[-1])/2), delta=1e-9)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    command_test.RAFTER, command_test.SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
