// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rafter/operator/generate/system.hpp>
#include <rafter/operator/operator_options.hpp>
#include <rafter/operator/run/linear_operator.hpp>
#include <rafter/operator/usage.hpp>
#include <rafter/space/constraints.hpp>

namespace rafter::form {
class Form;
struct LoweredForm;
} // namespace rafter::form
namespace rafter::machine {
struct Counts;
} // namespace rafter::machine

/// Applies bilinear forms as operators.
namespace rafter::op {

class Action;
class AssembledMatrix;
class CellMatrixArrays;
class EntryList;
class FormData;
class FormKernels;
class SparseAssembly;
enum class BlockKind : std::uint8_t;
struct DiagonalBlocks;
struct GeneratedForm;
struct KernelInfo;
struct KernelOptions;
struct TouchedRanges;
template <class T> class FreeList;
template <class T> struct CellArray;

/// A bilinear form as an operator: y is in the vectors of the system of test functions, x in those of the trial
/// functions. It is matrix-free, or an assembled matrix where the plan says so or num_applications of the options pay
/// its set-up off. With equal systems unknowns may be constrained, which decouples them: with P the projection on the
/// free ones the operator is P A P + (I - P), symmetric when A is.
///
/// All processes that have parts of a mesh make the operator and call its functions together. Each gives its part of
/// vectors, whose ghosts need not be up to date, and may be changed, before and after.
class Operator final : public LinearOperator {
public:
  /// Makes the operator on the systems of the form (systems_of). Throws InputError for forms that are not bilinear and
  /// for conditions on a form whose systems differ.
  Operator(const form::Form& form, const OperatorOptions& options = {});
  Operator(const form::Form& form, const Systems& systems, const OperatorOptions& options);
  /// Takes compiled kernels. Those of the diagonal are made when it is asked for first, if they are not given.
  Operator(std::shared_ptr<const GeneratedForm> action, space::Constraints constraints,
           std::shared_ptr<const GeneratedForm> diagonal = nullptr);
  Operator(std::shared_ptr<const GeneratedForm> action, std::vector<FieldCondition> conditions,
           std::shared_ptr<const GeneratedForm> diagonal = nullptr);
  Operator(Operator&&) noexcept;
  Operator& operator=(Operator&&) noexcept;
  ~Operator() override;

  /// Binds the values of a data field, a constant or a parameter of the form from now on, with the errors of
  /// FormData::set. Nothing is compiled again; what was stored of other values is computed again at the next
  /// application.
  void set(const std::string& name, const Vector& values);
  void set(const std::string& name, const Vector& values, const EntryRange& range);
  /// Values of boundary conditions that depend on the parameter follow.
  void set(const std::string& name, const std::vector<double>& values);
  void set(const std::string& name, double value) { set(name, std::vector{value}); }
  /// Gives every data field and parameter without values numbers between 0.5 and 1 (FormData::set_missing).
  void set_missing();
  /// Says whether boundary values depend on this parameter.
  bool has_boundary_parameter(const std::string& name) const;
  /// Binds all data fields whose spaces are among those of the system, which is the state of a linearised form.
  void set_fields(const System& system, const Vector& values);
  /// Computes now what is stored of values that have changed, and nothing else; the next application would do so, too.
  void refresh() const;
  /// Counts the runs of set-up kernels of the action, one for each kernel that stores something.
  int num_setups() const;

