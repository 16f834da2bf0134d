// SPDX-License-Identifier: BSD-3-Clause
// Operators of symmetric forms are symmetric and semi-definite and have the known null space, with and without boundary
// conditions, on every shape, straight and curved.
#include <gtest/gtest.h>

#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/linear_form.hpp>
#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_laws.hpp>

namespace rafter::test {
namespace {

class Algebra : public ::testing::TestWithParam<std::string> {
protected:
  const std::string& shape() const { return GetParam(); }
  op::OperatorOptions compiled_ = planned({.threads = 2});
  op::OperatorOptions interpreted_ = interpreted();
};

TEST_P(Algebra, HelmholtzOnStraightCells) {
  for (const int degree : {1, 2, 3}) check_helmholtz_laws(scrambled(box(shape()), 5), degree, compiled_, degree == 2);
}
TEST_P(Algebra, HelmholtzOnCurvedCells) {
  compiled_.quadrature.degree = 8; // the patch test has the same kernels
  check_helmholtz_laws(curved_box(shape(), 2), 2, compiled_);
}
TEST_P(Algebra, HelmholtzOnDistortedCells) { check_helmholtz_laws(curved_box(shape(), 1), 1, compiled_); }
TEST_P(Algebra, ElasticityOnStraightCells) { check_elasticity_laws(box(shape()), 2, compiled_, false); }
TEST_P(Algebra, ElasticityOnCurvedCells) { check_elasticity_laws(curved_box(shape(), 1), 1, interpreted_, true); }
TEST_P(Algebra, ElasticityOfQuadraticCells) {
  check_elasticity_laws(scrambled(curved_box(shape(), 2), 5), 2, compiled_, false);
}

INSTANTIATE_TEST_SUITE_P(every_shape, Algebra, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

// --- integrals -------------------------------------------------------------------------------------------------------

class Integrals : public ::testing::TestWithParam<std::string> {
protected:
  static double volume(const mesh::Mesh& mesh) { return mesh::check_validity(mesh).volume; }
  static std::vector<mesh::Mesh> meshes(const std::string& shape) {
    return {scrambled(box(shape), 2), curved_box(shape, 2)};
  }
  /// The degree suffices for det J and normals of quadratic cells.
  op::OperatorOptions options_ =
      planned({.shared_device = std::make_shared<InterpreterDevice>(), .quadrature = {.degree = 8}});
  op::OperatorOptions few_points_ = planned({.shared_device = options_.shared_device, .quadrature = {.degree = 3}});
};

TEST_P(Integrals, OneSumsToTheVolume) {
  for (auto& mesh : meshes(GetParam())) {
    const double expected = volume(mesh);
    Problem problem(std::move(mesh), 2);
    SCOPED_TRACE(problem.mesh().source);
    const double bound = 1e-12 * expected;
    const op::Operator M(problem.form("u*v*dx"), options_);
    const Vector one = problem.interpolated(M.make_vector(), [](auto, auto) { return 1.0; });
    EXPECT_NEAR(dot(one, applied(M, one)), expected, bound) << "1^T M 1";
    Vector b = M.make_vector();
    op::LinearForm(problem.form("1*v*dx"), problem.system(), options_).assemble(b);
    EXPECT_NEAR(dot(one, b), expected, bound) << "L(1)";
    EXPECT_LE(distance(b.host_read(), applied(M, one).host_read()), bound) << "L = M 1";
    EXPECT_NEAR(op::Functional(problem.functional("u*u*dx"), problem.system(), options_)(one), expected, bound);
    EXPECT_NEAR(op::Functional(problem.functional("1*dx"), problem.system(), options_)(one), expected, bound);
  }
}

TEST_P(Integrals, OverTheBoundarySumsToTheSurface) {
  const std::vector<double> size{1.0, 0.75, 1.25};
  Problem problem(scrambled(box(GetParam()), 3), 1);
  double area = 0;
  for (int a = 0; a < problem.dim(); ++a) {
    double face = 1;
    for (int b = 0; b < problem.dim(); ++b) face *= b == a ? 1 : size[static_cast<std::size_t>(b)];
    const auto of_tag = [&](int tag) {
      Vector b(options_.shared_device, static_cast<std::size_t>(problem.system().size()));
      op::LinearForm(problem.form("1*v*ds(" + std::to_string(tag) + ")"), problem.system(), options_).assemble(b);
      double sum = 0;
      for (const double value : b.host_read()) sum += value;
      return sum;
    };
    EXPECT_NEAR(of_tag(2 * a + 1), face, 1e-13);
    EXPECT_NEAR(of_tag(2 * a + 2), face, 1e-13);
    area += 2 * face;
  }
  const Vector none(options_.shared_device, static_cast<std::size_t>(problem.system().size()));
  EXPECT_NEAR(op::Functional(problem.functional("1*ds"), problem.system(), options_)(none), area, 1e-12);
}

TEST_P(Integrals, NormalsAndPositionsOfCurvedBoundariesGiveTheVolume) {
  mesh::Mesh mesh = curved_box(GetParam(), 2);
  const double expected = volume(mesh);
  Problem problem(std::move(mesh), 1);
  const Vector none(options_.shared_device, static_cast<std::size_t>(problem.system().size()));
  // The test uses the divergence theorem for the field x.
  const std::string text = problem.dim() == 1 ? "x[0]*n[0]*ds" : "dot(x, n)*ds";
  EXPECT_NEAR(op::Functional(problem.functional(text), problem.system(), options_)(none), problem.dim() * expected,
              1e-12 * expected);
}

TEST_P(Integrals, OfTaggedCellsSumToTheWhole) {
  for (const int geometry_degree : {1, 2}) {
    Problem problem(two_material_box(GetParam(), geometry_degree), 2);
    problem.with("kappa", 0.7);
    SCOPED_TRACE(problem.mesh().source);
    const std::string integrand = "(inner(grad(u), grad(v)) + kappa*u*v)*dx";
    const op::Operator whole(problem.form(integrand), few_points_);
    const op::Operator first(problem.form(integrand + "(1)"), few_points_);
    const op::Operator second(problem.form(integrand + "(2)"), few_points_);
    const op::Operator both(problem.form(integrand + "(1) + " + integrand + "(2)"), few_points_);
    const op::Operator listed(problem.form(integrand + "((1, 2))"), few_points_);
    const Vector x = random_vector(whole, 5);
    const auto expected = values_of(applied(whole, x));
    const double bound = 1e-12 * largest(expected);
    auto sum = values_of(applied(first, x));
    EXPECT_GT(distance(sum, expected), 1e-3 * largest(expected)) << "a part is not the whole";
    const auto rest = values_of(applied(second, x));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += rest[i];
    EXPECT_LE(distance(sum, expected), bound);
    EXPECT_LE(distance(applied(both, x).host_read(), expected), bound);
    EXPECT_LE(distance(applied(listed, x).host_read(), expected), bound);
  }
}

TEST_P(Integrals, CoefficientsByTagAreSumsOverTheirTags) {
  Problem problem(two_material_box(GetParam()), 2);
  problem.with("k", form::by_tag("k", {{"1", 3.0}, {"2", 0.25}}));
  const op::Operator by_tag(problem.form("k*inner(grad(u), grad(v))*dx"), few_points_);
  const op::Operator parts(problem.form("3*inner(grad(u), grad(v))*dx(1) + 0.25*inner(grad(u), grad(v))*dx(2)"),
                           few_points_);
  const Vector x = random_vector(by_tag, 5);
  const auto expected = values_of(applied(parts, x));
  EXPECT_LE(distance(applied(by_tag, x).host_read(), expected), 1e-12 * largest(expected));
  // The coefficient on the boundary is that of the cell to which the facet belongs.
  const Vector one = problem.interpolated(x, [](auto, auto) { return 1.0; });
  const op::Functional left(problem.functional("k*u*ds(1)"), problem.system(), few_points_);
  const op::Functional right(problem.functional("k*u*ds(2)"), problem.system(), few_points_);
  EXPECT_NEAR(left(one) / 3.0, right(one) / 0.25, 1e-12);
}

TEST_P(Integrals, OfFunctionalsTogetherAreThoseOfEachAlone) {
  for (auto& mesh : {two_material_box(GetParam()), curved_box(GetParam(), 2)}) {
    Problem problem(mesh, 2);
    problem.with("kappa", 0.7);
    SCOPED_TRACE(problem.mesh().source);
    std::vector<form::Form> forms;
    for (const char* text : {"u*u*dx", "0*u*dx", "kappa*inner(grad(u), grad(u))*dx + u*ds(1)", "1*ds", "x[0]*dx"})
      forms.push_back(problem.functional(text));
    const auto together = op::build(forms, problem.system(), options_);
    op::compile(std::vector{together});
    op::Functional all(together);
    const Vector u =
        problem.interpolated(Vector(options_.shared_device, static_cast<std::size_t>(problem.system().size())),
                             [](auto x, auto) { return 1 + x[0] * x[0]; });
    for (int run = 0; run < 2; ++run) { // sums begin anew
      const auto values = all.values(u);
      ASSERT_EQ(values.size(), forms.size());
      for (std::size_t i = 0; i < forms.size(); ++i)
        EXPECT_NEAR(values[i], op::Functional(forms[i], problem.system(), options_)(u), 1e-12) << i;
    }
    std::size_t num_cell_kernels = 0;
    for (const auto& block : together->blocks) num_cell_kernels += block.cell_block >= 0 ? 1 : 0;
    EXPECT_EQ(num_cell_kernels, problem.system().batches->blocks.size()) << "one kernel serves all";
  }
}

INSTANTIATE_TEST_SUITE_P(every_shape, Integrals, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

// --- sums of operators -----------------------------------------------------------------------------------------------

TEST(Sums, ApplyAddAddsWhatApplyGives) {
  for (const char* shape : {"hexahedron", "tetrahedron"}) {
    Problem problem(box(shape), 2);
    problem.with("kappa", 0.7);
    for (const bool is_constrained : {false, true}) {
      op::OperatorOptions options = planned({.threads = 2});
      if (is_constrained) options.dirichlet = {dirichlet(problem.space(), zero)};
      const op::Operator A(problem.form(helmholtz_form()), options);
      const Vector x = random_vector(A, 1);
      Vector y = random_vector(A, 2);
      auto expected = values_of(y);
      const auto Ax = values_of(applied(A, x));
      for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += Ax[i];
      A.apply_add(x, y);
      EXPECT_LE(distance(y.host_read(), expected), 1e-13 * largest(expected)) << shape;
    }
  }
}

TEST(Sums, ConstrainedOperatorsAreTheIdentityOnConstrainedEntries) {
  Problem problem(box("prism"), 2);
  problem.with("kappa", 0.7);
  const op::Operator free(problem.form(helmholtz_form()), planned({.threads = 1}));
  const op::Operator A(problem.form(helmholtz_form()),
                       planned({.threads = 1, .dirichlet = {dirichlet(problem.space(), zero)}}));
  const Vector x = random_vector(A, 1);
  const Vector y = applied(A, x);
  Vector inside = random_vector(A, 1);
  for (const auto entry : A.constraints().entries) inside.host_write()[static_cast<std::size_t>(entry)] = 0;
  auto expected = values_of(applied(free, inside));
  for (const auto entry : A.constraints().entries)
    expected[static_cast<std::size_t>(entry)] = x.host_read()[static_cast<std::size_t>(entry)];
  EXPECT_EQ(values_of(y), expected);
  EXPECT_EQ(A.num_free() + static_cast<std::int64_t>(A.constraints().entries.size()), A.num_unknowns());
  Vector d = A.make_vector();
  A.diagonal(d);
  for (const auto entry : A.constraints().entries) EXPECT_EQ(d.host_read()[static_cast<std::size_t>(entry)], 1);
}

class FacetTerms : public ::testing::TestWithParam<std::string> {};

TEST_P(FacetTerms, AddToCellTerms) {
  Problem problem(box(GetParam()), 2);
  problem.with("kappa", 0.7);
  const op::OperatorOptions options = interpreted();
  const op::Operator cells(problem.form(helmholtz_form()), options);
  const op::Operator facets(problem.form("kappa*u*v*ds(1)"), options);
  const op::Operator robin(problem.form(std::string(helmholtz_form()) + " + kappa*u*v*ds(1)"), options);
  const Vector x = random_vector(robin, 7);
  auto expected = values_of(applied(cells, x));
  const auto more = values_of(applied(facets, x));
  EXPECT_GT(largest(more), 0);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += more[i];
  EXPECT_LE(distance(applied(robin, x).host_read(), expected), 1e-13 * largest(expected));
  expect_symmetric(robin, 1e-13);
}

INSTANTIATE_TEST_SUITE_P(every_shape, FacetTerms, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

} // namespace
} // namespace rafter::test
