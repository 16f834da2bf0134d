// SPDX-License-Identifier: BSD-3-Clause
// Operators on identified meshes are those of the open mesh with unknowns identified. They commute with shifts, and
// give the same bits on any number of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rafter/base/temporary.hpp>

#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>
#include <tests/support/periodic_meshes.hpp>

namespace rafter::test {
namespace {

const std::string varying_on_identified = "((1 + x[0]*x[0])*inner(grad(u), grad(v)) + kappa*u*v)*dx + kappa*u*v*ds";

class PeriodicOperator : public ::testing::TestWithParam<std::string> {
protected:
  int dim() const { return box_dimension(GetParam()); }
  std::vector<int> axes() const { return periodic_axes(GetParam()); }
  /// Leaves out the last axis, so that there is still a boundary.
  std::vector<int> some_axes() const {
    auto result = axes();
    if (result.size() > 1) result.pop_back();
    return result;
  }
};

/// Returns the entry of the periodic system for every entry of the open one.
std::vector<std::int32_t> identification(const Problem& open, const Problem& periodic) {
  std::vector<std::int32_t> result(static_cast<std::size_t>(open.system().size()), -1);
  std::vector<std::vector<std::int32_t>> cells;
  for_each_cell(*open.space(), [&](auto, auto, std::span<const std::int32_t> entries, const auto&) {
    cells.emplace_back(entries.begin(), entries.end());
  });
  std::size_t cell = 0;
  for_each_cell(*periodic.space(), [&](auto, auto, std::span<const std::int32_t> entries, const auto&) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      auto& image = result[static_cast<std::size_t>(cells[cell][i])];
      EXPECT_TRUE(image < 0 || image == entries[i]) << "an unknown of the open mesh has two images";
      image = entries[i];
    }
    ++cell;
  });
  return result;
}

/// Checks that the action on the periodic mesh is P^T A P, where A belongs to the open mesh without integrals over the
/// identified sides.
void expect_identified_action(const mesh::Mesh& open_mesh, std::span<const int> axes, int degree, int components,
                              const std::string& form, const op::OperatorOptions& options,
                              const mesh::BatchOptions& batches = {}) {
  SCOPED_TRACE(open_mesh.source + " degree " + std::to_string(degree) + " " + options.plan);
  Problem open(open_mesh, degree, components), periodic(identified(open_mesh, axes), degree, components, batches);
  open.with("kappa", 0.7);
  periodic.with("kappa", 0.7);
  const auto& exterior_tags = periodic.mesh().topology().exterior_tags;
  const std::set<std::int32_t> tags(exterior_tags.begin(), exterior_tags.end());
  std::string on_open = form;
  if (on_open.ends_with("*ds")) {
    if (tags.empty())
      on_open.erase(on_open.rfind(" + "));
    else
      on_open += fmt::format("(({}))", fmt::join(tags, ", "));
  }
  const op::Operator A(open.form(on_open), interpreted());
  const op::Operator B(periodic.form(form), planned(options));
  const auto image = identification(open, periodic);
  const Vector x = random_vector(B, 3);
  Vector on_open_mesh = A.make_vector();
  const auto values = on_open_mesh.host_overwrite();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = x.host_read()[static_cast<std::size_t>(image[i])];
  const auto y = values_of(applied(A, on_open_mesh));
  std::vector<double> expected(static_cast<std::size_t>(B.size()), 0.0);
  for (std::size_t i = 0; i < y.size(); ++i) expected[static_cast<std::size_t>(image[i])] += y[i];
  EXPECT_LT(expected.size(), y.size());
  const auto found = values_of(applied(B, x));
  EXPECT_LE(distance(found, expected), 1e-13 * (degree + 1) * (degree + 1) * largest(expected));
}

TEST_P(PeriodicOperator, ActsAsTheOpenOneWithUnknownsIdentified) {
  const auto device = std::make_shared<InterpreterDevice>();
  for (int degree = 1; degree <= 4; ++degree) {
    const auto cells = degree == 1 ? 3 : 2;
    expect_identified_action(scrambled(wavy_box(GetParam(), cells, 2, axes()), 5), axes(), degree, 0,
                             varying_on_identified, {.shared_device = device});
    expect_identified_action(box(GetParam(), 2), some_axes(), degree, 0, varying_on_identified,
                             {.shared_device = device});
  }
  if (dim() > 1)
    expect_identified_action(scrambled(box(GetParam(), 3), 2), some_axes(), 2, dim(), elasticity_form(dim()),
                             {.shared_device = device});
}

TEST_P(PeriodicOperator, ActsSoAlsoAsAMatrixInPatchesAndWithPointsInLanes) {
  const auto mesh = scrambled(box(GetParam(), 4), 5);
  expect_identified_action(mesh, axes(), 2, 0, varying_on_identified, {.threads = 2, .plan = "mapping=assembled"});
  if (GetParam() != "quadrilateral" && GetParam() != "hexahedron") return;
  for (const int n : {2, 3, 4})
    expect_identified_action(box(GetParam(), n), axes(), 2, 0, varying_on_identified,
                             {.threads = 2, .plan = "vector_width=2"},
                             {.cells_per_batch = 2 << dim(), .patch_width = 2});
  // There are two cells along the first axis; a patch of both would have two corners at one place.
  std::vector<int> cells{2, 4, 4};
  cells.resize(static_cast<std::size_t>(dim()));
  const auto narrow = mesh::make_box({.cells = cells, .size = box_size(dim()), .shape = GetParam()});
  for (const int degree : {1, 2})
    expect_identified_action(narrow, axes(), degree, 0, varying_on_identified, {.threads = 2, .plan = "vector_width=2"},
                             {.cells_per_batch = 2 << dim(), .patch_width = 2});
  expect_identified_action(mesh, axes(), 3, 0, varying_on_identified, {.threads = 2, .plan = "mapping=simd_points"});
}

