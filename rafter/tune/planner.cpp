// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/tune/planner.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <map>
#include <set>

#include <rafter/base/error.hpp>
#include <rafter/device/host/cpu.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/schedule/planning_problem.hpp>
#include <rafter/tune/candidates.hpp>
#include <rafter/tune/cost_model.hpp>
#include <rafter/tune/decision.hpp>
#include <rafter/tune/features.hpp>
#include <rafter/tune/kernel_text_cache.hpp>
#include <rafter/tune/plan_lowering.hpp>
#include <rafter/tune/store.hpp>

namespace rafter::tune {

/// A decision without candidates, and all measurements behind it, fastest first.
struct Planner::Known {
  Decision decision;
  std::vector<Measurement> measurements;
};

namespace {

double seconds(const Candidate& candidate) { return candidate.measured_seconds.value_or(candidate.predicted_seconds); }

bool is_better(const Candidate& a, const Candidate& b) {
  if (a.measured_seconds.has_value() != b.measured_seconds.has_value()) return a.measured_seconds.has_value();
  return seconds(a) < seconds(b);
}

/// The `count` most promising plans by the rough estimate. Plans that it does not distinguish queue: each of them
/// counts a tenth slower than the one before, so that others have their turn. What executes and moves half as much
/// again as the best is not weighed: the cost model, whose weights are fitted to plans near the best, may flatter it.
std::vector<schedule::Plan> promising(const schedule::PlanningProblem& problem, PlanLowering& lowering,
                                      const std::vector<schedule::Plan>& plans, const PlannerOptions& options,
                                      std::size_t count) {
  std::vector<std::pair<double, std::size_t>> order;
  std::map<double, int> num_alike;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const double estimate = predict_roughly(lowering.estimate(plans[i]), problem, options.machine, options.weights);
    order.emplace_back(estimate * (1 + 0.1 * num_alike[estimate]++), i);
  }
  std::ranges::stable_sort(order);
  order.resize(std::min(order.size(), count));
  constexpr double most = 1.5;
  std::vector<schedule::Plan> result;
  for (const auto& [estimate, i] : order)
    if (estimate <= most * order.front().first) result.push_back(plans[i]);
  return result;
}

/// One candidate of every program, of the first compiler, flags and way to gather.
std::vector<schedule::Plan> distinct_programs(const std::vector<schedule::Plan>& plans) {
  std::vector<schedule::Plan> result;
  std::set<std::string> programs;
  for (const auto& plan : plans) {
    auto program = schedule::without_compilation(plan);
    program.set(schedule::key::gathers, plans.front()[schedule::key::gathers]);
    if (programs.insert(schedule::to_string(program)).second) result.push_back(plan);
  }
  return result;
}

/// Returns what is remembered of a kernel, plans spelt as this version does: older ones lack newer keys, and what this
/// version cannot read is left out, as are times that no clock shows.
std::vector<Measurement> remembered(const Store& store, const std::string& key) {
  std::vector<Measurement> result;
  for (auto& m : store.find(key)) try {
      if (!(m.seconds > 0 && std::isfinite(m.seconds))) continue;
      m.plan = schedule::to_string(schedule::parse_plan(m.plan));
      result.push_back(std::move(m));
    } catch (const base::InputError&) {
      continue;
    }
  return result;
}

} // namespace

std::string_view name(Origin origin) {
  constexpr std::array<std::string_view, 4> names{"given", "predicted", "measured", "usual"};
  return names.at(static_cast<std::size_t>(origin));
}

Planner::Planner(PlannerOptions options) : options_(std::move(options)) {
  options_.machine = machine::steady(options_.machine);
}

std::vector<Candidate> Planner::weigh(const schedule::PlanningProblem& problem, PlanLowering& lowering,
                                      std::vector<schedule::Plan> plans) const {
  std::vector<Candidate> result;
  std::map<std::string, std::optional<Candidate>> programs; // without those that do not fit
  std::exception_ptr refusal;
  for (auto& plan : plans) {
    const auto [known, is_new] = programs.try_emplace(schedule::to_string(schedule::without_compilation(plan)));
    if (is_new) try {
        known->second = weigh(problem, lowering, plan);
      } catch (const base::InputError&) { // its work arrays are beyond any use
        refusal = std::current_exception();
      }
    if (!known->second) continue;
    result.push_back(*known->second);
    result.back().plan = std::move(plan);
  }
  if (result.empty() && refusal) std::rethrow_exception(refusal);
  return result;
}
Candidate Planner::weigh(const schedule::PlanningProblem& problem, PlanLowering& lowering,
                         const schedule::Plan& plan) const {
  Candidate candidate{plan};
  candidate.features = count_features(lowering.lower(plan), problem);
  const auto prediction = predict(candidate.features, problem, options_.machine, options_.weights);
  candidate.predicted_seconds = prediction.seconds;
  candidate.bound_seconds = prediction.bound_seconds;
  return candidate;
}

std::vector<std::string> Planner::ways_to_gather() const {
  if (options_.machine.gathers_faster_by_lane()) return {"scalar", "vector"};
  return {"vector", "scalar"};
}

Planner::Known Planner::look_up(const schedule::PlanningProblem& problem) const {
  Known result;
  result.decision.origin = Origin::predicted;
  // a key asks every compiler for its version: only where one is needed
  const bool has_store = options_.store != nullptr && (options_.weighs_all || options_.store->exists());
  if (!has_store) return result;
  result.decision.key = options_.store->key(problem, options_.machine);
  result.measurements = remembered(*options_.store, result.decision.key);
  if (result.measurements.empty()) return result;
  // what is remembered counts when it is still a candidate
  const auto plans = candidates(problem);
  for (const auto& m : result.measurements) {
    const auto found = std::ranges::find(plans, m.plan, [](const schedule::Plan& plan) { return to_string(plan); });
    if (found == plans.end()) continue;
    result.decision.plan = *found;
    result.decision.origin = Origin::measured;
    result.decision.seconds = m.seconds;
    break;
  }
  return result;
}

Decision Planner::known(const schedule::PlanningProblem& problem) const { return look_up(problem).decision; }

Decision Planner::decide(const schedule::PlanningProblem& problem, PlanLowering& lowering) const {
  auto [decision, known] = look_up(problem);
  if (options_.weighs_all)
    decision.candidates = weigh(problem, lowering, candidates(problem));
  else if (decision.origin == Origin::predicted)
    decision.candidates = weigh(
        problem, lowering, promising(problem, lowering, distinct_programs(candidates(problem)), options_, num_weighed));
  for (auto& candidate : decision.candidates)
    for (const auto& m : known)
      if (m.plan == schedule::to_string(candidate.plan)) candidate.measured_seconds = m.seconds;
  std::stable_sort(decision.candidates.begin(), decision.candidates.end(), is_better);
  if (decision.origin == Origin::predicted) {
    decision.plan = decision.candidates.front().plan;
    decision.seconds = decision.candidates.front().predicted_seconds;
  }
  return decision;
}

std::shared_ptr<const Planner> planner_of_this_machine() {
  static const auto planner = std::make_shared<const Planner>(PlannerOptions{
      .machine = machine::load().value_or(machine::typical_machine(device::register_bits(device::cpu()).back())),
      .store = std::make_shared<Store>(),
      .kernel_texts = std::make_shared<KernelTextCache>()});
  return planner;
}

} // namespace rafter::tune
