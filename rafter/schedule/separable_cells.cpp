// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/separable_cells.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace rafter::schedule {

namespace {

using kernel::StepKind;
using Line = std::vector<NodePtr>;

/// Products of one line with several matrices; the halves of the line are taken once.
class LineProducts {
public:
  LineProducts(Context& context, Line line) : context_(context), line_(std::move(line)) {}

  Line operator()(const kernel::ReferenceMatrix& matrix, Statements& to) {
    return goes_by_halves(context_, matrix) ? line_of(in_halves(matrix, to))
                                            : apply_to_line(context_, matrix, line_, to);
  }
  /// The same with what belongs together left apart. The plan applies the matrix by halves.
  Halves in_halves(const kernel::ReferenceMatrix& matrix, Statements& to) {
    if (!halves_) halves_ = halves_of(context_, line_, to);
    return apply(context_, matrix, *halves_, 1, to);
  }

private:
  Context& context_;
  Line line_;
  std::optional<Halves> halves_;
};

NodePtr sum(NodePtr a, const NodePtr& b) { return a == nullptr ? b : operation(form::ScalarOp::add, {a, b}); }
void add_to(Line& total, const Line& line) {
  total.resize(line.size());
  for (std::size_t i = 0; i < line.size(); ++i) total[i] = sum(total[i], line[i]);
}

class Separable {
public:
  explicit Separable(Context& context)
      : context_(context), program_(context.program), dim_(program_.tdim), n_(program_.points_along(0)),
        columns_(dim_ == 3 ? n_ * n_ : n_), layer_(layer_distance(context, columns_)), volume_(layer_ * n_) {
    sort_steps();
    place_arrays();
  }

  void lower(Statements& to) {
    PointStage stage(context_, {[this](const kernel::InputSlot& input) { return column_.at(place(input.slot))[at_]; },
                                [this](std::size_t i, NodePtr value, Statements& body) {
                                  auto& line = column_[place(program_.output_slots[i])];
                                  line.resize(static_cast<std::size_t>(n_));
                                  line[at_] = context_.define(body, "s", std::move(value));
                                }});
    for (const auto& step : gathers_) gather(context_, step.field, names_.at(step.target), placement(), to);
    stage.at_cell(to);
    for (const auto& step : gathers_) products_of_layers(step.target, to);
    const std::string i = context_.fresh("i");
    Statements column;
    columns(stage, variable(i), column);
    to.push_back(for_each(i, columns_, column));
    for (const auto& step : scatters_) scatter(context_, step.field, results_.at(step.source), placement(), to);
  }

private:
  using Place = std::pair<int, int>; ///< array, component
  static Place place(const kernel::Slot& slot) { return {slot.array, slot.component}; }
  int axis(const kernel::Step& step) const { return program_.direction_of(step); }
  int components(int array) const { return program_.num_components(array); }
  const kernel::ReferenceMatrix& matrix(const kernel::Step& step) const { return program_.matrix_of(step); }
  NodePtr for_each(const std::string& name, int count, Statements body) const {
    return loop(name, integer(count), block(std::move(body)));
  }

