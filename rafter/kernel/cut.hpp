// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <rafter/kernel/tensor_program.hpp>

/// Store or recompute: which u-independent nodes of a point function are computed once at set-up.
namespace rafter::kernel {

/// A cut through the DAG of a point function; nodes in ascending order. Slot s of the stored data is the s-th node.
struct Cut {
  std::vector<NodeId> per_point, per_cell;
};

/// The two halves of a point function that a cut makes: `main` reads stored atoms, `setup` writes them.
struct CutFunction {
  PointFunction main, setup;
};
CutFunction apply_cut(const PointFunction& function, const Cut& cut);

/// Maximal nodes that do not depend on fields but are used by nodes that do (or are outputs), and that vary with the
/// points (per_point) or only with the cell (per_cell); trivial ones (parameters) are left where they are.
Cut full_cut(const PointFunction& function);

/// Cost of a point function per cell, in the units of the time-based roofline.
struct PointCost {
  double point_flops = 0;    ///< per point
  double cell_flops = 0;     ///< per cell (hoisted)
  double point_words = 0;    ///< stored words read per point
  double cell_words = 0;     ///< words read per cell
  double geometry_flops = 0; ///< per cell: the nodes of a curved map contracted to all points
};
PointCost cost(const PointFunction& function);

/// What an isoparametric map adds to the cost of the functions that use it: how `input` (but for its function and
/// fields) evaluates it.
struct CurvedMap {
  ProgramInput input;
  /// Sets geometry_flops and adds the words of the nodes where `function` reads the map.
  void add_cost(const PointFunction& function, PointCost& cost) const;
};

/// Machine balance that choices are made with; the planner passes measured figures.
struct Balance {
  double flops_per_second = 40e9;
  double bytes_per_second = 15e9;
};

/// Share of the peak that contractions of few entries reach, a round figure within what `rafter bench bp` shows (shares
/// of 0.2 to 0.4): what keeps predictions from preferring them to data that are read at the full bandwidth.
inline constexpr double contraction_share = 0.3;

/// How a point function is written and cut.
enum class Recipe : std::uint8_t {
  recompute, ///< nothing stored but the map (or nodes)
  recompute_merged,
  store,       ///< full cut of the function as written
  store_merged ///< full cut of the merged function: the fewest operations with the field
};
std::string_view name(Recipe recipe);

struct Choice {
  Recipe recipe = Recipe::recompute;
  CutFunction functions;       ///< setup has no outputs when nothing is stored
  PointCost cost;              ///< of functions.main
  double seconds_per_cell = 0; ///< roofline bound of the point stage and the map alone
};

/// All recipes that make sense for the function, cheapest first. `num_points` per cell; `curved`: for isoparametric
/// maps, whose evaluation counts as free without it. Functions without a trial function are evaluated once and
/// recomputed.
std::vector<Choice> recipes(const PointFunction& function, int num_points, const Balance& balance,
                            const CurvedMap* curved = nullptr);

} // namespace rafter::kernel
