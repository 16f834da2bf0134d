// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/kernel/folding.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include <rafter/base/error.hpp>
#include <rafter/element/basis.hpp>
#include <rafter/element/dense.hpp>
#include <rafter/element/quadrature.hpp>
#include <rafter/element/reflections.hpp>
#include <rafter/kernel/reference_matrices.hpp>

namespace rafter::kernel {

namespace {

/// Points that the reflections exchange. sectors[k] is the set of reflections that takes points[0] to points[k]; of
/// several such sets, the lowest.
struct Orbit {
  std::vector<int> points;
  std::vector<unsigned> sectors;
};

std::vector<Orbit> find_orbits(const std::vector<std::vector<int>>& permutations, std::size_t num_points) {
  std::vector<Orbit> orbits;
  std::vector<bool> is_found(num_points, false);
  for (std::size_t p = 0; p < num_points; ++p) {
    if (is_found[p]) continue;
    Orbit orbit;
    for (unsigned sector = 0; sector < 1U << permutations.size(); ++sector) {
      int image = static_cast<int>(p);
      for (std::size_t r = 0; r < permutations.size(); ++r)
        if ((sector >> r & 1U) != 0) image = permutations[r][static_cast<std::size_t>(image)];
      if (is_found[static_cast<std::size_t>(image)]) continue;
      is_found[static_cast<std::size_t>(image)] = true;
      orbit.points.push_back(image);
      orbit.sectors.push_back(sector);
    }
    // Each of two reflections exchanges the same two points: the difference of their values changes its sign under
    // both.
    if (permutations.size() == 2 && orbit.points.size() == 2 && orbit.sectors[1] == 1 &&
        permutations[1][static_cast<std::size_t>(orbit.points[0])] == orbit.points[1])
      orbit.sectors[1] = 3;
    orbits.push_back(std::move(orbit));
  }
  return orbits;
}

/// Entry (k, i) of the butterfly of an orbit: sign of point i in the combination at place k.
double butterfly_sign(unsigned sector, unsigned member) { return std::popcount(sector & member) % 2 == 0 ? 1 : -1; }

/// The butterfly as a symmetric sparse matrix: for every place the places of its orbit, ascending, with their signs.
struct Butterfly {
  struct Entry {
    std::size_t place;
    double sign;
  };
  std::vector<std::vector<Entry>> rows;
  int orbit_size(std::size_t place) const { return static_cast<int>(rows[place].size()); }
};
Butterfly butterfly(const Folding& folding) {
  const std::size_t n = folding.places.size();
  Butterfly result;
  for (std::size_t i = 0; i < n; ++i) result.rows.push_back({{i, 1.0}});
  const auto put = [&](const auto& orbit) {
    for (std::size_t k = 0; k < orbit.size(); ++k) {
      auto& row = result.rows[static_cast<std::size_t>(orbit[k])];
      row.clear();
      for (std::size_t i = 0; i < orbit.size(); ++i)
        row.push_back(
            {static_cast<std::size_t>(orbit[i]), butterfly_sign(static_cast<unsigned>(k), static_cast<unsigned>(i))});
      std::ranges::sort(row, {}, &Butterfly::Entry::place);
    }
  };
  for (const auto& quad : folding.quads) put(quad);
  for (const auto& pair : folding.pairs) put(pair);
  return result;
}

/// The values of a table without its derivatives, shape (point, dof).
std::span<const double> values_of(const element::Table& table) {
  return std::span(table.values)
      .first(static_cast<std::size_t>(table.num_points) * static_cast<std::size_t>(table.num_dofs));
}
/// Multiplies each row (one per point) by the weight of its point.
std::vector<double> with_weights(std::vector<double> rows, std::span<const double> weights) {
  const std::size_t length = rows.size() / weights.size();
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] *= weights[i / length];
  return rows;
}

/// Square matrix that projects to the functions whose sign changes under exactly the reflections in `sector`.
std::vector<double> projection(unsigned sector, const std::vector<std::vector<double>>& parity_matrices, int size) {
  auto result = element::identity(size);
  for (std::size_t r = 0; r < parity_matrices.size(); ++r) {
    const double sign = (sector >> r & 1U) != 0 ? -1 : 1;
    const auto images = r == 0 ? parity_matrices[0] : element::multiplied(parity_matrices[r], result, size);
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = 0.5 * (result[i] + sign * images[i]);
  }
  return result;
}

/// Products of each column of a square matrix with `vector`, or, if that is empty, with itself.
std::vector<double> column_products(const std::vector<double>& columns, std::span<const double> vector = {}) {
  const auto n = static_cast<std::size_t>(std::lround(std::sqrt(columns.size())));
  std::vector<double> result(n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      result[k] += columns[i * n + k] * (vector.empty() ? columns[i * n + k] : vector[i]);
  return result;
}

/// Appends an orthonormal basis of the polynomials whose sign changes under exactly the reflections in `sector`:
/// pivoted Gram-Schmidt on the columns of the projection.
void append_sector(unsigned sector, const std::vector<std::vector<double>>& parity_matrices, std::size_t n,
                   ModalBasis& basis) {
  auto columns = projection(sector, parity_matrices, static_cast<int>(n));
  while (true) {
    auto lengths = column_products(columns);
    for (double& length : lengths) length = std::sqrt(length);
    const auto largest = static_cast<std::size_t>(std::ranges::max_element(lengths) - lengths.begin());
    const double length = lengths[largest];
    if (length < 1e-6) return; // a projection has singular values 0 and 1 only
    std::vector<double> mode(n);
    for (std::size_t i = 0; i < n; ++i) mode[i] = columns[i * n + largest] / length;
    const auto along = column_products(columns, mode);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < n; ++k) columns[i * n + k] -= along[k] * mode[i];
    basis.sectors.push_back(sector);
    basis.coefficients.insert(basis.coefficients.end(), mode.begin(), mode.end());
  }
}

} // namespace

