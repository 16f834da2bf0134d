// SPDX-License-Identifier: BSD-3-Clause
#include <optional>
#include <set>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/kernel/program_steps.hpp>
#include <rafter/kernel/reference_matrices.hpp>

namespace rafter::kernel {

namespace {

using element::Element;
using Slots = std::map<BasisSlot, Slot>; ///< place of the values of each basis slot

/// Adds the steps that compute the values and derivatives that the QFunction reads.
class Evaluation {
public:
  Evaluation(TensorProgram& program, BasisTables& tables) : program_(program), tables_(tables), steps_(program) {
    std::set<Atom> found;
    const auto& graph = program.function.graph;
    for (const NodeId id : graph.reachable(program.function.roots()))
      if (graph[id].op == form::ScalarOp::atom) found.insert(graph[id].atom);
    atoms_.assign(found.begin(), found.end());
  }

  void input(int f) {
    const auto& use = program_.inputs[static_cast<std::size_t>(f)];
    std::set<BasisSlot> wanted;
    for (const auto& atom : atoms_)
      if (atom.kind == use.kind && atom.a == use.index) wanted.insert(BasisSlot{atom.c});
    if (wanted.empty()) return;
    const std::string name = fmt::format("u{}", f);
    const int dofs = steps_.add_array(name + "_dofs", use.components, axes_of_dofs(*use.element, wanted));
    const auto slots = evaluate({.kind = AccessKind::input, .field = f}, dofs, *use.element, wanted, name);
    for (const auto& atom : atoms_)
      if (atom.kind == use.kind && atom.a == use.index) add_slot(atom, slots.at(BasisSlot{atom.c}), atom.b);
  }

  void geometry(const std::shared_ptr<const Element>& element) {
    std::set<BasisSlot> wanted;
    for (const auto& atom : atoms_) {
      if (atom.kind == AtomKind::coordinate) wanted.insert(BasisSlot{});
      if (atom.kind == AtomKind::jacobian) wanted.insert(BasisSlot{atom.b});
    }
    if (wanted.empty()) return;
    if (element == nullptr) throw base::InternalError("an isoparametric map needs its geometry element");
    program_.geometry = element;
    const int nodes = steps_.add_array("nodes", program_.tdim, axes_of_dofs(*element, wanted));
    const auto slots = evaluate({.kind = AccessKind::nodes}, nodes, *element, wanted, "x");
    for (const auto& atom : atoms_) {
      if (atom.kind == AtomKind::coordinate) add_slot(atom, slots.at(BasisSlot{}), atom.a);
      if (atom.kind == AtomKind::jacobian) add_slot(atom, slots.at(BasisSlot{atom.b}), atom.a);
    }
  }

private:
  std::vector<int> axes_of_dofs(const Element& element, const std::set<BasisSlot>& wanted) {
    const bool are_points = !program_.is_grid() && tables_.are_dofs(element, {wanted.begin(), wanted.end()});
    return are_points ? program_.point_axes : dof_axes(program_, tables_, element);
  }
  void add_slot(const Atom& atom, Slot slot, int component) {
    slot.component = component;
    program_.input_slots.push_back({atom, slot});
  }

