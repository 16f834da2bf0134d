#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`rafter tune` as its users see it: few timings, remembered, taken by the other commands.

usage: tune_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import itertools
import json
import os
import re
import sys
import tempfile
import unittest

import command_test


class Tune(command_test.CommandTest):
    PROBLEM = command_test.POISSON.replace("cells = [3, 3]", "cells = [12, 12]")

    def setUp(self):
        super().setUp()
        self.cache = tempfile.TemporaryDirectory()
        self.addCleanup(self.cache.cleanup)
        command_test.fill_cache(self.cache.name)

    def tune(self, *arguments):
        return self.run_rafter("tune", self.write(self.PROBLEM), *arguments, environment={"XDG_CACHE_HOME": self.cache.name})

    def plans(self, *arguments):
        """Returns the plan lines of `rafter kernel` for the operator's cells and the plan that `rafter solve` reports."""
        environment = {"XDG_CACHE_HOME": self.cache.name}
        kernel = self.run_rafter("kernel", self.write(self.PROBLEM), *arguments, environment=environment)
        self.assertEqual(kernel.returncode, command_test.DONE, kernel.stderr)
        solve = self.run_rafter("solve", self.write(self.PROBLEM), "--json", "report.json", *arguments, environment=environment)
        self.assertEqual(solve.returncode, command_test.DONE, solve.stderr)
        with open(self.path("report.json"), encoding="utf-8") as file:
            reported = json.load(file)["operators"][0]["plan"]
        return self.plan_of(kernel.stdout), reported

    @staticmethod
    def plan_of(text):
        """Returns the full text of the first plan that a command prints, and where it comes from."""
        letter, origin = re.search(r"^  plan ([A-Z]): .* \((\w+)\)$", text, re.MULTILINE).groups()
        (plan,) = re.findall(rf'^  {letter} +\S[^"]*?\n +--plan "([^"]*)"', text, re.MULTILINE)
        return " ".join(plan.split()), origin

    def timed(self, result):
        """Returns how many plans were timed, and the measured times of the table, in its order."""
        self.assertEqual(result.returncode, command_test.DONE, result.stderr)
        found = re.search(r"timed: (\d+) of (\d+) plans", result.stdout)
        table = result.stdout[result.stdout.index("predicted  measured"):]
        rows = [re.split(r"\s{2,}", line) for line in itertools.takewhile(lambda line: re.search(r" [num]?s ", line), table.splitlines()[1:])]
        return int(found.group(1)) if found else 0, [row[2] for row in rows]

    def test_forms_in_time_are_tuned_with_their_matrix(self):
        """The operator of a step has parameters, times and weights, which have no values before a step."""
        self.PROBLEM = """[mesh]
box = { cells = [32, 32], shape = "triangle" }
[fields.u]
degree = 1
[forms]
a = "(dt(u)*v + 0.01*inner(grad(u), grad(v)))*dx"
L = "v*dx"
[time]
step = 0.05
end = 20
"""
        result = self.tune("--threads", "1", "--fresh")
        self.assertEqual(result.returncode, command_test.DONE, result.stderr)
        self.assertIn("assembled matrix: timing its set-up and products", result.stderr)

    def test_times_five_plans_at_most_and_solve_takes_the_fastest(self):
        result = self.tune("--threads", "1")
        count, measured = self.timed(result)
        self.assertTrue(1 <= count <= 5, result.stdout)
        self.assertEqual([time != "-" for time in measured], [True] * count + [False] * (len(measured) - count))
        chosen, _ = self.plan_of(result.stdout)
        (plan, origin), reported = self.plans("--threads", "1")
        self.assertEqual((plan, origin), (chosen, "measured"))
        self.assertIn(chosen, reported)

    def test_second_run_times_nothing(self):
        self.timed(self.tune("--threads", "1"))
        second = self.tune("--threads", "1")
        self.assertEqual(self.timed(second)[0], 0)
        self.assertIn("remembered", second.stdout)
        self.assertNotIn("timing", second.stderr)
        self.assertNotEqual(self.timed(self.tune("--threads", "1", "--fresh"))[0], 0)

    def test_kernels_of_cell_matrices_have_loops_to_choose_from(self):
        all_timed = self.tune("--threads", "1", "--cell-matrices", "--exhaustive")
        self.assertEqual(self.timed(all_timed)[0], 7)  # tables, three orders with derivatives ahead and inside
        for order in ("qss", "sqs", "ssq"):
            self.assertIn(f"order={order} derivatives=inside", all_timed.stdout)
        again = self.tune("--threads", "1", "--cell-matrices")
        self.assertEqual(self.timed(again)[0], 0)
        self.assertEqual(self.plan_of(again.stdout), self.plan_of(all_timed.stdout))
        self.assertNotEqual(self.timed(self.tune("--threads", "1"))[0], 0)  # the operator's kernels have not been timed

    def test_measured_plans_can_be_ignored(self):
        self.timed(self.tune("--threads", "1"))
        (_, origin), _ = self.plans("--threads", "1", "--plan", "predicted")
        self.assertEqual(origin, "predicted")

    def test_a_matrix_is_timed_and_remembered(self):
        problem = command_test.POISSON.replace("cells = [3, 3]", "cells = [300, 300]").replace("quadrilateral", "triangle").replace("degree = 2", "degree = 1")
        arguments = (self.write(problem), "--threads", "1")
        environment = {"XDG_CACHE_HOME": self.cache.name}
        first = self.run_rafter("tune", *arguments, environment=environment)
        self.assertEqual(first.returncode, command_test.DONE, first.stderr)
        self.assertIn("assembled matrix: timing", first.stderr)
        reported = re.search(r"assembled matrix: (taken|not taken): .*, measured", first.stdout).group(0)
        second = self.run_rafter("tune", *arguments, environment=environment)
        self.assertIn(reported, second.stdout)
        self.assertNotIn("timing", second.stderr)
        self.assertIn(reported, self.run_rafter("kernel", *arguments, environment=environment).stdout)

    def test_operators_of_time_steps_are_timed_and_remembered(self):
        environment = {"XDG_CACHE_HOME": self.cache.name}
        for forms in ('a = "(dt(u)*v + inner(grad(u), grad(v)))*dx"\nL = "v*dx"',
                      'F = "(dt(u)*v + (1 + u*u)*inner(grad(u), grad(v)) - v)*dx"'):
            with self.subTest(forms):
                self.PROBLEM = f"""[mesh]
box = {{ cells = [12, 12] }}
[fields.u]
degree = 2
[forms]
{forms}
[[dirichlet]]
tags = "all"
value = 0
[time]
step = 0.1
end = 0.2
"""
                self.assertGreater(self.timed(self.tune("--threads", "1"))[0], 0)
                self.assertEqual(self.timed(self.tune("--threads", "1"))[0], 0)
                kernel = self.run_rafter("kernel", self.write(self.PROBLEM), "--threads", "1", environment=environment)
                self.assertEqual(self.plan_of(kernel.stdout)[1], "measured", kernel.stdout)

    def test_record_holds_every_candidate(self):
        self.timed(self.tune("--threads", "1", "--record", "sweep.json"))
        with open(self.path("sweep.json"), encoding="utf-8") as file:
            sweep = json.load(file)
        (kernel,) = sweep["kernels"]
        self.assertGreater(len(kernel["candidates"]), 5)
        for candidate in kernel["candidates"]:
            self.assertEqual(len(candidate["features"]), len(sweep["feature_names"]))
            self.assertGreater(candidate["seconds"], 0)
            self.assertGreaterEqual(candidate["predicted"], 0.999 * candidate["bound"])

    def test_damaged_store_is_set_aside_with_one_warning(self):
        store = os.path.join(self.cache.name, "rafter", "plans.sqlite")
        with open(store, "w", encoding="utf-8") as file:
            file.write("nonsense" * 1000)
        result = self.tune("--threads", "1")
        self.timed(result)
        self.assertEqual(result.stderr.count("set aside"), 1, result.stderr)
        self.assertTrue(os.path.exists(store + ".damaged"))
        self.assertEqual(self.timed(self.tune("--threads", "1"))[0], 0)

    def test_wrong_problems_are_refused(self):
        self.assert_refused(self.run_rafter("tune", "nowhere.toml"), "nowhere.toml", "no such file")
        self.assert_refused(self.run_rafter("tune", self.write(command_test.POISSON.replace("degree = 2", "degree = 40"))), "fields.u.degree")

    def test_record_into_a_missing_folder_is_refused_before_anything_is_timed(self):
        result = self.run_rafter("tune", self.write(command_test.POISSON), "--record", "nowhere/sweep.json")
        self.assert_refused(result, "--record", "nowhere/sweep.json", "no folder")
        self.assertNotIn("timing", result.stderr)

    def test_devices_that_look_for_faults_are_not_timed(self):
        problem = self.write(command_test.POISSON)
        self.assert_refused(self.run_rafter("tune", problem, "--device", "checked"), "--device checked", "accepted are host")

    def test_a_plan_cannot_be_given(self):
        self.assert_refused(self.run_rafter("tune", self.write(command_test.POISSON), "--plan", "factors=store"), "--plan")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    command_test.RAFTER, command_test.SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
