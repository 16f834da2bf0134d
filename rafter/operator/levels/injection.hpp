// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <rafter/mesh/generations.hpp>
#include <rafter/operator/run/linear_operator.hpp>
#include <rafter/space/low_order_refinement.hpp>

/// Moves functions to coarser spaces by their values at the nodes there.
namespace rafter::op {

/// Two spaces of the same family and number of components.
struct InjectionSpecification {
  std::shared_ptr<const space::FunctionSpace> fine, coarse;
  /// The refinement that makes the fine mesh of the coarse one.
  const mesh::Refinement* refinement = nullptr;
  /// The cells of the coarse space between the nodes of the cells of the fine one. Both null: the spaces are on one
  /// discretisation.
  std::shared_ptr<const space::LowOrderRefinement> nodes = {};
};

/// Injection of a fine function into a coarse space: the coarse function has its values at the nodes. It keeps
/// polynomials of the coarse degree, and values at vertices whatever the degrees. (The transpose of the prolongation
/// moves residuals, which are functionals; this one moves functions. Brandt, Livne: Multigrid Techniques, SIAM 2011,
/// section 8.) Where cells of a broken fine space differ at a node, their mean is taken, but between nodes each cell
/// keeps its own value.
class Injection {
public:
  /// Throws InputError for spaces of other components, and for meshes that the refinement does not connect.
  explicit Injection(const InjectionSpecification& specification);
  /// Computes all entries of the vector of the coarse space from that of the fine one, with the same bits for any
  /// number of threads.
  void apply(const Vector& fine, Vector& coarse) const;

private:
  /// A part of the value at a coarse node: so much of a dof of a fine cell in the coarse one.
  struct Term {
    int child = 0, dof = 0;
    double weight = 1;
  };
  /// Coarse cells whose children are the same in reference coordinates. If the coarse cells are those between the nodes
  /// of a fine one, all of these stand for a coarse cell, with the dofs of one after the other.
  struct Kind {
    std::int32_t group = 0;
    std::vector<std::vector<Term>> terms; ///< shape (dof of the coarse element)(term)
  };
  /// A node of the coarse space, in the first cell that has it.
  struct Node {
    std::int32_t kind = 0, cell = 0, dof = 0;
  };
  class Builder;
  class Cell;
  /// Finds the entries of a coarse cell, or of all those between the nodes of a fine one, shape (component, dof).
  void find_coarse_entries(std::int32_t group, std::int32_t cell, std::vector<std::int32_t>& entries) const;

  std::shared_ptr<const space::FunctionSpace> fine_, coarse_;
  std::shared_ptr<const space::LowOrderRefinement> between_; ///< null: the coarse cells are not between nodes
  std::vector<std::vector<mesh::ChildPlace>> places_;        ///< places of children, shape (group)(child)
  std::vector<Kind> kinds_;
  std::vector<Node> nodes_; ///< cell by cell
};

} // namespace rafter::op
