#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Problems and kernels that are too large: refused with the sizes before memory is taken.

usage: memory_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import os
import resource
import subprocess
import sys
import unittest

import command_test
from command_test import DONE, ENVIRONMENT, POISSON, WRONG_INPUT


class Estimates(command_test.CommandTest):
    def test_too_many_unknowns_are_refused_before_they_are_allocated(self):
        text = POISSON.replace('[3, 3], shape = "quadrilateral"', '[90, 90, 90]').replace("degree = 2", "degree = 12")
        self.refused(text.replace("[fields.u]", "[fields.u]\ncomponents = 9").replace("k*inner(grad(u), grad(v))*dx",
                     "inner(u, v)*dx").replace('L = "2*k*v*dx"', "").replace('value = "x[0]*(1 - x[0])"',
                     "value = [0,0,0,0,0,0,0,0,0]").split("[check]")[0], "memory", "GB", "unknowns", code=ENVIRONMENT)


class LargeProblems(command_test.CommandTest):
    """Problems are refused by an estimate: with little address space, they do not fail in another way before."""

    def refused_in_little_memory(self, text, *arguments, code=ENVIRONMENT):
        limit = 1 << 30
        result = subprocess.run([command_test.RAFTER, "solve", self.write(text), "--threads", "1", *arguments], cwd=self.directory.name, capture_output=True,
                                text=True, timeout=command_test.PATIENCE_SECONDS, check=False,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.assert_refused(result, code=code)
        return result.stderr

    def test_too_many_cells_are_refused_before_they_are_made(self):
        self.assertIn("cells", self.refused_in_little_memory(self.changed("cells = [3, 3]", "cells = [300000, 300000]"), code=WRONG_INPUT))
        message = self.refused_in_little_memory(self.changed("cells = [3, 3]", "cells = [40000, 40000]"))
        self.assertIn("1.6e+09 cells", message)
        self.assertIn("refine less", message)

    def test_box_with_many_cells_and_a_high_degree(self):
        text = self.changed('cells = [3, 3], shape = "quadrilateral"', "cells = [1000, 1000, 1000]")
        message = self.refused_in_little_memory(text, "--set", "fields.u.degree=12")
        self.assertIn("1.728e+12 unknowns on 1e+09 cells", message)
        self.assertIn("GB of memory", message)

    def test_numbers_stored_at_many_points(self):
        # 2304 cells have 27000 points each, and 6 geometric factors at each point are 3 GB.
        text = self.changed('box = { cells = [3, 3], shape = "quadrilateral" }',
                            f'file = "{os.path.join(command_test.SOURCE, "tests/data/meshes/annulus-hex-order2.msh")}"\nrefine = 2')
        text = text.replace('tags = ["xmin", "xmax"]', 'tags = "all"')
        points = ["--set", "fields.u.degree=1", "--set", "numerics.points=30"]
        message = self.refused_in_little_memory(text, *points, "--plan", "factors=store-merged")
        self.assertRegex(message, r"needs about \d\.\d GB of memory; 1\.1 GB may be used here: \d\.\d GB of it is what kernels store")
        self.assertIn("6 numbers at each of the 27000 quadrature points", message)
        self.assertIn("numerics.points", message)

    def test_box_refined_beyond_32_bits(self):
        self.assertIn("2147483647", self.refused_in_little_memory(POISSON.replace("cells = [3, 3]", "cells = [100, 100]"), "--set", "mesh.refine=10",
                                                                  code=WRONG_INPUT))
        text = self.changed('cells = [3, 3], shape = "quadrilateral"', "cells = [4000, 4000, 4000]")
        self.assertIn("6.4e+10 cells", self.refused_in_little_memory(text, code=WRONG_INPUT))

    def test_mesh_file_that_is_refined_too_often(self):
        text = self.changed('box = { cells = [3, 3], shape = "quadrilateral" }',
                            f'file = "{os.path.join(command_test.SOURCE, "examples/meshes/beam-hex.mesh")}"\nrefine = 8')
        message = self.refused_in_little_memory(text, "--set", "fields.u.degree=12")
        self.assertIn("2.319e+11 unknowns on 1.342e+08 cells", message)

    def test_refinements_out_of_range(self):
        self.assertIn("from 0 to 10", self.refused_in_little_memory(POISSON, "--set", "mesh.refine=30",
                                                                    code=WRONG_INPUT))


class LargeKernels(command_test.CommandTest):
    def test_work_arrays_that_a_stack_does_not_hold(self):
        text = self.changed('cells = [3, 3], shape = "quadrilateral"', 'cells = [1, 1, 1], shape = "pyramid"')
        result = self.run_rafter("solve", self.write(text + "[numerics]\ndegree = 60\n"))
        self.assertEqual(result.returncode, DONE, result.stderr)


if __name__ == "__main__":
    command_test.RAFTER, command_test.SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
