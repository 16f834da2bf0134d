// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <bench/operators.hpp>
#include <bench/published_axlocal.hpp>

/// The suites of Cao, Sun, Zhang, Li, "Towards a higher roofline for matrix-vector multiplication in matrix-free
/// HOSFEM", share equations on spectral elements (p+1 Gauss-Lobatto points), and where the geometric factors of a
/// kernel come from.
namespace rafter::bench {

/// Lists "poisson", "helmholtz" with coefficients that vary within cells, and both with three components.
const std::vector<Case>& spectral_equations();
bool is_helmholtz(const Case& equation);
Column equation_column();
Column kernel_column();

/// Coefficients of the Helmholtz equations reach kernels in one of these ways.
enum class Coefficients {
  expressions, ///< evaluated at set-up, where they are merged with the geometric factors, or during an application
  array,       ///< nodal values of two fields, which an application reads
  ones         ///< both are 1, as in nekBench, and part of the factors
};

/// Geometric factors come from a source.
struct FactorSource {
  const char *name, *geometry;
  /// The storage of factors for each equation is nullptr if the equation has no such variant.
  const char *poisson, *helmholtz;
  PublishedFactors (*published)(const PublishedEquation& equation); ///< returns counts of the paper
  /// Coefficients that are expressions are part of the stored factors; otherwise factors are those of the Poisson
  /// equation.
  const char* factors(const Case& equation, Coefficients coefficients = Coefficients::expressions) const;
};
std::vector<std::string> factor_source_names(); ///< "baseline", "parallelepiped", "trilinear", "merged", "partial"
/// Returns those of the named sources that are variants of the equation, in the order of the table.
std::vector<FactorSource> factor_sources(const Case& equation, std::span<const std::string> names,
                                         Coefficients coefficients = Coefficients::expressions);
/// Throws InputError when none of the sources is a variant of any of these equations, since there would be no row.
void require_variants(const std::string& suite, std::span<const std::string> equations,
                      std::span<const std::string> names, Coefficients coefficients = Coefficients::expressions);

struct SpectralChoice {
  std::string plan; ///< keys other than `factors`
  bool has_zero_boundary = false;
  Coefficients coefficients = Coefficients::expressions;
  Json row = Json::object(); ///< keys that a row without figures has besides those of axlocal
};
/// Returns an operator of the equation with factors from `source`. With Coefficients::array, vectors of the Helmholtz
/// equations have entries of both coefficients after those of the space, which applications leave unchanged. The result
/// is empty if the kernel does not offer the source's storage of factors; a row with the key `missing` then says so in
/// `report`.
std::optional<op::Operator> make_spectral_operator(Report& report, const Case& equation, const FactorSource& source,
                                                   const std::shared_ptr<const space::FunctionSpace>& space,
                                                   const std::shared_ptr<device::Device>& device,
                                                   const SpectralChoice& choice = {});

} // namespace rafter::bench
