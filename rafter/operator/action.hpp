// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <span>

#include <rafter/operator/run/linear_operator.hpp>

namespace rafter::machine {
struct Counts;
} // namespace rafter::machine

/// Actions are what operators do to vectors, whichever way it is computed.
namespace rafter::op {

class AssembledMatrix;
class FormData;
class FormKernels;
struct GeneratedForm;
struct KernelInfo;
struct TouchedRanges;

/// The action of a bilinear form without conditions, y = A x, for the values of data fields and parameters that are
/// bound when it runs. There are two: kernels that run cell by cell (matrix-free), and an assembled matrix, which is
/// assembled when it is first asked for and again after values have changed. Several threads may run it at the same
/// time on vectors of their own, while nobody sets data.
class Action {
public:
  virtual ~Action() = default;
  /// Computes y = A x, or y += A x when `adds` is true, on vectors of the precision of the form
  /// (GeneratedForm::vectors), else throws InternalError. Throws InputError for vectors of another size, for data
  /// without values, and when y is x.
  virtual void run(const Vector& x, Vector& y, bool adds) const = 0;
  virtual void run(const SingleVector& x, SingleVector& y, bool adds) const = 0;
  /// Computes y = A x with work on vectors fused into it. Only actions with touched_ranges() do so.
  virtual void run_with(const Vector& x, Vector& y, const VectorWork& work) const;
  virtual void run_with(const SingleVector& x, SingleVector& y, const VectorWork& work) const;
  /// The parts between which fused work is done. Null: nothing can be fused into this action.
  virtual const TouchedRanges* touched_ranges() const { return nullptr; }
  virtual void diagonal(Vector& d) const = 0; ///< computes d_i = A_ii of a square operator

  /// Computes now what is stored of values that have changed, and nothing else; runs do so, too.
  virtual void refresh() const = 0;
  virtual int num_setups() const { return 0; } ///< runs of set-up kernels so far
  /// Relative difference from double precision, which is at most max_precision_error. 0: it is not known yet.
  virtual double precision_error() const = 0;
  virtual std::span<const KernelInfo> info() const = 0; ///< the kernels that a run takes
  virtual machine::Counts counts() const = 0;           ///< operations and bytes of a run

  /// Returns the kernels or the matrix that compute the action. Null: it is the other one.
  virtual const FormKernels* kernels() const { return nullptr; }
  virtual const AssembledMatrix* matrix() const { return nullptr; }
};

/// Binds what the plan has asked for and was compiled. A matrix is assembled at once where the data have values.
/// `diagonal` holds kernels of the diagonal; null: they are made when the diagonal is first asked for. Throws
/// InputError when the action differs from double precision by more than max_precision_error; so do runs that assemble
/// the matrix again.
std::unique_ptr<const Action> make_action(std::shared_ptr<const GeneratedForm> built, std::shared_ptr<FormData> data,
                                          std::shared_ptr<const GeneratedForm> diagonal);

} // namespace rafter::op
