// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/kernel/tensor_program.hpp>

namespace rafter::kernel {

namespace {

using Values = std::vector<double>;

void contract(const ReferenceMatrix& matrix, const ContractionShape& shape, const Values& source, bool accumulate,
              Values& target) {
  const auto outer = static_cast<std::size_t>(shape.outer), inner = static_cast<std::size_t>(shape.inner),
             rows = static_cast<std::size_t>(shape.rows), cols = static_cast<std::size_t>(shape.cols);
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t i = 0; i < inner; ++i) {
        double sum = 0;
        for (std::size_t k = 0; k < cols; ++k) sum += matrix.values[r * cols + k] * source[(o * cols + k) * inner + i];
        auto& entry = target[(o * rows + r) * inner + i];
        entry = accumulate ? entry + sum : sum;
      }
}

/// The same where extents or matrices depend on indices: entry by entry. Entries that arrays do not use stay 0.
void contract_by_entries(const TensorProgram& program, const Step& step, int facet, const Values& source,
                         Values& target) {
  const auto& family = program.family(step.family);
  const auto &from = program.array(step.source), &into = program.array(step.target);
  const int row_axis = family.rows.front(), col_axis = family.cols.front();
  const int num_components = program.num_components(step.target);
  const auto place_in = [&](const TensorArray& array, int component, const TensorProgram::AxisIndices& at) {
    int place = component;
    for (const int axis : std::span(array.axes).subspan(1))
      place = place * program.extent(axis) + at[static_cast<std::size_t>(axis)];
    return static_cast<std::size_t>(place);
  };
  program.each_entry(into, [&](TensorProgram::AxisIndices at) {
    if (program.facet_axis >= 0) at[static_cast<std::size_t>(program.facet_axis)] = facet;
    const auto& matrix = program.member_at(family, at);
    const int row = at[static_cast<std::size_t>(row_axis)], extent = program.extent_at(col_axis, at);
    for (int c = 0; c < num_components; ++c) {
      double sum = 0;
      auto of_source = at;
      for (int k = 0; k < extent; ++k) {
        of_source[static_cast<std::size_t>(col_axis)] = k;
        sum += matrix(row, k) * source[place_in(from, c, of_source)];
      }
      auto& entry = target[place_in(into, c, at)];
      entry = step.accumulate ? entry + sum : sum;
    }
  });
}

/// Adds up products of two arrays, entry by entry.
void multiply(const TensorProgram& program, const Step& step, const std::vector<Values>& arrays, Values& target) {
  const auto& product = program.product_of(step);
  const auto& of_target = program.array(step.target).axes;
  std::vector<int> axes(of_target.begin() + 1, of_target.end());
  const auto summed = program.summed_axes(step);
  axes.insert(axes.end(), summed.begin(), summed.end());
  TensorProgram::AxisIndices at(program.axes.size(), 0);
  const auto place_in = [&](int array, int component, std::span<const int> along) {
    int place = component;
    for (const int axis : along) place = place * program.extent(axis) + at[static_cast<std::size_t>(axis)];
    return arrays[static_cast<std::size_t>(array)][static_cast<std::size_t>(place)];
  };
  if (!step.accumulate) std::ranges::fill(target, 0.0);
  const int num_products = program.product_of_extents(axes);
  for (int number = 0; number < num_products; ++number) {
    for (int rest = number, i = static_cast<int>(axes.size()); i-- > 0;) {
      const int axis = axes[static_cast<std::size_t>(i)];
      at[static_cast<std::size_t>(axis)] = rest % program.extent(axis);
      rest /= program.extent(axis);
    }
    for (const auto& term : product.terms) {
      int place = term.target;
      for (const int axis : std::span(of_target).subspan(1))
        place = place * program.extent(axis) + at[static_cast<std::size_t>(axis)];
      target[static_cast<std::size_t>(place)] += place_in(step.source, term.source, product.source_axes) *
                                                 place_in(product.factor, term.factor, product.factor_axes);
    }
  }
}

/// Calls f(place in the array, component, dof) for the dofs that an access moves.
template <class F>
void each_dof(const TensorProgram& program, int array, const Access& access, int num_dofs, const F& f) {
  const auto row = static_cast<std::size_t>(program.num_entries(array));
  for (std::size_t c = 0; c < static_cast<std::size_t>(program.num_components(array)); ++c)
    for (int i = 0; i < num_dofs; ++i)
      if (const int place = access.place_of(i); place >= 0)
        f(c * row + static_cast<std::size_t>(place), c, static_cast<std::size_t>(i));
}

void apply_mask(const TensorProgram& program, const Step& step, const CellData& data, Values& target) {
  const auto number = static_cast<std::size_t>(program.family(step.family).members.front());
  const auto& mask = program.masks[number];
  const auto& access = program.access_of(mask);
  const auto& element = *program.field_of(access).element;
  const auto interior = element.entity_dofs(element::dimension(element.shape()), 0);
  const auto num_dofs = static_cast<std::size_t>(element.num_dofs());
  each_dof(program, step.target, access, element.num_dofs(), [&](std::size_t at, std::size_t c, std::size_t i) {
    const bool is_inside = std::ranges::find(interior, static_cast<int>(i)) != interior.end();
    if (!is_inside) target[at] *= data.masks.at(number).at((mask.components == 1 ? 0 : c) * num_dofs + i);
  });
}

void butterfly(const Folding& folding, Values& values) {
  const std::size_t n = folding.places.size();
  for (std::size_t first = 0; first < values.size(); first += n) {
    const auto at = [&](int i) -> double& { return values[first + static_cast<std::size_t>(i)]; };
    for (const auto& p : folding.quads) {
      const double a = at(p[0]), b = at(p[1]), c = at(p[2]), d = at(p[3]);
      at(p[0]) = a + b + (c + d);
      at(p[1]) = a - b + (c - d);
      at(p[2]) = a + b - (c + d);
      at(p[3]) = a - b - (c - d);
    }
    for (const auto& p : folding.pairs) {
      const double a = at(p[0]), b = at(p[1]);
      at(p[0]) = a + b;
      at(p[1]) = a - b;
    }
  }
}

/// Reference coordinate of an axis at a point of a facet or cell.
double reference_coordinate(const TensorProgram& program, int facet, int point, int axis) {
  if (!program.is_grid())
    return program.points[static_cast<std::size_t>((facet * program.num_points() + point) * program.tdim + axis)];
  for (int a = 0; a < axis; ++a) point /= program.points_along(a);
  return program.grid[static_cast<std::size_t>(axis)][static_cast<std::size_t>(point % program.points_along(axis))];
}

class Evaluation {
public:
  Evaluation(const TensorProgram& program, const CellData& data, std::vector<Values>& arrays, CellResult& result)
      : program_(program), data_(data), arrays_(arrays), result_(result),
        modes_(map_modes(program.function.map, program.tdim)) {}

