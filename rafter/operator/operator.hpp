// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rafter/form/form.hpp>
#include <rafter/operator/assembled_matrix.hpp>
#include <rafter/operator/form_builder.hpp>
#include <rafter/operator/linear_operator.hpp>
#include <rafter/operator/sparse_matrix.hpp>
#include <rafter/operator/touched_ranges.hpp>

/// Operators, right-hand sides and functionals of forms.
namespace rafter::op {

/// A Dirichlet condition on one field of a system.
struct FieldCondition {
  std::shared_ptr<const space::FunctionSpace> space;
  space::DirichletCondition condition;
};

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

/// Cells of a batch for kernels of this plan (OperatorOptions::plan): as many as usual, or as its sub-batches hold when
/// these are more. Throws InputError as schedule::parse_plan.
int cells_per_batch(const std::string& plan);
/// How cells are batched for fields of this degree at most: `cells_per_batch` of them, or twice as many as usual where
/// dense products are long enough to take several groups; simplices with their like where an edge has several unknowns.
/// Of quadrilaterals and hexahedra of degree 1 and 2, where there are enough of them, `cells_per_batch` patches.
mesh::BatchOptions batch_options(const mesh::Mesh& mesh, int degree,
                                 int cells_per_batch = mesh::CellBatches().cells_per_batch);

/// The device that the options ask for.
std::shared_ptr<device::Device> device_of(const OperatorOptions& options);
KernelOptions kernel_options(const OperatorOptions& options, std::shared_ptr<device::Device> device);

/// The conditions as entries of the system's vectors and their values. Throws InputError as space::make_constraints.
space::Constraints make_constraints(const System& system, const std::vector<FieldCondition>& conditions);

/// The kernels of a form of this rank as text, for the constructors below: those of many forms are compiled at once by
/// compile(). Throws InputError for forms of another rank and what build_form() refuses.
std::shared_ptr<GeneratedForm> build(const form::Form& form, int rank, const System& system,
                                     const OperatorOptions& options, Purpose purpose = Purpose::action);

/// The function spaces of a form's arguments (fields for functionals), in order of appearance, as a system.
System system_of(const form::Form& form);

/// A bilinear form as an operator on system vectors: matrix-free, or an assembled matrix where the plan says so or
/// num_applications of the options pay its set-up off. Constrained unknowns are decoupled: with P the
/// projection on the free ones it is P A P + (I - P), symmetric when A is.
class Operator final : public LinearOperator {
public:
  /// The system is that of the form's spaces, those of coefficient fields last. Throws InputError for forms that are
  /// not bilinear.
  Operator(const form::Form& form, const OperatorOptions& options = {});
  Operator(const form::Form& form, const System& system, const OperatorOptions& options);
  /// Of compiled kernels; without those of the diagonal they are made when it is asked for.
  Operator(std::shared_ptr<const GeneratedForm> action, space::Constraints constraints,
           std::shared_ptr<const GeneratedForm> diagonal = nullptr);

  /// Values of the coefficient fields of the form: a system vector, of which kernels read the entries of these fields
  /// at every application from now on. Applications without them throw InputError, and so does this for assembled
  /// matrices and kernels on vectors of floats, which have no coefficient fields. Entries of fields that are
  /// coefficients alone are neither read nor written in other vectors.
  void set_fields(Vector fields);

  std::int64_t size() const override { return system().size(); }
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
  void diagonal(Vector& d) const override;           ///< 1 at constrained unknowns

  /// The matrix of apply(): rows and columns of constrained unknowns are those of the identity, and values those of the
  /// coefficient fields as they are now. Entries are the pairs of unknowns that share a cell where the form couples
  /// them. Throws EnvironmentError when the memory of this machine does not hold it. The first call compiles kernels of
  /// cell matrices.
  SparseMatrix sparse_matrix() const override;
  /// Computes the values of a matrix of sparse_matrix() anew in place, for other values of coefficient fields. Throws
  /// InputError for a matrix of another size.
  void update(SparseMatrix& matrix) const;
  /// Blocks of the matrix on its diagonal, as the kind says; constrained unknowns have the rows and columns of the
  /// identity there, too.
  DiagonalBlocks diagonal_blocks(BlockKind kind) const;

