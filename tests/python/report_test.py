#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What reports give people: results first, details on request, plans by short names, warnings where they belong.

usage: report_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import json
import os
import re
import sys
import unittest

import cache_entries
import command_test


class Lengths(command_test.CommandTest):
    """Reports are short unless details are asked for."""

    def test_results_come_first_and_fit_into_twenty_lines(self):
        _, result = self.solved(command_test.POISSON)
        lines = result.stdout.splitlines()
        self.assertLessEqual(len(lines), 20, result.stdout)
        self.assertEqual(lines[0], "Test")
        self.assertRegex(lines[1], r"^converged after \d+ iterations? \(.*\), relative residual ")
        places = [result.stdout.index(part) for part in ("49 unknowns, 9 quadrilaterals", "functional", "relative L2 error", "phase", "operator")]
        self.assertEqual(places, sorted(places))
        for legend in ("--plan", "plans:", "what is timed", "part of the run", "bound"):
            self.assertNotIn(legend, result.stdout)

    def test_details_are_printed_on_request(self):
        short, _ = self.solved(command_test.POISSON)
        report, result = self.solved(command_test.POISSON, "--verbose")
        for detail in ("--plan", "plans:", "what is timed", "part of the run", "least time that this machine's ceilings"):
            self.assertIn(detail, result.stdout)
        self.assertEqual(report.keys(), short.keys())

    def test_quiet_prints_nothing_but_errors(self):
        problem = self.write(self.changed("[solver]", "[solver]\nrestart = 7")) # a key without effect is warned of
        self.assertIn("warning", self.run_rafter("solve", problem).stderr)
        report, result = self.solved_file(problem, "--quiet")
        self.assertEqual((result.stdout, result.stderr, report["status"]), ("", "", "converged"))
        few = ["solver.max_iterations=2"]
        report, result = self.solved_file(problem, "--quiet", sets=few, code=command_test.NOT_SOLVED)
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, r"\Arafter: not converged after 2 iterations: .*\n\Z")
        self.assert_refused(self.run_rafter("solve", problem, "--quiet", "--verbose"), "--quiet", "--verbose")


