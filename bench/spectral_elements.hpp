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

/// How the coefficients of the Helmholtz equations reach kernels.
enum class Coefficients {
  expressions, ///< evaluated at set-up, where they are merged with the factors of the geometry, or on the fly
  array,       ///< as nodal values of two fields, which an application reads
  ones         ///< both are 1, as nekBench has them, and part of the factors
};

/// Where geometric factors come from.
struct FactorSource {
  const char *name, *geometry;
  const char *poisson, *helmholtz; ///< recipes of the equations, nullptr: not a variant of it
  PublishedFactors (*published)(const PublishedEquation& equation); ///< counts of the paper
  /// Coefficients that are expressions are part of recipes; else factors are those of the Poisson equation.
  const char* factors(const Case& equation, Coefficients coefficients = Coefficients::expressions) const;
};
std::vector<std::string> factor_source_names(); ///< "baseline", "parallelepiped", "trilinear", "merged", "partial"
/// Those of these names that are variants of the equation, in the order of the table.
std::vector<FactorSource> factor_sources(const Case& equation, std::span<const std::string> names,
                                         Coefficients coefficients = Coefficients::expressions);
/// Throws InputError when none of the sources is a variant of any of these equations: there would be no row.
void require_variants(const std::string& suite, std::span<const std::string> equations,
                      std::span<const std::string> names, Coefficients coefficients = Coefficients::expressions);

struct SpectralChoice {
  std::string plan; ///< keys besides the recipe
  bool has_zero_boundary = false;
  Coefficients coefficients = Coefficients::expressions;
  Json row = Json::object(); ///< keys that a row without figures has besides those of axlocal
};
/// An operator of the equation with factors from `source`. With Coefficients::array vectors of the Helmholtz equations
/// have entries of both coefficients behind those of the space, which applications leave as they are. Nothing where
/// another recipe would stand in for the source's: a row with the key `missing` then says so in `report`.
std::optional<op::Operator> make_spectral_operator(Report& report, const Case& equation, const FactorSource& source,
                                                   const std::shared_ptr<const space::FunctionSpace>& space,
                                                   const std::shared_ptr<device::Device>& device,
                                                   const SpectralChoice& choice = {});

} // namespace rafter::bench
