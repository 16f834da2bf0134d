// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/element/reflections.hpp>
#include <rafter/kernel/folding.hpp>
#include <rafter/kernel/reference_matrices.hpp>
#include <rafter/kernel/separable.hpp>
#include <rafter/kernel/tensor_program.hpp>

namespace rafter::kernel {

using element::Element;

/// A basis slot: the value (-1) or a reference derivative; of a pair, both.
struct BasisSlot {
  int first = -1, second = -2; ///< second -2: not a pair
  auto operator<=>(const BasisSlot&) const = default;
};

class DenseTables {
public:
  struct Key {
    const Element* element;
    std::vector<BasisSlot> slots;
    int modal_degree; ///< -1: points
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, ReferenceMatrix> tables;
  std::map<std::pair<element::Shape, int>, ModalBasis> modal_bases; ///< by degree
};
std::shared_ptr<DenseTables> make_dense_tables() { return std::make_shared<DenseTables>(); }

namespace {

class Builder {
public:
  explicit Builder(const ProgramInput& input)
      : input_(input), tables_(input.tables == nullptr ? make_dense_tables() : input.tables) {
    program_.function = input.function;
    program_.tdim = input.function.tdim();
    program_.inputs = input.inputs;
    program_.outputs = input.outputs;
    program_.is_tensor = element::is_tensor(input.function.shape) && !input.function.is_facet &&
                         input.options.contraction != Contraction::dense;
    set_points();
  }

  TensorProgram build() {
    complete_outputs();
    for (std::size_t f = 0; f < program_.inputs.size(); ++f) evaluate_input(static_cast<int>(f));
    evaluate_geometry();
    make_output_arrays();
    program_.steps.push_back({.kind = StepKind::evaluate});
    for (std::size_t f = 0; f < program_.outputs.size(); ++f) integrate_output(static_cast<int>(f));
    const std::size_t num_evaluated = program_.inputs.size() + (program_.geometry != nullptr ? 1 : 0);
    if (program_.evaluations.size() != num_evaluated || program_.integrations.size() != program_.outputs.size()) {
      program_.evaluations.clear();
      program_.integrations.clear();
    }
    program_.verify();
    return std::move(program_);
  }

private:
  // --- points -------------------------------------------------------------------------------------------------------
  void set_points() {
    const auto& rule = input_.quadrature;
    if (program_.is_tensor) {
      points_1d_ = rule.points_1d;
      weights_1d_ = rule.weights_1d;
      program_.points = points_1d_;
      program_.point_extents.assign(static_cast<std::size_t>(program_.tdim), static_cast<int>(points_1d_.size()));
      program_.weights = rule.weights;
    } else if (input_.function.is_facet) {
      program_.points = element::map_to_cell(input_.function.shape, program_.tdim - 1, input_.local_facet, rule.points);
      program_.weights = rule.weights;
      const double ratio = facet_area_ratio(input_.function.shape, input_.local_facet);
      for (double& weight : program_.weights) weight *= ratio;
      program_.point_extents = {rule.num_points()};
    } else if (const auto degree = modal_degree(input_); degree && input_.options.contraction == Contraction::modal) {
      modes_ = modal_basis(*degree);
      program_.weights.assign(static_cast<std::size_t>(modes_->size()), 1.0);
      program_.point_extents = {modes_->size()};
    } else {
      set_dense_points();
      program_.point_extents = {rule.num_points()};
    }
    program_.num_points = static_cast<int>(program_.weights.size());
  }
  const ModalBasis& modal_basis(int degree) {
    const auto shape = input_.function.shape;
    const auto [place, is_new] = tables_->modal_bases.try_emplace({shape, degree});
    if (is_new) place->second = make_modal_basis(shape, degree);
    return place->second;
  }
  /// By sectors where the rule is symmetric.
  void set_dense_points() {
    const auto& rule = input_.quadrature;
    program_.points = rule.points;
    program_.weights = rule.weights;
    point_folding_ = make_folding(rule.shape, rule.points);
    if (!point_folding_) return;
    const auto dim = static_cast<std::size_t>(program_.tdim);
    for (std::size_t q = 0; q < program_.weights.size(); ++q) {
      const auto place = static_cast<std::size_t>(point_folding_->places[q]);
      program_.weights[place] = rule.weights[q];
      std::copy_n(rule.points.begin() + static_cast<std::ptrdiff_t>(q * dim), dim,
                  program_.points.begin() + static_cast<std::ptrdiff_t>(place * dim));
    }
    std::iota(point_folding_->places.begin(), point_folding_->places.end(), 0);
  }