  /// Adds the steps that read the dofs of a field into array `dofs` and evaluate it; returns where each wanted basis
  /// slot stands.
  Slots evaluate(Access access, int dofs, const Element& element, const std::set<BasisSlot>& wanted,
                 const std::string& name) {
    const auto folding = tables_.dof_folding(element);
    if (folding) access.places = folding->places;
    steps_.read(steps_.add_access(std::move(access)), dofs);
    if (!program_.is_grid()) return evaluate_dense(dofs, element, folding, {wanted.begin(), wanted.end()}, name);
    if (tables_.is_collocated(element)) return evaluate_collocated(dofs, element, wanted, name);
    if (program_.contraction == Contraction::slice_wise) return evaluate_slice_wise(dofs, element, wanted, name);
    Slots result;
    for (const auto& slot : wanted) {
      const std::string target = fmt::format("{}_{}", name, slot.first + 1);
      result[slot] = {steps_.chain(dofs, tables_.factors(element, slot, false), program_.point_axes, target,
                                   AxisOrder::first_to_last),
                      0, 0};
    }
    return result;
  }
  Slots evaluate_dense(int dofs, const Element& element, const std::optional<Folding>& folding,
                       const std::vector<BasisSlot>& slots, const std::string& name) {
    if (tables_.are_dofs(element, slots)) return {{slots.front(), {dofs, 0, 0}}};
    if (folding) steps_.butterfly(dofs, *folding);
    std::vector<int> rows{steps_.add_axis(AxisKind::slot, static_cast<int>(slots.size()))};
    rows.push_back(program_.point_axes.front());
    const int array = steps_.contract(
        dofs, steps_.family_by_facet(rows, {program_.array(dofs).axes.back()}, tables_.stacked(element, slots)),
        name + "_points");
    if (folding && tables_.point_folding()) steps_.butterfly(array, *tables_.point_folding());
    Slots result;
    for (std::size_t s = 0; s < slots.size(); ++s) result[slots[s]] = {array, 0, static_cast<int>(s)};
    return result;
  }
  /// Contracts from the last axis on. Slots have the more contractions in common, the later their derivatives differ.
  Slots evaluate_slice_wise(int dofs, const Element& element, const std::set<BasisSlot>& wanted,
                            const std::string& name) {
    Slots result;
    std::map<std::vector<int>, int> known; // arrays by the matrices that made them, -1 for identities
    for (const auto& slot : wanted) {
      const auto factors = tables_.factors(element, slot, false);
      const std::string derivative = fmt::format("d{}", slot.first);
      int array = dofs;
      std::vector<int> matrices;
      for (int axis = program_.tdim - 1; axis >= 0; --axis) {
        const auto& factor = factors[static_cast<std::size_t>(axis)];
        matrices.push_back(is_identity(factor) ? -1 : steps_.add_matrix(factor));
        if (matrices.back() < 0) continue;
        const auto [found, is_new] = known.try_emplace(matrices, -1);
        if (is_new)
          found->second = steps_.contract(array,
                                          {.rows = {program_.point_axes[matrices.size() - 1]},
                                           .cols = {steps_.axis_along(array, axis)},
                                           .members = {matrices.back()}},
                                          fmt::format("{}_{}{}", name, axis, slot.first < axis ? "" : derivative));
        array = found->second;
      }
      result[slot] = {array, 0, 0};
    }
    return result;
  }
  Slots evaluate_collocated(int dofs, const Element& element, const std::set<BasisSlot>& wanted,
                            const std::string& name) {
    Slots result;
    const int values = steps_.chain(dofs, tables_.factors(element, BasisSlot{}, false), program_.point_axes, name,
                                    AxisOrder::first_to_last);
    for (const auto& slot : wanted) {
      if (slot.first < 0) {
        result[slot] = {values, 0, 0};
        continue;
      }
      const int matrix = steps_.add_matrix(tables_.differentiation(slot.first));
      const int axis = steps_.axis_along(values, slot.first);
      const int array = steps_.contract(values, {.rows = {axis}, .cols = {axis}, .members = {matrix}},
                                        fmt::format("{}_d{}", name, slot.first));
      result[slot] = {array, 0, 0};
    }
    return result;
  }

  TensorProgram& program_;
  BasisTables& tables_;
  ProgramSteps steps_;
  std::vector<Atom> atoms_; ///< atoms that the QFunction reads
};

} // namespace

void add_evaluation(TensorProgram& program, const ProgramInput& input, BasisTables& tables) {
  Evaluation evaluation(program, tables);
  for (std::size_t f = 0; f < program.inputs.size(); ++f) evaluation.input(static_cast<int>(f));
  evaluation.geometry(input.fields.geometry);
}

} // namespace rafter::kernel
