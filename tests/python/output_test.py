#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Where outputs of the command go: regular files are replaced, everything else is written to. Devices are copies in a
folder of the test, so that a mistake does not replace those of the machine.

usage: output_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import json
import os
import stat
import subprocess
import sys
import tempfile
import threading
import unittest

import command_test
from command_test import DONE, ENVIRONMENT, POISSON, WRONG_INPUT

HDF5 = b"\x89HDF\r\n"
TINY = ("bk", "--cases", "bp1", "--degrees", "1", "--mdofs", "0.0001", "--rounds", "3", "--sample-seconds", "0",
        "--machine", "kept")


class Outputs(command_test.CommandTest):
    @classmethod
    def setUpClass(cls):
        """Measurements do not go into the user's cache."""
        cache = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cache.cleanup)
        command_test.fill_cache(cache.name)
        cls.environment = {**os.environ, "XDG_CACHE_HOME": cache.name}

    def setUp(self):
        super().setUp()
        self.problem = self.write(POISSON)
        self.mesh = os.path.join(command_test.SOURCE, "examples/meshes/beam-hex.mesh")

    def solve(self, *arguments, **streams):
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
        return subprocess.run([command_test.RAFTER, "solve", self.problem, *arguments], cwd=self.directory.name,
                              env=self.environment, check=False, timeout=command_test.PATIENCE_SECONDS, **streams)

    def commands(self, name):
        """Returns all commands that write a file of that name, with the beginning of the file and a part of it."""
        return [(("solve", self.problem, "--json", name), b"{", b'"status": "converged"'),
                (("solve", self.problem, "--set", "output.file=" + name), HDF5, b"VTKHDF"),
                (("tune", self.problem, "--record", name), b"{", b'"kernels"'),
                (("bench", *TINY, "--json", name), b"{", b'"suite": "bk"'),
                (("bench", *TINY, "--plot", name), b"<svg", b"</svg>"),
                (("mesh", self.mesh, "--format", "msh", "--write", name), b"$MeshFormat\n4.1", b"$Elements")]

    def run_bytes(self, arguments, **streams):
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
        return subprocess.run([command_test.RAFTER, *arguments], cwd=self.directory.name, env=self.environment, check=False,
                              timeout=command_test.PATIENCE_SECONDS, **streams)

    def test_dash_is_standard_output_which_carries_nothing_else(self):
        for arguments, start, part in self.commands("-"):
            result = self.run_bytes(arguments)
            self.assertEqual(result.returncode, DONE, result.stderr)
            self.assertTrue(result.stdout.startswith(start), result.stdout[:100])
            self.assertIn(part, result.stdout)
            if result.stdout[:1] == b"{":
                json.loads(result.stdout)
            self.assertTrue(result.stderr)
        self.assertEqual(os.listdir(self.directory.name), ["problem.toml"])

    def test_standard_output_by_another_name_is_not_mixed_with_text(self):
        with open(self.path("out"), "wb") as out:
            self.assertEqual(self.solve("--json", "/dev/stdout", stdout=out).returncode, DONE)
        with open(self.path("out"), encoding="utf-8") as out:
            self.assertEqual(json.load(out)["status"], "converged")

    def test_two_outputs_do_not_share_standard_output(self):
        self.assert_refused(self.run_rafter("solve", self.problem, "--json", "-", "--set", "output.file=-"),
                            "also the output of", "output.file")
        self.assert_refused(self.run_rafter("mesh", self.mesh, "--json", "--write", "-", "--format", "msh"), "--json")
        self.assert_refused(self.run_rafter("bench", *TINY, "--json", "-", "--plot", "-"), "--plot")

    def test_pipes_are_written_to(self):
        os.mkfifo(self.path("pipe"))
        for arguments, start, part in self.commands("pipe"):
            received = []

            def read():
                with open(self.path("pipe"), "rb") as pipe:
                    received.append(pipe.read())

            reader = threading.Thread(target=read)
            reader.start()
            result = self.run_bytes(arguments)
            reader.join(10)
            self.assertEqual(result.returncode, DONE, result.stderr)
            self.assertTrue(received[0].startswith(start), received[0][:100])
            self.assertIn(part, received[0])
            self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe")).st_mode))

    def test_full_device_is_the_environment_and_stays(self):
        try:
            os.mknod(self.path("full"), stat.S_IFCHR | 0o600, os.makedev(1, 7))
            os.close(os.open(self.path("full"), os.O_WRONLY))
        except OSError:
            self.skipTest("devices cannot be made here")
        os.symlink("full", self.path("link"))
        for name in ("full", "link"):
            for arguments, *_ in self.commands(name):
                result = self.run_bytes(arguments)
                self.assertEqual(result.returncode, ENVIRONMENT, result.stderr)
                self.assertIn(name.encode() + b": cannot be written: No space left on device", result.stderr)
        self.assertTrue(stat.S_ISCHR(os.lstat(self.path("full")).st_mode))
        self.assertTrue(os.path.islink(self.path("link")))
        self.assertEqual(sorted(os.listdir(self.directory.name)), ["full", "link", "problem.toml"])

    def test_links_stay_and_their_files_are_replaced(self):
        os.mkdir(self.path("below"))
        os.symlink("below/r.json", self.path("link"))
        for _ in range(2):
            self.assertEqual(self.solve("--json", "link").returncode, DONE)
        self.assertTrue(os.path.islink(self.path("link")))
        with open(self.path("below/r.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["status"], "converged")
        self.assertEqual(os.listdir(self.path("below")), ["r.json"])

    def test_closed_pipes_are_errors_of_the_environment(self):
        for arguments in (("--json", "-"), ("--set", "output.file=-"), ()):
            reading, writing = os.pipe()
            os.close(reading)
            result = self.solve(*arguments, stdout=writing)
            os.close(writing)
            self.assertEqual(result.returncode, ENVIRONMENT, result.stderr)
            self.assertIn(b"standard output", result.stderr)
            self.assertIn(b"Broken pipe", result.stderr)

    def test_report_is_written_though_nobody_reads_the_text(self):
        reading, writing = os.pipe()
        os.close(reading)
        self.solve("--json", "r.json", stdout=writing)
        os.close(writing)
        with open(self.path("r.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["status"], "converged")

    def test_closed_standard_output_is_not_taken_by_a_file(self):
        result = subprocess.run(["/bin/sh", "-c", f'exec "{command_test.RAFTER}" solve problem.toml --json r.json >&-'],
                                cwd=self.directory.name, capture_output=True, text=True, check=False, timeout=command_test.PATIENCE_SECONDS)
        self.assertEqual(result.returncode, ENVIRONMENT, result.stderr)
        self.assertIn("standard output cannot be written", result.stderr)
        with open(self.path("r.json"), encoding="utf-8") as file:
            json.load(file)

    def test_format_of_a_mesh_without_extension_is_given(self):
        for name in ("-", "mesh", "mesh.stl"):
            result = self.run_rafter("mesh", self.mesh, "--write", name)
            self.assert_refused(result, "msh (Gmsh 4.1)", "mesh (MFEM v1.0)")
        self.assert_refused(self.run_rafter("mesh", self.mesh, "--write", "-", "--format", "stl"), "'stl'", "msh (Gmsh 4.1)",
                            "msh41 (Gmsh 4.1)", "msh22 (Gmsh 2.2)", "mesh (MFEM v1.0)")
        self.assert_refused(self.run_rafter("mesh", self.mesh, "--format", "msh"), "--write")
        self.assert_refused(self.run_rafter("mesh", self.mesh, "--binary"), "--binary", "--write")
        result = self.run_rafter("mesh", self.mesh, "--write", "a.mesh", "--binary")
        self.assert_refused(result, "a.mesh", "MFEM v1.0", "msh22 (Gmsh 2.2)")
        text = self.run_rafter("mesh", self.mesh, "--write", "-", "--format", "mesh")
        self.assertTrue(text.stdout.startswith("MFEM mesh v1.0"), text.stdout[:40])


if __name__ == "__main__":
    command_test.RAFTER, command_test.SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
