#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Suites of `rafter bench` at tiny size: tables, reports, plots, comparisons and messages. No time is judged.

usage: bench_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import json
import math
import os
import sys
import unittest
import xml.etree.ElementTree

import command_test

TINY = ("--degrees", "1,2", "--mdofs", "0.0001", "--rounds", "3", "--sample-seconds", "0", "--machine", "kept")
SVG = "{http://www.w3.org/2000/svg}"


class Bench(command_test.CommandTest):
    def bench(self, suite, *arguments, code=command_test.DONE):
        result = self.run_rafter("bench", suite, *TINY, *arguments)
        self.assertEqual(result.returncode, code, result.stderr + result.stdout)
        return result.stdout

    def report(self, name="report.json"):
        with open(self.path(name), encoding="utf-8") as file:
            return json.load(file)

    def write_report(self, report, name):
        with open(self.path(name), "w", encoding="utf-8") as file:
            json.dump(report, file)

    def suites(self):
        result = self.run_rafter("bench")
        self.assertEqual(result.returncode, command_test.DONE, result.stderr)
        return [line.split()[0] for line in result.stdout.splitlines()]

    def check_files(self, suite, *arguments, num_rows, num_plots, num_counts=0):
        """A run of the suite has a line per row, a report, marks in every plot, and a comparison with itself; `num_counts` more rows
        are not measured."""
        text = self.bench(suite, *arguments, "--json", "report.json", "--plot", "plot.svg")
        report = self.report()
        self.assertEqual(report["suite"], suite)
        self.assertIn(f"rafter bench {suite} --degrees 1,2", report["command"])
        self.assertIn(report["command"], text)
        self.assertIn("levels", report["machine"])
        self.assertEqual(len(report["rows"]), num_rows + num_counts)
        self.assertEqual(len([row for row in report["rows"] if "missing" in row]), num_counts)
        for row in report["rows"]:
            if "missing" in row:
                continue
            for key in (report["figure"], "spread", "seconds", "bound_seconds"):
                self.assertTrue(math.isfinite(row[key]) and row[key] >= 0, (key, row))
            self.assertGreater(row[report["figure"]], 0)
            # Kernels that run one after the other have a plan each; what is written by hand has none.
            for plan in row["plan"].split("; ") if "plan" in row else []:
                self.assertIn(f'--plan "{plan}"', " ".join(text.split()))
        self.assertEqual(text.count("--plan "), len({row["plan"] for row in report["rows"] if "plan" in row}))
        self.assertEqual([line for line in text.splitlines() if len(line) > 120 and line != report["command"]], [])
        drawing = xml.etree.ElementTree.parse(self.path("plot.svg")).getroot()
        self.assertEqual(drawing.tag, SVG + "svg")
        self.assertGreaterEqual(len(drawing.findall(SVG + "circle")), num_plots)
        return report, text


