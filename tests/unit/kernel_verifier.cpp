// SPDX-License-Identifier: BSD-3-Clause
// The verifier of tensor programs refuses every class of malformed program with a message that names it.
#include <gtest/gtest.h>

#include <functional>

#include <rafter/base/error.hpp>
#include <tests/support/kernel_forms.hpp>

namespace rafter::kernel {
namespace {

using element::Shape;
using mesh::MapKind;

TensorProgram good_program() {
  return test::tensor_program(test::qfunction(test::helmholtz(), Shape::hexahedron, MapKind::isoparametric), 2, 4,
                              Contraction::collocated);
}

std::string complaint(const TensorProgram& program) {
  try {
    program.verify();
  } catch (const base::InternalError& error) {
    return error.what();
  }
  return "";
}

struct VerifierCase {
  const char* name;
  const char* message;
  std::function<void(TensorProgram&)> spoil;
};

void erase(TensorProgram& p, StepKind kind) {
  p.steps.erase(p.steps.begin() + static_cast<std::ptrdiff_t>(test::first(p, kind)));
}
Step& step(TensorProgram& p, StepKind kind) { return p.steps[test::first(p, kind)]; }

/// The family of the first contraction.
MatrixFamily& family(TensorProgram& p) {
  return p.families[static_cast<std::size_t>(step(p, StepKind::contract).family)];
}

const std::vector<VerifierCase>& verifier_cases() {
  static const std::vector<VerifierCase> list{
      {"gather_left_out", "is read before it is written", [](auto& p) { erase(p, StepKind::gather); }},
      {"nodes_left_out", "is read before it is written", [](auto& p) { erase(p, StepKind::load_nodes); }},
      {"evaluation_left_out", "is read before it is written", [](auto& p) { erase(p, StepKind::evaluate); }},
      {"gather_of_a_field_too_many", "gather of an unknown field",
       [](auto& p) { step(p, StepKind::gather).field = 1; }},
      {"gather_of_field_minus_one", "gather of an unknown field",
       [](auto& p) { step(p, StepKind::gather).field = -1; }},
      {"gather_into_nothing", "array -1 does not exist", [](auto& p) { step(p, StepKind::gather).target = -1; }},
      {"gather_into_points", "the dofs do not fit",
       [](auto& p) { step(p, StepKind::gather).target = p.input_slots[0].slot.array; }},
      {"nodes_without_element", "geometry nodes without an element", [](auto& p) { p.geometry = nullptr; }},
      {"scatter_to_an_unknown_field", "scatter to an unknown field",
       [](auto& p) { step(p, StepKind::scatter).field = 7; }},
      {"scatter_of_an_unknown_array", "array 99 does not exist",
       [](auto& p) { step(p, StepKind::scatter).source = 99; }},
      {"scatter_of_points", "the dofs do not fit",
       [](auto& p) { step(p, StepKind::scatter).source = p.input_slots[0].slot.array; }},
      {"unknown_family", "unknown family", [](auto& p) { step(p, StepKind::contract).family = 50; }},
      {"no_family", "unknown family", [](auto& p) { step(p, StepKind::contract).family = -1; }},
      {"unknown_matrix", "unknown matrix", [](auto& p) { family(p).members[0] = 50; }},
      {"no_matrix", "unknown matrix", [](auto& p) { family(p).members[0] = -1; }},
      {"contraction_of_components", "a contraction of axes that",
       [](auto& p) { family(p).cols = {p.array(step(p, StepKind::contract).source).axes.front()}; }},
      {"contraction_of_no_axis", "a contraction of axes that", [](auto& p) { family(p).cols.clear(); }},
      {"contraction_of_other_axes", "a contraction of axes that", [](auto& p) { family(p).cols = p.point_axes; }},
      {"contraction_to_other_axes", "a contraction does not fit",
       [](auto& p) {
         p.axes.push_back({"other", AxisKind::dof, p.matrix_of(step(p, StepKind::contract)).rows, 0});
         family(p).rows = {static_cast<int>(p.axes.size()) - 1};
       }},
      {"axis_that_does_not_exist", "does not exist", [](auto& p) { p.arrays[0].axes.back() = 99; }},
      {"array_without_components", "does not count components",
       [](auto& p) { std::ranges::reverse(p.arrays[0].axes); }},
      {"empty_axis", "is empty", [](auto& p) { p.axes[0].extent = 0; }},
      {"axis_of_the_points_too_few", "one axis along each direction", [](auto& p) { p.point_axes.pop_back(); }},
      {"coordinate_too_few", "one coordinate per point", [](auto& p) { p.grid[0].pop_back(); }},
      {"contraction_of_nothing", "array -1 does not exist", [](auto& p) { step(p, StepKind::contract).source = -1; }},
      {"matrix_of_other_columns", "does not fit",
       [](auto& p) {
         auto& matrix = p.matrices[static_cast<std::size_t>(family(p).members[0])];
         matrix.cols += 1;
         matrix.values.resize(static_cast<std::size_t>(matrix.rows * matrix.cols));
       }},
      {"matrix_of_other_rows", "does not fit",
       [](auto& p) {
         auto& matrix = p.matrices[static_cast<std::size_t>(family(p).members[0])];
         matrix.rows += 1;
         matrix.values.resize(static_cast<std::size_t>(matrix.rows * matrix.cols));
       }},
      {"matrix_without_values", "needs one value per entry", [](auto& p) { p.matrices[0].values.pop_back(); }},
      {"sum_into_an_unwritten_array", "is read before it is written",
       [](auto& p) { step(p, StepKind::contract).accumulate = true; }},
      {"weights_missing", "one weight per point", [](auto& p) { p.weights.pop_back(); }},
      {"output_without_slot", "one slot per output", [](auto& p) { p.output_slots.pop_back(); }},
      {"input_slot_of_no_array", "array 99 does not exist", [](auto& p) { p.input_slots[0].slot.array = 99; }},
      {"component_too_large", "component out of range", [](auto& p) { p.input_slots[0].slot.component = 5; }},
      {"component_negative", "component out of range", [](auto& p) { p.output_slots[0].component = -1; }},
      {"points_behind_the_end", "points out of range", [](auto& p) { p.output_slots[0].slot = 1; }},
      {"atom_without_array", "no array serves", [](auto& p) { p.input_slots.pop_back(); }},
  };
  return list;
}

class Spoilt : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Spoilt, ProgramIsRefusedWithTheReason) {
  auto program = good_program();
  ASSERT_EQ(complaint(program), "");
  const auto& spoilt = verifier_cases()[GetParam()];
  spoilt.spoil(program);
  const std::string found = complaint(program);
  EXPECT_NE(found.find(spoilt.message), std::string::npos) << "found: '" << found << "'";
}

INSTANTIATE_TEST_SUITE_P(one_by_one, Spoilt, ::testing::Range(std::size_t{0}, verifier_cases().size()),
                         [](const auto& spoilt) { return std::string(verifier_cases()[spoilt.param].name); });

TEST(Merged, FunctionsThatAreNotLinearInTheTrialFunctionAreAFault) {
  auto function = test::qfunction(test::mass(), Shape::triangle, MapKind::affine);
  auto& output = function.outputs[0];
  output.node = function.graph.mul(output.node, output.node);
  EXPECT_THROW(merged(function), base::InternalError);
  EXPECT_THROW(diagonal(function), base::InternalError);
}

TEST(Text, NamesEveryStepAndArray) {
  const auto program = good_program();
  const std::string text = program.to_string();
  for (const char* word : {"gather", "load_nodes", "contract", "evaluate", "scatter"})
    EXPECT_NE(text.find(word), std::string::npos) << word;
  for (const auto& array : program.arrays) EXPECT_NE(text.find("array " + array.name), std::string::npos);
}

} // namespace
} // namespace rafter::kernel