  std::int64_t rows() const override { return system().size(); }
  std::int64_t columns() const override { return trial_system().size(); }
  std::int64_t size() const override;
  std::shared_ptr<const comm::Communicator> communicator() const override;
  std::vector<EntryRange> owned_ranges() const override { return system().owned_ranges(); }
  std::span<const std::int32_t> constrained_entries() const override { return constraints_.entries; }
  std::int64_t num_unknowns() const override { return system().num_unknowns(); }
  std::shared_ptr<device::Device> device() const override;
  void apply(const Vector& x, Vector& y) const override; ///< computes y = (P A P + I - P) x
  /// Does the same on vectors of floats, which smoothers need no more than. Throws InputError unless the plan has
  /// accumulate=float; such operators apply to vectors of doubles, too, through copies.
  void apply(const SingleVector& x, SingleVector& y) const override;
  /// Does what apply() does, with work on vectors in the same pass over the cells.
  void apply_with(Vector& x, Vector& y, const VectorWork& work) const override;
  void apply_with(SingleVector& x, SingleVector& y, const VectorWork& work) const override;
  std::int64_t num_parts() const override;
  void apply_add(const Vector& x, Vector& y) const;  ///< computes y += (P A P + I - P) x
  void apply_free(const Vector& x, Vector& y) const; ///< computes y = A x without the conditions
  void diagonal(Vector& d) const override; ///< the diagonal of A, with 1 at constrained unknowns and at padding

  /// The matrix of apply(): rows and columns of constrained unknowns are those of the identity, and values those of the
  /// data fields and parameters as they are now. Entries are the pairs of unknowns that share a cell where the form
  /// couples them. Padding has rows and columns of the identity, too; matrix_of_unknowns() is without. Throws
  /// InputError for a rectangular operator and on a part of a mesh, and EnvironmentError when the memory of this
  /// machine does not hold the matrix. The first call compiles kernels of cell matrices.
  SparseMatrix sparse_matrix() const override;
  /// The rows and columns of sparse_matrix() that belong to unknowns, num_unknowns() of both, in their order.
  SparseMatrix matrix_of_unknowns() const;
  /// Computes the values of a matrix of sparse_matrix() anew in place, for other values of data fields and parameters.
  /// Throws InputError for a matrix of another size.
  void update(SparseMatrix& matrix) const;
  /// The blocks of the matrix on its diagonal that `kind` names. Constrained unknowns have the rows and columns of the
  /// identity there, too.
  DiagonalBlocks diagonal_blocks(BlockKind kind) const;
  /// Returns the same for a matrix of sparse_matrix(), which is not computed again. Throws InputError for another size.
  DiagonalBlocks diagonal_blocks(const SparseMatrix& matrix, BlockKind kind) const;

  /// Fills arrays with the matrices of cells for the values of data fields and parameters as they are now. They are
  /// those of the form, whatever conditions the operator has; of rectangular forms, too. Local unknowns are numbered as
  /// num_local_unknowns() and local_unknowns() say for system(), the rows, and trial_system(), the columns
  /// (rafter/operator/matrix/cell_arrays.hpp). The first call compiles kernels. Throws the errors of CellMatrixArrays.
  void cell_matrices(std::span<const CellArray<double>> arrays) const;
  void cell_matrices(std::span<const CellArray<float>> arrays) const; ///< rounds their terms to floats

  /// Gives the constrained unknowns new values, in the order of constraints().values; kernels stay as they are. Throws
  /// InputError for another number of values.
  void set_boundary_values(std::vector<double> values);
  /// Takes the values from conditions. Throws InputError for conditions that fix other unknowns than those so far.
  void set_boundary_values(const std::vector<FieldCondition>& conditions);
  /// Turns the right-hand side of the free problem into that of the constrained one, b <- P (b - A g) + g, with g the
  /// boundary values, and writes g into the constrained entries of the initial guess x.
  void apply_boundary_values(Vector& b, Vector& x) const;

