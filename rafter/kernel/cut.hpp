// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include <rafter/kernel/factor_storage.hpp>
#include <rafter/kernel/tensor_program.hpp>

/// Store or recompute: chooses the values of a QFunction, independent of the trial function, that set-up computes and
/// stores.
namespace rafter::kernel {

/// A cut through the expression graph of a QFunction: the nodes whose values are stored, in ascending order. Slot s of
/// the stored data is the s-th node.
struct Cut {
  std::vector<NodeId> per_point, per_cell;
};

/// The two halves of a QFunction that a cut makes: `main` reads the stored values, `setup` computes and writes them.
struct CutFunction {
  QFunction main, setup;
};
CutFunction apply_cut(const QFunction& function, const Cut& cut);

/// The cut that makes the kernel cheapest when a stored number costs as much to read as `flops_per_word` operations. It
/// is an exact minimum over all sets of nodes without fields, or, with `stores_data`, over all without trial functions:
/// then values that a material law makes of data fields may be stored too, and are computed again when these fields
/// change. With flops_per_word near 0, whatever saves an operation is stored, in as few numbers as possible; with
/// infinity, nothing is stored. Divisions and elementary functions count for many operations. `map_flops` is the number
/// of operations per cell that evaluate one entry of the Jacobian or coordinate of a curved map.
Cut cheapest_cut(const QFunction& function, const PointLoops& loops, double flops_per_word, double map_flops = 0,
                 bool stores_data = false);

/// Cost of a QFunction: operations and numbers (of 8 bytes) read, as the roofline model takes them.
struct PointCost {
  double point_flops = 0; ///< operations per point on values that vary with the points
  double cell_flops = 0;  ///< operations per cell on values that are constant on the cell
  double flops = 0;       ///< all operations per cell, each node as often as its loop runs
  double point_words = 0; ///< stored numbers read per point
  double cell_words = 0;  ///< numbers read per cell
  /// Operations per cell that contract the nodes of a curved map and data fields to all points.
  double geometry_flops = 0;
};
PointCost cost(const QFunction& function, const PointLoops& loops);

/// The cost that the evaluation of an isoparametric map adds to that of a QFunction. Rule, geometry element and
/// contraction are those of `input`; its function and fields are not used.
struct CurvedMap {
  ProgramInput input;
  /// Sets geometry_flops, and adds the numbers read as geometry nodes, if `function` reads the map.
  void add_cost(const QFunction& function, PointCost& cost) const;
};

/// Speed of the machine that choices are made for. The defaults stand in where no figures were measured; the planner
/// passes measured ones.
struct Balance {
  double flops_per_second = 40e9;
  double bytes_per_second = 15e9;
};

/// Share of the peak that contractions with few entries reach: a round figure at the lower end of what `rafter bench
/// bp` shows (shares of the roofline of 0.3 to 0.66). Without it, predictions would prefer such contractions to stored
/// data, which are read at the full bandwidth.
inline constexpr double contraction_share = 0.3;

/// One way to write and cut a QFunction, with its predicted cost.
struct Choice {
  FactorStorage factors;
  CutFunction functions; ///< `setup` has no outputs when nothing is stored
  QFunction on_grid;     ///< functions.main hoisted, for programs whose points form a grid
  PointCost cost;        ///< cost of on_grid
  /// Roofline bound of the QFunction with the evaluation of the map and of data fields, without the contractions of
  /// trial and test functions.
  double seconds_per_cell = 0;
  /// Another choice needs no more operations and reads no more numbers (of equal ones, the first is kept).
  bool is_dominated = false;
};

/// The ways to store the factors of a function, cheapest first: nothing stored, all stored, and the cuts between them
/// that are best for some ratio of the price of a number read to that of an operation. They are taken of the function
/// as written and of its merged form; where there are data fields, each cut comes also with leave to store values that
/// depend on them (the linearised law). `loops` are those over the points of a cell. `curved` gives the cost of
/// isoparametric maps, which count as free without it. Of a function without trial function, all is recomputed, since
/// it is evaluated once.
std::vector<Choice> factor_storages(const QFunction& function, const PointLoops& loops, const Balance& balance,
                                    const CurvedMap* curved = nullptr);

} // namespace rafter::kernel
