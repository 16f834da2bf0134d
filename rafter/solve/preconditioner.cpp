// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/preconditioner.hpp>

#include <cmath>
#include <fmt/format.h>

#include <rafter/base/error.hpp>

namespace rafter::solvers {

Vector inverse_diagonal(const op::LinearOperator& A) {
  Vector diagonal(A.device(), static_cast<std::size_t>(A.size())), result(A.device(), diagonal.size());
  A.diagonal(diagonal);
  const bool has_inverse = VectorOps(A).runner().run("invert", {}, {diagonal, result})[0] == 0;
  comm::agree(*A.communicator(), [&] {
    if (has_inverse) return;
    const auto entries = diagonal.host_read();
    for (const auto& range : A.owned_ranges())
      for (auto i = static_cast<std::size_t>(range.begin); i < static_cast<std::size_t>(range.end); ++i)
        if (!std::isfinite(1 / entries[i]) || !std::isfinite(entries[i]))
          throw base::SolverError(
              fmt::format("preconditioner: the diagonal entry of row {} is {}, which has no inverse: an "
                          "unknown that no term of the form involves, a coefficient that is zero or not finite, or "
                          "fewer quadrature points than the degree needs",
                          i, entries[i]));
  });
  return result;
}

} // namespace rafter::solvers
