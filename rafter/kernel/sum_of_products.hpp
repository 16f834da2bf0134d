// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/form/scalar_graph.hpp>

namespace rafter::kernel {

/// The same value as a sum of products with sorted factors, sorted terms and common factors outside, so that equal
/// coefficients, such as (b, c) and (c, b) of a symmetric tensor, become one node. Nodes below `first_new` keep their
/// sums whole: they are factors, only their products are taken apart. Expressions with more than 64 terms stay as they
/// are.
form::NodeId sum_of_products(form::ScalarGraph& graph, form::NodeId node, form::NodeId first_new);

} // namespace rafter::kernel
