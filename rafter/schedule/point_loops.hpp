// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include <rafter/schedule/key.hpp>
#include <rafter/schedule/schedule.hpp>

/// Cell matrices by loops over points and pairs of functions (Contraction::pointwise), in any order of the loops.
namespace rafter::schedule {

/// How matrices of cells are computed: by tables, or by loops over quadrature points (Q) and over shape functions (S),
/// test functions before trial ones, in this order.
enum class LoopOrder : std::uint8_t {
  automatic, ///< qss where it takes so few operations that it is faster than tables (kernel::is_faster), else tables
  tables,    ///< coefficients at points times tables of products of functions
  qss,       ///< everything of a point is computed once, and the whole matrix is summed over the points
  sqs,       ///< a row is summed over the points, which each row computes anew
  ssq        ///< an entry is summed over the points, which each entry computes anew
};
std::string_view name(LoopOrder order);

/// When physical derivatives of shape functions are computed.
enum class DerivativePlace : std::uint8_t {
  ahead, ///< those of all functions before the loops over functions
  inside ///< those of each function where the loop over it stands, so that those of trial functions are repeated
};
std::string_view name(DerivativePlace place);

namespace key {
extern const KeyOf<LoopOrder> order;
extern const KeyOf<DerivativePlace> derivatives;
} // namespace key

/// What is done in a sub-batch from the first product or evaluation of the program on: the loops of the plan's order.
/// Loops over few functions are written out, but for those that an order needs. Programs with matrices of several pairs
/// of fields take the order qss, since others would evaluate the points once for each pair.
std::vector<std::variant<Do, Nest>> point_loops(const kernel::TensorProgram& program, const Plan& plan);

} // namespace rafter::schedule
