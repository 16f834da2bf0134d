// SPDX-License-Identifier: BSD-3-Clause
// The loop programs of every mapping on every shape can be printed and read back, pass the verifier, and use what they
// declare.
#include <gtest/gtest.h>

#include <set>

#include <rafter/base/error.hpp>
#include <rafter/kernel/tensor_program.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/linear_form.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/schedule/counts.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <tests/support/operator_problems.hpp>
#include <tests/support/text_device.hpp>

namespace rafter::test {
namespace {

struct Printed {
  std::string name, text;
};

TEST(Lowering, BatchesThatAreNoGroupsOfLanesAreRefused) {
  schedule::Plan plan;
  kernel::TensorProgram program;
  schedule::LoweringInput input;
  input.program = &program;
  for (const int cells_per_batch : {4, 12, 20}) {
    program.batches.cells_per_batch = cells_per_batch;
    EXPECT_THROW((void)schedule::lower(input, plan), base::InternalError) << cells_per_batch;
  }
  plan.set(schedule::key::vector_width, 4).set(schedule::key::subbatches, 4);
  program.batches.cells_per_batch = 8;
  EXPECT_THROW((void)schedule::lower(input, plan), base::InternalError);
}

/// Returns the texts of all kernels of these forms on straight and curved cells and on facets.
std::vector<Printed> programs(const std::string& shape, const std::string& plan) {
  std::vector<Printed> result;
  for (const int geometry_degree : {1, 2}) {
    for (const bool is_vector : {false, true}) {
      const auto mesh = geometry_degree == 1 ? scrambled(box(shape), 1) : curved_box(shape, 2);
      const int dim = mesh.gdim;
      Problem problem(mesh, 3, is_vector ? dim : 0);
      problem.with("kappa", 0.7);
      const std::string text = is_vector ? elasticity_form(dim) + " + inner(u, v)*ds(1)"
                                         : "((1 + exp(x[0]))*inner(grad(u), grad(v)) + kappa*u*v)*dx + kappa*u*v*ds";
      const op::OperatorOptions options = planned({.shared_device = std::make_shared<TextDevice>(), .plan = plan});
      const op::Operator A(problem.form(text), options);
      for (const auto& info : A.kernels().info()) result.push_back({plan + " " + info.name, info.loop_program});
      const op::LinearForm b(problem.form(is_vector ? "v[0]*x[0]*dx" : "exp(x[0])*v*dx"), problem.system(), options);
      for (const auto& info : b.kernels().info()) result.push_back({plan + " linear " + info.name, info.loop_program});
    }
  }
  return result;
}

class Programs : public ::testing::TestWithParam<std::string> {
protected:
  template <class Check> void for_all(const Check& check) const {
    int number = 0;
    for (const auto& mapping : schedule::mapping_names(schedule::Target()))
      for (const char* rest : {" contraction=dense", " contraction=dense vector_width=2 subbatches=4 unroll=0",
                               " contraction=collocated vector_width=4", " contraction=per-derivative even_odd=0"})
        for (const auto& printed : programs(GetParam(), "mapping=" + mapping + rest)) {
          SCOPED_TRACE(printed.name);
          check(schedule::read(printed.text), printed.text);
          ++number;
        }
    EXPECT_GT(number, 0);
  }
};

void collect(const schedule::NodePtr& node, std::set<std::string>& buffers) {
  using schedule::Kind;
  if (node->kind == Kind::load || node->kind == Kind::iload || node->kind == Kind::store || node->kind == Kind::add)
    buffers.insert(node->name);
  for (const auto& operand : node->operands) collect(operand, buffers);
}

TEST_P(Programs, ReadBackFromTheirTextTheyAreTheSame) {
  for_all([](const schedule::LoopProgram& program, const std::string& text) {
    schedule::verify(program);
    EXPECT_EQ(schedule::print(program), text);
    const auto again = schedule::read(schedule::print(program));
    EXPECT_EQ(again.name, program.name);
    EXPECT_EQ(again.vector_width, program.vector_width);
    EXPECT_EQ(again.buffers, program.buffers);
    const auto counts = schedule::count(program), same = schedule::count(again);
    EXPECT_EQ(counts.flops, same.flops);
    EXPECT_EQ(counts.global.read_bytes, same.global.read_bytes);
    EXPECT_EQ(counts.global.written_bytes, same.global.written_bytes);
  });
}

TEST_P(Programs, EveryArgumentHasARoleAndEveryConstantIsUsed) {
  for_all([](const schedule::LoopProgram& program, const std::string&) {
    std::set<std::string> used;
    collect(program.body, used);
    for (const auto& buffer : program.buffers) {
      if (buffer.space == schedule::Space::global) {
        EXPECT_NE(buffer.role, "") << buffer.name;
      }
      if (buffer.space == schedule::Space::constant) {
        EXPECT_TRUE(used.contains(buffer.name)) << buffer.name;
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(every_shape, Programs, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

TEST(Mappings, HaveNamesAndDescriptions) {
  std::set<std::string> names;
  for (const auto& mapping : schedule::mappings()) {
    EXPECT_TRUE(names.insert(mapping.name).second) << mapping.name;
    EXPECT_NE(mapping.description, "");
  }
  EXPECT_TRUE(names.contains("plain")); // this mapping accepts every program
}

} // namespace
} // namespace rafter::test
