#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Physical groups as users meet them: groups that overlap, names of several dimensions, and what is in no group.

usage: tags_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import json
import os
import sys
import unittest

import command_test

NODES = "$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 2 0 0\n4 0 1 0\n5 1 1 0\n6 2 1 0\n$EndNodes\n"
NAMES = ((2, 1, "all_cells"), (2, 2, "insert"), (1, 1, "left"), (1, 2, "rim"))
# Two unit squares; the second one is in both groups of cells. Of the facets below, of length 1, the first is in both groups.
OVERLAPS = ("3 2 1 1 1 2 5 4", "3 2 1 2 2 3 6 5", "3 2 2 2 2 3 6 5", "1 2 1 1 1 2", "1 2 2 1 1 2", "1 2 2 2 2 3")
PROBLEM = """[mesh]
file = "two.msh"
[fields.u]
degree = 1
[coefficients]
k = {k}
[forms]
a = "k*inner(grad(u), grad(v))*dx"
L = "{L}"
[[dirichlet]]
tags = {tags}
value = {value}
[solver]
rtol = 1e-12
[functionals]
{functionals}
"""


def gmsh(elements, names=NAMES):
    listed = "".join(f"{i + 1} {element}\n" for i, element in enumerate(elements))
    of_names = "".join(f'{dim} {number} "{name}"\n' for dim, number, name in names)
    return (f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n{len(names)}\n{of_names}$EndPhysicalNames\n{NODES}"
            f"$Elements\n{len(elements)}\n{listed}$EndElements\n")


class TagsTest(command_test.CommandTest):
    def solve(self, elements, functionals, *arguments, names=NAMES, k="1.0", L="v*dx", tags='"all"', value="0.0"):
        self.write(gmsh(elements, names), "two.msh")
        text = "\n".join(f'f{i} = "{functional}"' for i, functional in enumerate(functionals))
        self.write(PROBLEM.format(k=k, L=L, tags=tags, value=value, functionals=text))
        return self.run_rafter("solve", "problem.toml", "--json", "report.json", *arguments)

    def values(self, *arguments, **options):
        result = self.solve(*arguments, **options)
        self.assertEqual(result.returncode, command_test.DONE, result.stderr)
        with open(self.path("report.json"), encoding="utf-8") as file:
            return list(json.load(file)["functionals"].values())

    def assert_values(self, values, expected):
        self.assertEqual(len(values), len(expected))
        for value, right in zip(values, expected):
            self.assertAlmostEqual(value, right, places=10)

    def assert_refused_run(self, result, *fragments):
        self.assertEqual(result.returncode, command_test.WRONG_INPUT, result.stderr)
        for fragment in fragments:
            self.assertIn(fragment, result.stderr)