class Figures(command_test.CommandTest):
    """Tables explain what they show, name plans that can be used again, and warn if a busy machine spoils their figures."""

    def details(self, *arguments):
        return self.solved(command_test.POISSON, "--verbose", *arguments)[1].stdout

    def plans_below(self, text):
        """Returns the short names and full texts of the plans by letter."""
        found = re.findall(r'^  ([A-Z]) +(\S.*?)(?: \([^()]*\))?\n +--plan "([^"]*)"', text, re.MULTILINE)
        return {letter: (name, " ".join(plan.split())) for letter, name, plan in found}

    def test_the_plan_printed_below_replays_by_its_text_and_by_its_name(self):
        text = self.details("--set", "mesh.box.cells=[6,6]")
        name, plan = self.plans_below(text)["A"]
        self.assertIn("apply", re.search(r"^apply.* A$", text, re.MULTILINE).group(0))
        for given in (plan, name):
            again = self.details("--set", "mesh.box.cells=[6,6]", "--plan", given)
            self.assertEqual(self.plans_below(again)["A"], (name, plan), given)

    def test_keys_of_plans_that_no_kernel_follows_or_that_change_none_are_reported(self):
        assembled, triangles = "mapping=assembled factors=store", ("--set", "mesh.box.shape=triangle")
        for plan, arguments, expected in (
                ("contraction=modal", (), ["contraction=modal is not used: the kernel of cell quadrilateral cartesian has contraction=collocated"]),
                (assembled, (), ["factors=store is not used: the kernel of cell quadrilateral cartesian has factors=recompute"]),
                ("contraction=collocated", triangles, ["contraction=collocated is not used: the kernel of cell triangle affine has contraction=modal"]),
                ("mapping=plain patches=0", (), ["patches=0 is not used: the kernels are the same without it"]),
                ("scatter=coloured rows=8", (), ["scatter=coloured is not used: kernels with mapping=simd_cells have no such key",
                                                 "rows=8 is not used: the kernels are the same without it"]),
                ("contraction=modal", triangles, []), ("factors=recompute vector_width=4 flags=O2", (), []), ("default", (), []),
                ("rows=16", (), [])):
            with self.subTest(plan=plan, arguments=arguments):
                result = self.run_rafter("kernel", self.write(command_test.POISSON), "--plan", plan, *arguments)
                self.assertEqual(result.returncode, command_test.DONE, result.stderr)
                self.assertEqual(re.findall(r"^warning: --plan: (.*)$", result.stderr, re.MULTILINE), expected)

    def test_kernels_of_a_mixed_mesh_have_a_letter_each_and_no_line_is_long(self):
        text = self.details("--set", "mesh.box={ cells = [4,4,4], shape = \"mixed\" }", "--set", "fields.u.degree=2",
                          "--set", "check.max_l2_error=1")
        letters = re.search(r"^apply.*  ([A-Z ]+)$", text, re.MULTILINE).group(1).split()
        plans = self.plans_below(text)
        self.assertGreater(len(letters), 1, text)
        self.assertLessEqual(set(letters), set(plans))
        self.assertEqual(len({plan for _, plan in plans.values()}), len(plans), "equal plans appear once")
        in_one_line = " ".join(text.split())
        for shape in ("tetrahedron", "hexahedron", "prism", "pyramid"):
            self.assertRegex(in_one_line, rf"\([^()]*cell {shape}")
        self.assertEqual([line for line in text.splitlines() if len(line) > 120], [])

    def test_problems_shorter_than_their_compilation_take_usual_plans_with_cheap_flags(self):
        """At most so many applications as iterations are allowed decide, with the cells and the degree."""
        box = ("--set", "mesh.box.cells=[60,60]", "--set", "fields.u.degree=4", "--set", "solver.preconditioner=jacobi")
        problem = self.write(command_test.POISSON)
        cache = self.path("cache")  # without measured plans, which come first, too
        os.makedirs(cache, 0o700)
        command_test.fill_cache(cache)

        def plan_of_apply(*arguments):
            report = self.path("report.json")
            self.run_rafter("solve", problem, *box, "--json", report, *arguments, environment={"XDG_CACHE_HOME": cache})
            with open(report, encoding="utf-8") as file:
                return next(row["plan"] for row in json.load(file)["operators"] if row["name"] == "apply")

        # 8 flops for each pair of the 25 dofs of 3600 cells are 18 million in an application: 60 take less than 2e9, the
        # hundreds that Jacobi is expected to need do not.
        short, long = plan_of_apply("--set", "solver.max_iterations=60"), plan_of_apply()
        self.assertIn("flags=quick", short)
        self.assertIn("flags=default", long)
        # A plan that is given comes first.
        self.assertIn("flags=default", plan_of_apply("--set", "solver.max_iterations=60", "--plan", "even_odd=2"))

    def test_a_busy_machine_is_reported_once_and_only_beside_figures_that_rest_on_it(self):
        cache = self.path("cache")
        os.makedirs(os.path.join(cache, "rafter"), 0o700)
        environment = {"XDG_CACHE_HOME": cache}
        self.assertEqual(self.run_rafter("machine", environment=environment).returncode, command_test.DONE)
        (record,) = [entry.path for entry in os.scandir(os.path.join(cache, "rafter")) if entry.name.startswith("machine-")]
        with open(record, "rb") as file:
            machine = json.loads(cache_entries.entry_content(file.read()))
        key = os.path.basename(record).removeprefix("machine-").removesuffix(".json")
        mesh = os.path.join(command_test.SOURCE, "examples/meshes/beam-hex.mesh")
        singular = self.write(command_test.POISSON.replace("[[dirichlet]]", "[[ignored]]"), "singular.toml")
        problem = self.write(command_test.POISSON)
        bench = ("bench", "bp", "--cases", "bp1", "--degrees", "1", "--mdofs", "0.001", "--rounds", "3", "--sample-seconds", "0.01",
                 "--machine", "kept")
        for share in (0.3, 1.0):
            text = json.dumps({**machine, "steadiness": share, "cpu_share": 1.0})
            for kind in ("machine", "rates"):  # without a quiet record solves take an estimate
                with open(os.path.join(cache, "rafter", f"{kind}-{key}.json"), "wb") as file:
                    file.write(cache_entries.cache_entry(kind, key, text.encode()))
            expected = int(share < 0.8)
            for count, arguments in ((expected, ("solve", problem)), (expected, ("kernel", problem)),
                                     (expected, ("machine", "--json")), (0, ("mesh", mesh)), (0, ("doctor",)),
                                     (0, ("solve", singular)), (0, ("solve", problem, "--set", "fields.u.degree=40")),
                                     (0, ("solve", problem, "--quiet")), (expected, ("tune", problem)), (expected, bench)):
                result = self.run_rafter(*arguments, environment=environment)
                self.assertEqual(len(re.findall("was busy|BUSY while", result.stdout + result.stderr)), count, (share, arguments, result.stderr))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    command_test.RAFTER, command_test.SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
