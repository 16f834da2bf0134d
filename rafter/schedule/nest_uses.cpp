// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/nest_uses.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <utility>

namespace rafter::schedule {

using kernel::StepKind;

namespace {

bool is_among(std::span<const int> list, int value) { return std::ranges::find(list, value) != list.end(); }

/// Goes through the nests in order.
class UseFinder {
public:
  UseFinder(const kernel::TensorProgram& program, const Schedule& schedule) : program_(program), schedule_(schedule) {}

  std::vector<ArrayUse> run() && {
    visit(schedule_.nest);
    return std::move(result_);
  }

private:
  void visit(const Nest& nest) {
    around_.push_back(&nest);
    in_registers_.clear();
    ++stretch_;
    for (const auto& entry : nest.body)
      if (const auto* what = std::get_if<Do>(&entry))
        add(*what);
      else {
        visit(std::get<Nest>(entry));
        in_registers_.clear();
        ++stretch_;
      }
    around_.pop_back();
  }
  void add(const Do& what) {
    for (auto& use : uses_of(program_, schedule_, what)) {
      if (!use.writes && is_in_registers(use.array, what)) continue;
      use.what = &what;
      use.number = number_;
      use.stretch = stretch_;
      use.around = around_;
      result_.push_back(std::move(use));
    }
    ++number_;
    if (!what.is_in_registers) return;
    if (what.action == Do::Action::step)
      in_registers_.insert({program_.step(what.step).target, -1});
    else
      in_registers_.insert({what.array, what.component});
  }
  /// Says whether the nest has what is read of an array in registers: all of it, or, of the QFunction, what it reads.
  bool is_in_registers(int array, const Do& reads) const {
    const auto has = [&](int component) { return in_registers_.contains({array, component}); };
    if (has(-1)) return true;
    if (reads.action == Do::Action::step && program_.step(reads.step).kind == StepKind::evaluate)
      return std::ranges::all_of(program_.input_slots, [&](const auto& input) {
        return input.slot.array != array || has(input.slot.component);
      });
    for (int c = 0; c < program_.num_components(array); ++c)
      if (!has(c)) return false;
    return true;
  }

  const kernel::TensorProgram& program_;
  const Schedule& schedule_;
  std::vector<ArrayUse> result_;
  std::vector<const Nest*> around_;
  std::set<std::pair<int, int>> in_registers_; ///< arrays, and the component, or -1 for all
  int number_ = 0, stretch_ = 0;
};

/// Distance between the entries that an array has for neighbouring indices along an axis.
struct Digit {
  int stride = 0, extent = 1;
};
/// Where an array stands in a memory: distances by axis, and those between several indices.
struct ArrayLayout {
  int array = -1;
  std::vector<int> strides;
  std::vector<Digit> digits;
};

/// Compares the uses of two arrays in one place of a memory.
class TurnOrder {
public:
  TurnOrder(const kernel::TensorProgram& program, const Memory& memory, const UsesOfArray& one,
            const UsesOfArray& other)
      : program_(program), memory_(memory), layouts_{layout_of(one.front()->array), layout_of(other.front()->array)} {
    UsesOfArray all = one;
    all.insert(all.end(), other.begin(), other.end());
    num_around_all_ = num_common_nests(all);
  }