class Overlaps(TagsTest):
    MEASURES = ("1*dx('insert')", "1*dx('all_cells')", "1*ds('rim')", "1*ds('left')", "1*dx(2)", "1*ds((1, 2))", "1*ds(0)")
    SIZES = (1, 2, 2, 1, 1, 2, 4)

    def test_integrals_reach_all_members_whatever_the_order_of_the_file(self):
        for elements in (OVERLAPS, OVERLAPS[::-1], OVERLAPS[2:] + OVERLAPS[:2]):
            self.assert_values(self.values(elements, self.MEASURES), self.SIZES)
        self.assert_values(self.values(OVERLAPS, self.MEASURES, "--set", "mesh.refine=2"), self.SIZES)

    def test_conditions_hold_on_all_members(self):
        # u = 1 + y: held where y = 0, which is the rim, with du/dn = 1 where y = 1.
        values = self.values(OVERLAPS, ("u*ds('left')", "u*ds('rim')", "u*dx"), L="conditional(gt(x[1], 0.999), 1, 0)*v*ds(0)",
                             tags='["rim"]', value="1.0")
        self.assert_values(values, (1, 2, 3))

    def test_one_cell_has_one_value(self):
        values = self.values(OVERLAPS, ("k*dx",), k="{ by_tag = { all_cells = 3.0 } }")
        self.assert_values(values, (6,))
        values = self.values(OVERLAPS, ("k*dx",), k="{ by_tag = { all_cells = 3.0, insert = 3.0 } }")
        self.assert_values(values, (6,))
        for k in ("{ by_tag = { all_cells = 3.0, insert = 4.0 } }", "{ by_tag = { 1 = 3.0, 2 = 4.0 } }"):
            first, second = ("all_cells", "insert") if "insert" in k else ("1", "2")
            self.assert_refused_run(self.solve(OVERLAPS, ("k*dx",), k=k), "problem.toml:6:", "coefficients.k.by_tag",
                                      "cells with tag 1 (all_cells) + 2 (insert) have two values",
                                      f"one by '{first}' and one by '{second}'")
        self.assert_refused_run(self.solve(OVERLAPS, ("k*dx",), k="{ by_tag = { 2 = 4.0 } }"),
                                  "no value for the cells with tag 1 (all_cells)")

    def test_one_group_has_one_value_by_number_and_by_name(self):
        apart = ("3 2 1 1 1 2 5 4", "3 2 2 2 2 3 6 5")
        self.assert_refused_run(self.solve(apart, ("k*dx",), k="{ by_tag = { 1 = 3.0, insert = 4.0, 2 = 5.0 } }"),
                                  "have two values, one by 'insert' and one by '2'")

    def test_the_mesh_command_lists_them(self):
        self.write(gmsh(OVERLAPS), "two.msh")
        report = json.loads(self.run_rafter("mesh", "two.msh", "--json").stdout)
        self.assertEqual([(tag["tag"], tag["count"]) for tag in report["cell_tags"]], [(1, 2), (2, 1)])
        self.assertEqual([(tag["tag"], tag["count"]) for tag in report["facet_tags"]], [(0, 4), (1, 1), (2, 2)])
        self.assertEqual(report["cell_overlaps"], [{"tags": [1, 2], "count": 1}])
        self.assertEqual(report["facet_overlaps"], [{"tags": [1, 2], "count": 1}])
        text = self.run_rafter("mesh", "two.msh").stdout
        self.assertRegex(text, r"overlapping cell tags +cells\n1 \(all_cells\) \+ 2 \(insert\) +1\n")
        self.assertRegex(text, r"overlapping facet tags +facets\n1 \(left\) \+ 2 \(rim\) +1\n")
        self.write(gmsh(OVERLAPS[:2] + OVERLAPS[3:4]), "two.msh")
        self.assertNotIn("overlapping", self.run_rafter("mesh", "two.msh").stdout)

    def test_files_keep_them_or_are_refused(self):
        self.write(gmsh(OVERLAPS), "two.msh")
        report = json.loads(self.run_rafter("mesh", "two.msh", "--refine", "1", "--json").stdout)
        for options in (("--format", "msh22"), ("--format", "msh41"), ("--format", "msh41", "--binary")):
            result = self.run_rafter("mesh", "two.msh", "--refine", "1", "--write", "copy.msh", *options)
            self.assertEqual((result.returncode, result.stderr), (command_test.DONE, ""))
            copy = json.loads(self.run_rafter("mesh", "copy.msh", "--json").stdout)
            self.assertEqual({**copy, "source": ""}, {**report, "source": ""})
        result = self.run_rafter("mesh", "two.msh", "--write", "copy.mesh")
        self.assert_refused(result, "1 (all_cells) + 2 (insert)", "one attribute")

    def test_repeats_are_warned_of(self):
        self.write(gmsh(OVERLAPS + ("3 2 2 2 2 3 6 5", "1 2 1 1 2 1")), "two.msh")
        result = self.run_rafter("mesh", "two.msh")
        self.assertEqual(result.returncode, command_test.DONE, result.stderr)
        self.assertIn("1 of the cells and 1 of the facets that are listed repeat others", result.stderr)