  /// Turns the right-hand side of the free problem into that of the constrained one, b <- P (b - A g) + g, with g the
  /// boundary values; and writes g into the constrained entries of the initial guess.
  void apply_boundary_values(Vector& b, Vector& x) const;

  Vector make_vector() const { return Vector(device(), static_cast<std::size_t>(size())); }
  SingleVector make_single_vector() const { return SingleVector(device(), static_cast<std::size_t>(size())); }
  /// The kernels' vectors are floats.
  bool is_single() const { return built_->vectors() == schedule::Precision::single_precision; }
  const System& system() const { return built_->system; }
  const form::LoweredForm& form() const { return built_->form; }
  const space::Constraints& constraints() const { return constraints_; }
  std::int64_t num_free() const { return size() - static_cast<std::int64_t>(constraints_.entries.size()); }
  /// InternalError for an assembled matrix.
  const FormKernels& kernels() const;
  const AssembledMatrix* matrix() const { return matrix_.get(); } ///< null: matrix-free
  const GeneratedForm& built() const { return *built_; }
  /// Kernels that an application runs: those of cells and facets, or the product of the matrix.
  std::span<const KernelInfo> info() const;
  machine::Counts counts() const; ///< of an application, without conditions

  /// Applications without fused work so far and the time they took (kernels and boundary conditions).
  struct Usage {
    std::int64_t applications = 0;
    double seconds = 0;
  };
  Usage usage() const { return usage_; }
  /// Relative difference from the same kernels in double precision (op::precision_error), found at construction; at
  /// most max_precision_error, else construction throws InputError.
  double precision_error() const { return precision_error_; }

private:
  /// Constraints by the part that touches their entries first, and by the one that touches them last.
  struct FusedConstraints {
    Grouped<std::int32_t> before, after;
  };
  const FusedConstraints& fused_constraints() const;
  /// x itself when its constrained entries are 0, else a copy of it, `copy`, where they are.
  template <class T> const device::Array<T>& projected(const device::Array<T>& x, device::Array<T>& copy) const;
  template <class T> void apply_projected(const device::Array<T>& x, device::Array<T>& y, device::Array<T>& copy) const;
  /// y = A x or y += A x, conditions ignored.
  void run(const Vector& x, Vector& y, bool adds) const;
  void run(const SingleVector& x, SingleVector& y, bool adds) const { kernels_->run(x, y, adds); }
  void diagonal_by_kernels(Vector& d) const;
  const SparseAssembly& sparse_assembly() const;
  /// Whether work on vectors may be fused into the kernels.
  bool has_riding() const {
    return kernels_ != nullptr && fields_ == nullptr && device()->shares_host_memory() && !is_single();
  }

  std::shared_ptr<const GeneratedForm> built_;
  mutable std::shared_ptr<const GeneratedForm> built_diagonal_;
  std::unique_ptr<const FormKernels> kernels_;    ///< null: assembled
  std::unique_ptr<const AssembledMatrix> matrix_; ///< null: matrix-free
  std::unique_ptr<const Vector> fields_;          ///< values of coefficient fields
  space::Constraints constraints_;
  double precision_error_ = 0;
  mutable std::unique_ptr<FormKernels> diagonal_kernels_;         ///< made on first use
  mutable std::unique_ptr<const SparseAssembly> sparse_assembly_; ///< made on first use
  mutable Vector work_;
  mutable SingleVector single_work_, single_x_, single_y_;
  mutable std::unique_ptr<const FusedConstraints> fused_constraints_; ///< made on first use
  mutable Usage usage_;
};

/// A linear form: assembles its vector.
class LinearForm {
public:
  LinearForm(const form::Form& form, const System& system, const OperatorOptions& options = {});
  explicit LinearForm(std::shared_ptr<const GeneratedForm> built); ///< of compiled kernels
  void assemble(Vector& b) const;                                  ///< b_i = L(phi_i)
  const FormKernels& kernels() const { return kernels_; }

private:
  FormKernels kernels_;
};

/// A functional of the fields of a system.
class Functional {
public:
  Functional(const form::Form& form, const System& system, const OperatorOptions& options = {});
  explicit Functional(std::shared_ptr<const GeneratedForm> built); ///< of compiled kernels
  double operator()(const Vector& fields) const;

private:
  FormKernels kernels_;
};

} // namespace rafter::op
