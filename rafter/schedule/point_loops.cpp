// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/point_loops.hpp>

#include <algorithm>
#include <array>

#include <rafter/schedule/common_keys.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/planning_problem.hpp>

namespace rafter::schedule {

std::string_view name(LoopOrder order) {
  static constexpr std::array names{"auto", "tables", "qss", "sqs", "ssq"};
  return names.at(static_cast<std::size_t>(order));
}
std::string_view name(DerivativePlace place) { return place == DerivativePlace::ahead ? "ahead" : "inside"; }

namespace {

using Tried = std::vector<std::string>;

Tried orders_tried(const PlanningProblem& problem, const Plan& plan) {
  if (problem.matrix_plan == nullptr) return {"auto"};
  return plan[key::contraction] == kernel::Contraction::pointwise ? Tried{"qss", "sqs", "ssq"} : Tried{"tables"};
}
Tried derivatives_tried(const PlanningProblem&, const Plan& plan) {
  return plan[key::contraction] == kernel::Contraction::pointwise ? Tried{"ahead", "inside"} : Tried{"ahead"};
}

} // namespace

namespace key {
constexpr KeyOf<LoopOrder> order{{.name = "order",
                                  .place = 84,
                                  .values = names_up_to<LoopOrder::ssq>(),
                                  .shared = 0.6,
                                  .tried = orders_tried,
                                  .is_tried_in_matrices = true}};
constexpr KeyOf<DerivativePlace> derivatives{{.name = "derivatives",
                                              .place = 86,
                                              .values = names_up_to<DerivativePlace::inside>(),
                                              .shared = 0.8,
                                              .tried = derivatives_tried,
                                              .is_tried_in_matrices = true}};
} // namespace key

namespace {

using kernel::Step;
using kernel::StepKind;

bool has_axis(const std::vector<int>& list, int value) { return std::ranges::find(list, value) != list.end(); }

class PointLoops {
public:
  PointLoops(const kernel::TensorProgram& program, const Plan& plan)
      : program_(program), points_(program.point_axes.front()), derivatives_(plan[key::derivatives]) {
    for (const auto& step : program.steps)
      if (step.kind == StepKind::write) {
        const auto& axes = program.array(step.source).axes;
        blocks_.push_back({.matrix = step.source, .test = axes[1], .trial = axes[2]});
      }
    order_ = blocks_.size() == 1 && plan[key::order] > LoopOrder::tables ? plan[key::order] : LoopOrder::qss;
    has_points_ = std::ranges::any_of(program.steps, [this](const Step& step) { return needs_points(step); });
    for (auto& block : blocks_) block.loops = loops_of(block);
    num_common_ = order_ != LoopOrder::qss ? blocks_.front().loops.size() : has_points_ ? 1 : 0;
    place_steps();
  }

  std::vector<std::variant<Do, Nest>> run() const { return level(0, -1); }

private:
  /// The matrix of a pair of fields.
  struct Block {
    int matrix = -1, test = -1, trial = -1; ///< array and its axes
    std::vector<int> loops;                 ///< axes, outermost first
  };
  struct Place {
    Do what;
    std::size_t depth = 0;  ///< loops around
    int block = -1;         ///< -1: it serves several
    bool is_behind = false; ///< it comes behind the loops inside
    std::vector<int> own{}; ///< axes of loops around it alone
  };

  bool needs_points(const Step& step) const {
    if (step.kind == StepKind::evaluate) return true;
    return step.kind == StepKind::multiply && has_axis(axes_of(step), points_);
  }
  /// The axes whose indices a step has, to sum over or to set.
  std::vector<int> axes_of(const Step& step) const {
    auto result = program_.summed_axes(step);
    const auto& of_target = program_.array(step.target).axes;
    result.insert(result.end(), of_target.begin() + 1, of_target.end());
    return result;
  }
  /// The number of products that make a matrix, of one point.
  int num_products(const Block& block, bool of_row) const {
    int terms = 0;
    for (const auto& step : program_.steps)
      if (step.kind == StepKind::multiply && step.target == block.matrix)
        terms += static_cast<int>(program_.product_of(step).terms.size());
    return terms * program_.extent(block.trial) * (of_row ? 1 : program_.extent(block.test));
  }
  std::vector<int> loops_of(const Block& block) const {
    constexpr int most_in_text = 512;
    std::vector<int> result;
    const bool is_looped = num_products(block, false) > most_in_text,
               is_row_looped = num_products(block, true) > most_in_text;
    const auto points = has_points_ ? std::vector{points_} : std::vector<int>{};
    if (order_ == LoopOrder::qss) result = points;
    if (order_ != LoopOrder::qss || is_looped || derivatives_ == DerivativePlace::inside) result.push_back(block.test);
    if (order_ == LoopOrder::sqs) result.insert(result.end(), points.begin(), points.end());
    if (order_ == LoopOrder::ssq || is_row_looped) result.push_back(block.trial);
    if (order_ == LoopOrder::ssq) result.insert(result.end(), points.begin(), points.end());
    return result;
  }

