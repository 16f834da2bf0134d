// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/kernel/tensor_program.hpp>

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rafter/base/error.hpp>

namespace rafter::kernel {

namespace {

constexpr std::array contraction_names{"dense", "per-derivative", "collocated"};
constexpr std::array step_names{"gather", "load_nodes", "contract", "copy", "evaluate", "weigh", "scatter"};

[[noreturn]] void fail(const std::string& what) { throw base::InternalError("tensor program: " + what); }

void require(bool condition, const std::string& what) {
  if (!condition) fail(what);
}

/// Extents of the target of a contraction.
std::vector<int> contracted(const TensorArray& source, const ReferenceMatrix& matrix, int axis) {
  auto extents = source.extents;
  extents[static_cast<std::size_t>(axis)] = matrix.rows;
  return extents;
}

} // namespace

std::string_view name(Contraction contraction) { return contraction_names[static_cast<std::size_t>(contraction)]; }

int TensorArray::size() const { return std::accumulate(extents.begin(), extents.end(), 1, std::multiplies<>()); }

std::string TensorProgram::to_string() const {
  std::string text = fmt::format("points {}\n", point_extents);
  for (const auto& array : arrays) text += fmt::format("array {} {}\n", array.name, array.extents);
  for (const auto& matrix : matrices) text += fmt::format("matrix {} {} x {}\n", matrix.name, matrix.rows, matrix.cols);
  const auto array_name = [this](int i) { return arrays[static_cast<std::size_t>(i)].name; };
  for (const auto& step : steps) {
    text += step_names[static_cast<std::size_t>(step.kind)];
    if (step.target >= 0) text += fmt::format(" {} {}", array_name(step.target), step.accumulate ? "+=" : "=");
    if (step.kind == StepKind::gather || step.kind == StepKind::scatter) text += fmt::format(" field {}", step.field);
    if (step.kind == StepKind::contract)
      text += fmt::format(" {} . axis {} of", matrices[static_cast<std::size_t>(step.matrix)].name, step.axis);
    if (step.source >= 0) text += " " + array_name(step.source);
    if (step.kind == StepKind::evaluate) {
      for (const auto& input : input_slots)
        text += fmt::format("\n  {} = {}[{}, {}+q]", form::to_string(input.atom), array_name(input.slot.array),
                            input.slot.component, input.slot.offset);
      for (std::size_t i = 0; i < output_slots.size(); ++i) {
        const auto& slot = output_slots[i];
        const std::string value = function.graph.to_string(function.outputs[i].node);
        text += slot.array < 0
                    ? fmt::format("\n  out {} = {}", i, value)
                    : fmt::format("\n  {}[{}, {}+q] = {}", array_name(slot.array), slot.component, slot.offset, value);
      }
    }
    text += "\n";
  }
  return text;
}

void TensorProgram::verify() const {
  std::vector<char> is_written(arrays.size(), 0);
  const auto array = [&](int i) -> const TensorArray& {
    require(i >= 0 && i < static_cast<int>(arrays.size()), fmt::format("array {} does not exist", i));
    return arrays[static_cast<std::size_t>(i)];
  };
  const auto read = [&](int i) {
    require(is_written[static_cast<std::size_t>(i)] != 0, "array " + array(i).name + " is read before it is written");
  };
  const auto check_slot = [&](const Slot& slot) {
    const auto& a = array(slot.array);
    require(slot.component >= 0 && slot.component < a.extents[0], "component out of range in " + a.name);
    const int row = a.size() / a.extents[0];
    require(slot.offset >= 0 && slot.offset + num_points <= row, "points out of range in " + a.name);
  };
  require(std::accumulate(point_extents.begin(), point_extents.end(), 1, std::multiplies<>()) == num_points,
          "point extents do not match the number of points");
  require(static_cast<int>(weights.size()) == num_points, "one weight per point is needed");
  require(output_slots.size() == function.outputs.size(), "one slot per output is needed");
  for (const auto& step : steps) {
    switch (step.kind) {
    case StepKind::gather:
      require(step.field < static_cast<int>(inputs.size()), "gather of an unknown field");
      break;
    case StepKind::load_nodes:
      require(geometry != nullptr, "geometry nodes without an element");
      break;
    case StepKind::contract: {
      read(step.source);
      require(step.matrix >= 0 && step.matrix < static_cast<int>(matrices.size()), "unknown matrix");
      const auto& matrix = matrices[static_cast<std::size_t>(step.matrix)];
      const auto& source = array(step.source);
      require(step.axis > 0 && step.axis < static_cast<int>(source.extents.size()), "axis out of range");
      require(source.extents[static_cast<std::size_t>(step.axis)] == matrix.cols, "matrix does not fit " + source.name);
      require(contracted(source, matrix, step.axis) == array(step.target).extents,
              "matrix does not fit " + array(step.target).name);
      break;
    }
    case StepKind::copy:
      read(step.source);
      require(array(step.source).extents == array(step.target).extents, "copy between different extents");
      break;
    case StepKind::evaluate:
      for (const auto& input : input_slots) {
        check_slot(input.slot);
        read(input.slot.array);
      }
      for (const auto& slot : output_slots)
        if (slot.array >= 0) {
          check_slot(slot);
          is_written[static_cast<std::size_t>(slot.array)] = 1;
        }
      break;
    case StepKind::weigh:
      read(step.target);
      break;
    case StepKind::scatter:
      read(step.source);
      require(step.field < static_cast<int>(outputs.size()), "scatter to an unknown field");
      break;
    }
    if (step.accumulate) read(step.target);
    if (step.target >= 0) is_written[static_cast<std::size_t>(step.target)] = 1;
  }
  for (const NodeId id : function.graph.reachable(function.roots())) {
    const auto& node = function.graph[id];
    if (node.op != form::ScalarOp::atom) continue;
    const bool is_array = node.atom.kind == AtomKind::reference_field || node.atom.kind == AtomKind::reference_trial ||
                          node.atom.kind == AtomKind::jacobian || node.atom.kind == AtomKind::coordinate;
    require(!is_array || std::any_of(input_slots.begin(), input_slots.end(),
                                     [&](const InputSlot& input) { return input.atom == node.atom; }),
            "no array serves " + form::to_string(node.atom));
  }
}

double count_flops(const TensorProgram& program) {
  double flops = 0;
  for (const auto& step : program.steps) {
    if (step.kind == StepKind::contract) {
      const auto& matrix = program.matrices[static_cast<std::size_t>(step.matrix)];
      const double lines = program.arrays[static_cast<std::size_t>(step.source)].size() / matrix.cols;
      flops += lines * matrix.rows * (2.0 * matrix.cols - (step.accumulate ? 0 : 1));
    } else if (step.kind == StepKind::weigh || (step.kind == StepKind::copy && step.accumulate)) {
      flops += program.arrays[static_cast<std::size_t>(step.target)].size();
    } else if (step.kind == StepKind::evaluate) {
      const auto deps = dependencies(program.function);
      const auto& graph = program.function.graph;
      for (const NodeId id : graph.reachable(program.function.roots())) {
        double times = 1;
        const unsigned set = deps[static_cast<std::size_t>(id)];
        if ((set & (on_point | on_field)) != 0 || !program.is_tensor)
          times = set > on_cell ? program.num_points : 1;
        else if (set > on_cell) // in a tensor grid: inside the loops down to its fastest axis
          for (int axis = program.tdim - 1; axis >= 0; --axis) {
            if ((set & (((on_axis_0 << (axis + 1)) - 1) & ~1U)) == 0) break;
            times *= program.point_extents[static_cast<std::size_t>(program.tdim - 1 - axis)];
          }
        flops += times * form::info(graph[id].op).flops;
      }
      for (const auto& output : program.function.outputs)
        if (output.kind == OutputKind::integral) flops += 2.0 * program.num_points;
    }
  }
  return flops;
}

} // namespace rafter::kernel
