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

/// Adds an axis of facets.
int add_facets(TensorProgram& p, int extent) {
  p.axes.push_back({"f", AxisKind::facet, extent});
  return p.facet_axis = static_cast<int>(p.axes.size()) - 1;
}

/// Adds a step that changes the first array along an axis in place.
void in_place(TensorProgram& p, FamilyKind kind, int axis, int member) {
  p.families.push_back({.rows = {axis}, .cols = {axis}, .members = {member}, .kind = kind});
  p.steps.push_back(
      {.kind = StepKind::contract, .source = 0, .target = 0, .family = static_cast<int>(p.families.size()) - 1});
}

const std::vector<VerifierCase>& verifier_cases() {
  static const std::vector<VerifierCase> list{
      {"read_left_out", "is read before it is written", [](auto& p) { erase(p, StepKind::read); }},
      {"nodes_left_out", "is read before it is written",
       [](auto& p) { std::erase_if(p.steps, [&](const Step& of) { return p.moves(of, AccessKind::nodes); }); }},
      {"evaluation_left_out", "is read before it is written", [](auto& p) { erase(p, StepKind::evaluate); }},
      {"access_to_a_field_too_many", "access to an unknown field", [](auto& p) { p.accesses.front().field = 1; }},
      {"access_to_field_minus_one", "access to an unknown field", [](auto& p) { p.accesses.front().field = -1; }},
      {"read_by_no_access", "unknown access", [](auto& p) { step(p, StepKind::read).access = -1; }},
      {"read_by_an_access_too_many", "unknown access", [](auto& p) { step(p, StepKind::read).access = 9; }},
      {"read_of_an_output", "an access goes the other way",
       [](auto& p) { step(p, StepKind::read).access = step(p, StepKind::write).access; }},
      {"read_into_nothing", "array -1 does not exist", [](auto& p) { step(p, StepKind::read).target = -1; }},
      {"read_into_points", "the dofs do not fit",
       [](auto& p) { step(p, StepKind::read).target = p.input_slots[0].slot.array; }},
      {"nodes_without_element", "geometry nodes without an element", [](auto& p) { p.geometry = nullptr; }},
      {"write_of_nodes", "an access goes the other way",
       [](auto& p) { step(p, StepKind::write).access = step(p, StepKind::read).access; }},
      {"weights_of_other_axes", "the weights do not fit",
       [](auto& p) { in_place(p, FamilyKind::weights, p.arrays[0].axes.back(), 0); }},
      {"butterfly_of_an_unknown_folding", "unknown folding",
       [](auto& p) { in_place(p, FamilyKind::butterflies, p.arrays[0].axes.back(), 3); }},
      {"butterfly_of_other_points", "the folding does not fit",
       [](auto& p) {
         p.foldings.emplace_back();
         in_place(p, FamilyKind::butterflies, p.arrays[0].axes.back(), 0);
       }},
      {"weights_into_another_array", "changes",
       [](auto& p) {
         in_place(p, FamilyKind::weights, p.arrays[0].axes.back(), 0);
         p.steps.back().target = 1;
       }},
      {"write_of_an_unknown_array", "array 99 does not exist", [](auto& p) { step(p, StepKind::write).source = 99; }},
      {"write_of_points", "the dofs do not fit",
       [](auto& p) { step(p, StepKind::write).source = p.input_slots[0].slot.array; }},
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
      {"unknown_axis_of_facets", "the axis of facets does not exist", [](auto& p) { p.facet_axis = 99; }},
      {"facets_of_another_kind", "is the axis of facets and does not count them", [](auto& p) { p.facet_axis = 0; }},
      {"second_axis_of_facets", "or the reverse",
       [](auto& p) {
         p.axes.push_back({"f", AxisKind::facet, 1});
       }},
      {"array_by_facet", "has the axis of facets", [](auto& p) { p.arrays[0].axes.push_back(add_facets(p, 1)); }},
      {"weights_of_one_facet", "one weight per point", [](auto& p) { add_facets(p, 2); }},
      {"matrices_of_facets_apart", "do not follow each other",
       [](auto& p) {
         family(p).index = {add_facets(p, 2)};
         family(p).members = {0, 0};
       }},
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
  for (const char* word : {"read", "= nodes", "contract", "evaluate", "write output 0"})
    EXPECT_NE(text.find(word), std::string::npos) << word;
  for (const auto& array : program.arrays) EXPECT_NE(text.find("array " + array.name), std::string::npos);
}

} // namespace
} // namespace rafter::kernel