  /// Vector of a square operator.
  Vector make_vector() const { return Vector(device(), static_cast<std::size_t>(size())); }
  /// Vector like y in y = A x.
  Vector make_row_vector() const { return Vector(device(), static_cast<std::size_t>(rows())); }
  /// Vector like x in y = A x.
  Vector make_column_vector() const { return Vector(device(), static_cast<std::size_t>(columns())); }
  SingleVector make_single_vector() const { return SingleVector(device(), static_cast<std::size_t>(size())); }
  /// Says whether the vectors of the kernels hold floats.
  bool is_single() const override;
  const System& system() const; ///< system of the test functions
  /// System of the trial functions, which is the same one for a square operator.
  const System& trial_system() const;
  const form::LoweredForm& form() const; ///< form that the operator was made of
  /// The constrained entries, with the values that boundary conditions have now. Throws InputError where those of their
  /// parameters are missing.
  const space::Constraints& constraints() const;
  /// 2-norm of v's constrained entries, over all processes, which neither overflows nor underflows.
  double constrained_norm(const Vector& v) const;
  /// The conditions that the operator was made with; empty where it was made with entries.
  std::span<const FieldCondition> conditions() const { return conditions_; }
  /// The values of data fields, constants and parameters.
  const FormData& data() const { return *data_; }
  /// Number of unknowns of all processes that no condition fixes.
  std::int64_t num_free() const { return num_unknowns() - num_constrained_; }
  /// The kernels of cells and facets. Throws InternalError for an assembled matrix.
  const FormKernels& kernels() const;
  /// The assembled matrix; null: the operator is matrix-free. Throws InputError where values of data fields or
  /// parameters are missing.
  const AssembledMatrix* matrix() const;
  const GeneratedForm& built() const { return *built_; }
  const KernelOptions& options() const; ///< options of its kernels
  /// The kernels that an application runs: those of cells and facets, or the product of the matrix.
  std::span<const KernelInfo> info() const;
  machine::Counts counts() const; ///< operations and bytes of an application, without conditions

  Usage usage() const; ///< usage by applications without fused work: kernels and boundary conditions
  /// Relative difference from the same kernels in double precision (op::precision_error), found at construction.
  /// Construction throws InputError when it is more than max_precision_error.
  double precision_error() const;

private:
  struct FusedConstraints;
  struct Work;
  const FusedConstraints& fused_constraints(const TouchedRanges& parts) const;
  template <class T> using VectorList = FreeList<device::Array<T>>;
  /// Returns a copy of x with 0 at identity_entries_. Returns nothing where there are none, and on a host where x is 0
  /// there: other devices would have to be waited for.
  template <class T>
  std::optional<typename VectorList<T>::Loan> projected(const device::Array<T>& x, VectorList<T>& vectors) const;
  template <class T> void apply_projected(const device::Array<T>& x, device::Array<T>& y, VectorList<T>& vectors) const;
  /// Computes y = A x, or y += A x, without the conditions. Vectors of doubles go through floats where the action is
  /// on these.
  void run(const Vector& x, Vector& y, bool adds) const;
  void run(const SingleVector& x, SingleVector& y, bool adds) const;
  const SparseAssembly& sparse_assembly() const;
  const CellMatrixArrays& cell_matrix_arrays() const;
  template <class T> void apply_fused(device::Array<T>& x, device::Array<T>& y, const VectorWork& work) const;

  std::shared_ptr<const GeneratedForm> built_;
  std::shared_ptr<FormData> data_; ///< data of the action and of the sparse matrix
  std::unique_ptr<const Action> action_;
  mutable space::Constraints constraints_;
  /// Constrained entries and, of a square operator, padding, in ascending order: there the operator is the identity.
  std::vector<std::int32_t> identity_entries_;
  std::unique_ptr<const EntryList> identity_, constrained_; ///< these and the constrained ones on the device
  std::unique_ptr<const EntryList> owned_constrained_;      ///< null: this process owns all constrained entries
  std::int64_t num_constrained_ = 0;                        ///< number of constrained unknowns of all processes
  std::vector<FieldCondition> conditions_; ///< those with expressions are what boundary values are computed from
  mutable bool are_boundary_values_stale_ = false;
  mutable std::unique_ptr<const SparseAssembly> sparse_assembly_;      ///< made on first use
  mutable std::unique_ptr<const CellMatrixArrays> cell_matrix_arrays_; ///< made on first use
  mutable std::unique_ptr<const FusedConstraints> fused_constraints_;  ///< made on first use
  std::unique_ptr<Work> work_;
};

} // namespace rafter::op
