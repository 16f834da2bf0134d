#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Devices as users of the command see them: chosen by name, measured, tuned, and their copies reported.

usage: device_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import json
import os
import re
import sys
import tempfile
import unittest

import command_test

PHASES = ["mesh", "spaces", "kernels", "setup", "solve", "check", "output"]


class Devices(command_test.CommandTest):
    @classmethod
    def setUpClass(cls):
        """All tests share a cache, since measuring and compiling take longer than they do."""
        cls.cache = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.cache.cleanup)
        command_test.fill_cache(cls.cache.name)

    def run_rafter(self, *arguments, environment=None):
        return super().run_rafter(*arguments, environment={"XDG_CACHE_HOME": self.cache.name, **(environment or {})})

    def require_opencl(self):
        if "works" in re.findall(r"^opencl:\d+ +(\S+)", self.run_rafter("doctor").stdout, re.MULTILINE):
            return
        if os.environ.get("RAFTER_NEEDS_OPENCL") == "1":
            self.fail("RAFTER_NEEDS_OPENCL is 1, but no OpenCL device works")
        self.skipTest("this machine has no OpenCL device (apt-get install pocl-opencl-icd)")

    def solve(self, device, *arguments):
        report, result = self.solved(command_test.POISSON, "--device", device, "--verbose", *arguments)
        return result.stdout, report

    def test_copies_are_reported_per_phase_where_a_device_has_memory_of_its_own(self):
        text, report = self.solve("checked")
        self.assertEqual(list(report["copies"]), PHASES[:len(report["copies"])])
        self.assertEqual(report["copies"]["mesh"]["bytes_to_device"], 0)
        self.assertGreater(report["copies"]["kernels"]["bytes_to_device"], 0)
        for copies in report["copies"].values():
            for direction in ("device", "host"):
                self.assertEqual(copies[f"bytes_to_{direction}"] > 0, copies[f"num_to_{direction}"] > 0, copies)
        self.assertRegex(text, r"phase +seconds +share +MB to device +MB to host +copies")
        total = sum(copies["num_to_device"] + copies["num_to_host"] for copies in report["copies"].values())
        self.assertRegex(text, rf"(?m)^total .* {total}$")

    def test_copies_of_all_phases_are_one_line_of_the_short_report(self):
        report, result = self.solved(command_test.POISSON, "--device", "checked")
        total = sum(copies["num_to_device"] + copies["num_to_host"] for copies in report["copies"].values())
        self.assertRegex(result.stdout, rf"(?m)^copied: \S+ MB to the device, \S+ MB to the host, in {total} copies$")

    def test_the_host_copies_nothing_and_says_nothing_of_it(self):
        text, report = self.solve("host")
        self.assertNotIn("copies", report)
        self.assertNotIn("MB to device", text)

    def test_without_a_device_nothing_is_written(self):
        problem = self.write(command_test.POISSON + '[output]\nfile = "u.vtkhdf"\n')
        with tempfile.TemporaryDirectory() as empty:
            result = self.run_rafter("solve", problem, "--device", "opencl", "--json", "report.json",
                                     environment={"OCL_ICD_VENDORS": empty + "/"})
        self.assert_refused(result, "OpenCL", "./rafter.sh setup opencl", code=command_test.ENVIRONMENT)

    def test_the_doctor_names_the_command_that_adds_a_device(self):
        with tempfile.TemporaryDirectory() as empty:
            text = self.run_rafter("doctor", environment={"OCL_ICD_VENDORS": empty + "/"}).stdout
        self.assertRegex(text, r"(?m)^opencl +missing .*to get one: ./rafter.sh setup opencl")

    def test_devices_that_are_not_there_are_refused(self):
        self.require_opencl()
        self.refused(command_test.POISSON, "no OpenCL device 99", "opencl:0", arguments=("--device", "opencl:99"),
                     code=command_test.ENVIRONMENT)
        self.refused(command_test.POISSON, "unknown device 'opencl:x'", arguments=("--device", "opencl:x"))

    def test_a_device_is_measured_once_and_the_doctor_knows_it(self):
        self.require_opencl()
        first = self.run_rafter("machine", "--device", "opencl", "--json")
        self.assertEqual(first.returncode, command_test.DONE, first.stderr)
        record = json.loads(first.stdout)
        self.assertGreater(record["device"]["launch_seconds"], 0)
        self.assertGreater(record["device"]["bytes_to_device_per_second"], 0)
        self.assertGreater(record["matrix_product"]["one_core"], 0)
        self.assertEqual([record["levels"][0]["name"], record["levels"][-1]["name"]], ["registers", "memory"])
        self.assertEqual(self.run_rafter("machine", "--device", "opencl", "--json").stdout, first.stdout)
        text = self.run_rafter("machine", "--device", "opencl").stdout
        self.assertIn(record["model"], text)
        self.assertIn("shared memory", text)
        self.assertIn(f"products of dense matrices of doubles: {1e-9 * record['matrix_product']['one_core']:.1f} GFLOP/s", text)
        self.assertRegex(self.run_rafter("doctor").stdout, r"GFLOP/s, \d+\s+GB/s")

    def test_devices_of_the_host_have_no_record_and_are_not_tuned(self):
        self.assert_refused(self.run_rafter("machine", "--device", "checked"), "--device checked", "accepted are host")

    def record_of_a_target(self, name="target.json", **capabilities):
        """Writes the record of a graphics processor that is not here, with other capabilities, and returns its name."""
        with open(os.path.join(command_test.SOURCE, "bench/data/devices/nvidia-h200.json"), encoding="utf-8") as file:
            record = json.load(file)["machine"]
        record["device"].update(capabilities)
        return self.write(json.dumps(record), name)

    def test_kernels_are_generated_for_a_device_that_is_not_there(self):
        problem, target = self.write(command_test.POISSON), self.record_of_a_target()
        result = self.run_rafter("kernel", problem, "--target", target, "--source")
        self.assertEqual(result.returncode, command_test.DONE, result.stderr)
        self.assertIn("kernels in the language opencl for NVIDIA H200", result.stdout)
        self.assertRegex(result.stdout, r"mapping=cell_per_item")
        self.assertRegex(result.stdout, r"reqd_work_group_size\(8, 16, 1\)")
        self.assertNotIn("time:", result.stdout)
        given = self.run_rafter("kernel", problem, "--target", target, "--plan", "factors=recompute")
        self.assertRegex(given.stdout, r"factors=recompute.* \(given\)")

    def test_targets_that_nothing_is_written_for_are_refused(self):
        problem, right = self.write(command_test.POISSON), self.record_of_a_target()
        for arguments, fragments in (
                ([self.record_of_a_target("a.json", languages=["fortran"])], ["c and opencl", "fortran"]),
                ([self.record_of_a_target("b.json", most_items=-1)], ["most_items", "-1"]),
                ([problem], [problem, "record"]),
                (["none.json"], ["no such file"]),
                ([right, "--device", "opencl"], ["--device"]),
                ([right, "--matrix", "a.mtx"], ["--matrix"]),
                ([right, "--plan", "mapping=simd_cells"], ["NVIDIA H200", "cell_per_item"])):
            with self.subTest(arguments=arguments):
                result = self.run_rafter("kernel", problem, "--target", *arguments)
                self.assertEqual(result.returncode, command_test.WRONG_INPUT, result.stdout + result.stderr)
                for fragment in fragments:
                    self.assertIn(fragment, result.stderr)

    def test_solves_take_the_record_of_the_device(self):
        self.require_opencl()
        text, report = self.solve("opencl")
        record = json.loads(self.run_rafter("machine", "--device", "opencl", "--json").stdout)
        self.assertEqual(report["machine"]["name"], record["model"])
        self.assertAlmostEqual(report["machine"]["gflops"], 1e-9 * record["peaks"][0]["fma"]["all_cores"])
        self.assertIn("mapping=cell_per_item", report["operators"][0]["plan"])
        self.assertGreater(report["copies"]["kernels"]["bytes_to_device"], 0)
        self.assertIn("MB to device", text)

    def test_solves_with_blocks_of_fields_keep_their_vectors_on_the_device(self):
        self.require_opencl()
        report, _ = self.solved_file(os.path.join(command_test.SOURCE, "examples", "stokes-block.toml"), "--device", "opencl",
                                     sets=["output.file=stokes.vtkhdf"])
        self.assertGreater(report["iterations"], 20)
        for direction in ("device", "host"):
            self.assertLess(report["copies"]["solve"][f"bytes_to_{direction}"], 8 * report["dofs"], "a vector was copied")

    def test_plans_of_kernels_that_run_a_few_times_are_not_said_to_be_given(self):
        self.require_opencl()
        result = self.run_rafter("kernel", self.write(command_test.POISSON), "--device", "opencl", "--plan", "scatter=two-pass")
        self.assertEqual(re.findall(r"(?m)^ +plan (.): .*\((.*)\)$", result.stdout), [("A", "given"), ("B", "usual")],
                         result.stderr + result.stdout)

    def test_plans_are_measured_and_remembered_for_the_device(self):
        self.require_opencl()
        problem = self.write(command_test.POISSON)
        result = self.run_rafter("tune", problem, "--device", "opencl")
        self.assertEqual(result.returncode, command_test.DONE, result.stderr)
        self.assertRegex(result.stdout, r"timed: [1-5] of \d+ plans")
        again = self.run_rafter("tune", problem, "--device", "opencl")
        self.assertIn("remembered: nothing was timed", again.stdout, again.stderr)
        kernel = self.run_rafter("kernel", problem, "--device", "opencl")
        self.assertIn("(measured)", kernel.stdout, kernel.stderr)
        of_host = self.run_rafter("kernel", problem)
        self.assertNotIn("(measured)", of_host.stdout, of_host.stderr)

    def test_the_bake_off_runs_on_the_device(self):
        self.require_opencl()
        result = self.run_rafter("bench", "bp", "--device", "opencl", "--cases", "bp1", "--degrees", "2", "--mdofs", "0.001", "--rounds",
                                 "3", "--sample-seconds", "0.01", "--machine", "kept", "--json", "bp.json")
        self.assertEqual(result.returncode, command_test.DONE, result.stderr)
        with open(self.path("bp.json"), encoding="utf-8") as file:
            (row,) = json.load(file)["rows"]
        self.assertGreater(row["mdofs_per_second"], 0)
        self.assertIn("mapping=cell_per_item", row["plan"] if isinstance(row["plan"], str) else str(row["plan"]))
        self.assertNotIn("ratio_to_peer", row)

    SMALL = ["--mdofs", "0.0005", "--rounds", "1", "--sample-seconds", "0", "--machine", "kept"]

    def bench(self, suite, *arguments):
        result = self.run_rafter("bench", suite, "--device", "opencl", *self.SMALL, "--json", f"{suite}.json", *arguments)
        self.assertEqual(result.returncode, command_test.DONE, result.stderr)
        with open(self.path(f"{suite}.json"), encoding="utf-8") as file:
            return json.load(file)["rows"]

    def test_solves_of_suites_run_on_the_device(self):
        self.require_opencl()
        for row in self.bench("poisson-solve", "--degrees", "2", "--geometry", "quadrilaterals"):
            self.assertTrue(row["is_converged"])
            self.assertGreater(row["operator_seconds"], 0)
            self.assertIn("mapping=cell_per_item", str(row["plan"]))
        rows = self.bench("hosfem", "--degrees", "2", "--setup", "nekbone", "--equations", "poisson", "--kernels", "trilinear")
        self.assertEqual([row["solver"] for row in rows], ["plain", "fused"])
        self.assertEqual(rows[0]["iterations"], rows[1]["iterations"])

    def test_operators_of_suites_run_on_the_device(self):
        self.require_opencl()
        rows = self.bench("axlocal", "--degrees", "1", "--equations", "poisson", "--kernels", "baseline,trilinear")
        self.assertLess(max(row.get("difference", 0) for row in rows), 1e-12)

    def test_integration_has_the_rates_and_copies_of_the_device(self):
        self.require_opencl()
        rows = self.bench("first-order", "--cases", "poisson", "--geometry", "curved-prisms")
        record = json.loads(self.run_rafter("machine", "--device", "opencl", "--json").stdout)
        stream, product, device = record["levels"][-1]["triad"]["one_core"], record["matrix_product"]["one_core"], record["device"]
        for row in rows:
            self.assertAlmostEqual(row["estimate_ns"] / max(8 * row["accesses"] / stream, row["operations"] / product), 1e9, 0)
            self.assertEqual("to_device_ns" in row, not device["has_unified_memory"], row)
            if "to_device_ns" in row:
                self.assertAlmostEqual(row["to_device_ns"] * device["bytes_to_device_per_second"], 8e9 * row["input_words"], -3)
                self.assertAlmostEqual(row["to_host_ns"] * device["bytes_to_host_per_second"], 8e9 * row["output_words"], -3)
        (best,) = (row for row in rows if row["best"] == "*")
        self.assertAlmostEqual(best["best_core_gflops"] * device["num_compute_units"], best["best_gflops"], 9)

    def test_rows_whose_plans_need_the_host_are_left_out_or_refused(self):
        self.require_opencl()
        for suite, key, left, kept in (("elasticity-solve", "solver", "pa_jac, pa_gmg, paop_gmg", ["rafter"]),
                                       ("elasticity-kernel", "step", "pa-qvec, c1, c2, c3, paop, lanes, layers, even-odd", ["planned"])):
            result = self.run_rafter("bench", suite, "--device", "opencl", *self.SMALL, "--degrees", "2", "--json", "rows.json")
            self.assertEqual(result.returncode, command_test.DONE, result.stderr)
            self.assertRegex(result.stdout, rf"(?m)^left out, since their plans do not run on device 'opencl': {left}$")
            with open(self.path("rows.json"), encoding="utf-8") as file:
                self.assertEqual([row[key] for row in json.load(file)["rows"]], kept)
            os.remove(self.path("rows.json"))
            by_name = left.split(", ")[0] + "," + kept[0]
            result = self.run_rafter("bench", suite, "--device", "opencl", f"--{key}s", by_name)
            self.assert_refused(result, by_name.split(",")[0], "opencl", "accepted there: ", kept[0])

    def test_suites_beside_loops_of_the_host_name_those_that_take_a_device(self):
        for suite in ("gathers", "sparse"):
            self.assert_refused(self.run_rafter("bench", suite, "--device", "opencl"), "--device", "suites that take it: bp, bk, axlocal")

    # A layer of the loader lets calls of the driver fail from the N-th on: the command ends with one error, and nothing is half-written.

    def solve_to_file(self, *options, **environment):
        problem = self.write(command_test.POISSON + '[output]\nfile = "u.vtkhdf"\n')
        return self.run_rafter("solve", problem, "--device", "opencl", *options,
                               environment={"OPENCL_LAYERS": os.environ["RAFTER_FAILING_OPENCL"], **environment})

    def calls(self):
        """The number of calls of each function in a run that finds all its programs in the cache. What measures operators calls as long
        as time allows: a quiet run does not."""
        for _ in range(2):
            result = self.solve_to_file("--quiet", FAILING_OPENCL_CALLS=os.path.join(self.cache.name, "calls"))
        self.assertEqual(result.returncode, command_test.DONE, result.stderr)
        self.assertEqual(sorted(os.listdir(self.directory.name)), ["problem.toml", "u.vtkhdf"])
        self.size = os.path.getsize(self.path("u.vtkhdf"))
        os.remove(self.path("u.vtkhdf"))
        with open(os.path.join(self.cache.name, "calls"), encoding="utf-8") as file:
            return {name: int(number) for name, number in (line.split() for line in file)}

    def assert_failed_once(self, result, *fragments):
        """One error; the solution is written as a whole or, if the failure came before, not at all."""
        for name in os.listdir(self.directory.name):
            if name == "u.vtkhdf":
                self.assertEqual(os.path.getsize(self.path(name)), self.size)
                os.remove(self.path(name))
        self.assert_refused(result, "OpenCL", *fragments, code=command_test.ENVIRONMENT)
        self.assertEqual(result.stderr.count("rafter: "), 1, result.stderr)

    def test_calls_that_fail_end_with_one_error_and_nothing_half_written(self):
        self.require_opencl()
        if not os.environ.get("RAFTER_FAILING_OPENCL"):
            self.skipTest("the layer of the loader is not built (Debian: opencl-headers)")
        calls = self.calls()
        for name, fragments in (("create_buffer", ["allocating", "exhausted"]), ("write_buffer", ["copying to the device", "exhausted"]),
                                ("fill_buffer", ["exhausted"]), ("read_buffer", ["copying from the device", "lost"]),
                                ("run_kernel", ["running", "lost"]), ("build_program", ["cannot compile", "source kept"]),
                                ("wait_for_events", ["running", "fault"])):
            for number in sorted({1, calls[name]//4, calls[name]//2} - {0}):
                for options in (["--quiet"], ["--json", "report.json"]):
                    if number > calls[name] and options == ["--quiet"]:
                        continue  # only what is measured calls it
                    with self.subTest(name, number=number, options=options):
                        result = self.solve_to_file(*options, FAILING_OPENCL=f"{name}:{number}")
                        self.assert_failed_once(result, *fragments)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    command_test.RAFTER, command_test.SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