TEST_P(PeriodicOperator, GivesTheSameBitsOnAnyNumberOfThreads) {
  const int n = dim() == 1 ? 200 : dim() == 2 ? 10 : 4;
  for (const int cells : {2, n}) {
    Problem problem(periodic_box(GetParam(), cells, axes(), 1, 3), 2, 0,
                    {.cells_per_batch = 2, .batches_per_chunk = 1});
    problem.with("kappa", 0.7);
    std::vector<double> expected;
    for (const int threads : {1, 2, 4, 3}) {
      const op::Operator A(problem.form(helmholtz_form()), planned({.threads = threads, .plan = "vector_width=2"}));
      const Vector x = random_vector(A, 4);
      for (int run = 0; run < 3; ++run) {
        const auto y = values_of(applied(A, x));
        if (expected.empty()) expected = y;
        EXPECT_EQ(y, expected) << threads << " threads, run " << run;
      }
    }
  }
}

/// Returns, for each unknown, the entry of the node at the place to which its node is shifted; components are kept.
std::vector<std::int32_t> shifted_entries(const Problem& problem, std::span<const int> axes,
                                          const std::vector<double>& shift) {
  std::map<Place, std::vector<std::int32_t>> entries_at;
  const auto width = shift.size();
  const auto visit = [&](const auto& operation) {
    for_each_cell(*problem.space(), [&](auto, auto, std::span<const std::int32_t> entries, std::vector<double> points) {
      const std::size_t num_nodes = points.size() / width;
      for (std::size_t i = 0; i < num_nodes; ++i) {
        std::vector<std::int32_t> of_node;
        for (std::size_t c = i; c < entries.size(); c += num_nodes) of_node.push_back(entries[c]);
        operation(std::span(points).subspan(i * width, width), of_node);
      }
    });
  };
  visit([&](std::span<const double> x, const auto& entries) { entries_at[place_modulo_periods(x, axes)] = entries; });
  std::vector<std::int32_t> result(static_cast<std::size_t>(problem.system().size()), -1);
  visit([&](std::span<const double> x, const auto& entries) {
    std::vector<double> moved(x.begin(), x.end());
    for (std::size_t d = 0; d < width; ++d) moved[d] += shift[d];
    const auto& there = entries_at.at(place_modulo_periods(moved, axes));
    for (std::size_t c = 0; c < entries.size(); ++c) result[static_cast<std::size_t>(entries[c])] = there[c];
  });
  return result;
}

TEST_P(PeriodicOperator, CommutesWithShiftsByOneCell) {
  const int n = 4;
  const auto size = box_size(dim());
  for (const int degree : {1, 3})
    for (const int axis : axes()) {
      Problem problem(periodic_box(GetParam(), n, axes(), 1, 8), degree, dim() == 2 ? 2 : 0);
      problem.with("kappa", 0.7);
      const std::string form = dim() == 2 ? elasticity_form(2) : helmholtz_form();
      const op::Operator A(problem.form(form), interpreted());
      std::vector<double> shift(size.size(), 0.0);
      shift[static_cast<std::size_t>(axis)] = size[static_cast<std::size_t>(axis)] / n;
      const auto there = shifted_entries(problem, axes(), shift);
      const auto shifted = [&](const Vector& x) {
        Vector result = A.make_vector();
        const auto values = result.host_overwrite();
        for (std::size_t i = 0; i < there.size(); ++i) values[static_cast<std::size_t>(there[i])] = x.host_read()[i];
        return result;
      };
      const Vector x = random_vector(A, 4);
      const auto expected = values_of(shifted(applied(A, x)));
      EXPECT_LE(distance(values_of(applied(A, shifted(x))), expected), 1e-13 * (degree + 1) * largest(expected))
          << "degree " << degree << " axis " << axis;
    }
}

TEST_P(PeriodicOperator, ConstantsAreInItsNullSpaceWhereNothingElseIsSeen) {
  Problem problem(periodic_box(GetParam(), 3, axes(), 1, 3), 2);
  const op::Operator A(problem.form("inner(grad(u), grad(v))*dx"), interpreted());
  const auto ones = problem.interpolated(A.make_vector(), [](auto, auto) { return 1.0; });
  EXPECT_LE(largest(values_of(applied(A, ones))), 1e-12);
  const auto x = problem.interpolated(A.make_vector(), [](std::span<const double> at, auto) { return at.back(); });
  EXPECT_GT(largest(values_of(applied(A, x))), 1e-3) << "x jumps";
}

/// The file has its nodes and cells in another order.
TEST_P(PeriodicOperator, OfAMeshFileActsAsThatOfTheMesh) {
  if (dim() == 1) return; // 1D meshes have no such files
  const auto folder = base::Temporary::folder(base::temporary_folder() + "/rafter-periodic");
  const auto path = folder.path() + "/box.msh";
  mesh::write_mesh(scrambled(wavy_box(GetParam(), 2, 2, axes()), 9), path);
  const auto mesh = mesh::read_mesh(path);
  expect_identified_action(mesh, axes(), 3, 0, varying_on_identified,
                           {.shared_device = std::make_shared<InterpreterDevice>()});
}

INSTANTIATE_TEST_SUITE_P(every_shape, PeriodicOperator, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

} // namespace
} // namespace rafter::test
