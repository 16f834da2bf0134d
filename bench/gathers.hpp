// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <rafter/space/function_space.hpp>

/// This suite says what the way between vector and cells costs. Three things are timed side by side on one mesh: an
/// operator from global vector to global vector, the same form from cell vector to cell vector, and a plain loop that
/// gathers and adds the unknowns of every cell by a list of 32-bit indices and computes nothing.
namespace rafter::bench {

/// Computes y += G^T G x one batch of cells after the other, with the numbers of a batch kept between both halves, by a
/// list that holds the entry of each number of the cell vector, in its order. Loads and stores take one number at a
/// time.
class PlainLoop {
public:
  explicit PlainLoop(const space::FunctionSpace& space);
  /// Takes vectors of FunctionSpace::num_local() entries.
  void apply(std::span<const double> x, std::span<double> y) const;
  std::size_t num_indices() const { return list_.size(); }

private:
  std::size_t of_batch_; ///< indices of a batch
  std::vector<std::int32_t> list_;
};

int run_gathers(std::span<const std::string> arguments);
std::string gathers_options();

} // namespace rafter::bench
