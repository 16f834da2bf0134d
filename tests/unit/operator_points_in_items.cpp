// SPDX-License-Identifier: BSD-3-Clause
// Kernels whose items hold points of a cell give the results of the host and have no races: the interpreter looks for
// them, and finds one where a barrier is left out.
#include <gtest/gtest.h>

#include <array>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/schedule/mapping.hpp>

#include "../support/actions.hpp"
#include "../support/opencl.hpp"
#include "../support/operator_problems.hpp"
#include "../support/translating_device.hpp"

namespace {

using namespace rafter;
using test::Problem;

struct FormCase {
  const char* text;
  bool is_vector;
};
const std::vector<FormCase> forms{
    {"u*v*dx", false},
    {"inner(grad(u), grad(v))*dx", false},
    {"(inner(grad(u), grad(v)) + kappa*u*v)*dx", false},
    {"((1 + x[0]*x[0])*inner(grad(u), grad(v)) + (1 + x[0])*u.dx(0)*v + exp(x[0])*u*v)*dx", false},
    {"inner(grad(u), grad(v))*dx + inner(u, v)*ds(1)", true},
    {"elasticity", true},
};

/// A mesh, in the order of difficulty of its cells' maps.
mesh::Mesh mesh_of(const std::string& shape, int kind) {
  if (kind == 0) return test::box(shape);
  return kind == 1 ? test::scrambled(test::box(shape), 1) : test::curved_box(shape, 2);
}

/// What kernels of both are made for.
struct Setting {
  int points = 3;
  element::QuadratureKind kind = element::QuadratureKind::gauss;
  std::string mapping, keys;
  double tolerance = 1e-12;
  bool is_declined = false; ///< kernels have another mapping
  std::shared_ptr<test::InterpreterDevice> device = std::make_shared<test::InterpreterDevice>();
};

/// Compares the action of a form by a plan with that of the host; the kernels of cells follow the plan's mapping.
void expect_like_host(const Problem& problem, const std::string& text, const Setting& setting) {
  const auto& [points, kind, mapping, keys, tolerance, is_declined, device] = setting;
  SCOPED_TRACE(fmt::format("{} with {} points, {} {}", text, points, mapping, keys));
  const auto form = problem.form(text);
  op::OperatorOptions options = test::planned();
  options.quadrature.points = points;
  options.quadrature.kind = kind;
  const auto expected = test::twice_applied(op::Operator(form, problem.system(), options));
  options.shared_device = device;
  options.plan = fmt::format("mapping={} {}", mapping, keys);
  const op::Operator A(form, problem.system(), options);
  const auto found = test::twice_applied(A);
  bool is_followed = false;
  for (const auto& info : A.kernels().info())
    is_followed = is_followed || info.plan[schedule::key::mapping].name == mapping;
  EXPECT_EQ(is_followed, !is_declined);
  ASSERT_EQ(found.size(), expected.size());
  double scale = 0, worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    scale = std::max(scale, std::fabs(expected[i]));
    worst = std::max(worst, std::fabs(found[i] - expected[i]));
  }
  EXPECT_LE(worst, tolerance * scale);
}

std::string text_of(const FormCase& form, int dim) {
  return form.text == std::string("elasticity") ? test::elasticity_form(dim) : form.text;
}

class PointsInItems : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(PointsInItems, EqualTheHostOnAllFormsDegreesAndMaps) {
  const auto& [shape, mapping] = GetParam();
  const int dim = test::box_dimension(shape);
  int number = 0;
  for (const auto& form : forms)
    for (int degree = 1; degree <= 3; ++degree) {
      Problem problem(mesh_of(shape, number % 3), degree, form.is_vector ? dim : 0);
      problem.with("kappa", 0.7);
      for (const int points : {degree + 1, degree + 2}) {
        static constexpr std::array keys{"factors=store", "factors=recompute scatter=two-pass",
                                         "factors=store-merged cells=1", "factors=recompute cells=2"};
        expect_like_host(
            problem, text_of(form, dim),
            {.points = points, .mapping = mapping, .keys = keys[static_cast<std::size_t>(number) % keys.size()]});
        number += 3;
      }
    }
}

TEST_P(PointsInItems, EqualTheHostAtTheNodes) {
  const auto& [shape, mapping] = GetParam();
  const int dim = test::box_dimension(shape);
  for (const auto& form : {forms[2], forms[5]}) {
    Problem problem(mesh_of(shape, 1), 2, form.is_vector ? dim : 0);
    problem.with("kappa", 0.7);
    expect_like_host(problem, text_of(form, dim), {.kind = element::QuadratureKind::gll, .mapping = mapping});
  }
}

