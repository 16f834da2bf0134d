// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/fused_cells.hpp>

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <rafter/schedule/nest_loops.hpp>
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

/// Memories that arrays of a field take in turn. Those that a field does not need are empty.
struct FieldMemories {
  int dofs = -1;       ///< dofs as they are read and written, that of values or one of its own
  int values = -1;     ///< values in the points
  int by_cells = -1;   ///< points in lanes: results for the dofs, before cells stand in lanes
  int line_value = -1; ///< what multiplies the value of the test function on one line
};

class FusedSchedule {
public:
  /// `points_in_lanes`: number of lanes where points stand there; 0: cells do.
  FusedSchedule(const LoweringInput& input, const Plan& plan, CellPlace cell_place, const CollocatedStages& stages,
                int points_in_lanes)
      : program_(*input.program), stages_(stages), points_in_lanes_(points_in_lanes), last_(program_.tdim - 1) {
    const int points = program_.points_along(0),
              in_line = points_in_lanes > 0 ? (points + points_in_lanes - 1) / points_in_lanes : points;
    int of_layer = has_middle() ? points * in_line : in_line;
    if (points_in_lanes == 0) // dofs stand there, too
      for (const auto& field : stages_.fields)
        of_layer = std::max(of_layer, program_.product_of_extents(over_columns(program_, field.dofs).axes));
    layer_ = padded_layer(plan, cell_place, of_layer);
    // The loop over a line is unrolled where the QFunction is short, so that the line stays in registers.
    is_unrolled_ = num_statements_at_points(input, plan, cell_place, points_in_lanes > 0) * in_line <= 320;
    result_.cell_place = cell_place;
    // The QFunction takes the first memory of an array: what it leaves for a line stands before all of the values.
    for (const auto& result : stages_.results)
      if (result.derivatives[0] >= 0 && result.values >= 0)
        (void)place(of_line(name_of(result) + "_value"), result.values);
    for (std::size_t f = 0; f < stages_.fields.size(); ++f) fields_.push_back(place_field(f));
    for (const auto& result : stages_.results) results_.push_back(place_result(result));
    place_dofs();
  }

  Schedule run() && {
    const bool has_integrals = kernel::has_output(program_.function, kernel::OutputKind::integral);
    auto& all = result_.nest.body;
    if (has_integrals) all.emplace_back(Do{.action = Do::Action::begin_integrals});
    for (std::size_t f = 0; f < fields_.size(); ++f)
      all.emplace_back(Do{.step = stages_.fields[f].reading, .to = fields_[f].dofs});
    Nest of_cell;
    for (std::size_t f = 0; f < fields_.size(); ++f) interpolate(stages_.fields[f], fields_[f], of_cell);
    evaluate(of_cell);
    if (points_in_lanes_ > 0) {
      for (std::size_t r = 0; r < results_.size(); ++r) integrate(stages_.results[r], results_[r], of_cell);
      of_cell.loops = {{{}, LoopPlace::cells}};
      all.emplace_back(std::move(of_cell));
    } else
      std::ranges::move(of_cell.body, std::back_inserter(all));
    for (std::size_t r = 0; r < results_.size(); ++r) {
      if (points_in_lanes_ == 0) integrate(stages_.results[r], results_[r], result_.nest);
      const int writing = stages_.results[r].writing;
      if (results_[r].by_cells >= 0)
        all.emplace_back(Do{.action = Do::Action::copy,
                            .array = program_.steps[static_cast<std::size_t>(writing)].source,
                            .from = results_[r].by_cells,
                            .to = results_[r].dofs});
      all.emplace_back(Do{.step = writing, .from = results_[r].dofs});
    }
    if (has_integrals) all.emplace_back(Do{.action = Do::Action::end_integrals});
    return std::move(result_);
  }

private:
  int target(int step) const { return program_.steps[static_cast<std::size_t>(step)].target; }
  int source(int step) const { return program_.steps[static_cast<std::size_t>(step)].source; }
  int along_last(const std::array<int, 3>& steps) const { return steps[static_cast<std::size_t>(last_)]; }
  bool has_middle() const { return last_ == 2; } ///< an axis between the first and the last one

