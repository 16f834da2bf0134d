// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include <rafter/operator/operator.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {

/// The values of y = A x + A x for a random x: by an application that overwrites y, and one that adds to it.
inline std::vector<double> twice_applied(const op::Operator& A) {
  auto x = A.make_vector(), y = A.make_vector();
  fill_random(x, 3);
  fill_random(y, 4); // is overwritten, so that its values must not matter
  A.apply(x, y);
  A.apply_add(x, y);
  const auto values = y.host_read();
  return {values.begin(), values.end()};
}

} // namespace rafter::test
