// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/preconditioner.hpp>

#include <cmath>
#include <fmt/format.h>

#include <rafter/base/error.hpp>

namespace rafter::solvers {

Vector inverse_diagonal(const op::LinearOperator& A) {
  Vector diagonal(A.device(), static_cast<std::size_t>(A.size()));
  A.diagonal(diagonal);
  const auto entries = diagonal.host_write();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const double inverse = 1.0 / entries[i];
    if (!std::isfinite(inverse) || !std::isfinite(entries[i]))
      throw base::SolverError(
          fmt::format("preconditioner: the diagonal entry of row {} is {}, which has no inverse: an "
                      "unknown that no term of the form involves, a coefficient that is zero or not finite, or fewer "
                      "quadrature points than the degree needs",
                      i, entries[i]));
    entries[i] = inverse;
  }
  return diagonal;
}

} // namespace rafter::solvers
