#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""CUDA as users of the command see it, on machines without a device: kernels are compiled for architectures by NVRTC, and
whole problems are solved on an emulated driver (tests/support/emulated_cuda), whose failures have their messages.

usage: cuda_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]

What NVRTC 13 reports of the kernels in CASES stands in tests/golden/cuda_resources.txt; RAFTER_UPDATE_GOLDEN=1 writes it.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest

import command_test
from cases import exhaustive

SOURCE = pathlib.Path(sys.argv[2]).resolve()
RESOURCES = SOURCE / "tests/golden/cuda_resources.txt"
SHAPES = ["interval", "triangle", "quadrilateral", "tetrahedron", "prism", "pyramid", "hexahedron"]
FORMS = {  # example by shape; the degrees at which it is compiled for sm_90, and those for other architectures
    **{f"poisson{'' if shape == 'hexahedron' else '-' + shape}": ([1, 2, 3, 4], [2]) for shape in SHAPES},
    "beam": ([1, 2, 3, 4], [2]),
    "helmholtz": ([2, 4], []),
    "st-venant-kirchhoff": ([1, 2], [2]),
    "neo-hookean": ([1, 2], []),
    "plate": ([2, 4], []),
    "periodic": ([2], []),
    "robin": ([2], []),
}
# Work arrays of every item that the device holds at a time have to fit its memory: 60 kB of each of 32768 items here.
LARGER_DEVICES = {"beam-multigrid": {"EMULATED_CUDA_BYTES": "2500000000"}}
# Right-hand sides that spill: 8 bytes, and 1.1 kB (docs/status.md).
SPILLING = {("sm_100", "poisson-prism", 2), ("gfx90a", "poisson-tetrahedron", 2)}
CASES = [("sm_90", name, degree) for name, (degrees, _) in FORMS.items() for degree in degrees]
CASES += [(architecture, name, degree) for architecture in ("sm_80", "sm_100", "gfx90a") for name, (_, degrees) in FORMS.items() for degree in degrees]
KERNEL = re.compile(r"(\d+) registers, (\d+) bytes of local memory per item \(work arrays (\d+)\), (\d+) spilled, (\d+) bytes of shared memory")


