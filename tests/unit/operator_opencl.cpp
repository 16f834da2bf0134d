// SPDX-License-Identifier: BSD-3-Clause
// An OpenCL device gives the results of the host for everything that operators compute: actions, right-hand sides,
// diagonals, functionals, matrices and transfers, on every shape.
#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/linear_form.hpp>
#include <rafter/operator/matrix/cell_arrays.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/operator/run/sparse_matrix.hpp>
#include <rafter/schedule/mapping_keys.hpp>

#include "../support/opencl.hpp"
#include "../support/operator_problems.hpp"
#include "../support/shared_device.hpp"
#include "../support/transfer_problems.hpp"

namespace rafter::test {
namespace {

using Device = std::shared_ptr<device::Device>;
using Values = std::vector<double>;

/// The device of all tests, so that they share compiled programs.
const Device& opencl() {
  static SharedDevice device([] { return std::make_shared<device::OpenClDevice>(); });
  return device.get();
}
const Device& host() {
  static const Device device = device::make_device("host", 1);
  return device;
}

op::OperatorOptions on(const Device& device, const std::string& plan = "") {
  return planned({.shared_device = device, .quadrature = {}, .plan = plan});
}

/// Compares what a function of a device returns for both devices.
template <class Function> void expect_same(const Function& function, double tolerance = 1e-12) {
  const Values expected = function(host()), found = function(opencl());
  EXPECT_GT(largest(expected), 0);
  EXPECT_LE(distance(found, expected), tolerance * largest(expected));
}

/// y = A x, then y += A x.
Values action(const op::Operator& A) {
  auto y = applied(A, random_vector(A, 3));
  A.apply_add(random_vector(A, 4), y);
  return values_of(y);
}

void append(Values& to, const Values& values) { to.insert(to.end(), values.begin(), values.end()); }

class OpenClOnShape : public ::testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    if (!has_opencl()) GTEST_SKIP() << "this machine has no OpenCL device (apt-get install pocl-opencl-icd)";
  }
};

TEST_P(OpenClOnShape, ActionsOnCellsAndFacetsAreThoseOfTheHost) {
  for (const int degree : {1, 2, 3}) {
    Problem problem(scrambled(box(GetParam()), 1), degree, 0);
    problem.with("kappa", 0.7);
    const auto form = problem.form("((1 + x[0]*x[0])*inner(grad(u), grad(v)) + exp(x[0])*u*v)*dx + kappa*u*v*ds(1)");
    expect_same([&](const Device& device) { return action(op::Operator(form, on(device))); });
  }
}

TEST_P(OpenClOnShape, ActionsOfVectorsOnCurvedCellsWithConditionsAreThoseOfTheHost) {
  const int dim = box_dimension(GetParam());
  Problem problem(curved_box(GetParam(), 2), 2, dim);
  problem.with("kappa", 0.7);
  const auto form = problem.form(elasticity_form(dim));
  const auto fixed = dirichlet(problem.space(), [](std::span<const double> x, std::size_t c) { return x[0] + c; });
  expect_same([&](const Device& device) {
    auto options = on(device);
    options.dirichlet = {fixed};
    const op::Operator A(form, options);
    auto result = action(A);
    auto b = random_vector(A, 5), x = random_vector(A, 6), d = A.make_vector();
    A.apply_boundary_values(b, x);
    A.diagonal(d);
    for (const auto* vector : {&b, &x, &d}) append(result, values_of(*vector));
    return result;
  });
}

TEST_P(OpenClOnShape, DataFieldsParametersVectorsAndFunctionalsAreThoseOfTheHost) {
  Problem problem(scrambled(box(GetParam()), 1), {{.degree = 2, .components = 0, .name = "u"}});
  const auto t = form::parameter("t");
  problem.with("t", t);
  const auto w = form::field(problem.space(), "w");
  problem.with("w", w);
  const auto bilinear = problem.form("((1 + w*w)*inner(grad(u), grad(v)) + t*u*v)*dx + w*u*v*ds");
  const auto linear = problem.form("t*exp(w)*v*dx + x[0]*v*ds(1)");
  const auto functional = problem.functional("(w*w + t*inner(grad(w), grad(w)))*dx + w*ds(1)");
  expect_same([&](const Device& device) {
    Vector data(device, static_cast<std::size_t>(problem.system().size()));
    fill_random(data, 7);
    op::Operator A(bilinear, on(device));
    op::LinearForm L(linear, problem.system(), on(device));
    op::Functional J(functional, problem.system(), on(device));
    Values result;
    for (const double time : {0.5, 2.0}) {
      const auto set = [&](auto& of) {
        of.set("t", time);
        of.set("w", data);
      };
      set(A);
      set(L);
      set(J);
      append(result, action(A));
      auto b = A.make_vector();
      L.assemble(b);
      append(result, values_of(b));
      append(result, J.values());
      fill_random(data, 8);
    }
    return result;
  });
}

