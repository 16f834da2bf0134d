// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <rafter/machine/roofline.hpp>
#include <rafter/operator/run/linear_operator.hpp>

namespace rafter::form {
class Scope;
} // namespace rafter::form
namespace rafter::op {
class EntryList;
class FormKernels;
class Operator;
struct KernelInfo;
} // namespace rafter::op
namespace rafter::space {
class FunctionSpace;
} // namespace rafter::space

/// Elasticity is computed in two loops over the cells that meet in memory, as in algorithm 1 of Chang et al.,
/// arXiv:2601.08374.
namespace rafter::bench {

struct StressVectorChoice {
  bool is_symmetric = false;     ///< six values of the isotropic law at a point instead of nine of the general one
  std::string stress_plan, plan; ///< plans of the loop that writes the stress and of the one that integrates it
  /// Adds lmbda, mu and I, and C where the stress is not symmetric, as add_material() does, which is taken if it is
  /// empty.
  std::function<void(form::Scope&)> add_names{};
};

/// The first loop writes the stress at every point of every cell to a vector, the paper's QVec; the second one reads it
/// and integrates it with the gradients of the test functions. Both take p+2 Gauss-Lobatto points along each axis,
/// where the vector's space has its nodes; on affine cells the result is that of p+2 Gauss points. Beside u, the first
/// loop reads one number at each point, which removes the weights of the integral.
class StressVectorOperator {
public:
  /// The operator acts on vectors of displacements, cell vectors or others, without conditions.
  StressVectorOperator(const std::shared_ptr<const space::FunctionSpace>& displacements,
                       const std::shared_ptr<device::Device>& device, const StressVectorChoice& choice);
  ~StressVectorOperator();

  void apply(const op::Vector& x, op::Vector& y) const;
  machine::Counts counts() const;
  /// Returns the kernels of both loops.
  std::vector<op::KernelInfo> info() const;

private:
  std::unique_ptr<const op::FormKernels> stress_, integration_;
  mutable op::Vector stresses_;
};

/// The same in the place of an operator of elasticity whose form has another kernel: on its space, with its conditions
/// and its diagonal. One thread at a time applies it.
class ConstrainedStressVectorOperator final : public op::LinearOperator {
public:
  ConstrainedStressVectorOperator(std::shared_ptr<const op::Operator> A, const StressVectorChoice& choice);
  ~ConstrainedStressVectorOperator() override;

  std::int64_t size() const override;
  std::vector<op::EntryRange> owned_ranges() const override;
  std::span<const std::int32_t> constrained_entries() const override;
  std::int64_t num_unknowns() const override;
  std::shared_ptr<device::Device> device() const override;
  void apply(const op::Vector& x, op::Vector& y) const override;
  void diagonal(op::Vector& d) const override;
  op::SparseMatrix sparse_matrix() const override;
  const StressVectorOperator& loops() const { return loops_; }

private:
  std::shared_ptr<const op::Operator> A_;
  StressVectorOperator loops_;
  std::unique_ptr<const op::EntryList> identity_; ///< entries whose rows are those of the identity
  mutable op::Vector free_;                       ///< x without these entries
};

} // namespace rafter::bench
