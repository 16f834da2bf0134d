#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Suites of element matrices: all orders of loops beside the published figures, and the ways to store an operator, also of the command. No
time is judged.

usage: bench_integration_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import itertools
import json
import os
import re
import sys
import unittest

import command_test
from cases import exhaustive

TINY = ("--mdofs", "0.001", "--rounds", "1", "--sample-seconds", "0", "--machine", "kept", "--json", "rows.json")
WAYS = ["assembled", "cell-matrices", "stored", "recomputed"]


class Suites(command_test.CommandTest):
    def bench(self, suite, *arguments):
        result = self.run_rafter("bench", suite, *TINY, *arguments)
        self.assertEqual(result.returncode, command_test.DONE, result.stderr + result.stdout)
        self.assertEqual([line for line in result.stdout.splitlines() if len(line) > 120 and not line.startswith("rafter bench")], [])
        with open(self.path("rows.json"), encoding="utf-8") as file:
            return result.stdout, json.load(file)["rows"]

    def machine(self):
        with open(self.path("rows.json"), encoding="utf-8") as file:
            return json.load(file)["machine"]

    def test_first_order_integration(self):
        text, rows = self.bench("first-order", "--plot", "figures.svg")
        self.assertEqual([row["order"] for row in rows[:7]], ["tables", "qss", "qss", "sqs", "sqs", "ssq", "ssq"])
        cases = ["tetrahedron-poisson", "tetrahedron-convection", "prism-poisson", "prism-convection"]
        self.assertEqual(list(dict.fromkeys(row["case"] for row in rows)), cases)
        for case in cases:
            self.assertEqual([row["best"] for row in rows if row["case"] == case].count("*"), 1)
        for row in rows:
            self.assertGreater(row["ns"], 0)
            if row["order"] != "tables":
                self.assertLessEqual(row["accesses"], row["paper_accesses"], row)
        for title in ("published", "estimates", "numbers of a cell", "shared memory", "figure 4", "figure 5", "a core in use"):
            self.assertIn(title, text)
        with open(self.path("figures.svg"), encoding="utf-8") as file:
            plots = file.read()
        for name in ("figure 3", "figure 4", "figure 5", "this machine", "a core of this machine", "2 x Xeon E5-2620", "Xeon Phi 5110P",
                     "Tesla K20m"):
            self.assertIn(name, plots)
        self.check_estimates(rows)
        self.check_words(rows)
        self.check_best(rows)

    def check_estimates(self, rows):
        machine = self.machine()
        stream, product = machine["levels"][-1]["triad"]["one_core"], machine["matrix_product"]["one_core"]
        for row in rows:
            estimate = 1e9 * max(8 * row["accesses"] / stream, row["operations"] / product)
            self.assertAlmostEqual(row["estimate_ns"] / estimate, 1, 9, row)
            self.assertAlmostEqual(row["estimate_share"] * row["ns"] / estimate, 1, 9, row)
        prism = next(row for row in rows if row["case"] == "prism-poisson" and row["order"] == "ssq")
        self.assertEqual([prism[f"paper_{key}_estimate_ns"] for key in ("xeon", "phi", "kepler")], [304.87, 57.87, 49.89])
        self.assertEqual([prism[f"paper_{key}_ns"] for key in ("xeon", "phi", "kepler")], [385.33, 101.2, 94.99])

    def check_words(self, rows):
        nodes, least = {"tetrahedron": 12, "prism": 18}, {}
        for row in rows:
            shape, problem = row["case"].split("-")
            coefficients = 16 if problem == "convection" else 0
            self.assertEqual(row["input_words"], nodes[shape] + coefficients, row)
            size = {"tetrahedron": 4, "prism": 6}[shape]
            self.assertEqual(row["output_words"], size * (size + 1) // 2 if problem == "poisson" else size * size, "halves of symmetric matrices")
            self.assertEqual(row["accesses"], row["input_words"] + row["output_words"], row)
            self.assertAlmostEqual(row["work_words"], sum(array["words"] for array in row["work_arrays"]), 9, row)
            self.assertNotIn("to_device_ns", row, "the host copies nothing")
            self.assertNotIn("to_host_ns", row)
            if shape == "prism" and row["order"] != "tables":
                least[row["case"], row["order"]] = min(row["work_words"], least.get((row["case"], row["order"]), row["work_words"]))
            if row["order"] == "qss":
                self.assertLess(row["paper_work_words"], row["paper_all_points_words"], row)
            if row["order"] == "sqs":
                self.assertNotIn("paper_work_words", row, "the paper has none")
        for case in ("prism-poisson", "prism-convection"):  # the less is computed at once, the less is held
            words = [least[case, order] for order in ("ssq", "sqs", "qss")]
            self.assertEqual(words, sorted(words), case)
            self.assertGreater(words[0], 0)

    def check_best(self, rows):
        for row in rows:
            self.assertEqual("best_gflops" in row, row["best"] == "*", row)
            if row["best"] == "*":
                self.assertAlmostEqual(row["best_gflops"], row["operations"] / row["ns"], 9)
                self.assertAlmostEqual(row["best_gbytes_per_second"], 8 * row["accesses"] / row["ns"], 9)
                self.assertEqual(row["best_core_gflops"], row["best_gflops"], "one thread")

    def test_ways_to_store_an_operator(self):
        _, rows = self.bench("storages", "--geometry", "cartesian,curved-tetrahedra", "--degrees", "1", "--cases", "bp1,bp3")
        self.assertEqual([row["way"] for row in rows], 4 * WAYS)
        for row in rows:
            self.assertGreater(row["mdofs_per_second"], 0)
        _, rows = self.bench("storages", "--degrees", "8", "--geometry", "deformed", "--ways", "cell-matrices,recomputed")
        self.assertEqual([row["way"] for row in rows], ["recomputed"], "matrices of so many numbers are not stored")

    @unittest.skipUnless(exhaustive(True), "every variant is compiled")
    def test_first_order_integration_by_all_keys_of_items(self):
        if "works" not in re.findall(r"^opencl:\d+ +(\S+)", self.run_rafter("doctor").stdout, re.MULTILINE):
            self.skipTest("this machine has no OpenCL device")
        _, rows = self.bench("first-order", "--variants", "all", "--device", "opencl", "--cases", "poisson", "--geometry", "curved-tetrahedra")
        self.assertEqual(len(rows), 7 + 6 * (6 + 30))
        self.assertEqual(len({(row["order"], row["derivatives"], row["items"]) for row in rows}), len(rows))
        self.assertEqual([row["items"] for row in rows[:7]], [""] * 7)
        for workspace in ("none", "geometry", "coefficients", "shapes", "matrix"):
            self.assertEqual(sum(f"workspace={workspace} " in row["items"] for row in rows), 36)

    def test_values_that_options_do_not_take_are_refused(self):
        self.assert_refused(self.run_rafter("bench", "first-order", "--variants", "all"), "--variants all", "no groups of items")
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