class Suites(Bench):
    def test_are_listed_and_explain_their_options(self):
        self.assertEqual({"bp", "bk", "axlocal", "elasticity-kernel", "elasticity-solve", "first-order", "gathers", "hosfem",
                          "poisson-solve", "storages", "sparse", "mesh"}, set(self.suites()))
        explained = self.run_rafter("bench", "--help").stdout
        for suite in self.suites():
            self.assertIn(f"\n{suite}: ", explained)

    def test_bp(self):
        report, text = self.check_files("bp", "--cases", "bp1,bp5", "--geometry", "cartesian,deformed", num_rows=8, num_plots=16)
        self.assertEqual({row["dofs"] for row in report["rows"]}, {5 ** 3})
        self.assertTrue(all(row["ratio_to_peer"] > 0 for row in report["rows"]))
        self.assertIn("ratio", text)

    def test_bk(self):
        report, _ = self.check_files("bk", "--cases", "bp2", "--geometry", "cartesian,tetrahedra", num_rows=4, num_plots=8)
        self.assertEqual([(row["cells"], row["dofs"]) for row in report["rows"]],
                         [(64, 3 * 64), (8, 3 * 64), (384, 3 * 64), (48, 3 * 64)])

    def test_gathers(self):
        report, text = self.check_files("gathers", "--cases", "bp3,elasticity", "--geometry", "tetrahedra,hexahedra", num_rows=8, num_plots=8)
        self.assertIn("ratio", text)
        for row in report["rows"]:
            for key in ("kernel_mdofs_per_second", "kernel_share", "loop_mdofs_per_second", "ratio_to_parts"):
                self.assertGreater(row[key], 0, key)

    def test_bk_on_cells_of_all_shapes(self):
        per_cube = {"curved-hexahedra": (3, 1, 1), "prisms": (3, 2, 1), "curved-pyramids": (3, 6, 2), "triangles": (2, 2, 1)}
        self.bench("bk", "--cases", "helmholtz", "--degrees", "2", "--geometry", ",".join(per_cube), "--json", "report.json")
        rows = self.report()["rows"]
        self.bench("bk", "--cases", "bp4", "--degrees", "1", "--geometry", "triangles", "--json", "report.json")
        for row in rows + self.report()["rows"]:
            dim, cells, volume = per_cube[row["geometry"]]
            components = {"helmholtz": 1, "bp4": dim}[row["case"]]
            self.assertEqual(row["cells"] % (cells * 2 ** dim), 0, row)
            self.assertEqual(row["dofs"], row["cells"] // cells * volume * row["degree"] ** dim * components, row)

    def axlocal_rows(self, degree, more_flops=0):
        """Rows of a degree by equation and kernel, checked where measured. They may take `more_flops` per point and component than the paper's."""
        rows = {(row["equation"], row["kernel"]): row for row in self.report()["rows"] if row["degree"] == degree}
        for name, row in rows.items():
            if "missing" in row:
                continue
            self.assertAlmostEqual(row["total_gflops"] / row["effective_gflops"], row["total_bound_gflops"] / row["bound_gflops"])
            self.assertAlmostEqual(1e9 * row["total_gflops"] * row["seconds"] / row["cells"] / row["flops"], 1, msg=name)
            self.assertAlmostEqual(row["intensity"], row["flops"] / row["bytes"])
            self.assertAlmostEqual(row["paper_intensity"], row["paper_flops"] / row["paper_bytes"])
            self.assertLessEqual(row["bytes"], row["paper_bytes"], name)
            self.assertLessEqual(row["factor_words"], row["paper_factor_words"], name)
            if row["kernel"] == "parallelepiped":  # this kernel runs on other cells
                self.assertNotIn("difference", row)
            else:  # every storage of factors computes the same
                self.assertLess(row["difference"], 1e-14 * (degree + 2) ** 2, name)
            if row["kernel"] == "baseline":
                self.assertEqual((row["speed"], row["factor_flops"], row["paper_factor_flops"]), (1, 0, 0))
            num_values = (degree + 1) ** 3 * (3 if name[0].endswith("-3") else 1)
            self.assertLessEqual(row["flops"], row["paper_flops"] + more_flops * num_values, name)
        return rows

    def test_axlocal(self):
        _, text = self.check_files("axlocal", "--equations", "poisson,poisson-3", num_rows=16, num_counts=3 * 4,
                                   num_plots=3 * 16 + 3 * 4 + 4 * 19)
        self.assertIn("partial-1-merged", text)
        for degree in (1, 2):
            points = (degree + 1) ** 3
            rows = self.axlocal_rows(degree)
            for equation in ("poisson", "poisson-3"):
                for kernel, words in (("baseline", 6 * points), ("parallelepiped", 6), ("trilinear", 24), ("partial", 24 + points)):
                    row = rows[equation, kernel]
                    self.assertEqual((row["factor_words"], row["paper_factor_words"]), (words, words), kernel)

    def test_axlocal_says_which_factors_a_form_lacks(self):
        text = self.bench("axlocal", "--equations", "helmholtz", "--json", "report.json")
        self.assertRegex(text, r"helmholtz +merged +1 +0.00 +no factors partial-2-merged at this degree\n")  # with eight points, no best cut stores two numbers
        self.assertIn("missing", self.axlocal_rows(1)["helmholtz", "merged"])
        rows = self.axlocal_rows(2)
        self.assertEqual({row["kernel"] for row in rows.values() if "missing" not in row},
                         {"baseline", "parallelepiped", "trilinear", "merged"})
        # The paper's kernel reads coefficients besides the factors.
        for kernel, words in (("baseline", (7 * 27, 9 * 27)), ("merged", (24 + 2 * 27, 24 + 2 * 27))):
            row = rows["helmholtz", kernel]
            self.assertEqual((row["factor_words"], row["paper_factor_words"]), words, kernel)
        report = self.report()
        for row in report["rows"]:
            row["spread"] = 100
        self.write_report(report, "old.json")
        text = self.bench("axlocal", "--equations", "helmholtz", "--compare", "old.json")
        self.assertIn("helmholtz merged 1 64: no factors", text[text.index("ratio to"):])

    def test_axlocal_without_its_baseline_compares_with_the_first_kernel(self):
        self.bench("axlocal", "--equations", "poisson", "--kernels", "partial,trilinear", "--degrees", "2", "--json", "report.json")
        first, second, *counts = self.report()["rows"]
        self.assertEqual((first["kernel"], first["speed"], second["kernel"]), ("trilinear", 1, "partial"))
        self.assertNotIn("factor_flops", second)
        self.assertEqual([row["kernel"] for row in counts], ["remacle", "nekrs", "karp"])

    def test_axlocal_counts_the_approaches_of_others(self):
        self.bench("axlocal", "--equations", "poisson", "--kernels", "baseline", "--degrees", "3", "--json", "report.json")
        baseline, remacle, nekrs, karp = self.report()["rows"]
        self.assertEqual((baseline["paper_flops"], baseline["paper_bytes"]), (4032, 8 * (8 * 64 + 16)))
        for row, flops, words in ((remacle, 242 * 64, 24), (nekrs, 296 * 64, 24), (karp, 81 * 64 + 18 * 256, 24 + 64)):
            self.assertEqual((row["paper_factor_flops"], row["paper_factor_words"]), (flops, words), row["kernel"])
            self.assertEqual((row["paper_flops"], row["paper_bytes"]), (4032 + flops, 8 * (2 * 64 + words)), row["kernel"])
            self.assertAlmostEqual(row["total_bound_gflops"] / row["bound_gflops"], 1 + flops / 4032)
            self.assertNotIn("seconds", row)

    def test_axlocal_reads_coefficients_as_arrays(self):
        self.bench("axlocal", "--equations", "helmholtz,helmholtz-3", "--degrees", "2", "--coefficients", "array", "--json", "report.json")
        rows = self.axlocal_rows(2, more_flops=3)  # these multiply factors and coefficients
        for equation in ("helmholtz", "helmholtz-3"):
            for kernel, words in (("baseline", 9 * 27), ("parallelepiped", 7 + 2 * 27), ("trilinear", 24 + 2 * 27)):
                row = rows[equation, kernel]
                self.assertEqual((row["factor_words"], row["paper_factor_words"]), (words, words), (equation, kernel))
            self.assertNotIn((equation, "merged"), rows)  # merged factors need coefficients that are not read
        self.bench("axlocal", "--equations", "helmholtz", "--kernels", "merged", "--coefficients", "array", code=command_test.WRONG_INPUT)

    def check_work_arrays(self, rows, degree):
        """Every step has work arrays, and so has the paper's kernel."""
        for row in rows.values():
            arrays = row["work_arrays"]
            self.assertEqual(sum(array["bytes"] for array in arrays), row["work_bytes"], row["step"])
            for array in arrays:
                self.assertLess(array["last_statement"], array["num_statements"], array)
                self.assertLessEqual(array["first_statement"], array["last_statement"], array)
            self.assertEqual(row["paper_work_arrays"][3],
                             {"name": "grad_vec", "bytes": 8 * 9 * (degree + 2) ** 3, "lives_in": "cell"})
        # Where cells run one after the other, arrays of all points of a cell are needed for the whole cell.
        at_points = [array for array in rows["c3"]["work_arrays"] if array["bytes"] == 8 * 3 * (degree + 2) ** 3]
        self.assertEqual({array["lives_in"] for array in at_points}, {"cell"})
        self.assertGreaterEqual(len(at_points), 3)

    def check_stress_vectors(self, rows, degree):
        """The values at the points go through memory between the two loops: they are written, read, and one number is read beside them."""
        points = (degree + 2) ** 3 / (3 * degree ** 3)
        for step, values in (("pa-qvec", 9), ("c1", 9), ("c2", 6)):
            beyond = rows[step]["bytes_per_dof"] - rows["c3"]["bytes_per_dof"]
            data = 8 * 8 * 12 / rows[step]["dofs"]  # the second loop reads the map of a batch again
            self.assertAlmostEqual(beyond, 8 * (2 * values + 1) * points + data, delta=1e-6 * beyond, msg=step)
            self.assertIn("; " if step == "pa-qvec" else "per-derivative", rows[step]["plan"])

    def test_elasticity_kernel(self):
        report, text = self.check_files("elasticity-kernel", num_rows=18, num_plots=3 * 16 + 2)  # `planned` is in one
        self.assertIn("+ Voigt", text)
        for degree in (1, 2):
            rows = {row["step"]: row for row in report["rows"] if row["degree"] == degree}
            for row in rows.values():  # every step computes the same
                self.assertLess(row["difference"], 1e-14 * (degree + 2) ** 2, row["step"])
            flops = {step: row["executed_flops_per_dof"] for step, row in rows.items()}
            self.assertGreater(flops["pa-qvec"], flops["c1"])
            self.assertGreater(flops["c1"], flops["c2"])
            self.assertAlmostEqual(flops["c3"], flops["lanes"], delta=1)  # some numbers are computed per batch instead of per cell
            self.assertGreater(flops["layers"], flops["even-odd"])
            self.assertEqual(rows["pa-qvec"]["speed_up"], 1)
            self.check_stress_vectors(rows, degree)
            # These are the counts of the paper's kernel, which Rafter's does not exceed.
            self.assertAlmostEqual(rows["c3"]["paper_flops_per_dof"], {1: 2369, 2: 953.8}[degree], delta=0.05)
            self.assertAlmostEqual(rows["c3"]["paper_intensity"], {1: 6.6, 2: 7.5}[degree], delta=0.05)
            self.check_work_arrays(rows, degree)
            self.assertLess(flops["even-odd"], rows["c3"]["paper_flops_per_dof"])
        self.bench("elasticity-kernel", "--degrees", "2", "--steps", "dense,sum-factorised,dense-lanes", "--json", "report.json")
        rows = {row["step"]: row for row in self.report()["rows"]}
        self.assertEqual(list(rows), ["dense", "sum-factorised", "dense-lanes"])
        self.assertGreater(rows["dense"]["executed_flops_per_dof"], rows["sum-factorised"]["executed_flops_per_dof"])

    def check_solve(self, row):
        """What holds of the rows of both suites of solves."""
        self.assertGreaterEqual(row["finest_applications"], row["iterations"])
        for phase in ("mesh", "spaces", "form", "preconditioner", "application"):
            self.assertGreaterEqual(row[phase + "_seconds"], 0, phase)
        self.assertGreater(row["operator_seconds"], 0)
        if "memory_bytes" in row:
            self.assertAlmostEqual(row["bytes_per_unknown"] * row["dofs"], row["memory_bytes"], delta=1e-6 * row["memory_bytes"])

    def test_elasticity_solve(self):
        report, text = self.check_files("elasticity-solve", "--solvers", "fa_gmg,fa_amg,pa_jac,pa_gmg,paop_gmg,rafter", "--mdofs", "0.002",
                                        "--amg", "aggregation", num_rows=12, num_plots=24)
        rows = {(row["solver"], row["degree"]): row for row in report["rows"]}
        for (solver, degree), row in rows.items():
            self.check_solve(row)
            self.assertEqual(row["dofs"], 3 * 33 * 5 * 5)  # four unknowns along each edge of the 8 cubes
            self.assertEqual((row["is_converged"], row["end"]), (False, "cut off") if solver == "pa_jac" else (True, "met"))
            if solver != "fa_amg":  # whose iterations are bounded below
                self.assertEqual(row["iterations"], 20 if solver == "pa_jac" else rows["rafter", degree]["iterations"])
            for rate, seconds in (("iteration_mdofs_per_second", "seconds"), ("kernel_mdofs_per_second", "operator_seconds")):
                self.assertAlmostEqual(row[rate], 1e-6 * row["iterations"] * row["dofs"] / row[seconds])
            total = row["preconditioner_seconds"] + row["form_seconds"] + row["seconds"]
            self.assertAlmostEqual(row["total_seconds"], total)
            self.assertEqual("mapping=assembled" in row["plan"], solver.startswith("fa_"))
            self.assertEqual("contraction=dense mapping=plain" in row["plan"].replace("factors=recompute ", ""), solver.startswith("pa_"))
        for solver, most in (("rafter", 8), ("fa_amg", 30)):
            self.assertLessEqual(max(rows[solver, degree]["iterations"] for degree in (1, 2)), most)
        self.assertEqual((rows["pa_gmg", 2]["paper_iterations"], rows["pa_gmg", 2]["paper_dofs"]), (7, 839619))
        self.assertEqual((rows["paop_gmg", 1]["paper"], rows["paop_gmg", 1]["paper_total_seconds"]), ("(paop_gmg)", 26.28))
        self.assertIn("beside the paper", text)

    def test_options_that_suites_cannot_serve_are_refused(self):
        self.assert_refused(self.run_rafter("bench", "gathers", "--threads", "2"), "bench gathers", "--threads")
        for suite in ("elasticity-solve", "poisson-solve"):
            self.assert_refused(self.run_rafter("bench", suite, *TINY, "--mdofs", "0"), suite, "--mdofs")

    def test_poisson_solve(self):
        report, _ = self.check_files("poisson-solve", "--geometry", "hexahedra,triangles", "--mdofs", "0.001", num_rows=4, num_plots=8)
        self.bench("poisson-solve", "--geometry", "mixed", "--degrees", "2", "--mdofs", "0.001", "--json", "mixed.json")
        for row in report["rows"] + self.report("mixed.json")["rows"]:
            self.check_solve(row)
            self.assertEqual((row["is_converged"], row["end"]), (True, "met"), row)
            self.assertLessEqual(row["iterations"], 8, row)
            self.assertAlmostEqual(row["solve_applications"], row["seconds"] / row["application_seconds"])

    def test_sparse_products_of_one_matrix(self):
        report, _ = self.check_files("sparse", "--geometry", "tetrahedra,hexahedra", "--mdofs", "0.001", num_rows=24, num_plots=12)
        rows = {(row["geometry"], row["degree"], row["product"]): row for row in report["rows"]}
        for (geometry, degree, product), row in rows.items():
            plain = rows[geometry, degree, "rows"]
            self.assertEqual(row["dofs"], plain["dofs"])
            self.assertEqual("plan" in row, product in ("vector", "scalar", "kernels"))
            if product == "triangle":
                self.assertLess(row["bytes_per_dof"], 0.7 * plain["bytes_per_dof"])
            if product in ("vector", "scalar"):
                self.assertIn("mapping=assembled", row["plan"])
                self.assertIn(f"gathers={product}", row["plan"])
        report, _ = self.check_files("sparse", "--threads", "2", "--cases", "elasticity", "--products", "parts,triangle", "--mdofs", "0.003",
                                     num_rows=4, num_plots=2)
        self.assertEqual([row["product"] for row in report["rows"]], ["rows", "parts", "rows", "parts"])  # a triangle has one thread

    def test_hosfem(self):
        report, _ = self.check_files("hosfem", "--equations", "poisson,helmholtz-3", "--kernels", "trilinear,parallelepiped",
                                     "--iterations", "20", "--mdofs", "0.001", num_rows=16, num_plots=16)
        rows = {(row["equation"], row["kernel"], row["degree"], row["solver"]): row for row in report["rows"]}
        for (equation, kernel, degree, solver), row in rows.items():
            self.assertEqual(solver in ("plain", "fused"), True)
            plain = rows[equation, kernel, degree, "plain"]
            self.assertEqual(row["iterations"], plain["iterations"])
            self.assertAlmostEqual(row["error"], plain["error"], delta=1e-9 * plain["error"])
            self.assertLess(row["error"], 0.5)
            if solver == "fused":  # fusion saves 72 of the 136 bytes of vectors
                self.assertAlmostEqual(plain["bytes_per_dof"] - row["bytes_per_dof"], 72, delta=1e-6)
            self.assertNotIn("accel", row)  # the kernel that it is relative to was not asked for
            self.assertEqual(row["setup"], "deformed")

    def test_hosfem_of_nekbone_takes_the_iterations_of_the_paper(self):
        self.bench("hosfem", "--setup", "nekbone", "--equations", "poisson,helmholtz", "--kernels", "baseline,parallelepiped,trilinear",
                   "--degrees", "7", "--mdofs", "0.025", "--rounds", "1", "--json", "report.json")
        rows = self.report()["rows"]
        self.assertEqual([row["kernel"] for row in rows[::2]], 2 * ["baseline", "parallelepiped", "trilinear"])
        for row in rows:
            self.assertIn(row["iterations"], (48, 49), row)  # the paper has these on 76 x 76 x 76 cells
            self.assertLess(row["residual"], 1e-8)
            self.assertLess(row["error"], 1e-7)
            self.assertEqual(row["cells"], 4 ** 3)
            per_point = {"poisson": 15, "helmholtz": 20}[row["equation"]] + 15
            self.assertAlmostEqual(row["published_gflops"] / row["gdofs"], (12 * 8 ** 4 + per_point * 8 ** 3) / 7 ** 3)
            self.assertAlmostEqual(row["gdofs"], 1e-9 * 64 * 7 ** 3 / row["seconds"])
        for baseline in rows[:2]:
            self.assertEqual(baseline["accel"], 1)

    def test_memory_of_a_row_holds_its_vectors_and_grows_with_it(self):
        self.bench("bk", "--cases", "bp1", "--degrees", "2", "--mdofs", "0.05,0.8", "--json", "report.json")
        small, large = self.report()["rows"]
        entries = 27 * large["cells"]  # entries of a cell vector
        for row in (small, large):
            self.assertIn(row["memory_of"], ("process", "vectors and data"))
        self.assertGreater(large["memory_bytes"], 2 * 8 * entries)
        self.assertGreater(large["memory_bytes"], 4 * small["memory_bytes"])

    def test_degrees_may_be_a_range(self):
        self.bench("bk", "--cases", "bp1", "--degrees", "1..2,4", "--json", "report.json")
        self.assertEqual([row["degree"] for row in self.report()["rows"]], [1, 2, 4])

    def test_sizes_are_a_list(self):
        self.bench("bk", "--cases", "bp1", "--degrees", "2", "--mdofs", "0.0001,0.0005", "--json", "report.json")
        self.assertEqual([row["cells"] for row in self.report()["rows"]], [8, 64])


class Meshes(Bench):
    """Suites on meshes from files: the small ones of bench/meshes, and samples that other programs wrote."""
    ON_A_MESH = ("--degrees", "2", "--rounds", "3", "--sample-seconds", "0", "--machine", "kept", "--json", "report.json")

    def kept(self, name):
        return os.path.join(command_test.SOURCE, "bench", "meshes", name)

    def sample(self, name):
        return os.path.join(command_test.SOURCE, "tests", "data", "meshes", name)

    def on_mesh(self, path, *arguments):
        """The report and the text of `rafter bench mesh`, after what holds for all rows."""
        result = self.run_rafter("bench", "mesh", path, *self.ON_A_MESH, *arguments)
        self.assertEqual(result.returncode, command_test.DONE, result.stderr + result.stdout)
        report = self.report()
        self.assertEqual(report["mesh"]["file"], path)
        for row in report["rows"]:
            self.assertEqual(row["mesh"], os.path.splitext(os.path.basename(path))[0])
            self.assertEqual(sum(row["shapes"].values()), sum(row["maps"].values()))
            self.assertEqual(sum(row["shapes"].values()), row["cells"])
            if "missing" in row:
                continue
            self.assertGreater(row[report["figure"]], 0)
            for kernel in row["kernels"]:
                self.assertIn(kernel["plan"], row["plan"])
        self.assertEqual([line for line in result.stdout.splitlines() if len(line) > 120 and line != report["command"]
                          and not line.startswith("mesh ")], [])
        return report, result.stdout

    def test_kept_ones_are_those_of_the_table(self):
        with open(self.kept("meshes.json"), encoding="utf-8") as file:
            table = json.load(file)
        small = {name for name in table["meshes"] if name.startswith("small-")}
        found = {name[:-len(".msh")] for name in os.listdir(self.kept("")) if name.endswith(".msh")}
        self.assertEqual(found, small)
        for name, mesh in table["meshes"].items():
            self.assertTrue(os.path.exists(self.kept(mesh["geometry"])), name)
            self.assertRegex(mesh["hash"], "^[0-9a-f]{32}$")
        for name in small:
            report, _ = self.on_mesh(self.kept(name + ".msh"), "--suite", "bk", "--cases", "bp1", "--degrees", "1")
            mesh = table["meshes"][name]
            self.assertEqual(report["mesh"]["hash"], mesh["hash"])
            self.assertEqual(report["rows"][0]["shapes"], mesh["cells"])
            self.assertEqual({cells["degree"] for cells in report["mesh"]["cells"]}, {mesh["order"]})

    def test_rows_count_unknowns_cells_and_kinds_of_maps(self):
        report, text = self.on_mesh(self.sample("mixed-four-shapes.msh"), "--cases", "bp3,elasticity")
        for row, components in zip(report["rows"], (1, 3)):
            self.assertEqual(row["shapes"], {"tetrahedron": 20, "hexahedron": 6, "prism": 12, "pyramid": 26})
            self.assertEqual(row["dofs"] % components, 0)
            self.assertEqual(sum(kernel["cells"] for kernel in row["kernels"]), row["cells"])
            names = " ".join(kernel["name"] for kernel in row["kernels"])
            for shape in row["shapes"]:
                self.assertIn(shape, names)
            self.assertNotIn("ratio_to_peer", row)
        self.assertIn("cell pyramid affine", text)
        self.assertIn("hash of the file " + report["mesh"]["hash"], text)
        broken, _ = self.on_mesh(self.sample("mixed-four-shapes.msh"), "--suite", "bk", "--cases", "bp1")
        # of the volume of a cube, 1/6 of a tetrahedron, 1/2 of a prism, 1/3 of a pyramid
        self.assertEqual(broken["rows"][0]["dofs"], round(2 ** 3 * (20 / 6 + 6 + 12 / 2 + 26 / 3)))

    def test_refinement_makes_eight_of_each_cell(self):
        mesh = self.sample("plate-with-hole-tet.msh")
        coarse, _ = self.on_mesh(mesh, "--cases", "bp1", "--degrees", "1")
        fine, _ = self.on_mesh(mesh, "--cases", "bp1", "--degrees", "1", "--refine", "1")
        self.assertEqual(fine["rows"][0]["cells"], 8 * coarse["rows"][0]["cells"])
        self.assertEqual((coarse["mesh"]["hash"], fine["mesh"]["refinements"]), (fine["mesh"]["hash"], 1))

    def test_plane_meshes_have_vectors_of_two_components(self):
        report, _ = self.on_mesh(self.sample("disc-tri-order3.msh"), "--cases", "bp1,bp2")
        scalar, vector = report["rows"]
        self.assertEqual(vector["dofs"], 2 * scalar["dofs"])
        self.assertEqual(set(scalar["maps"]), {"affine", "isoparametric"})

    def test_a_given_plan_is_that_of_all_kernels(self):
        report, _ = self.on_mesh(self.sample("star-mixed.mesh"), "--cases", "bp3", "--plan", "factors=recompute vector_width=4")
        for kernel in report["rows"][0]["kernels"]:
            self.assertIn("factors=recompute", kernel["plan"])
            self.assertIn("vector_width=4", kernel["plan"])

    def test_suites_of_hexahedra(self):
        curved = self.kept("small-cylinder-hexahedra-order2.msh")
        kernels = ("--suite", "axlocal", "--equations", "poisson", "--kernels", "baseline,parallelepiped,trilinear")
        report, _ = self.on_mesh(curved, *kernels)
        rows = {row["kernel"]: row for row in report["rows"]}
        self.assertIn("no parallelepipeds", rows["parallelepiped"]["missing"])
        self.assertIn("no factors", rows["trilinear"]["missing"])  # of the curved cells
        self.assertGreater(rows["baseline"]["seconds"], 0)
        corners = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n1 0 1\n1.2 1.1 1.3\n0 1 1\n"
        with open(self.path("straight.mesh"), "w", encoding="utf-8") as file:
            file.write("MFEM mesh v1.0\n\ndimension\n3\n\nelements\n1\n1 5 0 1 2 3 4 5 6 7\n\nboundary\n0\n\nvertices\n8\n3\n" + corners)
        report, _ = self.on_mesh("straight.mesh", *kernels)
        rows = {row["kernel"]: row for row in report["rows"]}
        self.assertEqual(rows["trilinear"]["maps"], {"multilinear": 1})
        self.assertLess(rows["trilinear"]["difference"], 1e-12)
        report, _ = self.on_mesh(self.sample("fichera.mesh"), "--suite", "axlocal", "--equations", "poisson",
                                 "--kernels", "parallelepiped,trilinear")
        rows = {row["kernel"]: row for row in report["rows"]}
        self.assertEqual(rows["trilinear"]["missing"], "cells are parallelepipeds")
        self.assertGreater(rows["parallelepiped"]["seconds"], 0)
        report, _ = self.on_mesh(curved, "--suite", "elasticity-kernel", "--steps", "layers,planned")
        self.assertEqual([row["step"] for row in report["rows"]], ["layers", "planned"])
        self.assertLess(report["rows"][1]["difference"], 1e-12)
        report, _ = self.on_mesh(curved, "--suite", "hosfem", "--equations", "poisson", "--kernels", "baseline", "--iterations", "20")
        self.assertEqual([row["solver"] for row in report["rows"]], ["plain", "fused"])

    def test_suites_of_solves(self):
        report, _ = self.on_mesh(self.sample("annulus-hex-order2.msh"), "--suite", "poisson-solve", "--refine", "1")
        self.assertEqual([(row["is_converged"], row["num_levels"]) for row in report["rows"]], [(True, 2)])
        beam = os.path.join(command_test.SOURCE, "examples", "meshes", "beam-hex.mesh")
        report, _ = self.on_mesh(beam, "--suite", "elasticity-solve", "--refine", "1", "--solvers", "rafter")
        of_file, = report["rows"]
        self.bench("elasticity-solve", "--degrees", "2", "--mdofs", "0.0025", "--solvers", "rafter", "--json", "report.json")
        of_box, = self.report()["rows"]
        self.assertEqual((of_file["dofs"], of_file["iterations"]), (of_box["dofs"], of_box["iterations"]))

    def test_is_the_suite_with_its_option(self):
        mesh = self.sample("tinyzoo-3d.mesh")
        first, _ = self.on_mesh(mesh, "--cases", "bp1", "--degrees", "1")
        result = self.run_rafter("bench", "bp", *self.ON_A_MESH, "--mesh=" + mesh, "--cases", "bp1", "--degrees", "1")
        self.assertEqual(result.returncode, command_test.DONE, result.stderr)
        self.assertEqual(self.report()["mesh"], first["mesh"])

    def test_reports_of_another_mesh_are_not_compared(self):
        arguments = ("--cases", "bp1", "--degrees", "1")
        report, _ = self.on_mesh(self.sample("beam-tet.mesh"), *arguments)
        for row in report["rows"]:
            row["spread"] = 100
        self.write_report(report, "old.json")
        _, text = self.on_mesh(self.sample("beam-tet.mesh"), *arguments, "--compare", "old.json")
        self.assertIn("bp1 beam-tet 1", text[text.index("ratio to old.json"):])
        for other in ((self.sample("beam-wedge.mesh"),), (self.sample("beam-tet.mesh"), "--refine", "1")):
            result = self.run_rafter("bench", "mesh", *other, *self.ON_A_MESH, *arguments, "--compare", "old.json")
            self.assertEqual(result.returncode, command_test.WRONG_INPUT)
            self.assertIn("old.json: is of another mesh", result.stderr)

    def test_wrong_ones_are_named(self):
        for name, text in (("empty.msh", ""), ("text.msh", "no mesh\n"),
                           ("cellless.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n0\n$EndElements\n"),
                           ("surface.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 0 1 1\n$EndNodes\n"
                                           "$Elements\n1\n1 2 2 1 1 1 2 3\n$EndElements\n")):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text)
        tetrahedra, mixed = self.sample("beam-tet.mesh"), self.sample("mixed-four-shapes.msh")
        for arguments, fragments in (
                ((), ("no mesh file", "rafter bench mesh FILE")),
                (("--suite", "bp"), ("no mesh file",)),
                (("none.msh",), ("none.msh: no such file",)),
                ((command_test.SOURCE,), ("a directory",)),
                (("empty.msh",), ("empty.msh: the file is empty",)),
                (("text.msh",), ("text.msh:1", "MFEM")),
                (("cellless.msh",), ("cellless.msh", "no ")),
                (("surface.msh",), ("surface.msh", "surface meshes are not supported")),
                ((self.kept("cube-tetrahedra.geo"),), ("is no mesh", "gmsh -3 -o cube-tetrahedra.msh")),
                ((tetrahedra, "--suite"), ("--suite needs a value",)),
                ((tetrahedra, "--suite", "bq"), ("'bq'", "did you mean 'bp'")),
                ((tetrahedra, "--suite", "mesh"), ("'mesh'", "hosfem")),
                ((tetrahedra, "--mesh", mixed), ("--mesh", "already")),
                ((tetrahedra, "--refine", "11"), ("--refine", "0 to 10")),
                ((tetrahedra, "--geometry", "prisms"), ("--geometry", "does not go with --mesh")),
                ((tetrahedra, "--mdofs", "1"), ("--mdofs", "does not go with --mesh", "--refine")),
                ((tetrahedra, "--json", tetrahedra), ("--json", "beam-tet.mesh")),
                ((tetrahedra, "--suite", "axlocal"), ("hexahedra", "tetrahedron; suites that take all shapes: bp, bk, gathers, poisson-solve, storages, sparse\n")),
                ((mixed, "--suite", "elasticity-kernel"), ("bench elasticity-kernel", "prism, pyramid")),
                ((mixed, "--suite", "hosfem"), ("bench hosfem", "tetrahedron")),
                ((self.sample("beam-hex.mesh"), "--suite", "hosfem", "--setup", "nekbone"), ("--setup", "nekbone", "--mesh"))):
            self.assert_refused(self.run_rafter("bench", "mesh", *arguments), *fragments)
        self.assert_refused(self.run_rafter("bench", "bk", "--refine", "1"), "bench bk", "--refine", "--mesh")