class Names(TagsTest):
    def test_a_name_may_be_that_of_groups_of_two_dimensions(self):
        names = ((1, 4, "steel"), (2, 5, "steel"))
        elements = ("3 2 5 1 1 2 5 4", "3 2 6 2 2 3 6 5", "1 2 4 1 1 2", "1 2 4 1 2 3")
        self.assert_values(self.values(elements, ("1*dx('steel')", "1*ds('steel')"), names=names), (1, 2))
        self.assert_refused_run(self.solve(elements, ("1*dx('other')",), names=names + ((1, 7, "other"),)),
                                  "'other' is a group of facets (dimension 1); dx integrates over cells (dimension 2)")

    def test_a_group_without_members_is_no_tag(self):
        elements = ("3 2 1 1 1 2 5 4", "3 2 1 2 2 3 6 5", "1 2 1 1 1 2")
        self.assert_refused_run(self.solve(elements, ("1*dx('insert')",)), "functionals.f0", "the group 'insert' has no cells")
        self.assert_refused_run(self.solve(elements, (), tags='["rim"]'), "dirichlet[0].tags", "the group 'rim' has no facets")


class Untagged(TagsTest):
    ELEMENTS = ("3 2 0 1 1 2 5 4", "3 2 2 2 2 3 6 5", "1 2 1 1 1 4")

    def test_the_tag_is_0(self):
        values = self.values(self.ELEMENTS, ("1*dx(0)", "1*dx(2)", "1*ds(0)", "1*ds(1)", "k*dx", "1*dx((0, 2))"),
                             k="{ by_tag = { 0 = 3.0, 2 = 1.0 } }", tags="[0]")
        self.assert_values(values, (1, 1, 5, 1, 4, 2))
        self.assert_refused_run(self.solve(self.ELEMENTS, ("k*dx",), k="{ by_tag = { 2 = 1.0 } }"),
                                  "no value for the cells with tag 0", "0, 2 (insert)")

    def test_conditions_hold_there(self):
        # u = x/2: held at x = 2 and along y = 0 and y = 1, which are in no group, du/dn = -1/2 at x = 0.
        values = self.values(self.ELEMENTS, ("u*dx", "u*ds(1)"), tags="0", value='"x[0]/2"', L="-0.5*v*ds(1)")
        self.assert_values(values, (1, 0))

    def test_where_all_is_tagged_0_is_refused(self):
        elements = ("3 2 1 1 1 2 5 4", "3 2 2 2 2 3 6 5", *(f"1 2 1 1 {ends}" for ends in ("1 2", "2 3", "3 6", "6 5", "5 4", "4 1")))
        self.assert_refused_run(self.solve(elements, ("1*dx(0)",)), "no cells are tagged '0'", "tags 1, 2")
        self.assert_refused_run(self.solve(elements, ("1*ds(0)",)), "no facets are tagged '0'")
        self.assert_refused_run(self.solve(elements, (), tags="[0]"), "dirichlet[0].tags", "no facets are tagged '0'")


class MeshFiles(TagsTest):
    def test_a_mesh_does_not_replace_itself(self):
        self.write(gmsh(OVERLAPS), "two.msh")
        os.symlink("two.msh", self.path("link.msh"))
        os.link(self.path("two.msh"), self.path("hard.msh"))
        os.mkdir(self.path("folder.msh"))
        for source, target in (("two.msh", "two.msh"), ("two.msh", "./folder.msh/../two.msh"), ("two.msh", "link.msh"),
                               ("link.msh", "two.msh"), ("hard.msh", "two.msh"), ("two.msh", self.path("two.msh"))):
            result = self.run_rafter("mesh", source, "--refine", "1", "--write", target)
            self.assert_refused(result, "--write", "is the mesh that is read")
            with open(self.path("two.msh"), encoding="utf-8") as file:
                self.assertEqual(file.read(), gmsh(OVERLAPS))
        self.assertEqual(self.run_rafter("mesh", "two.msh", "--write", "other.msh").returncode, command_test.DONE)

    def test_geometries_are_to_be_meshed_first(self):
        self.write("Point(1) = {0, 0, 0};\n", "part.geo")
        self.write("Point(1) = {0, 0, 0};\n", "part.GEO")
        for name in ("part.geo", "part.GEO", "missing.step", "missing.igs"):
            self.assert_refused_run(self.run_rafter("mesh", name), f'"{name}" is a geometry, not a mesh', f"gmsh -3 {name}")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    command_test.RAFTER, command_test.SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
