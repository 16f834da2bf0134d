// SPDX-License-Identifier: BSD-3-Clause
#include <bench/stress_vector.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

#include <bench/operators.hpp>
#include <fmt/format.h>
#include <rafter/form/language.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/run/entry_list.hpp>
#include <rafter/operator/run/form_data.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/operator/run/sparse_matrix.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::bench {
namespace {

using Space = std::shared_ptr<const space::FunctionSpace>;

/// Returns the space of cell vectors of values at the points: the nodes of degree p+1 are p+2 Gauss-Lobatto points
/// along each axis.
Space values_at_points(const Space& displacements, int components) {
  return space::FunctionSpace::make(
      displacements->discretisation(),
      {.degree = displacements->degree + 1, .components = components, .name = "q", .is_broken = true});
}

op::Systems from_to(const Space& trial, const Space& test) {
  return {op::make_system({test}), op::make_system({trial})};
}

struct FormTexts {
  int components;
  std::string stress, integration;
};
FormTexts nine_values() {
  return {9, fmt::format("s*inner(dot(C, {}), q)*dx", components_of("sym(grad(u))")),
          fmt::format("inner(q, {})*dx", components_of("grad(u)"))};
}
/// The values are in the order of Voigt: 00, 11, 22, 01, 02, 12.
FormTexts six_values() {
  return {
      6, "s*inner([S[0, 0], S[1, 1], S[2, 2], S[0, 1], S[0, 2], S[1, 2]], q)*dx",
      fmt::format("inner([q[0], q[3], q[4], q[3], q[1], q[5], q[4], q[5], q[2]], {})*dx", components_of("grad(u)"))};
}

/// Returns the kernels of a form with the points for displacements of this degree.
std::unique_ptr<const op::FormKernels> make_kernels(const std::string& text, int rank, const op::Systems& systems,
                                                    int degree, const std::shared_ptr<device::Device>& device,
                                                    const std::string& plan, form::Scope& scope) {
  op::OperatorOptions options{.shared_device = device, .plan = plan};
  options.quadrature.points = degree + 2;
  options.quadrature.kind = element::QuadratureKind::gll;
  auto built = op::build(form::parse_form(text, scope), rank, systems, options);
  op::compile(std::span(&built, 1));
  return std::make_unique<const op::FormKernels>(std::move(built));
}

} // namespace

StressVectorOperator::StressVectorOperator(const Space& displacements, const std::shared_ptr<device::Device>& device,
                                           const StressVectorChoice& choice) {
  const auto texts = choice.is_symmetric ? six_values() : nine_values();
  const auto stresses = values_at_points(displacements, texts.components), scalars = values_at_points(displacements, 0);
  const auto vector_of = [&](const Space& space) {
    return op::Vector(device, static_cast<std::size_t>(space->num_local()));
  };

  form::Scope of_weights(3);
  of_weights.add("q", form::test_function(scalars));
  const int degree = displacements->degree;
  auto inverse_weights = vector_of(scalars);
  make_kernels("q*dx", 1, op::make_system({scalars}), degree, device, choice.stress_plan, of_weights)
      ->run(nullptr, inverse_weights, false);
  for (double& weight : inverse_weights.host_write()) weight = 1 / weight;

  form::Scope of_stress(3);
  (choice.add_names ? choice.add_names : add_material)(of_stress);
  of_stress.add("u", form::trial_function(displacements));
  of_stress.add("q", form::test_function(stresses));
  of_stress.add("s", form::field(scalars, "s"));
  of_stress.define("S", "lmbda*div(u)*I + 2*mu*sym(grad(u))");
  stress_ =
      make_kernels(texts.stress, 2, from_to(displacements, stresses), degree, device, choice.stress_plan, of_stress);
  stress_->data().set("s", inverse_weights);

  form::Scope of_integration(3);
  of_integration.add("q", form::trial_function(stresses));
  of_integration.add("u", form::test_function(displacements));
  integration_ =
      make_kernels(texts.integration, 2, from_to(stresses, displacements), degree, device, choice.plan, of_integration);
  stresses_ = vector_of(stresses);
}

StressVectorOperator::~StressVectorOperator() = default;

void StressVectorOperator::apply(const op::Vector& x, op::Vector& y) const {
  stress_->run(&x, stresses_, false);
  integration_->run(&stresses_, y, false);
}

machine::Counts StressVectorOperator::counts() const {
  auto counts = stress_->counts();
  counts += integration_->counts();
  return counts;
}

std::vector<op::KernelInfo> StressVectorOperator::info() const {
  auto result = stress_->info();
  result.insert(result.end(), integration_->info().begin(), integration_->info().end());
  return result;
}

namespace {

/// Constrained entries, and padding.
std::vector<std::int32_t> identity_entries(const op::Operator& A) {
  std::vector<std::int32_t> result;
  std::ranges::set_union(A.constrained_entries(), A.system().padding(), std::back_inserter(result));
  return result;
}

} // namespace

ConstrainedStressVectorOperator::ConstrainedStressVectorOperator(std::shared_ptr<const op::Operator> A,
                                                                 const StressVectorChoice& choice)
    : A_(std::move(A)), loops_(A_->system().spaces.front(), A_->device(), choice),
      identity_(std::make_unique<const op::EntryList>(A_->device(), identity_entries(*A_))), free_(A_->make_vector()) {}

ConstrainedStressVectorOperator::~ConstrainedStressVectorOperator() = default;

std::int64_t ConstrainedStressVectorOperator::size() const { return A_->size(); }
std::vector<op::EntryRange> ConstrainedStressVectorOperator::owned_ranges() const { return A_->owned_ranges(); }
std::span<const std::int32_t> ConstrainedStressVectorOperator::constrained_entries() const {
  return A_->constrained_entries();
}
std::int64_t ConstrainedStressVectorOperator::num_unknowns() const { return A_->num_unknowns(); }
std::shared_ptr<device::Device> ConstrainedStressVectorOperator::device() const { return A_->device(); }
void ConstrainedStressVectorOperator::diagonal(op::Vector& d) const { A_->diagonal(d); }
op::SparseMatrix ConstrainedStressVectorOperator::sparse_matrix() const { return A_->sparse_matrix(); }

void ConstrainedStressVectorOperator::apply(const op::Vector& x, op::Vector& y) const {
  identity_->copy_without(x, free_);
  loops_.apply(free_, y);
  identity_->copy_at(x, y);
}

} // namespace rafter::bench
