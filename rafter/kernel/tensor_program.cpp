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

bool has_tensor_factors(element::Shape shape, const CellFields& fields) {
  const auto are_products = [](const std::vector<FieldUse>& uses) {
    return std::ranges::all_of(uses, [](const FieldUse& use) {
      return use.element->has_tensor_factors() &&
             (use.trial_element == nullptr || use.trial_element->has_tensor_factors());
    });
  };
  return element::is_tensor(shape) && are_products(fields.inputs) && are_products(fields.outputs);
}

namespace {

constexpr std::array contraction_names{"dense",     "modal",     "per-derivative", "collocated",
                                       "separable", "pointwise", "cell-matrices",  "slice-wise"};
static_assert(contraction_names.size() == static_cast<std::size_t>(last_contraction) + 1);
constexpr std::array step_names{"read", "contract", "multiply", "evaluate cell", "evaluate", "write"};

} // namespace

std::string_view name(Contraction contraction) { return contraction_names[static_cast<std::size_t>(contraction)]; }

std::size_t position_of(const std::vector<FieldUse>& uses, int index) {
  const auto use = std::ranges::find(uses, index, &FieldUse::index);
  if (use == uses.end()) throw base::InternalError(fmt::format("tensor program: no field {}", index));
  return static_cast<std::size_t>(use - uses.begin());
}

int MatrixFamily::position_in(const TensorArray& array) const {
  const auto found = std::search(array.axes.begin(), array.axes.end(), cols.begin(), cols.end());
  return found == array.axes.end() ? -1 : static_cast<int>(found - array.axes.begin());
}

std::vector<int> MatrixFamily::axes_of_result(const TensorArray& source) const {
  auto result = source.axes;
  const auto first = result.begin() + position_in(source);
  const auto place = result.erase(first, first + static_cast<std::ptrdiff_t>(cols.size()));
  result.insert(place, rows.begin(), rows.end());
  return result;
}

int TensorProgram::product_of_extents(std::span<const int> of_axes) const {
  int result = 1;
  for (const int axis : of_axes) result *= extent(axis);
  return result;
}
int TensorProgram::num_components(int i) const { return extent(array(i).axes.front()); }
int TensorProgram::num_entries(int i) const { return product_of_extents(std::span(array(i).axes).subspan(1)); }
int TensorProgram::num_points() const { return point_axes.empty() ? 0 : product_of_extents(point_axes); }
bool TensorProgram::fills(const Access& access, int array) const {
  return access.places.empty() ||
         (std::ssize(access.places) == num_entries(array) && std::ranges::count(access.places, -1) == 0);
}
bool TensorProgram::has_directions() const {
  return std::ranges::any_of(axes, [](const Axis& axis) { return axis.direction >= 0; });
}

ContractionShape TensorProgram::shape_of(const Step& step) const {
  const auto& family = families[static_cast<std::size_t>(step.family)];
  const std::span of_source(array(step.source).axes);
  const auto before = of_source.first(static_cast<std::size_t>(family.position_in(array(step.source))));
  return {.outer = product_of_extents(before),
          .rows = product_of_extents(family.rows),
          .cols = product_of_extents(family.cols),
          .inner = product_of_extents(of_source.subspan(before.size() + family.cols.size()))};
}

namespace {

/// Number of the combination of indices along some axes, the last fastest.
int combination(const TensorProgram& program, const std::vector<int>& of_axes, const TensorProgram::AxisIndices& at) {
  int result = 0;
  for (const int axis : of_axes) result = result * program.extent(axis) + at[static_cast<std::size_t>(axis)];
  return result;
}

} // namespace

bool TensorProgram::has_dependent_axes() const {
  return std::ranges::any_of(axes, [](const Axis& axis) { return !axis.outer.empty(); }) ||
         std::ranges::any_of(families, [this](const MatrixFamily& family) {
           return std::ranges::any_of(family.index, [this](int axis) { return axis != facet_axis; });
         });
}

TensorProgram::AxisIndices TensorProgram::indices_of_facet(int facet) const {
  AxisIndices at(axes.size(), 0);
  if (facet_axis >= 0) at[static_cast<std::size_t>(facet_axis)] = facet;
  return at;
}

int TensorProgram::extent_at(int number, const AxisIndices& at) const {
  const auto& axis = axes[static_cast<std::size_t>(number)];
  return axis.outer.empty() ? axis.extent : axis.extents[static_cast<std::size_t>(combination(*this, axis.outer, at))];
}

