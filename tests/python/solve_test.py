#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How solves end, and what is left of those that fail.

usage: solve_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import json
import os
import subprocess
import sys
import unittest

import command_test


class FailedSolves(command_test.CommandTest):
    """These solves end without convergence."""

    def solve(self, *overrides):
        sets = [argument for text in overrides for argument in ("--set", text)]
        return self.run_rafter("solve", self.write(command_test.POISSON), "--json", "report.json", "--set",
                               "output.file=u.vtkhdf", "--set", "solver.max_iterations=2", *sets)

    def test_nothing_is_written_unless_asked_for(self):
        result = self.solve()
        self.assertEqual(result.returncode, command_test.NOT_SOLVED)
        self.assertFalse(os.path.exists(self.path("u.vtkhdf")))

    def test_the_last_iterate_is_written_on_request(self):
        result = self.solve("output.on_failure=true")
        self.assertEqual(result.returncode, command_test.NOT_SOLVED)
        self.assertIn("u.vtkhdf (the last iterate", result.stdout)
        self.assertTrue(os.path.exists(self.path("u.vtkhdf")))
        with open(self.path("report.json"), encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual(report["status"], "not converged")
        self.assertEqual(report["functionals"], {})

    def test_residuals_of_a_solve_that_ends_early_are_relative_to_loads_and_reactions(self):
        result = self.solve('dirichlet=[{tags="all", value="1e6*x[0]"}]')
        self.assertEqual(result.returncode, command_test.NOT_SOLVED)
        with open(self.path("report.json"), encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual(report["residual"], report["residuals"]["residual"])
        self.assertGreater(report["residual"], 1.1*report["residuals"]["of_first_residual"])

    def test_both_norms_of_the_residual_are_told(self):
        result = self.solve("solver.max_iterations=100")
        self.assertEqual(result.returncode, command_test.DONE)
        self.assertRegex(result.stdout, r"relative residual \S+ in the 2-norm \(\S+ in the preconditioned norm\)")
        with open(self.path("report.json"), encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual(report["residuals"]["norm"], "residual")
        self.assertEqual(report["residuals"]["residual"], report["residual"])
        self.assertLess(0, report["residuals"]["preconditioned"])


class NonlinearSolves(command_test.CommandTest):
    """The command reports Newton's method."""

    def solve(self, *overrides):
        path = os.path.join(command_test.SOURCE, "examples", "neo-hookean.toml")
        return self.run_rafter("solve", path, *(argument for text in overrides for argument in ("--set", text)))

    def test_the_tail_of_the_residuals_is_printed_with_its_order(self):
        result = self.solve("newton.rtol=1e-10")
        self.assertEqual(result.returncode, command_test.DONE, result.stderr)
        rows = [line.split() for line in result.stdout.splitlines() if line.startswith("          1  ")]
        residuals = [float(row[1]) for row in rows]
        self.assertLess(residuals[-1], 1e-10)
        self.assertEqual(len(rows[-1]), 3) # load factor, residual and order are all, since no step follows
        orders = [float(row[2]) for row in rows[3:]]
        self.assertGreater(max(orders), 1.7)
        self.assertEqual({row[3] for row in rows[3:-1]}, {"1"}) # these are full steps

    def test_a_body_that_nothing_holds_is_refused(self):
        result = self.solve("dirichlet=[]")
        self.assertEqual(result.returncode, command_test.WRONG_INPUT)
        self.assertIn("forms.F does not see constants of component 0 of u", result.stderr)
        self.assertNotIn("[[constraint]]", result.stderr) # constraints are for linear problems

    def test_compression_beyond_nothing_names_the_cell(self):
        result = self.solve("dirichlet.1.value=[0.0, 0.0, -1.2]", "mesh.box.cells=[2, 2, 2]")
        self.assertEqual(result.returncode, command_test.NOT_SOLVED)
        self.assertIn("no finite value of 'u' in hexahedron", " ".join((result.stdout + result.stderr).split()))


class StandardError(command_test.CommandTest):
    def test_one_that_cannot_be_written_costs_no_results(self):
        for redirection in ("2>&-", "2>full"):
            with self.subTest(redirection):
                command = f'ln -sf /dev/full full; exec "$0" solve "$1" --json r.json {redirection}'
                arguments = ["bash", "-c", command, command_test.RAFTER, self.write(command_test.POISSON)]
                result = subprocess.run(arguments, cwd=self.directory.name, stdout=subprocess.PIPE, check=False,
                                        timeout=command_test.PATIENCE_SECONDS)
                self.assertEqual(result.returncode, command_test.DONE)
                self.assertTrue(os.path.exists(self.path("r.json")))
                os.remove(self.path("r.json"))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    command_test.RAFTER, command_test.SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
