#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The command as its users see it: exit codes, messages and the JSON report.

usage: command_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import json
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

RAFTER, SOURCE = "", ""
DONE, NOT_SOLVED, WRONG_INPUT, ENVIRONMENT = 0, 1, 2, 3
PATIENCE_SECONDS = 600  # after which a command is taken to hang: far more than any needs on a busy machine

POISSON = """title = "Test"
[mesh]
box = { cells = [3, 3], shape = "quadrilateral" }
[fields.u]
degree = 2
[coefficients]
k = 2.0
[forms]
a = "k*inner(grad(u), grad(v))*dx"
L = "2*k*v*dx"
[[dirichlet]]
tags = ["xmin", "xmax"]
value = "x[0]*(1 - x[0])"
[solver]
rtol = 1.0e-11
[check]
u = "x[0]*(1 - x[0])"
max_l2_error = 1.0e-9
[functionals]
mean = "u*dx"
"""


def fill_cache(folder):
    """Makes a cache for XDG_CACHE_HOME with the record of the machine from that of all tests, which is made where there is none. The
    copy is new: the minutes for which a record of a busy machine serves begin now."""
    shared = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "rafter"
    if not any(shared.glob("machine-*.json")): subprocess.run([RAFTER, "machine"], capture_output=True, check=True)
    own = pathlib.Path(folder) / "rafter"
    own.mkdir(mode=0o700)
    for kind in ("machine", "rates"):
        for record in shared.glob(f"{kind}-*.json"):
            shutil.copy(record, own)


class CommandTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def write(self, text, name="problem.toml"):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def run_rafter(self, *arguments, environment=None):
        return subprocess.run([RAFTER, *arguments], cwd=self.directory.name, capture_output=True, text=True,
                              timeout=PATIENCE_SECONDS, check=False, env={**os.environ, **(environment or {})})

    def solved_file(self, path, *arguments, sets=(), code=DONE):
        """Solves the problem of a file, with keys set as in sets=["mesh.refine=1"], and returns its report and the finished
        process. The report's file is removed."""
        overrides = [argument for key in sets for argument in ("--set", key)]
        result = self.run_rafter("solve", path, "--json", "report.json", *arguments, *overrides)
        self.assertEqual(result.returncode, code, result.stderr + result.stdout)
        with open(self.path("report.json"), encoding="utf-8") as file:
            report = json.load(file)
        os.remove(self.path("report.json"))
        return report, result

    def solved(self, text, *arguments, **options):
        """Solves the problem of a text, as solved_file() does."""
        return self.solved_file(self.write(text), *arguments, **options)

    def report(self, text, *arguments, **options):
        """Returns the report alone."""
        return self.solved(text, *arguments, **options)[0]

    def assert_refused(self, result, *fragments, code=WRONG_INPUT):
        """The command returns the code with one message that has these fragments, and leaves no new file."""
        self.assertEqual(result.returncode, code, result.stderr + result.stdout)
        for fragment in fragments:
            self.assertIn(fragment, result.stderr)
        self.assertEqual(result.stdout, "")
        left = [name for name in os.listdir(self.directory.name) if not name.endswith((".toml", ".mesh", ".msh"))]
        self.assertEqual(left, [])

    def refused(self, text, *fragments, arguments=(), code=WRONG_INPUT):
        self.assert_refused(self.run_rafter("solve", self.write(text), *arguments), *fragments, code=code)

    def require_hypre(self):
        row = re.search(r"^hypre +(\S+)", self.run_rafter("doctor").stdout, re.MULTILINE)
        if row.group(1) == "works":
            return
        if os.environ.get("RAFTER_NEEDS_HYPRE") == "1":
            self.fail("RAFTER_NEEDS_HYPRE is 1, but the adapter to hypre does not work")
        self.skipTest("the adapter to hypre was not built (./rafter.sh build)")

    def changed(self, old, new):
        self.assertIn(old, POISSON)
        return POISSON.replace(old, new)