  /// The outputs that are the same at all points. Other numbers, which are those of a point, are not looked at.
  void of_cell() {
    const auto& function = program_.function;
    for (std::size_t i = 0; i < function.outputs.size(); ++i) {
      const auto& slot = program_.output_slots[i];
      if (slot.array < 0 || program_.has_points(slot.array)) continue;
      const std::vector root{function.outputs[i].node};
      const auto value = function.graph.evaluate(root, [this](const Atom& a) { return atom(a, 0); }).front();
      arrays_[static_cast<std::size_t>(slot.array)][static_cast<std::size_t>(slot.component)] = value;
    }
  }
  void at_point(int q) {
    const auto& function = program_.function;
    const auto values = function.graph.evaluate(function.roots(), [this, q](const Atom& a) { return atom(a, q); });
    std::size_t slots = 0;
    for (const auto& output : function.outputs) slots += output.kind == OutputKind::stored_point ? 1 : 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto& output = function.outputs[i];
      if (const auto& slot = program_.output_slots[i]; slot.array >= 0) {
        if (program_.has_points(slot.array)) entry(slot, q) = values[i];
      } else if (output.kind == OutputKind::integral) {
        const auto value = static_cast<std::size_t>(output.component);
        result_.integrals.resize(std::max(result_.integrals.size(), value + 1));
        const int point = data_.facet * program_.num_points() + q;
        result_.integrals[value] += program_.weights[static_cast<std::size_t>(point)] * values[i];
      } else if (output.kind == OutputKind::stored_point) {
        result_.stored_point.resize(slots * static_cast<std::size_t>(program_.num_points()));
        result_.stored_point[static_cast<std::size_t>(q) * slots + static_cast<std::size_t>(output.component)] =
            values[i];
      } else if (output.kind == OutputKind::stored_cell) {
        result_.stored_cell.resize(
            std::max(result_.stored_cell.size(), static_cast<std::size_t>(output.component) + 1));
        result_.stored_cell[static_cast<std::size_t>(output.component)] = values[i];
      }
    }
  }

private:
  double& entry(const Slot& slot, int q) {
    const int entry = slot.component * program_.num_entries(slot.array) + slot.slot * program_.num_points() + q;
    return arrays_[static_cast<std::size_t>(slot.array)][static_cast<std::size_t>(entry)];
  }
  double atom(const Atom& a, int q) {
    const auto at = [](const Values& values, int i) { return values.at(static_cast<std::size_t>(i)); };
    switch (a.kind) {
    case AtomKind::parameter:
      return at(data_.parameters, a.a);
    case AtomKind::cell_coefficient:
      return at(data_.cell_coefficients, a.a);
    case AtomKind::map_coefficient: {
      const auto mode = std::find(modes_.begin(), modes_.end(), a.a) - modes_.begin();
      return at(data_.map, static_cast<int>(mode) * program_.tdim + a.b);
    }
    case AtomKind::reference_coordinate:
      return reference_coordinate(program_, data_.facet, q, a.a);
    case AtomKind::reference_normal:
      return at(data_.reference_normal, a.a);
    case AtomKind::stored_cell:
      return at(data_.stored_cell, a.a);
    case AtomKind::stored_point: {
      const auto slots = data_.stored_point.size() / static_cast<std::size_t>(program_.num_points());
      return data_.stored_point.at(static_cast<std::size_t>(q) * slots + static_cast<std::size_t>(a.a));
    }
    default:
      break;
    }
    for (const auto& input : program_.input_slots)
      if (input.atom == a) return entry(input.slot, q);
    throw base::InternalError("interpreter: no value for " + form::to_string(a));
  }