class Cuda(command_test.CommandTest):
    def environment_of(self, **variables):
        """Names the emulated driver. Ceilings of a small device are measured in seconds."""
        return {"EMULATED_CUDA_BYTES": "100000000", "CUDA_HOME": str(pathlib.Path(os.environ["RAFTER_EMULATED_CUDA"]).parent), "LD_LIBRARY_PATH": os.environ["RAFTER_EMULATED_CUDA"],
                **variables}

    def compilers(self):
        """The lines of doctor about NVRTC and hiprtc, where they work."""
        lines = re.findall(r"^((NVRTC|hiprtc) +works .*)", self.run_rafter("doctor").stdout, re.MULTILINE)
        return {name: line for line, name in lines}

    def require_nvrtc(self):
        if "NVRTC" not in self.compilers():
            self.skipTest("this machine has no NVRTC")

    def example(self, name):
        return str(SOURCE / "examples" / f"{name}.toml")

    def resources(self, case):
        architecture, name, degree = case
        with tempfile.TemporaryDirectory() as cache:
            device = "hip" if architecture.startswith("gfx") else "cuda"
            output = self.run_rafter("kernel", self.example(name), "--device", device, "--architecture", architecture, "--set", f"fields.u.degree={degree}",
                                     environment={"XDG_CACHE_HOME": cache}).stdout
        return [tuple(map(int, found)) for found in KERNEL.findall(output)]

    def test_problems_are_solved_on_the_emulated_device(self):
        with tempfile.TemporaryDirectory() as cache:
            environment = self.environment_of(XDG_CACHE_HOME=cache)
            for name in ("poisson-quadrilateral", *exhaustive("beam-multigrid", "neo-hookean-2d")):
                reports = {}
                for device in ("host", "cuda"):
                    log = self.path("calls")
                    arguments = ["solve", self.example(name), "--device", device, "--json", f"{device}.json", "--set", "functionals.norm=inner(u, u)*dx",
                                 "--set", "solver.rtol=1e-12"]
                    of_device = {**environment, "EMULATED_CUDA_LOG": log, **LARGER_DEVICES.get(name, {})}
                    result = self.run_rafter(*arguments, environment=of_device if device == "cuda" else None)
                    self.assertEqual(result.returncode, command_test.DONE, result.stderr)
                    reports[device] = json.loads(pathlib.Path(self.path(f"{device}.json")).read_text(encoding="utf-8"))
                norms = [reports[device]["functionals"]["norm"] for device in ("host", "cuda")]
                self.assertAlmostEqual(norms[0] / norms[1], 1, delta=1e-9)
                self.assertNotIn("live", pathlib.Path(log).read_text(encoding="utf-8"))

    def test_points_in_items_stay_in_registers(self):
        self.require_nvrtc()
        for mapping in ("slab", "point_per_item"):
            for degree in (1, 3):
                with self.subTest(mapping=mapping, degree=degree):
                    output = self.run_rafter("kernel", self.example("poisson"), "--device", "cuda", "--architecture", "sm_90", "--set",
                                             f"fields.u.degree={degree}", "--plan", f"mapping={mapping} factors=store", "--schedule").stdout
                    self.assertIn("\n  evaluate\n" if mapping == "point_per_item" else "\n    evaluate\n", output)
                    registers, local_bytes, _, spilled, shared_bytes = map(int, KERNEL.findall(output)[0])
                    self.assertLess(registers, 256)
                    self.assertEqual((local_bytes, spilled), (0, 0))
                    self.assertGreater(shared_bytes, 0)

    def test_plans_that_kernels_without_a_device_do_not_follow_are_told(self):
        plan = "mapping=slab contraction=dense"
        result = self.run_rafter("kernel", self.example("poisson-quadrilateral"), "--device", "cuda", "--architecture", "sm_90", "--plan", plan)
        self.assertEqual(result.returncode, command_test.DONE, result.stderr)
        self.assertIn("--plan: mapping=slab is not used", result.stderr)

    def test_kernels_fit_the_registers_of_devices(self):
        compilers = self.compilers()
        cases = [case for case in CASES if ("hiprtc" if case[0].startswith("gfx") else "NVRTC") in compilers]
        if not cases:
            self.skipTest("this machine has neither NVRTC nor hiprtc")
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = dict(zip(cases, pool.map(self.resources, cases)))
        lines = []
        for (architecture, name, degree), kernels in found.items():
            with self.subTest(architecture=architecture, name=name, degree=degree):
                self.assertTrue(kernels)
                is_of_amd = architecture.startswith("gfx")  # what is spilled there may be in registers of matrix units
                checked = kernels if is_of_amd or "NVRTC 13" in compilers["NVRTC"] else []
                spills = [kernel for kernel in checked if kernel[3] > 0 and not is_of_amd or kernel[1] > kernel[2] + 64]
                self.assertEqual(bool(spills), bool(checked) and (architecture, name, degree) in SPILLING, spills)
                for registers, *_ in checked:
                    self.assertLessEqual(registers, 512 if is_of_amd else 255)
            if architecture.startswith("sm_"):
                lines += [f"{architecture} {name} p={degree}: {registers} registers, {local} of {work} bytes of work arrays, {shared} shared"
                          for registers, local, work, spilled, shared in kernels]
        if os.environ.get("RAFTER_UPDATE_GOLDEN") == "1":
            RESOURCES.write_text("\n".join(lines) + "\n")
        if "NVRTC 13.0" in compilers.get("NVRTC", ""):  # other versions take other registers
            self.assertEqual(RESOURCES.read_text().splitlines(), lines)

    def test_a_text_and_its_resources_need_no_device(self):
        self.require_nvrtc()
        result = self.run_rafter("kernel", self.example("poisson"), "--device", "cuda", "--sm", "90", "--source")
        self.assertEqual(result.returncode, command_test.DONE, result.stderr)
        output = result.stdout
        for part in ("__global__ void __launch_bounds__(128, 2) entry_", "registers", "bytes of code", "compiled for sm_90", "nothing runs"):
            self.assertIn(part, output)

    def test_what_is_no_architecture_is_refused(self):
        kernel = ["kernel", self.example("poisson"), "--sm"]
        self.assert_refused(self.run_rafter(*kernel, "90", "--device", "opencl"), "go with --device cuda or hip")
        self.assert_refused(self.run_rafter(*kernel, "52", "--device", "cuda"), "--sm")
        self.assert_refused(self.run_rafter(*kernel, "90", "--device", "hip"), "begin with gfx")
        self.assert_refused(self.run_rafter("kernel", self.example("poisson"), "--device", "cuda", "--architecture", "gfx90a"), "begin with sm_")
        result = self.run_rafter(*kernel, "60", "--device", "cuda", environment=self.environment_of()) # the emulated compiler knows 75 and more
        self.assertEqual(result.returncode, command_test.ENVIRONMENT)
        self.assertIn("not for sm_60", result.stderr)

    def test_without_a_driver_there_is_one_clear_error(self):
        result = self.run_rafter("solve", self.example("poisson"), "--device", "cuda:9")
        self.assertEqual(result.returncode, command_test.ENVIRONMENT)
        self.assertRegex(result.stderr, "there is no CUDA (here|device 9)")

    def test_failures_of_the_driver_end_the_command(self):
        for variables, parts in (
            ({"EMULATED_CUDA_DEVICES": "0"}, ["no CUDA device 0"]),
            ({"EMULATED_CUDA_VERSION": "10020"}, ["too old", "12.0 or newer"]),
            ({"EMULATED_CUDA_FAIL": "cuMemAlloc_v2:20:2"}, ["allocating", "exhausted", "coarser mesh"]),
            ({"EMULATED_CUDA_FAIL": "cuLaunchKernel:2:700"}, ["running", "fault of the device"]),
            ({"EMULATED_CUDA_FAIL": "cuModuleLoadData:1:209"}, ["NVRTC 13.0", "does not accept the code"]),
            ({"EMULATED_CUDA_BROKEN": "1"}, ["cannot compile", "source kept"]),
        ):
            with self.subTest(variables=variables), tempfile.TemporaryDirectory() as folder:
                log = pathlib.Path(folder) / "calls"
                result = self.run_rafter("solve", self.write(command_test.POISSON), "--device", "cuda",
                                         environment=self.environment_of(XDG_CACHE_HOME=folder, EMULATED_CUDA_LOG=str(log), **variables))
                self.assertEqual(result.returncode, command_test.ENVIRONMENT, result.stderr)
                for part in parts:
                    self.assertIn(part, result.stderr)
                self.assertNotIn("live", log.read_text() if log.exists() else "")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    command_test.RAFTER, command_test.SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
