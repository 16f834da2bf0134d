// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include <rafter/form/scalar_graph.hpp>

namespace rafter::form {

/// A sum of weight_k left_k right_k in which left = C right with a matrix C of nodes that are constant, and weight_k
/// C_kl = weight_l C_lk: the quadratic forms of energies such as stress times strain. With d(left_k) = sum_l C_kl
/// d(right_l) both halves of the product rule are equal, and the derivative is 2 sum_k weight_k left_k d(right_k).
struct QuadraticForm {
  struct Term {
    double weight = 1;
    NodeId left = -1, right = -1;
  };
  std::vector<Term> terms; ///< each `right` once
};

/// The sum `root` as such a form, where it is one. `is_constant` says whether the derivative of a node vanishes; it is
/// asked for nodes below `root`.
std::optional<QuadraticForm> find_quadratic_form(ScalarGraph& graph, NodeId root,
                                                 const std::function<bool(NodeId)>& is_constant);

} // namespace rafter::form
