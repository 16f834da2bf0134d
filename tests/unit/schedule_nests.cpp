// SPDX-License-Identifier: BSD-3-Clause
// Schedules written by hand, whose nests keep values, halves of lines and sums in registers, compute what the steps of
// their programs compute one after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/schedule/launch_interpreter.hpp>
#include <rafter/schedule/loop_program.hpp>
#include <rafter/schedule/place_arrays.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/schedule.hpp>
#include <rafter/schedule/schedule_lowering.hpp>
#include <rafter/schedule/steps_in_turn.hpp>
#include <rafter/space/index_tables.hpp>
#include <rafter/space/layout.hpp>
#include <tests/support/kernel_forms.hpp>

namespace rafter::test {
namespace {

using kernel::StepKind;
using schedule::CellPlace;
using schedule::Do;
using schedule::Nest;
using schedule::Schedule;

constexpr int cells_of_batch = 8;

/// Runs a schedule on one batch of quadrilaterals that share no unknown.
std::vector<double> results_of(kernel::TensorProgram program, const schedule::Plan& plan, const Schedule& schedule) {
  const auto layout = space::make_broken_layout(program.inputs.front().element);
  program.batches = {.cells_per_batch = cells_of_batch, .patterns = {&layout}};
  schedule::LoweringInput input;
  input.program = &program;
  if (schedule.cell_place == CellPlace::group) input.target = {.has_lanes = false, .has_groups = true};
  const auto loops = schedule::lower(input, plan, schedule);
  schedule::verify(loops);
  const auto size =
      static_cast<std::size_t>(program.inputs.front().components * program.inputs.front().num_dofs() * cells_of_batch);
  std::vector<double> from, to(size, 0.0), map, parameters{0.7}, weights = program.weights;
  for (std::size_t i = 0; i < size; ++i) from.push_back(std::sin(3.0 * static_cast<double>(i)));
  for (std::size_t i = 0; i < std::size_t{6} * cells_of_batch; ++i)
    map.push_back(std::cos(static_cast<double>(i)) + (i / cells_of_batch % 3 == 0 ? 2 : 0));
  std::map<std::string, std::vector<std::int32_t>> integers{{schedule::role::mode, {0, 0}},
                                                            {schedule::role::num_active, {cells_of_batch}},
                                                            {schedule::role::data_rows, {0}},
                                                            {space::role::interior_starts, {0}},
                                                            {space::role::first_touch, {0, 0}}};
  const std::map<std::string, std::vector<double>*> reals{{schedule::role::input_vector, &from},
                                                          {schedule::role::output_vector, &to},
                                                          {schedule::role::map, &map},
                                                          {schedule::role::parameters, &parameters},
                                                          {schedule::role::weights, &weights}};
  std::vector<schedule::Argument> arguments;
  for (const auto& argument : loops.arguments())
    if (argument.type == schedule::Type::integer)
      arguments.push_back({.reals = {}, .integers = integers.at(argument.role)});
    else
      arguments.push_back({.reals = *reals.at(argument.role), .integers = {}});
  if (schedule.cell_place == CellPlace::group)
    schedule::interpret_launch(loops, arguments, 0, 1);
  else
    schedule::interpret(loops, arguments, 0, 1);
  return to;
}

/// Finds the parts of a program, and makes those of a schedule.
class HandWritten {
public:
  explicit HandWritten(const kernel::TensorProgram& program) : program_(program) {
    schedule_.cell_place = CellPlace::lanes;
  }
  const kernel::Step& step(int number) const { return program_.steps[static_cast<std::size_t>(number)]; }
  int num_steps() const { return static_cast<int>(program_.steps.size()); }
  int direction(int number) const { return program_.direction_of(step(number)); }
  int evaluation() const {
    int number = 0;
    while (step(number).kind != StepKind::evaluate) ++number;
    return number;
  }
  bool is_product(int number) const { return program_.contracts(step(number)); }
  /// Says whether a product goes from points to points, as derivatives do.
  bool is_square(int number) const {
    const auto& family = program_.families[static_cast<std::size_t>(step(number).family)];
    return family.rows == family.cols;
  }
  /// A memory of whole arrays, in turn, whose layers lie apart.
  int memory(const std::string& name, std::vector<int> arrays, int layer) {
    schedule_.memories.push_back(
        {.name = name, .space = schedule::Space::work, .keeps = {1, 0}, .places = {std::move(arrays)}, .layer = layer});
    return static_cast<int>(schedule_.memories.size()) - 1;
  }
  /// A nest over the axes of an array but that along a reference axis; -1: over none.
  Nest nest_of(int array, int line, std::vector<Do> what, bool has_components = true) const {
    Nest result;
    if (line >= 0)
      for (const int axis : program_.array(array).axes) {
        const auto& of = program_.axes[static_cast<std::size_t>(axis)];
        const bool is_component = of.kind == kernel::AxisKind::component;
        if (of.direction != line && (has_components || !is_component)) result.loops.push_back({{axis}});
      }
    for (auto& each : what) result.body.emplace_back(each);
    return result;
  }
  void nest(int array, int line, std::vector<Do> what, bool has_components = true) {
    schedule_.nest.body.emplace_back(nest_of(array, line, std::move(what), has_components));
  }
  /// Nests for one component after the other.
  void nest_of_components(int array, std::vector<Nest> nests) {
    Nest result{.loops = {{{program_.array(array).axes.front()}}}, .body = {}};
    for (auto& each : nests) result.body.emplace_back(std::move(each));
    schedule_.nest.body.emplace_back(std::move(result));
  }
  void hold_one_component() { schedule_.memories.back().is_of_component = true; }
  const Schedule& schedule() const { return schedule_; }

private:
  const kernel::TensorProgram& program_;
  Schedule schedule_;
};

/// One component after the other, with halves between interpolation and derivative along the last axis; the sum of the
/// results is read in one memory and left in another, and goes in halves to the transposed interpolation.
Schedule fused(const kernel::TensorProgram& program) {
  HandWritten made(program);
  const int evaluation = made.evaluation();
  std::vector<int> before, derivatives, transposed(2, -1), behind;
  for (int s = 1; s < made.num_steps(); ++s)
    if (made.is_product(s)) {
      if (!made.is_square(s))
        (s < evaluation ? before : behind).push_back(s);
      else if (s < evaluation)
        derivatives.push_back(s);
      else
        transposed[static_cast<std::size_t>(made.direction(s))] = s;
    }
  const int dofs = made.step(0).target, values = made.step(before[1]).target, total = made.step(transposed[0]).target;
  const int layer = 7; // more than a line has
  const int of_values = made.memory("values", {dofs, values}, layer);
  (void)made.memory("partial", {made.step(before[0]).target}, layer);
  made.hold_one_component();
  for (const int s : derivatives) (void)made.memory(fmt::format("d{}", s), {made.step(s).target}, 0);
  for (const int s : transposed) (void)made.memory(fmt::format("f{}", s), {made.step(s).source}, 0);
  const int at_points = made.memory("total", {total}, 0);
  const int summed = made.memory("summed", {total}, layer);
  (void)made.memory("restricted", {made.step(behind[0]).target}, 0);
  (void)made.memory("results", {made.step(behind[1]).target}, 0);
  made.nest(dofs, -1, {{.step = 0, .to = of_values}});
  std::vector<Do> column{{.step = before[1], .to = of_values}}, lines;
  for (const int s : derivatives) (made.direction(s) == 1 ? column : lines).push_back({.step = s});
  made.nest_of_components(
      dofs, {made.nest_of(dofs, 0, {{.step = before[0]}}, false), made.nest_of(values, 1, std::move(column), false)});
  made.nest(values, 0, std::move(lines));
  made.nest(values, 2, {{.step = evaluation}}, false);
  made.nest(total, 0, {{.step = transposed[0], .to = summed, .sum = at_points}});
  made.nest(total, 1, {{.step = transposed[1], .sum = summed, .is_in_registers = true}, {.step = behind[0]}});
  made.nest(made.step(behind[0]).target, 0, {{.step = behind[1]}});
  made.nest(dofs, -1, {{.step = made.num_steps() - 1}});
  return made.schedule();
}

/// Products before the coefficients line by line; coefficients, and the products along the last axis with their sum,
/// column by column in registers.
Schedule separable(const kernel::TensorProgram& program) {
  HandWritten made(program);
  const int evaluation = made.evaluation();
  std::vector<Do> column;
  int result = -1;
  for (const auto& input : program.input_slots) {
    const bool is_known = std::ranges::any_of(column, [&](const Do& what) { return what.array == input.slot.array; });
    if (!is_known) column.push_back({.action = Do::Action::copy, .array = input.slot.array, .is_in_registers = true});
  }
  column.push_back({.step = evaluation});
  for (int s = 0; s < made.num_steps(); ++s) {
    if (s < evaluation) (void)made.memory(fmt::format("a{}", s), {made.step(s).target}, 0);
    if (s < evaluation) made.nest(made.step(s).target, made.is_product(s) ? made.direction(s) : -1, {{.step = s}});
    if (s <= evaluation || made.step(s).kind == StepKind::write) continue;
    column.push_back({.step = s});
    result = made.step(s).target;
  }
  (void)made.memory("result", {result}, 0);
  made.nest(result, 1, std::move(column), false);
  made.nest(result, -1, {{.step = made.num_steps() - 1}});
  return made.schedule();
}

Schedule in_turn(kernel::TensorProgram program, const schedule::Plan& plan, CellPlace cell_place) {
  const auto layout = space::make_broken_layout(program.inputs.front().element);
  program.batches.patterns = {&layout};
  return schedule::steps_in_turn(program, plan, cell_place, 1);
}

TEST(Nests, ComputeWhatStepsInTurnDo) {
  for (const auto contraction : {kernel::Contraction::collocated, kernel::Contraction::separable})
    for (const auto& [text, components] :
         {std::pair{helmholtz(), 0}, std::pair{elasticity(2) + " + inner(u, v)*dx", 2}})
      for (const int degree : {3, 4})
        for (const char* keys : {"even_odd=2", "even_odd=0", "even_odd=5"}) {
          SCOPED_TRACE(fmt::format("{} {} degree {} {}", kernel::name(contraction), text, degree, keys));
          const auto program =
              tensor_program(qfunction(text, element::Shape::quadrilateral, mesh::MapKind::affine, components), degree,
                             degree + 2, contraction, std::max(components, 1));
          const auto plan = schedule::parse_plan(keys);
          const auto expected = results_of(program, plan, in_turn(program, plan, CellPlace::lanes));
          const auto by_hand = contraction == kernel::Contraction::separable ? separable(program) : fused(program);
          const auto found = results_of(program, plan, by_hand);
          double scale = 0;
          for (const double value : expected) scale = std::max(scale, std::fabs(value));
          EXPECT_GT(scale, 0);
          for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12 * scale);
        }
}

/// Each step in a nest of its own over the points or dofs: lines along the first axis across items, which take the
/// lines one after the other.
Schedule lines_in_items(const kernel::TensorProgram& program, const schedule::Plan& plan) {
  Schedule result;
  result.cells = 2;
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const auto& step = program.steps[s];
    const auto& axes = program.array(std::max(step.target >= 0 ? step.target : step.source, 0)).axes;
    Nest nest;
    for (const int axis :
         step.kind == StepKind::evaluate ? program.point_axes : std::vector<int>(axes.begin() + 1, axes.end())) {
      const bool is_in_items = program.axis(axis).direction == 0;
      nest.loops.push_back({{axis}, is_in_items ? schedule::LoopPlace::item_x : schedule::LoopPlace::serial});
      if (is_in_items) result.items[0] = std::max(result.items[0], program.extent(axis));
    }
    nest.body.emplace_back(Do{.step = static_cast<int>(s)});
    result.nest.body.emplace_back(std::move(nest));
  }
  schedule::place_arrays(program, plan, result, {});
  return result;
}

