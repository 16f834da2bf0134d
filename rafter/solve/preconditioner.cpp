// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/preconditioner.hpp>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <rafter/base/error.hpp>

namespace rafter::solvers {

Vector inverse_diagonal(const op::LinearOperator& A) {
  Vector result(A.device(), static_cast<std::size_t>(A.size()));
  A.diagonal(result);
  const auto entries = result.host_write();
  comm::agree(*A.communicator(), [&] {
    std::size_t end = 0; // of the owned range before
    for (const auto& range : A.owned_ranges()) {
      std::fill(entries.begin() + static_cast<std::ptrdiff_t>(end), entries.begin() + range.begin, 0); // ghosts
      end = static_cast<std::size_t>(range.end);
      for (auto i = static_cast<std::size_t>(range.begin); i < end; ++i) {
        const double inverse = 1.0 / entries[i];
        if (!std::isfinite(inverse) || !std::isfinite(entries[i]))
          throw base::SolverError(
              fmt::format("preconditioner: the diagonal entry of row {} is {}, which has no inverse: an "
                          "unknown that no term of the form involves, a coefficient that is zero or not finite, or "
                          "fewer quadrature points than the degree needs",
                          i, entries[i]));
        entries[i] = inverse;
      }
    }
    std::fill(entries.begin() + static_cast<std::ptrdiff_t>(end), entries.end(), 0);
  });
  return result;
}

} // namespace rafter::solvers
