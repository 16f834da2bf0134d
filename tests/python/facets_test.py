#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tags of facets inside the domain, groups that do not serve a use, and parts that touch without sharing nodes.

usage: facets_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import json
import os
import sys
import unittest

import command_test

NODES = {1: [(0,), (1,)], 2: [(0, 0), (1, 0), (1, 1), (0, 1)],
         3: [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]}


class Row:
    """Cells of unit length in a row along x, 2n of them from 0 to 2 in the first direction, one in the others. The cells are intervals,
    quadrilaterals or hexahedra; facets across x have tags by their place."""

    def __init__(self, dim, n, facets, is_open=False):
        self.dim, self.n, self.numbers, self.cells, self.facets = dim, n, {}, [], []
        for i in range(2 * n):
            part = int(is_open and i >= n)
            self.cells.append((10 if i < n else 11, [self.vertex((i + c[0], *c[1:]), part) for c in NODES[dim]]))
        for tag, i in facets:
            part = int(is_open and i > n)
            self.facets.append((tag, [self.vertex((i, *c), part) for c in NODES.get(dim - 1, [()])]))

    def vertex(self, place, part):
        return self.numbers.setdefault((place, part), len(self.numbers))

    def points(self):
        return [(x[0] / self.n, *x[1:]) for (x, _part) in self.numbers]

    def gmsh(self, names):
        types = {0: 15, 1: 1, 2: 3, 3: 5}
        elements = [(types[self.dim], tag, v) for tag, v in self.cells] + [(types[self.dim - 1], tag, v) for tag, v in self.facets]
        lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", str(len(names))]
        lines += [f'{dim} {tag} "{name}"' for name, (dim, tag) in names.items()] + ["$EndPhysicalNames", "$Nodes", str(len(self.numbers))]
        lines += [" ".join(map(str, [k + 1, *x, *[0] * (3 - self.dim)])) for k, x in enumerate(self.points())]
        lines += ["$EndNodes", "$Elements", str(len(elements))]
        lines += [" ".join(map(str, [k + 1, kind, 2, tag, tag, *[v + 1 for v in vs]])) for k, (kind, tag, vs) in enumerate(elements)]
        return "\n".join(lines + ["$EndElements", ""])

    def mfem(self):
        kinds = {0: 0, 1: 1, 2: 3, 3: 5}

        def rows(entities, dim):
            return [str(len(entities))] + [" ".join(map(str, [tag, kinds[dim], *v])) for tag, v in entities]
        lines = ["MFEM mesh v1.0", "", "dimension", str(self.dim), "", "elements", *rows(self.cells, self.dim), "", "boundary"]
        lines += [*rows(self.facets, self.dim - 1), "", "vertices", str(len(self.numbers)), str(self.dim)]
        return "\n".join(lines + [" ".join(map(str, x)) for x in self.points()] + [""])


HOT, COLD = 1, 2
FLUX = """[mesh]
file = "row.msh"
[fields.u]
degree = 1
[forms]
a = "inner(grad(u), grad(v))*dx"
[[dirichlet]]
tags = [1]
value = 1.0
[[dirichlet]]
tags = [2]
value = 0.0
[solver]
rtol = 1e-11
[functionals]
flux = "u.dx(0)*ds(2)"
left = "u*dx(10)"
"""