std::optional<Folding> make_folding(element::Shape shape, std::span<const double> points) {
  const auto& reflections = element::reflections(shape);
  if (reflections.empty()) return std::nullopt;
  std::vector<std::vector<int>> permutations;
  for (std::size_t r = 0; r < reflections.size(); ++r) {
    auto permutation = element::reflection_permutation(shape, static_cast<int>(r), points);
    if (!permutation) return std::nullopt;
    permutations.push_back(std::move(*permutation));
  }
  const std::size_t n = points.size() / static_cast<std::size_t>(element::dimension(shape));
  const auto orbits = find_orbits(permutations, n);
  Folding folding;
  folding.places.assign(n, -1);
  for (unsigned sector = 0; sector < 1U << reflections.size(); ++sector)
    for (const auto& orbit : orbits)
      for (std::size_t k = 0; k < orbit.points.size(); ++k)
        if (orbit.sectors[k] == sector) {
          folding.places[static_cast<std::size_t>(orbit.points[k])] = static_cast<int>(folding.sectors.size());
          folding.sectors.push_back(sector);
        }
  for (const auto& orbit : orbits) {
    const auto place = [&](std::size_t k) { return folding.places[static_cast<std::size_t>(orbit.points[k])]; };
    if (orbit.points.size() == 4) folding.quads.push_back({place(0), place(1), place(2), place(3)});
    if (orbit.points.size() == 2) folding.pairs.push_back({place(0), place(1)});
  }
  return folding;
}

ModalBasis make_modal_basis(element::Shape shape, int degree) {
  const auto rule = element::make_quadrature(shape, 2 * degree);
  const auto values = element::tabulate_orthonormal(shape, degree, rule.points);
  const auto n = static_cast<std::size_t>(values.num_dofs);
  // entry (i, j): integral of function i times the reflected function j
  std::vector<std::vector<double>> parity_matrices;
  const auto weighted = element::transposed(
      with_weights({values_of(values).begin(), values_of(values).end()}, rule.weights), values.num_dofs);
  for (const auto& reflection : element::reflections(shape)) {
    const auto images = element::tabulate_orthonormal(shape, degree, element::reflected(reflection, rule.points));
    parity_matrices.push_back(element::multiplied(weighted, values_of(images), rule.num_points()));
  }
  ModalBasis basis;
  basis.shape = shape;
  basis.degree = degree;
  for (unsigned sector = 0; sector < 1U << parity_matrices.size(); ++sector)
    append_sector(sector, parity_matrices, n, basis);
  if (basis.sectors.size() != n) throw base::InternalError("folding: the sectors do not make up the polynomial space");
  return basis;
}

std::optional<int> modal_degree(const ProgramInput& input) {
  const auto shape = input.function.shape; // derivatives lower the total degree of polynomials on simplices alone
  if (input.function.is_facet || !mesh::is_constant(input.function.map) || !element::is_simplex(shape) ||
      element::is_tensor(shape))
    return std::nullopt;
  const auto slot_degree = [](const std::vector<FieldUse>& uses, int field, int derivative) {
    return uses[position_of(uses, field)].element->degree() - (derivative < 0 ? 0 : 1);
  };
  auto function = input.function; // a copy, because coefficients are added to its graph
  const auto coefficients = constant_coefficients(function);
  if (!coefficients) return std::nullopt;
  int degree = 0;
  for (const auto& coefficient : *coefficients) {
    const auto& output = function.outputs[static_cast<std::size_t>(coefficient.output)];
    const int of_test = slot_degree(input.fields.outputs, output.field, output.derivative);
    const int of_trial = slot_degree(input.fields.inputs, coefficient.trial.a, coefficient.trial.c);
    if (of_test + of_trial > input.fields.quadrature.degree) return std::nullopt;
    degree = std::max({degree, of_test, of_trial});
  }
  return degree;
}

