// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

/// What measurements share.
namespace rafter::base {

/// Seconds that all threads of this process have computed: what others do on the machine counts little.
double cpu_seconds();

/// The middle value, the upper one of two; of at least one.
double median(std::vector<double> values);

} // namespace rafter::base
