// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include <rafter/operator/operator.hpp>

/// What of a bilinear form set-up stores, from all to nothing: the four ways that codes apply operators.
namespace rafter::problem {

/// An operator in one of the ways.
struct StorageWay {
  std::string name;         ///< one of storage_way_names()
  std::string plan;         ///< The kernels of the operator follow this plan.
  double setup_seconds = 0; ///< what was computed before the first application, kernels compiled
  op::Operator A;
};

/// "assembled", "cell-matrices", "stored", "recomputed", in this order.
std::vector<std::string> storage_way_names();

/// Makes the operator of a form in those of the ways that are named. Keys of the plan of `A` that say nothing about
/// storage stay. Ways that the form does not have are left out, as stored matrices of cells are at high degrees. Data
/// fields and parameters have numbers between 0.5 and 1.
std::vector<StorageWay> storage_ways(const op::Operator& A, const std::vector<std::string>& names);

} // namespace rafter::problem