  // --- memories -----------------------------------------------------------------------------------------------------
  /// Puts an array into the memory of this name, whose arrays stand there in turn: its number.
  int place(Memory like, int array) {
    auto known = std::ranges::find(result_.memories, like.name, &Memory::name);
    if (known == result_.memories.end()) {
      like.places = {{}};
      known = result_.memories.insert(known, std::move(like));
    }
    known->places.front().push_back(array);
    return static_cast<int>(known - result_.memories.begin());
  }
  Memory of_volume(std::string name) const {
    return {.name = std::move(name),
            .keeps = has_middle() ? std::vector{2, 1, 0} : std::vector{1, 0},
            .layer = layer_,
            .points_in_lanes = points_in_lanes_};
  }
  Memory of_layer(std::string name, int distance) const {
    return {.name = std::move(name), .keeps = {1, 0}, .layer = distance, .points_in_lanes = points_in_lanes_};
  }
  /// What is computed along the first axis at a time: a line, or with points in lanes a layer, so that columns of the
  /// matrices stay in registers.
  bool has_layers_of_lines() const { return points_in_lanes_ > 0 && has_middle(); }
  Memory of_line(const std::string& name) const {
    auto result = of_layer(name, 0);
    if (!has_layers_of_lines()) result.keeps = {0};
    return result;
  }
  /// Dofs stand in the memories of values, or where points stand in lanes, in memories of their own in which cells do.
  void place_dofs() {
    const auto at_values = [&](const FieldMemories& memories, int array) {
      auto& arrays = result_.memories[static_cast<std::size_t>(memories.values)].places.front();
      if (std::ranges::find(arrays, array) == arrays.end()) arrays.push_back(array);
      return memories.values;
    };
    const auto in_lanes_of_cells = [&](const std::string& name, int array) {
      Memory memory = of_volume(name + "_dofs");
      memory.layer = memory.points_in_lanes = 0;
      memory.spare = 1; // for lanes that hold no dof
      return place(std::move(memory), array);
    };
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      const int dofs = stages_.fields[f].dofs;
      fields_[f].dofs =
          points_in_lanes_ == 0 ? at_values(fields_[f], dofs) : in_lanes_of_cells(fmt::format("u{}", f), dofs);
    }
    for (std::size_t r = 0; r < results_.size(); ++r) {
      const int dofs = source(stages_.results[r].writing);
      const std::string name = name_of(stages_.results[r]);
      if (points_in_lanes_ == 0) {
        results_[r].dofs = at_values(results_[r], dofs);
        continue;
      }
      results_[r].dofs = in_lanes_of_cells(name, dofs);
      Memory memory = of_volume(name + "_by_cells");
      memory.layer = 0;
      memory.has_cells = true;
      results_[r].by_cells = place(std::move(memory), dofs);
    }
  }
  /// Arrays between dofs and points, which one contraction and all but one leave behind or start from.
  void place_between(const std::string& name, int plane, int partial, bool has_last) {
    if (has_middle()) {
      auto memory = of_layer("plane", 0);
      memory.is_of_component = true;
      (void)place(std::move(memory), plane);
    }
    (void)place(of_volume(name + (has_last ? "_last" : "_values")), partial);
  }
  void place_derivatives(const std::string& name, const std::string& line, const std::array<int, 3>& arrays) {
    if (arrays[0] >= 0) (void)place(of_line(name + line), arrays[0]);
    if (has_middle() && arrays[1] >= 0) (void)place(of_layer(name + "_middle", layer_), arrays[1]);
    if (along_last(arrays) >= 0) (void)place(of_volume(name + "_last"), along_last(arrays));
  }
  FieldMemories place_field(std::size_t f) {
    const auto& field = stages_.fields[f];
    const std::string name = fmt::format("u{}", f);
    std::array<int, 3> arrays{-1, -1, -1};
    for (std::size_t a = 0; a < 3; ++a)
      if (field.derivatives[a] >= 0) arrays[a] = target(field.derivatives[a]);
    const FieldMemories result{.values = place(of_volume(name + "_values"), field.values)};
    if (const auto& steps = field.interpolation; !steps.empty())
      place_between(name, target(steps.front()), target(steps[steps.size() - 2]), along_last(arrays) >= 0);
    place_derivatives(name, "_line", arrays);
    return result;
  }
  /// The results of an output use the memories of the field with the same number, if that has the same dofs: each line
  /// is read before it is overwritten.
  std::string name_of(const ResultSteps& result) const {
    const int output = program_.steps[static_cast<std::size_t>(result.writing)].field;
    const auto& use = program_.outputs[static_cast<std::size_t>(output)];
    const auto has_its_dofs = [&](const FieldSteps& field) {
      const auto& reading = program_.steps[static_cast<std::size_t>(field.reading)];
      if (reading.kind != kernel::StepKind::gather || reading.field != output) return false;
      const auto& read = program_.inputs[static_cast<std::size_t>(output)];
      return read.components == use.components && read.element == use.element;
    };
    const auto field = std::ranges::find_if(stages_.fields, has_its_dofs);
    return field == stages_.fields.end() ? fmt::format("r{}", output)
                                         : fmt::format("u{}", field - stages_.fields.begin());
  }
  FieldMemories place_result(const ResultSteps& stages) {
    const std::string name = name_of(stages);
    std::array<int, 3> arrays{-1, -1, -1};
    for (std::size_t a = 0; a < 3; ++a)
      if (stages.derivatives[a] >= 0) arrays[a] = source(stages.derivatives[a]);
    FieldMemories result;
    if (arrays[0] >= 0 && stages.values >= 0) result.line_value = memory_of(result_, stages.values);
    const bool is_in_registers_alone = stages.values < 0 && !stages.restriction.empty() && along_last(arrays) >= 0 &&
                                       std::ranges::count(arrays, -1) == 2;
    if (points_in_lanes_ == 0 || !is_in_registers_alone)
      result.values = place(of_volume(name + "_values"), stages.total);
    if (const auto& steps = stages.restriction; !steps.empty())
      place_between(name, target(steps[steps.size() - 2]), target(steps.front()), along_last(arrays) >= 0);
    place_derivatives(name, "_out_line", arrays);
    return result;
  }

  // --- nests --------------------------------------------------------------------------------------------------------
  /// The axes before the last one layer of the last axis at a time, then the last axis column by column.
  void interpolate(const FieldSteps& field, const FieldMemories& memories, Nest& to) {
    const auto& steps = field.interpolation;
    Nest component = nest_of({over_components(program_, field.dofs)}, {});
    if (!steps.empty()) {
      const Do first{.step = steps[0], .from = memories.dofs};
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
      component.body.emplace_back(nest_of(
          lines, {{.action = Do::Action::copy, .array = field.dofs, .from = memories.dofs, .to = memories.values}}));
    }
    Nest column = nest_of({over_columns(program_, field.values)}, {});
    if (!steps.empty()) column.body.emplace_back(Do{.step = steps.back()});
    if (const int step = along_last(field.derivatives); step >= 0)
      column.body.emplace_back(Do{.step = step, .from = memories.values});
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
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      const auto& field = stages_.fields[f];
      if (has_middle() && field.derivatives[1] >= 0)
        add_to_layer(field.values, {.step = field.derivatives[1], .from = fields_[f].values});
      if (field.derivatives[0] >= 0)
        add_on_line(field.values, {.step = field.derivatives[0], .from = fields_[f].values},
                    has_layers_of_lines() ? derivatives : line);
    }
    line.body.emplace_back(nest_of({over_points(0, is_unrolled_ ? LoopPlace::unrolled : LoopPlace::serial)},
                                   {{.step = stages_.evaluation}}));
    for (std::size_t r = 0; r < results_.size(); ++r)
      if (const auto& result = stages_.results[r]; result.derivatives[0] >= 0)
        add_on_line(result.total,
                    {.step = result.derivatives[0], .to = results_[r].values, .sum = results_[r].line_value},
                    has_layers_of_lines() ? transposed : line);
    for (auto* part : {&derivatives, &line, &transposed}) {
      if (part->body.empty()) continue;
      part->loops = {over_points(1)};
      layer.body.emplace_back(std::move(*part));
    }
    for (std::size_t r = 0; r < results_.size(); ++r)
      if (const auto& result = stages_.results[r]; has_middle() && result.derivatives[1] >= 0)
        add_to_layer(result.total, {.step = result.derivatives[1], .to = results_[r].values});
    if (!has_middle()) {
      std::ranges::move(layer.body, std::back_inserter(to.body));
      return;
    }
    layer.loops = {over_points(2)};
    to.body.emplace_back(std::move(layer));
  }

  /// The last axis column by column, then the axes before it one layer of the last axis at a time.
  void integrate(const ResultSteps& result, const FieldMemories& memories, Nest& to) {
    const auto& steps = result.restriction;
    const int into = memories.by_cells >= 0 ? memories.by_cells : memories.dofs;
    Nest column = nest_of({over_components(program_, result.total), over_columns(program_, result.total)}, {});
    if (const int step = along_last(result.derivatives); step >= 0)
      column.body.emplace_back(Do{.step = step, .sum = memories.values, .is_in_registers = true});
    if (steps.empty()) {
      if (has_layers_of_lines()) { // weights go by the numbers of points, not by those of vectors
        column.loops.pop_back();
        for (const int direction : {1, 0}) column.loops.push_back(over_axis(program_, result.total, direction));
      }
      column.body.emplace_back(Do{.step = result.weighing, .from = memories.values, .to = into});
      to.body.emplace_back(std::move(column));
      return;
    }
    column.body.emplace_back(Do{.step = steps[0], .from = memories.values});
    to.body.emplace_back(std::move(column));
    const int dofs = target(steps.back());
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
  const CollocatedStages& stages_;
  int points_in_lanes_, last_;
  int layer_ = 0; ///< entries from one layer to the next
  bool is_unrolled_ = false;
  Schedule result_;
  std::vector<FieldMemories> fields_, results_;
};

} // namespace

Schedule schedule_fused(const LoweringInput& input, const Plan& plan, CellPlace cell_place,
                        const CollocatedStages& stages) {
  return FusedSchedule(input, plan, cell_place, stages, 0).run();
}

Schedule schedule_fused_points(const LoweringInput& input, const Plan& plan, const CollocatedStages& stages) {
  return FusedSchedule(input, plan, CellPlace::lanes, stages, plan[key::vector_width]).run();
}

} // namespace rafter::schedule
