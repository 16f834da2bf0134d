// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/residual_judge.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace rafter::solvers {

double ResidualJudge::relative(const Residual& residual) const {
  const double reference = scale_.reference(residual.reactions);
  return residual.norm > 0 && reference > 0 ? residual.norm / reference : residual.norm;
}

void ResidualJudge::measure_forces(const Vector& u, const Residual& residual) {
  if (residual.norm <= atol_) return;
  Vector image(problem_.device(), u.size());
  problem_.apply_tangent_free(u, image);
  scale_.set_forces(ops_.norm(image), residual.norm);
}

std::optional<UnsolvedField> ResidualJudge::find_unsolved(const Vector& u, const Residual& residual) const {
  if (fields_ == nullptr || residual.norm <= atol_) return std::nullopt;
  return fields_->find_unsolved(u, residual.values, rtol_, atol_);
}

bool ResidualJudge::is_solved(const Vector& u, const Residual& residual, bool has_tangent) {
  if (!is_small(residual)) return false;
  if (has_tangent) {
    measure_forces(u, residual);
    if (!is_small(residual)) return false;
  } else if (fields_ != nullptr) {
    problem_.linearise(u);
  }
  const auto unsolved = find_unsolved(u, residual);
  if (unsolved) target_of_fields_ = std::min(target_of_fields_, 0.5 * residual.norm / unsolved->excess);
  return !unsolved;
}

void ResidualJudge::measure_magnitude(const Vector& u) {
  Vector changed(problem_.device(), u.size()), image(problem_.device(), u.size());
  ops_.fill_random(1, image);
  ops_.multiply(u, image, changed);
  problem_.apply_tangent_free(changed, image);
  boundary_.clear_entries(image);
  scale_.set_magnitude(ops_.norm(image));
}

bool ResidualJudge::is_rounding(const Vector& u, const Residual& residual) {
  constexpr double largest = 1e-4; // relative residual that rounding which the tangent does not see may leave
  measure_magnitude(u);
  if (residual.norm <= state_rounding * scale_.magnitude()) return true;
  return relative(residual) <= largest && is_rounding_of_evaluation(u, residual);
}

/// Says whether changes of the entries of u in their last digits change the residual as much as there is of it:
/// rounding within the evaluation of R, and jumps.
bool ResidualJudge::is_rounding_of_evaluation(const Vector& u, const Residual& residual) {
  Vector moved(problem_.device(), u.size()), change(problem_.device(), u.size());
  ops_.fill_random(1, change);
  ops_.multiply(u, change, moved);
  ops_.scale(state_rounding, moved);
  ops_.axpy(1, u, moved);
  problem_.residual(moved, change);
  boundary_.clear_entries(change);
  ops_.axpy(-1, residual.values, change);
  return residual.norm <= 4 * ops_.norm(change);
}

bool ResidualJudge::has_diverged(const Vector& u, const Residual& residual, double before) {
  constexpr double most_growth = 1e10;
  if (!(residual.norm > most_growth * std::max(scale_.reference(residual.reactions), before))) return false;
  measure_magnitude(u);
  return residual.norm > most_growth * scale_.magnitude();
}

namespace {

/// Returns whether the tangent maps constants of a field that no condition holds to zero at u, but not where constants
/// of the size of u are added.
bool loses_constants(NonlinearProblem& problem, const Vector& u) {
  constexpr double negligible = 1e-4;
  const VectorOps ops(problem.device());
  double largest = 0;
  for (const double value : u.host_read()) largest = std::max(largest, std::abs(value));
  auto offsets = problem.field_offsets();
  offsets.push_back(static_cast<std::int64_t>(u.size()));
  Vector constant(problem.device(), u.size()), moved(problem.device(), u.size()), image(problem.device(), u.size());
  for (std::size_t f = 0; f + 1 < offsets.size(); ++f) {
    const auto is_in_field = [&](std::int32_t entry) { return entry >= offsets[f] && entry < offsets[f + 1]; };
    if (std::ranges::any_of(problem.constraints().entries, is_in_field)) continue;
    const auto values = constant.host_overwrite();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = is_in_field(static_cast<std::int32_t>(i)) ? 1 : 0;
    problem.apply_tangent_free(constant, image);
    const double here = ops.norm(image);
    ops.copy(u, moved);
    ops.axpy(largest > 0 ? largest : 1, constant, moved);
    problem.linearise(moved);
    problem.apply_tangent_free(constant, image);
    problem.linearise(u);
    if (here <= negligible * ops.norm(image)) return true;
  }
  return false;
}

} // namespace

std::string describe_vanished_tangent(NonlinearProblem& problem, const Vector& u) {
  constexpr double nearness = 1e-2, noise = 1e-12;
  const VectorOps ops(problem.device());
  const auto make = [&] { return Vector(problem.device(), u.size()); };
  Vector direction = make(), near = make(), image = make(), image_near = make();
  ops.fill_random(2, direction);
  problem.apply_tangent_free(direction, image);
  double largest = 0;
  for (const double value : u.host_read()) largest = std::max(largest, std::abs(value));
  ops.fill_random(3, near);
  ops.scale(nearness * (largest > 0 ? largest : 1), near);
  ops.axpy(1, u, near);
  problem.linearise(near);
  problem.apply_tangent_free(direction, image_near);
  problem.linearise(u);
  const auto here = image.host_read(), there = image_near.host_read();
  std::vector<std::uint8_t> is_free(here.size(), 1);
  for (const auto entry : problem.constraints().entries) is_free[static_cast<std::size_t>(entry)] = 0;
  std::int64_t count = 0, num_free = 0;
  for (std::size_t i = 0; i < here.size(); ++i) {
    if (is_free[i] == 0) continue;
    ++num_free;
    if (std::abs(there[i]) > 0 && std::abs(here[i]) <= noise * std::abs(there[i])) ++count;
  }
  if (count == 0 && loses_constants(problem, u))
    return "the derivative of the residual does not see constants at this state, and at other states it does, so that "
           "Newton's method finds no direction: it needs another state to start from (initial)";
  if (count == 0) return {};
  return fmt::format(
      "the derivative of the residual is zero at this state in {} of {} equations, and at states near it "
      "is not, so that Newton's method finds no direction: it needs another state to start from "
      "(initial)",
      count, num_free);
}

} // namespace rafter::solvers
