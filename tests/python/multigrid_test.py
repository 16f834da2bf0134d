#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Multigrid from the problem file to the report: iterations on the two-material beam, and what is refused.

usage: multigrid_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import os
import re
import sys
import unittest

import command_test
from cases import exhaustive

BOX = """[mesh]
box = { cells = [8, 8], shape = "triangle" }
[fields.u]
degree = 3
[coefficients]
f = "sin(x[0])"
[forms]
a = "inner(grad(u), grad(v))*dx"
L = "f*v*dx"
[[dirichlet]]
tags = "all"
value = "x[0]"
[solver]
preconditioner = "multigrid"
"""


class Multigrid(command_test.CommandTest):
    def outcome(self, problem, *arguments):
        """Returns the report of the problem of a file, and the text with its details."""
        report, result = self.solved_file(problem, "--verbose", *arguments)
        return report, result.stdout

    def test_the_beam_takes_few_iterations_at_every_degree_and_refinement(self):
        beam = os.path.join(command_test.SOURCE, "examples", "beam-multigrid.toml")
        further = ((1, (3,), 6), (2, (3,), 7), (4, (2,), 8), (8, (2,), 10), (2, (1,), 8), (8, (1,), 11))
        for degree, refinements, most in ((1, (2,), 6), (2, (2,), 7), (4, (0, 1), 8), (8, (0,), 11), *exhaustive(*further)):
            for refine in refinements:
                with self.subTest(degree=degree, refine=refine):
                    report, _ = self.outcome(beam, "--set", f"fields.u.degree={degree}", "--set", f"mesh.refine={refine}")
                    self.assertLessEqual(report["iterations"], most)

    def test_levels_in_single_precision_take_as_many_iterations_for_the_beam(self):
        beam = os.path.join(command_test.SOURCE, "examples", "beam-multigrid.toml")
        for degree, refine in ((4, 1), (8, 0), *exhaustive((1, 3), (2, 2))):
            with self.subTest(degree=degree, refine=refine):
                size = ("--set", f"fields.u.degree={degree}", "--set", f"mesh.refine={refine}")
                in_double, _ = self.outcome(beam, *size)
                in_single, _ = self.outcome(beam, *size, "--set", "solver.multigrid.precision=single")
                self.assertEqual(in_single["iterations"], in_double["iterations"])
                self.assertIn("in single precision", in_single["preconditioner"])
                self.assertNotIn("in single precision", in_double["preconditioner"])
                # Both meet the same tolerance of the energy norm, whose square this is.
                self.assertAlmostEqual(in_single["functionals"]["energy"] / in_double["functionals"]["energy"], 1, 9)

    def test_levels_in_single_precision_reach_the_tolerances_of_double(self):
        energies = []
        for precision in ("double", "single"):
            text = BOX.replace('"multigrid"', f'"multigrid"\nrtol = 1e-13\nmultigrid.precision = "{precision}"')
            report, _ = self.outcome(self.write(text + '[functionals]\nenergy = "inner(grad(u), grad(u))*dx"\n'))
            self.assertLessEqual(report["residual"], 1e-13)
            energies.append(report["functionals"]["energy"])
        self.assertAlmostEqual(energies[0], energies[1], 12)

    def test_the_report_says_what_was_built(self):
        report, text = self.outcome(self.write(BOX))
        self.assertTrue(report["preconditioner"].startswith(
            "V-cycle of 2 levels (degree 3 on 128 cells: 625 unknowns; degree 1 on 128 cells: 81 unknowns)"), report["preconditioner"])
        self.assertIn("preconditioner: V-cycle", text)

    def test_a_box_made_of_coarser_ones_has_the_solution_of_the_plain_one(self):
        energies = []
        for preconditioner in ("jacobi", "multigrid"):
            text = BOX.replace('"multigrid"', f'"{preconditioner}"\nrtol = 1e-12')
            report, _ = self.outcome(self.write(text + '[functionals]\nenergy = "inner(grad(u), grad(u))*dx"\n'),
                                    "--set", "mesh.box.cells=[16, 12]", "--set", "mesh.box.size=[2, 1]")
            energies.append(report["functionals"]["energy"])
        self.assertAlmostEqual(energies[0], energies[1], 10)

    def test_large_problems_that_name_no_preconditioner_take_it(self):
        problem = self.write(BOX.replace('[solver]\npreconditioner = "multigrid"\n', "").replace("triangle", "quadrilateral"))
        for cells, is_chosen in ((180, True), (20, False)):
            report, result = self.solved_file(problem, sets=[f"mesh.box.cells=[{cells}, {cells}]"])
            self.assertEqual("multigrid is chosen" in result.stdout + result.stderr, is_chosen)
            self.assertEqual("V-cycle" in report.get("preconditioner", ""), is_chosen)
            self.assertLess(report["iterations"], 15)
            self.assertEqual(report["method"], "cg" if is_chosen else "direct")

    def bench(self, name, *arguments):
        """Returns the report of a problem of bench/multigrid, and the messages."""
        path = os.path.join(command_test.SOURCE, "bench", "multigrid", name)
        report, result = self.solved_file(path, *arguments)
        return report, result.stderr + result.stdout

    def test_iterations_do_not_depend_on_the_size_of_the_operator(self):
        for keys in ("", "multigrid.coarse='chebyshev'", "multigrid.coarse='amg'", "preconditioner='amg'", "preconditioner='chebyshev'"):
            arguments = ["--set", "solver.method='cg'"] + (["--set", f"solver.{keys}"] if keys else [])
            iterations = {size: self.bench("poisson.toml", "--set", f"forms.a='{size}*inner(grad(u), grad(v))*dx'", *arguments)[0]["iterations"]
                          for size in ("1.0", "1e-100", "1e25", "1e100")}
            self.assertEqual(set(iterations.values()), {iterations["1.0"]}, (keys, iterations))

    def test_operators_that_floats_do_not_hold_are_refused_in_single_precision(self):
        path = os.path.join(command_test.SOURCE, "bench", "multigrid", "poisson.toml")
        for size in ("1e50", "1e-36", "1e-50"):
            result = self.run_rafter("solve", path, "--set", f"forms.a='{size}*inner(grad(u), grad(v))*dx'", "--set", "solver.multigrid.precision=single")
            self.assert_refused(result, "poisson.toml:12:", "solver.preconditioner", "leave the range of floats", 'precision = "double"')

    def test_indefinite_forms_are_refused_with_the_key_where_they_are_not_served(self):
        path = os.path.join(command_test.SOURCE, "bench", "multigrid", "helmholtz.toml")
        for key, value in (("multigrid.coarse", "chebyshev"), ("method", "cg"), ("method", "minres")):
            result = self.run_rafter("solve", path, "--set", "coefficients.k=20", "--set", f"solver.{key}={value}")
            self.assert_refused(result, f"--set solver.{key}={value}: solver.{key}: ", "definite")
            self.assertNotIn("preconditioner chebyshev", result.stderr)

    def test_boomeramg_on_the_coarsest_level_refuses_an_indefinite_form(self):
        self.require_hypre()
        path = os.path.join(command_test.SOURCE, "bench", "multigrid", "helmholtz.toml")
        result = self.run_rafter("solve", path, "--set", "coefficients.k=20", "--set", "solver.multigrid.coarse=amg", "--set", "solver.multigrid.amg=boomeramg")
        self.assert_refused(result, "solver.multigrid.coarse: ", 'coarse = "amg" does not serve', '"direct"')

    def test_steps_that_lead_nowhere_are_refused_with_their_key(self):
        for steps in ('["lor", "p"]', '["h", "h", "h", "h", "h", "h"]'):
            result = self.run_rafter("solve", self.write(BOX), "--set", f"solver.multigrid.coarsening={steps}")
            self.assert_refused(result, f"--set solver.multigrid.coarsening={steps}: solver.multigrid.coarsening: ", "step")

    def test_one_number_of_smoothing_steps_is_for_both_sides(self):
        for key in ("pre", "post"):
            report, _ = self.outcome(self.write(BOX + f"multigrid.{key} = 2\n"))
            self.assertIn("2 steps before and after", report["preconditioner"])

    def test_convection_takes_as_many_iterations_on_finer_meshes(self):
        for method, most in (("gmres", 12), ("bicgstab", 8)):
            for cells in (16, 32, 64):
                with self.subTest(method=method, cells=cells):
                    report, _ = self.bench("convection.toml", "--set", f'solver.method="{method}"', "--set", f"mesh.box.cells=[{cells}, {cells}]")
                    self.assertLessEqual(report["iterations"], most)

    def test_an_indefinite_form_is_reported_and_solved(self):
        for method in ("gmres", "bicgstab"):
            report, text = self.bench("helmholtz.toml", "--set", "coefficients.k=10.0", "--set", f'solver.method="{method}"')
            self.assertLessEqual(report["iterations"], 10)
            self.assertIn("symmetric part of the form is indefinite", text)
        report, text = self.bench("helmholtz.toml", "--set", "coefficients.k=3.0")
        self.assertNotIn("is indefinite", text)

    def test_an_indefinite_form_that_names_no_method_is_solved_directly(self):
        for preconditioner in ("multigrid", "amg"):
            # 2 401 unknowns of degree 1 are more than the coarsest level of aggregates has
            problem = self.write(BOX.replace("grad(v))*dx", "grad(v))*dx - 60*u*v*dx").replace('"multigrid"', f'"{preconditioner}"'))
            report, _ = self.outcome(problem, "--set", "mesh.box.cells=[48, 48]", "--set", "fields.u.degree=1")
            self.assertEqual(report["method"], "direct", preconditioner)
            self.assertIn("not positive definite", report["reason"])
            self.assertGreater(report["factors"]["negative_pivots"], 0)

    def test_keys_that_the_preconditioner_does_not_read_are_reported(self):
        def warnings(text):
            stderr = self.run_rafter("solve", self.write(text)).stderr
            return {word.rstrip(",") for word in stderr.split() if word.startswith("solver.multigrid")}
        table = "multigrid = { cycle = 'W', start = 'full', smoother_degree = 3, pre = 2 }\n"
        self.assertEqual(warnings(BOX + table), set())
        amg = BOX.replace('"multigrid"', '"amg"')
        self.assertEqual(warnings(amg + table), {"solver.multigrid.cycle", "solver.multigrid.start"})
        single = "multigrid = { precision = 'single', smoother_degree = 3 }\n"
        self.assertEqual(warnings(BOX + single), set())
        self.assertEqual(warnings(amg + single), {"solver.multigrid.precision"})
        block = BOX.replace('"multigrid"', '"block"\nblocks.u = "multigrid"')
        self.assertEqual(warnings(block + table), {"solver.multigrid.start"})
        for steps in ("h", "lor"):
            self.assertEqual(warnings(BOX + f"multigrid = {{ coarsening = '{steps}', degrees = [1] }}\n"), {"solver.multigrid.degrees", "solver.multigrid.coarsening"})
        self.assertEqual(warnings(amg + "multigrid = { amg = 'boomeramg', smoother_degree = 3, pre = 2 }\n"),
                         {"solver.multigrid.smoother_degree", "solver.multigrid.pre", "solver.multigrid.amg"})
        self.assertIn("coarse_rtol is not used", self.run_rafter("solve", self.write(BOX + "multigrid = { coarse_rtol = 0.01 }\n")).stderr)
        self.assertEqual(warnings(block.replace('u = "multigrid"', 'u = "jacobi"') + table), {"solver.multigrid"})

    def test_the_coarsest_level_takes_a_tolerance(self):
        for keys in ("coarse = 'direct', coarse_rtol = 0.1", "coarse_iterations = 5", "coarse = 'amg', coarse_rtol = 1.5"):
            self.assert_refused(self.run_rafter("solve", self.write(BOX + f"multigrid = {{ {keys} }}\n")), "solver.multigrid.coarse_")
        problem = self.write(BOX + "multigrid = { coarse = 'amg', coarse_rtol = 1e-2, coarse_iterations = 5 }\n")
        report, _ = self.outcome(problem)
        self.assertIn("conjugate gradients to 0.01 in at most 5 iterations", report["preconditioner"])

    def test_boomeramg_has_the_solution_of_aggregates(self):
        self.require_hypre()
        energies = []
        for amg in ("smoothed-aggregation", "boomeramg"):
            for preconditioner in ("amg", "multigrid"):
                problem = BOX.replace('"multigrid"', f'"{preconditioner}"\nrtol = 1e-12') + f"multigrid.amg = '{amg}'\n"
                coarse = ("--set", "solver.multigrid.coarse='amg'") if preconditioner == "multigrid" else ()
                report, _ = self.outcome(self.write(problem + '[functionals]\nenergy = "inner(grad(u), grad(u))*dx"\n'), *coarse)
                energies.append(report["functionals"]["energy"])
                self.assertEqual("BoomerAMG" in report["preconditioner"], amg == "boomeramg")
        for energy in energies[1:]:
            self.assertAlmostEqual(energies[0], energy, 10)

    def test_boomeramg_leaves_an_indefinite_form_to_factors(self):
        self.require_hypre()
        problem = BOX.replace("grad(v))*dx", "grad(v))*dx - 60*u*v*dx").replace('"multigrid"', '"amg"\nmultigrid.amg = "boomeramg"')
        report, _ = self.outcome(self.write(problem), "--set", "mesh.box.cells=[48, 48]", "--set", "fields.u.degree=1")
        self.assertEqual(report["method"], "direct")
        self.assertIn("not positive definite", report["reason"])

    def test_boomeramg_without_its_adapter_says_how_to_get_it(self):
        problem = self.write(BOX.replace('"multigrid"', '"amg"\nmultigrid.amg = "boomeramg"'))
        for place in (self.path("missing.so"), self.path(problem)):  # none, and one that is no library
            result = self.run_rafter("solve", problem, environment={"RAFTER_HYPRE_MODULE": place})
            self.assertEqual(result.returncode, command_test.ENVIRONMENT, result.stderr)
            message = [line for line in result.stderr.splitlines() if "BoomerAMG" in line]
            self.assertEqual(len(message), 1, result.stderr)
            self.assertIn("./rafter.sh build", message[0])
        row = re.search(r"^hypre.*", self.run_rafter("doctor", environment={"RAFTER_HYPRE_MODULE": "missing.so"}).stdout, re.MULTILINE)
        self.assertRegex(row.group(0), "missing.*to get it: ./rafter.sh build")

    def test_set_up_that_is_refused_names_its_place(self):
        problem = BOX.replace('"multigrid"', '"amg"\nmethod = "gmres"').replace("grad(v))*dx", "grad(v))*dx + u.dx(0)*v*dx")
        place = 1 + problem.splitlines().index('preconditioner = "amg"')
        self.assert_refused(self.run_rafter("solve", self.write(problem)), f":{place}:", "solver.preconditioner", "symmetric")

    def test_blocks_of_another_form_take_known_fields_that_the_form_lacks(self):
        block = BOX.replace('"multigrid"', '"block"\nblocks.u = "multigrid"').replace("[forms]", 'w = { value = "2 + x[0]", degree = 1 }\n[forms]')
        report, _ = self.outcome(self.write(block), "--set", "forms.preconditioner='w*inner(grad(u), grad(v))*dx'")
        constant, _ = self.outcome(self.write(block), "--set", "forms.preconditioner='inner(grad(u), grad(v))*dx'")
        self.assertLessEqual(report["iterations"], 2 * constant["iterations"])
        self.assertGreater(report["iterations"], constant["iterations"])  # with the field it is another preconditioner

    def test_blocks_take_as_many_iterations_on_finer_meshes(self):
        stokes = os.path.join(command_test.SOURCE, "examples", "stokes-block.toml")
        counts = {}
        for cells in (16, 32, 64):
            report, text = self.outcome(stokes, "--set", f"mesh.box.cells=[{cells}, {cells}]")
            counts[cells] = report["iterations"]
            self.assertIn("p: jacobi of its mass matrix", " ".join(text.split()))
        self.assertLessEqual(counts[64], 1.15*counts[16])
        self.assertLessEqual(counts[64], 1.05*counts[32])

    def test_blocks_say_what_they_cannot_serve(self):
        residual = BOX.replace('a = "', 'F = "').replace('L = "f*v*dx"\n', "").replace('"multigrid"', '"block"\nblocks.u = "jacobi"')
        self.assert_refused(self.run_rafter("solve", self.write(residual)), "solver.preconditioner", "forms.F")
        block = BOX.replace('"multigrid"', '"block"\nblocks.u = "multigrid"')
        self.assert_refused(self.run_rafter("solve", self.write(block), "--set", "forms.preconditioner='f*v*dx'"), "forms.preconditioner",
                            "bilinear form")
        self.assertIn("forms.preconditioner is not used",
                      self.run_rafter("solve", self.write(BOX), "--set", "forms.preconditioner='u*v*dx'").stderr)

    def test_what_is_not_used_is_reported(self):
        skew = BOX.replace("inner(grad(u), grad(v))*dx", "(inner(grad(u), grad(v)) + u.dx(0)*v)*dx")
        warning = "key solver.preconditioner is not used: the method is \"direct\""
        self.assertIn(warning, self.run_rafter("solve", self.write(skew)).stderr)
        self.assertNotIn("is not used", self.run_rafter("solve", self.write(skew), "--set", "solver.method=gmres").stderr)
        degrees = ("--set", "solver.multigrid.degrees=[4,2,1]")
        self.assertIn("solver.multigrid.degrees: levels have degrees below that of the fields, 3",
                      self.run_rafter("solve", self.write(BOX), *degrees).stderr)
        self.assertNotIn("levels have degrees below", self.run_rafter("solve", self.write(BOX), *degrees, "--set", "fields.u.degree=5").stderr)

    def test_aggregation_says_where_and_why_it_does_not_serve(self):
        skew = BOX.replace("inner(grad(u), grad(v))*dx", "(inner(grad(u), grad(v)) + u.dx(0)*v)*dx").replace('"multigrid"', '"amg"')
        self.assert_refused(self.run_rafter("solve", self.write(skew), "--set", "solver.method=gmres"), "problem.toml:14:",
                            "solver.preconditioner", "symmetric", '"jacobi"')

    def test_known_fields_and_tangents_take_few_iterations(self):
        known = BOX.replace('"sin(x[0])"', '{ value = "2 + sin(5*x[0])", degree = 2 }').replace('"inner(', '"f*inner(')
        residual = BOX.replace('a = "inner(grad(u)', 'F = "inner((1 + inner(grad(u), grad(u)))*grad(u)').replace('L = "f*v*dx"\n', "")
        for cells in (8, 16):
            size = ("--set", f"mesh.box.cells=[{cells}, {cells}]")
            report, _ = self.outcome(self.write(known), *size)
            self.assertLessEqual(report["iterations"], 14)
            report, text = self.outcome(self.write(residual), *size)
            self.assertLessEqual(max(step.get("linear_iterations", 0) for step in report["newton"]["steps"]), 14)
            self.assertIn("preconditioner: V-cycle", text)

    def test_levels_of_curved_cells_without_rotations_serve_free_bodies(self):
        body = os.path.join(command_test.SOURCE, "examples", "free-body.toml")
        mesh = os.path.join(command_test.SOURCE, "examples", "meshes", "plate-with-hole-tet-order2.msh")
        report, _ = self.outcome(body, "--set", "solver.preconditioner=multigrid", "--set", f"mesh.file={mesh}")
        self.assertLessEqual(report["iterations"], 25)

    def test_steps_in_time_take_few_iterations(self):
        heat = os.path.join(command_test.SOURCE, "examples", "heat.toml")
        report, _ = self.outcome(heat, "--set", "solver.preconditioner=multigrid", "--set", "time.end=0.22")
        self.assertEqual(len(report["time"]["steps"]), 5)
        self.assertLessEqual(max(step["iterations"] for step in report["time"]["steps"]), 12)

    def test_stretched_boxes_take_few_iterations_at_every_degree(self):
        problem = os.path.join(command_test.SOURCE, "bench", "multigrid", "poisson.toml")
        every_degree = ((1, 16, 12), (2, 8, 8), (4, 8, 8), (8, 4, 13))
        for size, cases in (("[100, 1, 1]", every_degree), ("[100, 100, 1]", ((2, 8, 8), *exhaustive(*every_degree))),
                            ("[10, 1, 1]", exhaustive(*every_degree))):
            for degree, cells, most in cases:
                with self.subTest(size=size, degree=degree):
                    report, _ = self.outcome(problem, "--set", f"mesh.box.size={size}", "--set", f"fields.u.degree={degree}",
                                            "--set", f"mesh.box.cells=[{cells}, {cells}, {cells}]")
                    self.assertLessEqual(report["iterations"], most)

    def test_semicoarsening_may_be_left_out(self):
        stretched = BOX.replace('shape = "triangle"', 'size = [8, 1]').replace("degree = 3", "degree = 1")
        for is_on, cells in (("true", (512, 256)), ("false", (256,))):
            report, _ = self.outcome(self.write(stretched + f"multigrid = {{ semicoarsening = {is_on} }}\n"), "--set", "mesh.box.cells=[16, 16]",
                                    "--set", "mesh.refine=1")
            self.assertEqual([int(n) for n in re.findall(r"on (\d+) cells", report["preconditioner"])], [1024, *cells])

    def test_a_full_start_saves_iterations_and_keeps_the_tolerance(self):
        # Without boundary values residuals are relative to the loads, with or without the start.
        problem = self.write(BOX.replace('value = "x[0]"', "value = 0.0"))
        plain, _ = self.outcome(problem)
        full, _ = self.outcome(problem, "--set", "solver.multigrid.start=full")
        self.assertLess(full["iterations"], plain["iterations"])
        self.assertLessEqual(full["residual"], 1e-8)

    def test_steps_of_coarsening_that_mean_nothing_are_refused(self):
        for steps in ('"p,h,p"', '["p,h"]', '["p", "q"]'):
            problem = self.write(BOX + f"multigrid = {{ coarsening = {steps} }}\n")
            self.assert_refused(self.run_rafter("solve", problem), "solver.multigrid.coarsening", "accepted")

    def test_a_low_order_refined_level_serves_stretched_cells(self):
        poisson = os.path.join(command_test.SOURCE, "bench", "multigrid", "poisson.toml")
        for shape, most in (("hexahedron", 15), ("prism", 24), ("tetrahedron", 34)):
            report, text = self.outcome(poisson, "--set", "mesh.box.size=[100, 1, 1]", "--set", f"mesh.box.shape={shape}",
                                       "--set", "fields.u.degree=4", "--set", "solver.multigrid.coarsening=lor")
            self.assertIn("low-order-refined", text)
            self.assertLessEqual(report["iterations"], most, shape)

    def test_low_order_refined_levels_are_advised_where_cells_are_stretched(self):
        poisson = os.path.join(command_test.SOURCE, "bench", "multigrid", "poisson.toml")
        stretched = ("--set", "mesh.box.size=[100, 1, 1]")
        for settings, is_advised in (((*stretched, "--set", "solver.multigrid.coarsening=p"), True),
                                     ((*stretched, "--set", "solver.multigrid.coarsening=lor"), False), ((), False)):
            result = self.run_rafter("solve", poisson, "--set", "fields.u.degree=4", *settings)
            self.assertEqual(result.returncode, command_test.DONE, result.stderr)
            self.assertEqual('solver.multigrid.coarsening = "lor"' in result.stderr, is_advised, result.stderr)

    def test_a_low_order_refined_level_that_there_is_none_of_is_refused(self):
        for change, words in (("mesh.box.shape=pyramid", ('coarsening "lor"', "pyramids")),
                              ("fields.u.degree=1", ('coarsening "lor"', "amg")),
                              ("solver.multigrid.coarsening=[\"lor\", \"p\"]", ('a step after "lor"', "last step"))):
            poisson = os.path.join(command_test.SOURCE, "bench", "multigrid", "poisson.toml")
            self.assert_refused(self.run_rafter("solve", poisson, "--set", "solver.multigrid.coarsening=lor", "--set",
                                                change), *words)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    command_test.RAFTER, command_test.SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
