#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Suites of element matrices: all orders of loops beside the published figures, and the ways to store an operator, also of the command. No
time is judged.

usage: bench_integration_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import itertools
import json
import os
import sys
import unittest

import command_test

TINY = ("--mdofs", "0.001", "--rounds", "1", "--sample-seconds", "0", "--machine", "kept", "--json", "rows.json")
WAYS = ["assembled", "cell-matrices", "stored", "recomputed"]


class Suites(command_test.CommandTest):
    def bench(self, suite, *arguments):
        result = self.run_rafter("bench", suite, *TINY, *arguments)
        self.assertEqual(result.returncode, command_test.DONE, result.stderr + result.stdout)
        self.assertEqual([line for line in result.stdout.splitlines() if len(line) > 120 and not line.startswith("rafter bench")], [])
        with open(self.path("rows.json"), encoding="utf-8") as file:
            return result.stdout, json.load(file)["rows"]

    def test_first_order_integration(self):
        text, rows = self.bench("first-order")
        self.assertEqual([row["order"] for row in rows[:7]], ["tables", "qss", "qss", "sqs", "sqs", "ssq", "ssq"])
        cases = ["tetrahedron-poisson", "tetrahedron-convection", "prism-poisson", "prism-convection"]
        self.assertEqual(list(dict.fromkeys(row["case"] for row in rows)), cases)
        for case in cases:
            self.assertEqual([row["best"] for row in rows if row["case"] == case].count("*"), 1)
        for row in rows:
            self.assertGreater(row["ns"], 0)
            if row["order"] != "tables":
                self.assertLessEqual(row["accesses"], row["paper_accesses"], row)
        self.assertIn("Xeon", text)

    def test_ways_to_store_an_operator(self):
        _, rows = self.bench("storages", "--geometry", "cartesian,curved-tetrahedra", "--degrees", "1", "--cases", "bp1,bp3")
        self.assertEqual([row["way"] for row in rows], 4 * WAYS)
        for row in rows:
            self.assertGreater(row["mdofs_per_second"], 0)
        _, rows = self.bench("storages", "--degrees", "8", "--geometry", "deformed", "--ways", "cell-matrices,recomputed")
        self.assertEqual([row["way"] for row in rows], ["recomputed"], "matrices of so many numbers are not stored")

    def test_values_that_options_do_not_take_are_refused(self):
        self.assert_refused(self.run_rafter("bench", "first-order", "--cases", "stokes"), "--cases", "poisson, convection")
        self.assert_refused(self.run_rafter("bench", "storages", "--ways", "half"), "--ways", "assembled, cell-matrices")


class Command(command_test.CommandTest):
    def ways(self, problem, *arguments):
        result = self.run_rafter("kernel", os.path.join(command_test.SOURCE, "examples", problem), "--storages", *arguments)
        self.assertEqual(result.returncode, command_test.DONE, result.stderr + result.stdout)
        lines = result.stdout[result.stdout.index("ways to store the operator"):].splitlines()
        rows = itertools.takewhile(lambda line: line and not line.startswith(" "), lines[2:])  # the legend is indented
        return [line.split()[0] for line in rows]

    def test_the_kernel_command_has_a_table_of_them(self):
        self.assertEqual(self.ways("poisson.toml", "--set", "fields.u.degree=1"), WAYS)

    def test_forms_with_data_fields_are_timed(self):
        self.assertEqual(self.ways("p-laplacian.toml"), WAYS)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    command_test.RAFTER, command_test.SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
