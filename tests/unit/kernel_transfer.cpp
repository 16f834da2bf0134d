// SPDX-License-Identifier: BSD-3-Clause
// Programs of transfers, interpreted: polynomials of the coarse degree are kept, restriction is the transpose of
// prolongation, masks hold, and malformed programs are refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include <rafter/base/error.hpp>
#include <rafter/kernel/transfer.hpp>
#include <rafter/mesh/generations.hpp>
#include <rafter/mesh/subdivision.hpp>
#include <tests/support/kernel_forms.hpp>

namespace rafter::kernel {
namespace {

using element::Shape;

/// A transfer between degrees on one cell, or from a cell to its children.
TransferInput transfer(Shape shape, int coarse_degree, int fine_degree, bool is_refined, mesh::Halving halving = {}) {
  const auto element_on = [](Shape s, int degree) { return make_element(element::Family::lagrange, s, degree); };
  TransferInput result{.components = 2, .coarse = element_on(shape, coarse_degree), .children = {}, .masks = {}};
  if (!is_refined) {
    const auto fine = element_on(shape, fine_degree);
    result.children.push_back({fine, {fine->nodes().begin(), fine->nodes().end()}});
    return result;
  }
  const auto& division = mesh::subdivision(shape, halving);
  for (const auto& child : division.children) {
    const auto fine = element_on(child.shape, fine_degree);
    result.children.push_back({fine, mesh::map_to_parent(shape, division, child, fine->nodes())});
  }
  return result;
}

/// All transfers of a degree on all shapes.
std::vector<TransferInput> all_transfers(int coarse_degree, int fine_degree) {
  std::vector<TransferInput> result;
  for (const auto shape : element::all_cell_shapes) {
    result.push_back(transfer(shape, coarse_degree, fine_degree, false));
    for (std::uint8_t axes = 1; axes < 1 << element::dimension(shape); ++axes)
      for (int diagonal = 0; diagonal < (shape == Shape::tetrahedron ? 3 : 1); ++diagonal)
        if (mesh::can_be_halved(shape, {axes}))
          result.push_back(transfer(shape, coarse_degree, fine_degree, true, {{axes}, diagonal}));
  }
  return result;
}

TransferInput in(TransferDirection direction, TransferInput input) {
  input.direction = direction;
  return input;
}

/// A polynomial of this degree in all directions together.
double polynomial(const double* x, std::size_t dim, int degree, int component) {
  double s = 0.3 + component;
  for (std::size_t d = 0; d < dim; ++d) s += (0.5 - 0.3 * static_cast<double>(d)) * x[d];
  return std::pow(s, degree);
}
std::vector<double> nodal_values(std::span<const double> nodes, Shape shape, int degree, int components) {
  const auto dim = static_cast<std::size_t>(element::dimension(shape));
  std::vector<double> result;
  for (int c = 0; c < components; ++c)
    for (std::size_t i = 0; i < nodes.size(); i += dim) result.push_back(polynomial(nodes.data() + i, dim, degree, c));
  return result;
}

std::vector<double> random_values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> result(count);
  for (double& value : result) value = uniform(random);
  return result;
}
/// Random values for every field, shape (field)(component, dof).
std::vector<std::vector<double>> random_fields(const std::vector<FieldUse>& uses, unsigned seed) {
  std::vector<std::vector<double>> result;
  for (const auto& use : uses)
    result.push_back(random_values(static_cast<std::size_t>(use.components * use.num_dofs()), seed++));
  return result;
}
double dot(const std::vector<std::vector<double>>& x, const std::vector<std::vector<double>>& y) {
  double sum = 0;
  for (std::size_t f = 0; f < x.size(); ++f)
    for (std::size_t i = 0; i < x[f].size(); ++i) sum += x[f][i] * y[f][i];
  return sum;
}

TEST(Transfer, KeepsPolynomialsOfTheCoarseDegree) {
  for (const auto& [coarse, fine] : {std::pair{1, 1}, {1, 2}, {2, 4}, {3, 4}, {4, 4}})
    for (const auto& input : all_transfers(coarse, fine)) {
      const auto program = build_transfer(input);
      SCOPED_TRACE(std::string(element::name(input.coarse->shape())) + "\n" + program.to_string());
      const auto nodes = distinct_nodes(input);
      const auto result =
          interpret(program, {.inputs = {nodal_values(input.coarse->nodes(), input.coarse->shape(), coarse, 2)}});
      for (std::size_t k = 0; k < input.children.size(); ++k) {
        const auto expected = nodal_values(input.children[k].nodes, input.coarse->shape(), coarse, 2);
        const auto& places = nodes.places[k];
        for (std::size_t i = 0; i < expected.size(); ++i)
          EXPECT_NEAR(result.outputs[k][i], places[i % places.size()] < 0 ? 0 : expected[i],
                      1e-12 * std::pow(3.0, coarse));
      }
    }
}

TEST(Transfer, EveryNodeOfTheChildrenHasOnePlace) {
  for (const auto& input : all_transfers(1, 3)) {
    const auto nodes = distinct_nodes(input);
    const auto dim = static_cast<std::size_t>(element::dimension(input.coarse->shape()));
    std::vector<std::vector<double>> points; // those with a place
    std::size_t num_dofs = 0;
    for (std::size_t k = 0; k < input.children.size(); ++k)
      for (std::size_t i = 0; i < nodes.places[k].size(); ++i, ++num_dofs)
        if (nodes.places[k][i] >= 0) {
          const auto* x = input.children[k].nodes.data() + i * dim;
          points.emplace_back(x, x + dim);
        }
    for (std::size_t i = 0; i < points.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        double distance = 0;
        for (std::size_t d = 0; d < dim; ++d) distance = std::max(distance, std::fabs(points[i][d] - points[j][d]));
        ASSERT_GT(distance, 1e-3);
      }
    EXPECT_EQ(points.size() == num_dofs, input.children.size() == 1); // neighbouring children share nodes
  }
}

TEST(Transfer, RestrictionIsTheTransposeOfProlongation) {
  for (const auto& [coarse, fine] : {std::pair{1, 2}, {2, 2}, {3, 5}})
    for (auto input : all_transfers(coarse, fine)) {
      input.masks = {.coarse = 2, .children = std::vector<int>(input.children.size(), 1)};
      const auto P = build_transfer(in(TransferDirection::prolongation, input)),
                 R = build_transfer(in(TransferDirection::restriction, input));
      CellData x{.inputs = random_fields(P.inputs, 1)}, y{.inputs = random_fields(R.inputs, 2)};
      const auto factors = [](const FieldUse& use, int components, unsigned seed) {
        auto result = random_values(static_cast<std::size_t>(components * use.num_dofs()), seed);
        for (double& factor : result) factor = factor > 0 ? 1 : 0;
        return result;
      };
      // Both programs have the masks of the children in the same order, and that of the coarse field first or last.
      x.masks.push_back(factors(P.inputs[0], 2, 3));
      for (std::size_t k = 0; k < input.children.size(); ++k) {
        x.masks.push_back(factors(P.outputs[k], 1, 4));
        y.masks.push_back(x.masks.back());
      }
      y.masks.push_back(x.masks.front());
      const auto Px = interpret(P, x).outputs, Ry = interpret(R, y).outputs;
      EXPECT_NEAR(dot(Px, y.inputs), dot(x.inputs, Ry), 1e-12) << element::name(input.coarse->shape());
      EXPECT_GT(dot(Px, Px), 0);
    }
}

TEST(Transfer, MasksLeaveTheInteriorAlone) {
  auto input = transfer(Shape::quadrilateral, 1, 3, false);
  input.masks = {.coarse = 0, .children = {1}};
  const auto program = build_transfer(input);
  const auto result = interpret(program, {.inputs = {std::vector<double>(8, 1.0)}, .masks = {std::vector<double>(16)}});
  const auto interior = input.children[0].element->entity_dofs(2, 0);
  for (int i = 0; i < 16; ++i)
    EXPECT_NEAR(result.outputs[0][static_cast<std::size_t>(i)], std::ranges::count(interior, i) > 0 ? 1 : 0, 1e-14);
}

TEST(Transfer, OfEqualDegreesMovesDofsWithoutMatrices) {
  for (const auto shape : element::all_cell_shapes)
    EXPECT_TRUE(build_transfer(transfer(shape, 3, 3, false)).matrices.empty()) << element::name(shape);
}

TEST(Transfer, OnTensorCellsCostsOneMoreThanTheDimension) {
  // Operations grow as p^(d+1), so that doubling the degree takes less than 2^(d+1.3) times as many.
  for (const auto shape : {Shape::quadrilateral, Shape::hexahedron})
    for (const bool is_refined : {false, true}) {
      const double few = count_flops(build_transfer(transfer(shape, 3, 6, is_refined))),
                   many = count_flops(build_transfer(transfer(shape, 6, 12, is_refined)));
      EXPECT_LT(many / few, std::pow(2, element::dimension(shape) + 1.3));
    }
}

// --- malformed programs ----------------------------------------------------------------------------------------------

struct Malformed {
  const char* message;
  std::function<void(TensorProgram&)> spoil;
};

TEST(Transfer, MalformedProgramsAreRefused) {
  auto input = transfer(Shape::triangle, 2, 2, true);
  input.direction = TransferDirection::restriction;
  input.masks = {.coarse = 2, .children = std::vector<int>(4, 1)};
  const std::vector<Malformed> cases{
      {"is read before it is written",
       [](auto& p) { p.steps.erase(p.steps.begin() + static_cast<std::ptrdiff_t>(test::first(p, StepKind::read))); }},
      {"two fields are read into one place", [](auto& p) { p.accesses[1].places = p.accesses[0].places; }},
      {"an entity has places for some of its dofs alone",
       [](auto& p) { // the second vertex takes the place of an edge, of which one dof is left out
         p.inputs[0].element = make_element(element::Family::lagrange, Shape::triangle, 3);
         p.accesses[0].places.assign(10, -1);
         p.accesses[0].places[3] = 0;
       }},
      {"two dofs have one place", [](auto& p) { p.accesses[0].places[0] = p.accesses[0].places[1]; }},
      {"a dof leaves", [](auto& p) { p.accesses[0].places[0] = 100; }},
      {"one place per dof", [](auto& p) { p.accesses[0].places.pop_back(); }},
      {"unknown mask", [](auto& p) { p.families.front().members = {5}; }},
      {"a mask of an unknown access", [](auto& p) { p.masks[0].access = 9; }},
      {"a mask has other components", [](auto& p) { p.masks[0].components = 3; }},
  };
  const auto good = build_transfer(input);
  EXPECT_NO_THROW(good.verify());
  for (const auto& malformed : cases) {
    auto program = good;
    malformed.spoil(program);
    try {
      program.verify();
      ADD_FAILURE() << malformed.message;
    } catch (const base::InternalError& error) {
      EXPECT_NE(std::string(error.what()).find(malformed.message), std::string::npos) << error.what();
    }
  }
}

TEST(Transfer, TextNamesMasks) {
  auto input = transfer(Shape::interval, 1, 2, false);
  input.masks = {.coarse = 1, .children = {2}};
  const auto text = build_transfer(input).to_string();
  EXPECT_NE(text.find("contract coarse = mask 0"), std::string::npos) << text;
  EXPECT_NE(text.find("contract fine_0 = mask 1"), std::string::npos) << text;
}

} // namespace
} // namespace rafter::kernel