  // --- arrays, matrices, steps --------------------------------------------------------------------------------------
  int add_array(const std::string& name, int components, std::vector<int> extents) {
    extents.insert(extents.begin(), components);
    program_.arrays.push_back({name, std::move(extents)});
    return static_cast<int>(program_.arrays.size()) - 1;
  }
  /// The index of an equal matrix, or of a new one.
  int add_matrix(ReferenceMatrix matrix) {
    for (std::size_t i = 0; i < program_.matrices.size(); ++i)
      if (program_.matrices[i].rows == matrix.rows && program_.matrices[i].values == matrix.values)
        return static_cast<int>(i);
    matrix.name += std::to_string(program_.matrices.size());
    matrix.is_data = !program_.is_tensor;
    program_.matrices.push_back(std::move(matrix));
    return static_cast<int>(program_.matrices.size()) - 1;
  }
  int add_folding(const Folding& folding) {
    const auto found = std::find(program_.foldings.begin(), program_.foldings.end(), folding);
    if (found != program_.foldings.end()) return static_cast<int>(found - program_.foldings.begin());
    program_.foldings.push_back(folding);
    return static_cast<int>(program_.foldings.size()) - 1;
  }
  void butterfly(int array, int folding) {
    program_.steps.push_back({.kind = StepKind::butterfly, .field = folding, .target = array});
  }
  /// How dofs of an element are folded in dense programs; nothing when its tables are used as they are.
  std::optional<Folding> dof_folding(const Element& element) const {
    if (program_.is_tensor || input_.function.is_facet || (!modes_ && !point_folding_)) return std::nullopt;
    return make_folding(element.shape(), element.nodes());
  }
  int contract(int source, int matrix, int axis, const std::string& name, int target = -1, bool accumulate = false) {
    const auto& m = program_.matrices[static_cast<std::size_t>(matrix)];
    if (target < 0) {
      TensorArray array = program_.arrays[static_cast<std::size_t>(source)];
      array.name = name;
      array.extents[static_cast<std::size_t>(axis)] = m.rows;
      program_.arrays.push_back(array);
      target = static_cast<int>(program_.arrays.size()) - 1;
    }
    program_.steps.push_back({.kind = StepKind::contract,
                              .source = source,
                              .target = target,
                              .matrix = matrix,
                              .axis = axis,
                              .accumulate = accumulate});
    return target;
  }
  /// Array axis of a reference axis: the last one is reference axis 0.
  int position(int axis) const { return program_.tdim - axis; }

  /// Contracts axis 0, 1, ..; the last contraction may add to `target`. Identities are skipped.
  int chain(int source, const std::vector<ReferenceMatrix>& factors, const std::string& name, int target = -1,
            bool accumulate = false, std::array<int, 3>* used = nullptr) {
    for (int axis = 0; axis < program_.tdim; ++axis) {
      const auto& factor = factors[static_cast<std::size_t>(axis)];
      const bool is_last = axis + 1 == program_.tdim;
      if (is_identity(factor) && !(is_last && target >= 0)) continue;
      const int matrix = add_matrix(factor);
      if (used != nullptr) (*used)[static_cast<std::size_t>(axis)] = matrix;
      source = contract(source, matrix, position(axis), fmt::format("{}_{}", name, axis), is_last ? target : -1,
                        is_last && accumulate);
    }
    return source;
  }

