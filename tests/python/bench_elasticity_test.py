#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the suites of elasticity take and say: algebraic multigrid, coarse solver, precision and norm of solves, and kernels that solve an
easier problem than a paper's. No time is judged.

usage: bench_elasticity_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import json
import os
import re
import sys
import unittest
import xml.etree.ElementTree

import command_test

TINY = ("--mdofs", "0.002", "--rounds", "1", "--sample-seconds", "0", "--machine", "kept", "--json", "rows.json")
MISSING = {"RAFTER_HYPRE_MODULE": "missing.so"}
TEXT = "{http://www.w3.org/2000/svg}text"


class ElasticityBench(command_test.CommandTest):
    def bench(self, suite, *arguments, environment=None):
        """The output, and the rows by the first two parts of their identity."""
        result = self.run_rafter("bench", suite, *TINY, *arguments, environment=environment)
        self.assertEqual(result.returncode, command_test.DONE, result.stderr + result.stdout)
        self.assertEqual([line for line in result.stdout.splitlines() if len(line) > 120 and not line.startswith("rafter bench")], [])
        with open(self.path("rows.json"), encoding="utf-8") as file:
            rows = json.load(file)["rows"]
        return result.stdout, {(row.get("solver", row.get("step")), row["degree"]): row for row in rows}

    def solves(self, *arguments, degrees="2", environment=None):
        text, rows = self.bench("elasticity-solve", "--degrees", degrees, *arguments, environment=environment)
        for row in rows.values():
            self.assertEqual(row["end"], "cut off" if row["solver"] == "pa_jac" else "met", row)
        return text, rows

    def plots(self, *arguments):
        """Titles of the plots, and all their texts."""
        self.bench("elasticity-kernel", *arguments, "--plot", "plot.svg")
        return [element.text for element in xml.etree.ElementTree.parse(self.path("plot.svg")).iter(TEXT)]


