// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/kernel/program_steps.hpp>

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/kernel/reference_matrices.hpp>

namespace rafter::kernel {

namespace {

/// Capitals count dofs, small letters points: i along reference axis 0, j along 1, k along 2.
std::string letter_of(AxisKind kind, int direction) {
  switch (kind) {
  case AxisKind::component:
    return "c";
  case AxisKind::slot:
    return "s";
  case AxisKind::point:
    return direction < 0 ? "q" : std::string(1, "ijk"[direction]);
  case AxisKind::dof:
    return std::string(1, "IJK"[std::max(direction, 0)]);
  case AxisKind::facet:
    return "f";
  case AxisKind::pair:
    break;
  }
  return std::string(2, "IJK"[std::max(direction, 0)]);
}

} // namespace

int ProgramSteps::add_axis(AxisKind kind, int extent, int direction) {
  const auto& axes = program_.axes;
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i].kind == kind && axes[i].extent == extent && axes[i].direction == direction) return static_cast<int>(i);
  return add_new_axis(kind, extent, direction);
}

int ProgramSteps::add_other_axis(AxisKind kind, int extent) { return add_new_axis(kind, extent, -1); }

int ProgramSteps::add_new_axis(AxisKind kind, int extent, int direction) {
  auto& axes = program_.axes;
  const std::string letter = letter_of(kind, direction);
  std::string name = letter;
  for (int number = 1; std::ranges::find(axes, name, &Axis::name) != axes.end(); ++number)
    name = letter + std::to_string(number);
  axes.push_back({name, kind, extent, direction});
  return static_cast<int>(axes.size()) - 1;
}

std::vector<int> ProgramSteps::add_axes(AxisKind kind, const std::vector<int>& extents, bool has_directions) {
  std::vector<int> result;
  for (int axis = static_cast<int>(extents.size()) - 1; axis >= 0; --axis)
    result.push_back(add_axis(kind, extents[static_cast<std::size_t>(axis)], has_directions ? axis : -1));
  return result;
}

int ProgramSteps::add_array(const std::string& name, int components, std::vector<int> axes) {
  axes.insert(axes.begin(), add_axis(AxisKind::component, components));
  program_.arrays.push_back({name, std::move(axes)});
  return static_cast<int>(program_.arrays.size()) - 1;
}

int ProgramSteps::add_table(const std::string& name, int components, std::vector<int> axes,
                            std::vector<double> values) {
  const int cols = program_.product_of_extents(axes);
  const int array = add_array(name, components, std::move(axes));
  program_.arrays.back().table = add_matrix({"T", components, cols, std::move(values), Symmetry::none, false, {}});
  return array;
}

int ProgramSteps::axis_along(int array, int direction) const {
  for (const int axis : program_.array(array).axes)
    if (program_.axis(axis).direction == direction) return axis;
  throw base::InternalError(fmt::format("tensor program: {} has no axis {}", program_.array(array).name, direction));
}

int ProgramSteps::add_matrix(ReferenceMatrix matrix) { return add_matrices({std::move(matrix)}).front(); }

std::vector<int> ProgramSteps::add_matrices(std::vector<ReferenceMatrix> added) {
  auto& known = program_.matrices;
  const auto are_equal = [](const ReferenceMatrix& a, const ReferenceMatrix& b) {
    return a.rows == b.rows && a.values == b.values;
  };
  const auto place = std::search(known.begin(), known.end(), added.begin(), added.end(), are_equal);
  std::vector<int> numbers(added.size());
  std::iota(numbers.begin(), numbers.end(), static_cast<int>(place - known.begin()));
  if (place != known.end()) return numbers;
  for (auto& matrix : added) {
    matrix.name += std::to_string(known.size());
    known.push_back(std::move(matrix));
  }
  return numbers;
}

MatrixFamily ProgramSteps::family_by_facet(std::vector<int> rows, std::vector<int> cols,
                                           std::vector<ReferenceMatrix> matrices) {
  const bool are_equal = std::ranges::all_of(
      matrices, [&](const ReferenceMatrix& matrix) { return matrix.values == matrices.front().values; });
  if (are_equal) matrices.resize(1);
  MatrixFamily result{
      .rows = std::move(rows), .cols = std::move(cols), .members = add_matrices(std::move(matrices)), .index = {}};
  if (!are_equal) result.index = {program_.facet_axis};
  return result;
}

int ProgramSteps::add_folding(const Folding& folding) {
  const auto found = std::find(program_.foldings.begin(), program_.foldings.end(), folding);
  if (found != program_.foldings.end()) return static_cast<int>(found - program_.foldings.begin());
  program_.foldings.push_back(folding);
  return static_cast<int>(program_.foldings.size()) - 1;
}

