// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/nest_values.hpp>

#include <algorithm>

#include <rafter/base/error.hpp>

namespace rafter::schedule {

namespace {

bool contains(const std::vector<int>& list, int value) { return std::ranges::find(list, value) != list.end(); }

} // namespace

void NestValues::go_to(const Nest& nest, std::size_t position) {
  if (nest_ != &nest) forget();
  nest_ = &nest;
  later_.clear();
  read_later_.clear();
  made_later_.clear();
  summed_later_.clear();
  for (std::size_t i = position + 1; i < nest.body.size(); ++i) {
    const auto* what = std::get_if<Do>(&nest.body[i]);
    if (what == nullptr) break;
    later_.push_back(what);
    for (const int array : arrays_read(program_, *what)) read_later_.insert(array);
    const bool is_step = what->action == Do::Action::step;
    for (const int array : arrays_made(program_, *what)) {
      made_later_.insert(array);
      if (is_step && program_.contracts(program_.step(what->step))) summed_later_.insert(array);
    }
  }
}

void NestValues::forget() {
  nest_ = nullptr;
  values_.clear();
  halves_.clear();
  sums_.clear();
  unstored_.clear();
}

NestValues::Key NestValues::key_of(int array, const EntryIndices& at, const std::vector<int>& line) const {
  Key result{array, {}};
  for (const int axis : program_.array(array).axes) {
    if (contains(line, axis)) {
      result.second.push_back(of_line);
      continue;
    }
    const NodePtr& index = at.at(axis);
    const auto given = indices.find(axis);
    result.second.push_back(index->kind == Kind::integer                       ? static_cast<int>(index->integer)
                            : given != indices.end() && given->second == index ? of_loops
                                                                               : elsewhere);
  }
  return result;
}
bool NestValues::can_be_kept(const Key& key) { return !contains(key.second, elsewhere); }

NodePtr NestValues::read(int array, int memory, const EntryIndices& at, Statements& to) {
  const Key key = key_of(array, at);
  if (const auto known = values_.find(key); known != values_.end()) return known->second;
  NodePtr value = context_.define(to, "u", memories_.load(memory, array, at));
  if (can_be_kept(key) && !memories_.is_part_of_item(memory)) values_[key] = value;
  return value;
}

NodePtr NestValues::value(int array, int memory, const EntryIndices& at) const {
  const auto known = values_.find(key_of(array, at));
  return known != values_.end() ? known->second : memories_.load(memory, array, at);
}

void NestValues::write(int array, int memory, const EntryIndices& at, NodePtr value, Statements& to) {
  const Key key = key_of(array, at);
  const bool leaves_registers = memories_.is_part_of_item(memory), // What shall stand there takes no registers.
      is_changed = !leaves_registers && is_made_later(array),
             is_kept = memory < 0 || is_changed || (!leaves_registers && is_read_later(array));
  if (is_kept && !can_be_kept(key)) throw base::InternalError("schedule: a result at an index that no loop gives");
  forget_halves(array);
  if (is_kept)
    value = values_[key] = context_.define(to, "v", std::move(value));
  else
    values_.erase(key);
  if (memory < 0) return;
  if (is_changed) {
    unstored_[array].push_back(at);
    return;
  }
  std::erase_if(unstored_[array], [&](const EntryIndices& other) { return key_of(array, other) == key; });
  memories_.store(memory, array, at, std::move(value), to);
}

void NestValues::add(int array, int memory, const EntryIndices& at, NodePtr value, Statements& to) {
  values_.erase(key_of(array, at));
  forget_halves(array);
  memories_.add(memory, array, at, std::move(value), to);
}

void NestValues::store_rest(int array, int memory, Statements& to) {
  if (memory < 0 || is_made_later(array)) return;
  std::ranges::sort(unstored_[array], {}, [&](const EntryIndices& at) { return key_of(array, at); });
  for (const auto& at : unstored_[array]) {
    const auto known = values_.find(key_of(array, at));
    if (known != values_.end()) memories_.store(memory, array, at, known->second, to);
  }
  unstored_.erase(array);
}

const Halves* NestValues::halves_of(int array, const EntryIndices& at, const std::vector<int>& axes) {
  const auto found = halves_.find(key_of(array, at, axes));
  return found == halves_.end() ? nullptr : &found->second;
}
/// Halves of lines whose entries change are theirs no more.
void NestValues::forget_halves(int array) {
  std::erase_if(halves_, [&](const auto& known) { return known.first.first == array; });
}
void NestValues::keep_halves(int array, const EntryIndices& at, const std::vector<int>& axes, Halves halves) {
  halves_[key_of(array, at, axes)] = std::move(halves);
}

NestValues::Sum* NestValues::sum_of(int array, const EntryIndices& at, const std::vector<int>& axes) {
  const auto found = sums_.find(key_of(array, at, axes));
  return found == sums_.end() ? nullptr : &found->second;
}
void NestValues::add_to_sum(int array, const EntryIndices& at, const std::vector<int>& axes, const Halves& more,
                            bool has_rest) {
  const auto [place, is_new] = sums_.try_emplace(key_of(array, at, axes), Sum{more, has_rest});
  if (is_new) return;
  auto& halves = place->second.halves;
  const auto plus = [](NodePtr& a, const NodePtr& b) { a = operation(form::ScalarOp::add, {a, b}); };
  for (std::size_t k = 0; k < more.even.size(); ++k) {
    plus(halves.even[k], more.even[k]);
    plus(halves.odd[k], more.odd[k]);
  }
  if (more.middle != nullptr) plus(halves.middle, more.middle);
}
void NestValues::end_sum(int array, const EntryIndices& at, const std::vector<int>& axes) {
  sums_.erase(key_of(array, at, axes));
}

bool NestValues::feeds_halves(int array, const std::vector<int>& axes) const {
  bool is_read = false;
  for (const Do* what : later_) {
    if (contains(arrays_made(program_, *what), array)) return false;
    if (!contains(arrays_read(program_, *what), array)) continue;
    const bool is_step = what->action == Do::Action::step;
    const auto* step = is_step ? &program_.step(what->step) : nullptr;
    if (step == nullptr || !program_.contracts(*step) || what->is_marched ||
        program_.family(step->family).cols != axes || !goes_by_halves(context_, program_.matrix_of(*step)))
      return false;
    is_read = true;
  }
  return is_read;
}

} // namespace rafter::schedule
