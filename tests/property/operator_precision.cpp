// SPDX-License-Identifier: BSD-3-Clause
// Kernels that store or compute numbers in single precision differ from those in double precision by rounding, and mean
// what the interpreter computes.
#include <array>

#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/linear_form.hpp>
#include <rafter/operator/matrix/assembled_matrix.hpp>
#include <rafter/operator/precision.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/operator/run/vector_runner.hpp>
#include <rafter/space/function_space.hpp>

#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

op::Operator make(const Problem& problem, const std::string& plan, bool is_interpreted = false) {
  op::OperatorOptions options = planned({.threads = 2, .plan = plan});
  if (is_interpreted) options.shared_device = std::make_shared<InterpreterDevice>();
  return {problem.form("((1 + x[0])*inner(grad(u), grad(v)) + kappa*u*v)*dx + kappa*u*v*ds(1)"), options};
}

/// Returns the difference relative to the largest value.
double difference(const op::Operator& A, const op::Operator& B) {
  const auto expected = values_of(applied(B, random_vector(B, 3)));
  return distance(values_of(applied(A, random_vector(A, 3))), expected) / largest(expected);
}

double bytes_of(const op::Operator& A) { return A.kernels().counts().global_bytes_read; }

class Floats : public ::testing::TestWithParam<std::string> {
protected:
  static constexpr int degree = 2;
  /// Compilers fuse products and sums, both in the sums of a cell and in its geometry.
  static constexpr double rounding = 4 * 0x1p-24 * (degree + 1) * (degree + 1);

  Problem problem(int geometry_degree = 2) const {
    Problem result(curved_box(GetParam(), geometry_degree), degree, 0, {.cells_per_batch = 16});
    result.with("kappa", 0.7);
    return result;
  }
  static void expect_rounding(const Problem& problem, const std::string& plan, const std::string& single) {
    SCOPED_TRACE(plan + " " + single);
    const auto in_double = make(problem, plan), in_float = make(problem, plan + " " + single);
    EXPECT_GT(difference(in_float, in_double), 0) << "something is in floats";
    EXPECT_LE(difference(in_float, in_double), op::max_precision_error);
    EXPECT_GT(in_float.precision_error(), 0);
    EXPECT_EQ(in_double.precision_error(), 0);
  }
};

TEST_P(Floats, ThatAreStoredDifferByRounding) {
  for (const std::string factors : {"factors=store", "factors=store-merged"}) {
    expect_rounding(problem(), factors, "storage=float");
    const auto in_float = make(problem(), factors + " storage=float");
    EXPECT_LE(difference(in_float, make(problem(), factors + " storage=float", true)),
              1e-14 * (degree + 1) * (degree + 1));
    EXPECT_LT(bytes_of(in_float), bytes_of(make(problem(), factors)));
  }
}

TEST_P(Floats, ThatAreComputedWithDifferByRounding) {
  for (const std::string plan :
       {"factors=recompute vector_width=8", "factors=recompute-merged contraction=dense unroll=0",
        "mapping=plain vector_width=4"}) {
    const auto of_problem = problem(plan.find("vector_width=4") != std::string::npos ? 1 : 2);
    expect_rounding(of_problem, plan, "compute=float");
    EXPECT_LE(difference(make(of_problem, plan + " compute=float"), make(of_problem, plan + " compute=float", true)),
              rounding)
        << plan;
  }
}

/// Makes vectors of either type.
template <class T> device::Array<T> in_vector(const op::Operator& A, const std::vector<double>& values) {
  return {A.device(), base::AlignedVector<T>(values.begin(), values.end())};
}

TEST_P(Floats, ThatAreSummedDifferByRounding) {
  const std::string in_floats = "compute=float accumulate=float";
  expect_rounding(problem(), "factors=store", in_floats);
  const auto A = make(problem(), "factors=store " + in_floats),
             meant = make(problem(), "factors=store " + in_floats, true);
  EXPECT_LE(difference(A, meant), rounding);
  const double vectors = 2.0 * static_cast<double>(A.size());
  EXPECT_EQ(bytes_of(make(problem(), "factors=store compute=float")) - bytes_of(A), vectors * 2) << "of the input";
}

