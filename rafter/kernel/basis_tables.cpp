// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/kernel/basis_tables.hpp>

#include <algorithm>
#include <numeric>

#include <rafter/base/error.hpp>
#include <rafter/element/reflections.hpp>
#include <rafter/kernel/reference_matrices.hpp>

namespace rafter::kernel {

using element::Element;

std::shared_ptr<DenseTables> make_dense_tables() { return std::make_shared<DenseTables>(); }

namespace {

/// Slots are one component of a space with one value of a scalar basis function, and need no pull-back but that of
/// gradients.
void require_scalar_functions(const ProgramInput& input) {
  for (const auto* uses : {&input.fields.inputs, &input.fields.outputs})
    for (const auto& use : *uses)
      if (!use.element->value_shape().empty() || use.element->map() != element::Map::identity)
        throw base::InternalError("kernel: basis functions with vectors as values have no slots yet");
}

} // namespace

BasisTables::BasisTables(const ProgramInput& input)
    : input_(input), tdim_(input.function.tdim()),
      tables_(input.tables == nullptr ? make_dense_tables() : input.tables) {
  require_scalar_functions(input);
  if (!input.function.is_facet && input.contraction != Contraction::dense &&
      has_tensor_factors(input.function.shape, input.fields))
    lines_ = input.fields.quadrature.lines;
  if (is_grid()) {
    weights_ = input.fields.quadrature.weights;
    return;
  }
  if (input.function.is_facet)
    set_facet_points();
  else if (const auto degree = modal_degree(input); degree && input.contraction == Contraction::modal) {
    modes_ = modal_basis(*degree);
    weights_.assign(static_cast<std::size_t>(modes_->size()), 1.0);
  } else
    set_dense_points();
}

Contraction BasisTables::contraction() const {
  if (!is_grid()) return modes_ ? Contraction::modal : Contraction::dense;
  switch (input_.contraction) { // one that is not of grids becomes the usual one; a new one has to say what it becomes
  case Contraction::per_derivative:
  case Contraction::slice_wise:
    return input_.contraction;
  case Contraction::dense:
  case Contraction::modal:
  case Contraction::collocated:
  case Contraction::separable:
  case Contraction::pointwise:
  case Contraction::cell_matrices:
    break;
  }
  return Contraction::collocated;
}

// --- points ---------------------------------------------------------------------------------------------------------

void BasisTables::set_facet_points() {
  const auto shape = input_.function.shape;
  const auto& rule = input_.fields.quadrature;
  for (const int facet : input_.fields.local_facets) {
    const auto points = element::map_to_cell(shape, tdim_ - 1, facet, rule.points);
    points_.insert(points_.end(), points.begin(), points.end());
    const double ratio = facet_area_ratio(shape, facet);
    for (const double weight : rule.weights) weights_.push_back(ratio * weight);
  }
}

int BasisTables::num_facets() const { return std::max(1, static_cast<int>(input_.fields.local_facets.size())); }
std::span<const double> BasisTables::points_of(int facet) const {
  const auto size = static_cast<std::size_t>(num_points() * tdim_);
  return std::span(points_).subspan(static_cast<std::size_t>(facet) * size, size);
}
std::span<const double> BasisTables::weights_of(int facet) const {
  const auto size = static_cast<std::size_t>(num_points());
  return std::span(weights_).subspan(static_cast<std::size_t>(facet) * size, size);
}

const ModalBasis& BasisTables::modal_basis(int degree) {
  const auto shape = input_.function.shape;
  const auto [place, is_new] = tables_->modal_bases.try_emplace({shape, degree});
  if (is_new) place->second = make_modal_basis(shape, degree);
  return place->second;
}

/// Takes points and weights of the rule. Points are sorted by sector if the rule is symmetric under the reflections of
/// the cell.
void BasisTables::set_dense_points() {
  const auto& rule = input_.fields.quadrature;
  points_ = rule.points;
  weights_ = rule.weights;
  point_folding_ = make_folding(rule.shape, rule.points);
  if (!point_folding_) return;
  const auto dim = static_cast<std::size_t>(tdim_);
  for (std::size_t q = 0; q < weights_.size(); ++q) {
    const auto place = static_cast<std::size_t>(point_folding_->places[q]);
    weights_[place] = rule.weights[q];
    std::copy_n(rule.points.begin() + static_cast<std::ptrdiff_t>(q * dim), dim,
                points_.begin() + static_cast<std::ptrdiff_t>(place * dim));
  }
  std::iota(point_folding_->places.begin(), point_folding_->places.end(), 0);
}

// --- grids ----------------------------------------------------------------------------------------------------------

ReferenceMatrix BasisTables::factor(const Element& element, const BasisSlot& slot, int axis) const {
  const auto& points = lines_[static_cast<std::size_t>(axis)].points;
  ReferenceMatrix result = table_1d(element, axis, points, slot.first == axis ? 1 : 0);
  if (slot.second != -2) {
    const auto other = table_1d(element, axis, points, slot.second == axis ? 1 : 0);
    for (std::size_t i = 0; i < result.values.size(); ++i) result.values[i] *= other.values[i];
    result.name += other.name;
  }
  return with_symmetry(std::move(result));
}

std::vector<ReferenceMatrix> BasisTables::factors(const Element& element, const BasisSlot& slot, bool is_test) const {
  std::vector<ReferenceMatrix> result;
  for (int axis = 0; axis < tdim_; ++axis) {
    auto matrix = factor(element, slot, axis);
    result.push_back(is_test ? weighted_transpose(matrix, lines_[static_cast<std::size_t>(axis)].weights) : matrix);
  }
  return result;
}

ReferenceMatrix BasisTables::differentiation(int axis) const {
  return with_symmetry(differentiation_matrix(lines_[static_cast<std::size_t>(axis)].points));
}

ReferenceMatrix BasisTables::transposed_differentiation(int axis) const {
  const auto& [points, weights] = lines_[static_cast<std::size_t>(axis)];
  auto transposed = weighted_transpose(differentiation_matrix(points), weights);
  for (int r = 0; r < transposed.rows; ++r)
    for (int k = 0; k < transposed.cols; ++k)
      transposed.values[static_cast<std::size_t>(r * transposed.cols + k)] /= weights[static_cast<std::size_t>(r)];
  return with_symmetry(std::move(transposed));
}

bool BasisTables::is_collocated(const Element& element) const {
  const auto extents = element.extents();
  bool has_enough_points = true;
  for (std::size_t axis = 0; axis < extents.size(); ++axis)
    has_enough_points &= static_cast<int>(lines_[axis].points.size()) >= extents[axis];
  return input_.contraction != Contraction::per_derivative && input_.contraction != Contraction::slice_wise &&
         has_enough_points;
}

bool BasisTables::is_nodal(const Element& element, int axis) const {
  return is_identity(table_1d(element, axis, lines_[static_cast<std::size_t>(axis)].points, 0));
}
bool BasisTables::is_nodal(const Element& element) const {
  for (int axis = 0; axis < tdim_; ++axis)
    if (!is_nodal(element, axis)) return false;
  return true;
}

// --- dense tables ---------------------------------------------------------------------------------------------------

std::optional<Folding> BasisTables::dof_folding(const Element& element) const {
  if (is_grid() || input_.function.is_facet || (!modes_ && !point_folding_) || !element.is_nodal()) return std::nullopt;
  return make_folding(element.shape(), element.nodes());
}

const std::vector<ReferenceMatrix>& BasisTables::stacked(const Element& element, const std::vector<BasisSlot>& slots) {
  const auto [place, is_new] = tables_->tables.try_emplace({&element, slots, modes_ ? modes_->degree : -1});
  if (is_new) place->second = make_stacked(element, slots); // test and trial functions often share a table
  return place->second;
}

std::vector<ReferenceMatrix> BasisTables::stacked_transposed(const Element& element,
                                                             const std::vector<BasisSlot>& slots) {
  std::vector<ReferenceMatrix> result;
  for (const auto& matrix : stacked(element, slots)) {
    const auto of_slot = weights_of(static_cast<int>(result.size()));
    std::vector<double> weights;
    for (std::size_t s = 0; s < slots.size(); ++s) weights.insert(weights.end(), of_slot.begin(), of_slot.end());
    result.push_back(weighted_transpose(matrix, weights));
  }
  return result;
}

std::vector<ReferenceMatrix> BasisTables::make_stacked(const Element& element,
                                                       const std::vector<BasisSlot>& slots) const {
  std::vector<int> directions;
  for (const auto& slot : slots) directions.push_back(slot.first);
  std::vector<ReferenceMatrix> matrices;
  for (int facet = 0; facet < num_facets(); ++facet)
    matrices.push_back(modes_ ? modal_table(*modes_, element, directions) : point_table(element, slots, facet));
  const auto folding = dof_folding(element);
  if (!folding) return matrices; // those of facets have none
  const auto& matrix = matrices.front();
  std::vector<unsigned> parities;
  const auto parity = [&](int direction) {
    return direction < 0 ? 0U : element::direction_parity(element.shape(), direction);
  };
  for (const auto& slot : slots) parities.push_back(parity(slot.first) ^ parity(slot.second));
  return {modes_ ? folded(matrix, parities, modes_->sectors, nullptr, *folding)
                 : folded(matrix, parities, point_folding_->sectors, &*point_folding_, *folding)};
}

ReferenceMatrix BasisTables::point_table(const Element& element, const std::vector<BasisSlot>& slots, int facet) const {
  const auto table = element.tabulate(points_of(facet));
  const auto frame = differentiation_frame(input_.function.shape, input_.function.is_facet);
  const auto entry = [&](int slot, int q, int i) { return slot == -2 ? 1.0 : slot_value(table, frame, slot, q, i); };
  ReferenceMatrix matrix{"T", static_cast<int>(slots.size()) * num_points(), table.num_dofs, {}, Symmetry::none, true,
                         {}};
  for (const auto& slot : slots)
    for (int q = 0; q < num_points(); ++q)
      for (int i = 0; i < table.num_dofs; ++i)
        matrix.values.push_back(entry(slot.first, q, i) * entry(slot.second, q, i));
  return matrix;
}

bool BasisTables::are_dofs(const Element& element, const std::vector<BasisSlot>& slots) {
  const bool is_value = slots.size() == 1 && slots.front() == BasisSlot{};
  return is_value && !modes_ && !dof_folding(element) && std::ranges::all_of(stacked(element, slots), is_identity);
}

} // namespace rafter::kernel
