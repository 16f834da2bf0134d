// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rafter/form/form.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/operator/assembled_matrix.hpp>
#include <rafter/operator/form_builder.hpp>
#include <rafter/operator/form_data.hpp>
#include <rafter/operator/free_list.hpp>
#include <rafter/operator/linear_operator.hpp>
#include <rafter/operator/sparse_matrix.hpp>
#include <rafter/operator/touched_ranges.hpp>

/// Operators, right-hand sides and functionals of forms.
namespace rafter::op {

/// A Dirichlet condition on one field of a system.
struct FieldCondition {
  std::shared_ptr<const space::FunctionSpace> space;
  space::DirichletCondition condition;
  /// What the values are computed from, where they may hold parameters; null: from condition.value, which never
  /// changes.
  std::shared_ptr<const form::PointEvaluator> expression = {};
};
/// The condition that a field has the values of an expression of x, constants and parameters on boundary facets with
/// these tags (none: on the whole boundary). Throws InputError for other expressions and another number of components.
FieldCondition make_condition(std::shared_ptr<const space::FunctionSpace> space, std::vector<std::int32_t> tags,
                              const form::Expr& value);

struct OperatorOptions {
  std::string device = "host";                   ///< as --device
  int threads = 0;                               ///< 0: all cores that the process may use
  std::shared_ptr<device::Device> shared_device; ///< used instead of `device` when given
  QuadratureOptions quadrature;
  std::string plan;                             ///< plan text for the cell kernels; "": the planner chooses
  std::shared_ptr<const tune::Planner> planner; ///< null: tune::planner_of_this_machine
  double num_applications = 0;                  ///< as KernelOptions, of operators
  std::vector<FieldCondition> dirichlet;
};

/// Cells of a batch for kernels of this plan (OperatorOptions::plan), as space::DiscretisationOptions takes them: as
/// many as usual, or as its sub-batches hold when these are more. Throws InputError as schedule::parse_plan.
int cells_per_batch(const std::string& plan);
/// The device that the options ask for: a shared one, that of the discretisation, or one of its own.
std::shared_ptr<device::Device> device_of(const OperatorOptions& options);
std::shared_ptr<device::Device> device_of(const OperatorOptions& options, const space::Discretisation& discretisation);
KernelOptions kernel_options(const OperatorOptions& options, std::shared_ptr<device::Device> device);

/// The conditions as entries of the system's vectors and their values. Throws InputError as space::make_constraints.
space::Constraints make_constraints(const System& system, const std::vector<FieldCondition>& conditions);

/// The kernels of a form of this rank as text, for the constructors below: those of many forms are compiled at once by
/// compile(). Throws InputError for forms of another rank and what build_form() refuses.
std::shared_ptr<GeneratedForm> build(const form::Form& form, int rank, const Systems& systems,
                                     const OperatorOptions& options, Purpose purpose = Purpose::action);

/// The spaces of a form's test functions as one system and those of its trial functions as another one, in order of
/// appearance; one system where both are of the same spaces. Of a functional those of its data fields.
Systems systems_of(const form::Form& form);

/// A bilinear form as an operator: y in the vectors of the system of test functions, x in those of the trial functions.
/// It is matrix-free, or an assembled matrix where the plan says so or num_applications of the options pay its set-up
/// off. With equal systems unknowns may be constrained, which decouples them: with P the projection on the free ones
/// the operator is P A P + (I - P), symmetric when A is.
///
/// On a part of a mesh all processes make the operator and call its functions together. Each gives its part of vectors,
/// whose ghosts need not be up to date, and may be changed, before and after.
class Operator final : public LinearOperator {
public:
  /// On the systems of the form (systems_of). Throws InputError for forms that are not bilinear and for conditions on a
  /// form whose systems differ.
  Operator(const form::Form& form, const OperatorOptions& options = {});
  Operator(const form::Form& form, const Systems& systems, const OperatorOptions& options);
  /// Of compiled kernels; without those of the diagonal they are made when it is asked for.
  Operator(std::shared_ptr<const GeneratedForm> action, space::Constraints constraints,
           std::shared_ptr<const GeneratedForm> diagonal = nullptr);
  Operator(std::shared_ptr<const GeneratedForm> action, std::vector<FieldCondition> conditions,
           std::shared_ptr<const GeneratedForm> diagonal = nullptr);

  /// Binds the values of a data field, a constant or a parameter of the form from now on, as FormData::set. Nothing is
  /// compiled again; what was stored of other values is computed again at the next application.
  void set(const std::string& name, const Vector& values) { data_->set(name, values); }
  /// Values of boundary conditions that depend on the parameter follow.
  void set(const std::string& name, const std::vector<double>& values);
  void set(const std::string& name, double value) { set(name, std::vector{value}); }
  /// Whether boundary values are expressions of this parameter.
  bool has_boundary_parameter(const std::string& name) const;
  /// Binds all data fields whose spaces are among those of the system: the state of a linearised form.
  void set_fields(const System& system, const Vector& values) { data_->set_fields(system, values); }
  /// Computes now what is stored of values that have changed, and nothing else; the next application would do so, too.
  void refresh() const;
  /// How often set-up kernels of the action were run, one for each kernel that stores something.
  int num_setups() const { return kernels_ == nullptr ? 0 : kernels_->num_setups(); }

