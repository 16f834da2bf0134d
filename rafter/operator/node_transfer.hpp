// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/operator/transfer.hpp>
#include <rafter/space/low_order_refinement.hpp>

namespace rafter::op {

/// The transfer between two systems that have the same nodes: it gives each unknown the number that it has on the other
/// side. Free unknowns are mapped one to one, so that P P^T is the identity on them.
class NodeTransfer final : public Transfer {
public:
  /// Takes a fine system whose spaces have the degree of `nodes`, and a coarse one of degree 1 on the mesh of `nodes`.
  /// Throws InputError for others.
  NodeTransfer(const TransferSpecification& specification, const space::LowOrderRefinement& nodes);

  std::int64_t rows() const override { return static_cast<std::int64_t>(coarse_of_fine_.size()); }
  std::int64_t columns() const override { return static_cast<std::int64_t>(fine_of_coarse_.size()); }
  void prolongate(const Vector& coarse, Vector& fine) const override;
  void prolongate_and_add(const Vector& coarse, Vector& fine) const override;
  void restrict_to(const Vector& fine, Vector& coarse) const override;

private:
  /// Entries on the other side, shape (entry); -1: constrained entries and padding, which have none.
  std::vector<std::int32_t> coarse_of_fine_, fine_of_coarse_;
};

} // namespace rafter::op