TEST_P(OpenClOnShape, MatricesAreThoseOfTheHost) {
  Problem problem(two_material_box(GetParam()), 2, 0);
  problem.with("kappa", form::by_tag("kappa", {{"1", 3.0}, {"2", 0.5}}));
  const auto form = problem.form("(kappa*inner(grad(u), grad(v)) + u*v)*dx + u*v*ds");
  expect_same([&](const Device& device) {
    const auto matrix = op::Operator(form, on(device)).sparse_matrix();
    return Values(matrix.values.begin(), matrix.values.end());
  });
  expect_same([&](const Device& device) { return action(op::Operator(form, on(device, "mapping=assembled"))); });
}

TEST_P(OpenClOnShape, MatricesAndVectorsOfCellsAreThoseOfTheHost) {
  const Problem problem(scrambled(curved_box(GetParam(), 1), 3), 2);
  const auto system = problem.system();
  const auto form = problem.form("((1 + x[0])*inner(grad(u), grad(v)) + u*v.dx(0))*dx + u*v*ds"),
             load = problem.form("x[0]*v*dx + v*ds");
  for (int group = 0; group < static_cast<int>(system.mesh->groups.size()); ++group) {
    const auto num_rows = op::local_unknowns(system, group).size(),
               length = static_cast<std::size_t>(op::num_local_unknowns(system, group));
    for (const char* plan : {"order=tables", "order=qss", "order=ssq derivatives=inside"})
      expect_same([&](const Device& device) {
        Values values(num_rows * length);
        op::Operator(form, on(device, plan))
            .cell_matrices(std::vector<op::CellArray<double>>{{.group = group, .values = values}});
        return values;
      });
    expect_same([&](const Device& device) {
      Values values(num_rows);
      op::LinearForm(load, system, on(device))
          .cell_vectors(std::vector<op::CellArray<double>>{{.group = group, .values = values}});
      return values;
    });
  }
}

TEST_P(OpenClOnShape, ProductsWithStoredMatricesOfCellsAreThoseOfTheHost) {
  const Problem problem(scrambled(curved_box(GetParam(), 1), 3), 1);
  const auto form = problem.form("((1 + x[0])*inner(grad(u), grad(v)) + u*v.dx(0))*dx + u*v*ds");
  for (const char* plan : {"contraction=cell-matrices", "contraction=cell-matrices order=sqs derivatives=inside"})
    expect_same([&](const Device& device) { return action(op::Operator(form, on(device, plan))); });
}

TEST_P(OpenClOnShape, TransfersAreThoseOfTheHost) {
  for (const auto& [shape, way] : transfer_cases()) {
    if (shape != GetParam()) continue;
    TransferProblem problem(scrambled(box(shape), 1, way.axes), way,
                            {.coarse_degree = 1, .fine_degree = way.is_refined ? 1 : 3, .components = {0, 2}});
    problem.constrain({});
    expect_same([&](const Device& device) {
      const auto transfer = op::make_transfer(problem.specification, {.device = device, .planner = planner()});
      auto coarse = vector_on(problem.specification.coarse, device, 1),
           fine = vector_on(problem.specification.fine, device, 2);
      transfer->prolongate_and_add(coarse, fine);
      Values result = values_of(fine);
      transfer->restrict_to(fine, coarse);
      append(result, values_of(coarse));
      transfer->prolongate(coarse, fine);
      append(result, values_of(fine));
      return result;
    });
  }
}