  std::int64_t rows() const override { return system().size(); }
  std::int64_t columns() const override { return trial_system().size(); }
  std::int64_t size() const override;
  std::shared_ptr<const comm::Communicator> communicator() const override { return system().mesh->communicator(); }
  std::vector<EntryRange> owned_ranges() const override { return system().owned_ranges(); }
  std::int64_t num_unknowns() const override { return system().num_unknowns(); }
  std::shared_ptr<device::Device> device() const override { return built_->options.device; }
  void apply(const Vector& x, Vector& y) const override; ///< y = (P A P + I - P) x
  /// The same on vectors of floats, which smoothers need no more than; plans with accumulate=float, else InputError.
  /// (These also apply to vectors of doubles, through copies.)
  void apply(const SingleVector& x, SingleVector& y) const;
  void apply_with(Vector& x, Vector& y,
                  const VectorWork& work) const override; ///< as apply, in one pass over the cells
  std::int64_t num_parts() const override;
  void apply_add(const Vector& x, Vector& y) const;  ///< y += (P A P + I - P) x
  void apply_free(const Vector& x, Vector& y) const; ///< y = A x, conditions ignored
  void diagonal(Vector& d) const override;           ///< 1 at constrained unknowns and at padding

  /// The matrix of apply(): rows and columns of constrained unknowns are those of the identity, and values those of the
  /// data fields and parameters as they are now. Entries are the pairs of unknowns that share a cell where the form
  /// couples them. Throws EnvironmentError when the memory of this machine does not hold it. The first call compiles
  /// kernels of cell matrices. It has rows of padding, too, which are those of the identity, and its columns are entries
  /// of vectors: matrix_of_unknowns() is without.
  SparseMatrix sparse_matrix() const override;
  /// The rows and columns of unknowns alone, numbered in the order of owned_ranges(): num_unknowns() of both.
  SparseMatrix matrix_of_unknowns() const { return sparse_matrix().restricted(owned_ranges()); }
  /// Computes the values of a matrix of sparse_matrix() anew in place, for other values of data fields and parameters.
  /// Throws InputError for a matrix of another size.
  void update(SparseMatrix& matrix) const;
  /// Blocks of the matrix on its diagonal, as the kind says; constrained unknowns have the rows and columns of the
  /// identity there, too.
  DiagonalBlocks diagonal_blocks(BlockKind kind) const;
  /// The same of a matrix of sparse_matrix(), which is not computed again.
  DiagonalBlocks diagonal_blocks(const SparseMatrix& matrix, BlockKind kind) const;

  /// New values of the constrained unknowns, as constraints().values: kernels stay as they are. Throws InputError for
  /// another number of values.
  void set_boundary_values(std::vector<double> values);
  /// Takes the values from conditions. Throws InputError for conditions that fix other unknowns than those so far.
  void set_boundary_values(const std::vector<FieldCondition>& conditions);
  /// Turns the right-hand side of the free problem into that of the constrained one, b <- P (b - A g) + g, with g the
  /// boundary values; and writes g into the constrained entries of the initial guess.
  void apply_boundary_values(Vector& b, Vector& x) const;

  Vector make_vector() const { return Vector(device(), static_cast<std::size_t>(size())); } ///< of a square operator
  Vector make_row_vector() const { return Vector(device(), static_cast<std::size_t>(rows())); }       ///< as y
  Vector make_column_vector() const { return Vector(device(), static_cast<std::size_t>(columns())); } ///< as x
  SingleVector make_single_vector() const { return SingleVector(device(), static_cast<std::size_t>(size())); }
  /// The kernels' vectors are floats.
  bool is_single() const { return built_->vectors() == schedule::Precision::single_precision; }
  const System& system() const { return built_->system; }             ///< of the test functions
  const System& trial_system() const { return built_->trial_system; } ///< the same one of a square operator
  const form::LoweredForm& form() const { return built_->form; }
  /// With the values that boundary conditions have now. Throws InputError where those of their parameters are missing.
  const space::Constraints& constraints() const;
  /// Unknowns of all processes that no condition fixes.
  std::int64_t num_free() const { return num_unknowns() - num_constrained_; }
  /// InternalError for an assembled matrix.
  const FormKernels& kernels() const;
  /// Null: matrix-free. Throws InputError where values of data fields are missing.
  const AssembledMatrix* matrix() const { return built_->matrix == nullptr ? nullptr : &current_matrix(); }
  const GeneratedForm& built() const { return *built_; }
  /// Kernels that an application runs: those of cells and facets, or the product of the matrix.
  std::span<const KernelInfo> info() const;
  machine::Counts counts() const; ///< of an application, without conditions