class Solves(ElasticityBench):
    def test_values_that_options_do_not_take_are_refused(self):
        for option, value, accepted in (("--amg", "agregation", "boomeramg, aggregation"), ("--coarse", "direct", "auto, boomeramg"),
                                        ("--precision", "half", "double, single"), ("--norm", "energy", "preconditioned, residual")):
            self.assert_refused(self.run_rafter("bench", "elasticity-solve", option, value), option, f"'{value}' is unknown", accepted)
            self.assert_refused(self.run_rafter("bench", "poisson-solve", option, value), f"unknown option '{option}'")

    def test_aggregates_are_named_and_do_not_claim_to_be_the_papers(self):
        text, rows = self.solves("--amg", "aggregation", "--solvers", "fa_amg,fa_gmg,pa_jac,pa_gmg")
        amg = rows["fa_amg", 2]
        self.assertEqual((amg["amg"], amg["paper"]), ("aggregation", "(fa_amg)"))
        self.assertIn("aggregates 1", amg["preconditioner"])
        self.assertRegex(text, r"(?m)^fa_amg +2 .*  aggregation  ")
        for solver in ("fa_gmg", "pa_gmg"):  # the coarsest level has few unknowns, which are solved by factors
            self.assertNotIn("amg", rows[solver, 2])
            self.assertEqual(rows[solver, 2]["paper"], f"({solver})")
            self.assertIn("factors", rows[solver, 2]["preconditioner"])
        self.assertEqual(rows["pa_jac", 2]["paper"], "pa_jac")

    def test_boomeramg_is_the_papers_where_it_is_there(self):
        self.require_hypre()
        text, rows = self.solves("--solvers", "fa_amg,pa_gmg,rafter", degrees="1,2")
        named, explicit = self.solves("--solvers", "fa_amg", "--amg", "boomeramg", degrees="1,2")
        for (solver, degree), row in explicit.items():
            self.assertEqual(row["iterations"], rows[solver, degree]["iterations"])  # it is the default
            self.assertEqual((row["amg"], row["paper"]), ("boomeramg", "fa_amg"))
            self.assertIn("BoomerAMG of hypre", row["preconditioner"])
            self.assertLessEqual(row["iterations"], 60)
        self.assertNotIn("Rafter's smoothed aggregation", text + named)
        self.assertRegex(named, r"(?m)^fa_amg +2 .*  boomeramg  ")

    def test_the_papers_coarse_solver_takes_as_many_iterations_as_factors(self):
        self.require_hypre()
        _, factors = self.solves("--solvers", "fa_gmg,pa_gmg,paop_gmg,rafter")
        _, rows = self.solves("--solvers", "fa_amg,fa_gmg,pa_gmg,paop_gmg,rafter", "--coarse", "boomeramg", "--amg", "aggregation")
        for solver, paper in (("fa_gmg", "fa_gmg"), ("pa_gmg", "pa_gmg"), ("paop_gmg", "paop_gmg"), ("rafter", None)):
            row = rows[solver, 2]
            self.assertEqual((row["amg"], row.get("paper")), ("boomeramg", paper))
            self.assertIn("conjugate gradients to 0.01 in at most 10 iterations, with algebraic multigrid: BoomerAMG", row["preconditioner"])
            self.assertLessEqual(abs(row["iterations"] - factors[solver, 2]["iterations"]), 1)
        self.assertEqual(rows["fa_amg", 2]["amg"], "aggregation")

    def test_without_the_adapter_aggregates_take_its_place_unless_it_is_asked_for(self):
        text, rows = self.solves("--solvers", "fa_amg,pa_gmg", environment=MISSING)
        self.assertEqual((rows["fa_amg", 2]["amg"], rows["fa_amg", 2]["paper"]), ("aggregation", "(fa_amg)"))
        note = "fa_amg takes Rafter's smoothed aggregation and not the paper's"
        self.assertIn(note, text)
        text, _ = self.solves("--solvers", "pa_gmg", environment=MISSING)
        self.assertNotIn(note, text)  # no row has any
        for option in ("--amg", "--coarse"):
            result = self.run_rafter("bench", "elasticity-solve", *TINY, option, "boomeramg", environment=MISSING)
            self.assertEqual(result.returncode, command_test.ENVIRONMENT, result.stderr)
            self.assertRegex(result.stderr, rf"bench elasticity-solve: {option} boomeramg: BoomerAMG is not available.*rafter.sh build")
            self.assertEqual(result.stdout, "")

    def test_the_steps_of_table_7_take_as_many_iterations(self):
        steps = {"qvec_gmg": "baseline", "c1_gmg": "C1", "c2_gmg": "C2", "c3_gmg": "C3", "paop_gmg": "paop_gmg"}
        _, rows = self.solves("--solvers", ",".join(steps))
        self.assertEqual(len({row["iterations"] for row in rows.values()}), 1, rows)
        self.assertIn("contraction=slice-wise", rows["paop_gmg", 2]["plan"])
        for solver in ("qvec_gmg", "c1_gmg", "c2_gmg"):  # two loops: two kernels of the hexahedra
            self.assertEqual(len(rows[solver, 2]["kernels"]), 2)
            self.assertNotIn("paper", rows[solver, 2])  # table 7 is of degree 8
        _, rows = self.solves("--solvers", "c1_gmg,c2_gmg,c3_gmg,paop_gmg", degrees="8")
        self.assertEqual({solver: (row["paper"], row["paper_total_seconds"]) for (solver, _), row in rows.items()},
                         {"c1_gmg": ("(C1)", 24.24), "c2_gmg": ("(C2)", 19.2), "c3_gmg": ("(C3)", 13), "paop_gmg": ("(paop_gmg)", 10.35)})
        for solver in ("c1_gmg", "c2_gmg", "c3_gmg"):
            self.assertNotIn("paper_seconds", rows[solver, 8])  # but for the total

    def test_levels_in_single_precision_take_as_many_iterations(self):
        arguments = ("--solvers", "fa_gmg,pa_jac,pa_gmg,c3_gmg,paop_gmg,rafter")
        _, double = self.solves(*arguments, degrees="2,4")
        _, single = self.solves(*arguments, "--precision", "single", degrees="2,4")
        precisions = {"pa_jac": None, "fa_gmg": "double"}  # without levels, and with matrices, whose vectors are in double precision
        for key, row in single.items():
            self.assertEqual(row.get("level_precision"), precisions.get(row["solver"], "single"))
            self.assertEqual(double[key].get("level_precision"), precisions.get(row["solver"], "double"))
            self.assertLessEqual(abs(row["iterations"] - double[key]["iterations"]), 1, key)
            self.assertEqual(row.get("num_levels"), double[key].get("num_levels"))
            self.assertLessEqual(abs(row["finest_applications"] - double[key]["finest_applications"]), 8)
            self.assertEqual(row["plan"], double[key]["plan"])  # that of the operator outside, which stays in double
            if row.get("level_precision") == "single" and "paper" in row:
                self.assertRegex(row["paper"], r"^\(")

    def test_the_norm_that_ends_solves_is_named(self):
        texts, iterations = [], []
        for norm in ("preconditioned", "residual"):
            text, rows = self.solves("--solvers", "pa_jac,pa_gmg", "--jacobi-iterations", "20", "--norm", norm)
            self.assertEqual({row["norm"] for row in rows.values()}, {norm})
            self.assertEqual(rows["pa_jac", 2]["paper"], "pa_jac" if norm == "preconditioned" else "(pa_jac)")
            texts.append(text)
            iterations.append(rows["pa_gmg", 2]["iterations"])
        self.assertIn("iterations to 1e-6 in the preconditioned norm", texts[0])
        self.assertIn("iterations to 1e-6 in the 2-norm of the residual", texts[1])
        self.assertGreater(iterations[1], iterations[0])


