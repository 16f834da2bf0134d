#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The bundle of ./rafter.sh bundle, unpacked in a folder of its own: it takes libraries from nowhere else, and its script survives what may happen.

usage: bundle_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

from command_test import PATIENCE_SECONDS

BUILD, SOURCE = pathlib.Path(), pathlib.Path()
GLIBC = re.compile(r"(ld-linux[^/]*|lib(c|m|mvec|dl|pthread|rt|resolv|util|anl))\.so\.\d+$")
PATH = "/usr/bin:/bin"


class BundleTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name).resolve()
        cls.pack(cls.folder / "bundle.tar")
        with tarfile.open(cls.folder / "bundle.tar") as archive:
            archive.extractall(cls.folder / "another place")
        cls.bundle = cls.folder / "another place" / "rafter-bundle"

    @classmethod
    def pack(cls, file, code=0):
        result = subprocess.run(["bash", str(SOURCE / "scripts/bundle.sh"), str(BUILD), str(file)], capture_output=True, text=True, timeout=PATIENCE_SECONDS,
                                check=False)
        if result.returncode != code:
            raise AssertionError(f"exit code {result.returncode}: {result.stdout}{result.stderr}")
        return result.stderr

    def run_bundled(self, *command, code=0, **variables):
        """Runs a program of the bundle with no environment but these variables, in a folder that is not its own."""
        result = subprocess.run([str(self.bundle / command[0]), *command[1:]], cwd=self.folder, env=variables, stdin=subprocess.DEVNULL, capture_output=True,
                                text=True, timeout=PATIENCE_SECONDS, check=False)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def libraries_of(self, *command):
        """What the loader loads for a program, without drivers, which are the machine's."""
        vendors = self.folder / "no drivers"
        vendors.mkdir(exist_ok=True)
        trace = self.run_bundled(*command, PATH=PATH, OCL_ICD_VENDORS=str(vendors), LD_DEBUG="files").stderr
        return [pathlib.Path(os.path.normpath(path)) for path in set(re.findall(r"calling init: (\S.*)", trace))]

    def test_all_libraries_are_of_the_bundle_or_of_glibc(self):
        # `rafter doctor` also opens drivers and compilers of devices, which are the machine's.
        for command in (("bin/rafter", "bench"), ("bin/device-tests", "--gtest_list_tests")):
            libraries = self.libraries_of(*command)
            elsewhere = [str(path) for path in libraries if self.bundle not in path.parents]
            self.assertEqual([path for path in elsewhere if not GLIBC.search(path)], [])
            self.assertGreater(len(libraries) - len(elsewhere), 5)

    def test_libraries_that_are_opened_at_run_time_are_of_the_bundle(self):
        libraries = self.libraries_of("bin/rafter", "doctor")
        names = [path.name for path in libraries]
        self.assertIn("libOpenCL.so.1", names)
        if (BUILD / "librafter_hypre.so").exists():
            self.assertIn("librafter_hypre.so", names)
            hypre = [path for path in libraries if path.name.startswith("libHYPRE")]
            self.assertTrue(hypre and all(self.bundle in path.parents for path in hypre), hypre)

    def test_no_library_of_glibc_is_packed(self):
        self.assertEqual([path.name for path in (self.bundle / "lib").iterdir() if GLIBC.search(path.name)], [])

    def test_doctor_and_an_example_run_without_an_environment(self):
        self.assertIn("Ready: problems can be solved", self.run_bundled("bin/rafter", "doctor", PATH=PATH).stdout)
        self.run_bundled("bin/rafter", "solve", str(self.bundle / "examples/poisson-interval.toml"), "--quiet", PATH=PATH)

    def test_names_that_say_no_compression_are_refused(self):
        self.assertIn("ends with none of .tar.xz, .tar.gz, .tar", self.pack(self.folder / "bundle.zip", code=3))
        self.assertFalse((self.folder / "bundle.zip").exists())

    def test_the_device_script_leaves_its_results(self):
        results = self.folder / "results"
        output = self.run_bundled("bench/device.sh", "--parts", "system,doctor", str(results), PATH=PATH).stdout
        self.assertIn("doctor: code 0", output)
        self.assertIn("Ready: problems can be solved", (results / "log.txt").read_text())
        self.assertTrue(tarfile.is_tarfile(results / "reports.tar.gz"))
        self.assertIn("unknown option '--fast'", self.run_bundled("bench/device.sh", "--fast", code=2, PATH=PATH).stderr)

    def test_the_device_script_may_be_stopped(self):
        scratch, results = self.folder / "scratch", self.folder / "stopped"
        scratch.mkdir()
        environment = {"PATH": PATH, "TMPDIR": str(scratch)}
        with subprocess.Popen([str(self.bundle / "bench/device.sh"), "--parts", "examples", str(results)], env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, text=True) as script:
            end = time.monotonic() + PATIENCE_SECONDS
            while not list(scratch.glob("*/reports/examples/*.txt")) and time.monotonic() < end:
                time.sleep(0.05)
            script.send_signal(signal.SIGTERM)
            output, _ = script.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual((script.returncode, output.split()[-1]), (130, "stopped"))
        self.assertEqual(list(scratch.glob("rafter-device.*")), [])
        with tarfile.open(results / "reports.tar.gz") as archive:
            self.assertTrue([name for name in archive.getnames() if name.startswith("reports/examples/")])


if __name__ == "__main__":
    BUILD, SOURCE = pathlib.Path(sys.argv[1]).resolve().parent, pathlib.Path(sys.argv[2]).resolve()
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
