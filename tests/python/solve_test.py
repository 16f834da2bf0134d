#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How solves end, what is refused as singular, and what is left of solves that fail.

usage: solve_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

import command_test
from command_test import DONE, NOT_SOLVED, POISSON


class Solving(command_test.CommandTest):
    def test_floats_solve_to_their_own_digits(self):
        plan = ["--plan", "factors=recompute compute=float accumulate=float"]
        rough = self.changed("1.0e-11", "1.0e-5").replace("1.0e-9", "1.0e-4")
        result = self.run_rafter("solve", self.write(rough), *plan)
        self.assertEqual(result.returncode, DONE, result.stderr + result.stdout)
        result = self.run_rafter("solve", self.write(POISSON), *plan)
        self.assertEqual(result.returncode, NOT_SOLVED, result.stderr + result.stdout)

    def without_condition(self):
        return re.sub(r"\[\[dirichlet\]\]\n.*\n.*\n", "", POISSON)

    def test_pure_neumann_problem_is_singular(self):
        self.refused(self.without_condition(), "singular", "constants of u", "[[constraint]]", "mean = 0.0")

    def test_free_elastic_body_is_singular(self):
        text = self.without_condition().replace("degree = 2", "degree = 2\ncomponents = 2").split("[check]")[0]
        text = text.replace("k*inner(grad(u), grad(v))*dx", "inner(sym(grad(u)), sym(grad(v)))*dx")
        self.refused(text.replace('L = "2*k*v*dx"', ""), "singular", "component 1 of u", "rotations of u")

    def test_periodic_sides_are_no_boundary(self):
        periodic = POISSON.replace("[fields.u]", '[[periodic]]\nfrom = "xmin"\nto = 2\n[fields.u]')
        self.refused(periodic, "dirichlet[0].tags", "tag 1 (xmin) are periodic")
        periodic = periodic.replace('["xmin", "xmax"]', '"all"')
        self.refused(periodic.replace("2*k*v*dx", "2*k*v*ds('xmax')"), "forms.L", "tag 2 (xmax) are periodic")
        self.refused(periodic.replace("[fields.u]", '[[periodic]]\nfrom = [3]\nto = "ymax"\n[fields.u]'),
                     "dirichlet[0].tags", "all its outer facets are periodic")
        self.refused(periodic.replace("to = 2", 'to = ["xmay"]'), "periodic[0].to", "did you mean 'xmax'")
        self.refused(periodic.replace("to = 2", 'to = "ymax"'), "problem.toml:4:1: periodic:", "no translate of 'xmin'")
        self.refused(periodic.replace("[3, 3]", "[1, 3]"), "periodic:", "at least two cells")
        result = self.run_rafter("solve", self.write(periodic.split("[check]")[0].replace("[3, 3]", "[2, 3]")))
        self.assertEqual(result.returncode, DONE, result.stderr)

    def test_coupled_fields_that_share_a_constant_are_singular(self):
        text = self.without_condition().replace("[coefficients]", "[fields.w]\n[coefficients]").split("[check]")[0]
        text = text.replace("k*inner(grad(u), grad(v))*dx",
                            "(inner(grad(u), grad(v_u)) + inner(grad(w), grad(v_w)) + (u - w)*(v_u - v_w))*dx")
        self.refused(text.replace("2*k*v*dx", "v_u*dx"), "singular")

    def test_fields_may_appear_in_any_order(self):
        text = self.without_condition().replace("[coefficients]", "[fields.w]\n[coefficients]").split("[check]")[0]
        text = text.replace("2*k*v*dx", "v_u*dx").replace(
            "k*inner(grad(u), grad(v))*dx",
            "(w*v_u + inner(grad(u), grad(v_u)) + 2*u*v_u + inner(grad(w), grad(v_w)) + 2*w*v_w + u*v_w)*dx")
        result = self.run_rafter("solve", self.write(text))
        self.assertEqual(result.returncode, DONE, result.stderr)

    def test_reaction_term_makes_the_neumann_problem_regular(self):
        text = self.without_condition().replace("k*inner(grad(u), grad(v))*dx",
                                                "(inner(grad(u), grad(v)) + 1.0e-4*u*v)*dx").replace("1.0e-11", "1.0e-6").split("[check]")[0]
        result = self.run_rafter("solve", self.write(text))
        self.assertEqual(result.returncode, DONE, result.stderr)

    def test_cg_refuses_an_operator_that_is_not_symmetric(self):
        text = self.changed("k*inner(grad(u), grad(v))*dx", "(inner(grad(u), grad(v)) + 0.01*u.dx(0)*v)*dx")
        for method in ("cg", "minres"):
            self.refused(text, "not symmetric", f'"{method}"', 'method = "gmres"', '"direct"',
                         arguments=["--set", f"solver.method={method}"])

    def test_too_few_iterations(self):
        report = self.report(POISSON, sets=["solver.max_iterations=2", "output.file=u.vtkhdf"], code=NOT_SOLVED)
        self.assertEqual(report["status"], "not converged")
        self.assertEqual(report["iterations"], 2)
        self.assertFalse(os.path.exists(self.path("u.vtkhdf")))

    def test_indefinite_operator(self):
        text, plain = self.changed("k = 2.0", "k = -2.0"), "solver.preconditioner=none"
        _, result = self.solved(text, sets=[plain, "solver.method=cg"], code=NOT_SOLVED)
        self.assertIn("definite", result.stdout)
        report = self.report(text, sets=[plain])  # no method is given
        self.assertEqual(report["method"], "direct")
        self.assertIn("p.Ap <= 0", report["reason"])
        self.assertEqual(report["factors"]["kind"], "L D L^T")
        self.assertGreater(report["factors"]["negative_pivots"], 0)

    def test_failed_check(self):
        text = self.changed('[check]\nu = "x[0]*(1 - x[0])"', '[check]\nu = "x[0]"')
        report, result = self.solved(text, code=NOT_SOLVED)
        self.assertIn("failed check", result.stdout)
        self.assertEqual(report["status"], "failed check")

    def test_first_solves_tell_which_kernels_are_compiled(self):
        with tempfile.TemporaryDirectory() as cache:
            command_test.fill_cache(cache)
            arguments = ["solve", self.write(POISSON)]
            first, second = (self.run_rafter(*arguments, environment={"XDG_CACHE_HOME": cache}) for _ in range(2))
        for result in (first, second):
            self.assertEqual(result.returncode, DONE, result.stderr)
            self.assertNotIn("compiling", result.stdout)
        progress = [tuple(map(int, numbers)) for numbers in re.findall(r"^compiling (\d+) of (\d+) kernels$", first.stderr, re.M)]
        count = progress[0][1]
        self.assertEqual(progress[0], (1, count))
        self.assertEqual(progress[-1], (count, count))
        self.assertEqual(progress, sorted(progress))
        self.assertNotIn("compiling", second.stderr)

    def test_interrupt_stops_cleanly(self):
        text = self.changed("cells = [3, 3]", "cells = [200, 200]").replace("rtol = 1.0e-11", "rtol = 1.0e-14\n"
                            "max_iterations = 100000000\npreconditioner = \"none\"").replace("degree = 2", "degree = 8")
        process = subprocess.Popen([command_test.RAFTER, "solve", self.write(text), "--set", "output.file=u.vtkhdf", "--json",
                                    "r.json"], cwd=self.directory.name, stderr=subprocess.PIPE, text=True,
                                   stdout=subprocess.DEVNULL)
        for line in process.stderr:
            if line.startswith("setup"):
                break
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=command_test.PATIENCE_SECONDS)[1]
        self.assertEqual(process.returncode, NOT_SOLVED, rest)
        self.assertIn("stopped by a signal", rest)
        self.assertEqual(sorted(os.listdir(self.directory.name)), ["problem.toml"])