class Kernels(ElasticityBench):
    def test_separable_kernels_are_named_and_left_out_beside_the_papers_figures(self):
        steps = ("--degrees", "2", "--steps", "c3,planned")
        text, rows = self.bench("elasticity-kernel", *steps)
        self.assertIn("contraction=separable", rows["planned", 2]["plan"])
        self.assertEqual({step: (row["is_separable"], row["paper"]) for (step, _), row in rows.items()},
                         {"c3": (False, "+ fusion"), "planned": (True, "separable")})
        self.assertRegex(text, r"(?m)^planned .*  separable  ")
        texts = self.plots(*steps)
        series = [text for text in texts if re.match(r"(c3|planned) cartesian$", text or "")]
        self.assertEqual((series.count("c3 cartesian"), series.count("planned cartesian")), (3, 1))
        alone = " ".join(filter(None, self.plots("--degrees", "2", "--steps", "planned")))
        self.assertNotIn("figure", alone)
        self.assertIn("speed-up over the first row", alone)
        _, rows = self.bench("elasticity-kernel", *steps, "--geometry", "deformed")
        self.assertEqual({row["is_separable"] for row in rows.values()}, {False})

    def test_slices_take_fewer_operations_and_less_memory_than_the_papers_kernel(self):
        _, rows = self.bench("elasticity-kernel", "--degrees", "2,4", "--steps", "lanes,paop")
        for degree in (2, 4):
            row, lanes = rows["paop", degree], rows["lanes", degree]
            self.assertIn("contraction=slice-wise", row["plan"])
            self.assertLess(row["difference"], 1e-14 * (degree + 2) ** 2)
            self.assertLess(row["executed_flops_per_dof"], lanes["executed_flops_per_dof"])  # what derivatives share is contracted once
            self.assertLess(row["executed_flops_per_dof"], row["paper_flops_per_dof"])
            papers = sum(array["bytes"] for array in row["paper_work_arrays"])
            self.assertLess(sum(array["bytes"] for array in row["work_arrays"]), 8 * papers / 2)  # for eight cells side by side
            # Gradients and stresses of a line alone: nothing of three components is kept at all points of a cell, nor nine numbers of a layer.
            in_cell = [array["bytes"] for array in row["work_arrays"] if array["lives_in"] == "batch"]
            self.assertLessEqual(sum(in_cell), 8 * 8 * 6 * (degree + 2) ** 2 * (degree + 1))

    def test_speed_ups_of_table_7_stand_beside_degree_8(self):
        text, rows = self.bench("elasticity-kernel", "--degrees", "4,8", "--steps", "c2,c3,paop", "--mdofs", "0.0001")
        self.assertAlmostEqual(rows["c2", 8]["paper_speed_up"] / rows["c3", 8]["paper_speed_up"], 5.38 / 11.55)
        self.assertAlmostEqual(rows["paop", 8]["paper_marginal_speed_up"], 5.38 / 2.74)
        for key in ("paper_speed_up", "paper_marginal_speed_up"):
            self.assertNotIn(key, rows["c3", 4])
        self.assertRegex(text, r"(?m)^c3 .* 27[.]60 +2[.]15 ")
        self.assertRegex(text, r"(?m)^paop .* 54[.]19 +1[.]96 ")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    command_test.RAFTER, command_test.SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
