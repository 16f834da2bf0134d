// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>
#include <vector>

#include <rafter/form/scalar_graph.hpp>

namespace rafter::form {

/// Scalar expressions as text. A part that several places use, or that is nested deeply, is written once, under a name.
struct ScalarTexts {
  std::vector<std::string> names; ///< "t0 = mul(...)", each of which may use those before it
  std::vector<std::string> roots; ///< text of each root
};

/// The texts of some nodes of a graph. Small expressions are written out wherever they stand; one gets a name where
/// more than one place uses it and it has many operations, and where so many are nested. The text is therefore about as
/// long as the graph is large.
ScalarTexts texts_of(const ScalarGraph& graph, std::span<const NodeId> roots);

} // namespace rafter::form