class Facets(command_test.CommandTest):
    def row(self, dim=2, n=1, facets=((HOT, 0), (HOT, 1), (COLD, 2)), names=None, is_open=False, is_mfem=False):
        """Writes a row of cells. Facets (tag, x) lie across it at x = 0, 1 or 2."""
        row = Row(dim, n, [(tag, x * n) for tag, x in facets], is_open)
        self.write(row.mfem() if is_mfem else row.gmsh(names or {}), "row.msh")

    def expect_flux(self, text, *options):
        """u is 1 from x = 0 to 1 and falls to 0 at x = 2. If the condition inside were lost, the flux would be -0.5."""
        report = self.report(text, *options)
        self.assertAlmostEqual(report["functionals"]["flux"], -1, delta=1e-8)
        self.assertAlmostEqual(report["functionals"]["left"], 1, delta=1e-8)

    def test_conditions_hold_inside_the_domain(self):
        for dim in (1, 2, 3):
            for is_mfem in (False, True):
                with self.subTest(dim=dim, is_mfem=is_mfem):
                    self.row(dim, is_mfem=is_mfem)
                    self.expect_flux(FLUX)
        self.row()
        self.expect_flux(FLUX.replace("degree = 1", "degree = 4"))

    def test_conditions_inside_hold_on_levels_of_multigrid(self):
        self.row(2, n=4)
        for coarsening, degree, refine in (("p", 4, 0), ("h", 1, 2), ("p,h", 3, 1), ("lor", 3, 0)):
            with self.subTest(coarsening=coarsening):
                text = FLUX.replace("degree = 1", f"degree = {degree}").replace('row.msh"', f'row.msh"\nrefine = {refine}')
                text = text.replace("rtol = 1e-11", f'rtol = 1e-11\nmax_iterations = 25\npreconditioner = "multigrid"\n'
                                    f'multigrid = {{ coarsening = "{coarsening}" }}')
                self.expect_flux(text)
        self.expect_flux(FLUX.replace("rtol = 1e-11", 'preconditioner = "amg"\nrtol = 1e-11'))
        self.expect_flux(FLUX.replace("rtol = 1e-11", 'method = "direct"'))

    def test_conditions_inside_alone_hold_a_body(self):
        self.row(2, n=2, facets=((HOT, 1), (COLD, 2)))
        text = FLUX.replace("degree = 1", "degree = 1\ncomponents = 2").replace("inner(grad(u), grad(v))",
                                                                               "inner(sym(grad(u)), sym(grad(v)))")
        text = text.replace("value = 1.0\n[[dirichlet]]\ntags = [2]\nvalue = 0.0", "value = [0.0, 0.0]")
        text = text.replace('a = ', 'L = "v[0]*ds(2)"\na = ').replace("u.dx(0)*ds(2)", "u[0]*ds(2)").replace("u*dx(10)", "u[0]*dx(10)")
        report = self.report(text)
        self.assertGreater(report["functionals"]["flux"], 0.5)
        self.assertAlmostEqual(report["functionals"]["left"], 0, delta=1e-9)

    def test_integrals_inside_are_refused(self):
        self.row(facets=((3, 1), (COLD, 2)), names={"line": (1, 3)})
        text = FLUX.replace("tags = [1]", "tags = [3]").replace("u.dx(0)*ds(2)", "1*ds('line')")
        self.refused(text, "problem.toml:16:14:", "functionals.flux", "'line' lies inside the domain")
        self.refused(text.replace("1*ds('line')", "u*ds(2)").replace('a = "', 'a = "u*v*ds(3) + '), "forms.a",
                     "'3' lies inside the domain")

    def test_integrals_that_leave_out_facets_inside_warn(self):
        self.row(names={"hot": (1, HOT)})
        report, result = self.solved(FLUX.replace("u*dx(10)", "1*ds('hot')"))
        self.assertAlmostEqual(report["functionals"]["left"], 1, delta=1e-12)
        self.assertIn("functionals.left: 1 of the 2 facets of 'hot' lies inside the domain", result.stderr)
        self.assertEqual(result.stderr.count("lies inside the domain"), 1)
        _, result = self.solved(FLUX)
        self.assertNotIn("inside the domain", result.stderr)

    def test_groups_exist_for_a_use_only_with_members(self):
        self.row(names={"hot": (1, HOT), "body": (2, 10), "none": (1, 30), "nowhere": (2, 31), "tip": (0, 40)})
        for old, new, key, words in (
                ("tags = [1]", 'tags = ["body"]', "dirichlet[0].tags", "'body' is a group of cells (dimension 2)"),
                ("tags = [1]", 'tags = ["none"]', "dirichlet[0].tags", "the group 'none' has no facets"),
                ("tags = [1]", 'tags = ["tip"]', "dirichlet[0].tags", "'tip' is a group of points (dimension 0)"),
                ("u*dx(10)", "u*dx('nowhere')", "functionals.left", "the group 'nowhere' has no cells"),
                ("u*dx(10)", "u*dx('hot')", "functionals.left", "'hot' is a group of facets (dimension 1)"),
                ("u*dx(10)", "u*ds('none')", "functionals.left", "the group 'none' has no facets"),
                ("[forms]", '[coefficients]\nk = { by_tag = { 10 = 1, 11 = 1, nowhere = 2 } }\n[forms]', "coefficients.k.by_tag",
                 "the group 'nowhere' has no cells"),
                ("[forms]", '[[periodic]]\nfrom = "hot"\nto = 2\n[forms]', "periodic[0].from",
                 "1 of the 2 facets of 'hot' lies inside the domain")):
            with self.subTest(new=new):
                self.refused(FLUX.replace(old, new), key, words)

    def test_facets_inside_are_counted_by_rafter_mesh(self):
        self.row(names={"hot": (1, HOT)})
        result = self.run_rafter("mesh", "row.msh", "--json")
        tags = {entry["tag"]: entry for entry in json.loads(result.stdout)["facet_tags"]}
        self.assertEqual((tags[HOT]["count"], tags[HOT]["inner"], tags[COLD]["inner"]), (1, 1, 0))
        self.assertIn("inner facets", self.run_rafter("mesh", "row.msh").stdout)

    # --- parts that touch

    def test_parts_that_touch_are_warned_of(self):
        self.row(facets=((HOT, 0), (COLD, 2)), is_open=True)
        report, result = self.solved(FLUX)
        self.assertAlmostEqual(report["functionals"]["flux"], 0, delta=1e-9)
        for part in ("warning: ", "problem.toml:1:", "a pair of facets of the boundary lies at one place", "2 connected components", "(1, 0.5)",
                     "between quadrilateral 0 at (0.5, 0.5) and quadrilateral 1 at (1.5, 0.5)", "mesh.merge = 1e-09"):
            self.assertIn(part, result.stderr)

    def test_parts_that_touch_are_warned_of_by_rafter_mesh(self):
        for dim in (1, 2, 3):
            self.row(dim, facets=(), is_open=True)
            result = self.run_rafter("mesh", "row.msh")
            self.assertEqual(result.returncode, command_test.DONE)
            self.assertNotIn("no problems found", result.stdout)
            self.assertIn("2 connected components of the mesh touch and share no nodes", result.stdout)
            self.assertEqual(len(json.loads(self.run_rafter("mesh", "row.msh", "--json").stdout)["warnings"]), 1)
            result = self.run_rafter("mesh", "row.msh", "--merge", "1e-9", "--write", "joined.msh")
            self.assertIn("no problems found", result.stdout)
            self.assertIn("no problems found", self.run_rafter("mesh", "joined.msh").stdout)

    def test_merged_nodes_are_one(self):
        for dim in (1, 2, 3):
            for is_mfem in (False, True):
                self.row(dim, n=2, facets=((HOT, 0), (COLD, 2)), is_open=True, is_mfem=is_mfem)
                report, result = self.solved(FLUX.replace('row.msh"', 'row.msh"\nmerge = 1e-9\nrefine = 1'))
                self.assertAlmostEqual(report["functionals"]["flux"], -0.5, delta=1e-8)
                self.assertNotIn("warning: problem.toml", result.stderr)

    def test_lengths_to_merge_at_are_checked(self):
        self.row(facets=((HOT, 0), (COLD, 2)), is_open=True)
        for value, words in (("0.0", "positive length"), ("-1.0", "positive length"), ("nan", "positive length"),
                             ("inf", "positive length"), ('"a"', "positive length"), ("1.0", "the shortest edge, 1, which quadrilateral 0")):
            with self.subTest(value=value):
                self.refused(FLUX.replace('row.msh"', f'row.msh"\nmerge = {value}'), "problem.toml:3:", "mesh.merge", words)
        self.refused(FLUX.replace('file = "row.msh"', "box = { cells = [2, 2] }\nmerge = 1e-9"), "mesh.merge", "mesh.box")
        for value in ("0", "2", "-1"):
            result = self.run_rafter("mesh", "row.msh", "--merge", value)
            self.assertEqual(result.returncode, command_test.WRONG_INPUT)
            self.assertIn("merging at", result.stderr)

    def test_parts_that_touch_with_other_facets_are_reported(self):
        """The facets of one part are halves of those of the other."""
        self.write("""MFEM mesh v1.0

dimension
2

elements
3
1 3 0 1 2 3
1 3 4 5 6 7
1 3 7 6 8 9

boundary
0

vertices
10
2
0 0
1 0
1 1
0 1
1 0
2 0
2 0.5
1 0.5
2 1
1 1
""", "hanging.mesh")
        result = self.run_rafter("mesh", "hanging.mesh")
        self.assertEqual(result.returncode, command_test.WRONG_INPUT)
        self.assertIn("lies inside a facet of quadrilateral 0", result.stdout + result.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    command_test.RAFTER, command_test.SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
