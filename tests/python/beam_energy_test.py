#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The elastic energy of examples/beam.toml agrees to 1e-9 with the independent code of beam_reference.py: with its stored
results and, where SciPy is installed, with results computed here and now.

usage: beam_energy_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

from command_test import PATIENCE_SECONDS

RAFTER, SOURCE = "", ""
HAS_SCIPY = importlib.util.find_spec("scipy") is not None and importlib.util.find_spec("numpy") is not None


def stored_energies():
    with open(os.path.join(SOURCE, "tests", "data", "beam_energies.json"), encoding="utf-8") as file:
        return {(entry["refine"], entry["degree"]): entry["energy"] for entry in json.load(file)["energies"]}


def energy_of_rafter(refine, degree):
    """The error of the energy is the square of the solution's, so that rtol = 1e-10 suffices; it is above rounding errors."""
    with tempfile.TemporaryDirectory() as directory:
        result = subprocess.run([RAFTER, "solve", os.path.join(SOURCE, "examples", "beam.toml"), "--set",
                                 f"mesh.refine={refine}", "--set", f"fields.u.degree={degree}", "--set",
                                 "solver.rtol=1e-10", "--json", "report.json"],
                                cwd=directory, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
        if result.returncode != 0:
            raise AssertionError(f"exit code {result.returncode}: {result.stderr}")
        with open(os.path.join(directory, "report.json"), encoding="utf-8") as file:
            return json.load(file)["functionals"]["energy"]


class BeamEnergy(unittest.TestCase):
    def assert_agree(self, found, expected, bound):
        self.assertLessEqual(abs(found - expected), bound * abs(expected), f"{found!r} instead of {expected!r}")

    def test_degrees_1_2_4_agree_with_the_stored_references(self):
        stored = stored_energies()
        self.assertLessEqual({(0, 1), (0, 2), (0, 4), (1, 1), (1, 2)}, set(stored))
        for (refine, degree), expected in stored.items():
            with self.subTest(refine=refine, degree=degree):
                self.assert_agree(energy_of_rafter(refine, degree), expected, 1e-9)

    @unittest.skipUnless(HAS_SCIPY, "SciPy is not installed (Debian: python3-scipy): only stored references are compared")
    def test_degrees_1_2_agree_with_references_computed_now(self):
        import beam_reference
        mesh = os.path.join(SOURCE, "examples", "meshes", "beam-hex.mesh")
        stored = stored_energies()
        for case in ((0, 1), (0, 2), (1, 1)):
            with self.subTest(refine=case[0], degree=case[1]):
                computed = beam_reference.energy(mesh, *case)
                self.assert_agree(computed, stored[case], 1e-10)
                self.assert_agree(energy_of_rafter(*case), computed, 1e-9)


if __name__ == "__main__":
    RAFTER, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