INSTANTIATE_TEST_SUITE_P(every_shape, OpenClOnShape, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

class OpenClMemory : public ::testing::Test {
protected:
  void SetUp() override {
    if (!has_opencl()) GTEST_SKIP() << "this machine has no OpenCL device (apt-get install pocl-opencl-icd)";
  }
  /// Returns what a function copies when it is called for the second time.
  template <class Function> static device::Copies copies_of(const Function& function) {
    function();
    const auto before = opencl()->copies();
    function();
    return opencl()->copies() - before;
  }
};

TEST_F(OpenClMemory, ApplicationsCopyNothing) {
  Problem problem(scrambled(box("quadrilateral"), 1), 2, 2);
  problem.with("kappa", 0.7);
  const auto form = problem.form(elasticity_form(2) + " + inner(u, v)*ds(1)");
  const auto fixed = dirichlet(problem.space(), [](std::span<const double>, std::size_t) { return 1.0; });
  for (const char* plan :
       {"", "scatter=two-pass", "scatter=coloured", "mapping=assembled", "compute=float accumulate=float"}) {
    auto options = on(opencl(), plan);
    options.dirichlet = {fixed};
    const op::Operator A(form, options);
    const auto x = random_vector(A, 3);
    auto y = A.make_vector();
    EXPECT_EQ(copies_of([&] { A.apply(x, y); }), device::Copies()) << plan;
    EXPECT_EQ(copies_of([&] { A.apply_add(x, y); }), device::Copies()) << plan;
    EXPECT_EQ(copies_of([&] { A.apply_free(x, y); }), device::Copies()) << plan;
    if (A.matrix() == nullptr) {
      EXPECT_EQ(copies_of([&] { A.diagonal(y); }), device::Copies()) << plan;
    }
  }
}

TEST_F(OpenClMemory, TransfersAndDataFieldsCopyNothingAndFunctionalsTheirValues) {
  TransferProblem problem(scrambled(box("hexahedron"), 1), true, {.components = {0, 2}});
  const auto transfer = op::make_transfer(problem.specification, {.device = opencl(), .planner = planner()});
  auto coarse = vector_on(problem.specification.coarse, opencl(), 1),
       fine = vector_on(problem.specification.fine, opencl(), 2);
  EXPECT_EQ(copies_of([&] {
              transfer->prolongate(coarse, fine);
              transfer->prolongate_and_add(coarse, fine);
              transfer->restrict_to(fine, coarse);
            }),
            device::Copies());

  Problem fields(box("mixed"), {{.degree = 2, .name = "a"}, {.degree = 1, .components = 2, .name = "b"}});
  op::Functional J(fields.functional("(a*a + inner(b, b))*dx + a*ds(1)"), fields.system(), on(opencl()));
  Vector state(opencl(), static_cast<std::size_t>(fields.system().size()));
  fill_random(state, 3);
  const auto copies = copies_of([&] { (void)J(state); });
  EXPECT_EQ(copies.num_to_device, 0);
  EXPECT_EQ(copies.bytes_to_host, static_cast<std::int64_t>(J.kernels().info().size() * sizeof(double)));
}

class OpenClPlans : public ::testing::Test {
protected:
  void SetUp() override {
    if (!has_opencl()) GTEST_SKIP() << "this machine has no OpenCL device (apt-get install pocl-opencl-icd)";
  }
};

TEST_F(OpenClPlans, AllGiveTheResultsOfTheHost) {
  Problem problem(scrambled(box("hexahedron"), 1), 3, 0);
  problem.with("kappa", 0.7);
  const auto form = problem.form("((1 + x[0])*inner(grad(u), grad(v)) + u*v)*dx + u*v*ds(1)");
  const auto expected = action(op::Operator(form, on(host())));
  for (const char* plan :
       {"default", "factors=store", "factors=recompute", "contraction=per-derivative even_odd=0",
        "contraction=dense unroll=0", "mapping=cell_per_item scatter=coloured", "scatter=two-pass"}) {
    const auto found = action(op::Operator(form, on(opencl(), plan)));
    EXPECT_LE(distance(found, expected), 1e-12 * largest(expected)) << plan;
  }
}

TEST_F(OpenClPlans, MayComputeInFloats) {
  Problem problem(scrambled(box("tetrahedron"), 1), 2, 0);
  const auto form = problem.form("(inner(grad(u), grad(v)) + u*v)*dx");
  const auto expected = action(op::Operator(form, on(host())));
  for (const char* plan : {"compute=float storage=float", "compute=float accumulate=float"}) {
    const op::Operator A(form, on(opencl(), plan));
    EXPECT_GT(A.precision_error(), 0) << plan;
    EXPECT_LE(distance(action(A), expected), 1e-5 * largest(expected)) << plan;
  }
}

TEST_F(OpenClPlans, NameTheirMappingAndNoKeysOfOthers) {
  Problem problem(box("hexahedron"), 2, 0);
  const op::Operator A(problem.form("inner(grad(u), grad(v))*dx"), on(opencl()));
  for (const auto& info : A.info()) {
    const auto text = schedule::to_string(info.plan);
    EXPECT_NE(text.find("mapping=cell_per_item"), std::string::npos) << text;
    const bool has_lanes = opencl()->capabilities().vector_width > 1;
    for (const char* key : {"prefetch", "stores"}) EXPECT_EQ(text.find(key), std::string::npos) << text;
    for (const char* key : {"patches", "gathers", "indices"})
      EXPECT_EQ(text.find(key) != std::string::npos, has_lanes) << text;
    EXPECT_EQ(info.plan[schedule::key::vector_width] > 1, has_lanes) << text;
    EXPECT_EQ(schedule::parse_plan(text), info.plan) << text;
  }
}

} // namespace
} // namespace rafter::test
