// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <rafter/machine/machine.hpp>
#include <rafter/machine/typical.hpp>
#include <rafter/tune/cost_weights.hpp>

namespace rafter::schedule {
struct PlanningProblem;
class Plan;
} // namespace rafter::schedule

namespace rafter::tune {

class KernelTextCache;
class PlanLowering;
class Store;
struct Candidate;
struct Decision;

struct PlannerOptions {
  machine::Machine machine = machine::typical_machine(); ///< used as machine::steady() makes it
  CostWeights weights = processor_weights();             ///< weights that belong to that record
  std::shared_ptr<Store> store;                          ///< store of measurements; null: nothing is remembered
  std::shared_ptr<KernelTextCache> kernel_texts; ///< cache of decisions and texts; null: every kernel is generated anew
  bool weighs_all = false;                       ///< every candidate is lowered and predicted, whatever is remembered
};

/// Decides from what was measured, else from the cost model; never measures.
class Planner {
public:
  explicit Planner(PlannerOptions options = {});
  /// Returns what was measured: its origin is then `measured`, else `predicted`, and the plan says nothing.
  Decision known(const schedule::PlanningProblem& problem) const;
  /// `lowering`: of the kernel that `problem` describes.
  Decision decide(const schedule::PlanningProblem& problem, PlanLowering& lowering) const;
  const PlannerOptions& options() const { return options_; }
  /// Doubles that the widest register of the machine holds.
  int register_width() const { return options_.machine.peaks.back().bits / 64; }
  /// Values of the key `gathers`, the one that is faster on this machine first.
  std::vector<std::string> ways_to_gather() const;

private:
  struct Known;
  Known look_up(const schedule::PlanningProblem& problem) const;
  Candidate weigh(const schedule::PlanningProblem& problem, PlanLowering& lowering, const schedule::Plan& plan) const;
  std::vector<Candidate> weigh(const schedule::PlanningProblem& problem, PlanLowering& lowering,
                               std::vector<schedule::Plan> plans) const;
  PlannerOptions options_;
};

/// The planner of operators that are given none: of the machine's record when one is kept, else of a typical machine,
/// with the store of this user. Read once.
std::shared_ptr<const Planner> planner_of_this_machine();

/// Plans for which fewer than this many loop programs are made when only the best is wanted.
inline constexpr std::size_t num_weighed = 6;

} // namespace rafter::tune
