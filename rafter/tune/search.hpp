// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <span>
#include <vector>

#include <rafter/tune/planner.hpp>

namespace rafter::tune {

/// Times plans, interleaved in `rounds` rounds. Returns the seconds of one run of each plan, in their order; infinite
/// for a plan that cannot run. Only times from the same call are comparable, since machines drift.
using Measure = std::function<std::vector<double>(std::span<const schedule::Plan> plans, int rounds)>;

struct SearchOptions {
  std::size_t most_plans = 5; ///< number of plans that are timed
  bool is_exhaustive = false; ///< all plans are timed
};

/// Times the most promising candidates and returns all: the timed ones with measured_seconds, fastest first, then the
/// others as predicted. Throws EnvironmentError when none of the plans that were tried can run.
///
/// The error of the cost model is taken as a normal variable, with a correlation between plans that is the higher, the
/// fewer axes they differ in. The first two plans are those that may be fastest (lowest predicted time within a
/// confidence; the second is chosen as if the time of the first were known). From then on measured times correct the
/// predictions of all other plans, and one more plan is timed beside the best until there are most_plans; the two
/// fastest are then timed once more. Candidates whose bound exceeds the best time are left out.
std::vector<Candidate> search(std::vector<Candidate> candidates, const Measure& measure,
                              const SearchOptions& options = {});

} // namespace rafter::tune
