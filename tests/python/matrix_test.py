#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Matrices that `rafter kernel --matrix` writes, read by SciPy and held against matrices assembled here.

usage: matrix_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import os
import sys
import unittest

import command_test
import numpy
import scipy.io
import scipy.sparse

CELLS = (3, 4)
SQUARE = """[mesh]
box = {{ cells = [{cells[0]}, {cells[1]}], shape = "{shape}" }}
[fields.u]
degree = {degree}
{more}
[forms]
a = "{form}"
L = "1.0*v*dx"
"""
MIXED = """[mesh]
box = { cells = [3, 3] }
[fields.w]
degree = 2
components = 2
[fields.p]
degree = 1
[forms]
a = "(inner(grad(w), grad(v_w)) - p*div(v_w) - v_p*div(w))*dx"
L = "1.0*v_p*dx"
[[dirichlet]]
field = "w"
tags = "all"
value = [0, 0]
"""


def mass_1d(n):
    """Returns the mass matrix of linear elements on [0, 1] with n cells."""
    h = 1 / n
    result = numpy.diag(numpy.full(n + 1, 4 * h / 6)) + numpy.diag(numpy.full(n, h / 6), 1)
    result += numpy.diag(numpy.full(n, h / 6), -1)
    result[0, 0] = result[n, n] = 2 * h / 6
    return result


def stiffness_1d(n):
    result = numpy.diag(numpy.full(n + 1, 2.0 * n)) - numpy.diag(numpy.full(n, float(n)), 1)
    result -= numpy.diag(numpy.full(n, float(n)), -1)
    result[0, 0] = result[n, n] = n
    return result