  // --- what is done when, and where it stands ---------------------------------------------------------------------
  void sort_steps() {
    bool is_evaluated = false;
    for (const auto& step : program_.steps) {
      if (step.kind == StepKind::gather) gathers_.push_back(step);
      if (step.kind == StepKind::scatter) scatters_.push_back(step);
      if (step.kind == StepKind::weigh) is_weighed_ = true;
      if (step.kind == StepKind::evaluate) is_evaluated = true;
      if (step.kind != StepKind::contract) continue;
      auto& kind = is_evaluated ? backward_ : axis(step) + 1 < dim_ ? before_columns_ : in_columns_;
      kind.push_back(step);
    }
  }
  /// Says whether columns of the last axis start from the array.
  bool is_read_in_columns(int array) const {
    const auto reads = [array](const auto& source) { return source == array; };
    return std::ranges::any_of(in_columns_, reads, &kernel::Step::source) ||
           std::ranges::any_of(program_.input_slots, [&](const auto& input) { return reads(input.slot.array); });
  }
  /// Arrays of whole cells: dofs, and those that columns start from. The first of these that is made of dofs which
  /// columns do not need takes their place: a layer of dofs has been read when it is written.
  void place_arrays() {
    std::map<int, int> origin; // dofs of each array
    std::map<std::string, bool> is_taken;
    for (const auto& step : gathers_) {
      names_[step.target] = volume(step.target);
      origin[step.target] = step.target;
      is_taken[names_[step.target]] = is_read_in_columns(step.target);
    }
    for (const auto& step : before_columns_) {
      const int dofs = origin[step.target] = origin.at(step.source);
      if (!is_read_in_columns(step.target)) {
        names_[step.target] = context_.work(array_name(program_, step.target), columns_);
        planes_.push_back(step.target);
        continue;
      }
      auto& taken = is_taken[names_.at(dofs)];
      const bool is_last_to_read = axis(step) > 0 || dim_ < 3 || products_of(dofs, 1).empty();
      if (taken || !is_last_to_read) {
        names_[step.target] = volume(step.target);
        continue;
      }
      names_[step.target] = names_.at(dofs);
      taken = true;
    }
    for (const auto& step : scatters_) {
      const auto like = std::ranges::find_if(gathers_, [&](const kernel::Step& gathered) {
        return gathered.field == step.field && components(gathered.target) == components(step.source);
      });
      results_[step.source] = like != gathers_.end() ? names_.at(like->target) : volume(step.source);
    }
  }
  std::string volume(int array) {
    return context_.work(array_name(program_, array), std::int64_t{components(array)} * volume_);
  }
  Placement placement() const { return Placement::layers(n_, columns_, layer_, volume_); }

  // --- layer by layer -----------------------------------------------------------------------------------------------
  bool is_plane(int array) const { return std::ranges::find(planes_, array) != planes_.end(); }
  std::vector<kernel::Step> products_of(int source, int axis) const {
    std::vector<kernel::Step> result;
    for (const auto& step : before_columns_)
      if (step.source == source && this->axis(step) == axis) result.push_back(step);
    return result;
  }
  /// Everything before the columns that starts from the dofs of one field.
  void products_of_layers(int dofs, Statements& to) {
    const std::string c = context_.fresh("c"), k = context_.fresh("k");
    const NodePtr layer = iadd(imul(variable(c), integer(volume_)), imul(variable(k), integer(layer_)));
    Statements body;
    const auto along_rows = products_of(dofs, 0);
    if (!along_rows.empty()) {
      const std::string j = context_.fresh("j");
      Statements row;
      product_of_line(dofs, along_rows, layer, imul(variable(j), integer(n_)), 1, row);
      body.push_back(for_each(j, columns_ / n_, row));
    }
    if (dim_ == 3) {
      std::vector<int> sources{dofs}; // first: their place is that of a product
      for (const auto& step : along_rows) sources.push_back(step.target);
      products_of_columns(sources, layer, body);
    }
    if (!body.empty()) to.push_back(for_each(c, components(dofs), {for_each(k, n_, body)}));
  }
  NodePtr base_of(int array, const NodePtr& layer) const { return is_plane(array) ? integer(0) : layer; }
  /// The products of one line of an array, which begins at `line` of its layer, by several matrices.
  void product_of_line(int source, const std::vector<kernel::Step>& steps, const NodePtr& layer, const NodePtr& line,
                       int stride, Statements& to) {
    LineProducts apply(context_,
                       load_line(context_, names_.at(source), iadd(base_of(source, layer), line), n_, stride, to));
    std::vector<Line> results;
    for (const auto& step : steps) results.push_back(apply(matrix(step), to));
    for (std::size_t s = 0; s < steps.size(); ++s)
      store_line(context_, names_.at(steps[s].target), iadd(base_of(steps[s].target, layer), line), stride, results[s],
                 to);
  }
  /// Axis 1 of a layer in three dimensions.
  void products_of_columns(const std::vector<int>& sources, const NodePtr& layer, Statements& to) {
    const std::string i = context_.fresh("i");
    Statements body;
    for (const int source : sources) {
      const auto steps = products_of(source, 1);
      if (!steps.empty()) product_of_line(source, steps, layer, variable(i), n_, body);
    }
    if (!body.empty()) to.push_back(for_each(i, n_, body));
  }

