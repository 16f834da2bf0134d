// SPDX-License-Identifier: BSD-3-Clause
// Forms between different systems and forms with data fields agree with dense matrices on every shape.
#include <gtest/gtest.h>

#include <tests/support/dense_form.hpp>
#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>

#include <rafter/form/language.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/operator/linear_form.hpp>
#include <rafter/operator/run/cell_data.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/space/function_space.hpp>
#include <rafter/space/index_tables.hpp>

namespace rafter::test {
namespace {

class Systems : public ::testing::TestWithParam<std::string> {
protected:
  std::vector<mesh::Mesh> meshes() const { return {scrambled(box(GetParam()), 3), curved_box(GetParam(), 2)}; }
  std::shared_ptr<InterpreterDevice> device_ = std::make_shared<InterpreterDevice>();
  op::OperatorOptions options_ = planned({.shared_device = device_, .quadrature = {.degree = 4}});

  Vector random(std::int64_t size, unsigned seed) const {
    Vector result(device_, static_cast<std::size_t>(size));
    fill_random(result, seed);
    return result;
  }
  /// Compares A x and A x + A x with the dense matrix.
  void expect_matrix(const op::Operator& A, const DenseData& data = {}) const {
    const DenseForm dense(A.built(), data);
    const Vector x = random(A.columns(), 1);
    Vector y = random(A.rows(), 2);
    const auto expected = dense.times(x.host_read());
    const double bound = 1e-12 * largest(expected);
    EXPECT_GT(largest(expected), 0);
    A.apply(x, y);
    EXPECT_LE(distance(y.host_read(), expected), bound);
    A.apply_add(x, y);
    for (double& value : y.host_write()) value /= 2;
    EXPECT_LE(distance(y.host_read(), expected), bound);
  }
};

TEST_P(Systems, RectangularOperatorsAreTheirDenseMatrices) {
  for (auto& mesh : meshes()) {
    const int dim = mesh.gdim;
    const Problem problem(std::move(mesh), {{.degree = 2, .components = dim, .name = "w"},
                                            {.degree = 1, .name = "p"},
                                            {.degree = 3, .components = 2, .name = "s"}});
    SCOPED_TRACE(problem.mesh().source);
    const std::string div_w = dim == 1 ? "w[0].dx(0)" : "div(w)", div_v = dim == 1 ? "v_w[0].dx(0)" : "div(v_w)";
    for (const std::string& text :
         {"v_p*" + div_w + "*dx", "p*" + div_v + "*dx", std::string("(1 + x[0])*(s[1]*v_p.dx(0) - s[0].dx(0)*v_p)*dx"),
          std::string("(p.dx(0)*v_s[1] + w[0]*v_s[0] + w[0].dx(0)*v_s[1])*dx")}) {
      SCOPED_TRACE(text);
      const op::Operator A(problem.form(text), options_);
      EXPECT_NE(A.rows(), A.columns());
      expect_matrix(A);
    }
  }
}

TEST_P(Systems, PartsOfLargerSystemsAreTheirDenseMatrices) {
  const int dim = box_dimension(GetParam());
  const Problem problem(scrambled(box(GetParam()), 3),
                        {{.degree = 2, .components = dim, .name = "w"}, {.degree = 1, .name = "p"}});
  const auto form = problem.form(dim == 1 ? "v_p*w[0].dx(0)*dx" : "v_p*div(w)*dx");
  expect_matrix({form, problem.system(), options_});
  expect_matrix({form, {problem.system(), op::make_system({problem.space(0)})}, options_});
  expect_matrix({form, {op::make_system({problem.space(1)}), problem.system()}, options_});
}

/// Sets the values of a data field, and returns them for dense data.
std::vector<double> give(op::Operator& A, const char* name, Vector values) {
  A.set(name, values);
  return values_of(values);
}

TEST_P(Systems, DataFieldsMayChange) {
  for (auto& mesh : meshes()) {
    const Problem problem(std::move(mesh), {{.degree = 2}, {.degree = 1, .components = 2, .name = "w"}});
    SCOPED_TRACE(problem.mesh().source);
    form::Scope scope(problem.dim());
    const std::shared_ptr<const form::FieldSpace> unknown = problem.space(0);
    scope.add_arguments({&unknown, 1});
    scope.add("w", form::field(problem.space(1), "w"));
    scope.add("old", form::field(problem.space(0), "old"));
    const auto form =
        form::parse_form("((1 + w[0]*w[0])*inner(grad(u), grad(v)) + w[1].dx(0)*u*v + old*u.dx(0)*v)*dx", scope);
    op::Operator A(form, options_);
    EXPECT_EQ(A.size(), problem.space(0)->num_local()) << "data fields are no unknowns";
    DenseData data;
    int num_compiled = 0; // with the loops over vectors that the first application compiles
    for (const unsigned seed : {5U, 6U}) {
      data.fields["w"] = give(A, "w", random(problem.space(1)->num_local(), seed));
      data.fields["old"] = give(A, "old", random(problem.space(0)->num_local(), seed + 10));
      expect_matrix(A, data);
      if (seed == 5U) num_compiled = device_->num_compiled();
    }
    EXPECT_EQ(device_->num_compiled(), num_compiled);
    const DenseForm dense(A.built(), data);
    Vector d = A.make_vector();
    A.diagonal(d);
    for (std::size_t i = 0; i < d.size(); ++i)
      EXPECT_NEAR(d.host_read()[i], dense.values[i * d.size() + i], 1e-12 * largest(dense.values));
  }
}

TEST_P(Systems, SecondVariationsAreOperatorsWithTheStateAsData) {
  const Problem problem(curved_box(GetParam(), 1), {{.degree = 2}});
  const auto u = form::field(problem.space(), "u");
  const form::Form energy =
      (0.5 * (1 + u * u) * form::inner(form::grad(u), form::grad(u)) + form::pow(u, 4) - form::exp(u)) * form::dx;
  const auto gradient = form::derivative(energy, u);
  op::Operator A(form::derivative(gradient, u), options_);
  op::LinearForm residual(gradient, A.system(), options_);
  Vector state = random(A.size(), 3);
  A.set_fields(A.system(), state);
  expect_matrix(A, {.fields = {{"u", values_of(state)}}});
  // The action is compared with differences of the residual.
  const Vector direction = random(A.size(), 4);
  constexpr double step = 1e-5;
  std::vector<double> difference(state.size());
  for (const double sign : {1.0, -1.0}) {
    Vector moved(device_, state.size()), r = A.make_vector();
    for (std::size_t i = 0; i < state.size(); ++i)
      moved.host_write()[i] = state.host_read()[i] + sign * step * direction.host_read()[i];
    residual.set("u", moved);
    residual.assemble(r);
    for (std::size_t i = 0; i < state.size(); ++i) difference[i] += sign * r.host_read()[i] / (2 * step);
  }
  EXPECT_LE(distance(applied(A, direction).host_read(), difference), 1e-8 * largest(difference));
}

TEST_P(Systems, SecondVariationsOfSeveralFieldsAreOperatorsOnTheirSystem) {
  const Problem problem(scrambled(box(GetParam()), 5), {{.degree = 2, .name = "a"}, {.degree = 1, .name = "b"}});
  const auto a = form::field(problem.space(0), "a"), b = form::field(problem.space(1), "b");
  const form::Form energy =
      (0.5 * (1 + b * b) * form::inner(form::grad(a), form::grad(a)) + form::pow(a, 3) * b + form::exp(b)) * form::dx;
  const std::vector<form::Expr> fields{a, b};
  op::Operator A(form::derivative(form::derivative(energy, fields), fields), options_);
  EXPECT_EQ(A.size(), problem.system().size());
  const Vector state = random(A.size(), 3);
  A.set_fields(A.system(), state);
  DenseData data;
  for (std::size_t f = 0; f < 2; ++f) {
    const auto part = state.host_read().subspan(static_cast<std::size_t>(A.system().offset(f)),
                                                static_cast<std::size_t>(A.system().spaces[f]->num_local()));
    data.fields[A.system().spaces[f]->name] = {part.begin(), part.end()};
  }
  expect_matrix(A, data);
}

TEST_P(Systems, FloatsReadDataFieldsOfDoubles) {
  const Problem problem(curved_box(GetParam(), 1), {{.degree = 2}, {.degree = 1, .name = "w"}});
  const auto w = form::field(problem.space(1), "w"), t = form::parameter("t");
  const auto [u, v] = form::arguments(problem.space(0));
  const auto form = ((2 + w) * form::inner(form::grad(u), form::grad(v)) + t * u * v) * form::dx;
  for (const char* factors : {"recompute", "store-law"}) {
    auto options = options_;
    options.plan = std::string("compute=float storage=float accumulate=float factors=") + factors;
    op::Operator A(form, options);
    const DenseData data{.fields = {{"w", give(A, "w", random(problem.space(1)->num_local(), 5))}},
                         .parameters = {{"t", {0.5}}}};
    A.set("t", 0.5);
    const Vector x = random(A.size(), 1);
    const auto expected = DenseForm(A.built(), data).times(x.host_read());
    EXPECT_LE(distance(values_of(applied(A, x)), expected), 1e-5 * largest(expected)) << factors;
  }
}

TEST_P(Systems, LinearFormsAndFunctionalsReadDataFields) {
  const Problem problem(scrambled(box(GetParam()), 4), {{.degree = 2}, {.degree = 1, .name = "w"}});
  form::Scope scope(problem.dim());
  const std::shared_ptr<const form::FieldSpace> unknown = problem.space(0);
  scope.add_test_functions({&unknown, 1});
  scope.add("w", form::field(problem.space(1), "w"));
  scope.add("z", form::field(problem.space(1), "z"));
  const auto load = form::parse_form("(w*z*v + w.dx(0)*v.dx(0))*dx", scope),
             number = form::parse_form("w*w*z*dx", scope);
  const auto system = op::make_system({problem.space(0)});
  op::LinearForm L(load, system, options_);
  op::Functional J(number, system, options_);
  DenseData data;
  Vector b = random(system.size(), 9);
  for (const unsigned seed : {5U, 6U}) {
    for (const char* name : {"w", "z"}) {
      const Vector values = random(problem.space(1)->num_local(), seed + static_cast<unsigned>(*name));
      L.set(name, values);
      J.set(name, values);
      data.fields[name] = values_of(values);
    }
    L.assemble(b);
    const auto expected = DenseForm(*op::build(load, 1, system, options_), data).values;
    EXPECT_LE(distance(b.host_read(), expected), 1e-13 * largest(expected));
    EXPECT_NEAR(J(), DenseForm(*op::build(number, 0, system, options_), data).values[0], 1e-13);
  }
}

TEST_P(Systems, ParametersMayChange) {
  for (auto& mesh : meshes()) {
    const Problem problem(std::move(mesh), {{.degree = 2}});
    SCOPED_TRACE(problem.mesh().source);
    const auto t = form::parameter("t");
    const auto [u, v] = form::arguments(problem.space());
    const form::Form form = ((1 + t * t) * form::inner(form::grad(u), form::grad(v)) +
                             form::exp(t * form::spatial_coordinate(problem.dim())[0]) * u * v) *
                            form::dx;
    op::Operator A(form, options_);
    const auto load = t * v * form::dx, number = t * t * form::field(problem.space(), "u") * form::dx;
    op::LinearForm L(load, A.system(), options_);
    op::Functional J(number, A.system(), options_);
    Vector b = random(A.size(), 3);
    EXPECT_THROW(L.assemble(b), base::InputError) << "a parameter without a value";
    int num_compiled = 0; // with the loops over vectors that the first run of each compiles
    for (const double value : {0.3, -1.5}) {
      DenseData data{.fields = {{"u", values_of(random(A.size(), 5))}}, .parameters = {{"t", {value}}}};
      A.set("t", value);
      expect_matrix(A, data);
      L.set("t", value);
      J.set("t", value);
      L.assemble(b);
      const auto expected = DenseForm(L.kernels().built(), data).values;
      EXPECT_LE(distance(b.host_read(), expected), 1e-13 * largest(expected));
      EXPECT_NEAR(J(random(A.size(), 5)), DenseForm(J.kernels().built(), data).values[0], 1e-13);
      if (value == 0.3) num_compiled = device_->num_compiled();
    }
    EXPECT_EQ(device_->num_compiled(), num_compiled);
  }
}

TEST_P(Systems, StoredLawsAreComputedAgainExactlyWhenTheyAreStale) {
  for (auto& mesh : meshes()) {
    const Problem problem(std::move(mesh), {{.degree = 2}, {.degree = 1, .name = "w"}});
    SCOPED_TRACE(problem.mesh().source);
    const auto w = form::field(problem.space(1), "w"), z = form::field(problem.space(0), "z");
    const auto t = form::parameter("t"), s = form::parameter("s");
    const auto [u, v] = form::arguments(problem.space(0));
    const form::Form form =
        (t * form::exp(w) * (1 + z * z) * form::inner(form::grad(u), form::grad(v)) + u * v) * form::dx +
        s * u * v * form::dx.with_degree(2);
    for (const char* factors : {"store-law", "store-merged-law", "partial-1-law", "store", "recompute"}) {
      SCOPED_TRACE(factors);
      auto options = options_;
      options.plan = std::string("factors=") + factors;
      op::Operator A(form, options);
      DenseData data{.parameters = {{"t", {0.5}}, {"s", {2.0}}}};
      A.set("t", 0.5);
      A.set("s", 2.0);
      data.fields["w"] = give(A, "w", random(problem.space(1)->num_local(), 5));
      data.fields["z"] = give(A, "z", random(problem.space(0)->num_local(), 6));
      expect_matrix(A, data);
      const int num_kernels = A.num_setups();
      const bool stores_law = std::string(factors).starts_with("store-") && std::string(factors).ends_with("law");
      if (stores_law) {
        EXPECT_GT(num_kernels, 0);
      }
      expect_matrix(A, data);
      EXPECT_EQ(A.num_setups(), num_kernels) << "nothing has changed";
      data.fields["w"] = give(A, "w", random(problem.space(1)->num_local(), 7));
      EXPECT_EQ(A.num_setups(), num_kernels) << "until it is needed";
      A.refresh();
      if (stores_law) {
        EXPECT_EQ(A.num_setups(), 2 * num_kernels) << "refreshed";
      }
      const int num_before = A.num_setups();
      expect_matrix(A, data);
      EXPECT_EQ(A.num_setups(), num_before);
      A.set("t", -0.25);
      data.parameters["t"] = {-0.25};
      expect_matrix(A, data);
    }
  }
}

TEST_P(Systems, FacetsAndEqualCellsReadDataFields) {
  // Other forms share the data of the many equal cells, and the space of the field holds it exactly.
  const Problem problem(box(GetParam(), 3), {{.degree = 2}, {.degree = 1, .name = "w"}});
  const auto w = form::field(problem.space(1), "w"), x = form::spatial_coordinate(problem.dim());
  const auto [u, v] = form::arguments(problem.space(0));
  // A changed field must still make stored data out of date beside this constant, which nobody sets.
  const auto shift = form::constant("shift", 0.25);
  const auto form = [&, u = u, v = v](const form::Expr& a) {
    return (shift + a * a) * form::inner(form::grad(u), form::grad(v)) * form::dx.with_degree(6) +
           form::exp(a) * u * v * form::ds.with_degree(4);
  };
  for (const char* factors : {"recompute", "store", "store-law", "store-merged-law"}) {
    auto options = options_;
    options.plan = std::string("factors=") + factors;
    op::Operator A(form(w), options);
    const op::Operator B(form(1 + x[0]), options);
    for (const double scale : {3.0, 1.0}) {
      Vector values(device_, static_cast<std::size_t>(problem.space(1)->num_local()));
      space::interpolate(
          *problem.space(1),
          [&](std::span<const double> at, std::span<double> value) { value[0] = scale * (1 + at[0]); },
          values.host_overwrite());
      A.set("w", values);
      A.refresh();
    }
    const auto expected = values_of(applied(B, random(A.size(), 4)));
    EXPECT_LE(distance(values_of(applied(A, random(A.size(), 4))), expected), 1e-12 * largest(expected)) << factors;
  }
}

TEST_P(Systems, AssembledMatricesFollowTheirData) {
  const Problem problem(curved_box(GetParam(), 1), {{.degree = 2}, {.degree = 1, .name = "w"}});
  const auto w = form::field(problem.space(1), "w"), t = form::parameter("t");
  const auto [u, v] = form::arguments(problem.space(0));
  auto options = options_;
  options.plan = "mapping=assembled";
  op::Operator A((t * w * form::inner(form::grad(u), form::grad(v)) + u * v) * form::dx, options);
  const op::Operator free((t * w * form::inner(form::grad(u), form::grad(v)) + u * v) * form::dx, options_);
  DenseData data;
  const Vector x = random(A.size(), 1);
  Vector y = random(A.size(), 2);
  for (const unsigned seed : {5U, 6U}) {
    A.set("t", 0.1 * seed);
    data.parameters["t"] = {0.1 * seed};
    data.fields["w"] = give(A, "w", random(problem.space(1)->num_local(), seed));
    const auto expected = DenseForm(free.built(), data).times(x.host_read());
    A.apply(x, y);
    EXPECT_LE(distance(y.host_read(), expected), 1e-12 * largest(expected));
  }
}

TEST_P(Systems, FormsPutOnOtherSpacesAreThoseWrittenThere) {
  const Problem problem(box(GetParam()), {{.degree = 1, .name = "a"}, {.degree = 3, .name = "b"}});
  const auto form_on = [&](std::size_t field) {
    const auto [u, v] = form::arguments(problem.space(field));
    const auto w = form::field(problem.space(field), "w");
    return ((1 + w * w) * form::inner(form::grad(u), form::grad(v)) + u * v) * form::dx;
  };
  const auto moved = form::lower(form::on(form_on(0), {{problem.space(0), problem.space(1)}}));
  const auto written = form::lower(form_on(1));
  EXPECT_EQ(moved.signature, written.signature);
  EXPECT_EQ(moved.integrals[0].degree, written.integrals[0].degree);
  EXPECT_NE(moved.integrals[0].degree, form::lower(form_on(0)).integrals[0].degree);
  EXPECT_EQ(moved.trial_spaces, written.trial_spaces);
  const auto arguments = form::lower(form::arguments_on(form_on(0), {{problem.space(0), problem.space(1)}}));
  EXPECT_EQ(arguments.test_spaces, written.test_spaces);
  EXPECT_EQ(arguments.trial_spaces, written.trial_spaces);
  EXPECT_EQ(arguments.fields.front(), problem.space(0)) << "data fields stay";
  const auto vectors = space::FunctionSpace::make(problem.space()->discretisation(), {.components = 2, .name = "c"});
  EXPECT_THROW(form::on(form_on(0), {{problem.space(0), vectors}}), base::InputError);
}

INSTANTIATE_TEST_SUITE_P(every_shape, Systems, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

/// The device keeps vectors apart from the host, and finds writes outside of them.
TEST(SystemsCompiled, AreTheirDenseMatricesOnADeviceThatLooksForFaults) {
  const Problem problem(
      curved_box("hexahedron", 1),
      {{.degree = 2, .components = 3, .name = "w"}, {.degree = 1, .name = "p"}, {.degree = 2, .name = "s"}});
  const auto device = device::make_device("checked", 2);
  const auto s = form::field(problem.space(2), "s"), t = form::parameter("t");
  const auto [w, v] = form::arguments(problem.space(0));
  const auto [p, q] = form::arguments(problem.space(1));
  const auto check = [&](const form::Form& form, const op::Systems& systems, const char* plan) {
    op::Operator A(form, systems, planned({.shared_device = device, .plan = plan}));
    A.set("t", 0.7);
    Vector values(device, static_cast<std::size_t>(problem.space(2)->num_local())),
        x(device, static_cast<std::size_t>(A.columns())), y(device, static_cast<std::size_t>(A.rows()));
    DenseData data{.parameters = {{"t", {0.7}}}};
    for (const unsigned seed : {1U, 2U}) {
      fill_random(values, seed);
      fill_random(x, seed + 10);
      A.set("s", values);
      data.fields["s"] = values_of(values);
      A.apply(x, y);
      const auto expected = DenseForm(A.built(), data).times(x.host_read());
      EXPECT_LE(distance(y.host_read(), expected), 1e-12 * largest(expected)) << plan;
    }
  };
  for (const char* plan : {"factors=store-law", "factors=recompute", "mapping=plain factors=store-law"}) {
    check((t + s * s) * form::div(w) * q * form::dx, op::systems_of(form::div(w) * q * form::dx), plan);
    check((form::exp(s) * form::inner(form::grad(w), form::grad(v)) - t * p * form::div(v) - q * form::div(w)) *
              form::dx,
          op::make_system({problem.space(0), problem.space(1)}), plan);
  }
}

TEST(IndexTables, AreOnceForAllFormsOfASpace) {
  const Problem problem(box("hexahedron"), 2);
  const auto device = std::make_shared<InterpreterDevice>();
  const auto options = planned({.shared_device = device});
  const auto tables = problem.space()->index_tables(0, device);
  EXPECT_EQ(tables.use_count(), 1);
  const op::Operator A(problem.form("u*v*dx"), options), B(problem.form("inner(grad(u), grad(v))*dx"), options);
  EXPECT_EQ(tables.use_count(), 3) << "two operators";
  const op::LinearForm L(problem.form("v*dx"), problem.system(), options);
  EXPECT_EQ(tables.use_count(), 4) << "a right-hand side";
  Vector d = A.make_vector();
  A.diagonal(d);
  EXPECT_EQ(tables.use_count(), 5) << "a diagonal";
  const auto other = std::make_shared<InterpreterDevice>();
  EXPECT_NE(problem.space()->index_tables(0, other), tables) << "the memory of another device";
}

TEST(IndexTables, OfFacetsAreOnceForAllFormsOfASpace) {
  const Problem problem(box("prism"), 2);
  const auto device = std::make_shared<InterpreterDevice>();
  const auto options = planned({.shared_device = device});
  const auto& space = *problem.space();
  const auto& facets = space.discretisation()->facets({1});
  EXPECT_EQ(&space.discretisation()->facets({1}), &facets);
  std::vector<std::shared_ptr<const space::ListDofs>> lists;
  std::vector<std::shared_ptr<const space::IndexTables>> tables;
  for (const auto& block : facets.blocks) {
    lists.push_back(space.list_dofs(block.group, block.cells, facets.cells_per_batch));
    tables.push_back(space.index_tables(lists.back(), device));
  }
  ASSERT_FALSE(tables.empty());
  const auto expect_users = [&](int users, const char* what) {
    for (std::size_t i = 0; i < tables.size(); ++i) {
      EXPECT_EQ(tables[i].use_count(), 1 + users) << what;
      EXPECT_EQ(space.index_tables(lists[i], device), tables[i]) << what;
    }
  };
  expect_users(0, "nobody");
  const op::Operator A(problem.form("u*v*dx + u*v*ds(1)"), options), B(problem.form("u*v*ds(1)"), options);
  expect_users(2, "two operators");
  const op::LinearForm L(problem.form("v*ds(1)"), problem.system(), options);
  expect_users(3, "a right-hand side");
  Vector d = A.make_vector();
  A.diagonal(d);
  expect_users(4, "a diagonal");
  const op::Functional F(problem.functional("u**2*ds(1)"), problem.system(), options);
  expect_users(5, "a functional");
}

TEST(CellData, AreOnceForAllFormsOnAMesh) {
  const Problem problem(curved_box("hexahedron", 2), {{.degree = 2}, {.degree = 1, .name = "p"}});
  const auto device = std::make_shared<InterpreterDevice>();
  const auto options = planned({.shared_device = device, .quadrature = {.degree = 4}});
  const auto& shared = problem.space()->discretisation()->shared();
  const auto num_blocks = problem.space()->batches().blocks.size();
  EXPECT_EQ(shared.count<op::CellData>(), 0U);
  {
    const op::Operator A(problem.form("(1 + x[0])*u*v_u*dx"), options);
    EXPECT_EQ(shared.count<op::CellData>(), num_blocks);
    const auto num_tables = shared.count<op::Numbers>();
    EXPECT_GT(num_tables, 0U);
    const op::Operator same(problem.form("(2 + x[0])*u*v_u*dx"), options);
    EXPECT_EQ(shared.count<op::Numbers>(), num_tables) << "tables of one rule and element";
    const op::Operator of_other_field(problem.form("p*v_p*dx"), options);
    const op::LinearForm L(problem.form("v_u*dx"), problem.system(), options);
    Vector d = A.make_vector();
    A.diagonal(d);
    EXPECT_EQ(shared.count<op::CellData>(), num_blocks);
    const op::LinearForm on_facets(problem.form("v_u*ds(1)"), problem.system(), options);
    EXPECT_GT(shared.count<op::CellData>(), num_blocks);
  }
  EXPECT_EQ(shared.count<op::CellData>(), 0U) << "nobody holds them";
}

TEST(Discretisations, GiveAllOperatorsOneDevice) {
  const Problem problem(box("quadrilateral"), 1);
  const op::Operator A(problem.form("u*v*dx"), planned({.threads = 1})),
      B(problem.form("u*v*dx"), planned({.threads = 1}));
  EXPECT_EQ(A.device(), B.device());
  const auto own = std::make_shared<InterpreterDevice>();
  EXPECT_EQ(op::Operator(problem.form("u*v*dx"), planned({.shared_device = own})).device(), own);
}

TEST(IndexTables, AreOfTheSpaceWhereverItStandsInASystem) {
  const Problem problem(box("triangle"), {{.degree = 2, .name = "a"}, {.degree = 2, .name = "b"}});
  const auto device = std::make_shared<InterpreterDevice>();
  const auto options = planned({.shared_device = device});
  const auto tables = problem.space(1)->index_tables(0, device);
  const op::Operator both(problem.form("(a*v_a + b*v_b + a*v_b)*dx"), problem.system(), options);
  const op::Operator alone(problem.form("b*v_b*dx"), options);
  EXPECT_EQ(tables.use_count(), 3);
}

TEST(BoundaryValues, MayChangeWithoutNewKernels) {
  const Problem problem(box("quadrilateral"), 2);
  const auto device = std::make_shared<InterpreterDevice>();
  auto options = planned({.shared_device = device});
  const auto condition = [&](double scale, std::vector<std::int32_t> tags = {}) {
    return dirichlet(
        problem.space(), [scale](std::span<const double> x, std::size_t) { return scale * (1 + x[0]); },
        std::move(tags));
  };
  options.dirichlet = {condition(1)};
  op::Operator A(problem.form("inner(grad(u), grad(v))*dx"), options);
  const int num_compiled = device->num_compiled();
  A.set_boundary_values({condition(3)});
  EXPECT_EQ(device->num_compiled(), num_compiled);
  options.dirichlet = {condition(3)};
  const op::Operator made(problem.form("inner(grad(u), grad(v))*dx"), options);
  EXPECT_EQ(A.constraints().values, made.constraints().values);
  Vector b = random_vector(A, 1), x = random_vector(A, 2), c = random_vector(A, 1), z = random_vector(A, 2);
  A.apply_boundary_values(b, x);
  made.apply_boundary_values(c, z);
  EXPECT_EQ(values_of(b), values_of(c));
  EXPECT_EQ(values_of(x), values_of(z));
  EXPECT_THROW(A.set_boundary_values({condition(3, {1})}), base::InputError);
  EXPECT_THROW(A.set_boundary_values(std::vector<double>(3)), base::InputError);
}

TEST(BoundaryValues, FollowTheirParameters) {
  const Problem problem(box("quadrilateral"), 2);
  const auto t = form::parameter("t");
  const auto value = t * (1 + form::spatial_coordinate(2)[0]);
  const auto [u, v] = form::arguments(problem.space());
  auto options = interpreted();
  options.dirichlet = {op::make_condition(problem.space(), {}, value)};
  op::Operator A(form::inner(form::grad(u), form::grad(v)) * form::dx, options), other(u * v * form::dx, options);
  Vector b = random_vector(A, 1), x = random_vector(A, 2);
  EXPECT_THROW(A.apply_boundary_values(b, x), base::InputError) << "t has no value";
  A.apply(b, x); // the action does not need t
  for (const double time : {0.5, 2.0}) {
    A.set("t", time);
    options.dirichlet = {
        dirichlet(problem.space(), [&](std::span<const double> at, std::size_t) { return time * (1 + at[0]); })};
    const op::Operator made(form::inner(form::grad(u), form::grad(v)) * form::dx, options);
    EXPECT_EQ(A.constraints().entries, made.constraints().entries);
    EXPECT_LE(distance(A.constraints().values, made.constraints().values), 1e-15);
  }
  EXPECT_THROW((void)other.constraints(), base::InputError) << "operators do not share values";
  EXPECT_THROW(A.set("s", 1.0), base::InputError);
}

} // namespace
} // namespace rafter::test