  // --- tables -------------------------------------------------------------------------------------------------------
  /// 1D factor of a basis slot along an axis.
  ReferenceMatrix factor(const Element& element, const BasisSlot& slot, int axis) const {
    ReferenceMatrix result = table_1d(element, points_1d_, slot.first == axis ? 1 : 0);
    if (slot.second != -2) {
      const auto other = table_1d(element, points_1d_, slot.second == axis ? 1 : 0);
      for (std::size_t i = 0; i < result.values.size(); ++i) result.values[i] *= other.values[i];
      result.name += other.name;
    }
    return with_symmetry(std::move(result));
  }
  std::vector<ReferenceMatrix> factors(const Element& element, const BasisSlot& slot, bool is_test) const {
    std::vector<ReferenceMatrix> result;
    for (int axis = 0; axis < program_.tdim; ++axis) {
      auto matrix = factor(element, slot, axis);
      result.push_back(is_test ? weighted_transpose(matrix, weights_1d_) : matrix);
    }
    return result;
  }
  /// Slots of all points (or modes) one after the other, between folded dofs and points where both can be folded.
  const ReferenceMatrix& stacked(const Element& element, const std::vector<BasisSlot>& slots) {
    const auto [place, is_new] = tables_->tables.try_emplace({&element, slots, modes_ ? modes_->degree : -1});
    if (is_new) place->second = make_stacked(element, slots); // test and trial functions often share it
    return place->second;
  }
  ReferenceMatrix make_stacked(const Element& element, const std::vector<BasisSlot>& slots) const {
    auto matrix = modes_ ? modal_table(*modes_, element, first_directions(slots)) : point_table(element, slots);
    const auto folding = dof_folding(element);
    if (!folding) return matrix;
    std::vector<unsigned> parities;
    const auto parity = [&](int direction) {
      return direction < 0 ? 0U : element::direction_parity(element.shape(), direction);
    };
    for (const auto& slot : slots) parities.push_back(parity(slot.first) ^ parity(slot.second));
    return modes_ ? folded(matrix, parities, modes_->sectors, nullptr, *folding)
                  : folded(matrix, parities, point_folding_->sectors, &*point_folding_, *folding);
  }
  static std::vector<int> first_directions(const std::vector<BasisSlot>& slots) {
    std::vector<int> directions;
    for (const auto& slot : slots) directions.push_back(slot.first);
    return directions;
  }
  ReferenceMatrix point_table(const Element& element, const std::vector<BasisSlot>& slots) const {
    const auto table = element.tabulate(program_.points);
    const auto frame = differentiation_frame(input_.function.shape, input_.function.is_facet);
    const auto entry = [&](int slot, int q, int i) { return slot == -2 ? 1.0 : slot_value(table, frame, slot, q, i); };
    ReferenceMatrix matrix{
        "T", static_cast<int>(slots.size()) * program_.num_points, table.num_dofs, {}, Symmetry::none, true, {}};
    for (const auto& slot : slots)
      for (int q = 0; q < program_.num_points; ++q)
        for (int i = 0; i < table.num_dofs; ++i)
          matrix.values.push_back(entry(slot.first, q, i) * entry(slot.second, q, i));
    return matrix;
  }
  /// Dofs of an element whose nodes are the points of a dense program are its values there.
  bool is_nodal(const Element& element, const std::vector<BasisSlot>& slots) {
    const bool is_value = slots.size() == 1 && slots.front() == BasisSlot{};
    return is_value && !modes_ && !dof_folding(element) && is_identity(stacked(element, slots));
  }
  std::vector<double> stacked_weights(std::size_t num_slots) const {
    std::vector<double> weights;
    for (std::size_t s = 0; s < num_slots; ++s)
      weights.insert(weights.end(), program_.weights.begin(), program_.weights.end());
    return weights;
  }

