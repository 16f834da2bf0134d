// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <optional>

#include <rafter/operator/levels/transfer.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/precision.hpp>

namespace rafter::tune {
class Planner;
} // namespace rafter::tune

namespace rafter::op {

struct TransferOptions {
  std::shared_ptr<device::Device> device; ///< null: the host device of the fine discretisation, with all cores
  /// Plan of all kernels; where it is absent they have the usual one (tune::plan_transfer). Its precision is that
  /// of `precision`.
  std::optional<schedule::Plan> plan;
  schedule::Precision precision = schedule::Precision::double_precision; ///< vectors, matrices and products have it
  std::shared_ptr<const tune::Planner> planner; ///< knows the machine; null: tune::planner_of_this_machine
};

/// Makes a transfer that runs as compiled kernels, cell by cell in stages, with the same bits for any number of
/// threads. The transpose is exact: both directions apply the same matrices and masks. Several threads may use it at
/// the same time, each on vectors of its own. Throws InputError for systems with other fields than each other, for
/// spaces that the refinement does not connect, for broken spaces on children, for parts of a mesh, and for constraints
/// that hold on a part of an edge or a face.
std::unique_ptr<Transfer> make_transfer(const TransferSpecification& specification,
                                        const TransferOptions& options = {});

} // namespace rafter::op
