// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <rafter/kernel/tensor_program.hpp>

/// Store or recompute: which nodes of a QFunction that do not depend on the trial function are computed at set-up.
namespace rafter::kernel {

/// A cut through the DAG of a QFunction; nodes in ascending order. Slot s of the stored data is the s-th node.
struct Cut {
  std::vector<NodeId> per_point, per_cell;
};

/// The two halves of a QFunction that a cut makes: `main` reads stored atoms, `setup` writes them.
struct CutFunction {
  QFunction main, setup;
};
CutFunction apply_cut(const QFunction& function, const Cut& cut);

/// The cut that makes the kernel cheapest when a stored number costs as much to read as `flops_per_word` operations: an
/// exact minimum over all sets of nodes without fields, or, when it `stores_data`, without trial functions: then what a
/// law makes of data fields may be stored too, and is computed again when they change. Next to nothing: whatever saves
/// an operation is stored, the fewest numbers that do; infinity: nothing is. Divisions and elementary functions count
/// for many operations. `map_flops`: operations per cell behind each entry of a curved map.
Cut cheapest_cut(const QFunction& function, const PointLoops& loops, double flops_per_word, double map_flops = 0,
                 bool stores_data = false);

/// Cost of a QFunction, in the units of the time-based roofline.
struct PointCost {
  double point_flops = 0;    ///< per point: what varies with the points
  double cell_flops = 0;     ///< per cell: what does not
  double flops = 0;          ///< of both, per cell, each node as often as its loop runs
  double point_words = 0;    ///< stored words read per point
  double cell_words = 0;     ///< words read per cell
  double geometry_flops = 0; ///< per cell: the nodes of a curved map and data fields contracted to all points
};
PointCost cost(const QFunction& function, const PointLoops& loops);

/// What an isoparametric map adds to the cost of the functions that use it: how `input` (but for its function and
/// fields) evaluates it.
struct CurvedMap {
  ProgramInput input;
  /// Sets geometry_flops and adds the words of the nodes where `function` reads the map.
  void add_cost(const QFunction& function, PointCost& cost) const;
};

/// Machine balance that choices are made with; the planner passes measured figures.
struct Balance {
  double flops_per_second = 40e9;
  double bytes_per_second = 15e9;
};

/// Share of the peak that contractions of few entries reach, a round figure at the lower end of what `rafter bench bp`
/// shows (shares of the roofline of 0.3 to 0.66): what keeps predictions from preferring them to data that are read at
/// the full bandwidth.
inline constexpr double contraction_share = 0.3;

/// How a QFunction is written and cut. As text "recompute", "partial-2" (two numbers stored per point) or "store",
/// of the merged function with "-merged" after it; with "-law" after that where data fields may be stored, too.
struct FactorStorage {
  enum class Kind : std::uint8_t {
    recompute, ///< nothing stored but the map (or nodes)
    partial,   ///< what is worth most
    store      ///< all that saves operations
  };
  Kind kind = Kind::recompute;
  bool is_merged = false;   ///< written with one coefficient per test and trial slot: the fewest operations with u
  int num_stored = 0;       ///< partial: numbers per point
  bool stores_data = false; ///< what depends on data fields may be stored, too
  auto operator<=>(const FactorStorage&) const = default;
  static const FactorStorage recompute, recompute_merged, store, store_merged;
};
inline constexpr FactorStorage FactorStorage::recompute{};
inline constexpr FactorStorage FactorStorage::recompute_merged{.is_merged = true};
inline constexpr FactorStorage FactorStorage::store{.kind = Kind::store};
inline constexpr FactorStorage FactorStorage::store_merged{.kind = Kind::store, .is_merged = true};

std::string name(const FactorStorage& factors);
std::optional<FactorStorage> parse_factor_storage(std::string_view text);
/// What such texts may be, in words.
std::vector<std::string> factor_storage_names();

struct Choice {
  FactorStorage factors;
  CutFunction functions;       ///< setup has no outputs when nothing is stored
  QFunction on_grid;           ///< functions.main hoisted: for programs whose points form a grid
  PointCost cost;              ///< of on_grid
  double seconds_per_cell = 0; ///< roofline bound of the point stage and the map alone
  bool is_dominated = false;   ///< another choice has neither more operations nor more words, or is alike
};

/// The storages of factors of a function, cheapest first: nothing stored, all stored, and the cuts in between that are
/// best at the exchange rates of operations for words that machines have, of the function as written and merged; with
/// data fields each cut also where the linearised law may be stored. `num_points` per cell; `curved`: for isoparametric
/// maps, whose evaluation counts as free without it. Without a trial function all is evaluated once and recomputed.
std::vector<Choice> factor_storages(const QFunction& function, int num_points, const Balance& balance,
                                    const CurvedMap* curved = nullptr);

} // namespace rafter::kernel
