// SPDX-License-Identifier: BSD-3-Clause
// Kernels whose items hold a cell each, or as many as they have lanes, give the results of the host, on every shape,
// for all ways to add, and have no races: the interpreter looks for them.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/operator/operator.hpp>

#include "../support/actions.hpp"
#include "../support/opencl.hpp"
#include "../support/operator_problems.hpp"
#include "../support/translating_device.hpp"

namespace {

using namespace rafter;
using test::Problem;

std::vector<double> action(const form::Form& form, const op::OperatorOptions& options) {
  return test::twice_applied(op::Operator(form, options));
}

/// Compares the action of a form by items, on the interpreter or another device for such programs, with that of the
/// host.
void expect_equal(
    const test::Problem& problem, const std::string& text, const std::string& plan,
    const std::shared_ptr<test::InterpreterDevice>& device = std::make_shared<test::InterpreterDevice>()) {
  const auto form = problem.form(text);
  op::OperatorOptions options = test::planned();
  options.quadrature.points = 3;
  const auto expected = action(form, options);
  options.shared_device = device;
  const int num_launches = device->num_launches();
  options.plan = plan;
  const auto found = action(form, options);
  EXPECT_GT(device->num_launches(), num_launches);
  ASSERT_EQ(found.size(), expected.size());
  double scale = 0, worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    scale = std::max(scale, std::fabs(expected[i]));
    worst = std::max(worst, std::fabs(found[i] - expected[i]));
  }
  EXPECT_LE(worst, 1e-12 * scale) << plan;
}

class CellPerItem : public ::testing::TestWithParam<std::string> {};

TEST_P(CellPerItem, EqualsTheHostForAllWaysToAdd) {
  const std::string& shape = GetParam();
  test::Problem problem(test::scrambled(test::box(shape), 1), 2, 0);
  problem.with("kappa", 0.7);
  for (const char* scatter : {"atomic", "coloured", "two-pass"})
    for (const char* keys :
         {"vector_width=1", "vector_width=1 read=plain", "vector_width=1 read=staged work_group=16 cells_per_item=3",
          "vector_width=8", "vector_width=4 indices=dofs", "vector_width=2"})
      expect_equal(problem, "((1 + x[0]*x[0])*inner(grad(u), grad(v)) + u*v)*dx + u*v*ds(1)",
                   fmt::format("mapping=cell_per_item scatter={} {}", scatter, keys));
}

TEST_P(CellPerItem, EqualsTheHostForVectorsOnCurvedCells) {
  const std::string& shape = GetParam();
  const int dim = test::box_dimension(shape);
  test::Problem problem(test::curved_box(shape, 2), 2, dim);
  problem.with("kappa", 0.7);
  for (const char* plan :
       {"mapping=cell_per_item factors=recompute", "mapping=cell_per_item scatter=coloured contraction=dense",
        "mapping=cell_per_item contraction=per-derivative even_odd=0",
        "mapping=cell_per_item contraction=slice-wise even_odd=0", "mapping=cell_per_item vector_width=8 factors=store",
        "mapping=cell_per_item vector_width=1 factors=recompute read=staged padding=1",
        "mapping=cell_per_item vector_width=4 contraction=dense",
        "mapping=cell_per_item vector_width=4 scatter=coloured subbatches=2 contraction=dense unroll=0"})
    expect_equal(problem, test::elasticity_form(dim), plan);
}

TEST_P(CellPerItem, EqualsTheHostForProductsOfIntegralsAlongEachAxis) {
  test::Problem problem(test::box(GetParam()), 3, 0);
  problem.with("kappa", 0.7);
  expect_equal(problem, "(inner(grad(u), grad(v)) + 2*u*v)*dx", "mapping=cell_per_item contraction=separable");
}

TEST_P(CellPerItem, EqualsTheHostWhenOpenClRunsIt) {
  if (!test::has_opencl()) GTEST_SKIP() << "this machine has no OpenCL device (apt-get install pocl-opencl-icd)";
  const std::string& shape = GetParam();
  test::Problem scalar(test::scrambled(test::box(shape), 1), 2, 0);
  scalar.with("kappa", 0.7);
  const auto device = std::make_shared<test::TranslatingDevice>();
  expect_equal(scalar, "((1 + x[0]*x[0])*inner(grad(u), grad(v)) + exp(x[0])*u*v)*dx + u*v*ds(1)",
               "mapping=cell_per_item", device);
  // Drivers compile long: all ways to add with all of these keys are tested by the interpreter.
  for (const char* keys :
       {"scatter=coloured vector_width=1", "scatter=coloured vector_width=8",
        "scatter=atomic vector_width=4 indices=dofs gathers=scalar", "scatter=two-pass vector_width=8"})
    expect_equal(scalar, "sqrt(1 + x[0]*x[0])*inner(grad(u), grad(v))*dx",
                 fmt::format("mapping=cell_per_item {}", keys), device);
  const int dim = test::box_dimension(shape);
  test::Problem vector(test::curved_box(shape, 2), 1, dim);
  vector.with("kappa", 0.7);
  for (const char* keys : {"vector_width=1", "vector_width=8 scatter=coloured"})
    expect_equal(vector, test::elasticity_form(dim), fmt::format("mapping=cell_per_item factors=recompute {}", keys),
                 device);
}

