// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <span>
#include <vector>

#include <rafter/tune/planner.hpp>

namespace rafter::tune {

/// Times plans side by side, each sampled `rounds` times in turn; seconds of one run each, in the order of the plans;
/// infinite for one that cannot run. Only times of one call compare well: machines drift.
using Measure = std::function<std::vector<double>(std::span<const schedule::Plan> plans, int rounds)>;

struct SearchOptions {
  std::size_t most_plans = 5; ///< that are timed
  bool is_exhaustive = false; ///< all plans are
};

/// Times the most promising candidates and returns all: the timed ones with measured_seconds, fastest first, then the
/// others as predicted. Throws EnvironmentError when none of those that were tried can run.
///
/// What the cost model errs by is taken for a normal variable that plans share the more, the fewer axes they differ in.
/// The first two plans are those that may be fastest (lowest predicted time within a confidence, given that the one
/// before will be known). From then on the times correct the predictions of all others, and one plan more is timed
/// beside the best until there are most_plans; the two fastest decide it between them. Candidates whose bound is above
/// the best time known are left out.
std::vector<Candidate> search(std::vector<Candidate> candidates, const Measure& measure,
                              const SearchOptions& options = {});

} // namespace rafter::tune
