// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/kernel/tensor_program.hpp>

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rafter/base/error.hpp>
#include <rafter/form/scalar_text.hpp>

namespace rafter::kernel {

int FieldUse::num_dofs() const {
  return element->num_dofs() * (trial_element == nullptr ? 1 : trial_element->num_dofs());
}

namespace {

constexpr std::array contraction_names{"dense", "modal", "per-derivative", "collocated", "separable"};
constexpr std::array step_names{"gather",   "load_nodes", "contract", "butterfly",
                                "evaluate", "weigh",      "mask",     "scatter"};

} // namespace

std::string_view name(Contraction contraction) { return contraction_names[static_cast<std::size_t>(contraction)]; }

std::size_t position_of(const std::vector<FieldUse>& uses, int index) {
  const auto use = std::ranges::find(uses, index, &FieldUse::index);
  if (use == uses.end()) throw base::InternalError(fmt::format("tensor program: no field {}", index));
  return static_cast<std::size_t>(use - uses.begin());
}

int TensorArray::size() const { return std::accumulate(extents.begin(), extents.end(), 1, std::multiplies<>()); }

std::string TensorProgram::to_string() const {
  std::string text = fmt::format("points {}\n", point_extents);
  for (const auto& array : arrays) text += fmt::format("array {} {}\n", array.name, array.extents);
  for (const auto& matrix : matrices) {
    text += fmt::format("matrix {} {} x {}", matrix.name, matrix.rows, matrix.cols);
    for (const auto& block : matrix.blocks) text += fmt::format(" block {} x {}", block.rows.size(), block.cols.size());
    text += "\n";
  }
  const auto array_name = [this](int i) { return arrays[static_cast<std::size_t>(i)].name; };
  for (const auto& step : steps) {
    text += step_names[static_cast<std::size_t>(step.kind)];
    if (step.target >= 0) text += fmt::format(" {} {}", array_name(step.target), step.accumulate ? "+=" : "=");
    if (step.kind == StepKind::gather || step.kind == StepKind::scatter) text += fmt::format(" field {}", step.field);
    if (step.kind == StepKind::butterfly) text += fmt::format(" folding {}", step.field);
    if (step.kind == StepKind::mask) text += fmt::format(" mask {}", step.field);
    if (step.kind == StepKind::contract)
      text += fmt::format(" {} . axis {} of", matrices[static_cast<std::size_t>(step.matrix)].name, step.axis);
    if (step.source >= 0) text += " " + array_name(step.source);
    if (step.kind == StepKind::evaluate) {
      for (const auto& input : input_slots)
        text += fmt::format("\n  {} = {}[{}, {}+q]", form::to_string(input.atom), array_name(input.slot.array),
                            input.slot.component, input.slot.offset);
      const auto texts = form::texts_of(function.graph, function.roots());
      for (const auto& name : texts.names) text += "\n  " + name;
      for (std::size_t i = 0; i < output_slots.size(); ++i) {
        const auto& slot = output_slots[i];
        const std::string& value = texts.roots[i];
        text += slot.array < 0
                    ? fmt::format("\n  out {} = {}", i, value)
                    : fmt::format("\n  {}[{}, {}+q] = {}", array_name(slot.array), slot.component, slot.offset, value);
      }
    }
    text += "\n";
  }
  return text;
}

double count_contraction_flops(const TensorProgram& program) {
  double flops = 0;
  for (const auto& step : program.steps) {
    if (step.kind == StepKind::contract) {
      const auto& matrix = program.matrices[static_cast<std::size_t>(step.matrix)];
      const double lines = program.arrays[static_cast<std::size_t>(step.source)].size() / matrix.cols;
      if (matrix.blocks.empty()) flops += lines * matrix.rows * (2.0 * matrix.cols - (step.accumulate ? 0 : 1));
      for (const auto& block : matrix.blocks)
        flops += lines * static_cast<double>(block.rows.size()) *
                 (2.0 * static_cast<double>(block.cols.size()) - (step.accumulate ? 0 : 1));
    } else if (step.kind == StepKind::butterfly) {
      const auto& folding = program.foldings[static_cast<std::size_t>(step.field)];
      const double groups =
          program.arrays[static_cast<std::size_t>(step.target)].size() / static_cast<double>(folding.places.size());
      flops +=
          groups * (8.0 * static_cast<double>(folding.quads.size()) + 2.0 * static_cast<double>(folding.pairs.size()));
    }
  }
  return flops;
}

namespace {

/// Number of dofs of a field that the program uses and that do not lie in the interior of the cell.
std::int64_t num_shared_dofs(const FieldUse& use) {
  const auto interior = use.element->entity_dofs(element::dimension(use.element->shape()), 0);
  const std::int64_t used =
      use.places.empty() ? use.element->num_dofs() : std::ranges::count_if(use.places, [](int p) { return p >= 0; });
  return used - std::ssize(interior);
}

} // namespace

double count_flops(const TensorProgram& program) {
  double flops = count_contraction_flops(program);
  for (const auto& step : program.steps) {
    if (step.kind == StepKind::weigh) {
      flops += program.arrays[static_cast<std::size_t>(step.target)].size();
    } else if (step.kind == StepKind::mask) {
      const auto& use = program.field_of(program.masks[static_cast<std::size_t>(step.field)]);
      flops += use.components * static_cast<double>(num_shared_dofs(use));
    } else if (step.kind == StepKind::evaluate) {
      flops += count_flops(program.function, {.tdim = program.tdim,
                                              .num_points = program.num_points,
                                              .points_per_axis = program.is_tensor ? program.point_extents[0] : 0});
      for (const auto& output : program.function.outputs)
        if (output.kind == OutputKind::integral) flops += 2.0 * program.num_points;
    }
  }
  return flops;
}

} // namespace rafter::kernel
