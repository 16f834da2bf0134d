// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/fused_cells.hpp>

#include <algorithm>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <rafter/schedule/nest_loops.hpp>
#include <rafter/schedule/place_arrays.hpp>
#include <rafter/schedule/point_stage.hpp>

namespace rafter::schedule {

namespace {

/// Statements of the QFunction inside the loop over the points of a line.
int num_statements_at_points(const LoweringInput& input, const Plan& plan, CellPlace cell_place,
                             bool has_points_in_lanes) {
  Context scratch(input, plan, {.cell_place = cell_place});
  if (has_points_in_lanes) scratch.parallel_axis = ParallelAxis::point;
  PointStage stage(scratch, {[&](const kernel::InputSlot&) { return scratch.load("any", variable("q0")); },
                             [&](std::size_t, NodePtr value, Statements& to) {
                               to.push_back(store("any", variable("q0"), std::move(value)));
                             }});
  Statements outside, at_points;
  stage.at_cell(outside);
  stage.at_axis(1, outside);
  stage.at_point(at_points);
  return static_cast<int>(at_points.size());
}

class FusedSchedule {
public:
  /// `points_in_lanes`: number of lanes where points stand there; 0: cells do.
  FusedSchedule(const LoweringInput& input, const Plan& plan, CellPlace cell_place, const CollocatedStages& stages,
                int points_in_lanes)
      : program_(*input.program), plan_(plan), stages_(stages), points_in_lanes_(points_in_lanes),
        last_(program_.tdim - 1) {
    is_unrolled_ = has_unrolled_lines(input, plan, cell_place, points_in_lanes);
    result_.cell_place = cell_place;
    place_lines();
    if (points_in_lanes_ > 0) place_dofs();
  }

  Schedule run() && {
    const bool has_integrals = kernel::has_output(program_.function, kernel::OutputKind::integral);
    auto& all = result_.nest.body;
    if (has_integrals) all.emplace_back(Do{.action = Do::Action::begin_integrals});
    for (const auto& field : stages_.fields)
      all.emplace_back(Do{.step = field.reading, .to = in_lanes_of_cells(field.dofs)});
    Nest of_cell;
    for (const auto& field : stages_.fields) interpolate(field, of_cell);
    evaluate(of_cell);
    if (points_in_lanes_ > 0) {
      for (const auto& result : stages_.results) integrate(result, of_cell);
      of_cell.loops = {{{}, LoopPlace::cells}};
      all.emplace_back(std::move(of_cell));
    } else
      std::ranges::move(of_cell.body, std::back_inserter(all));
    for (const auto& result : stages_.results) {
      if (points_in_lanes_ == 0) integrate(result, result_.nest);
      const int dofs = program_.step(result.writing).source, in_lanes = in_lanes_of_cells(dofs);
      if (in_lanes >= 0)
        all.emplace_back(
            Do{.action = Do::Action::copy, .array = dofs, .from = in_lanes_of_points(dofs), .to = in_lanes});
      all.emplace_back(Do{.step = result.writing, .from = in_lanes});
    }
    if (has_integrals) all.emplace_back(Do{.action = Do::Action::end_integrals});
    place_arrays(program_, plan_, result_, {.has_layers = true, .points_in_lanes = points_in_lanes_});
    return std::move(result_);
  }

private:
  int along_last(const std::array<int, 3>& steps) const { return steps[static_cast<std::size_t>(last_)]; }
  bool has_middle() const { return last_ == 2; } ///< an axis between the first and the last one
  /// What is computed along the first axis at a time: a line, or with points in lanes a layer, so that columns of the
  /// matrices stay in registers.
  bool has_layers_of_lines() const { return points_in_lanes_ > 0 && has_middle(); }

