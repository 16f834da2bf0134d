// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <rafter/space/interpolate.hpp>

namespace rafter::space {

class FunctionSpace;

/// A Dirichlet condition on the facets with these tags, on the boundary and inside the domain (empty: on the whole
/// boundary).
struct DirichletCondition {
  std::vector<std::int32_t> tags; ///< numbers of physical groups of facets, or of classes of them; 0: those of no group
  bool is_all = false;            ///< the condition holds on the whole boundary
  SpatialFunction value;
  std::vector<int> components; ///< constrained components; empty: all
  /// Says of a point whether the condition holds there: it does on the facets with these tags all of whose nodes, of
  /// the space, are such points. Empty: on all of them.
  std::function<bool(std::span<const double>)> where{};
};

/// Constrained entries, ascending, and their values; later conditions win on shared nodes.
struct Constraints {
  std::vector<std::int32_t> entries;
  std::vector<double> values;
};
/// Finds the entries that conditions constrain, and their values. On a part of a mesh all processes call it together
/// and agree on the entries that they share. Throws InputError for a condition on the whole boundary of a mesh without
/// one, for tags that no facet has (the message lists those there are) or that periodic facets have, for components out
/// of range, for a missing value and for values that are not finite (with the point).
Constraints make_constraints(const FunctionSpace& space, std::span<const DirichletCondition> conditions);

} // namespace rafter::space
