// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include <rafter/operator/linear_form.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/solve/newton.hpp>
#include <rafter/solve/null_space_condition.hpp>

namespace rafter::solvers {

/// Name of the constant that a form may hold for the share of its loads: load steps give it values up to 1.
inline constexpr const char* load_factor_name = "load_factor";

bool has_parameter(const form::LoweredForm& form, const std::string& name);
bool has_field(const form::LoweredForm& form, const std::string& name); ///< whether it has this data field

/// Makes a residual form F(u; v) = 0 the equations of Newton's method: R_i(u) = F(u; phi_i), and the tangent is the
/// derivative of F by u. Both have the unknown u as a data field.
class ResidualProblem final : public NonlinearProblem {
public:
  /// `residual` holds compiled kernels of F. `tangent` is on the system of F, with its conditions. `state` has the
  /// names of the data fields that are the unknowns, in the order of the system. `energy` holds compiled kernels of a
  /// functional whose derivative is F; null: none is known. Other data fields get their values by set(). Throws
  /// InputError where the forms are on other systems than the tangent or the number of names is another one.
  ResidualProblem(std::shared_ptr<const op::GeneratedForm> residual, std::shared_ptr<op::Operator> tangent,
                  std::vector<std::string> state, std::shared_ptr<const op::GeneratedForm> energy = nullptr);

  std::shared_ptr<device::Device> device() const override { return tangent_->device(); }
  std::int64_t size() const override { return tangent_->size(); }
  std::vector<std::int64_t> field_offsets() const override;
  std::shared_ptr<const FieldBalance> fields() const override;
  const space::Constraints& constraints() const override { return tangent_->constraints(); }
  void set_load_factor(double factor) override;
  /// Gives the residual form this state without evaluating it.
  void bind(const Vector& u);
  void residual(const Vector& u, Vector& r) override;
  bool has_energy() const override { return energy_.has_value(); }
  double energy(const Vector& u) override;
  void linearise(const Vector& u) override;
  const op::LinearOperator& tangent() const override { return *tangent_; }
  void apply_tangent_free(const Vector& du, Vector& y) const override { tangent_->apply_free(du, y); }
  /// Describes the first cell none of whose entries is finite, as in "no finite value of 'u' in hexahedron 7 at (0.5,
  /// 0.5, 1), where u is 0". If there is none, as for terms on facets, it is the cell that has the most entries which
  /// are not finite.
  std::string describe_non_finite(const Vector& r, const Vector& u) const override;

  /// Binds the values of a data field other than the unknowns in all forms that hold it. Throws InputError where none
  /// does, and for vectors of another size.
  void set(const std::string& name, const Vector& values);
  /// The same for a parameter or constant, also one of boundary values.
  void set(const std::string& name, double value);

  op::LinearForm& residual_form() { return residual_; }
  const op::LinearForm& residual_form() const { return residual_; }

private:
  template <class Target> void set_state(Target& target, const form::LoweredForm& form, const Vector& u);
  template <class Target> void set_factor(Target& target, const form::LoweredForm& form, double factor);

  std::shared_ptr<const op::GeneratedForm> built_residual_, built_energy_;
  std::shared_ptr<op::Operator> tangent_;
  op::LinearForm residual_;
  std::optional<op::Functional> energy_;
  std::vector<std::string> state_;
};

/// Adds null vectors to a state that Newton's method has found such that the conditions on them hold. Where that makes
/// a residual that was small a large one, the vectors are none of the equations there, and the result becomes a
/// failure.
void constrain(NonlinearProblem& problem, const ConstrainedNullSpace& null_space, double rtol, Vector& u,
               NewtonResult& result);

} // namespace rafter::solvers
