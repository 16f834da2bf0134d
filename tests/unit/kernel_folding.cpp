// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>
#include <rafter/element/basis.hpp>
#include <rafter/element/quadrature.hpp>
#include <rafter/element/reflections.hpp>
#include <rafter/kernel/folding.hpp>

namespace rafter::kernel {
namespace {

using element::Shape;

/// Some shapes have reflections; derivatives lower the total degree on simplices only.
class Reflected : public testing::TestWithParam<Shape> {};
class Simplices : public testing::TestWithParam<Shape> {};

Folding folding_of(const element::Element& element) { return make_folding(element.shape(), element.nodes()).value(); }

TEST_P(Reflected, ReflectionsAreInvolutionsThatCommuteAndKeepTheCell) {
  const auto& all = element::reflections(GetParam());
  const auto vertices = element::reference_vertices(GetParam());
  const std::vector<double> corners(vertices.begin(), vertices.end());
  for (std::size_t r = 0; r < all.size(); ++r) {
    const auto images = element::reflected(all[r], corners);
    EXPECT_NE(images, corners);
    EXPECT_EQ(element::reflected(all[r], images), corners);
    EXPECT_TRUE(element::reflection_permutation(GetParam(), static_cast<int>(r), corners).has_value());
    for (const auto& other : all)
      EXPECT_EQ(element::reflected(other, images), element::reflected(all[r], element::reflected(other, corners)));
  }
}

TEST_P(Reflected, EveryReflectionKeepsOrReversesTheDirectionsOfTheFrame) {
  const auto dim = static_cast<std::size_t>(element::dimension(GetParam()));
  const auto frame = element::reflection_frame(GetParam());
  const auto& all = element::reflections(GetParam());
  for (std::size_t r = 0; r < all.size(); ++r)
    for (std::size_t d = 0; d < dim; ++d) {
      const bool is_reversed = (element::direction_parity(GetParam(), static_cast<int>(d)) >> r & 1U) != 0;
      for (std::size_t i = 0; i < dim; ++i) {
        double image = 0;
        for (std::size_t j = 0; j < dim; ++j) image += all[r].matrix[i * dim + j] * frame[d * dim + j];
        EXPECT_EQ(image, is_reversed ? -frame[d * dim + i] : frame[d * dim + i]);
      }
    }
}

TEST_P(Reflected, NodesFoldAtEveryDegree) {
  for (int degree = 1; degree <= 12; ++degree) {
    const auto element = element::make_element(element::Family::lagrange, GetParam(), degree);
    const auto folding = make_folding(GetParam(), element->nodes());
    ASSERT_TRUE(folding.has_value()) << degree;
    EXPECT_TRUE(std::is_sorted(folding->sectors.begin(), folding->sectors.end()));
    auto places = folding->places;
    std::sort(places.begin(), places.end());
    std::vector<int> all(places.size());
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(places, all);
    EXPECT_EQ(places.size(), static_cast<std::size_t>(element->num_dofs()));
  }
}

TEST_P(Reflected, PointsThatAReflectionMovesAwayDoNotFold) {
  const auto dim = static_cast<std::size_t>(element::dimension(GetParam()));
  EXPECT_FALSE(make_folding(GetParam(), std::vector<double>(dim, -0.9)).has_value());
}

TEST_P(Simplices, ModesAreOrthonormalAndProductsOfTheirTablesAreTheIntegrals) {
  const int dim = element::dimension(GetParam());
  const auto frame = element::reflection_frame(GetParam());
  for (int degree = 1; degree <= 6; ++degree) {
    const auto element = element::make_element(element::Family::lagrange, GetParam(), degree);
    const auto modes = make_modal_basis(GetParam(), degree);
    EXPECT_EQ(modes.size(), element->num_dofs());
    std::vector<int> slots{-1};
    for (int a = 0; a < dim; ++a) slots.push_back(a);
    const auto table = modal_table(modes, *element, slots);
    const auto rule = element::make_quadrature(GetParam(), 2 * degree);
    const auto basis = element->tabulate(rule.points);
    const auto value = [&](int slot, int q, int i) {
      if (slot < 0) return basis(0, q, i);
      double sum = 0;
      for (int a = 0; a < dim; ++a) sum += frame[static_cast<std::size_t>(slot * dim + a)] * basis(a + 1, q, i);
      return sum;
    };
    for (std::size_t s = 0; s < slots.size(); ++s)
      for (std::size_t t = 0; t < slots.size(); ++t)
        for (int i = 0; i < element->num_dofs(); ++i) {
          const int j = (7 * i + 3) % element->num_dofs();
          double integral = 0, product = 0;
          for (int q = 0; q < rule.num_points(); ++q)
            integral += rule.weights[static_cast<std::size_t>(q)] * value(slots[s], q, i) * value(slots[t], q, j);
          for (int m = 0; m < modes.size(); ++m)
            product +=
                table(static_cast<int>(s) * modes.size() + m, i) * table(static_cast<int>(t) * modes.size() + m, j);
          EXPECT_NEAR(product, integral, 1e-12 * degree * degree) << degree << " " << s << " " << t << " " << i;
        }
  }
}

/// Applies a folded table as programs do: butterflies, blocks, butterflies.
std::vector<double> apply_folded(const ReferenceMatrix& matrix, const Folding* rows, const Folding& columns,
                                 const std::vector<double>& dofs) {
  const auto butterfly = [](const Folding& folding, double* v) {
    for (const auto& p : folding.quads) {
      const double a = v[p[0]], b = v[p[1]], c = v[p[2]], d = v[p[3]];
      v[p[0]] = a + b + c + d, v[p[1]] = a - b + c - d, v[p[2]] = a + b - c - d, v[p[3]] = a - b - c + d;
    }
    for (const auto& p : folding.pairs) {
      const double a = v[p[0]], b = v[p[1]];
      v[p[0]] = a + b, v[p[1]] = a - b;
    }
  };
  std::vector<double> placed(dofs.size()), result(static_cast<std::size_t>(matrix.rows), 0.0);
  for (std::size_t i = 0; i < dofs.size(); ++i) placed[static_cast<std::size_t>(columns.places[i])] = dofs[i];
  butterfly(columns, placed.data());
  for (const auto& block : matrix.blocks)
    for (const int r : block.rows)
      for (const int k : block.cols)
        result[static_cast<std::size_t>(r)] += matrix(r, k) * placed[static_cast<std::size_t>(k)];
  if (rows != nullptr)
    for (std::size_t first = 0; first < result.size(); first += rows->places.size())
      butterfly(*rows, result.data() + first);
  return result;
}

double sum_of_squares(const std::vector<double>& values) {
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

/// Checks that a folded table maps random dofs as the table does.
void expect_same_map(const ReferenceMatrix& table, const ReferenceMatrix& split, const Folding* rows,
                     const Folding& columns, const std::string& what) {
  std::vector<double> dofs(static_cast<std::size_t>(table.cols));
  for (std::size_t i = 0; i < dofs.size(); ++i) dofs[i] = std::sin(1.0 + static_cast<double>(i * i));
  const auto found = apply_folded(split, rows, columns, dofs);
  for (int r = 0; r < table.rows; ++r) {
    double expected = 0, squares = 0;
    for (int i = 0; i < table.cols; ++i) {
      expected += table(r, i) * dofs[static_cast<std::size_t>(i)];
      squares += table(r, i) * table(r, i);
    }
    EXPECT_NEAR(found[static_cast<std::size_t>(r)], expected, 1e-14 * std::sqrt(squares * sum_of_squares(dofs)))
        << what << " row " << r;
  }
}

std::size_t num_entries(const ReferenceMatrix& matrix) {
  std::size_t entries = 0;
  for (const auto& block : matrix.blocks) entries += block.rows.size() * block.cols.size();
  return entries;
}

TEST_P(Reflected, FoldedTablesDoWhatTheTablesDo) {
  const auto dim = element::dimension(GetParam());
  for (int degree = 1; degree <= 5; ++degree) {
    const auto element = element::make_element(element::Family::lagrange, GetParam(), degree);
    const auto columns = folding_of(*element);
    const auto modes = make_modal_basis(GetParam(), degree - 1);
    std::vector<int> slots(static_cast<std::size_t>(dim));
    std::iota(slots.begin(), slots.end(), 0);
    std::vector<unsigned> parities;
    for (const int slot : slots) parities.push_back(element::direction_parity(GetParam(), slot));
    const auto table = modal_table(modes, *element, slots);
    const auto split = folded(table, parities, modes.sectors, nullptr, columns);
    expect_same_map(table, split, nullptr, columns, "degree " + std::to_string(degree));
    const std::size_t sectors = std::size_t{1} << element::reflections(GetParam()).size();
    if (degree >= 3) {
      EXPECT_LE(num_entries(split), 1.15 * static_cast<double>(table.values.size() / sectors))
          << "all sectors are used";
    }
  }
}

TEST_P(Reflected, TablesAtTheirRulesFoldOnBothSides) {
  for (int degree = 1; degree <= 6; ++degree) {
    const auto element = element::make_element(element::Family::lagrange, GetParam(), degree);
    const auto rule = element::make_quadrature(GetParam(), 2 * degree);
    const auto columns = folding_of(*element);
    const auto rows = make_folding(GetParam(), rule.points);
    if (!rows) { // rules that are collapsed towards one vertex have no reflections
      EXPECT_TRUE(GetParam() == Shape::tetrahedron && rule.num_points() == std::pow(degree + 1, 3)) << degree;
      continue;
    }
    const auto basis = element->tabulate(rule.points);
    ReferenceMatrix table{"T", basis.num_points, basis.num_dofs, {}, Symmetry::none, true, {}};
    table.values.resize(static_cast<std::size_t>(table.rows) * static_cast<std::size_t>(table.cols));
    for (int q = 0; q < table.rows; ++q) // programs order points by their places
      for (int i = 0; i < table.cols; ++i)
        table.values[static_cast<std::size_t>(rows->places[static_cast<std::size_t>(q)] * table.cols + i)] =
            basis(0, q, i);
    Folding ordered = *rows;
    std::iota(ordered.places.begin(), ordered.places.end(), 0);
    const std::vector<unsigned> kept{0};
    const auto split = folded(table, kept, ordered.sectors, &ordered, columns);
    expect_same_map(table, split, &ordered, columns, "degree " + std::to_string(degree));
    EXPECT_LT(num_entries(split), table.values.size());
  }
}

/// The number of nodes in a sector follows from the characters of the group: it is the sum over its members of the
/// number of nodes that each keeps in place, with the sign of the sector, divided by the number of members.
TEST_P(Reflected, SectorsHaveAsManyNodesAsTheSymmetrySays) {
  const auto& all = element::reflections(GetParam());
  for (int degree = 1; degree <= 8; ++degree) {
    const auto element = element::make_element(element::Family::lagrange, GetParam(), degree);
    const auto folding = folding_of(*element);
    std::vector<int> fixed; // number of nodes that each member, a set of reflections, keeps in place
    for (unsigned member = 0; member < 1U << all.size(); ++member) {
      const auto nodes = element->nodes();
      std::vector<double> images(nodes.begin(), nodes.end());
      for (std::size_t r = 0; r < all.size(); ++r)
        if ((member >> r & 1U) != 0) images = element::reflected(all[r], images);
      const auto dim = static_cast<std::size_t>(element::dimension(GetParam()));
      int count = 0;
      for (std::size_t i = 0; i < nodes.size(); i += dim) {
        double moved = 0;
        for (std::size_t d = 0; d < dim; ++d) moved = std::fmax(moved, std::fabs(images[i + d] - nodes[i + d]));
        count += moved < 1e-10 ? 1 : 0;
      }
      fixed.push_back(count);
    }
    for (unsigned sector = 0; sector < fixed.size(); ++sector) {
      int sum = 0;
      for (unsigned member = 0; member < fixed.size(); ++member)
        sum += std::popcount(sector & member) % 2 == 0 ? fixed[member] : -fixed[member];
      EXPECT_EQ(static_cast<int>(fixed.size()) * std::ranges::count(folding.sectors, sector), sum)
          << degree << " " << sector;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(every, Reflected,
                         testing::Values(Shape::triangle, Shape::tetrahedron, Shape::prism, Shape::pyramid),
                         [](const auto& shape) { return std::string(element::name(shape.param)); });
INSTANTIATE_TEST_SUITE_P(every, Simplices, testing::Values(Shape::triangle, Shape::tetrahedron),
                         [](const auto& shape) { return std::string(element::name(shape.param)); });

} // namespace
} // namespace rafter::kernel
