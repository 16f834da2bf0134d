#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Singular problems and those that look like them, on strips of squares with gaps.

usage: singular_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import json
import os
import sys
import unittest

import command_test


def strip_mesh(tags):
    """Returns MFEM text of unit squares side by side with these tags, where None is a gap. Left ends of the parts have the boundary tags
    1, 2, ..., every other edge of the boundary has 9."""
    numbers, cells, edges, ends = {}, [], [], 0

    def vertex(i, j):
        return numbers.setdefault((i, j), len(numbers))
    for i, tag in enumerate(tags):
        if tag is None:
            continue
        corners = [vertex(i, 0), vertex(i + 1, 0), vertex(i + 1, 1), vertex(i, 1)]
        cells.append([tag, 3, *corners])
        edges += [[9, 1, *corners[:2]], [9, 1, *corners[2:]]]
        if i == 0 or tags[i - 1] is None:
            ends += 1
            edges.append([ends, 1, corners[3], corners[0]])
        if i + 1 == len(tags) or tags[i + 1] is None:
            edges.append([9, 1, *corners[1:3]])

    def rows(values):
        return "".join(" ".join(map(str, row)) + "\n" for row in values)
    return (f"MFEM mesh v1.0\n\ndimension\n2\n\nelements\n{len(cells)}\n{rows(cells)}\nboundary\n{len(edges)}\n{rows(edges)}\n"
            f"vertices\n{len(numbers)}\n2\n{rows(numbers)}")


STRIP = """[mesh]
file = "strip.mesh"
[fields.u]
degree = 2
[forms]
a = "inner(grad(u), grad(v))*dx"
L = "v*dx"
[[dirichlet]]
tags = [1]
value = 0.0
"""
ELASTIC = STRIP.replace("degree = 2", "degree = 2\ncomponents = 2").replace("= 0.0", "= [0.0, 0.0]").replace(
    "inner(grad(u), grad(v))", "inner(sym(grad(u)), sym(grad(v)))").replace("v*dx", "v[1]*dx")