  bool is_before(const UsesOfArray& one, const UsesOfArray& other) const {
    return std::ranges::all_of(one, [&](const ArrayUse* a) {
      return std::ranges::all_of(other, [&](const ArrayUse* b) { return is_before(*a, *b); });
    });
  }

private:
  bool is_before(const ArrayUse& a, const ArrayUse& b) const {
    const bool is_same = a.what == b.what;
    if (is_same ? a.writes || !b.writes || !reads_first(a) : a.number > b.number) return false;
    const std::size_t num_common = num_common_nests({&a, &b});
    const auto& innermost = *a.around[num_common - 1];
    if (memory_.space == Space::shared && std::ranges::any_of(innermost.loops, is_over_items))
      return false;           // Items do not wait for each other inside a nest.
    std::vector<int> counted; // axes whose indices part the entries of both
    for (std::size_t n = num_around_all_; n < num_common; ++n)
      for (const auto& loop : a.around[n]->loops) {
        if (loop.place == LoopPlace::cells && !memory_.has_cells) return false;
        if (loop.place != LoopPlace::item_x && loop.place != LoopPlace::item_y) // each item has a memory of its own
          counted.insert(counted.end(), loop.axes.begin(), loop.axes.end());
      }
    if (is_same)
      for (const int axis : program_.array(b.array).axes)
        if (!is_summed_or_made(*a.what, axis) && !is_given(axis, a)) counted.push_back(axis);
    return std::ranges::all_of(counted, [&](int axis) { return program_.extent(axis) == 1 || parts(axis, a, b); });
  }
  /// Says whether something reads all that it needs before it writes: a point, or a line whose matrix stands in the
  /// text.
  bool reads_first(const ArrayUse& use) const {
    const Do& what = *use.what;
    if (what.action != Do::Action::step || what.is_marched || what.rows > 0) return false;
    const auto& step = program_.step(what.step);
    if (!program_.contracts(step)) return step.kind == StepKind::evaluate;
    return !program_.matrix_of(step).is_data &&
           std::ranges::none_of(program_.family(step.family).rows, [&](int axis) { return is_given(axis, use); });
  }
  static bool is_given(int axis, const ArrayUse& use) {
    return std::ranges::any_of(use.around, [&](const Nest* nest) { return loop_over(*nest, axis) != nullptr; });
  }
  bool is_summed_or_made(const Do& what, int axis) const {
    const auto& step = program_.step(what.step);
    if (step.kind == StepKind::evaluate) return !is_among(program_.point_axes, axis);
    const auto& family = program_.family(step.family);
    return is_among(family.rows, axis) || is_among(family.cols, axis);
  }

  ArrayLayout layout_of(int array) const {
    ArrayLayout result{.array = array, .strides = strides_of(program_, memory_, array), .digits = {}};
    const auto& axes = program_.array(array).axes;
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (const int extent = extent_in(program_, memory_, axes[i]); result.strides[i] > 0 && extent > 1)
        result.digits.push_back({result.strides[i], extent});
    return result;
  }
  /// The distance along an axis whose index loops give to a use; 0: it is not kept, or not given.
  int stride_along(int axis, const ArrayUse& use) const {
    const auto& axes = program_.array(use.array).axes;
    const auto found = std::ranges::find(axes, axis);
    if (found == axes.end() || use.opens(axis)) return 0;
    const auto& layout = layouts_[use.array == layouts_[0].array ? 0 : 1];
    return layout.strides[static_cast<std::size_t>(found - axes.begin())];
  }
  /// Says whether entries of two arrays with different indices along an axis are different ones: its index follows from
  /// the number of an entry, in the same way for both. So it does where, at each distance from its own on, what lies
  /// closer together in either array ends before the next multiple.
  bool parts(int axis, const ArrayUse& a, const ArrayUse& b) const {
    const int stride = stride_along(axis, a);
    if (stride == 0 || stride != stride_along(axis, b)) return false;
    const auto ends_before = [](const ArrayLayout& layout, int distance) {
      int last = 0;
      for (const auto& digit : layout.digits)
        if (digit.stride < distance) last += (digit.extent - 1) * digit.stride;
      return last < distance;
    };
    for (const auto& layout : layouts_)
      for (const auto& digit : layout.digits)
        if (digit.stride >= stride &&
            !std::ranges::all_of(layouts_, [&](const auto& each) { return ends_before(each, digit.stride); }))
          return false;
    return true;
  }