  const TensorProgram& program_;
  const CellData& data_;
  std::vector<Values>& arrays_;
  CellResult& result_;
  std::vector<int> modes_;
};

/// Applies a family other than matrices, in place.
void apply_in_place(const TensorProgram& program, const Step& step, const CellData& data, Values& target) {
  switch (program.family(step.family).kind) {
  case FamilyKind::matrices:
    break;
  case FamilyKind::butterflies:
    return butterfly(program.folding_of(step), target);
  case FamilyKind::weights:
    for (std::size_t i = 0, points = static_cast<std::size_t>(program.num_points()); i < target.size(); ++i)
      target[i] *= program.weights[static_cast<std::size_t>(data.facet) * points + i % points];
    return;
  case FamilyKind::masks:
    return apply_mask(program, step, data, target);
  }
}

void read(const TensorProgram& program, const Step& step, const CellData& data, Values& target) {
  const auto& access = program.access(step.access);
  if (access.kind == AccessKind::stored) {
    for (std::size_t i = 0; i < target.size(); ++i)
      target[i] = data.stored_cell.at(static_cast<std::size_t>(access.places[i]));
    return;
  }
  if (access.kind == AccessKind::nodes) { // shape (node, axis), where arrays have (axis, node)
    const auto dim = static_cast<std::size_t>(program.tdim);
    each_dof(program, step.target, access, program.geometry->num_dofs(),
             [&](std::size_t at, std::size_t c, std::size_t i) { target[at] = data.nodes[i * dim + c]; });
    return;
  }
  const auto field = static_cast<std::size_t>(access.field);
  const int num_dofs = program.inputs[field].num_dofs();
  each_dof(program, step.target, access, num_dofs, [&](std::size_t at, std::size_t c, std::size_t i) {
    target[at] = data.inputs.at(field).at(c * static_cast<std::size_t>(num_dofs) + i);
  });
}

void write(const TensorProgram& program, const Step& step, const Values& source, CellResult& result) {
  const auto& access = program.access(step.access);
  if (access.kind == AccessKind::stored) {
    result.stored_cell.resize(static_cast<std::size_t>(program.num_stored));
    for (std::size_t i = 0; i < source.size(); ++i)
      if (access.places[i] >= 0) result.stored_cell[static_cast<std::size_t>(access.places[i])] = source[i];
    return;
  }
  const auto field = static_cast<std::size_t>(access.field);
  const int num_dofs = program.outputs[field].num_dofs();
  each_dof(program, step.source, access, num_dofs, [&](std::size_t at, std::size_t c, std::size_t i) {
    result.outputs[field][c * static_cast<std::size_t>(num_dofs) + i] += source[at];
  });
}

} // namespace

CellResult interpret(const TensorProgram& program, const CellData& data) {
  if (data.facet < 0 || data.facet >= program.num_facets())
    throw base::InternalError(fmt::format("interpreter: the program has no facet {}", data.facet));
  CellResult result;
  for (const auto& use : program.outputs)
    result.outputs.emplace_back(static_cast<std::size_t>(use.components * use.num_dofs()), 0.0);
  std::vector<Values> arrays;
  for (std::size_t a = 0; a < program.arrays.size(); ++a) {
    const int table = program.arrays[a].table;
    arrays.push_back(table < 0 ? Values(static_cast<std::size_t>(program.size(static_cast<int>(a))), 0.0)
                               : program.matrices[static_cast<std::size_t>(table)].values);
  }
  for (const auto& step : program.steps) {
    const auto source = static_cast<std::size_t>(step.source), target = static_cast<std::size_t>(step.target);
    switch (step.kind) {
    case StepKind::read:
      read(program, step, data, arrays[target]);
      break;
    case StepKind::contract:
      if (!program.contracts(step))
        apply_in_place(program, step, data, arrays[target]);
      else if (program.has_dependent_axes())
        contract_by_entries(program, step, data.facet, arrays[source], arrays[target]);
      else
        contract(program.member_at(program.family(step.family), program.indices_of_facet(data.facet)),
                 program.shape_of(step), arrays[source], step.accumulate, arrays[target]);
      break;
    case StepKind::multiply:
      multiply(program, step, arrays, arrays[target]);
      break;
    case StepKind::evaluate_cell:
      Evaluation(program, data, arrays, result).of_cell();
      break;
    case StepKind::evaluate: {
      Evaluation evaluation(program, data, arrays, result);
      for (int q = 0; q < program.num_points(); ++q) evaluation.at_point(q);
      break;
    }
    case StepKind::write:
      write(program, step, arrays[source], result);
      break;
    }
  }
  return result;
}

} // namespace rafter::kernel
