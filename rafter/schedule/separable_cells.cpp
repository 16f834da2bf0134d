// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/separable_cells.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include <rafter/schedule/nest_loops.hpp>
#include <rafter/schedule/place_arrays.hpp>

namespace rafter::schedule {

namespace {

using kernel::StepKind;

class SeparableSchedule {
public:
  explicit SeparableSchedule(const kernel::TensorProgram& program) : program_(program), dim_(program.tdim) {
    sort_steps();
  }

  Schedule run(const Plan& plan, CellPlace cell_place) && {
    result_.cell_place = cell_place;
    for (const int s : reads_) result_.nest.body.emplace_back(Do{.step = s});
    for (const int s : reads_) add_layers(step(s).target);
    add_columns();
    for (const int s : writes_) result_.nest.body.emplace_back(Do{.step = s});
    place_arrays(program_, plan, result_, {.has_layers = true});
    return std::move(result_);
  }

private:
  const kernel::Step& step(int number) const { return program_.step(number); }
  int axis(int number) const { return program_.direction_of(step(number)); }

  void sort_steps() {
    bool is_evaluated = false;
    for (std::size_t s = 0; s < program_.steps.size(); ++s) {
      const auto number = static_cast<int>(s);
      const auto kind = step(number).kind;
      is_evaluated = is_evaluated || kind == StepKind::evaluate;
      if (kind == StepKind::read)
        reads_.push_back(number);
      else if (kind == StepKind::write)
        writes_.push_back(number);
      else if (!is_evaluated && program_.contracts(step(number)) && axis(number) + 1 < dim_)
        before_columns_.push_back(number);
      else
        in_columns_.push_back(number);
    }
  }
  /// Products before columns, of an array along an axis.
  std::vector<int> products_of(int array, int along) const {
    std::vector<int> result;
    for (const int s : before_columns_)
      if (step(s).source == array && axis(s) == along) result.push_back(s);
    return result;
  }
  // --- nests --------------------------------------------------------------------------------------------------------
  static Do in_registers(int array) { return {.action = Do::Action::copy, .array = array, .is_in_registers = true}; }
  static void add_products(int array, const std::vector<int>& steps, Nest& to) {
    if (steps.empty()) return;
    to.body.emplace_back(in_registers(array)); // before a product takes its place
    for (const int s : steps) to.body.emplace_back(Do{.step = s});
  }
  /// Everything before the columns that starts from the dofs of one field.
  void add_layers(int dofs) {
    Nest layer = nest_of({over_components(program_, dofs), over_axis(program_, dofs, dim_ - 1)}, {});
    const auto along_rows = products_of(dofs, 0);
    Nest row, column;
    add_products(dofs, along_rows, row);
    if (dim_ == 3) {
      row.loops = {over_axis(program_, dofs, 1)};
      column.loops = {over_axis(program_, dofs, 0)};
      add_products(dofs, products_of(dofs, 1), column); // first: their place is that of a product
      for (const int s : along_rows) add_products(step(s).target, products_of(step(s).target, 1), column);
    }
    for (auto* nest : {&row, &column})
      if (!nest->body.empty()) layer.body.emplace_back(std::move(*nest));
    if (!layer.body.empty()) result_.nest.body.emplace_back(std::move(layer));
  }
  void add_columns() {
    Nest columns{.loops = {over_columns(program_, step(reads_.front()).target)}, .body = {}};
    std::set<std::pair<int, int>> known;              // array, component
    const auto copy = [&](int array, int component) { // all, before results take their places
      if (!is_made_in_columns(array) && known.insert({array, component}).second)
        columns.body.emplace_back(
            Do{.action = Do::Action::copy, .array = array, .component = component, .is_in_registers = true});
    };
    for (const auto& input : program_.input_slots) copy(input.slot.array, input.slot.component);
    for (const int s : in_columns_)
      if (program_.contracts(step(s)))
        for (int c = 0; c < program_.num_components(step(s).source); ++c) copy(step(s).source, c);
    for (const int s : in_columns_) columns.body.emplace_back(Do{.step = s});
    result_.nest.body.emplace_back(std::move(columns));
  }
  bool is_made_in_columns(int array) const {
    return std::ranges::any_of(
        in_columns_, [&](int s) { return std::ranges::count(arrays_made(program_, {.step = s}), array) > 0; });
  }

  const kernel::TensorProgram& program_;
  int dim_;
  Schedule result_;
  std::vector<int> reads_, writes_;              ///< steps
  std::vector<int> before_columns_, in_columns_; ///< steps between these
};

} // namespace

Schedule schedule_separable(const kernel::TensorProgram& program, const Plan& plan, CellPlace cell_place) {
  return SeparableSchedule(program).run(plan, cell_place);
}

} // namespace rafter::schedule
