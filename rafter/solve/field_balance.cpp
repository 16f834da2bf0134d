// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/field_balance.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <rafter/solve/solver.hpp>

namespace rafter::solvers {
namespace {

constexpr double rounding = 64 * std::numeric_limits<double>::epsilon();
/// Forces of a field and those that all residuals are relative to differ by such factors where units are alike.
constexpr double leeway = 10;
constexpr int max_runs = 6; ///< runs of a method for one solve

std::vector<std::vector<op::EntryRange>> owned_entries(const op::System& system) {
  std::vector<std::vector<op::EntryRange>> result(system.spaces.size());
  for (const auto& range : system.owned_ranges())
    for (std::size_t f = 0; f < result.size(); ++f) {
      const auto field = system.entries(f);
      const auto begin = std::max(range.begin, field.begin), end = std::min(range.end, field.end);
      if (begin < end) result[f].push_back({begin, end});
    }
  return result;
}

Vector residual_of(const op::LinearOperator& A, const Vector& b, const Vector& x) {
  Vector r(A.device(), b.size());
  A.apply(x, r);
  VectorOps(A).subtract_from(b, r);
  return r;
}

/// The options for going on from a solution whose residuals are to become smaller by this factor.
SolverOptions options_to_go_on(const SolverOptions& options, const Result& before, double factor) {
  auto result = options;
  result.multigrid.has_full_start = false;
  auto& control = result.control;
  control.rtol = factor;
  control.reference = {};
  control.least_reference = control.least_preconditioned_reference = 0;
  if (control.max_iterations) *control.max_iterations -= before.iterations;
  if (options.control.monitor)
    control.monitor = [monitor = options.control.monitor, first = before.iterations,
                       scale = before.relative_residual](int iteration, double relative) {
      return iteration == 0 || monitor(first + iteration, scale * relative);
    };
  return result;
}

/// Appends what a run that went on has done.
void append(Result& result, Result&& next) {
  const double scale = result.relative_residual;
  result.iterations += next.iterations;
  for (std::size_t i = 1; i < next.history.size(); ++i) result.history.push_back(scale * next.history[i]);
  result.relative_residual = scale * next.relative_residual;
  result.seconds += next.seconds;
  result.last_norms = next.last_norms;
}

} // namespace

FieldBalance::FieldBalance(const op::Operator& A, std::vector<std::string> names)
    : device_(A.device()), ops_(A), entries_(owned_entries(A.system())),
      action_([&A](const Vector& x, Vector& y) { A.apply_free(x, y); }), names_(std::move(names)) {}

FieldBalance::FieldBalance(std::shared_ptr<device::Device> device, std::vector<std::vector<op::EntryRange>> entries,
                           Action action)
    : device_(std::move(device)), ops_(device_), entries_(std::move(entries)), action_(std::move(action)) {}

Vector FieldBalance::part_of(const Vector& v, std::size_t field) const {
  Vector part(device_, v.size());
  ops_.fill(0, part);
  for (const auto& range : entries_[field]) ops_.copy_range({v, range}, {part, range});
  return part;
}

double FieldBalance::norm(const Vector& v, std::size_t field) const { return ops_.norm(part_of(v, field)); }

Vector FieldBalance::image_of_field(const Vector& x, std::size_t field) const {
  Vector image(device_, x.size());
  action_(part_of(x, field), image);
  return image;
}

bool FieldBalance::is_held(const Vector& r, std::size_t field) const {
  return norm(image_of_field(r, field), field) > 0;
}

std::optional<UnsolvedField> FieldBalance::find_unsolved(const Vector& x, const Vector& r, double rtol,
                                                         double atol) const {
  if (entries_.size() < 2) return std::nullopt;
  const std::size_t count = entries_.size();
  std::vector<double> forces(count), own(count);
  for (std::size_t g = 0; g < count; ++g) {
    const Vector image = image_of_field(x, g);
    for (std::size_t f = 0; f < count; ++f) forces[f] = std::max(forces[f], norm(image, f));
    own[g] = norm(image, g);
  }
  std::vector<UnsolvedField> found;
  for (std::size_t f = 0; f < count; ++f) {
    const double residual = norm(r, f);
    if (residual <= std::max(atol, leeway * rtol * forces[f]) || (own[f] == 0 && !is_held(r, f))) continue;
    // A state that is zero, or far from the solution, has no forces to speak of: the residual is the load then.
    const double relative = std::min(residual / forces[f], 1.0);
    found.push_back({f < names_.size() ? "'" + names_[f] + "'" : fmt::format("number {}", f + 1), f, relative,
                     std::max(1.0, relative / rtol)});
  }
  if (found.empty()) return std::nullopt;
  Vector changed(device_, x.size()), image(device_, x.size());
  ops_.fill_random(1, image);
  ops_.multiply(x, image, changed);
  action_(changed, image);
  std::erase_if(found, [&](const auto& u) { return norm(r, u.field) <= rounding * norm(image, u.field); });
  const auto worst = std::ranges::max_element(found, {}, &UnsolvedField::excess);
  return worst == found.end() ? std::nullopt : std::optional(*worst);
}

std::string describe(const UnsolvedField& field) {
  return fmt::format("the residual of the field {} stays at {:.1e} of its own forces, which are small beside those of "
                     "other fields: choose units in which the forces of all fields are of similar size",
                     field.name, field.relative);
}

double largest_relative_residual(double rtol) { return std::sqrt(rtol); }

Result run_for_each_field(const op::LinearOperator& A, const Vector& b, Vector& x, const Preconditioner& M,
                          const SolverOptions& options) {
  Result result = run_method(A, b, x, M, options);
  if (options.fields == nullptr || !options.fields->has_several()) return result;
  const auto& control = options.control;
  std::optional<UnsolvedField> unsolved;
  for (int run = 1; result.status == Status::converged; ++run) {
    unsolved = options.fields->find_unsolved(x, residual_of(A, b, x), control.rtol, control.atol);
    const bool is_spent = control.max_iterations && result.iterations >= *control.max_iterations;
    if (!unsolved || run == max_runs || is_spent || result.is_at_rounding || !result.warning.empty()) break;
    const auto again = options_to_go_on(options, result, 0.5 / unsolved->excess);
    auto next = run_method(A, b, x, M, again);
    const bool is_stopped = next.failure == Failure::stopped;
    if (is_stopped) {
      result.status = next.status;
      result.failure = next.failure;
      result.message = next.message;
    }
    const bool goes_on = next.status == Status::converged && !next.is_at_rounding && next.warning.empty();
    append(result, std::move(next));
    if (goes_on) continue;
    unsolved = options.fields->find_unsolved(x, residual_of(A, b, x), control.rtol, control.atol);
    break;
  }
  if (result.status != Status::converged || !unsolved) return result;
  if (unsolved->relative <= largest_relative_residual(control.rtol)) {
    if (result.warning.empty()) result.warning = describe(*unsolved);
    return result;
  }
  result.status = Status::not_converged;
  result.message = describe(*unsolved);
  return result;
}

} // namespace rafter::solvers