class Comparison(Bench):
    def setUp(self):
        super().setUp()
        self.arguments = ("--cases", "bp1", "--degrees", "1")
        self.bench("bk", *self.arguments, "--json", "report.json")

    def compare_with(self, factor, code):
        report = self.report()
        for row in report["rows"]:
            row["mdofs_per_second"] *= factor
            row["spread"] = 0.01
        self.write_report(report, "old.json")
        text = self.bench("bk", *self.arguments, "--compare", "old.json", code=code)
        return text[text.index("ratio to old.json"):]

    def test_flags_what_became_slower(self):
        self.assertIn("SLOWER", self.compare_with(1e6, command_test.NOT_SOLVED))

    def test_flags_what_became_faster(self):
        text = self.compare_with(1e-6, command_test.DONE)
        self.assertIn("faster", text)
        self.assertNotIn("SLOWER", text)

    def test_names_rows_that_the_earlier_run_lacks(self):
        text = self.bench("bk", "--cases", "bp1", "--degrees", "2", "--compare", "report.json")
        self.assertIn("bp1 cartesian 2 64: not there", text)

    def test_rows_without_figures_are_not_compared(self):
        report = self.report()
        figures = ("mdofs_per_second", "spread")
        rows = [{**{key: row[key] for key in row if key not in figures}, "missing": "no factors"} for row in report["rows"]]
        self.write_report({**report, "rows": rows}, "old.json")
        text = self.bench("bk", *self.arguments, "--compare", "old.json")
        self.assertIn(": not there", text[text.index("ratio to old.json"):])

    def test_refuses_what_is_no_report_of_the_suite(self):
        report = self.report()
        self.write_report({**report, "suite": "bp"}, "bp.json")
        self.write_report({**report, "rows": [{"case": "bp1"}]}, "rows.json")
        with open(self.path("broken.json"), "w", encoding="utf-8") as file:
            file.write("{")
        os.mkdir(self.path("folder"))
        for name, fragment in (("folder", "cannot read"), ("bp.json", '"bp"'), ("rows.json", "geometry"), ("broken.json", "no report"), ("none.json", "cannot read")):
            result = self.run_rafter("bench", "bk", *TINY, *self.arguments, "--compare", name)
            self.assertEqual(result.returncode, command_test.WRONG_INPUT, name)
            self.assertIn(fragment, result.stderr)
            self.assertIn(name, result.stderr)
            self.assertEqual(result.stdout, "")


