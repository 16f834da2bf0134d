// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rafter/form/form.hpp>
#include <rafter/operator/form_kernels.hpp>
#include <rafter/operator/linear_operator.hpp>

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
  std::string plan; ///< plan text for the cell kernels; "": the planner chooses
  std::vector<FieldCondition> dirichlet;
  kernel::Balance balance;
};

/// The device that the options ask for.
std::shared_ptr<device::Device> device_of(const OperatorOptions& options);
KernelOptions kernel_options(const OperatorOptions& options, std::shared_ptr<device::Device> device);

/// The function spaces of a form's arguments (fields for functionals), in order of appearance, as a system.
System system_of(const form::Form& form);

/// A bilinear form as a matrix-free operator on system vectors. Constrained unknowns are decoupled: with P the
/// projection on the free ones it is P A P + (I - P), symmetric when A is.
class Operator final : public LinearOperator {
public:
  /// The system is that of the form's spaces. Throws InputError for forms that are not bilinear.
  Operator(const form::Form& form, const OperatorOptions& options = {});
  Operator(const form::Form& form, System system, const OperatorOptions& options);

  std::int64_t size() const override { return system_.size(); }
  std::shared_ptr<device::Device> device() const override { return device_; }
  void apply(const Vector& x, Vector& y) const override; ///< y = (P A P + I - P) x
  void apply_add(const Vector& x, Vector& y) const;      ///< y += (P A P + I - P) x
  void apply_free(const Vector& x, Vector& y) const;     ///< y = A x, conditions ignored
  void diagonal(Vector& d) const override;               ///< 1 at constrained unknowns

  /// Turns the right-hand side of the free problem into that of the constrained one, b <- P (b - A g) + g, with g the
  /// boundary values; and writes g into the constrained entries of the initial guess.
  void apply_boundary_values(Vector& b, Vector& x) const;

  Vector make_vector() const { return Vector(device_, static_cast<std::size_t>(size())); }
  const System& system() const { return system_; }
  const form::LoweredForm& form() const { return form_; }
  const space::Constraints& constraints() const { return constraints_; }
  std::int64_t num_free() const { return size() - static_cast<std::int64_t>(constraints_.entries.size()); }
  const FormKernels& kernels() const { return *kernels_; }

  /// Applications so far and the time they took (kernels and boundary conditions).
  struct Usage {
    std::int64_t applications = 0;
    double seconds = 0;
  };
  Usage usage() const { return usage_; }

private:
  void make_constraints(const std::vector<FieldCondition>& conditions);
  /// x itself when its constrained entries are 0, else a copy where they are.
  const Vector& projected(const Vector& x) const;

  System system_;
  std::shared_ptr<device::Device> device_;
  KernelOptions kernel_options_;
  form::LoweredForm form_;
  space::Constraints constraints_;
  std::unique_ptr<FormKernels> kernels_;
  mutable std::unique_ptr<FormKernels> diagonal_kernels_; ///< made on first use
  mutable Vector work_;
  mutable Usage usage_;
};

/// A linear form: assembles its vector.
class LinearForm {
public:
  LinearForm(const form::Form& form, System system, const OperatorOptions& options = {});
  void assemble(Vector& b) const; ///< b_i = L(phi_i)
  const FormKernels& kernels() const { return *kernels_; }

private:
  std::unique_ptr<FormKernels> kernels_;
};

/// A functional of the fields of a system.
class Functional {
public:
  Functional(const form::Form& form, System system, const OperatorOptions& options = {});
  double operator()(const Vector& fields) const;

private:
  std::unique_ptr<FormKernels> kernels_;
};

} // namespace rafter::op