class CommandLine(CommandTest):
    def test_unknown_command_names_the_nearest(self):
        self.assert_refused(self.run_rafter("slove"), "unknown command 'slove'", "did you mean 'solve'")

    def test_no_command_lists_them(self):
        self.assert_refused(self.run_rafter(), "no command", "solve", "doctor")

    def test_unknown_option_names_the_nearest(self):
        self.assert_refused(self.run_rafter("solve", "p.toml", "--jsn=x"), "--jsn", "did you mean '--json'")

    def test_missing_argument(self):
        self.assert_refused(self.run_rafter("solve"), "problem is required")

    def test_threads_out_of_range(self):
        self.assert_refused(self.run_rafter("solve", "p.toml", "--threads=-1"), "--threads")

    def test_help_and_version_are_not_errors(self):
        commands = ("solve", "kernel", "mesh", "machine", "doctor", "bench", "tune")
        for arguments in (["--help"], ["--version"], *([command, "--help"] for command in commands)):
            result = self.run_rafter(*arguments)
            self.assertEqual(result.returncode, DONE, arguments)
            self.assertEqual(result.stderr, "", arguments)
            self.assertTrue(result.stdout, arguments)

    def test_bench_lists_its_suites(self):
        result = self.run_rafter("bench")
        self.assertEqual(result.returncode, DONE, result.stderr)
        self.assertIn("bp", result.stdout)
        self.assert_refused(self.run_rafter("bench", "bq", "--degrees", "2"), "'bq'", "bp", "comes before options")
        self.assert_refused(self.run_rafter("bench", "--degrees=2"), "'--degrees=2'", "the name of one comes first", "bp")

    def test_unknown_device(self):
        self.refused(POISSON, "hots", arguments=["--device", "hots"])

    def test_wrong_plan(self):
        self.refused(POISSON, "contraction", "dense", arguments=["--plan", "contraction=dens"])
        self.refused(POISSON, "accumulate=float needs compute=float", arguments=["--plan", "accumulate=float"])

    def test_several_processes_are_refused(self):
        result = subprocess.run([RAFTER, "solve", self.write(POISSON)], cwd=self.directory.name, capture_output=True,
                                text=True, check=False, env={**os.environ, "OMPI_COMM_WORLD_SIZE": "4"})
        self.assert_refused(result, "4 processes", code=ENVIRONMENT)


class ProblemFile(CommandTest):
    def test_missing_file(self):
        self.assert_refused(self.run_rafter("solve", "nowhere.toml"), "nowhere.toml", "no such file")

    def test_empty_file(self):
        self.refused("", "problem.toml", "empty")

    def test_binary_garbage(self):
        with open(self.path("problem.toml"), "wb") as file:
            file.write(bytes(range(256)) * 10)
        self.assert_refused(self.run_rafter("solve", "problem.toml"), "problem.toml")

    def test_unknown_key_names_the_nearest(self):
        self.refused(self.changed("degree = 2", "degre = 2"), "problem.toml:5:1", "degre", "did you mean 'degree'")

    def test_unknown_section(self):
        self.refused(POISSON + "[solvr]\n", "solvr", "solver")

    def test_degree_out_of_range(self):
        self.refused(self.changed("degree = 2", "degree = 40"), "problem.toml:5:", "fields.u.degree", "40", "12")

    def test_quadrature_out_of_range(self):
        self.refused(POISSON + "[numerics]\npoints = 1000\n", "numerics.points")

    def test_override_without_quotes(self):
        self.refused(POISSON, "--set", "unknown function 'coss'", arguments=["--set", "forms.L=coss(x[0])*v*dx"])

    def test_unknown_method(self):
        self.refused(POISSON, "did you mean 'gmres'", arguments=["--set", "solver.method=gmers"])
        self.refused(POISSON, "solver.method", arguments=["--set", "solver.method=''"])
        self.refused(POISSON, "solver.preconditioner", arguments=["--set", "solver.preconditioner=''"])

    def test_override_of_an_unknown_key(self):
        self.refused(POISSON, "--set", arguments=["--set", "solver.rtoll=1e-3"])

    def test_coefficient_that_is_not_finite(self):
        self.refused(self.changed("k = 2.0", "k = inf"), "problem.toml:7:5", "coefficients.k", "finite")


