#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The solutions of examples/neo-hookean.toml, and of the same law under uniaxial compression, agree with the independent code of
neo_hookean_reference.py.

usage: neo_hookean_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

from command_test import PATIENCE_SECONDS

RAFTER, SOURCE = "", ""
HAS_SCIPY = importlib.util.find_spec("scipy") is not None and importlib.util.find_spec("numpy") is not None


def example():
    with open(os.path.join(SOURCE, "examples", "neo-hookean.toml"), encoding="utf-8") as file:
        return file.read()


def functionals(text, *overrides):
    with tempfile.TemporaryDirectory() as directory:
        with open(os.path.join(directory, "problem.toml"), "w", encoding="utf-8") as file:
            file.write(text)
        sets = [argument for override in overrides for argument in ("--set", override)]
        result = subprocess.run([RAFTER, "solve", "problem.toml", "--json", "report.json", "--set", "newton.rtol=1e-11", *sets],
                                cwd=directory, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
        if result.returncode != 0:
            raise AssertionError(f"exit code {result.returncode}: {result.stderr}{result.stdout}")
        with open(os.path.join(directory, "report.json"), encoding="utf-8") as file:
            return json.load(file)["functionals"]


@unittest.skipUnless(HAS_SCIPY, "SciPy is not installed (Debian: python3-scipy)")
class NeoHookean(unittest.TestCase):
    def assert_agree(self, found, expected, digits):
        self.assertAlmostEqual(found["energy"], expected[0], places=digits)
        self.assertAlmostEqual(found["volume"], expected[1], places=digits)

    def test_the_block_of_the_example_agrees_with_an_independent_code(self):
        import neo_hookean_reference
        expected = neo_hookean_reference.solve(num_points=5)
        stated = {name: float(value) for name, value in re.findall(r"^# expect (\w+) = (\S+)", example(), re.MULTILINE)}
        self.assert_agree(stated, expected, 8)
        self.assert_agree(functionals(example(), 'numerics.points=5'), expected, 10)

    def test_sides_that_slide_freely_leave_one_stretch_everywhere(self):
        """Its lateral stretch is the root of a scalar equation: no stress on the sides."""
        import neo_hookean_reference
        text = re.sub(r"\[\[dirichlet\]\]\n(?:\w.*\n)*", "", example())
        for side, component, value in (("xmin", 0, 0), ("ymin", 1, 0), ("zmin", 2, 0), ("zmax", 2, neo_hookean_reference.HEIGHT)):
            text += f'[[dirichlet]]\ntags = ["{side}"]\ncomponents = [{component}]\nvalue = [{value}]\n'
        self.assert_agree(functionals(text, "mesh.box.cells=[2, 2, 2]"), neo_hookean_reference.uniaxial(), 10)


if __name__ == "__main__":
    RAFTER, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
