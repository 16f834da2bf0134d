// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include <rafter/form/lowered.hpp>
#include <rafter/kernel/tensor_program.hpp>

/// The contribution of a cell is computed here without sum factorisation or generated code: from tabulated basis
/// functions, the map from all geometry nodes, physical gradients, and the integrand as the form states it. It shares
/// nothing with the kernels but the tables.
namespace rafter::test {

/// A cell (or a facet of it) is given by its map.
struct TestCell {
  std::shared_ptr<const element::Element> geometry;
  std::vector<double> nodes; ///< shape (node, axis)
  mesh::MapKind map = mesh::MapKind::affine;
  element::Shape shape() const { return geometry->shape(); }
  int dim() const { return element::dimension(shape()); }
};

/// Returns a cell of a map kind: the reference cell is stretched, rotated (unless cartesian) and (multilinear,
/// isoparametric) distorted.
inline TestCell random_cell(element::Shape shape, mesh::MapKind map, int geometry_degree, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  TestCell cell{element::make_element(element::Family::lagrange, shape, geometry_degree), {}, map};
  const auto dim = static_cast<std::size_t>(cell.dim());
  std::array<std::array<double, 3>, 3> matrix{};
  for (std::size_t a = 0; a < dim; ++a)
    for (std::size_t b = 0; b < dim; ++b)
      matrix[a][b] = a == b                            ? 0.6 + 0.2 * uniform(random)
                     : map == mesh::MapKind::cartesian ? 0
                                                       : 0.15 * uniform(random);
  const auto vertices = element::reference_vertices(shape);
  const auto corner = element::make_element(element::Family::lagrange, shape, 1);
  std::vector<double> bumps(vertices.size());
  for (double& bump : bumps) bump = 0.1 * uniform(random);
  const auto nodes = cell.geometry->nodes();
  const auto weights = corner->tabulate(nodes);
  for (std::size_t i = 0; i < nodes.size() / dim; ++i)
    for (std::size_t a = 0; a < dim; ++a) {
      double x = 0.3;
      for (std::size_t b = 0; b < dim; ++b) x += matrix[a][b] * nodes[i * dim + b];
      if (map == mesh::MapKind::multilinear)
        for (int v = 0; v < element::num_vertices(shape); ++v) {
          const auto bumped = static_cast<std::size_t>(corner->entity_dofs(0, v)[0]);
          x += weights(0, static_cast<int>(i), static_cast<int>(bumped)) * bumps[static_cast<std::size_t>(v) * dim + a];
        }
      if (map == mesh::MapKind::isoparametric) x += 0.04 * uniform(random);
      cell.nodes.push_back(x);
    }
  return cell;
}

/// The geometry has these values at a reference point.
struct PointGeometry {
  std::array<double, 3> x{}, normal{};
  std::array<std::array<double, 3>, 3> inverse{}; ///< K[b][a] = dX_b / dx_a
  double scale = 0; ///< det J, or the factor from the area of the reference facet to that of the facet
};

inline double determinant(const std::array<std::array<double, 3>, 3>& m, int dim) {
  if (dim == 1) return m[0][0];
  if (dim == 2) return m[0][0] * m[1][1] - m[0][1] * m[1][0];
  return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
         m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

/// The inverse comes from Cramer's rule, column by column.
inline std::array<std::array<double, 3>, 3> inverse(const std::array<std::array<double, 3>, 3>& m, int dim) {
  std::array<std::array<double, 3>, 3> result{};
  const double det = determinant(m, dim);
  for (std::size_t c = 0; c < static_cast<std::size_t>(dim); ++c)
    for (std::size_t r = 0; r < static_cast<std::size_t>(dim); ++r) {
      auto replaced = m;
      for (std::size_t i = 0; i < static_cast<std::size_t>(dim); ++i) replaced[i][r] = i == c ? 1 : 0;
      result[r][c] = determinant(replaced, dim) / det;
    }
  return result;
}

inline PointGeometry geometry_at(const TestCell& cell, const element::Table& table, int q, int local_facet) {
  const int dim = cell.dim();
  PointGeometry result;
  std::array<std::array<double, 3>, 3> jacobian{};
  for (int i = 0; i < table.num_dofs; ++i)
    for (int a = 0; a < dim; ++a) {
      const double node = cell.nodes[static_cast<std::size_t>(i * dim + a)];
      result.x[static_cast<std::size_t>(a)] += table(0, q, i) * node;
      for (int b = 0; b < dim; ++b)
        jacobian[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] += table(b + 1, q, i) * node;
    }
  result.inverse = inverse(jacobian, dim);
  result.scale = determinant(jacobian, dim);
  if (local_facet < 0) return result;
  const auto reference = element::reference_normal(cell.shape(), local_facet);
  double length = 0;
  for (std::size_t a = 0; a < static_cast<std::size_t>(dim); ++a) {
    for (std::size_t b = 0; b < static_cast<std::size_t>(dim); ++b)
      result.normal[a] += result.inverse[b][a] * reference[b];
    length += result.normal[a] * result.normal[a];
  }
  length = std::sqrt(length);
  for (double& component : result.normal) component /= length;
  result.scale *= length;
  return result;
}

/// One evaluation has these data; field 0 is the trial function or a coefficient field.
struct CellValues {
  std::vector<double> parameters, cell_coefficients;
  std::vector<double> u; ///< shape (component, dof)
};

/// Returns v_(c, i), the sum over points of the integral tested with phi_i in component c, shape (component, dof); for
/// a functional this is one number. Points and weights are given on the cell; those of facets are already mapped and
/// scaled.
inline std::vector<double> reference_action(const form::LoweredIntegral& integral, const TestCell& cell,
                                            const element::Element& element, int components,
                                            const std::vector<double>& points, const std::vector<double>& weights,
                                            int local_facet, const CellValues& data) {
  const int dim = cell.dim();
  const auto table = element.tabulate(points);
  const auto map = cell.geometry->tabulate(points);
  const int num_dofs = element.num_dofs();
  std::vector<double> result(integral.rank == 0 ? 1 : static_cast<std::size_t>(components * num_dofs), 0.0);
  for (int q = 0; q < static_cast<int>(weights.size()); ++q) {
    const auto geometry = geometry_at(cell, map, q, local_facet);
    const auto basis = [&](int i, int derivative) {
      if (derivative < 0) return table(0, q, i);
      double sum = 0;
      for (int b = 0; b < dim; ++b)
        sum += geometry.inverse[static_cast<std::size_t>(b)][static_cast<std::size_t>(derivative)] * table(b + 1, q, i);
      return sum;
    };
    const auto atom = [&](const form::Atom& a) {
      switch (a.kind) {
      case form::AtomKind::parameter:
        return data.parameters.at(static_cast<std::size_t>(a.a));
      case form::AtomKind::cell_coefficient:
        return data.cell_coefficients.at(static_cast<std::size_t>(a.a));
      case form::AtomKind::coordinate:
        return geometry.x[static_cast<std::size_t>(a.a)];
      case form::AtomKind::normal:
        return geometry.normal[static_cast<std::size_t>(a.a)];
      default:
        break;
      }
      double value = 0;
      for (int i = 0; i < num_dofs; ++i) value += data.u[static_cast<std::size_t>(a.b * num_dofs + i)] * basis(i, a.c);
      return value;
    };
    const double factor = weights[static_cast<std::size_t>(q)] * geometry.scale;
    if (integral.rank == 0) {
      result[0] += factor * integral.graph->evaluate(std::array{integral.integrand}, atom)[0];
      continue;
    }
    for (const auto& term : integral.test_terms) {
      const double value = factor * integral.graph->evaluate(std::array{term.coefficient}, atom)[0];
      for (int i = 0; i < num_dofs; ++i)
        result[static_cast<std::size_t>(term.component * num_dofs + i)] += value * basis(i, term.derivative);
    }
  }
  return result;
}

/// Returns the coefficients of a cartesian, affine or multilinear map in the order of kernel::map_modes. They are found
/// by interpolation, independently of the library.
inline std::vector<double> map_data(const TestCell& cell) {
  const int dim = cell.dim();
  const auto modes = kernel::map_modes(cell.map, dim);
  const auto value_at = [&](const std::vector<double>& X) {
    const auto table = cell.geometry->tabulate(X);
    std::vector<double> x(static_cast<std::size_t>(dim), 0.0);
    for (int i = 0; i < table.num_dofs; ++i)
      for (int a = 0; a < dim; ++a)
        x[static_cast<std::size_t>(a)] += table(0, 0, i) * cell.nodes[static_cast<std::size_t>(i * dim + a)];
    return x;
  };
  // The coefficient of a mode is a mixed difference of the map with steps of 0.5 from (-1, -1, -1); these points lie in
  // or on every shape.
  std::map<int, std::vector<double>> at;
  for (int mask = 0; mask < 1 << dim; ++mask) {
    std::vector<double> X(static_cast<std::size_t>(dim), -1.0);
    for (int a = 0; a < dim; ++a)
      if ((mask >> a & 1) != 0) X[static_cast<std::size_t>(a)] = -0.5;
    at[mask] = value_at(X);
  }
  // The differences are coefficients in Y = (X + 1) / 0.5; those in X follow by expanding the products.
  std::map<int, std::vector<double>> in_y;
  for (int mask = 0; mask < 1 << dim; ++mask) {
    in_y[mask].assign(static_cast<std::size_t>(dim), 0.0);
    for (int part = mask;; part = (part - 1) & mask) {
      const double sign = __builtin_popcount(static_cast<unsigned>(mask ^ part)) % 2 == 0 ? 1 : -1;
      for (std::size_t a = 0; a < static_cast<std::size_t>(dim); ++a) in_y[mask][a] += sign * at[part][a];
      if (part == 0) break;
    }
  }
  std::vector<double> result;
  for (const int mode : modes)
    for (std::size_t a = 0; a < static_cast<std::size_t>(dim); ++a) {
      double sum = 0; // Y = 2 X + 2, so that every mask that contains the mode contributes 2^|mask|
      for (int mask = 0; mask < 1 << dim; ++mask)
        if ((mask & mode) == mode) sum += std::ldexp(in_y[mask][a], __builtin_popcount(static_cast<unsigned>(mask)));
      result.push_back(sum);
    }
  return result;
}

} // namespace rafter::test