  // --- evaluation (B) -----------------------------------------------------------------------------------------------
  std::vector<int> dof_extents(const Element& element) const {
    if (!program_.is_tensor) return {element.num_dofs()};
    return std::vector<int>(static_cast<std::size_t>(program_.tdim), element.degree() + 1);
  }
  bool is_collocated(const Element& element) const {
    return input_.options.contraction != Contraction::per_derivative &&
           static_cast<int>(points_1d_.size()) >= element.degree() + 1;
  }

  /// Arrays of the basis slots of a field that starts in array `dofs`.
  std::map<BasisSlot, Slot> evaluate(int dofs, const Element& element, const std::set<BasisSlot>& wanted,
                                     const std::string& name) {
    std::map<BasisSlot, Slot> result;
    if (!program_.is_tensor) {
      const std::vector<BasisSlot> slots(wanted.begin(), wanted.end());
      if (is_nodal(element, slots)) {
        result[slots.front()] = {dofs, 0, 0};
        return result;
      }
      const auto folding = dof_folding(element);
      if (folding) {
        program_.arrays[static_cast<std::size_t>(dofs)].folding = add_folding(*folding);
        butterfly(dofs, add_folding(*folding));
      }
      const int array = contract(dofs, add_matrix(stacked(element, slots)), 1, name + "_points");
      program_.arrays[static_cast<std::size_t>(array)].folding = -1;
      if (folding && point_folding_) butterfly(array, add_folding(*point_folding_));
      for (std::size_t s = 0; s < slots.size(); ++s)
        result[slots[s]] = {array, 0, static_cast<int>(s) * program_.num_points};
      return result;
    }
    if (!is_collocated(element)) {
      for (const auto& slot : wanted)
        result[slot] = {chain(dofs, factors(element, slot, false), fmt::format("{}_{}", name, slot.first + 1)), 0, 0};
      return result;
    }
    CollocatedEvaluation stages;
    stages.dofs = dofs;
    stages.values = chain(dofs, factors(element, BasisSlot{}, false), name, -1, false, &stages.interpolation);
    const auto differentiation = with_symmetry(differentiation_matrix(points_1d_));
    for (const auto& slot : wanted) {
      if (slot.first < 0) {
        result[slot] = {stages.values, 0, 0};
        continue;
      }
      stages.differentiation = add_matrix(differentiation);
      const int array = contract(stages.values, stages.differentiation, position(slot.first),
                                 fmt::format("{}_d{}", name, slot.first));
      stages.derivatives[static_cast<std::size_t>(slot.first)] = array;
      result[slot] = {array, 0, 0};
    }
    program_.evaluations.push_back(stages);
    return result;
  }

  std::vector<Atom> atoms() const {
    std::set<Atom> found;
    const auto& graph = program_.function.graph;
    for (const NodeId id : graph.reachable(program_.function.roots()))
      if (graph[id].op == form::ScalarOp::atom) found.insert(graph[id].atom);
    return {found.begin(), found.end()};
  }

  void evaluate_geometry() {
    std::set<BasisSlot> wanted;
    for (const auto& atom : atoms()) {
      if (atom.kind == AtomKind::coordinate) wanted.insert(BasisSlot{});
      if (atom.kind == AtomKind::jacobian) wanted.insert(BasisSlot{atom.b});
    }
    if (wanted.empty()) return;
    if (input_.geometry == nullptr) throw base::InternalError("an isoparametric map needs its geometry element");
    program_.geometry = input_.geometry;
    const int nodes = add_array("nodes", program_.tdim, dof_extents(*input_.geometry));
    program_.steps.push_back({.kind = StepKind::load_nodes, .target = nodes});
    const auto slots = evaluate(nodes, *input_.geometry, wanted, "x");
    for (const auto& atom : atoms()) {
      const bool is_value = atom.kind == AtomKind::coordinate;
      if (!is_value && atom.kind != AtomKind::jacobian) continue;
      Slot slot = slots.at(is_value ? BasisSlot{} : BasisSlot{atom.b});
      slot.component = atom.a;
      program_.input_slots.push_back({atom, slot});
    }
  }

