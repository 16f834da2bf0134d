#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Inputs that are not what they seem: names and messages that would command a terminal, and what is no file in the place of files.

usage: hostile_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import json
import os
import re
import subprocess
import sys
import unicodedata
import unittest

import command_test
from command_test import DONE, NOT_SOLVED, POISSON, WRONG_INPUT

RED, TITLE, C1, TURNED = "\x1b[31m", "\x1b]0;owned\x07", "\x9b31m", "\u202e"
MESH = """MFEM mesh v1.0
dimension
2
elements
1
1 3 0 1 2 3
boundary
0
vertices
4
2
0 0
1 0
1 1
0 1
"""
GMSH = """$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
2
1 1 "{edge}"
2 2 "body"
$EndPhysicalNames
$Nodes
4
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
$EndNodes
$Elements
2
1 1 2 1 1 1 2
2 3 2 2 1 1 2 3 4
$EndElements
"""


class Terminals(command_test.CommandTest):
    """Whatever stands in files, names and arguments, standard output and standard error hold nothing that a terminal obeys."""

    def run_on_bytes(self, *arguments):
        result = subprocess.run([command_test.RAFTER, *arguments], cwd=self.directory.name, capture_output=True, timeout=command_test.PATIENCE_SECONDS, check=False)
        for stream in (result.stdout, result.stderr):
            text = stream.decode("utf-8")  # valid, whatever came in
            obeyed = [c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") and c not in "\n\t"]
            self.assertEqual(obeyed, [], text)
        return result.returncode, result.stdout.decode(), result.stderr.decode()

    def write_bytes(self, name, content):
        with open(os.path.join(os.fsencode(self.directory.name), name), "wb") as file:
            file.write(content)
        return name

    def test_titles_and_names_of_files_are_shown_as_escapes(self):
        # TOML refuses control characters as they are, and takes their escapes.
        title = r'title = "T \u001B[31m\u001B]0;owned\u0007 \u009B31m \u202E end"'
        problem = self.write(POISSON.replace('title = "Test"', title))
        code, text, _ = self.run_on_bytes("solve", problem, "--json", "report.json")
        self.assertEqual(code, DONE)
        self.assertIn(r"T \x1b[31m\x1b]0;owned\x07 \u009b31m \u202e end", text)
        with open(self.path("report.json"), encoding="utf-8") as file:
            content = file.read()
        self.assertEqual(json.loads(content)["title"], f"T {RED}{TITLE} {C1} {TURNED} end", "the JSON means the title")
        self.assertNotIn(C1[0], content)
        code, text, _ = self.run_on_bytes("solve", problem, "--json", "-")
        self.assertEqual((code, json.loads(text)["title"]), (DONE, f"T {RED}{TITLE} {C1} {TURNED} end"))

    def test_messages_show_paths_and_arguments_as_escapes(self):
        name = b"no\x1b[31m\xff\xc2\x9b.toml"
        for arguments in ((b"solve", name), (b"mesh", name), (b"kernel", name), (name,), (b"solve", b"p.toml", b"--" + name), (b"bench", name),
                          (b"solve", b"p.toml", b"--device", name), (b"solve", b"p.toml", b"--set", name + b"=1"),
                          (b"solve", b"p.toml", b"--plan", name), (b"solve", b"p.toml", b"--json", b"none/" + name)):
            self.write(POISSON, "p.toml")
            code, _, message = self.run_on_bytes(*arguments)
            self.assertEqual(code, WRONG_INPUT, (arguments, message))
            self.assertIn(r"\x1b[31m", message, arguments)

    def test_errors_and_warnings_show_what_files_hold_as_escapes(self):
        for text, shown in ((POISSON.replace("k*inner", r"k\u001B[31m*inner"), "unexpected byte 0x1b"),
                            (POISSON.replace('tags = ["xmin", "xmax"]', r'tags = ["\u001B[31m"]'), r"\x1b[31m"),
                            (POISSON.replace("degree = 2", r'degree = "\u001B[31m"'), r"\x1b[31m"),
                            (POISSON.replace("[solver]", r'[solver]' + '\n' + r'"\u001B[31m" = 1'), r"\x1b[31m"),
                            ("\x1b[31m = 1\n" + POISSON, "problem.toml:1:1")):
            code, _, message = self.run_on_bytes("solve", self.write(text))
            self.assertEqual(code, WRONG_INPUT, text)
            self.assertIn(shown, message)

    def test_meshes_show_their_names_as_escapes(self):
        mesh = self.write_bytes(b"a\x1b[31m\xff.msh", GMSH.replace("{edge}", "\x1b[31m\x9b\x7f").encode("latin-1"))
        code, text, _ = self.run_on_bytes("mesh", mesh)
        self.assertEqual(code, DONE)
        self.assertIn(r"\x1b[31m\x9b\x7f", text)
        self.assertIn(r"a\x1b[31m\xff.msh", text)
        code, text, _ = self.run_on_bytes("mesh", mesh, "--json")
        names = [name for tag in json.loads(text)["facet_tags"] for name in tag["names"]]
        self.assertEqual(names, ["\x1b[31m\ufffd\x7f"])

    def test_a_terminal_gets_no_more_than_the_line_of_progress(self):
        """A terminal is made to return to the begin of its line and to erase it, and nothing else."""
        problem = self.write(POISSON.replace('title = "Test"', r'title = "\u001B[31m"'))
        ours, theirs = os.openpty()
        process = subprocess.Popen([command_test.RAFTER, "solve", problem], cwd=self.directory.name, stdout=theirs, stderr=theirs)
        os.close(theirs)
        content = b""
        while True:
            try:
                read = os.read(ours, 65536)
            except OSError:  # Linux reports the end so
                break
            if not read:
                break
            content += read
        os.close(ours)
        self.assertEqual(process.wait(timeout=command_test.PATIENCE_SECONDS), DONE, content)
        self.assertIn(rb"\x1b[31m", content)
        left = content.replace(b"\r\n", b"\n").replace(b"\r\x1b[K", b"")
        self.assertEqual(re.findall(rb"[\x00-\x08\x0b-\x1f\x7f]", left), [])


class Places(command_test.CommandTest):
    """What is no regular file is refused as an input at once; nobody waits for a pipe."""

    def refused_at_once(self, *arguments, kind, code=WRONG_INPUT):
        result = self.run_rafter(*arguments)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertIn(kind, result.stderr)
        self.assertEqual(result.stdout, "")

    def test_pipes_directories_and_devices_are_refused(self):
        os.mkfifo(self.path("pipe"))
        os.mkdir(self.path("folder"))
        os.symlink("/dev/zero", self.path("device"))
        os.symlink("pipe", self.path("link"))
        known = POISSON.replace("k = 2.0", 'k = { file = "PLACE", field = "u" }')
        time = POISSON.replace("[forms]\na = \"", '[time]\nstep = 0.1\nend = 1.0\nrestart = "PLACE"\n[forms]\na = "dt(u)*v*dx + ')
        mesh = POISSON.replace('box = { cells = [3, 3], shape = "quadrilateral" }', 'file = "PLACE"')
        start = POISSON.replace("degree = 2", 'degree = 2\ninitial = { file = "PLACE", field = "u" }').replace(
            'a = "k*inner(grad(u), grad(v))*dx"\nL = "2*k*v*dx"', 'F = "k*inner(grad(u), grad(v))*dx - 2*k*v*dx"')
        for place, kind in (("pipe", "a pipe (FIFO)"), ("link", "a pipe (FIFO)"), ("folder", "a directory"), ("device", "a device")):
            kind = "not a file but " + kind
            for command in (("solve",), ("kernel",), ("tune",), ("mesh",), ("bench", "mesh")):
                with self.subTest(place=place, command=command):
                    self.refused_at_once(*command, place, kind=kind)
            for text in (known, time, mesh, start):
                with self.subTest(place=place, text=text):
                    self.refused_at_once("solve", self.write(text.replace("PLACE", place)), kind=kind)
            with self.subTest(place=place, command="--compare"):
                self.refused_at_once("bench", "bk", "--compare", place, kind="--compare")

    def test_options_without_a_value_are_refused(self):
        problem = self.write(POISSON)
        mesh = os.path.join(command_test.SOURCE, "examples/meshes/beam-hex.mesh")
        for arguments in (("solve", problem, "--json", ""), ("solve", problem, "--plan", " "), ("kernel", problem, "--matrix", ""),
                          ("kernel", problem, "--plan", ""), ("tune", problem, "--record", ""), ("mesh", mesh, "--write", ""), ("bench", "bk", "--json", "")):
            self.assert_refused(self.run_rafter(*arguments), arguments[-2], "the value is empty")

    def test_comments_of_a_matrix_stay_on_their_lines(self):
        result = self.run_rafter("kernel", self.write(POISSON, "two\nlines.toml"), "--matrix", "matrix.mtx")
        self.assertEqual(result.returncode, DONE, result.stderr)
        with open(self.path("matrix.mtx"), encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertTrue(lines[1].startswith("% made by rafter") and lines[1].endswith(r"two\nlines.toml"), lines[1])
        self.assertTrue(lines[2].startswith("% rows 1 to"), lines[2])

    def test_sizes_that_a_mesh_declares_are_held_against_its_file(self):
        huge = "1000000000"
        for text in (MESH.replace("elements\n1", "elements\n" + huge), MESH.replace("boundary\n0", "boundary\n" + huge),
                     MESH.replace("vertices\n4", "vertices\n" + huge), GMSH.replace("$Nodes\n4", "$Nodes\n" + huge),
                     GMSH.replace("$Elements\n2", "$Elements\n" + huge), GMSH.replace("$PhysicalNames\n2", "$PhysicalNames\n" + huge)):
            name = "declared." + ("mesh" if text.startswith("MFEM") else "msh")
            self.refused_at_once("mesh", self.write(text, name), kind="more than the rest of the file can hold")

    def test_a_file_longer_than_the_memory_is_refused_before_it_is_read(self):
        with open(self.path("long.msh"), "wb") as file:
            file.write(GMSH.encode())
            file.truncate(1 << 41)  # with a hole, which takes no disk
        self.refused_at_once("mesh", "long.msh", kind="more than the", code=command_test.ENVIRONMENT)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    command_test.RAFTER, command_test.SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