ReferenceMatrix modal_table(const ModalBasis& modes, const element::Element& element, std::span<const int> slots) {
  const auto rule = element::make_quadrature(modes.shape, modes.degree + element.degree());
  const auto orthonormal = element::tabulate_orthonormal(modes.shape, modes.degree, rule.points);
  const auto table = element.tabulate(rule.points);
  const auto frame = element::reflection_frame(modes.shape);
  const int num_rows = static_cast<int>(slots.size()) * modes.size();
  ReferenceMatrix matrix{"M", num_rows, table.num_dofs, {}, Symmetry::none, true, {}};
  const auto by_mode = element::transposed(values_of(orthonormal), orthonormal.num_dofs);
  for (const int slot : slots) {
    std::vector<double> values;
    for (int q = 0; q < rule.num_points(); ++q)
      for (int i = 0; i < table.num_dofs; ++i) values.push_back(slot_value(table, frame, slot, q, i));
    const auto moments = element::multiplied(by_mode, with_weights(std::move(values), rule.weights), rule.num_points());
    const auto of_slot = element::multiplied(modes.coefficients, moments, modes.size());
    matrix.values.insert(matrix.values.end(), of_slot.begin(), of_slot.end());
  }
  return matrix;
}

ReferenceMatrix folded(const ReferenceMatrix& matrix, std::span<const unsigned> parities,
                       std::span<const unsigned> row_sectors, const Folding* rows, const Folding& columns) {
  const std::size_t num_points = row_sectors.size(), num_slots = parities.size(), dofs = columns.places.size();
  // Columns: the butterfly H satisfies H^2 = diag(orbit size), so H^-1 = H / orbit size; its columns are in the order
  // of places.
  const auto of_columns = butterfly(columns);
  std::vector<double> placed(matrix.values.size());
  for (std::size_t r = 0; r < num_slots * num_points; ++r)
    for (std::size_t i = 0; i < dofs; ++i)
      placed[r * dofs + static_cast<std::size_t>(columns.places[i])] = matrix.values[r * dofs + i];
  std::vector<double> split(matrix.values.size(), 0.0);
  for (std::size_t r = 0; r < num_slots * num_points; ++r)
    for (std::size_t k = 0; k < dofs; ++k) {
      double sum = 0;
      for (const auto& [i, sign] : of_columns.rows[k]) sum += placed[r * dofs + i] * sign;
      split[r * dofs + k] = sum / of_columns.orbit_size(k);
    }
  ReferenceMatrix result = matrix;
  result.name = "F" + matrix.name;
  result.values.assign(matrix.values.size(), 0.0);
  if (rows == nullptr)
    result.values = split;
  else { // Rows: D^-1 H matrix for each slot, D = diag(orbit size), so that the butterfly of the result gives the
         // values at the points.
    const auto of_rows = butterfly(*rows);
    for (std::size_t s = 0; s < num_slots; ++s)
      for (std::size_t r = 0; r < num_points; ++r)
        for (const auto& [q, sign] : of_rows.rows[r])
          for (std::size_t k = 0; k < dofs; ++k)
            result.values[(s * num_points + r) * dofs + k] +=
                sign / of_rows.orbit_size(r) * split[(s * num_points + q) * dofs + k];
  }
  double largest = 0;
  for (const double value : result.values) largest = std::max(largest, std::fabs(value));
  const auto num_sectors = 1U << element::max_reflections;
  for (unsigned sector = 0; sector < num_sectors; ++sector) {
    ReferenceMatrix::MatrixBlock block;
    for (std::size_t k = 0; k < dofs; ++k)
      if (columns.sectors[k] == sector) block.cols.push_back(static_cast<int>(k));
    for (std::size_t s = 0; s < num_slots; ++s)
      for (std::size_t r = 0; r < num_points; ++r)
        if ((row_sectors[r] ^ parities[s]) == sector) block.rows.push_back(static_cast<int>(s * num_points + r));
    // rows without columns are zero and must be written as well
    if (!block.rows.empty() || !block.cols.empty()) result.blocks.push_back(std::move(block));
  }
  // Entries that vanish by symmetry hold rounding errors; they become 0.
  std::vector<bool> is_kept(result.values.size(), false);
  for (const auto& block : result.blocks)
    for (const int r : block.rows)
      for (const int k : block.cols) is_kept[static_cast<std::size_t>(r) * dofs + static_cast<std::size_t>(k)] = true;
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    if (std::fabs(result.values[i]) < 1e-14 * largest) result.values[i] = 0;
    if (is_kept[i]) continue;
    if (std::fabs(result.values[i]) > 1e-9 * largest)
      throw base::InternalError("folding: a table is not symmetric under the reflections of its cell");
    result.values[i] = 0;
  }
  return result;
}

} // namespace rafter::kernel