TEST(Nests, OverItemsMayHaveLoopsOfTheirOwn) {
  const auto program = tensor_program(qfunction(helmholtz(), element::Shape::quadrilateral, mesh::MapKind::affine), 3,
                                      5, kernel::Contraction::collocated);
  const auto plan = schedule::parse_plan("vector_width=1");
  const auto expected = results_of(program, plan, in_turn(program, plan, CellPlace::in_turn));
  const auto found = results_of(program, plan, lines_in_items(program, plan));
  ASSERT_EQ(found.size(), expected.size());
  EXPECT_GT(std::fabs(expected.front()), 0);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12);
}

TEST(Nests, AreRefusedWithTheReason) {
  const auto program = tensor_program(qfunction(helmholtz(), element::Shape::quadrilateral, mesh::MapKind::affine), 3,
                                      5, kernel::Contraction::collocated);
  const auto complaint = [&](const std::function<void(Schedule&)>& spoil) -> std::string {
    auto schedule = fused(program);
    spoil(schedule);
    try {
      schedule::verify(program, schedule);
    } catch (const base::InternalError& error) {
      return error.what();
    }
    return "";
  };
  const auto nest = [](Schedule& of, std::size_t i) -> Nest& { return std::get<Nest>(of.nest.body.at(i)); };
  EXPECT_EQ(complaint([](Schedule&) {}), "");
  const auto expect = [&](const char* message, const std::function<void(Schedule&)>& spoil) {
    EXPECT_NE(complaint(spoil).find(message), std::string::npos) << message << " / " << complaint(spoil);
  };
  expect("a loop over no axis", [&](Schedule& of) { nest(of, 2).loops.front().axes.clear(); });
  expect("do not stand side by side", [&](Schedule& of) { // the slower axis counted as the faster one
    auto& loops = nest(of, 3).loops;
    loops = {{{loops[1].axes.front(), loops[0].axes.front()}}};
  });
  expect("which is summed", [&](Schedule& of) { // a loop over the dofs of a line that is interpolated
    auto& line = std::get<Nest>(nest(of, 1).body.front());
    const auto& step = program.steps[static_cast<std::size_t>(std::get<Do>(line.body.front()).step)];
    line.loops.push_back({program.families[static_cast<std::size_t>(step.family)].cols});
  });
  expect("overlap in memory values", [&](Schedule& of) { of.memories.front().layer = 4; });
  expect("is added to before it is written", [&](Schedule& of) { std::get<Do>(nest(of, 4).body.front()).sum = -1; });
  expect("is read in another nest than it is made in", [&](Schedule& of) {
    nest(of, 5).body.insert(nest(of, 5).body.begin() + 1, Nest{.loops = {}, .body = {}});
    of.memories.back().places.clear();
    auto& step = std::get<Do>(nest(of, 6).body.front());
    step.is_in_registers = true;
  });
}

} // namespace
} // namespace rafter::test
