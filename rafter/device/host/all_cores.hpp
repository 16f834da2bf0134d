// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <functional>

namespace rafter::device {

/// Calls body(i) once for every i in [0, count), begun in ascending order, on as many threads as the process may use
/// cores. When all calls have ended, throws what the call of lowest number threw, if any did. For work before kernels
/// run, such as making their texts; a device has threads of its own for the rest.
void on_all_cores(std::size_t count, const std::function<void(std::size_t)>& body);

} // namespace rafter::device
