#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""No example, test problem or sample mesh is without its test, and every problem file says what makes it fail.

usage: coverage_test.py CTESTTESTFILE SOURCE_DIRECTORY [unittest arguments]
"""
import glob
import os
import sys
import unittest

TESTS, SOURCE = "", ""
FOLDERS = {"examples": ("examples", "*.toml"), "problems": ("tests/problems", "*.toml"),
           "meshes": ("tests/data/meshes", "*.m*sh")}
# Other programs have written these for their own purposes; the remaining ones (shear-*) were made for tests.
REAL_MESHES = 25


def files_of(label):
    folder, pattern = FOLDERS[label]
    return sorted(glob.glob(os.path.join(SOURCE, folder, pattern)))


class Coverage(unittest.TestCase):
    def test_every_file_has_its_test(self):
        with open(TESTS, encoding="utf-8") as file:
            registered = file.read()
        for label in FOLDERS:
            files = files_of(label)
            self.assertGreater(len(files), 5)
            for path in files:
                self.assertIn(f"{label}/{os.path.basename(path)}", registered)

    def test_every_problem_says_what_makes_it_fail(self):
        for path in files_of("examples") + files_of("problems"):
            with self.subTest(os.path.basename(path)), open(path, encoding="utf-8") as file:
                text = file.read()
                is_checked = "max_l2_error" in text and "max_h1_error" in text
                is_example_with_laws = "/examples/" in path and "[functionals]" in text
                self.assertTrue(is_checked or is_example_with_laws or
                                any(line in text for line in ("# expect ", "# refused: ", "# not converged: ")))

    def test_the_real_meshes_are_there(self):
        names = [os.path.basename(path) for path in files_of("meshes")]
        self.assertGreaterEqual(len([name for name in names if not name.startswith("shear-")]), REAL_MESHES)


if __name__ == "__main__":
    TESTS, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
