// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <bench/operators.hpp>
#include <bench/published_axlocal.hpp>

/// What the suites of Cao, Sun, Zhang, Li, "Towards a higher roofline for matrix-vector multiplication in matrix-free
/// HOSFEM" share: equations on spectral elements (p+1 Gauss-Lobatto points) and where the geometric factors of a kernel
/// come from.
namespace rafter::bench {

/// "poisson", "helmholtz" with coefficients that vary within cells, and both with three components.
const std::vector<Case>& spectral_equations();
bool is_helmholtz(const Case& equation);
Column equation_column();
Column kernel_column();

/// Where geometric factors come from.
struct FactorSource {
  const char *name, *geometry;
  const char *poisson, *helmholtz; ///< recipes of the equations, nullptr: not a variant of it
  PublishedFactors (*published)(const PublishedEquation& equation); ///< counts of the paper
  const char* recipe(const Case& equation) const { return is_helmholtz(equation) ? helmholtz : poisson; }
};
std::vector<std::string> factor_source_names(); ///< "baseline", "parallelepiped", "trilinear", "merged", "partial"
/// Those of these names that are variants of the equation, in the order of the table.
std::vector<FactorSource> factor_sources(const Case& equation, std::span<const std::string> names);
/// Throws InputError when none of the sources is a variant of any of these equations: there would be no row.
void require_variants(const std::string& suite, std::span<const std::string> equations,
                      std::span<const std::string> names);

/// An operator of the equation with factors from `source`; `plan`: keys besides the recipe. Nothing where another
/// recipe would stand in for the source's: a row with the key `missing` then says so in `report`.
std::optional<op::Operator> make_spectral_operator(Report& report, const Case& equation, const FactorSource& source,
                                                   const std::shared_ptr<const space::FunctionSpace>& space,
                                                   const std::shared_ptr<device::Device>& device,
                                                   const std::string& plan = "", bool has_zero_boundary = false);

} // namespace rafter::bench
