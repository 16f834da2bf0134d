// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rafter/base/aligned.hpp>
#include <rafter/form/lowered.hpp>
#include <rafter/mesh/values_by_tag.hpp>
#include <rafter/operator/generate/system.hpp>

/// Coefficients of bilinear forms at points, before any kernel exists: forecasts and levels of multigrid look at them.
namespace rafter::op {

constexpr std::size_t most_axes = 3;

/// A bilinear form of one component, as the integrand shows it at a point: entry (i, j) multiplies row i of the test
/// function and row j of the trial function, where row 0 is the value and row d + 1 the derivative along x_d.
using Pairing = std::array<std::array<double, 1 + most_axes>, 1 + most_axes>;

/// Evaluates the integrands of a bilinear form over cells at points, for one component of a field. Data fields count as
/// 1, and so do parameters that have no value, neither in the form nor in `parameters` by their names. Form and system
/// must outlive it.
class SampledIntegrand {
public:
  SampledIntegrand(const form::LoweredForm& form, const System& system,
                   std::span<const std::pair<std::string, double>> parameters = {});

  /// Number of nodes of the form that are evaluated at a point for one function.
  std::size_t num_nodes() const;
  /// Says whether coefficients of integrals over cells depend on x.
  bool depends_on_x() const;
  /// The sum of all integrals that cover cells with this tag, at a point `x` of `mesh.gdim` coordinates.
  Pairing operator()(std::span<const double> x, std::int32_t tag, std::size_t field, int component);

private:
  std::size_t index(const std::vector<std::shared_ptr<const form::FieldSpace>>& spaces, int number) const;
  /// Trial function whose component and derivative (-1: the value) is 1 while all others are 0.
  struct Trial {
    std::size_t field = 0;
    int component = 0, derivative = -1;
  };
  void evaluate(std::size_t integral, std::span<const double> x, std::int32_t tag, const Trial& trial);
  double value_of(const form::Atom& atom, std::span<const double> x, std::int32_t tag, const Trial& trial) const;

  const form::LoweredForm& form_;
  const System& system_;
  base::AlignedVector<double> parameters_;
  std::vector<mesh::ValuesByTag> cell_values_;   ///< values by cell coefficient
  std::vector<std::set<std::int32_t>> tags_;     ///< cells of each integral; empty: all
  std::vector<std::vector<form::NodeId>> nodes_; ///< what the coefficients of each integral depend on, ascending
  std::vector<double> values_;
};

/// Numbers of up to `most` cells of a group of `num_cells`, all over it: rows of cells are in no ratio to multiples of
/// the golden section, so that samples do not fall into one column.
std::vector<std::int32_t> sampled_cells(std::int32_t num_cells, std::int32_t most);

/// How much the coefficients of a form change within a cell: the largest ratio of their sizes at points of one cell,
/// among sampled cells, the first of which with a ratio of 1e6 or more ends the search; 1 where they do not depend on
/// x, infinity where they vanish in a part of a cell. The size is the sum of |entry (d, d)| of the derivatives, or that
/// of the values where there are no derivatives.
double largest_jump_within_cells(const form::LoweredForm& form, const System& system,
                                 std::span<const std::pair<std::string, double>> parameters = {});

} // namespace rafter::op
