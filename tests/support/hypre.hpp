// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include <rafter/base/error.hpp>
#include <rafter/solve/hypre_module.hpp>

namespace rafter::test {

/// Says whether the adapter to hypre is there; where RAFTER_NEEDS_HYPRE is 1 and it is not, the test fails.
inline bool has_hypre() {
  try {
    solvers::hypre_functions();
    return true;
  } catch (const base::EnvironmentError& error) {
    const char* value = std::getenv("RAFTER_NEEDS_HYPRE");
    if (value != nullptr && std::string_view(value) == "1")
      ADD_FAILURE() << "RAFTER_NEEDS_HYPRE is 1, but " << error.what();
    return false;
  }
}

} // namespace rafter::test