  void evaluate_input(int f) {
    const auto& use = program_.inputs[static_cast<std::size_t>(f)];
    std::set<BasisSlot> wanted;
    for (const auto& atom : atoms())
      if (atom.kind == use.kind && atom.a == use.index) wanted.insert(BasisSlot{atom.c});
    if (wanted.empty()) return;
    const std::string name = fmt::format("u{}", f);
    const int dofs = add_array(name + "_dofs", use.components, dof_extents(*use.element));
    program_.steps.push_back({.kind = StepKind::gather, .field = f, .target = dofs});
    const auto slots = evaluate(dofs, *use.element, wanted, name);
    for (const auto& atom : atoms())
      if (atom.kind == use.kind && atom.a == use.index) {
        Slot slot = slots.at(BasisSlot{atom.c});
        slot.component = atom.b;
        program_.input_slots.push_back({atom, slot});
      }
  }

  // --- integration (B^T) --------------------------------------------------------------------------------------------
  static BasisSlot basis_slot(const Output& output) {
    return {output.derivative, output.kind == OutputKind::test_pair ? output.derivative2 : -2};
  }
  static bool is_tested(const Output& output) {
    return output.kind == OutputKind::test || output.kind == OutputKind::test_pair;
  }

  /// Every component of a slot that any component uses gets a value, zero if need be: arrays are written whole.
  void complete_outputs() {
    std::map<std::tuple<OutputKind, int, BasisSlot>, std::set<int>> components;
    for (const auto& output : program_.function.outputs)
      if (is_tested(output)) components[{output.kind, output.field, basis_slot(output)}].insert(output.component);
    const NodeId zero = program_.function.graph.constant(0);
    for (const auto& [key, present] : components) {
      const auto& [kind, field, slot] = key;
      for (int c = 0; c < output_use(field).components; ++c)
        if (!present.contains(c))
          program_.function.outputs.push_back({kind, field, c, slot.first, std::max(slot.second, -1), zero});
    }
  }
  const FieldUse& output_use(int index) const { return program_.outputs[position_of(program_.outputs, index)]; }

  void make_output_arrays() {
    for (std::size_t f = 0; f < program_.outputs.size(); ++f) {
      const auto& use = program_.outputs[f];
      std::set<BasisSlot> slots;
      for (const auto& output : program_.function.outputs)
        if (is_tested(output) && output.field == use.index) slots.insert(basis_slot(output));
      int offset = 0;
      int dense_array = -1;
      if (!program_.is_tensor && !slots.empty())
        dense_array =
            add_array(fmt::format("f{}", f), use.components, {static_cast<int>(slots.size()) * program_.num_points});
      auto& places = output_places_.emplace_back();
      for (const auto& slot : slots) {
        const int array = program_.is_tensor
                              ? add_array(fmt::format("f{}_{}{}", f, slot.first + 1,
                                                      slot.second == -2 ? "" : "_" + std::to_string(slot.second + 1)),
                                          use.components, program_.point_extents)
                              : dense_array;
        places[slot] = {array, 0, offset};
        if (!program_.is_tensor) offset += program_.num_points;
      }
    }
    for (const auto& output : program_.function.outputs) {
      Slot place;
      if (is_tested(output)) {
        for (std::size_t f = 0; f < program_.outputs.size(); ++f)
          if (program_.outputs[f].index == output.field) place = output_places_[f].at(basis_slot(output));
        place.component = output.component;
      }
      program_.output_slots.push_back(place);
    }
  }