int ProgramSteps::add_access(Access access) {
  program_.accesses.push_back(std::move(access));
  return static_cast<int>(program_.accesses.size()) - 1;
}
void ProgramSteps::read(int access, int target) {
  program_.steps.push_back({.kind = StepKind::read, .access = access, .target = target});
}
void ProgramSteps::write(int access, int source) {
  program_.steps.push_back({.kind = StepKind::write, .access = access, .source = source});
}
void ProgramSteps::evaluate_cell() { program_.steps.push_back({.kind = StepKind::evaluate_cell}); }
void ProgramSteps::evaluate() { program_.steps.push_back({.kind = StepKind::evaluate}); }
void ProgramSteps::multiply(int source, Product product, int target, bool accumulate) {
  program_.products.push_back(std::move(product));
  program_.steps.push_back({.kind = StepKind::multiply,
                            .source = source,
                            .target = target,
                            .accumulate = accumulate,
                            .product = static_cast<int>(program_.products.size()) - 1});
}

void ProgramSteps::apply(FamilyKind kind, int member, std::vector<int> axes, int array) {
  (void)contract(array, {.rows = axes, .cols = axes, .members = {member}, .kind = kind}, "", array);
}
void ProgramSteps::weigh(int array) {
  const auto& axes = program_.point_axes;
  apply(FamilyKind::weights, 0, axes, array);
}
void ProgramSteps::butterfly(int array, const Folding& folding) {
  apply(FamilyKind::butterflies, add_folding(folding), {program_.array(array).axes.back()}, array);
}
void ProgramSteps::mask(int array, const EntityMask& mask) {
  program_.masks.push_back(mask);
  const auto& axes = program_.array(array).axes;
  apply(FamilyKind::masks, static_cast<int>(program_.masks.size()) - 1, {axes.begin() + 1, axes.end()}, array);
}

int ProgramSteps::contract(int source, MatrixFamily family, const std::string& name, int target, bool accumulate) {
  if (target < 0) {
    program_.arrays.push_back({name, family.axes_of_result(program_.array(source))});
    target = static_cast<int>(program_.arrays.size()) - 1;
  }
  auto known = std::ranges::find(program_.families, family);
  if (known == program_.families.end()) known = program_.families.insert(known, std::move(family));
  program_.steps.push_back({.kind = StepKind::contract,
                            .source = source,
                            .target = target,
                            .family = static_cast<int>(known - program_.families.begin()),
                            .accumulate = accumulate});
  return target;
}

int ProgramSteps::chain(int source, const std::vector<ReferenceMatrix>& factors, const std::vector<int>& rows,
                        const std::string& name, AxisOrder order, int target, bool accumulate) {
  const std::size_t num_axes = factors.size();
  for (std::size_t turn = 0; turn < num_axes; ++turn) {
    const std::size_t axis = order == AxisOrder::first_to_last ? turn : num_axes - 1 - turn;
    const bool is_last = turn + 1 == num_axes;
    if (is_identity(factors[axis]) && !(is_last && target >= 0)) continue;
    const int matrix = add_matrix(factors[axis]);
    source = contract(source,
                      {.rows = {rows[num_axes - 1 - axis]},
                       .cols = {axis_along(source, static_cast<int>(axis))},
                       .members = {matrix}},
                      fmt::format("{}_{}", name, axis), is_last ? target : -1, is_last && accumulate);
  }
  return source;
}

TensorProgram empty_program(const ProgramInput& input, Contraction contraction) {
  TensorProgram program;
  program.function = input.function;
  program.tdim = input.function.tdim();
  program.inputs = input.fields.inputs;
  program.batches = input.fields.batches;
  program.outputs = input.fields.outputs;
  program.contraction = contraction;
  return program;
}

void add_points(TensorProgram& program, const BasisTables& tables) {
  program.weights = tables.weights();
  program.points = tables.points();
  std::vector<int> extents;
  for (const auto& line : tables.lines()) {
    program.grid.push_back(line.points);
    extents.push_back(static_cast<int>(line.points.size()));
  }
  if (!tables.is_grid()) extents.push_back(tables.num_points());
  program.point_axes = ProgramSteps(program).add_axes(AxisKind::point, extents, tables.is_grid());
  add_facets(program, tables);
}

void add_facets(TensorProgram& program, const BasisTables& tables) {
  if (program.function.is_facet)
    program.facet_axis = ProgramSteps(program).add_axis(AxisKind::facet, tables.num_facets());
}

std::vector<int> dof_axes(TensorProgram& program, const BasisTables& tables, const element::Element& element) {
  ProgramSteps steps(program);
  if (!tables.is_grid()) return steps.add_axes(AxisKind::dof, {element.num_dofs()}, false);
  const auto extents = element.extents();
  std::vector<int> result;
  for (int axis = program.tdim - 1; axis >= 0; --axis)
    result.push_back(tables.is_nodal(element, axis)
                         ? program.point_axes[result.size()]
                         : steps.add_axis(AxisKind::dof, extents[static_cast<std::size_t>(axis)], axis));
  return result;
}

} // namespace rafter::kernel