class Meshes(CommandTest):
    def mesh_problem(self, name):
        return self.changed('box = { cells = [3, 3], shape = "quadrilateral" }', f'file = "{name}"')

    def test_missing_mesh(self):
        self.refused(self.mesh_problem("none.msh"), "problem.toml:3:", "none.msh")

    def test_garbage(self):
        self.write("something else\n", "x.msh")
        self.refused(self.mesh_problem("x.msh"), "x.msh")

    def test_truncated(self):
        with open(os.path.join(SOURCE, "examples/meshes/beam-hex.mesh"), encoding="utf-8") as file:
            text = file.read()
        self.write(text[:len(text) // 2], "x.mesh")
        self.refused(self.mesh_problem("x.mesh"), "x.mesh")

    def test_unknown_boundary_tag_names_the_nearest(self):
        self.refused(self.changed('"xmin", "xmax"', '"xmin", "xmaxx"'), "problem.toml:12:18:", "xmaxx", "'xmax'")

    def test_unknown_tag_in_a_form(self):
        self.refused(self.changed("2*k*v*dx", "2*k*v*ds(99)"), "problem.toml:10:", "forms.L", "99")

    def test_missing_value_by_tag(self):
        self.refused(self.changed("k = 2.0", "k = { by_tag = { 7 = 1.0 } }"), "problem.toml:7:", "coefficients.k", "7")

    def test_by_tag_without_a_cell_tag_of_the_mesh(self):
        text = POISSON.replace('box = { cells = [3, 3], shape = "quadrilateral" }',
                               'file = "%s/examples/meshes/mixed-four-shapes.msh"' % SOURCE)
        self.refused(text.replace("k = 2.0", "k = { by_tag = { hexes = 1.0, core = 1.0 } }"),
                     "problem.toml:7:1", "coefficients.k", "no value for the cells with tag 3")


class Forms(CommandTest):
    def refused_form(self, form, *fragments):
        self.refused(self.changed("k*inner(grad(u), grad(v))*dx", form), *fragments)

    def test_shape_error_has_its_place(self):
        self.refused_form("k*inner(grad(u), v)*dx", "problem.toml:9:8", "forms.a", "grad(u)", "shape (2)")

    def test_syntax_error_has_its_place(self):
        self.refused_form("k*inner(grad(u), grad(v))*dx)", "problem.toml:9:34", "forms.a", "unexpected ')'")

    def test_open_bracket_has_its_place(self):
        """Messages have the place in forms, definitions and boundary values, and in overrides, which are in no file."""
        self.refused_form("k*inner(grad(u), grad(v)*dx", "problem.toml:9:", "forms.a: the '(' of line 1, column 8 is not closed")
        self.refused(self.changed("x[0]*(1 - x[0])\"\n[solver]", "x[0]*(1 - x[0]\"\n[solver]"), "dirichlet[0].value",
                     "the '(' of line 1, column 6 is not")
        self.refused(POISSON + "[definitions]\ng = 'sin(x[0)'\n", "definition of 'g'", "'[' of line 1, column 6 needs its ']'",
                     arguments=["--set", 'forms.L="g*v*dx"'])
        self.refused(POISSON, "forms.L", "the '(' of line 1, column 1 is not closed", arguments=["--set", 'forms.L="(x[0]+1*v*dx"'])

    def test_coordinates_and_interior_facets_say_what_to_write(self):
        self.refused_form("y*inner(grad(u), grad(v))*dx", "unknown name 'y' (the coordinate is x[1])")
        self.refused_form("z*inner(grad(u), grad(v))*dx", "coordinates are x[0], x[1]")
        self.refused(self.changed("k = 2.0", 'k = "x"'), "coefficients.k", "x[0]")
        for form in ("inner(jump(u), jump(v))*dS", "avg(u)*v*dx", "u('+')*v*dx"):
            self.refused_form(form, "interior facets", "boundary with ds")

    def test_mixed_box_names_its_key(self):
        self.refused(self.changed('cells = [3, 3], shape = "quadrilateral"', 'cells = [1, 3], shape = "mixed"'), "problem.toml:3",
                     "mesh.box.cells", "found 1 along x", "2 or more")

    def test_unknown_name_has_its_place_and_the_nearest(self):
        self.refused_form("kk*inner(grad(u), grad(v))*dx", "problem.toml:9:6", "'kk'", "did you mean 'k'")

    def test_constants_without_a_value_are_named_as_they_are_written(self):
        for text, written in (("1/0", "1/0"), ("0**(-1)", "0**-1"), ("sqrt(-4)", "sqrt(-4)")):
            self.refused(self.changed("2*k*v*dx", f"{text}*v*dx"), f"the constant {written} is not a finite number")

    def test_error_in_a_definition_has_the_definitions_place(self):
        text = self.changed("k*inner(grad(u), grad(v))*dx", "inner(flux, grad(v))*dx")
        self.refused(text + '[definitions]\nflux = "k*grad(w)"\n', "problem.toml:9:12", "problem.toml:22:16", "'w'")

    def test_form_that_is_not_linear(self):
        self.refused_form("u*inner(grad(u), grad(v))*dx", "problem.toml:9:", "linear", "u")

    def test_form_without_unknown(self):
        self.refused_form("k*v*dx", "forms.a", "bilinear")

    def test_unknown_in_the_linear_form(self):
        self.refused(self.changed("2*k*v*dx", "2*k*u*v*dx"), "forms.L", "linear form")

    def test_coordinate_that_the_mesh_lacks(self):
        self.refused(self.changed('value = "x[0]*(1 - x[0])"', 'value = "x[2]"'), "problem.toml:13:", "dirichlet[0]")

    def test_boundary_value_that_is_not_finite(self):
        self.refused(self.changed('value = "x[0]*(1 - x[0])"', 'value = "1/x[0]"'), "problem.toml:13:", "'1/x[0]'",
                     "inf", "x = (0")

    def test_expression_that_is_not_finite_names_coefficient_and_point(self):
        self.refused(self.changed("k = 2.0", 'k = "sqrt(x[0] - 0.5)"'), "problem.toml:7:", "coefficients.k", "nan",
                     "x = (")

    def test_exact_solution_that_is_not_finite(self):
        self.refused(self.changed('u = "x[0]*(1 - x[0])"', 'u = "ln(x[0] - 2)"'), "problem.toml:17:", "check.u",
                     "is nan at x = (0, 0)")
        self.refused(self.changed('u = "x[0]*(1 - x[0])"', 'u = "1/(x[0] - x[0])"'), "problem.toml:17:", "check.u")

    def test_operator_that_underflows(self):
        self.refused(self.changed("k*inner(grad(u), grad(v))*dx", "1e-310*inner(grad(u), grad(v))*dx"), "forms.a",
                     "multiply")

    def test_functional_with_test_function(self):
        self.refused(self.changed('mean = "u*dx"', 'mean = "u*v*dx"'), "functionals.mean", "'v'")

    def test_field_that_no_term_determines(self):
        text = POISSON.replace("[coefficients]", "[fields.w]\n[coefficients]").replace("grad(v)", "grad(v_u)")
        self.refused(text.replace("2*k*v*dx", "2*k*v_u*dx").replace("tags =", 'field = "u"\ntags ='),
                     "no term holds the unknown 'w'")


class Coefficients(CommandTest):
    def test_expressions_may_use_numbers_that_come_later(self):
        result = self.run_rafter("solve", self.write(self.changed("k = 2.0", 'k = "2*half"\nhalf = 1.0')))
        self.assertEqual(result.returncode, DONE, result.stderr)

    def test_conditional_boundary_values_integrate_exactly(self):
        text = """[mesh]
box = { cells = [4, 4], size = [0.1, 0.3], shape = "SHAPE" }
[fields.u]
degree = DEGREE
[forms]
a = "inner(grad(u), grad(v))*dx + u*v*dx"
L = "0*v*dx"
[[dirichlet]]
tags = "all"
value = "conditional(x[0] >= 0.1, 2, conditional(x[0] <= 0, 1, 0))"
[functionals]
left = "u*ds('xmin')"
right = "u*ds('xmax')"
"""
        for shape, degree in [("triangle", 1), ("triangle", 4), ("mixed", 3)]:
            problem = self.write(text.replace("SHAPE", shape).replace("DEGREE", str(degree)))
            functionals = self.solved_file(problem)[0]["functionals"]
            self.assertAlmostEqual(functionals["left"], 0.3, delta=1e-14)
            self.assertAlmostEqual(functionals["right"], 0.6, delta=1e-14)

    def test_vectors_and_matrices_enter_forms(self):
        text = self.changed("k = 2.0", 'k = 2.0\nD = [["2", 0.0], [0.0, 2.0]]\nb = { by_tag = { 1 = [2.0, 4.0] } }')
        text = text.replace("k*inner(grad(u), grad(v))*dx", "inner(dot(D, grad(u)), grad(v))*dx")
        result = self.run_rafter("solve", self.write(text.replace("2*k*v*dx", "b[1]*v*dx")))
        self.assertEqual(result.returncode, DONE, result.stderr)


class Outputs(CommandTest):
    def test_folder_of_the_output_is_missing(self):
        self.refused(POISSON, "nowhere", "output.file", arguments=["--set", "output.file=nowhere/u.vtkhdf"])

    def test_folder_of_the_report_is_missing(self):
        self.refused(POISSON, "nowhere", arguments=["--json", "nowhere/r.json"])

    def test_report_in_place_of_another_file(self):
        name = self.write(POISSON)
        self.assert_refused(self.run_rafter("solve", name, "--json", "./" + name), "problem file")
        with open(self.path(name), encoding="utf-8") as file:
            self.assertEqual(file.read(), POISSON)
        self.refused(POISSON, "the output", arguments=["--json", "u.vtkhdf", "--set", "output.file=u.vtkhdf"])

    def test_output_is_a_folder(self):
        os.mkdir(self.path("folder.vtkhdf"))
        result = self.run_rafter("solve", self.write(POISSON), "--set", "output.file=folder.vtkhdf")
        self.assertEqual(result.returncode, WRONG_INPUT)
        self.assertIn("folder.vtkhdf", result.stderr)

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_folder_is_read_only(self):
        os.mkdir(self.path("locked"))
        os.chmod(self.path("locked"), stat.S_IRUSR | stat.S_IXUSR)
        self.addCleanup(os.chmod, self.path("locked"), stat.S_IRWXU)
        result = self.run_rafter("solve", self.write(POISSON), "--set", "output.file=locked/u.vtkhdf")
        self.assertEqual(result.returncode, WRONG_INPUT)
        self.assertIn("locked", result.stderr)

    def test_full_disk_is_the_environment(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run([RAFTER, "doctor"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(result.returncode, ENVIRONMENT)

    def test_json_has_exactly_the_keys_of_the_interface(self):
        report, result = self.solved(POISSON, sets=["output.file=u.vtkhdf"])
        self.assertEqual(set(report), {"title", "version", "status", "dofs", "cells", "method", "reason", "factors", "quadrature", "iterations",
                                       "residual", "residuals", "errors", "functionals", "seconds", "operators", "machine", "history", "peak_memory_bytes",
                                       "legend"})
        self.assertEqual(len(report["history"]), report["iterations"] + 1)
        self.assertGreater(report["peak_memory_bytes"], 1 << 20)
        self.assertIn("peak memory 0.", result.stdout)
        self.assertEqual(report["title"], "Test")
        self.assertEqual(report["status"], "converged")
        self.assertEqual(report["dofs"], 49)
        self.assertEqual(report["cells"], {"quadrilateral": 9})
        self.assertLess(report["errors"]["u"]["l2"], 1e-9)
        self.assertAlmostEqual(report["functionals"]["mean"], 1 / 6, places=10)
        self.assertLessEqual({"mesh", "spaces", "kernels", "setup", "solve", "output"}, set(report["seconds"]))
        self.assertEqual([entry["name"] for entry in report["operators"]], ["apply", "right-hand side"])
        for entry in report["operators"]:
            keys = {"name", "plan", "dofs_per_second", "gflops", "gbytes_per_second", "bound_seconds", "seconds", "share", "limited_by"}
            self.assertEqual(set(entry), keys | {"plans"})
            self.assertEqual(set(report["legend"]["operators"]), keys)
            self.assertIn(entry["plans"][0]["plan"], entry["plan"])
            self.assertGreater(entry["seconds"], 0)
            self.assertGreater(entry["bound_seconds"], 0)
        self.assertTrue(os.path.exists(self.path("u.vtkhdf")))

    def test_iterations_of_cg_are_reported_with_the_bytes_of_their_vectors(self):
        text, moved = self.write(POISSON), {}
        for fused in ("true", "false"):
            report, _ = self.solved_file(text, sets=["mesh.box.cells=[9,7]", "solver.fused=" + fused])
            self.assertGreaterEqual(report["iterations"], 10)
            entry = report["operators"][-1]
            self.assertEqual(entry["name"], "cg iteration")
            moved[fused] = 1e9 * entry["gbytes_per_second"] * entry["seconds"] / report["dofs"]
        self.assertAlmostEqual(moved["false"] - moved["true"], 144 - 72, places=6)

    def test_a_plan_from_the_report_replays(self):
        text = self.write(POISSON)
        plan = self.solved_file(text)[0]["operators"][0]["plan"]
        self.assertEqual(self.solved_file(text, "--plan", plan)[0]["operators"][0]["plan"], plan)

    def test_results_do_not_depend_on_the_number_of_threads(self):
        text, plan, values = self.write(POISSON), [], []
        # The fastest plan may depend on the number of threads: the first run finds one for the others.
        for threads in ("1", "1", "2"):
            report, _ = self.solved_file(text, "--threads", threads, *plan)
            if plan:
                values.append((report["iterations"], report["residual"]))
            plan = ["--plan", report["operators"][0]["plan"]]
        self.assertEqual(values[0], values[1])


class OtherCommands(CommandTest):
    def test_kernel_explains_and_shows_the_source(self):
        result = self.run_rafter("kernel", self.write(POISSON), "--source", "--tensor-program", "--loop-program")
        self.assertEqual(result.returncode, DONE, result.stderr)
        for fragment in ("apply", "right-hand side", "quadrature:", "  plan A: ", '--plan "contraction=', "roofline bound",
                         "per unknown:", "tensor program:", "loop program:", "source:"):
            self.assertIn(fragment, result.stdout)

    def test_mesh_tells_what_is_in_a_file(self):
        result = self.run_rafter("mesh", os.path.join(SOURCE, "examples/meshes/mixed-four-shapes.msh"), "--json")
        self.assertEqual(result.returncode, DONE, result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual({entry["shape"]: entry["count"] for entry in report["cells"]},
                         {"hexahedron": 6, "pyramid": 26, "tetrahedron": 20, "prism": 12})
        self.assertAlmostEqual(report["volume"], 18)
        self.assertEqual(report["problems"], [])
        self.assertIn("zmax", [name for entry in report["facet_tags"] for name in entry["names"]])

    def test_mesh_refines_and_converts(self):
        mesh = os.path.join(SOURCE, "examples/meshes/beam-hex.mesh")
        self.assertEqual(self.run_rafter("mesh", mesh, "--refine", "1", "--write", "fine.msh").returncode, DONE)
        report = json.loads(self.run_rafter("mesh", "fine.msh", "--json").stdout)
        self.assertEqual(report["cells"], [{"shape": "hexahedron", "degree": 1, "count": 64}])
        self.assertAlmostEqual(report["volume"], 8)

    def test_mesh_converts_to_versions_of_gmsh_files(self):
        mesh = os.path.join(SOURCE, "tests/data/meshes/annulus-hex-order2.msh")
        reports = [json.loads(self.run_rafter("mesh", mesh, "--json").stdout)]
        for name, header, options in (("a.msh", b"4.1 0 8", ()),
                                      ("b.msh", b"2.2 0 8", ("--format", "msh22")),
                                      ("c.msh", b"2.2 1 8", ("--format", "msh22", "--binary")),
                                      ("d.msh", b"4.1 1 8", ("--binary",))):
            result = self.run_rafter("mesh", mesh, "--write", name, *options)
            self.assertEqual(result.returncode, DONE, result.stderr)
            with open(self.path(name), "rb") as file:
                self.assertEqual(file.read().split(b"\n")[1], header)
            reports.append(json.loads(self.run_rafter("mesh", name, "--json").stdout))
        for report in reports:
            report.pop("source")
            report["volume"], report["worst_det_j"] = round(report["volume"], 12), round(report["worst_det_j"], 9)
        for report in reports[1:]:
            self.assertEqual(report, reports[0])

    def test_mesh_refuses_what_it_cannot_write(self):
        mesh = os.path.join(SOURCE, "examples/meshes/beam-hex.mesh")
        self.assertEqual(self.run_rafter("mesh", mesh, "--write", "x.stl").returncode, WRONG_INPUT)
        self.assertEqual(self.run_rafter("mesh", "nowhere.msh").returncode, WRONG_INPUT)

    def test_machine_prints_what_its_json_has(self):
        result = self.run_rafter("machine", "--json")
        self.assertEqual(result.returncode, DONE, result.stderr)
        product = json.loads(result.stdout)["matrix_product"]
        one, every = (f"{1e-9 * product[key]:.1f}" for key in ("one_core", "all_cores"))
        self.assertIn(f"products of dense matrices of doubles: {one} GFLOP/s on one core, {every} on all\n", self.run_rafter("machine").stdout)

    def test_doctor_finds_a_compiler_and_the_host(self):
        result = self.run_rafter("doctor")
        self.assertEqual(result.returncode, DONE, result.stdout)
        self.assertIn("Ready", result.stdout)


if __name__ == "__main__":
    RAFTER, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