class Singular(command_test.CommandTest):
    """Singular problems are refused before they are solved; those that look like them are solved."""

    def strip(self, cells, text=STRIP, **changes):
        self.write(strip_mesh(cells), "strip.mesh")
        for old, new in changes.items():
            old = {"a": "inner(grad(u), grad(v))*dx", "tags": "tags = [1]"}.get(old, old)
            self.assertIn(old, text)
            text = text.replace(old, new)
        return text

    def solved(self, text):
        result = self.run_rafter("solve", self.write(text))
        self.assertEqual(result.returncode, command_test.DONE, result.stderr + result.stdout)

    def test_component_without_a_condition_is_named(self):
        self.refused(self.strip([1, None, 5, 5]), "singular", "constants of u", "2 cells with tag 5", "between (2, 0) and (4, 1)")

    def test_several_such_components_are_counted(self):
        self.refused(self.strip([1, None, 5, None, 6, None, 7]), "tag 5", "on 2 more connected components")

    def test_every_component_with_a_condition(self):
        self.solved(self.strip([1, None, 5], tags="tags = [1, 2]"))

    def test_reaction_or_robin_term_on_the_component_alone(self):
        self.solved(self.strip([1, None, 5], a="inner(grad(u), grad(v))*dx + u*v*dx(5)"))
        self.solved(self.strip([1, None, 5], a="inner(grad(u), grad(v))*dx + 1e-3*u*v*ds(2)"))

    def test_coefficients_of_other_sizes_elsewhere_do_not_hide_a_reaction(self):
        self.solved(self.strip([1, None, 5], a="1e9*inner(grad(u), grad(v))*dx(1) + 1e-6*(inner(grad(u), grad(v)) + u*v)*dx(5)"))

    def test_conditions_that_fix_every_unknown(self):
        for shape, cells in [("interval", 1), ("triangle", 2), ("quadrilateral", 2), ("tetrahedron", 3), ("hexahedron", 3), ("prism", 3)]:
            mesh = f'box = {{ cells = {[1] * cells}, shape = "{shape}" }}'
            text = STRIP.replace('file = "strip.mesh"', mesh).replace("degree = 2", "degree = 1").replace("tags = [1]", 'tags = "all"')
            text = text.replace("value = 0.0", 'value = "x[0]"') + '[functionals]\nmean = "u*dx"\n'
            for solver in ['method = "cg"', 'method = "cg"\npreconditioner = "chebyshev"', 'method = "gmres"']:
                with self.subTest(shape=shape, solver=solver):
                    result = self.run_rafter("solve", self.write(text + f"[solver]\n{solver}\n"), "--json", "report.json")
                    self.assertEqual(result.returncode, command_test.DONE, result.stderr + result.stdout)
                    with open(self.path("report.json"), encoding="utf-8") as file:
                        self.assertAlmostEqual(json.load(file)["functionals"]["mean"], 0.5, 13)

    def test_elastic_component_that_slides_and_turns(self):
        self.refused(self.strip([1, None, 5], ELASTIC), "component 0 of u", "component 1 of u", "rotations of u", "tag 5")
        held = ELASTIC + '[[dirichlet]]\ntags = [2]\ncomponents = [0]\nvalue = 0.0\n'
        self.refused(self.strip([1, None, 5], held), "component 1 of u", "tag 5")

    def test_large_bodies_of_which_a_part_of_the_boundary_tells(self):
        body = STRIP.replace('file = "strip.mesh"', "box = { cells = [20, 20, 20] }").replace("degree = 2", "degree = 1\ncomponents = 3")
        body = body.replace("inner(grad(u), grad(v))", "inner(sym(grad(u)), sym(grad(v)))").replace("v*dx", "v[1]*dx").replace("= 0.0", "= [0.0, 0.0, 0.0]")
        self.solved(body)
        one = body.replace("value = [0.0, 0.0, 0.0]", "components = [0]\nvalue = [0.0]")
        self.refused(one, "component 1 of u", "component 2 of u", "rotations of u")
        self.refused(one + '[[dirichlet]]\ntags = ["ymin"]\ncomponents = [1]\nvalue = [0.0]\n', "constants of component 2 of u")
        self.solved(one + ''.join(f'[[dirichlet]]\ntags = ["{side}"]\ncomponents = [{c}]\nvalue = [0.0]\n' for side, c in [("ymin", 1), ("zmin", 2)]))

    def test_rotation_about_a_point_that_no_condition_holds(self):
        # With u_1 = 0 on y = 0 and y = 1 alone, the body slides along x; with u_0 = 0 at the left as well, nothing moves.
        slides = self.strip([1, 1], ELASTIC).split("[[dirichlet]]")[0] + '[[dirichlet]]\ntags = [9]\ncomponents = [1]\nvalue = 0.0\n'
        self.refused(slides, "singular", "component 0 of u")
        self.solved(slides + '[[dirichlet]]\ntags = [1]\ncomponents = [0]\nvalue = 0.0\n')

    def test_components_that_touch_only_through_cells_that_the_form_leaves_out(self):
        # At degree 1, the cell between has no unknown of its own, and connects nothing.
        self.refused(self.strip([1, 2, 5], a="inner(grad(u), grad(v))*(dx(1) + dx(5))", **{"degree = 2": "degree = 1"}),
                     "constants of u", "tag 5", "between (2, 0) and (3, 1)")

    def test_cells_that_no_integral_reaches(self):
        self.refused(self.strip([1, 1, 5], a="inner(grad(u), grad(v))*dx(1)"), "problem.toml:6:", "forms.a", "singular",
                     "empty row", "field 'u', at (", "1 of 3 cells", "tag 5")

    def test_form_on_the_boundary_alone(self):
        self.refused(self.strip([1, 1], a="u*v*ds"), "forms.a", "3 of 15 unknowns", "field 'u', at (")

    def test_form_on_the_boundary_that_reaches_every_unknown(self):
        self.solved(self.strip([1, 1], a="u*v*ds", **{"degree = 2": "degree = 1"}))

    def test_coefficient_that_vanishes_on_some_cells(self):
        text = self.strip([1, 5, 5], a="k*inner(grad(u), grad(v))*dx") + "[coefficients]\nk = { by_tag = { 1 = 1.0, 5 = 0.0 } }\n"
        self.refused(text, "empty row", "field 'u', at (")

    def test_field_without_an_equation_on_some_cells(self):
        text = self.strip([1, 5], a="(inner(grad(u), grad(v_u)) + inner(grad(w), grad(v_w)))*dx(1) + inner(grad(u), grad(v_u))*dx(5)")
        text = text.replace("[forms]", "[fields.w]\ndegree = 3\n[forms]").replace("v*dx", "v_u*dx").replace("tags = [1]", 'field = "u"\ntags = [1]')
        self.refused(text + '[[dirichlet]]\nfield = "w"\ntags = [1]\nvalue = 0.0\n', "field 'w', at (", "'v_w'", "tag 5")

    def test_zero_diagonal_names_field_and_place(self):
        with open(os.path.join(command_test.SOURCE, "tests/problems/stokes.toml"), encoding="utf-8") as file:
            text = file.read().replace('preconditioner = "none"', 'preconditioner = "jacobi"')
        self.refused(text, "field 'p', at (", "preconditioner jacobi", '"none"')


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    command_test.RAFTER, command_test.SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
