#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Opens a VTK-HDF file with VTK's own reader and checks what is in it.

usage: check_vtkhdf.py FILE CELLS VOLUME DEGREE DIMENSION EXACT

FILE holds the point data p = f(x), f(x) = (1 + x/2 + y/4 - z/8)^DEGREE, and w with the components f, x, y (DIMENSION of them; two are
padded with a zero), the gradient grad_w of w as a matrix (DIMENSION > 1), and the cell data tag = 1 and x0, the mean of x. CELLS is the number of cells expected, VOLUME their total measure. With EXACT = 1 VTK's shape functions must reproduce f between the points too, which
checks the node order of every cell type.
"""
import random
import sys

from vtkmodules.vtkCommonCore import reference
from vtkmodules.vtkFiltersVerdict import vtkCellSizeFilter
from vtkmodules.vtkIOHDF import vtkHDFReader

CURVES, FACES = {3, 68}, {5, 9, 69, 70}
TRIANGLES, TETRAHEDRA, WEDGES, PYRAMIDS = {5, 69}, {10, 71}, {13, 73}, {14}


def f(x, degree):
    return (1 + x[0] / 2 + x[1] / 4 - x[2] / 8) ** degree


def require(condition, message):
    if not condition:
        sys.exit("check_vtkhdf: " + message)


def sample(cell_type):
    """Returns a point inside VTK's parametric cell."""
    while True:
        r = [0.1 + 0.8 * random.random() for _ in range(3)]
        if cell_type in TRIANGLES | WEDGES and r[0] + r[1] > 0.95:
            continue
        if cell_type in TETRAHEDRA and sum(r) > 0.95:
            continue
        return r


def evaluate(cell, r):
    x, weights = [0.0, 0.0, 0.0], [0.0] * cell.GetNumberOfPoints()
    cell.EvaluateLocation(reference(0), r, x, weights)
    return x, weights


def jacobian_determinant(cell, r, dimension):
    h, columns = 1e-5, []
    for axis in range(dimension):
        low, high = list(r), list(r)
        low[axis] -= h
        high[axis] += h
        a, b = evaluate(cell, low)[0], evaluate(cell, high)[0]
        columns.append([(b[k] - a[k]) / (2 * h) for k in range(3)])
    for axis in range(dimension, 3):
        columns.append([1.0 if k == axis else 0.0 for k in range(3)])
    (a, b, c), (d, e, g), (p, q, s) = columns
    return a * (e * s - g * q) - b * (d * s - g * p) + c * (d * q - e * p)


def check_cell(grid, index, degree, dimension, is_exact):
    cell, data = grid.GetCell(index), grid.GetPointData().GetArray("p")
    cell_type = grid.GetCellType(index)
    for _ in range(3):
        r = sample(cell_type)
        x, weights = evaluate(cell, r)
        require(abs(sum(weights) - 1) < 1e-10, f"cell {index}: VTK's weights do not sum to one")
        # VTK's parametric linear wedge is left-handed, so that its det J is negative.
        sign = -1 if cell_type == 13 else 1
        require(sign * jacobian_determinant(cell, r, dimension) > 0, f"cell {index} of type {cell_type} is inverted")
        value = sum(w * data.GetValue(cell.GetPointId(i)) for i, w in enumerate(weights))
        if is_exact and cell_type not in PYRAMIDS:
            require(abs(value - f(x, degree)) < 1e-9, f"cell {index} of type {cell_type}: {value} at {x}, not {f(x, degree)}")


def check_points(grid, degree, dimension):
    p, w = grid.GetPointData().GetArray("p"), grid.GetPointData().GetArray("w")
    require(p.GetNumberOfComponents() == 1, "p is not scalar")
    require(w.GetNumberOfComponents() == (1 if dimension == 1 else 3), "w has not three components")
    for i in range(grid.GetNumberOfPoints()):
        x = grid.GetPoint(i)
        expected = [f(x, degree), x[0], x[1]][:dimension] + [0.0] * (3 - dimension)
        require(abs(p.GetValue(i) - expected[0]) < 1e-11, f"p = {p.GetValue(i)} at {x}, not {expected[0]}")
        for k in range(w.GetNumberOfComponents()):
            require(abs(w.GetComponent(i, k) - expected[k]) < 1e-11, f"w[{k}] = {w.GetComponent(i, k)} at {x}")


def check_gradients(grid, degree, dimension):
    """The nine components are, row by row, the gradients of f, x and y."""
    gradients = grid.GetPointData().GetArray("grad_w")
    require(gradients.GetNumberOfComponents() == 9, "grad_w has not nine components")
    for i in range(grid.GetNumberOfPoints()):
        slope = degree * f(grid.GetPoint(i), degree - 1)
        rows = [[slope / 2, slope / 4, -slope / 8][:dimension], [1, 0, 0], [0, 1, 0]][:dimension]
        rows = [row + [0] * (3 - len(row)) for row in rows] + [[0, 0, 0]] * (3 - dimension)
        for k in range(9):
            found, expected = gradients.GetComponent(i, k), rows[k // 3][k % 3]
            require(abs(found - expected) < 1e-9, f"grad_w[{k}] = {found} at {grid.GetPoint(i)}, not {expected}")


def check_means(grid):
    """The mean of x over a cell is between its smallest and largest x; parts of a pyramid have the mean of the whole pyramid."""
    means = grid.GetCellData().GetArray("x0")
    for index in range(grid.GetNumberOfCells()):
        low, high = (grid if grid.GetCellType(index) in PYRAMIDS | TETRAHEDRA else grid.GetCell(index)).GetBounds()[:2]
        require(low < means.GetValue(index) < high, f"cell {index}: the mean of x is {means.GetValue(index)}")


def main():
    path, num_cells, volume = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    degree, dimension, is_exact = int(sys.argv[4]), int(sys.argv[5]), sys.argv[6] == "1"
    random.seed(1)
    reader = vtkHDFReader()
    require(reader.CanReadFile(path), "VTK cannot read the file")
    reader.SetFileName(path)
    reader.Update()
    grid = reader.GetOutput()
    require(grid.GetNumberOfCells() == num_cells, f"{grid.GetNumberOfCells()} cells, not {num_cells}")
    check_points(grid, degree, dimension)
    check_means(grid)
    if dimension > 1:
        check_gradients(grid, degree, dimension)
    for index in range(0, num_cells, max(1, num_cells // 40)):
        check_cell(grid, index, degree, dimension, is_exact)
    tags = grid.GetCellData().GetArray("tag")
    require(tags.GetNumberOfTuples() == num_cells, "tag is not on every cell")
    require(all(tags.GetValue(i) == 1 for i in range(num_cells)), "a tag is not 1")
    sizes = vtkCellSizeFilter()
    sizes.SetInputData(grid)
    sizes.Update()
    name = {1: "Length", 2: "Area", 3: "Volume"}[dimension]
    measures = sizes.GetOutput().GetCellData().GetArray(name)
    total = sum(measures.GetValue(i) for i in range(num_cells))
    require(min(measures.GetValue(i) for i in range(num_cells)) > 0, "a cell has no positive volume")
    require(abs(total - volume) < 1e-9 * volume, f"the cells measure {total}, not {volume}")


if __name__ == "__main__":
    main()