class FailedSolves(command_test.CommandTest):
    """These solves end without convergence."""

    def few_iterations(self, *sets, code=NOT_SOLVED, arguments=()):
        return self.solved(POISSON, *arguments, sets=["output.file=u.vtkhdf", "solver.max_iterations=2", *sets], code=code)

    def test_nothing_is_written_unless_asked_for(self):
        self.few_iterations()
        self.assertFalse(os.path.exists(self.path("u.vtkhdf")))

    def test_the_last_iterate_is_written_on_request(self):
        report, result = self.few_iterations("output.on_failure=true")
        self.assertIn("u.vtkhdf (the last iterate", result.stdout)
        self.assertTrue(os.path.exists(self.path("u.vtkhdf")))
        self.assertEqual(report["status"], "not converged")
        self.assertEqual(report["functionals"], {})

    def test_residuals_of_a_solve_that_ends_early_are_relative_to_loads_and_reactions(self):
        report, _ = self.few_iterations('dirichlet=[{tags="all", value="1e6*x[0]"}]')
        self.assertEqual(report["residual"], report["residuals"]["residual"])
        self.assertGreater(report["residual"], 1.1*report["residuals"]["of_first_residual"])

    def test_both_norms_of_the_residual_are_reported_in_detail(self):
        report, result = self.few_iterations("solver.max_iterations=100", code=DONE, arguments=["--verbose"])
        self.assertRegex(result.stdout, r"relative residual \S+ in the 2-norm \(\S+ in the preconditioned norm\)")
        self.assertEqual(report["residuals"]["norm"], "residual")
        self.assertEqual(report["residuals"]["residual"], report["residual"])
        self.assertLess(0, report["residuals"]["preconditioned"])


