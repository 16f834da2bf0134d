// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

namespace rafter::test {

/// The folder of the project, whose data tests read. One source file alone knows it, so that compiler caches serve
/// checkouts in several places.
std::string source_directory();

} // namespace rafter::test