  // --- memories that arrays have beside their own --------------------------------------------------------------------
  int add_memory(Memory memory) {
    result_.memories.push_back(std::move(memory));
    return static_cast<int>(result_.memories.size()) - 1;
  }
  /// What multiplies the values of test functions, on the line before derivatives along it are added.
  void place_lines() {
    Memory lines{.name = "lines", .keeps = {}, .points_in_lanes = points_in_lanes_};
    for (const auto& result : stages_.results)
      if (has_line(result)) lines.places.push_back({result.values});
    if (!lines.places.empty()) lines_ = add_memory(std::move(lines));
  }
  static bool has_line(const ResultSteps& result) { return result.derivatives[0] >= 0 && result.values >= 0; }
  /// Where points stand in lanes, dofs are read and written where cells do, those of results in place of those of
  /// fields; results are turned in between.
  void place_dofs() {
    std::vector<int> memories;
    const auto place = [&](std::size_t number, int array) {
      if (number == memories.size()) // `spare`: for lanes that hold no dof
        memories.push_back(
            add_memory({.name = fmt::format("dofs{}", number), .keeps = {}, .places = {{}}, .spare = 1}));
      result_.memories[static_cast<std::size_t>(memories[number])].places.front().push_back(array);
      in_lanes_of_cells_[array] = memories[number];
    };
    for (std::size_t f = 0; f < stages_.fields.size(); ++f) place(f, stages_.fields[f].dofs);
    for (std::size_t r = 0; r < stages_.results.size(); ++r) {
      const int dofs = program_.step(stages_.results[r].writing).source;
      place(r, dofs);
      in_lanes_of_points_[dofs] = add_memory({.name = fmt::format("by_cells{}", r),
                                              .keeps = {},
                                              .places = {{dofs}},
                                              .points_in_lanes = points_in_lanes_,
                                              .has_cells = true});
    }
  }
  static int found_in(const std::map<int, int>& memories, int array) {
    const auto found = memories.find(array);
    return found == memories.end() ? -1 : found->second;
  }
  int in_lanes_of_cells(int dofs) const { return found_in(in_lanes_of_cells_, dofs); }
  int in_lanes_of_points(int dofs) const { return found_in(in_lanes_of_points_, dofs); }

  // --- nests ---------------------------------------------------------------------------------------------------------
  /// The axes before the last one layer of the last axis at a time, then the last axis column by column.
  void interpolate(const FieldSteps& field, Nest& to) {
    const auto& steps = field.interpolation;
    Nest component = nest_of({over_components(program_, field.dofs)}, {});
    if (!steps.empty()) {
      const Do first{.step = steps[0], .from = in_lanes_of_cells(field.dofs)};
      Nest layer = nest_of({over_axis(program_, field.dofs, last_)}, {});
      if (has_middle()) {
        layer.body.emplace_back(nest_of({over_axis(program_, field.dofs, 1)}, {first}));
        layer.body.emplace_back(nest_of({over_axis(program_, field.values, 0)}, {{.step = steps[1]}}));
      } else
        layer.body.emplace_back(first);
      component.body.emplace_back(std::move(layer));
    } else if (points_in_lanes_ > 0) {
      std::vector<Loop> lines;
      for (int direction = last_; direction > 0; --direction)
        lines.push_back(over_axis(program_, field.dofs, direction));
      component.body.emplace_back(
          nest_of(lines, {{.action = Do::Action::copy, .array = field.dofs, .from = in_lanes_of_cells(field.dofs)}}));
    }
    Nest column = nest_of({over_columns(program_, field.values)}, {});
    if (!steps.empty()) column.body.emplace_back(Do{.step = steps.back()});
    if (const int step = along_last(field.derivatives); step >= 0) column.body.emplace_back(Do{.step = step});
    if (!column.body.empty()) component.body.emplace_back(std::move(column));
    if (!component.body.empty()) to.body.emplace_back(std::move(component));
  }

