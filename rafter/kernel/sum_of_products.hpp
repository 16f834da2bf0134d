// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include <rafter/form/scalar_graph.hpp>

namespace rafter::kernel {

/// The value number * (product of factors) * sum, where no factor is common to all terms of the sum.
struct FactoredSum {
  double number = 0;
  std::vector<form::NodeId> factors; ///< factors in ascending order, repeated for powers
  form::NodeId sum = -1;
};

/// A node as a sum of products with sorted factors, sorted terms and common factors outside, so that equal
/// coefficients, such as (b, c) and (c, b) of a symmetric tensor, become one node. Sums among the nodes below
/// `first_new` are kept whole, as factors; only products of such nodes are taken apart. Expressions with more than 64
/// terms stay as they are.
FactoredSum factored_sum(form::ScalarGraph& graph, form::NodeId node, form::NodeId first_new);

/// The node of a factored sum. If the sum itself has no coefficient fields, the factors without such fields are
/// multiplied into it and the others stay outside, so that set-up can store a single number.
form::NodeId assembled(form::ScalarGraph& graph, const FactoredSum& value);

} // namespace rafter::kernel