TEST_P(Floats, InVectorsOfFloatsAreThoseOfTheCopies) {
  auto space = problem();
  op::OperatorOptions options = planned({.threads = 2, .plan = "factors=recompute compute=float accumulate=float"});
  const auto one = [](std::span<const double>, std::span<double> values) { std::ranges::fill(values, 1.0); };
  options.dirichlet.push_back({space.space(), {.tags = {1}, .is_all = false, .value = one}});
  const op::Operator A(space.form(helmholtz_form()), options);
  ASSERT_TRUE(A.is_single());
  auto values = values_of(random_vector(A, 5));
  for (double& value : values) value = static_cast<float>(value);
  const auto x = in_vector<double>(A, values);
  const auto single = in_vector<float>(A, values);
  auto y = A.make_single_vector();
  A.apply(single, y);
  const auto expected = values_of(applied(A, x));
  EXPECT_EQ(std::vector<double>(y.host_read().begin(), y.host_read().end()), expected);
  for (const auto entry : A.constraints().entries)
    EXPECT_EQ(y.host_read()[static_cast<std::size_t>(entry)], values[static_cast<std::size_t>(entry)]);
  ASSERT_FALSE(A.constraints().entries.empty());

  auto sum = in_vector<double>(A, values);
  A.apply_add(x, sum);
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_DOUBLE_EQ(sum.host_read()[i], values[i] + expected[i]) << "added in double";
  EXPECT_THROW(A.apply(y, y), base::InputError);
}

TEST_P(Floats, WithFusedWorkAreThoseWithout) {
  static constexpr std::array<std::string_view, 2> loops{"shift(| x): x = x + 1", "twice(| y, z): z = 2*y"};
  const auto of_problem = problem();
  op::OperatorOptions options = planned({.threads = 2, .plan = "factors=store compute=float accumulate=float"});
  const auto one = [](std::span<const double>, std::span<double> values) { std::ranges::fill(values, 1.0); };
  options.dirichlet.push_back({of_problem.space(), {.tags = {1}, .is_all = false, .value = one}});
  const op::Operator A(of_problem.form(helmholtz_form()), options);
  const auto values = values_of(random_vector(A, 5));
  auto x = in_vector<float>(A, values), shifted = in_vector<float>(A, values);
  auto y = A.make_single_vector(), z = A.make_single_vector(), expected = A.make_single_vector();
  const op::VectorRunner runner(A.device(), loops, A.owned_ranges(), schedule::Type::real32);
  const op::FusedLoop shift(runner, "shift", {}, {x}), twice(runner, "twice", {}, {y, z});
  A.apply_with(x, y,
               {.before = [&](std::int64_t part, std::span<const op::EntryRange> ranges) { shift(part, ranges); },
                .after = [&](std::int64_t part, std::span<const op::EntryRange> ranges) { twice(part, ranges); }});
  runner.run("shift", {}, {shifted});
  A.apply(shifted, expected);
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(x.host_read()[i], shifted.host_read()[i]) << "also at constrained entries";
    ASSERT_EQ(y.host_read()[i], expected.host_read()[i]);
    ASSERT_EQ(z.host_read()[i], 2 * expected.host_read()[i]);
  }
}

/// The action of a form in the precision that options ask for without a plan.
op::Operator planned_in(schedule::Precision precision, const Problem& problem, double num_applications = 0) {
  auto options = op::kernel_options(planned({.threads = 2}), device::make_device("host", 2));
  options.precision = precision;
  options.num_applications = num_applications;
  auto built =
      op::build_form(form::lower(problem.form(helmholtz_form())), problem.system(), op::Purpose::action, options);
  op::compile(std::span(&built, 1));
  return {std::move(built), space::Constraints{}};
}

TEST_P(Floats, AreWhatThePlannerTakesWhereOptionsSaySo) {
  const auto of_problem = problem();
  const auto in_double = planned_in(schedule::Precision::double_precision, of_problem),
             in_floats = planned_in(schedule::Precision::single_precision, of_problem);
  EXPECT_FALSE(in_double.is_single());
  ASSERT_TRUE(in_floats.is_single());
  for (const auto& info : in_floats.kernels().info())
    EXPECT_EQ(schedule::single_keys(info.plan), "storage=float compute=float accumulate=float") << info.name;
  EXPECT_GT(difference(in_floats, in_double), 0);
  EXPECT_LE(difference(in_floats, in_double), op::max_precision_error);
  Vector diagonal = in_floats.make_vector(), expected = in_double.make_vector();
  in_floats.diagonal(diagonal);
  in_double.diagonal(expected);
  EXPECT_EQ(values_of(diagonal), values_of(expected)) << "diagonals stay in double";
}

TEST_P(Floats, AreTheVectorsOfAssembledMatricesToo) {
  Problem of_problem(scrambled(box(GetParam()), 3), 1);
  of_problem.with("kappa", 0.7);
  constexpr double many = 1e6; // the set-up of a matrix pays off
  const auto in_double = planned_in(schedule::Precision::double_precision, of_problem, many),
             in_floats = planned_in(schedule::Precision::single_precision, of_problem, many);
  if (in_double.matrix() == nullptr) GTEST_SKIP() << "the planner takes no matrix";
  ASSERT_NE(in_floats.matrix(), nullptr);
  ASSERT_TRUE(in_floats.is_single());
  EXPECT_LE(difference(in_floats, in_double), op::max_precision_error);
  EXPECT_LT(in_floats.counts().global_bytes_read, 0.8 * in_double.counts().global_bytes_read);
  Vector wide = in_floats.make_vector();
  EXPECT_THROW(in_floats.matrix()->run(random_vector(in_floats, 1), wide, false), base::InternalError);
}