/// An interpreter that leaves a word out of the kernels of cells whose groups have items: those that write the output
/// vector of a form.
class FaultyDevice final : public test::InterpreterDevice {
public:
  explicit FaultyDevice(std::string word) : word_(std::move(word)) {}

protected:
  void launch(const schedule::LoopProgram& program, std::span<const schedule::Argument> arguments, std::int64_t begin,
              std::int64_t end) override {
    if (program.find("output_vector_0") == nullptr) return InterpreterDevice::launch(program, arguments, begin, end);
    auto text = schedule::print(program);
    const auto place = text.rfind(word_);
    ASSERT_NE(place, std::string::npos);
    schedule::interpret_launch(schedule::read(text.erase(place, word_.size())), arguments, begin, end);
  }

private:
  std::string word_;
};

TEST_P(CellPerItem, HasRacesWithoutItsAtomicAdditionsAndItsBarriers) {
  test::Problem problem(test::box(GetParam()), 1, 0);
  const auto form = problem.form("inner(grad(u), grad(v))*dx");
  for (const auto& [word, plan] :
       {std::pair{" atomic", "mapping=cell_per_item contraction=dense"},
        std::pair{"(barrier)", "mapping=cell_per_item scatter=coloured contraction=dense"}}) {
    op::OperatorOptions options = test::planned();
    options.shared_device = std::make_shared<FaultyDevice>(word);
    options.plan = plan;
    try {
      (void)action(form, options);
      ADD_FAILURE() << "no race without" << word;
    } catch (const base::InternalError& error) {
      EXPECT_NE(std::string(error.what()).find("of output_vector_0"), std::string::npos) << error.what();
    }
  }
}

/// An interpreter that runs the chunks of all stages at the same time.
class ImpatientDevice final : public test::InterpreterDevice {
protected:
  void launch(const schedule::LoopProgram& program, std::span<const schedule::Argument> arguments, std::int64_t begin,
              std::int64_t end) override {
    const auto declared = program.arguments();
    for (std::size_t i = 0; i < declared.size(); ++i)
      if (declared[i].role == schedule::role::chunk_bounds)
        return InterpreterDevice::launch(program, arguments, 0, std::ssize(arguments[i].integers));
    InterpreterDevice::launch(program, arguments, begin, end);
  }
};

TEST_P(CellPerItem, HasRacesWhereStagesDoNotWait) {
  const int dim = test::box_dimension(GetParam()), several_chunks = dim == 1 ? 40 : 5;
  test::Problem problem(test::box(GetParam(), dim == 3 ? 0 : several_chunks), 1, 0, {.batches_per_chunk = 1});
  const auto form = problem.form("inner(grad(u), grad(v))*dx");
  for (const char* keys : {"vector_width=1", "vector_width=2"}) {
    op::OperatorOptions options = test::planned();
    options.shared_device = std::make_shared<ImpatientDevice>();
    options.plan = fmt::format("mapping=cell_per_item scatter=coloured contraction=dense {}", keys);
    try {
      (void)action(form, options);
      ADD_FAILURE() << "no race with " << keys;
    } catch (const base::InternalError& error) {
      EXPECT_NE(std::string(error.what()).find("of output_vector_0"), std::string::npos) << error.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(every_shape, CellPerItem, ::testing::ValuesIn(test::box_shapes()),
                         [](const auto& shape) { return shape.param; });

/// Expects the same bits of a plan of items as of one of the host.
void expect_same_bits(const form::Form& form, const std::string& of_host, const std::string& of_items) {
  op::OperatorOptions options = test::planned();
  options.shared_device = std::make_shared<test::InterpreterDevice>();
  options.plan = of_host;
  const auto expected = action(form, options);
  options.plan = of_items;
  EXPECT_EQ(action(form, options), expected);
}

TEST(CellPerItemSums, ByColoursHaveTheSameBitsAsThoseOfOneHostThread) {
  test::Problem problem(test::scrambled(test::box("tetrahedron"), 2), 2, 0);
  problem.with("kappa", 0.7);
  expect_same_bits(problem.form("inner(grad(u), grad(v))*dx"), "mapping=plain contraction=dense",
                   "mapping=cell_per_item scatter=coloured contraction=dense");
}

TEST(CellPerItemSums, OfLanesByColoursHaveTheBitsOfHostLanes) {
  test::Problem problem(test::scrambled(test::box("hexahedron", 5), 2), 2, 0);
  expect_same_bits(problem.form("inner(grad(u), grad(v))*dx"), "mapping=simd_cells",
                   "mapping=cell_per_item vector_width=8 scatter=coloured");
}

TEST(CellPerItemSums, OfLanesAreAtomicBetweenGroups) {
  test::Problem problem(test::box("hexahedron", 7), 1, 0); // more batches than a group takes, the last one not full
  const auto form = problem.form("inner(grad(u), grad(v))*dx");
  op::OperatorOptions options = test::planned();
  options.shared_device = std::make_shared<FaultyDevice>(" atomic");
  options.plan = "mapping=cell_per_item vector_width=8";
  EXPECT_THROW((void)action(form, options), base::InternalError);
}

TEST(CellPerItemSums, InTwoPassesKeepTheirBitsWhateverTheOrderOfGroups) {
  for (const int components : {0, 3}) {
    Problem problem(test::scrambled(test::box("hexahedron"), 2), 2, components);
    problem.with("kappa", 0.7);
    const auto form = problem.form("inner(grad(u), grad(v))*dx + inner(u, v)*ds(1)");
    op::OperatorOptions options = test::planned();
    options.shared_device = std::make_shared<test::InterpreterDevice>();
    options.plan = "mapping=plain contraction=dense";
    const auto expected = action(form, options);
    options.plan = "mapping=cell_per_item scatter=two-pass contraction=dense"; // the interpreter takes both orders
    const auto found = action(form, options);
    EXPECT_EQ(action(form, options), found);
    EXPECT_LE(test::distance(found, expected), 1e-12 * test::largest(expected));
  }
}

} // namespace
