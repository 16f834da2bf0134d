// SPDX-License-Identifier: BSD-3-Clause
// The stages of collocated programs are found from their steps, and fused schedules keep few arrays of all points.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <variant>

#include <rafter/base/error.hpp>
#include <rafter/schedule/collocated_stages.hpp>
#include <rafter/schedule/context.hpp>
#include <rafter/schedule/fused_cells.hpp>
#include <rafter/schedule/plan.hpp>
#include <tests/support/kernel_forms.hpp>

namespace rafter::test {
namespace {

using element::Shape;
using kernel::Contraction;
using kernel::StepKind;
using schedule::collocated_stages;

kernel::TensorProgram program_of(const std::string& text, Shape shape = Shape::hexahedron,
                                 mesh::MapKind map = mesh::MapKind::affine,
                                 Contraction contraction = Contraction::collocated, int points = 5,
                                 element::QuadratureKind kind = element::QuadratureKind::gauss) {
  return tensor_program(qfunction(text, shape, map), 3, points, contraction, 1, kind);
}

TEST(CollocatedStages, HaveAStepAlongEachAxisInTheOrderInWhichTheyAreDone) {
  const auto program = program_of(helmholtz(), Shape::hexahedron, mesh::MapKind::isoparametric);
  const auto stages = collocated_stages(program);
  ASSERT_TRUE(stages.has_value());
  const auto directions = [&](const std::vector<int>& steps) {
    std::vector<int> result;
    for (const int step : steps) result.push_back(program.direction_of(program.steps[static_cast<std::size_t>(step)]));
    return result;
  };
  ASSERT_EQ(stages->fields.size(), 2U); // the unknown and the geometry
  for (const auto& field : stages->fields) {
    EXPECT_EQ(directions(field.interpolation), (std::vector{0, 1, 2}));
    EXPECT_NE(field.dofs, field.values);
    EXPECT_EQ(directions({field.derivatives.begin(), field.derivatives.end()}), (std::vector{0, 1, 2}));
  }
  EXPECT_TRUE(program.moves(program.step(stages->fields[1].reading), kernel::AccessKind::nodes));
  EXPECT_EQ(program.steps[static_cast<std::size_t>(stages->evaluation)].kind, StepKind::evaluate);
  ASSERT_EQ(stages->results.size(), 1U);
  const auto& result = stages->results.front();
  EXPECT_EQ(result.values, result.total); // derivatives are added to what multiplies the values
  EXPECT_EQ(directions(result.restriction), (std::vector{2, 1, 0}));
  EXPECT_LT(result.weighing, 0);
}

TEST(CollocatedStages, WeighWhereNodesArePoints) {
  const auto program = program_of(laplace(), Shape::quadrilateral, mesh::MapKind::affine, Contraction::collocated, 4,
                                  element::QuadratureKind::gll);
  const auto stages = collocated_stages(program);
  ASSERT_TRUE(stages.has_value());
  EXPECT_EQ(stages->fields.front().dofs, stages->fields.front().values);
  EXPECT_TRUE(stages->fields.front().interpolation.empty());
  EXPECT_GE(stages->results.front().weighing, 0);
  EXPECT_LT(stages->results.front().values, 0); // values are not tested
}

TEST(CollocatedStages, AreNotThoseOfOtherPrograms) {
  EXPECT_FALSE(
      collocated_stages(program_of(laplace(), Shape::hexahedron, mesh::MapKind::affine, Contraction::per_derivative)));
  EXPECT_FALSE(collocated_stages(program_of(laplace(), Shape::tetrahedron)));
  auto program = program_of(laplace());
  ASSERT_TRUE(collocated_stages(program));
  const auto contraction = std::ranges::find(program.steps, StepKind::contract, &kernel::Step::kind);
  std::iter_swap(contraction, contraction + 1); // axis 1 before axis 0
  EXPECT_FALSE(collocated_stages(program));
}

TEST(FusedSchedules, KeepTwoArraysOfAllPointsForAField) {
  const auto program = program_of(helmholtz());
  const auto stages = collocated_stages(program);
  ASSERT_TRUE(stages.has_value());
  schedule::LoweringInput input;
  input.program = &program;
  const auto fused = schedule::schedule_fused(input, schedule::Plan{}, schedule::CellPlace::lanes, *stages);
  schedule::verify(program, fused);
  const auto is_of_all_points = [&](const schedule::Memory& memory) { return memory.keeps.size() == 3; };
  EXPECT_EQ(std::ranges::count_if(fused.memories, is_of_all_points), 2);
  const auto lines = std::ranges::find(fused.memories, "lines", &schedule::Memory::name);
  ASSERT_NE(lines, fused.memories.end()); // where the QFunction leaves what multiplies values
  EXPECT_EQ(lines->places, (std::vector<std::vector<int>>{{stages->results.front().values}}));
  EXPECT_EQ(lines->keeps, std::vector{0});
  const auto with_points = schedule::schedule_fused_points(input, schedule::Plan{}, *stages);
  schedule::verify(program, with_points);
  // Dofs with cells in lanes, and results of all cells before they are turned, have memories of their own.
  EXPECT_EQ(std::ranges::count_if(with_points.memories, is_of_all_points), 4);
}

TEST(FusedSchedules, WithArraysThatOverwriteWhatLaterTurnsReadAreRefused) {
  const auto program = program_of(helmholtz());
  const auto stages = collocated_stages(program);
  ASSERT_TRUE(stages.has_value());
  schedule::LoweringInput input;
  input.program = &program;
  auto fused = schedule::schedule_fused(input, schedule::Plan{}, schedule::CellPlace::lanes, *stages);
  ASSERT_NO_THROW(schedule::verify(program, fused));
  // The lines that the first contraction makes are longer than those that it reads: in their place the first one would
  // reach into the second one.
  const auto& field = stages->fields.front();
  const int lines = program.steps[static_cast<std::size_t>(field.interpolation.front())].target;
  for (auto& memory : fused.memories)
    for (auto& place : memory.places) std::erase(place, lines);
  fused.memories[static_cast<std::size_t>(schedule::memory_of(fused, field.dofs))].places.front().push_back(lines);
  try {
    schedule::verify(program, fused);
    FAIL() << "accepted";
  } catch (const base::InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("u0_dofs and u0_0 cannot stand in turn"), std::string::npos)
        << error.what();
  }
}

schedule::Nest& innermost(schedule::Nest& of) {
  for (auto& entry : of.body)
    if (auto* nest = std::get_if<schedule::Nest>(&entry)) return innermost(*nest);
  return of;
}

TEST(FusedSchedules, WithPointsInLanesAreRefusedWithTheReason) {
  const auto program = tensor_program(qfunction(variable_helmholtz(), Shape::quadrilateral, mesh::MapKind::multilinear),
                                      3, 5, Contraction::collocated);
  const auto stages = collocated_stages(program);
  ASSERT_TRUE(stages.has_value());
  schedule::LoweringInput input;
  input.program = &program;
  const auto complaint = [&](const std::function<void(schedule::Schedule&)>& spoil) -> std::string {
    auto made = schedule::schedule_fused_points(input, schedule::Plan{}, *stages);
    spoil(made);
    try {
      schedule::verify(program, made);
    } catch (const base::InternalError& error) {
      return error.what();
    }
    return "";
  };
  const auto memory = [](schedule::Schedule& of, const char* name) -> schedule::Memory& {
    return *std::ranges::find(of.memories, name, &schedule::Memory::name);
  };
  const auto last_copy = [](schedule::Schedule& of) -> schedule::Do& {
    return std::get<schedule::Do>(of.nest.body[of.nest.body.size() - 2]);
  };
  EXPECT_EQ(complaint([](schedule::Schedule&) {}), "");
  const auto expect = [&](const char* message, const std::function<void(schedule::Schedule&)>& spoil) {
    EXPECT_NE(complaint(spoil).find(message), std::string::npos) << message << " / " << complaint(spoil);
  };
  const char* no_cells = "a loop over the cells of a sub-batch where none";
  expect(no_cells, [](auto& of) { of.subbatches = 2; });
  expect(no_cells, [](auto& of) { of.cell_place = schedule::CellPlace::in_turn; });
  expect("has cells, but no points in lanes", [&](auto& of) { memory(of, "by_cells0").points_in_lanes = 0; });
  const auto derivative = std::ranges::find_if(program.arrays, [](const auto& array) { return array.name == "u0_d1"; });
  const std::string last = schedule::array_name(program, static_cast<int>(derivative - program.arrays.begin()));
  expect("hold something else", [&](auto& of) {
    memory(of, last.c_str()).points_in_lanes = 0;
    memory(of, last.c_str()).layer = 100; // enough for numbers
  });
  expect("hold something else", [&](auto& of) { memory(of, "dofs0").points_in_lanes = 8; });
  expect("cannot be turned", [&](auto& of) { memory(of, "dofs0").spare = 0; });
  expect("cannot be turned", [&](auto& of) { memory(of, "by_cells0").has_cells = false; });
  expect("names no memory", [&](auto& of) { last_copy(of).to = -1; });
  expect("unknown component", [&](auto& of) { last_copy(of).component = 1; });
  expect("whose indices no loop of their own gives", [&](auto& of) {
    auto& of_cell = std::get<schedule::Nest>(of.nest.body[1]);
    for (auto& entry : of_cell.body)
      if (auto& nest = innermost(std::get<schedule::Nest>(entry)); schedule::evaluates(program, nest))
        nest.loops.clear();
  });
}

} // namespace
} // namespace rafter::test
