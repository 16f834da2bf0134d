// SPDX-License-Identifier: BSD-3-Clause
#include <tests/support/source_directory.hpp>

namespace rafter::test {

std::string source_directory() { return RAFTER_SOURCE_DIR; }

} // namespace rafter::test
