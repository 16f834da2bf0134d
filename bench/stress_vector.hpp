// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <rafter/machine/roofline.hpp>
#include <rafter/operator/run/linear_operator.hpp>

namespace rafter::op {
class FormKernels;
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
};

/// The first loop writes the stress at every point of every cell to a vector, the paper's QVec; the second one reads it
/// and integrates it with the gradients of the test functions. Both take p+2 Gauss-Lobatto points along each axis,
/// where the vector's space has its nodes; on affine cells the result is that of p+2 Gauss points. Beside u, the first
/// loop reads one number at each point, which removes the weights of the integral.
class StressVectorOperator {
public:
  /// The operator acts on cell vectors of displacements.
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

} // namespace rafter::bench