TEST_P(Floats, EverywhereAreFloatsInTheProgram) {
  const auto A = make(problem(), "factors=store storage=float compute=float accumulate=float");
  for (const auto& info : A.kernels().info()) {
    EXPECT_EQ(info.counts.single_flops, info.counts.flops) << info.name;
    EXPECT_EQ(info.loop_program.find("work real "), std::string::npos) << "work arrays are floats";
    EXPECT_EQ(info.source.find("= (vec)"), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(every_shape, Floats, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

/// Returns the message when the operator is made, or "" if it is accepted.
std::string refusal(const Problem& problem, const std::string& plan) {
  try {
    make(problem, plan, true);
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Precision, LargeDifferencesAreRefused) {
  EXPECT_EQ(op::require_precision(1e-7, ""), 1e-7);
  for (const double error : {1e-3, std::numeric_limits<double>::infinity(), std::nan("")}) try {
      op::require_precision(error, "storage=float compute=float");
      ADD_FAILURE() << error << " is accepted";
    } catch (const base::InputError& refusal) {
      EXPECT_NE(std::string(refusal.what()).find("with storage=float compute=float"), std::string::npos);
      EXPECT_NE(std::string(refusal.what()).find("use storage=double compute=double"), std::string::npos);
    }
}

TEST(Precision, OfCellsFarFromTheOriginIsRefused) {
  auto mesh = curved_box("quadrilateral", 2);
  for (double& x : mesh.points) x += 1e5; // a float distinguishes points 0.008 apart here
  Problem problem(std::move(mesh), 2);
  problem.with("kappa", 0.7);
  EXPECT_EQ(refusal(problem, "factors=recompute"), "");
  const auto message = refusal(problem, "factors=recompute compute=float");
  EXPECT_NE(message.find("plan: with compute=float the operator differs"), std::string::npos) << message;
  EXPECT_NE(message.find("use compute=double"), std::string::npos) << message;
  // Set-up computes in double precision.
  EXPECT_EQ(refusal(problem, "factors=store storage=float"), "");
}

TEST(Precision, NumbersBeyondFloatsAreRefused) {
  Problem problem(box("quadrilateral"), 1);
  problem.with("kappa", 1e60);
  const auto message = refusal(problem, "compute=float");
  EXPECT_NE(message.find("not finite, floats end at 3.4e38; use compute=double"), std::string::npos) << message;
}

TEST(Precision, VectorsOfFloatsAreRefusedByOtherOperators) {
  Problem problem(box("quadrilateral"), 1);
  const op::Operator A(problem.form("u*v*dx"), planned({.plan = "compute=float"}));
  const auto x = A.make_single_vector();
  auto y = A.make_single_vector();
  try {
    A.apply(x, y);
    ADD_FAILURE() << "accepted";
  } catch (const base::InputError& error) {
    EXPECT_NE(std::string(error.what()).find("compute=float accumulate=float"), std::string::npos) << error.what();
  }
  const op::Operator B(problem.form("u*v*dx"), planned({.plan = "compute=float accumulate=float"}));
  const device::SingleVector longer(B.device(), static_cast<std::size_t>(B.size()) + 1);
  EXPECT_THROW(B.apply(longer, y), base::InputError);
  Vector z = B.make_vector();
  EXPECT_THROW(B.kernels().run(random_vector(B, 1), z, {}), base::InternalError);
}

TEST(Precision, PlansThatStoreNothingAreAsBefore) {
  Problem problem(box("hexahedron"), 2);
  const op::Operator A(problem.form("inner(grad(u), grad(v))*dx"),
                       planned({.plan = "factors=recompute storage=float"}));
  EXPECT_EQ(A.precision_error(), 0);
}

TEST(Precision, FunctionalsAndDiagonalsStayInDouble) {
  Problem problem(curved_box("hexahedron", 2), 2);
  problem.with("kappa", 0.7);
  const auto value = [&](const std::string& plan) {
    const Vector u = problem.interpolated(
        Vector(std::make_shared<InterpreterDevice>(), static_cast<std::size_t>(problem.system().size())),
        [](std::span<const double> x, std::size_t) { return x[0]; });
    return op::Functional(problem.functional("inner(grad(u), grad(u))*dx"), problem.system(),
                          planned({.shared_device = u.device(), .plan = plan}))(u);
  };
  const auto diagonal = [&](const std::string& plan) {
    const auto A = make(problem, plan, true);
    Vector d = A.make_vector();
    A.diagonal(d);
    return values_of(d);
  };
  EXPECT_EQ(value("factors=store storage=float compute=float"), value("factors=store"));
  EXPECT_EQ(diagonal("factors=recompute compute=float accumulate=float"), diagonal("factors=recompute"));
}

} // namespace
} // namespace rafter::test