void TensorProgram::each_entry(const TensorArray& of, const std::function<void(const AxisIndices&)>& f) const {
  AxisIndices at(axes.size(), 0);
  const std::function<void(std::size_t)> along = [&](std::size_t i) {
    if (i == of.axes.size()) return f(at);
    const int axis = of.axes[i], used = extent_at(axis, at);
    auto& index = at[static_cast<std::size_t>(axis)];
    for (index = 0; index < used; ++index) along(i + 1);
    index = 0;
  };
  along(1);
}

const ReferenceMatrix& TensorProgram::member_at(const MatrixFamily& family, const AxisIndices& at) const {
  const auto member = family.members[static_cast<std::size_t>(combination(*this, family.index, at))];
  return matrices[static_cast<std::size_t>(member)];
}

int TensorProgram::direction_of(const Step& step) const {
  const auto& family = families[static_cast<std::size_t>(step.family)];
  return axes[static_cast<std::size_t>(family.cols.front())].direction;
}

std::vector<int> TensorProgram::summed_axes(const Step& step) const {
  const auto& product = product_of(step);
  const auto& of_target = array(step.target).axes;
  std::vector<int> result;
  for (const auto* axes_of : {&product.source_axes, &product.factor_axes})
    for (const int axis : *axes_of)
      if (std::ranges::find(of_target, axis) == of_target.end() && std::ranges::find(result, axis) == result.end())
        result.push_back(axis);
  return result;
}

bool TensorProgram::has_points(int i) const {
  return std::ranges::any_of(array(i).axes,
                             [this](int axis) { return std::ranges::find(point_axes, axis) != point_axes.end(); });
}

std::string TensorProgram::name_of(const MatrixFamily& of) const {
  const int member = of.members.front();
  switch (of.kind) {
  case FamilyKind::matrices:
    break;
  case FamilyKind::butterflies:
    return fmt::format("butterfly {}", member);
  case FamilyKind::weights:
    return "weights";
  case FamilyKind::masks:
    return fmt::format("mask {}", member);
  }
  return matrices[static_cast<std::size_t>(member)].name;
}

std::string TensorProgram::to_string() const {
  const auto names = [this](const std::vector<int>& of_axes) {
    std::vector<std::string> result;
    for (const int axis : of_axes) result.push_back(axes[static_cast<std::size_t>(axis)].name);
    return fmt::format("{}", fmt::join(result, " "));
  };
  std::string text;
  for (const auto& axis : axes)
    text += axis.outer.empty() ? fmt::format("axis {} {}\n", axis.name, axis.extent)
                               : fmt::format("axis {} of {} {}\n", axis.name, names(axis.outer), axis.extents);
  text += fmt::format("points [{}]\n", names(point_axes));
  for (const auto& array : arrays)
    text += fmt::format("array {} [{}]{}\n", array.name, names(array.axes),
                        array.table < 0 ? "" : " = " + matrices[static_cast<std::size_t>(array.table)].name);
  for (const auto& matrix : matrices) {
    text += fmt::format("matrix {} {} x {}", matrix.name, matrix.rows, matrix.cols);
    for (const auto& block : matrix.blocks) text += fmt::format(" block {} x {}", block.rows.size(), block.cols.size());
    text += "\n";
  }
  const auto array_name = [this](int i) { return array(i).name; };
  const auto entry_text = [&](const Slot& slot) {
    if (!has_points(slot.array)) return fmt::format("{}[{}]", array_name(slot.array), slot.component);
    const bool has_slots = num_entries(slot.array) != num_points();
    return fmt::format("{}[{}{}, {}]", array_name(slot.array), slot.component,
                       has_slots ? fmt::format(", {}", slot.slot) : "", names(point_axes));
  };
  const auto access_text = [](const Access& of) {
    if (of.kind == AccessKind::nodes) return std::string("nodes");
    if (of.kind == AccessKind::stored) return std::string("stored");
    return fmt::format("{} {}", of.kind == AccessKind::input ? "input" : "output", of.field);
  };
  for (const auto& step : steps) {
    text += step_names[static_cast<std::size_t>(step.kind)];
    if (step.target >= 0) text += fmt::format(" {} {}", array_name(step.target), step.accumulate ? "+=" : "=");
    if (step.access >= 0) text += " " + access_text(access(step.access));
    if (step.kind == StepKind::contract) {
      const auto& family = families[static_cast<std::size_t>(step.family)];
      const std::string index = family.index.empty() ? "" : "(" + names(family.index) + ")";
      text += fmt::format(" {}{}[{}, {}] .", name_of(family), index, names(family.rows), names(family.cols));
    }
    if (step.source >= 0) text += " " + array_name(step.source);
    if (step.kind == StepKind::multiply) {
      const auto& product = product_of(step);
      text += fmt::format("[{}] {}[{}]", names(product.source_axes), array_name(product.factor),
                          names(product.factor_axes));
      for (const auto& term : product.terms) text += fmt::format(" {}:{}*{}", term.target, term.source, term.factor);
    }
    if (step.kind == StepKind::evaluate) {
      for (const auto& input : input_slots)
        text += fmt::format("\n  {} = {}", form::to_string(input.atom), entry_text(input.slot));
      const auto texts = form::texts_of(function.graph, function.roots());
      for (const auto& name : texts.names) text += "\n  " + name;
      for (std::size_t i = 0; i < output_slots.size(); ++i) {
        const auto& slot = output_slots[i];
        const std::string& value = texts.roots[i];
        text += fmt::format("\n  {} = {}", slot.array < 0 ? fmt::format("out {}", i) : entry_text(slot), value);
      }
    }
    text += "\n";
  }
  return text;
}

