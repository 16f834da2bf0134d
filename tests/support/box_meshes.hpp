// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <rafter/element/cell.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/mesh/subdivision.hpp>

/// Boxes of every shape, as they are and with scrambled vertex numbers and rotated cells.
namespace rafter::test {

const std::vector<std::string>& box_shapes();

int box_dimension(const std::string& shape);

mesh::Mesh box(const std::string& shape, int n = 0, int geometry_degree = 1);

/// Returns the box with its geometry nodes moved by a smooth map.
mesh::Mesh curved_box(const std::string& shape, int geometry_degree, int n = 0);

/// Returns the row of `points` (dim columns) that equals x, or -1.
int find_point(std::span<const double> points, std::span<const double> x);

/// A symmetry is an affine map of a reference cell onto itself: image = shift + sum_d X_d columns[d].
struct Symmetry {
  std::vector<double> shift, columns;
  std::vector<double> image(std::span<const double> x) const {
    std::vector<double> y = shift;
    for (std::size_t d = 0; d < x.size(); ++d)
      for (std::size_t a = 0; a < y.size(); ++a) y[a] += x[d] * columns[d * y.size() + a];
    return y;
  }
};

double determinant(const std::vector<double>& m, std::size_t dim);

/// Returns the vertices that span the axes of the reference cell: the origin, then one along each axis.
std::vector<int> frame_of(element::Shape shape);

/// Moves the first coordinate by 0.3 times the last, so that boxes become parallelepipeds.
mesh::Mesh sheared(mesh::Mesh mesh);

/// Returns all affine maps of the reference cell onto itself that keep its orientation. There are 1, 3, 4, 12, 24, 6
/// and 4 for the shapes from interval to pyramid. They are found by trying all images of the frame.
std::vector<Symmetry> symmetries(element::Shape shape);

/// Returns position[k], the row before the rotation of what is row k afterwards.
std::vector<int> turned_rows(std::span<const double> points, const Symmetry& turn);

template <class Int> void reorder(std::span<Int> values, const std::vector<int>& rows) {
  const std::vector<Int> old(values.begin(), values.end());
  for (std::size_t k = 0; k < rows.size(); ++k) values[k] = old[static_cast<std::size_t>(rows[k])];
}

/// Says whether a symmetry takes a set of axes to itself.
bool keeps(const Symmetry& turn, mesh::Axes axes);

/// Returns the same mesh with random vertex numbers and every cell rotated by a random symmetry of its shape, of those
/// that take a set of axes to itself.
mesh::Mesh scrambled(const mesh::Mesh& original, unsigned seed, mesh::Axes axes = {});

/// The polynomial of total degree `degree` in x uses all coordinates; c is a component.
double polynomial(std::span<const double> x, int degree, std::size_t c = 0);

} // namespace rafter::test
