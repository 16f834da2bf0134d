// SPDX-License-Identifier: BSD-3-Clause
// Arrays stand in one place in turn where the nests that use them allow it, and memories follow from nests.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <sstream>

#include <rafter/schedule/collocated_stages.hpp>
#include <rafter/schedule/fused_cells.hpp>
#include <rafter/schedule/nest_uses.hpp>
#include <rafter/schedule/place_arrays.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/separable_cells.hpp>
#include <tests/support/kernel_forms.hpp>

namespace rafter::test {
namespace {

using kernel::AxisKind;
using kernel::StepKind;
using schedule::CellPlace;
using schedule::Do;
using schedule::LoopPlace;
using schedule::Memory;
using schedule::Nest;
using schedule::Schedule;

/// Axes, arrays and steps of the program below, by their numbers.
struct Small {
  enum Axes { c, j, i, dof };
  enum Arrays { read_at_points, made_at_points, of_dofs };
  enum Steps { evaluation, along_line, from_dofs, more_along_line, long_table };
};

/// Two arrays on a grid of 3 x 4 points with two components, and one on 3 x 5 dofs. The QFunction, or a matrix along i,
/// takes the first array to the second one; another matrix takes dofs along i to points.
kernel::TensorProgram small_program() {
  kernel::TensorProgram result;
  result.tdim = 2;
  result.axes = {{"c", AxisKind::component, 2},
                 {"j", AxisKind::point, 3, 1},
                 {"i", AxisKind::point, 4, 0},
                 {"I", AxisKind::dof, 5, 0}};
  result.point_axes = {Small::j, Small::i};
  result.grid = {{0, 1, 2, 3}, {0, 1, 2}};
  result.arrays = {{"a", {Small::c, Small::j, Small::i}},
                   {"b", {Small::c, Small::j, Small::i}},
                   {"d", {Small::c, Small::j, Small::dof}}};
  const auto matrix = [](int cols, bool is_data) {
    return kernel::ReferenceMatrix{.name = "M",
                                   .rows = 4,
                                   .cols = cols,
                                   .values = std::vector<double>(static_cast<std::size_t>(4 * cols), 1.0),
                                   .is_data = is_data};
  };
  result.matrices = {matrix(4, false), matrix(5, false), matrix(4, true)};
  result.families = {{{Small::i}, {Small::i}, {0}}, {{Small::i}, {Small::dof}, {1}}, {{Small::i}, {Small::i}, {2}}};
  const auto contraction = [](int source, int family, bool accumulate) {
    return kernel::Step{.kind = StepKind::contract,
                        .source = source,
                        .target = Small::made_at_points,
                        .family = family,
                        .accumulate = accumulate};
  };
  result.steps = {{.kind = StepKind::evaluate},
                  contraction(Small::read_at_points, 0, false),
                  contraction(Small::of_dofs, 1, false),
                  contraction(Small::read_at_points, 0, true),
                  contraction(Small::read_at_points, 2, false)};
  result.input_slots = {{{}, {Small::read_at_points, 0}}, {{}, {Small::read_at_points, 1}}};
  result.output_slots = {{Small::made_at_points, 0}, {Small::made_at_points, 1}};
  return result;
}

Nest over(std::vector<schedule::Loop> loops, std::vector<std::variant<Do, Nest>> body) {
  return {.loops = std::move(loops), .body = std::move(body)};
}
Do step(int number) { return {.step = number}; }
Do made(int array) { return {.action = Do::Action::clear, .array = array, .to = 0}; }
Do used(int array) { return {.action = Do::Action::copy, .array = array, .from = 0, .is_in_registers = true}; }

/// Says whether two arrays may stand in one place of a memory, by the uses in a nest.
bool may_share(const Nest& nest, Memory memory = {.name = "m", .keeps = {1, 0}, .places = {}},
               int first = Small::read_at_points) {
  const auto program = small_program();
  memory.places = {{first, Small::made_at_points}};
  Schedule of;
  of.cell_place = CellPlace::lanes;
  of.nest = nest;
  const auto uses = uses_of(program, of);
  const auto uses_in = [&](int array) {
    schedule::UsesOfArray result;
    for (const auto& use : uses)
      if (use.array == array) result.push_back(&use);
    return result;
  };
  return can_stand_in_turn(program, memory, uses_in(first), uses_in(Small::made_at_points));
}

TEST(ArraysInOnePlace, AreNeededOneAfterTheOther) {
  const int a = Small::read_at_points, b = Small::made_at_points;
  EXPECT_TRUE(may_share(over({}, {made(a), step(Small::along_line), used(b)}))) << "lines, written out";
  EXPECT_TRUE(may_share(over({}, {made(a), over({{{Small::c}}, {{Small::j}}}, {step(Small::along_line)}), used(b)})));
  EXPECT_FALSE(may_share(over({}, {made(a), step(Small::along_line), used(a), used(b)})))
      << "read when it is overwritten";
  EXPECT_FALSE(may_share(over({}, {made(a), made(b), step(Small::more_along_line)}))) << "alive together";
  EXPECT_FALSE(may_share(
      over({}, {made(a), over({{{Small::c}}, {{Small::j}}}, {step(Small::along_line), step(Small::more_along_line)}),
                used(b)})));
  // In a nest that has it in registers, an array is not read in memory.
  EXPECT_TRUE(may_share(
      over({}, {made(a),
                over({{{Small::c}}, {{Small::j}}}, {used(a), step(Small::along_line), step(Small::more_along_line)}),
                used(b)})));
}

TEST(ArraysInOnePlace, AreReadBeforeTheyAreOverwrittenByOneStep) {
  const int a = Small::read_at_points, b = Small::made_at_points;
  const auto program_with = [&](Do what) { return over({}, {made(a), what, used(b)}); };
  EXPECT_FALSE(may_share(program_with(step(Small::long_table)))) << "tables go row by row";
  Do rows = step(Small::along_line);
  rows.rows = 2;
  EXPECT_FALSE(may_share(program_with(rows)));
  EXPECT_FALSE(may_share(
      over({}, {made(a), over({{{Small::c}}, {{Small::j}}, {{Small::i}}}, {step(Small::along_line)}), used(b)})))
      << "the next entry of a line needs all that was read";
  Do marched = step(Small::along_line);
  marched.is_marched = true;
  EXPECT_FALSE(
      may_share(over({}, {made(a), made(b), over({{{Small::c}}, {{Small::j}}, {{Small::i}}}, {marched}), used(b)})));
  EXPECT_TRUE(may_share(over({}, {made(a), over({{{Small::j}}, {{Small::i}}}, {step(Small::evaluation)}), used(b)})));
  EXPECT_FALSE(may_share(
      over({}, {made(a), over({{{Small::c}}, {{Small::j}}, {{Small::i}}}, {step(Small::evaluation)}), used(b)})))
      << "each turn takes all components";
}

TEST(ArraysInOnePlace, HaveOtherEntriesInOtherTurns) {
  const int d = Small::of_dofs, b = Small::made_at_points;
  const auto line_by_line = over({}, {made(d), over({{{Small::c}}, {{Small::j}}}, {step(Small::from_dofs)}), used(b)});
  EXPECT_FALSE(may_share(line_by_line, {.name = "m", .keeps = {1, 0}, .places = {}}, d)) << "lines of 5 and of 4";
  EXPECT_TRUE(may_share(line_by_line, {.name = "m", .keeps = {1, 0}, .places = {}, .layer = 5}, d));
  EXPECT_TRUE(may_share(line_by_line, {.name = "m", .keeps = {1, 0}, .places = {}, .layer = 7}, d));
  // Where all is done in a turn, neither lasts; where one does, it needs the index.
  const Memory of_line{.name = "m", .keeps = {0}, .places = {}, .is_of_component = true};
  EXPECT_TRUE(may_share(over({{{Small::c}}, {{Small::j}}}, {made(d), step(Small::from_dofs), used(b)}), of_line, d));
  EXPECT_FALSE(may_share(over({}, {over({{{Small::c}}, {{Small::j}}}, {made(d), step(Small::from_dofs)}), used(b)}),
                         of_line, d));
}

TEST(ArraysInOnePlace, AreThoseOfOneCellOrOfAll) {
  const int a = Small::read_at_points, b = Small::made_at_points;
  const auto cell_by_cell = over({}, {made(a), over({{{}, LoopPlace::cells}}, {step(Small::along_line)}), used(b)});
  Memory memory{.name = "m", .keeps = {1, 0}, .places = {}, .points_in_lanes = 4};
  EXPECT_FALSE(may_share(cell_by_cell, memory)) << "the next cell reads what is overwritten";
  memory.has_cells = true;
  EXPECT_TRUE(may_share(cell_by_cell, memory));
}

TEST(ArraysInOnePlace, AreNotThoseOfItemsThatDoNotWait) {
  const int a = Small::read_at_points, b = Small::made_at_points;
  const std::vector<schedule::Loop> items{{{Small::j}, LoopPlace::item_y}, {{Small::i}, LoopPlace::item_x}};
  const auto at_points =
      over({}, {over(items, {made(a)}), over(items, {step(Small::evaluation)}), over(items, {used(b)})});
  EXPECT_TRUE(may_share(at_points, {.name = "m", .keeps = {}, .places = {}})) << "each item has its own";
  EXPECT_FALSE(may_share(at_points, {.name = "m", .space = schedule::Space::shared, .keeps = {1, 0}, .places = {}}));
  const std::vector<schedule::Loop> in_turns{{{Small::j, Small::i}, LoopPlace::turns}};
  const auto turn_by_turn =
      over({}, {over(in_turns, {made(a)}), over(in_turns, {step(Small::evaluation)}), over(in_turns, {used(b)})});
  EXPECT_FALSE(may_share(turn_by_turn, {.name = "m", .keeps = {}, .places = {}}));
}

/// The lines of a schedule's text that speak of memories.
std::vector<std::string> memories_of(const kernel::TensorProgram& program, const Schedule& of) {
  std::istringstream text(to_string(program, of));
  std::vector<std::string> result;
  for (std::string line; std::getline(text, line);)
    if (line.find("work[") != std::string::npos || line.find("shared[") != std::string::npos) result.push_back(line);
  return result;
}

TEST(PlacedArrays, KeepTheIndicesThatNoLoopAroundAllUsesGives) {
  const auto program = small_program();
  const auto placed = [&](Nest nest, CellPlace place = CellPlace::lanes, bool has_turns = true) {
    Schedule of;
    of.cell_place = place;
    of.nest = std::move(nest);
    schedule::place_arrays(program, schedule::Plan{}, of, {.has_turns = has_turns});
    return memories_of(program, of);
  };
  using Lines = std::vector<std::string>;
  const auto cleared = [](int array) { return Do{.action = Do::Action::clear, .array = array}; };
  EXPECT_EQ(
      placed(over({}, {cleared(Small::read_at_points), over({{{Small::c}}, {{Small::j}}}, {step(Small::along_line)})})),
      Lines{"a0_a: a  work[c j i]"});
  EXPECT_EQ(
      placed(over({{{Small::c}}}, {cleared(Small::read_at_points), over({{{Small::j}}}, {step(Small::along_line)})})),
      Lines{"a0_a: a  work[j i]"});
  // The QFunction takes all components, whatever loops give.
  EXPECT_EQ(placed(over({{{Small::c}}}, {cleared(Small::read_at_points),
                                         over({{{Small::j}}, {{Small::i}}}, {step(Small::evaluation)})})),
            Lines{"a0_a: a  work[c j i]"});
  // What one nest alone makes and uses stands in registers, but not past a nest inside.
  EXPECT_EQ(placed(over({{{Small::j}}}, {step(Small::from_dofs), step(Small::more_along_line)})), Lines{});
  EXPECT_EQ(
      placed(over({{{Small::j}}}, {step(Small::from_dofs), over({{{Small::i}}}, {}), step(Small::more_along_line)})),
      Lines{"a1_b: b  work[c i]"});
}

TEST(PlacedArrays, AreSharedWhereItemsReadWhatOthersWrote) {
  const auto program = small_program();
  const auto placed = [&](std::vector<std::variant<Do, Nest>> nests) {
    Schedule of;
    of.items = {4, 4};
    of.nest = over({}, std::move(nests));
    schedule::place_arrays(program, schedule::Plan{}, of, {.padding = 1});
    return memories_of(program, of);
  };
  const auto cleared = [](int array) { return Do{.action = Do::Action::clear, .array = array}; };
  const std::vector<schedule::Loop> items{{{Small::j}, LoopPlace::item_y}, {{Small::i}, LoopPlace::item_x}},
      crossed{{{Small::j}, LoopPlace::item_x}, {{Small::i}, LoopPlace::item_y}},
      turns{{{Small::j, Small::i}, LoopPlace::turns}};
  using Lines = std::vector<std::string>;
  EXPECT_EQ(placed({over(items, {cleared(Small::read_at_points)}), over(items, {step(Small::evaluation)})}),
            Lines{"a0_a: a  work[c]"});
  EXPECT_EQ(placed({over(items, {cleared(Small::read_at_points)}), over(items, {step(Small::along_line)})}),
            Lines{"a0_a: a  shared[c j i]+1"});
  EXPECT_EQ(placed({over(items, {cleared(Small::read_at_points)}), over(crossed, {step(Small::evaluation)})}),
            Lines{"a0_a: a  shared[c j i]+1"})
      << "another item has these indices";
  EXPECT_EQ(placed({over(turns, {cleared(Small::read_at_points)}), over(turns, {step(Small::evaluation)})}),
            Lines{"a0_a: a  shared[c j i]+1"});
}

TEST(PlacedArrays, StandBeforeMemoriesThatTheScheduleStates) {
  const auto program = small_program();
  Schedule of;
  of.cell_place = CellPlace::lanes;
  of.memories = {{.name = "stated", .keeps = {}, .places = {{Small::read_at_points}}}};
  of.nest = over({}, {Do{.action = Do::Action::clear, .array = Small::read_at_points},
                      over({{{Small::j}}}, {Do{.action = Do::Action::copy, .array = Small::read_at_points, .to = 0},
                                            over({{{Small::c}}}, {Do{.step = Small::along_line, .from = 0}})})});
  schedule::place_arrays(program, schedule::Plan{}, of, {});
  EXPECT_EQ(memories_of(program, of), (std::vector<std::string>{"a0_a: a  work[c j i]", "stated: a  work[c i]"}));
  const auto& nest = std::get<Nest>(of.nest.body[1]);
  EXPECT_EQ(std::get<Do>(of.nest.body[0]).to, 0);
  EXPECT_EQ(std::get<Do>(nest.body[0]).to, 1);
  EXPECT_EQ(std::get<Do>(std::get<Nest>(nest.body[1]).body[0]).from, 1);
}

TEST(PlacedArrays, OfFusedAndSeparableProgramsTakeFewPlaces) {
  const auto of = [](kernel::Contraction contraction) {
    return tensor_program(qfunction(laplace(), element::Shape::hexahedron, mesh::MapKind::affine), 3, 5, contraction);
  };
  const auto collocated = of(kernel::Contraction::collocated);
  schedule::LoweringInput input;
  input.program = &collocated;
  const auto stages = schedule::collocated_stages(collocated);
  ASSERT_TRUE(stages);
  EXPECT_EQ(memories_of(collocated, schedule::schedule_fused(input, schedule::Plan{}, CellPlace::items, *stages)),
            (std::vector<std::string>{"a0_u0_dofs: u0_dofs|u0_1|u0_2|s0  work[c k j i] layers of 25",
                                      "a1_u0_0: u0_0|r0_1  work[j i]", "a4_u0_d0: u0_d0|f0_1  work[c i]",
                                      "a5_u0_d1: u0_d1|f0_2  work[c j i] layers of 25",
                                      "a6_u0_d2: u0_d2|f0_3|r0_2|r0_0  work[c k j i] layers of 25"}));
  const auto separable = of(kernel::Contraction::separable);
  const auto lines =
      memories_of(separable, schedule::schedule_separable(separable, schedule::Plan{}, CellPlace::items));
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.front(), "a0_u0_dofs: u0_dofs|u0_KM  work[c k j i] layers of 16");
}

} // namespace
} // namespace rafter::test