double count_contraction_flops(const TensorProgram& program) {
  double flops = 0;
  for (const auto& step : program.steps) {
    if (step.kind == StepKind::multiply) {
      const double of_term =
          static_cast<double>(program.num_entries(step.target)) * program.product_of_extents(program.summed_axes(step));
      flops += 2 * of_term * static_cast<double>(program.product_of(step).terms.size()) -
               (step.accumulate ? 0 : program.size(step.target));
      continue;
    }
    if (program.contracts(step)) {
      const auto& matrix = program.matrix_of(step);
      if (program.has_dependent_axes()) {
        const auto& family = program.families[static_cast<std::size_t>(step.family)];
        double products = 0; // They are those of one component.
        program.each_entry(program.array(step.target), [&](const TensorProgram::AxisIndices& at) {
          products += program.extent_at(family.cols.front(), at);
        });
        flops += 2 * products * program.num_components(step.target);
        continue;
      }
      const double lines = program.size(step.source) / matrix.cols;
      if (matrix.blocks.empty()) flops += lines * matrix.rows * (2.0 * matrix.cols - (step.accumulate ? 0 : 1));
      for (const auto& block : matrix.blocks)
        flops += lines * static_cast<double>(block.rows.size()) *
                 (2.0 * static_cast<double>(block.cols.size()) - (step.accumulate ? 0 : 1));
    } else if (program.contracts(step, FamilyKind::butterflies)) {
      const auto& folding = program.folding_of(step);
      const double groups = program.size(step.target) / static_cast<double>(folding.places.size());
      flops +=
          groups * (8.0 * static_cast<double>(folding.quads.size()) + 2.0 * static_cast<double>(folding.pairs.size()));
    }
  }
  return flops;
}

namespace {

/// Number of dofs that an access moves and that do not lie in the interior of the cell.
std::int64_t num_shared_dofs(const element::Element& element, const Access& access) {
  const auto interior = element.entity_dofs(element::dimension(element.shape()), 0);
  const std::int64_t moved =
      access.places.empty() ? element.num_dofs() : std::ranges::count_if(access.places, [](int p) { return p >= 0; });
  return moved - std::ssize(interior);
}

} // namespace

double count_flops(const TensorProgram& program) {
  double flops = count_contraction_flops(program);
  for (const auto& step : program.steps) {
    if (program.contracts(step, FamilyKind::weights)) {
      flops += program.size(step.target);
    } else if (program.contracts(step, FamilyKind::masks)) {
      const auto& mask = program.masks[static_cast<std::size_t>(program.family(step.family).members.front())];
      const auto& access = program.access_of(mask);
      const auto& use = program.field_of(access);
      flops += use.components * static_cast<double>(num_shared_dofs(*use.element, access));
    } else if (step.kind == StepKind::evaluate) {
      PointLoops loops{.num_points = program.num_points(), .extents = {}};
      if (program.is_grid())
        for (int axis = 0; axis < program.tdim; ++axis) loops.extents.push_back(program.points_along(axis));
      flops += count_flops(program.function, loops);
      for (const auto& output : program.function.outputs)
        if (output.kind == OutputKind::integral) flops += 2.0 * program.num_points();
    }
  }
  return flops;
}

} // namespace rafter::kernel