class Options(Bench):
    def test_wrong_ones_are_named_with_what_is_accepted(self):
        for arguments, fragments in (
                (("--degree", "2"), ("unknown option '--degree'", "did you mean '--degrees'")),
                (("--degrees",), ("--degrees needs a value",)),
                (("--degrees", "2,x"), ("--degrees", "'x'")),
                (("--degrees", "2.5"), ("--degrees", "2.5")),
                (("--degrees", "0"), ("--degrees", "out of range", "1 to")),
                (("--degrees", "1..13"), ("--degrees", "13", "out of range", "1 to 12")),
                (("--degrees", "4..2"), ("--degrees", "4..2 is empty")),
                (("--mdofs", "1..2"), ("--mdofs", "'1..2'")),
                (("--mdofs", "-1"), ("--mdofs", "out of range")),
                (("--mdofs=nan",), ("--mdofs", "out of range")),
                (("--threads", "99999999999"), ("--threads", "out of range")),
                (("--cases", "bp1,bp7"), ("--cases", "'bp7'", "did you mean 'bp1'", "elasticity")),
                (("--geometry", "deform"), ("--geometry", "did you mean 'deformed'")),
                (("--geometry", "prism"), ("--geometry", "did you mean 'prisms'", "curved-triangles")),
                (("--machine", "old"), ("--machine", "fresh, kept")),
                (("--plan", "contraction=dens"), ("contraction", "dense")),
                (("--plot", "nowhere/plot.svg"), ("--plot", "nowhere is no folder")),
                (("--json", "nowhere/report.json"), ("--json", "nowhere is no folder")),
                (("--plot", "plot.png"), ("--plot", ".svg"))):
            self.assert_refused(self.run_rafter("bench", "bp", *arguments), *fragments)

    def test_axlocal_names_its_own(self):
        for arguments, fragments in (
                (("--kernels", "trilinea"), ("--kernels", "did you mean 'trilinear'", "parallelepiped")),
                (("--equations", "stokes"), ("--equations", "'stokes'", "helmholtz-3")),
                (("--geometry", "deformed"), ("unknown option '--geometry'",)),
                (("--plan", "factors=store"), ("factors is given twice",)),
                (("--equations", "poisson,poisson-3", "--kernels", "merged"), ("no variant", "poisson-3: baseline, parallelepiped, trilinear, partial")),
                (("--plan", "store=cached"), ("store", "stores"))):
            self.assert_refused(self.run_rafter("bench", "axlocal", *arguments), *fragments)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    command_test.RAFTER, command_test.SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
