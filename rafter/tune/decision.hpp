// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <rafter/schedule/plan.hpp>
#include <rafter/tune/features.hpp>

namespace rafter::tune {

/// A plan that may be taken, with what is known about its speed. Seconds are of one run over all cells.
struct Candidate {
  schedule::Plan plan;
  Features features;
  double predicted_seconds = 0;
  double bound_seconds = 0;               ///< no run is faster
  std::optional<double> measured_seconds; ///< remembered or just measured
};

/// Says where a plan comes from; `usual`: it is that of kernels for which none is chosen, which run a few times.
enum class Origin : std::uint8_t { given, predicted, measured, usual };
std::string_view name(Origin origin);

/// A plan and why.
struct Decision {
  schedule::Plan plan;
  Origin origin = Origin::given;
  double seconds = 0;                ///< time of a run: measured, else predicted; 0: it is not known
  std::string key;                   ///< key of the kernel in the store; "": none was needed
  std::vector<Candidate> candidates; ///< plans weighed, best first: measured ones by time, then predicted ones
};

} // namespace rafter::tune