  // --- places of steps ----------------------------------------------------------------------------------------------
  void place_steps() {
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const auto& block = blocks_[b];
      if (is_summed(block))
        places_.push_back({.what = {.action = Do::Action::clear, .array = block.matrix},
                           .depth = depth_before_points(block),
                           .block = static_cast<int>(b)});
    }
    for (std::size_t s = 0; s < program_.steps.size(); ++s) {
      const auto& step = program_.steps[s];
      const Do what{.step = static_cast<int>(s)};
      if (step.kind == StepKind::evaluate_cell) places_.push_back({.what = what});
      if (step.kind == StepKind::evaluate)
        places_.push_back({.what = what, .depth = depth_in(blocks_.front(), {points_})});
      if (step.kind == StepKind::multiply) place_product(what, step);
      if (step.kind != StepKind::write) continue;
      const auto block =
          static_cast<std::size_t>(std::ranges::find(blocks_, step.source, &Block::matrix) - blocks_.begin());
      places_.push_back({.what = what,
                         .depth = depth_before_points(blocks_[block]),
                         .block = static_cast<int>(block),
                         .is_behind = true});
    }
  }
  /// Says whether loops add up a matrix.
  bool is_summed(const Block& block) const {
    return has_axis(block.loops, points_) && std::ranges::any_of(program_.steps, [&](const Step& step) {
             return step.target == block.matrix && has_axis(program_.summed_axes(step), points_);
           });
  }
  void place_product(Do what, const Step& step) {
    const auto axes = axes_of(step);
    const auto found = std::ranges::find_if(
        blocks_, [&](const Block& block) { return has_axis(axes, block.test) || has_axis(axes, block.trial); });
    const bool is_of_block = found != blocks_.end();
    const auto& block = is_of_block ? *found : blocks_.front();
    const auto summed = program_.summed_axes(step);
    what.is_marched = has_axis(summed, points_) && has_axis(block.loops, points_);
    Place place{.what = what};
    // What does not depend on the point comes before the loop over points, with loops of its own for indices that
    // others give inside.
    const bool is_before = !needs_points(step) && has_axis(block.loops, points_);
    for (std::size_t i = 0; i < block.loops.size(); ++i) {
      if (!has_axis(axes, block.loops[i])) continue;
      if (is_before && i > depth_before_points(block))
        place.own.push_back(block.loops[i]);
      else
        place.depth = i + 1;
    }
    if (is_derivative(step) && derivatives_ == DerivativePlace::ahead && program_.size(step.target) > most_ahead)
      place.own = {program_.array(step.target).axes[1]};
    place.block = is_of_block && place.depth > num_common_ ? static_cast<int>(found - blocks_.begin()) : -1;
    places_.push_back(std::move(place));
  }
  /// Says whether a step makes derivatives of shape functions: what it is made of is no coefficient times a function.
  bool is_derivative(const Step& step) const {
    return std::ranges::none_of(
               program_.steps,
               [&](const Step& other) { return other.kind == StepKind::multiply && other.source == step.target; }) &&
           std::ranges::none_of(blocks_, [&](const Block& block) { return block.matrix == step.target; });
  }
  std::size_t depth_in(const Block& block, const std::vector<int>& axes) const {
    std::size_t result = 0;
    for (std::size_t i = 0; i < block.loops.size(); ++i)
      if (has_axis(axes, block.loops[i])) result = i + 1;
    return result;
  }
  std::size_t depth_before_points(const Block& block) const {
    const auto found = std::ranges::find(block.loops, points_);
    return found == block.loops.end() ? depth_in(block, {block.test, block.trial})
                                      : static_cast<std::size_t>(found - block.loops.begin());
  }

  // --- nests --------------------------------------------------------------------------------------------------------
  /// What is done inside so many loops of a block; -1: of all, as far as they have the same ones.
  std::vector<std::variant<Do, Nest>> level(std::size_t depth, int block) const {
    std::vector<std::variant<Do, Nest>> result;
    const auto add = [&](bool is_behind) {
      for (const auto& place : places_)
        if (place.depth == depth && place.is_behind == is_behind && (block < 0 || place.block == block))
          result.push_back(in_own_loops(place));
    };
    add(false);
    const auto inside = [&](const Block& of, int number) {
      if (depth == of.loops.size()) return;
      result.emplace_back(Nest{.loops = {{{of.loops[depth]}}}, .body = level(depth + 1, number)});
    };
    if (block < 0 && depth < num_common_)
      inside(blocks_.front(), -1);
    else if (block < 0)
      for (std::size_t b = 0; b < blocks_.size(); ++b) inside(blocks_[b], static_cast<int>(b));
    else
      inside(blocks_[static_cast<std::size_t>(block)], block);
    add(true);
    return result;
  }
  static std::variant<Do, Nest> in_own_loops(const Place& place) {
    if (place.own.empty()) return place.what;
    Nest nest{.loops = {}, .body = {place.what}};
    for (const int axis : place.own) nest.loops.push_back({{axis}});
    return nest;
  }

  static constexpr int most_ahead = 128; ///< derivatives ahead of the loops that are written out
  const kernel::TensorProgram& program_;
  int points_;
  DerivativePlace derivatives_;
  LoopOrder order_ = LoopOrder::qss;
  bool has_points_ = false;    ///< something depends on the point
  std::size_t num_common_ = 0; ///< outermost loops that all blocks have
  std::vector<Block> blocks_;
  std::vector<Place> places_;
};

} // namespace

std::vector<std::variant<Do, Nest>> point_loops(const kernel::TensorProgram& program, const Plan& plan) {
  return PointLoops(program, plan).run();
}

} // namespace rafter::schedule