class Matrix(command_test.CommandTest):
    def written(self, text, *arguments):
        result = self.run_rafter("kernel", self.write(text), "--matrix", "a.mtx", *arguments)
        self.assertEqual(result.returncode, command_test.DONE, result.stderr + result.stdout)
        return scipy.io.mmread(self.path("a.mtx")).tocsr()

    def assert_same_spectrum(self, found, expected):
        """The numberings of unknowns differ by a permutation, which does not change eigenvalues."""
        self.assertEqual(found.shape, expected.shape)
        numpy.testing.assert_allclose(
            numpy.sort(numpy.linalg.eigvals(found)), numpy.sort(numpy.linalg.eigvals(expected)), atol=1e-10
        )

    def test_bilinear_elements_are_products_of_linear_ones(self):
        m0, m1 = mass_1d(CELLS[0]), mass_1d(CELLS[1])
        k0, k1 = stiffness_1d(CELLS[0]), stiffness_1d(CELLS[1])
        form = "inner(grad(u), grad(v))*dx + 3.0*u*v*dx"
        text = SQUARE.format(cells=CELLS, shape="quadrilateral", degree=1, form=form, more="")
        expected = numpy.kron(k1, m0) + numpy.kron(m1, k0) + 3 * numpy.kron(m1, m0)
        self.assert_same_spectrum(self.written(text).toarray(), expected)

    def test_conditions_leave_the_identity(self):
        n = CELLS[0]
        text = SQUARE.format(cells=CELLS, shape="quadrilateral", degree=1, form="inner(grad(u), grad(v))*dx", more="")
        text += '[[dirichlet]]\ntags = "all"\nvalue = 1.0\n'
        inner = [numpy.s_[1 : cells] for cells in CELLS]
        m0, k0 = mass_1d(n)[inner[0], inner[0]], stiffness_1d(n)[inner[0], inner[0]]
        m1, k1 = mass_1d(CELLS[1])[inner[1], inner[1]], stiffness_1d(CELLS[1])[inner[1], inner[1]]
        free = numpy.kron(k1, m0) + numpy.kron(m1, k0)
        size = (n + 1) * (CELLS[1] + 1)
        expected = numpy.eye(size)
        expected[: len(free), : len(free)] = free
        matrix = self.written(text)
        self.assert_same_spectrum(matrix.toarray(), expected)
        self.assertEqual(sum(numpy.diff(matrix.indptr) == 1), size - len(free))

    def test_every_shape_has_its_volume_and_constants(self):
        for shape in ("triangle", "quadrilateral", "tetrahedron", "hexahedron", "prism"):
            cells = CELLS if shape in ("triangle", "quadrilateral") else (2, 2, 2)
            for degree in (1, 2):
                with self.subTest(shape=shape, degree=degree):
                    text = SQUARE.format(cells=cells, shape=shape, degree=degree, form="1.0*u*v*dx", more="")
                    text = text.replace(f"[{cells[0]}, {cells[1]}]", str(list(cells)))
                    self.assertAlmostEqual(self.written(text).sum(), 1, places=12)
                    laplace = self.written(text.replace("1.0*u*v", "inner(grad(u), grad(v))"))
                    self.assertLess(abs(laplace @ numpy.ones(laplace.shape[0])).max(), 1e-12)
                    self.assertLess(abs(laplace - laplace.T).max(), 1e-12)

    def test_saddle_points_have_as_many_negative_eigenvalues_as_pressures(self):
        matrix = self.written(MIXED).toarray()
        values = numpy.linalg.eigvalsh(matrix)
        self.assertEqual(sum(abs(values) < 1e-10), 1)  # the null vector is the constant pressure
        self.assertEqual(sum(values < -1e-10), 16 - 1)

    def test_forms_that_are_not_symmetric_are_not_transposed(self):
        text = SQUARE.format(cells=(4, 4), shape="quadrilateral", degree=1, form="x[0]*u.dx(0)*v*dx", more="")
        matrix = self.written(text)
        # Rows belong to test functions: a(1, v) = 0, whereas a(u, 1) is the integral of x du/dx.
        self.assertLess(abs(matrix @ numpy.ones(25)).max(), 1e-14)
        self.assertGreater(abs(matrix.T @ numpy.ones(25)).max(), 1e-2)

    def test_the_file_is_not_the_problem(self):
        problem = self.write(MIXED)
        result = self.run_rafter("kernel", problem, "--matrix", problem)
        self.assertEqual(result.returncode, command_test.WRONG_INPUT, result.stdout)
        self.assertIn("--matrix", result.stderr)

    def test_cell_matrices_sum_to_the_matrix(self):
        for form, more in (("inner(grad(u), grad(v))*dx + 2.0*u*v*ds", ""), ("inner(grad(u), grad(v))*dx", "")):
            text = SQUARE.format(cells=CELLS, shape="quadrilateral", degree=2, form=form, more=more)
            expected = self.written(text, "--cell-matrices", "cells.npy", "--cell-vectors", "loads.npy").toarray()
            matrices, rows = numpy.load(self.path("cells.npy")), numpy.load(self.path("cells-unknowns.npy"))
            self.assertEqual((matrices.shape, rows.shape), ((12, 9, 9), (12, 9)))
            found = numpy.zeros_like(expected)
            for matrix, row in zip(matrices, rows):
                found[numpy.ix_(row, row)] += matrix
            numpy.testing.assert_allclose(found, expected, atol=1e-13)
            loads = numpy.load(self.path("loads.npy"))
            self.assertTrue((numpy.load(self.path("loads-unknowns.npy")) == rows).all())
            self.assertAlmostEqual(loads.sum(), 1, places=13)

    def test_meshes_of_several_shapes_have_files_for_each(self):
        text = SQUARE.format(cells=CELLS, shape="mixed", degree=1, form="1.0*u*v*dx", more="")
        matrix = self.written(text, "--cell-matrices", "cells")
        total = 0
        for shape, size in (("triangle", 3), ("quadrilateral", 4)):
            matrices = numpy.load(self.path(f"cells-{shape}.npy"))
            self.assertEqual(matrices.shape[1:], (size, size))
            self.assertEqual(numpy.load(self.path(f"cells-{shape}-unknowns.npy")).shape, matrices.shape[:2])
            total += matrices.sum()
        self.assertAlmostEqual(total, matrix.sum(), places=13)

    def test_fields_are_numbered_one_after_the_other(self):
        matrix = self.written(MIXED, "--cell-matrices", "cells.npy")
        rows = numpy.load(self.path("cells-unknowns.npy"))
        self.assertEqual(rows.shape, (9, 2 * 9 + 4))
        self.assertEqual(sorted(set(rows[:, :18].ravel())), list(range(98)))
        self.assertEqual(sorted(set(rows[:, 18:].ravel())), list(range(98, matrix.shape[0])))

    def test_petsc_reads_the_binary_format(self):
        text = SQUARE.format(cells=CELLS, shape="quadrilateral", degree=2, form="x[0]*u.dx(0)*v*dx", more="")
        expected = self.written(text)
        result = self.run_rafter("kernel", self.write(text), "--matrix", "a.petsc")
        self.assertEqual(result.returncode, command_test.DONE, result.stderr)
        with open(self.path("a.petsc"), "rb") as file:
            mark, num_rows, num_columns, num_entries = (int(n) for n in numpy.fromfile(file, ">i4", 4))
            lengths, columns = numpy.fromfile(file, ">i4", num_rows), numpy.fromfile(file, ">i4", num_entries)
            values = numpy.fromfile(file, ">f8", num_entries)
            self.assertEqual(file.read(), b"")
        self.assertEqual((mark, num_rows, num_columns), (1211216, *expected.shape))  # MAT_FILE_CLASSID
        starts = numpy.concatenate([[0], numpy.cumsum(lengths)])
        found = scipy.sparse.csr_matrix((values, columns, starts), shape=expected.shape)
        self.assertEqual((abs(found - expected)).max(), 0)

    def test_arrays_of_cells_replace_no_input(self):
        problem = self.write(MIXED, "cells.npy")
        result = self.run_rafter("kernel", problem, "--cell-matrices", "cells")
        self.assertEqual(result.returncode, command_test.WRONG_INPUT, result.stdout)
        self.assertIn("--cell-matrices", result.stderr)
        result = self.run_rafter("kernel", problem, "--cell-vectors", "-")
        self.assertEqual(result.returncode, command_test.WRONG_INPUT, result.stdout)
        self.assertIn("standard output", result.stderr)
        for matrix in ("c.npy", "c-unknowns.npy"):
            result = self.run_rafter("kernel", self.write(MIXED), "--matrix", matrix, "--cell-matrices", "c")
            self.assertEqual(result.returncode, command_test.WRONG_INPUT, result.stdout)
            self.assertIn("--matrix", result.stderr)

    def test_standard_output_takes_the_matrix(self):
        result = self.run_rafter("kernel", self.write(MIXED), "--matrix", "-")
        self.assertEqual(result.returncode, command_test.DONE, result.stderr)
        self.assertTrue(result.stdout.startswith("%%MatrixMarket matrix coordinate real general\n"))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    command_test.RAFTER, command_test.SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
