// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include <rafter/form/scalar_graph.hpp>

namespace rafter::kernel {

/// number * (product of factors) * sum: the sum has no factor that all its terms share.
struct FactoredSum {
  double number = 0;
  std::vector<form::NodeId> factors; ///< ascending, repeated for powers
  form::NodeId sum = -1;
};

/// The value of a node as a sum of products with sorted factors, sorted terms and common factors outside, so that equal
/// coefficients, such as (b, c) and (c, b) of a symmetric tensor, become one node. Nodes below `first_new` keep their
/// sums whole: they are factors, only their products are taken apart. Expressions with more than 64 terms stay as they
/// are.
FactoredSum factored_sum(form::ScalarGraph& graph, form::NodeId node, form::NodeId first_new);

/// The node of such a value. Where the sum has no coefficient fields, factors without them stand with it and those with
/// them outside: then it is one number that set-up may store.
form::NodeId assembled(form::ScalarGraph& graph, const FactoredSum& value);

} // namespace rafter::kernel