  /// Counts applications without fused work, and the time they took (kernels and boundary conditions).
  struct Usage {
    std::int64_t applications = 0;
    double seconds = 0;
  };
  Usage usage() const { return {work_->num_applications, work_->seconds}; }
  /// Relative difference from the same kernels in double precision (op::precision_error), found at construction; at
  /// most max_precision_error, else construction throws InputError.
  double precision_error() const { return precision_error_; }

private:
  /// Entries of the identity by the part that touches them first, and by the one that touches them last.
  struct FusedConstraints {
    Grouped<std::int32_t> before, after;
  };
  const FusedConstraints& fused_constraints() const;
  template <class T> using VectorList = FreeList<device::Array<T>>;
  /// A copy of x whose entries of the identity are 0; nothing where they are 0 in x.
  template <class T>
  std::optional<typename VectorList<T>::Loan> projected(const device::Array<T>& x, VectorList<T>& vectors) const;
  template <class T> void apply_projected(const device::Array<T>& x, device::Array<T>& y, VectorList<T>& vectors) const;
  /// y = A x or y += A x, conditions ignored.
  void run(const Vector& x, Vector& y, bool adds) const;
  void run(const SingleVector& x, SingleVector& y, bool adds) const { kernels_->run(x, y, adds); }
  const FormKernels& diagonal_kernels() const;
  const SparseAssembly& sparse_assembly() const;
  /// Whether work on vectors may be fused into the kernels.
  bool has_fused_work() const {
    return kernels_ != nullptr && built_->is_square() && device()->shares_host_memory() && !is_single() &&
           system().mesh->distribution == nullptr;
  }
  /// The matrix for the values that are bound now; assembled again where they have changed.
  const AssembledMatrix& current_matrix() const;

  std::shared_ptr<const GeneratedForm> built_;
  mutable std::shared_ptr<const GeneratedForm> built_diagonal_;
  std::shared_ptr<FormData> data_;                        ///< of action, diagonal and matrix
  std::unique_ptr<const FormKernels> kernels_;            ///< null: assembled
  mutable std::unique_ptr<const AssembledMatrix> matrix_; ///< null: matrix-free, or not assembled yet
  mutable std::uint64_t matrix_version_ = 0;              ///< of the data that the matrix was assembled from
  mutable space::Constraints constraints_;
  /// Constrained entries and, of a square operator, padding: where it is the identity. Ascending.
  std::vector<std::int32_t> identity_entries_;
  std::int64_t num_constrained_ = 0;       ///< unknowns of all processes
  std::vector<FieldCondition> conditions_; ///< what boundary values are computed from; none: they were given
  mutable bool are_boundary_values_stale_ = false;
  mutable double precision_error_ = 0;
  mutable std::unique_ptr<FormKernels> diagonal_kernels_;             ///< made on first use
  mutable std::unique_ptr<const SparseAssembly> sparse_assembly_;     ///< made on first use
  mutable std::unique_ptr<const FusedConstraints> fused_constraints_; ///< made on first use
  /// What applications need while they last.
  struct Work {
    VectorList<double> vectors;                ///< as x
    VectorList<float> singles, single_outputs; ///< as x and as y
    std::atomic<std::int64_t> num_applications = 0;
    std::atomic<double> seconds = 0;
    std::recursive_mutex mutex; ///< of what is made on first use
  };
  std::unique_ptr<Work> work_ = std::make_unique<Work>();
};

/// A linear form: assembles its vector.
class LinearForm {
public:
  LinearForm(const form::Form& form, const System& system, const OperatorOptions& options = {});
  explicit LinearForm(std::shared_ptr<const GeneratedForm> built); ///< of compiled kernels
  /// Binds values by name, as Operator::set and Operator::set_fields do.
  void set(const std::string& name, const Vector& values) { kernels_.data().set(name, values); }
  void set(const std::string& name, const std::vector<double>& values) { kernels_.data().set(name, values); }
  void set(const std::string& name, double value) { kernels_.data().set(name, value); }
  void set_fields(const System& system, const Vector& values) { kernels_.data().set_fields(system, values); }
  void assemble(Vector& b) const; ///< b_i = L(phi_i)
  const FormKernels& kernels() const { return kernels_; }

private:
  FormKernels kernels_;
};

/// A functional: a number that depends on data fields and parameters.
class Functional {
public:
  Functional(const form::Form& form, const System& system, const OperatorOptions& options = {});
  explicit Functional(std::shared_ptr<const GeneratedForm> built); ///< of compiled kernels
  /// Binds values by name, as Operator::set and Operator::set_fields do.
  void set(const std::string& name, const Vector& values) { kernels_.data().set(name, values); }
  void set(const std::string& name, const std::vector<double>& values) { kernels_.data().set(name, values); }
  void set(const std::string& name, double value) { kernels_.data().set(name, value); }
  /// The value for these values of the fields of the system, and those that were set of other data fields.
  double operator()(const Vector& fields) const;
  double operator()() const; ///< for the values that were set
  const FormKernels& kernels() const { return kernels_; }

private:
  std::shared_ptr<const GeneratedForm> built_;
  FormKernels kernels_;
};

} // namespace rafter::op
