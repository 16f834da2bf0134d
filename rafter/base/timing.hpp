// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

/// Clock and median for measurements.
namespace rafter::base {

/// Processor time in seconds of all threads of this process, on which other processes have little influence.
double cpu_seconds();

/// The median; of an even number of values, the upper of the middle two. There must be at least one value.
double median(std::vector<double> values);

} // namespace rafter::base