  Loop over_points(int direction, LoopPlace place = LoopPlace::serial) const {
    return {{program_.point_axes[static_cast<std::size_t>(last_ - direction)]}, place};
  }
  /// Components are written out beside an unrolled QFunction (numbers as indices let the line's memory become
  /// registers), and go in a loop beside a rolled one.
  void add_on_line(int array, const Do& what, Nest& to) const {
    if (is_unrolled_ || program_.num_components(array) == 1)
      to.body.emplace_back(what);
    else
      to.body.emplace_back(nest_of({over_components(program_, array)}, {what}));
  }
  /// Layer by layer, and in it line by line; derivatives along the first axis and their transposes go before and after
  /// each line, or before and after all lines of a layer.
  void evaluate(Nest& to) {
    Nest layer, derivatives, line, transposed;
    const auto add_to_layer = [&](int array, const Do& what) {
      layer.body.emplace_back(nest_of({over_components(program_, array), over_axis(program_, array, 0)}, {what}));
    };
    for (const auto& field : stages_.fields) {
      if (has_middle() && field.derivatives[1] >= 0) add_to_layer(field.values, {.step = field.derivatives[1]});
      if (field.derivatives[0] >= 0)
        add_on_line(field.values, {.step = field.derivatives[0]}, has_layers_of_lines() ? derivatives : line);
    }
    line.body.emplace_back(nest_of({over_points(0, is_unrolled_ ? LoopPlace::unrolled : LoopPlace::serial)},
                                   {{.step = stages_.evaluation, .to = lines_}}));
    for (const auto& result : stages_.results)
      if (result.derivatives[0] >= 0)
        add_on_line(result.total, {.step = result.derivatives[0], .sum = has_line(result) ? lines_ : -1},
                    has_layers_of_lines() ? transposed : line);
    for (auto* part : {&derivatives, &line, &transposed}) {
      if (part->body.empty()) continue;
      part->loops = {over_points(1)};
      layer.body.emplace_back(std::move(*part));
    }
    for (const auto& result : stages_.results)
      if (has_middle() && result.derivatives[1] >= 0) add_to_layer(result.total, {.step = result.derivatives[1]});
    if (!has_middle()) {
      std::ranges::move(layer.body, std::back_inserter(to.body));
      return;
    }
    layer.loops = {over_points(2)};
    to.body.emplace_back(std::move(layer));
  }

  /// The last axis column by column, then the axes before it one layer of the last axis at a time.
  void integrate(const ResultSteps& result, Nest& to) {
    const auto& steps = result.restriction;
    const int into = in_lanes_of_points(program_.step(result.writing).source);
    Nest column = nest_of({over_components(program_, result.total), over_columns(program_, result.total)}, {});
    if (const int step = along_last(result.derivatives); step >= 0)
      column.body.emplace_back(Do{.step = step, .is_in_registers = true});
    if (steps.empty()) {
      if (has_layers_of_lines()) { // weights go by the numbers of points, not by those of vectors
        column.loops.pop_back();
        for (const int direction : {1, 0}) column.loops.push_back(over_axis(program_, result.total, direction));
      }
      column.body.emplace_back(Do{.step = result.weighing, .to = into});
      to.body.emplace_back(std::move(column));
      return;
    }
    column.body.emplace_back(Do{.step = steps[0]});
    to.body.emplace_back(std::move(column));
    const int dofs = program_.step(steps.back()).target;
    const Do last{.step = steps.back(), .to = into};
    Nest layer = nest_of({over_components(program_, dofs), over_axis(program_, dofs, last_)}, {});
    if (has_middle()) {
      layer.body.emplace_back(nest_of({over_axis(program_, result.total, 0)}, {{.step = steps[1]}}));
      layer.body.emplace_back(nest_of({over_axis(program_, dofs, 1)}, {last}));
    } else
      layer.body.emplace_back(last);
    to.body.emplace_back(std::move(layer));
  }

  const kernel::TensorProgram& program_;
  const Plan& plan_;
  const CollocatedStages& stages_;
  int points_in_lanes_, last_;
  bool is_unrolled_ = false;
  Schedule result_;
  int lines_ = -1;                                            ///< memory of lines, if there is one
  std::map<int, int> in_lanes_of_cells_, in_lanes_of_points_; ///< memories of dofs, by array
};

} // namespace

bool has_unrolled_lines(const LoweringInput& input, const Plan& plan, CellPlace cell_place, int points_in_lanes) {
  constexpr int most_statements = 320;
  const int points = input.program->points_along(0),
            in_line = points_in_lanes > 0 ? (points + points_in_lanes - 1) / points_in_lanes : points;
  return num_statements_at_points(input, plan, cell_place, points_in_lanes > 0) * in_line <= most_statements;
}

Schedule schedule_fused(const LoweringInput& input, const Plan& plan, CellPlace cell_place,
                        const CollocatedStages& stages) {
  return FusedSchedule(input, plan, cell_place, stages, 0).run();
}

Schedule schedule_fused_points(const LoweringInput& input, const Plan& plan, const CollocatedStages& stages) {
  return FusedSchedule(input, plan, CellPlace::lanes, stages, plan[key::vector_width]).run();
}

} // namespace rafter::schedule
