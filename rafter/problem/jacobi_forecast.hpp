// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>
#include <utility>

#include <rafter/form/lowered.hpp>
#include <rafter/operator/operator_options.hpp>

/// Forecasts of conjugate gradients with Jacobi, before any kernel exists.
namespace rafter::problem {

/// Returns the number of iterations that conjugate gradients with Jacobi are expected to take for a bilinear form until
/// the residual is `rtol` of the first one: sqrt(c / lambda) ln(2 / rtol). lambda is the Rayleigh quotient of D^-1 A,
/// where D is the diagonal of A, at the lowest mode of the box around the mesh: along each axis that is half a wave
/// where both ends are fixed, a quarter where one is, and a constant where none is (half a wave along the longest axis
/// where no axis has a fixed end). The bound of conjugate gradients, sqrt(kappa) ln(2 / rtol) / 2, would make c a
/// quarter of the largest eigenvalue. It was fitted to boxes instead (docs/decisions/0086), since iterations become
/// faster once the lowest modes are found.
///
/// Form and cells are sampled. Data fields count as 1, and so do parameters that have no value, neither in the form nor
/// in `parameters` by their names. Of several components or fields the one with the most iterations counts. A form that
/// is not positive at that mode is taken for the Laplacian.
double expected_jacobi_iterations(const form::LoweredForm& form, const op::System& system,
                                  std::span<const op::FieldCondition> conditions,
                                  std::span<const std::pair<std::string, double>> parameters, double rtol);

} // namespace rafter::problem