/// Fields of two degrees, cells that share nothing, batches of other sizes, floats.
TEST_P(PointsInItems, EqualTheHostForOtherSpacesBatchesAndNumbers) {
  const auto& [shape, mapping] = GetParam();
  const int dim = test::box_dimension(shape);
  const Problem mixed(mesh_of(shape, 2), {{.degree = 2, .components = dim}, {.degree = 1, .name = "p"}});
  expect_like_host(mixed, "(inner(grad(u), grad(v_u)) - p*div(v_u) - v_p*div(u) + 2*p*v_p)*dx", {.mapping = mapping});
  Problem broken(mesh_of(shape, 1), {{.degree = 2, .is_broken = true}});
  broken.with("kappa", 0.7);
  expect_like_host(broken, forms[2].text, {.mapping = mapping});
  for (const int cells : {1, 4, 16}) {
    Problem problem(mesh_of(shape, 1), 2, 0, {.cells_per_batch = cells});
    problem.with("kappa", 0.7);
    expect_like_host(problem, forms[2].text, {.mapping = mapping, .keys = "factors=store"});
  }
  Problem problem(mesh_of(shape, 1), 2, 0);
  problem.with("kappa", 0.7);
  expect_like_host(problem, forms[2].text,
                   {.mapping = mapping, .keys = "storage=float compute=float", .tolerance = 1e-5});
}

/// The items of a layer are too few for the dofs of a field that has more of them than points.
TEST_P(PointsInItems, EqualTheHostForFieldsWithMoreDofsThanPoints) {
  const auto& [shape, mapping] = GetParam();
  const Problem mixed(mesh_of(shape, 1), {{.degree = 1}, {.degree = 3, .name = "p"}});
  expect_like_host(mixed, "(inner(grad(u), grad(v_u)) + p*v_u)*dx",
                   {.points = 2, .mapping = mapping, .is_declined = mapping == "slab"});
}

TEST_P(PointsInItems, EqualTheHostWhenOpenClRunsThem) {
  if (!test::has_opencl()) GTEST_SKIP() << "this machine has no OpenCL device (apt-get install pocl-opencl-icd)";
  const auto& [shape, mapping] = GetParam();
  const int dim = test::box_dimension(shape);
  const auto device = std::make_shared<test::TranslatingDevice>();
  int number = 0;
  for (const auto& form : forms) {
    Problem problem(mesh_of(shape, number % 3), 1 + number % 3, form.is_vector ? dim : 0);
    problem.with("kappa", 0.7);
    expect_like_host(problem, text_of(form, dim),
                     {.points = 2 + number % 3,
                      .mapping = mapping,
                      .keys = number % 2 == 0 ? "factors=store" : "factors=recompute",
                      .device = device});
    ++number;
  }
}

/// An interpreter that leaves out one barrier of the kernels of cells.
class HastyDevice final : public test::InterpreterDevice {
public:
  explicit HastyDevice(int number) : number_(number) {}
  bool has_left_one_out() const { return has_left_one_out_; }

protected:
  void launch(const schedule::LoopProgram& program, std::span<const schedule::Argument> arguments, std::int64_t begin,
              std::int64_t end) override {
    auto text = schedule::print(program);
    constexpr std::string_view word = "(barrier)";
    std::size_t place = text.find(word);
    for (int i = 0; i < number_ && place != std::string::npos; ++i) place = text.find(word, place + 1);
    if (program.launch.num_items() == 1 || place == std::string::npos)
      return InterpreterDevice::launch(program, arguments, begin, end);
    has_left_one_out_ = true;
    schedule::interpret_launch(schedule::read(text.erase(place, word.size())), arguments, begin, end);
  }

private:
  int number_;
  bool has_left_one_out_ = false;
};

/// Every barrier is needed: without any one of them, items race.
TEST_P(PointsInItems, HaveARaceWithoutAnyOneOfTheirBarriers) {
  const auto& [shape, mapping] = GetParam();
  Problem problem(test::box(shape), 2, 0);
  const auto form = problem.form("inner(grad(u), grad(v))*dx");
  for (int number = 0;; ++number) {
    op::OperatorOptions options = test::planned();
    options.quadrature.points = 4;
    const auto device = std::make_shared<HastyDevice>(number);
    options.shared_device = device;
    options.plan = "mapping=" + mapping;
    try {
      (void)test::twice_applied(op::Operator(form, problem.system(), options));
      EXPECT_FALSE(device->has_left_one_out()) << "no race without barrier " << number;
      EXPECT_GE(number, 4);
      return;
    } catch (const base::InternalError& error) {
      ASSERT_NE(std::string(error.what()).find("race"), std::string::npos) << error.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(every_grid, PointsInItems,
                         ::testing::Combine(::testing::Values("quadrilateral", "hexahedron"),
                                            ::testing::Values("slab", "point_per_item")),
                         [](const auto& grid) { return std::get<0>(grid.param) + "_" + std::get<1>(grid.param); });

} // namespace