  // --- column by column ---------------------------------------------------------------------------------------------
  void columns(const PointStage& stage, const NodePtr& i, Statements& to) {
    column_.clear();
    const auto load = [&](int array, int c) {
      auto& line = column_[{array, c}];
      if (line.empty()) line = load_line(context_, names_.at(array), iadd(integer(c * volume_), i), n_, layer_, to);
    };
    for (const auto& input : program_.input_slots) // all, before results take their places
      if (names_.contains(input.slot.array)) load(input.slot.array, input.slot.component);
    for (const auto& step : in_columns_)
      for (int c = 0; c < components(step.source); ++c) load(step.source, c);
    products_in_columns(to);
    for (at_ = 0; at_ < static_cast<std::size_t>(n_); ++at_) {
      PointStage at_point = stage;
      at_point.at_point(to);
    }
    for (const auto& step : scatters_)
      for (int c = 0; c < components(step.source); ++c) {
        Line result = column_result(step.source, c, to);
        if (is_weighed_) weigh(result, i);
        store_line(context_, results_.at(step.source), iadd(integer(c * volume_), i), layer_, result, to);
      }
  }
  void products_in_columns(Statements& to) {
    std::map<Place, LineProducts> of_line;
    for (const auto& step : in_columns_)
      for (int c = 0; c < components(step.source); ++c) {
        const Place source{step.source, c};
        auto& apply = of_line.try_emplace(source, context_, column_.at(source)).first->second;
        auto& line = column_[{step.target, c}];
        for (const auto& value : apply(matrix(step), to)) line.push_back(context_.define(to, "v", value));
      }
  }
  /// The sum of the products along the last axis that make up an array, and of what stood there before.
  Line column_result(int array, int component, Statements& to) {
    Line whole;
    Halves halves;
    bool has_halves = false;
    const auto own = column_.find({array, component});
    if (own != column_.end()) whole = own->second;
    for (const auto& step : backward_) {
      if (step.target != array) continue;
      LineProducts apply(context_, column_.at({step.source, component}));
      if (!goes_by_halves(context_, matrix(step))) {
        add_to(whole, apply(matrix(step), to));
        continue;
      }
      const Halves more = apply.in_halves(matrix(step), to);
      add_to(halves.even, more.even);
      add_to(halves.odd, more.odd);
      if (more.middle != nullptr) halves.middle = sum(halves.middle, more.middle);
      has_halves = true;
    }
    if (has_halves) {
      for (auto* half : {&halves.even, &halves.odd})
        for (auto& value : *half) value = context_.define(to, "h", value);
      add_to(whole, line_of(halves));
    }
    return whole;
  }
  void weigh(Line& line, const NodePtr& i) {
    const std::string weights = context_.global(role::weights);
    for (int k = 0; k < n_; ++k) {
      auto& value = line[static_cast<std::size_t>(k)];
      value =
          operation(form::ScalarOp::mul, {context_.fetch(weights, iadd(integer(k * columns_), i)), std::move(value)});
    }
  }

  Context& context_;
  const kernel::TensorProgram& program_;
  int dim_, n_;
  int columns_; ///< columns of the last axis: nodes of a layer
  int layer_;   ///< entries from one layer to the next
  int volume_;  ///< entries of a component
  bool is_weighed_ = false;
  std::vector<kernel::Step> gathers_, scatters_;
  std::vector<kernel::Step> before_columns_, in_columns_, backward_; ///< contractions
  std::map<int, std::string> names_;                                 ///< names of arrays that exist outside columns
  std::map<int, std::string> results_;                               ///< names of arrays that are scattered
  std::vector<int> planes_;                                          ///< arrays of one layer
  std::map<Place, Line> column_;                                     ///< known lines of the column that is being made
  std::size_t at_ = 0;                                               ///< its point that is being made
};

} // namespace

void lower_separable(Context& context, Statements& to) { Separable(context).lower(to); }

} // namespace rafter::schedule
