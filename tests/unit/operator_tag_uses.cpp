// SPDX-License-Identifier: BSD-3-Clause
// Forms over tags that have facets inside the domain, in C++.
#include <gtest/gtest.h>

#include <rafter/base/log.hpp>
#include <rafter/operator/generate/domain.hpp>
#include <rafter/operator/linear_form.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/space/function_space.hpp>

#include <tests/support/inner_facets.hpp>
#include <tests/support/operator_problems.hpp>
#include <tests/support/planner.hpp>
#include <tests/support/space_meshes.hpp>

namespace rafter::test {
namespace {

/// A strip of four unit squares. `hot` are its left end and the edge at x = 2, `wall` is the edge at x = 1.
mesh::Mesh strip() {
  auto mesh = mesh::make_box({.cells = {4, 1}, .size = {4, 1}, .shape = "quadrilateral"});
  mesh.source = "strip";
  std::vector<KnownFacet> hot, wall;
  for (const auto& facet : all_facets(mesh)) {
    if (facet.sides.size() != 2) continue;
    if (facet.corners[0][0] == 2) hot.push_back(facet);
    if (facet.corners[0][0] == 1) wall.push_back(facet);
  }
  mesh = with_tag(with_tag(mesh, hot, 1), wall, 8);
  mesh.physical_groups.names.insert({.dim = 1, .name = "hot", .number = 1});
  mesh.physical_groups.names.insert({.dim = 1, .name = "wall", .number = 8});
  return mesh;
}

std::vector<std::string> warnings_of(const std::function<void()>& run) {
  std::vector<std::string> result;
  const auto before = base::set_warning_handler([&](const std::string& text) { result.push_back(text); });
  run();
  base::set_warning_handler(before);
  return result;
}

TEST(FormsOverTags, IntegrateOverTheBoundaryAndWarnOnceOfWhatIsInside) {
  const auto space = make_space(strip(), 1);
  const auto system = op::make_system({space});
  const auto length = form::Expr(1) * form::ds("hot");
  double found = 0;
  const auto warnings = warnings_of([&] {
    for (int i = 0; i < 2; ++i) found = op::Functional(length, system, planned())();
  });
  EXPECT_NEAR(found, 1, 1e-14);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("strip: 1 of the 2 facets of 'hot' lies inside the domain"), std::string::npos)
      << warnings[0];
  EXPECT_THROW(op::Functional(form::Expr(1) * form::ds("wall"), system, planned()), base::InputError);
  EXPECT_THROW(op::warn_of_left_out(space->mesh(), form::Expr(1) * form::dx("wall")), base::InputError);
}

TEST(FormsOverTags, OperatorsAreConstrainedInsideTheDomain) {
  const auto space = make_space(strip(), 2);
  const auto [u, v] = form::arguments(std::shared_ptr<const form::FieldSpace>(space));
  const auto zero = [](std::span<const double>, std::size_t) { return 0.0; };
  auto options = planned();
  options.dirichlet = {dirichlet(space, zero, {8})};
  const op::Operator A(form::inner(form::grad(u), form::grad(v)) * form::dx, options);
  EXPECT_EQ(A.constrained_entries().size(), 3U) << "two vertices and the node between them";
  const auto x = random_vector(A, 3);
  const auto y = values_of(applied(A, x));
  for (const auto entry : A.constrained_entries())
    EXPECT_EQ(y[static_cast<std::size_t>(entry)], values_of(x)[static_cast<std::size_t>(entry)]);
}

} // namespace
} // namespace rafter::test