class NonlinearSolves(command_test.CommandTest):
    """The command reports Newton's method."""

    def hyperelastic(self, *arguments, **options):
        return self.solved_file(os.path.join(command_test.SOURCE, "examples", "neo-hookean.toml"), *arguments, **options)

    def test_the_tail_of_the_residuals_is_printed_with_its_order(self):
        _, result = self.hyperelastic("--verbose", sets=["newton.rtol=1e-10"])
        rows = [line.split() for line in result.stdout.splitlines() if line.startswith("          1  ")]
        residuals = [float(row[1]) for row in rows]
        self.assertLess(residuals[-1], 1e-10)
        self.assertEqual(len(rows[-1]), 3) # load factor, residual and order are all, since no step follows
        orders = [float(row[2]) for row in rows[3:]]
        self.assertGreater(max(orders), 1.7)
        self.assertEqual({row[3] for row in rows[3:-1]}, {"1"}) # these are full steps

    def test_residuals_of_the_last_load_step_are_in_the_short_report(self):
        report, result = self.hyperelastic(sets=["newton.load_steps=2"])
        reported = re.search(r"^newton: 2 load steps of .* at load factor 1: (.*)$", " ".join(result.stdout.split("\n        ")), re.M).group(1)
        last = [step["residual"] for step in report["newton"]["steps"] if step["load_factor"] == 1]
        self.assertEqual(reported.split(), [f"{residual:.1e}" for residual in last])

    def test_a_body_that_nothing_holds_is_refused(self):
        path = os.path.join(command_test.SOURCE, "examples", "neo-hookean.toml")
        result = self.run_rafter("solve", path, "--set", "dirichlet=[]")
        self.assertEqual(result.returncode, command_test.WRONG_INPUT)
        self.assertIn("forms.F does not see constants of component 0 of u", result.stderr)
        self.assertNotIn("[[constraint]]", result.stderr) # constraints are for linear problems

    def test_compression_beyond_nothing_names_the_cell(self):
        _, result = self.hyperelastic(sets=["dirichlet.1.value=[0.0, 0.0, -1.2]", "mesh.box.cells=[2, 2, 2]"], code=NOT_SOLVED)
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
