// SPDX-License-Identifier: BSD-3-Clause
// Operations of cell matrices by loops over points and functions: those of first-order tetrahedra and prisms are at
// most the ones that are published, in every order of the loops, and stay what they are.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include <bench/published_first_order.hpp>
#include <fmt/format.h>
#include <rafter/form/language.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/operator_options.hpp>
#include <rafter/schedule/counts.hpp>
#include <tests/support/operator_problems.hpp>
#include <tests/support/text_device.hpp>

namespace rafter::test {
namespace {

struct CountedCase {
  const char *name, *shape, *form;
  bool has_coefficients;
  /// Operations per cell in the orders qss, sqs, ssq, derivatives ahead and inside.
  std::array<std::array<int, 2>, 3> operations;
};

constexpr const char* laplacian_text = "inner(grad(u), grad(v))*dx";
constexpr const char* all_terms_text =
    "(inner(dot([[c0, c1, c2], [c3, c4, c5], [c6, c7, c8]], grad(u)), grad(v)) + dot([c9, c10, c11], grad(u))*v + "
    "u*dot([c12, c13, c14], grad(v)) + c15*u*v)*dx";

constexpr std::array counted_cases{
    CountedCase{"tetrahedron-poisson", "tetrahedron", laplacian_text, false, {{{171, 261}, {201, 261}, {201, 453}}}},
    CountedCase{"prism-poisson", "prism", laplacian_text, false, {{{1846, 2926}, {6376, 6916}, {30856, 17896}}}},
    CountedCase{
        "tetrahedron-convection", "tetrahedron", all_terms_text, true, {{{924, 984}, {924, 984}, {1164, 1416}}}},
    CountedCase{"prism-convection", "prism", all_terms_text, true, {{{3904, 4444}, {8824, 9364}, {43384, 30424}}}}};

/// Operations that set-up executes for a cell.
double counted_operations(const CountedCase& of, const char* order, const char* derivatives) {
  mesh::Mesh mesh = box(of.shape, 1);
  for (std::size_t i = 0; i < mesh.points.size(); ++i) // tetrahedra stay affine, prisms do not
    mesh.points[i] += 0.01 * static_cast<double>(i * i % 7);
  for (auto& group : mesh.groups) group.tags.assign(static_cast<std::size_t>(group.num_cells()), 1);
  Problem problem(std::move(mesh), 1);
  for (int c = 0; of.has_coefficients && c < 16; ++c) {
    const auto name = fmt::format("c{}", c);
    problem.with(name, form::by_tag(name, {{"1", 2.0 + c}}));
  }
  const auto form = problem.form(of.form);
  const auto built = op::build(
      form, 2, op::systems_of(form),
      planned({.shared_device = std::make_shared<TextDevice>(),
               .quadrature = {.degree = 2}, // four points on tetrahedra, six on prisms
               .plan = fmt::format("contraction=cell-matrices order={} derivatives={}", order, derivatives)}));
  const auto& block = built->blocks.front();
  const auto& programs = block.kernel.programs;
  const auto set_up = schedule::read(programs.setup_loop_program);
  const int cells = set_up.vector_width == 1 ? 1 : block.cells.cells_per_batch;
  EXPECT_DOUBLE_EQ(schedule::count(set_up).flops / cells, programs.setup_flops)
      << of.name << ": the text is another one";
  return programs.setup_flops;
}

TEST(FirstOrder, OperationsAreAtMostThosePublished) {
  constexpr std::array orders{"qss", "sqs", "ssq"};
  constexpr std::array places{"ahead", "inside"};
  for (const auto& of : counted_cases) {
    const auto published = std::ranges::find(bench::published_integration, std::string_view(of.name),
                                             [](const auto& each) { return std::string_view(each.problem); });
    ASSERT_NE(published, bench::published_integration.end());
    for (std::size_t o = 0; o < orders.size(); ++o) {
      double least = 1e9;
      for (std::size_t p = 0; p < places.size(); ++p) {
        const double found = counted_operations(of, orders[o], places[p]);
        EXPECT_EQ(std::lround(found), of.operations[o][p]) << of.name << " " << orders[o] << " " << places[p];
        least = std::min(least, found);
      }
      EXPECT_LE(least, published->operations[o]) << of.name << " " << orders[o];
    }
  }
}

} // namespace
} // namespace rafter::test