  void integrate_output(int f) {
    const auto& places = output_places_[static_cast<std::size_t>(f)];
    if (places.empty()) return;
    const auto& element = *program_.outputs[static_cast<std::size_t>(f)].element;
    const bool is_by_points = program_.is_tensor && (is_collocated(element) || is_weighed(places, element));
    const int result = !program_.is_tensor                                  ? integrate_dense(f, element)
                       : is_by_points && places.begin()->first.second == -2 ? integrate_collocated(f, element)
                                                                            : integrate_chains(f, element);
    program_.steps.push_back({.kind = StepKind::scatter, .field = f, .source = result});
  }
  /// Tested by values at the nodes of its element, which are the points: nothing is contracted.
  bool is_weighed(const std::map<BasisSlot, Slot>& places, const Element& element) const {
    return places.size() == 1 && places.begin()->first == BasisSlot{} && is_identity(table_1d(element, points_1d_, 0));
  }
  int integrate_dense(int f, const Element& element) {
    std::vector<BasisSlot> slots;
    for (const auto& [slot, place] : output_places_[static_cast<std::size_t>(f)]) slots.push_back(slot);
    const int array = output_places_[static_cast<std::size_t>(f)].begin()->second.array;
    if (is_nodal(element, slots)) {
      program_.steps.push_back({.kind = StepKind::weigh, .target = array});
      return array;
    }
    const auto folding = dof_folding(element);
    if (folding && point_folding_) butterfly(array, add_folding(*point_folding_));
    const int result =
        contract(array, add_matrix(weighted_transpose(stacked(element, slots), stacked_weights(slots.size()))), 1,
                 fmt::format("r{}", f));
    if (folding) {
      program_.arrays[static_cast<std::size_t>(result)].folding = add_folding(*folding);
      butterfly(result, add_folding(*folding));
    }
    return result;
  }
  int integrate_chains(int f, const Element& element) {
    const auto& use = program_.outputs[static_cast<std::size_t>(f)];
    const int result = add_array(fmt::format("r{}", f), use.components, dof_extents(element));
    bool accumulate = false;
    for (const auto& [slot, place] : output_places_[static_cast<std::size_t>(f)]) {
      chain(place.array, factors(element, slot, true), fmt::format("t{}_{}", f, slot.first + 1), result, accumulate);
      accumulate = true;
    }
    return result;
  }
  /// B^T W (f_value + sum_a W^-1 D_a^T W f_a): weights leave the point function.
  int integrate_collocated(int f, const Element& element) {
    const auto& places = output_places_[static_cast<std::size_t>(f)];
    const auto differentiation = differentiation_matrix(points_1d_);
    auto transposed = weighted_transpose(differentiation, weights_1d_);
    for (int r = 0; r < transposed.rows; ++r)
      for (int k = 0; k < transposed.cols; ++k)
        transposed.values[static_cast<std::size_t>(r * transposed.cols + k)] /=
            weights_1d_[static_cast<std::size_t>(r)];
    transposed = with_symmetry(std::move(transposed));
    CollocatedIntegration stages;
    const auto value = places.find(BasisSlot{});
    int total = stages.values = value == places.end() ? -1 : value->second.array;
    for (const auto& [slot, place] : places) {
      if (slot.first < 0) continue;
      stages.differentiation = add_matrix(transposed);
      stages.derivatives[static_cast<std::size_t>(slot.first)] = place.array;
      total =
          contract(place.array, stages.differentiation, position(slot.first), fmt::format("s{}", f), total, total >= 0);
    }
    const auto interpolation = table_1d(element, points_1d_, 0);
    if (is_identity(interpolation))
      program_.steps.push_back({.kind = StepKind::weigh, .target = total});
    else
      total =
          chain(total, factors(element, BasisSlot{}, true), fmt::format("r{}", f), -1, false, &stages.interpolation);
    program_.integrations.push_back(stages);
    return total;
  }

  const ProgramInput& input_;
  TensorProgram program_;
  std::vector<double> points_1d_, weights_1d_;
  std::shared_ptr<DenseTables> tables_;
  std::optional<ModalBasis> modes_;      ///< instead of points
  std::optional<Folding> point_folding_; ///< places of points are their numbers
  std::vector<std::map<BasisSlot, Slot>> output_places_;
};

} // namespace

TensorProgram build_program(const ProgramInput& input) {
  if (input.options.contraction == Contraction::separable)
    if (const auto form = separable_form(input)) return build_separable(input, *form);
  return Builder(input).build();
}

} // namespace rafter::kernel