  const kernel::TensorProgram& program_;
  const Memory& memory_;
  std::array<ArrayLayout, 2> layouts_;
  std::size_t num_around_all_ = 0; ///< nests around all uses of both: neither lasts from one of their turns to the next
};

} // namespace

bool ArrayUse::opens(int axis) const { return is_among(opened, axis); }

std::vector<ArrayUse> uses_of(const kernel::TensorProgram& program, const Schedule& schedule, const Do& what) {
  std::vector<ArrayUse> result;
  const auto axes_of_slots = [&](int array) { // The QFunction names components and slots itself.
    std::vector<int> axes = program.array(array).axes;
    std::erase_if(axes, [&](int axis) { return is_among(program.point_axes, axis); });
    return axes;
  };
  const auto read = [&](int array, int memory, std::vector<int> opened = {}) {
    result.push_back({.array = array, .memory = memory, .writes = false, .opened = std::move(opened)});
  };
  const auto write = [&](int array, int memory, std::vector<int> opened = {}) {
    if (!what.is_in_registers)
      result.push_back({.array = array, .memory = memory, .writes = true, .opened = std::move(opened)});
  };
  if (what.action != Do::Action::step) {
    if (what.array < 0) return result;
    const auto opened = what.component < 0 ? std::vector<int>{} : std::vector{program.array(what.array).axes.front()};
    if (what.action == Do::Action::copy) read(what.array, what.from, opened);
    write(what.array, what.to, opened);
    return result;
  }
  const auto& step = program.step(what.step);
  switch (step.kind) {
  case StepKind::read:
    write(step.target, what.to);
    break;
  case StepKind::write:
    read(step.source, what.from);
    break;
  case StepKind::contract: {
    if (works_in_place(step)) {
      read(step.source, what.from);
      write(step.target, what.to);
      break;
    }
    const auto& family = program.family(step.family);
    const auto opened = what.is_marched ? family.rows : std::vector<int>{};
    read(step.source, what.from, what.is_marched ? std::vector<int>{} : family.cols);
    if (step.accumulate || what.is_marched) read(step.target, what.sum >= 0 ? what.sum : what.to, opened);
    write(step.target, what.to, opened);
    break;
  }
  case StepKind::multiply: {
    const auto& product = program.product_of(step);
    const auto read_view = [&](int array, const std::vector<int>& axes) {
      const auto& of = program.array(array);
      if (of.table >= 0) return;
      read(array, -1);
      for (std::size_t i = 0; i < axes.size(); ++i)
        if (axes[i] != of.axes[i + 1]) {
          result.back().opened.push_back(of.axes[i + 1]);
          result.back().in_place.push_back(axes[i]);
        }
    };
    read_view(step.source, product.source_axes);
    read_view(product.factor, product.factor_axes);
    if (step.accumulate || what.is_marched) read(step.target, what.to);
    write(step.target, what.to);
    break;
  }
  case StepKind::evaluate_cell:
  case StepKind::evaluate:
    for (const int array : arrays_read(program, what))
      if (std::ranges::find(result, array, &ArrayUse::array) == result.end()) read(array, -1, axes_of_slots(array));
    for (const int array : arrays_made(program, what))
      write(array, memory_of_output(schedule, what, array), axes_of_slots(array));
    break;
  }
  return result;
}

std::vector<ArrayUse> uses_of(const kernel::TensorProgram& program, const Schedule& schedule) {
  return UseFinder(program, schedule).run();
}

std::size_t num_common_nests(const UsesOfArray& uses) {
  const auto& first = uses.front()->around;
  std::size_t result = first.size();
  for (const ArrayUse* use : uses) {
    const auto& around = use->around;
    const auto differs = std::ranges::mismatch(first, around).in1;
    result = std::min(result, static_cast<std::size_t>(differs - first.begin()));
  }
  return result;
}

bool can_stand_in_turn(const kernel::TensorProgram& program, const Memory& memory, const UsesOfArray& one,
                       const UsesOfArray& other) {
  const TurnOrder order(program, memory, one, other);
  return order.is_before(one, other) || order.is_before(other, one);
}

} // namespace rafter::schedule
