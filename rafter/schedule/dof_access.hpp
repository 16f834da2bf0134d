// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <string>
#include <vector>

#include <rafter/schedule/context.hpp>

namespace rafter::schedule {

/// Access to the vector of a field dof by dof, for items that hold dofs of one cell and not a cell each. The cell is
/// variable("cell") of the batch. A dof that cells share is found in the list of their entries, one of the interior by
/// its number there.
class DofAccess {
public:
  DofAccess(Context& context, const kernel::FieldUse& use);

  /// Calls move(to, index in the vector, component, is of the interior) for all components of the dof with this number
  /// in the cell.
  using Move = std::function<void(Statements& to, const NodePtr& index, int component, bool is_interior)>;
  void each_component(const NodePtr& dof, Statements& to, const Move& move) const;

private:
  void shared(const NodePtr& place, Statements& to, const Move& move) const;
  void interior(const NodePtr& number, Statements& to, const Move& move) const;

  Context& context_;
  const space::ElementLayout& layout_;
  int space_, components_;
  std::vector<int> places_; ///< number of each dof among the shared ones, or behind these among those of the interior
};

} // namespace rafter::schedule
