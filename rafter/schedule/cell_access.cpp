// SPDX-License-Identifier: BSD-3-Clause
#include <functional>

#include <rafter/schedule/cell_per_item.hpp>
#include <rafter/schedule/item_keys.hpp>
#include <rafter/schedule/lowering.hpp>
#include <rafter/schedule/owned_numbers.hpp>
#include <rafter/space/index_tables.hpp>

namespace rafter::schedule {

namespace {

/// Moves one number between a vector and a work array.
using EntryMove = std::function<void(Statements& to, NodePtr index, NodePtr entry, NodePtr active, bool is_interior)>;

/// Runs of equal length.
struct RunClass {
  int first = 0, count = 0; ///< runs
  int length = 0;           ///< dofs of a run
  int first_dof = 0;
};
/// Those that follow each other, so that the text does not grow with the degree.
std::vector<RunClass> run_classes(const std::vector<int>& lengths) {
  std::vector<RunClass> classes;
  int first_dof = 0;
  for (std::size_t run = 0; run < lengths.size(); ++run) {
    if (classes.empty() || classes.back().length != lengths[run])
      classes.push_back({static_cast<int>(run), 0, lengths[run], first_dof});
    ++classes.back().count;
    first_dof += lengths[run];
  }
  return classes;
}

/// Numbers of a run from `start` on, in parts of as many as there are lanes, of half as many, ... `entries`: table of
/// work entries, `number`: the first of the run there.
void whole_run(Context& context, const EntryMove& move_entry, int total, const NodePtr& start,
               const std::string& entries, const NodePtr& number, Statements& to) {
  int done = 0;
  for (int width = context.plan[key::vector_width]; width > 0; width /= 2) {
    const int parts = (total - done) / width;
    if (parts == 0) continue;
    const std::string part = context.fresh("n"), k = context.fresh("k");
    const NodePtr before = iadd(integer(done), imul(variable(part), integer(width)));
    Statements move, moves;
    const auto behind = [&](const NodePtr& base) { return width == 1 ? base : iadd(base, variable(k)); };
    move_entry(width == 1 ? moves : move, behind(iadd(start, before)), iload(entries, behind(iadd(number, before))),
               nullptr, false);
    if (width > 1) moves.push_back(loop(k, integer(width), block(move), LoopStyle::run));
    to.push_back(loop(part, integer(parts), block(moves)));
    done += parts * width;
  }
}

/// One field's way between its vector and a work array of cell dofs.
class FieldAccess {
public:
  FieldAccess(Context& context, int space, int components, const Placement& placement, EntryMove move_entry)
      : context_(context), layout_(context.pattern(space)), space_(space), components_(components),
        placement_(placement), move_entry_(std::move(move_entry)) {}

  /// `writes`: lanes without a cell take no part.
  void shared(bool writes, Statements& to) {
    if (layout_.num_runs == 0) return;
    if (!context_.has_cell_lanes() || context_.has_lists())
      shared_runs(true, to);
    else if (context_.has_dof_lists())
      listed_dofs(space::role::dof_entries, context_.batch(), writes, to);
    else
      patterned_runs(writes, to);
  }
  bool has_interior() const { return !layout_.interior_dofs.empty(); }
  void interior(Statements& to) {
    if (!has_interior()) return;
    if (context_.has_lists())
      list_interior(to);
    else if (!context_.has_cell_lanes())
      partial_interior(to);
    else {
      Statements full, partial;
      full_interior(full);
      partial_interior(partial);
      to.push_back(
          branch(ieq(context_.num_active(), integer(context_.cells_per_batch())), block(full), block(partial)));
    }
  }

private:
  /// Runs are moved whole where all cells of the batch see them in the same orientations. Other batches have a list of
  /// their dofs.
  void patterned_runs(bool writes, Statements& to) {
    Statements whole, listed;
    const NodePtr pattern =
        context_.define_integer(to, "p", iload(buffer(space::role::pattern_numbers), context_.batch()));
    if (layout_.arrangements.size() > layout_.run_dofs.size())
      pattern_ = context_.define_integer(whole, "p", imul(isub(pattern, integer(1)), integer(layout_.num_runs)));
    shared_runs(false, whole);
    const NodePtr number =
        context_.define_integer(listed, "b", iload(buffer(space::role::unpatterned_numbers), context_.batch()));
    listed_dofs(space::role::unpatterned_entries, number, writes, listed);
    to.push_back(branch(pattern, block(whole), block(listed)));
  }
  /// `number`: of the batch in the table of this role.
  void listed_dofs(const char* role, const NodePtr& number, bool writes, Statements& to) {
    const std::string list = buffer(role);
    Statements full;
    each_listed_dof(list, number, nullptr, full);
    if (!writes) {
      to.insert(to.end(), full.begin(), full.end());
      return;
    }
    Statements partial;
    each_listed_dof(list, number, context_.active_lanes(), partial);
    to.push_back(branch(ieq(context_.num_active(), integer(context_.cells_per_batch())), block(full), block(partial)));
  }
  std::vector<int> placed(const std::vector<int>& dofs) const {
    std::vector<int> entries;
    for (const int dof : dofs) entries.push_back(placement_.dof_entries[static_cast<std::size_t>(dof)]);
    return entries;
  }
  /// Returns the entries of every number of these dofs: dof by dof, the components of a dof side by side.
  std::string entries_of(const std::vector<int>& dofs) {
    std::vector<int> entries;
    for (const int entry : placed(dofs))
      for (int c = 0; c < components_; ++c) entries.push_back(c * placement_.component_stride + entry);
    return context_.integers("run_entries", entries);
  }
  std::string buffer(const std::string& role) { return context_.global(role, space_, Type::integer); }

  /// Padded lanes have the entries of an active one, which may be read.
  void each_listed_dof(const std::string& list, const NodePtr& number, const NodePtr& active, Statements& to) {
    const auto num_dofs = static_cast<std::int64_t>(layout_.run_dofs.size());
    const std::string i = context_.fresh("i");
    Statements body;
    const NodePtr place = context_.cell_entry(iadd(imul(number, integer(num_dofs)), variable(i)));
    const NodePtr first = context_.define_integer(body, "s", iload(list, place));
    const std::string entries = entries_of(layout_.run_dofs);
    const NodePtr component = imul(variable(i), integer(components_));
    if (active == nullptr)
      whole_run(context_, move_entry_, components_, first, entries, component, body);
    else
      for (int c = 0; c < components_; ++c)
        move_entry_(body, iadd(first, integer(c)), iload(entries, iadd(component, integer(c))), active, false);
    to.push_back(loop(i, integer(num_dofs), block(body)));
  }
  void shared_runs(bool is_permuted, Statements& to) {
    for (const auto& runs : run_classes(layout_.run_lengths)) {
      const std::string r = context_.fresh("r");
      Statements per_run;
      const NodePtr entry = context_.cell_entry(
          iadd(imul(context_.batch(), integer(layout_.num_runs)), iadd(integer(runs.first), variable(r))));
      const NodePtr start = context_.define_integer(per_run, "s", iload(buffer(space::role::run_starts), entry));
      if (is_permuted)
        permuted_run(runs, entry, start, dof_number(runs.first_dof, r, runs.length), per_run);
      else {
        const NodePtr number = arrangement(runs, r, per_run);
        whole_run(context_, move_entry_, runs.length * components_, start, entries_of(layout_.arrangements), number,
                  per_run);
      }
      to.push_back(loop(r, integer(runs.count), block(per_run)));
    }
  }
  /// Returns the number of the first dof of run `r` of a class, among the numbers of dofs.
  NodePtr dof_number(int first, const std::string& r, int length) const {
    return iadd(integer(first * components_), imul(variable(r), integer(length * components_)));
  }
  /// The same among the numbers of arrangements, in that of the batch; a run of one dof has one.
  NodePtr arrangement(const RunClass& runs, const std::string& r, Statements& to) {
    if (runs.length == 1 || pattern_ == nullptr)
      return dof_number(layout_.arrangement_offsets[static_cast<std::size_t>(runs.first)].front(), r, runs.length);
    const NodePtr run = iadd(pattern_, iadd(integer(runs.first), variable(r)));
    return context_.define_integer(to, "m", imul(iload(buffer(space::role::patterns), run), integer(components_)));
  }
  /// `number`: number of the first dof of the run, among those of its dofs.
  void permuted_run(const RunClass& runs, const NodePtr& entry, const NodePtr& start, const NodePtr& number,
                    Statements& to) {
    const NodePtr active = context_.has_cell_lanes() ? context_.active_lanes() : nullptr;
    if (runs.length == 1) { // its dof has one place
      for (int c = 0; c < components_; ++c)
        move_entry_(to, iadd(start, integer(c)), iload(entries_of(layout_.run_dofs), iadd(number, integer(c))), active,
                    false);
      return;
    }
    const std::string k = context_.fresh("k");
    const NodePtr table = context_.define_integer(to, "m", iload(buffer(space::role::run_permutations), entry));
    Statements per_dof;
    const NodePtr position =
        context_.define_integer(per_dof, "p", iload(buffer(space::role::permutations), iadd(table, variable(k))));
    for (int c = 0; c < components_; ++c)
      move_entry_(
          per_dof, iadd(start, iadd(imul(position, integer(components_)), integer(c))),
          iload(entries_of(layout_.run_dofs), iadd(iadd(number, imul(variable(k), integer(components_))), integer(c))),
          active, false);
    to.push_back(loop(k, integer(runs.length), block(per_dof)));
  }
  template <class Index> void each_interior(Statements& to, NodePtr active, const Index& index) {
    const std::string dofs = context_.integers("interior_dofs", placed(layout_.interior_dofs));
    const std::string i = context_.fresh("i");
    Statements body;
    const NodePtr dof = context_.define_integer(body, "d", iload(dofs, variable(i)));
    for (int c = 0; c < components_; ++c) {
      const NodePtr number = iadd(imul(variable(i), integer(components_)), integer(c));
      move_entry_(body, index(number), iadd(integer(c * placement_.component_stride), dof), active, true);
    }
    to.push_back(loop(i, integer(static_cast<std::int64_t>(layout_.interior_dofs.size())), block(body)));
  }
  void full_interior(Statements& to) {
    const NodePtr start =
        context_.define_integer(to, "s", iload(buffer(space::role::interior_starts), context_.batch()));
    each_interior(to, nullptr, [&](const NodePtr& number) {
      return context_.at_cell(iadd(start, imul(number, integer(context_.cells_per_batch()))));
    });
  }
  void partial_interior(Statements& to) {
    const NodePtr start =
        context_.define_integer(to, "s", iload(buffer(space::role::interior_starts), context_.batch()));
    const NodePtr active = context_.define_integer(to, "n", context_.num_active());
    // padded lanes read what the last active one reads
    const NodePtr cell = context_.define_integer(to, "l", imin(context_.at_cell(integer(0)), isub(active, integer(1))));
    each_interior(to, context_.has_cell_lanes() ? context_.active_lanes() : nullptr,
                  [&](const NodePtr& number) { return iadd(iadd(start, imul(number, active)), cell); });
  }
  void list_interior(Statements& to) {
    const NodePtr entry = context_.cell_entry(context_.batch());
    const NodePtr start = context_.define_integer(to, "s", iload(buffer(space::role::interior_starts), entry));
    const NodePtr stride = context_.define_integer(to, "t", iload(buffer(space::role::interior_strides), entry));
    each_interior(to, context_.has_cell_lanes() ? context_.active_lanes() : nullptr,
                  [&](const NodePtr& number) { return iadd(start, imul(number, stride)); });
  }

  Context& context_;
  const space::ElementLayout& layout_;
  int space_, components_;
  const Placement& placement_;
  EntryMove move_entry_;
  NodePtr pattern_; ///< place where that of the batch begins; null: there is but one
};

/// Moves what a field's cells share, by patches: between the vector and a work array of the whole patch around the loop
/// over its children, between that and the dofs of a child inside.
class PatchAccess {
public:
  PatchAccess(Context& context, int space, int components)
      : context_(context), patch_(*context.pattern(space).patch), space_(space), components_(components),
        array_(context.work(context.fresh("patch"), std::int64_t{components} * patch_.num_nodes)) {}

  const std::string& array() const { return array_; }
  /// Says whether the batch consists of patches that are gathered as such, as 0 or not.
  NodePtr is_used() const { return iload(table(space::role::patch_numbers), context_.batch()); }

  /// Moves runs between vector and array.
  void runs(const EntryMove& move_entry, Statements& to) const {
    const std::string entries = entries_of_patch();
    const auto num_runs = static_cast<int>(patch_.run_lengths.size());
    const NodePtr before = isub(is_used(), integer(1));
    const NodePtr pattern = context_.define_integer(to, "p", imul(before, integer(num_runs)));
    for (const auto& runs : run_classes(patch_.run_lengths)) {
      const std::string r = context_.fresh("r");
      const NodePtr run = iadd(integer(runs.first), variable(r));
      Statements per_run;
      const NodePtr entry = context_.patch_entry(iadd(imul(context_.batch(), integer(num_runs)), run));
      const NodePtr start = context_.define_integer(per_run, "s", iload(table(space::role::patch_starts), entry));
      const NodePtr number = context_.define_integer(
          per_run, "m", imul(iload(table(space::role::patch_patterns), iadd(pattern, run)), integer(components_)));
      whole_run(context_, move_entry, runs.length * components_, start, entries, number, per_run);
      to.push_back(loop(r, integer(runs.count), block(per_run)));
    }
  }
  /// `move`(to, entry of the child's work array, entry of the patch's).
  template <class Move>
  void child(const std::vector<int>& dof_entries, int stride, Statements& to, const Move& move) const {
    const std::string corners = context_.integers("patch_corners", patch_.corners);
    const std::string places = context_.integers("patch_places", patch_.places);
    const std::string dofs = context_.integers("run_dofs", dof_entries);
    const NodePtr corner = context_.define_integer(to, "c", iload(corners, context_.subbatch()));
    const std::string i = context_.fresh("i");
    Statements body;
    const NodePtr dof = context_.define_integer(body, "d", iload(dofs, variable(i)));
    const NodePtr node = context_.define_integer(body, "n", iadd(corner, iload(places, variable(i))));
    for (int c = 0; c < components_; ++c)
      move(body, context_.work_entry(iadd(integer(c * stride), dof)),
           context_.work_entry(iadd(integer(c * patch_.num_nodes), node)));
    to.push_back(loop(i, integer(static_cast<std::int64_t>(patch_.places.size())), block(body)));
  }

private:
  std::string table(const std::string& role) const { return context_.global(role, space_, Type::integer); }
  std::string entries_of_patch() const {
    std::vector<int> entries;
    for (const int node : patch_.arrangements)
      for (int c = 0; c < components_; ++c) entries.push_back(c * patch_.num_nodes + node);
    return context_.integers("patch_entries", entries);
  }
  Context& context_;
  const space::PatchLayout& patch_;
  int space_, components_;
  std::string array_;
};

/// Zeroes the shared entries that this batch is the first to touch.
Statements clear_first_touched(Context& context, int space, const std::string& vector) {
  const std::string touch = context.global(space::role::first_touch, space, Type::integer);
  const auto bound = [&](int which) { return iload(touch, iadd(imul(context.batch(), integer(2)), integer(which))); };
  Statements clearing;
  const NodePtr first = context.define_integer(clearing, "z", bound(0));
  const std::string z = context.fresh("z");
  clearing.push_back(loop(z, isub(bound(1), first),
                          store(vector, iadd(first, variable(z)), context.fitting(vector, context.number(0)))));
  return clearing;
}
/// The same inside a loop over sub-batches or cells: only its first iteration clears.
Statements clear_in_first_turn(Context& context, int space, const std::string& vector) {
  Statements clearing = clear_first_touched(context, space, vector);
  const NodePtr iteration = context.has_cell_lanes() ? context.subbatch() : context.at_cell(integer(0));
  if (iteration->kind == Kind::integer) return clearing;
  return {branch(ieq(iteration, integer(0)), block(clearing), block({}))};
}

std::vector<int> placed(const Placement& placement, const std::vector<int>& dofs) {
  std::vector<int> entries;
  for (const int dof : dofs) entries.push_back(placement.dof_entries[static_cast<std::size_t>(dof)]);
  return entries;
}

/// A field of a kernel.
struct Field {
  int space, components;
  std::string array; ///< array of cell dofs
  const Placement& placement;
  const space::ElementLayout& layout;
};
Field field_of(const Context& context, int space, int components, const std::string& array,
               const Placement& placement) {
  return {space, components, array, placement, context.pattern(space)};
}

/// `alone`: the gather of cells without a patch.
void gather_patches(Context& context, const Field& field, const std::string& vector, Statements alone, Statements& to) {
  const PatchAccess patch(context, field.space, field.components);
  const auto into_patch = [&](Statements& body, const NodePtr& index, const NodePtr& entry, const NodePtr&, bool) {
    body.push_back(store(patch.array(), context.work_entry(entry), context.fetch(vector, index)));
  };
  Statements whole, child;
  patch.runs(into_patch, whole);
  context.before_subbatches.push_back(branch(patch.is_used(), block(whole), block({})));
  patch.child(placed(field.placement, field.layout.run_dofs), field.placement.component_stride, child,
              [&](Statements& body, const NodePtr& entry, const NodePtr& entry_of_patch) {
                body.push_back(store(field.array, entry, context.load(patch.array(), entry_of_patch)));
              });
  to.push_back(branch(patch.is_used(), block(child), block(std::move(alone))));
}

/// `alone`: the sums of cells without a patch.
void scatter_patches(Context& context, const Field& field, const std::string& vector, const NodePtr& is_overwriting,
                     Statements alone, Statements& to) {
  const PatchAccess patch(context, field.space, field.components);
  const auto from_patch = [&](Statements& body, const NodePtr& index, const NodePtr& entry, const NodePtr& active,
                              bool) {
    body.push_back(
        add(vector, index, context.fitting(vector, context.load(patch.array(), context.work_entry(entry))), active));
  };
  const std::string i = context.fresh("i");
  const NodePtr zero = store(patch.array(), context.work_entry(variable(i)), context.number(0));
  const std::int64_t size = std::int64_t{field.components} * field.layout.patch->num_nodes;
  context.before_subbatches.push_back(branch(patch.is_used(), loop(i, integer(size), zero), block({})));
  Statements child;
  patch.child(placed(field.placement, field.layout.run_dofs), field.placement.component_stride, child,
              [&](Statements& body, const NodePtr& entry, const NodePtr& entry_of_patch) {
                body.push_back(add(patch.array(), entry_of_patch, context.load(field.array, entry)));
              });
  to.push_back(branch(patch.is_used(), block(child), block(std::move(alone))));
  Statements whole{branch(is_overwriting, block(clear_first_touched(context, field.space, vector)), block({}))};
  patch.runs(from_patch, whole);
  context.after_subbatches.push_back(branch(patch.is_used(), block(whole), block({})));
}

} // namespace

void gather(Context& context, const kernel::Access& from, const std::string& target, const Placement& placement,
            Statements& to) {
  const auto& use = context.program.field_of(from);
  const int space = use.pattern;
  const std::string vector = context.vector_of(from);
  FieldAccess access(context, space, use.components, placement,
                     [&](Statements& body, const NodePtr& index, const NodePtr& entry, const NodePtr&, bool) {
                       body.push_back(store(target, context.work_entry(entry), context.fetch(vector, index)));
                     });
  if (moves_owned(context, from)) {
    gather_owned(context, from, target, placement, to);
    access.interior(to);
    return;
  }
  Statements runs;
  access.shared(false, runs);
  const Field shared = field_of(context, space, use.components, target, placement);
  if (context.has_patches(shared.layout))
    gather_patches(context, shared, vector, std::move(runs), to);
  else
    to.insert(to.end(), runs.begin(), runs.end());
  access.interior(to);
  announce(context, from);
}

void announce(Context& context, const kernel::Access& access) {
  if (context.has_lists() || context.in_groups()) return;
  const auto& use = context.program.field_of(access);
  const std::string vector = context.vector_of(access);
  const int space = use.pattern;
  const auto& layout = context.pattern(space);
  const auto buffer = [&](const char* role) { return context.global(role, space, Type::integer); };
  const NodePtr next = context.next_batch(), place = imul(next, integer(2));
  const std::int64_t numbers =
      static_cast<std::int64_t>(layout.interior_dofs.size()) * use.components * context.cells_per_batch();
  const auto interior = [&] { return iload(buffer(space::role::interior_starts), next); };
  const auto touched = [&](int which) { return iload(buffer(space::role::first_touch), iadd(place, integer(which))); };
  const auto behind_interior = [&] { return iadd(interior(), integer(numbers)); };
  if (layout.num_runs == 0)
    context.streams.push_back({vector, interior(), behind_interior(), numbers});
  else
    context.streams.push_back({vector, touched(0), numbers > 0 ? behind_interior() : touched(1), -1, space});
}

NodePtr begin_of_matrices(Context& context, int field, Statements& to) {
  const auto& outputs = context.program.outputs;
  std::int64_t first = 0;
  for (std::size_t f = 0; f < static_cast<std::size_t>(field); ++f)
    first += std::int64_t{outputs[f].components} * outputs[f].num_dofs();
  const int records = num_matrix_records(num_matrix_entries(context.program), context.cells_per_batch());
  const NodePtr turn = idiv(context.batch(), records);
  NodePtr record = isub(context.batch(), imul(turn, integer(records)));
  if (writes_cell_by_cell(context.plan)) record = context.at_cell(imul(record, integer(context.cells_per_batch())));
  const NodePtr begin =
      context.define_integer(to, "r", imul(std::move(record), integer(num_matrix_entries(context.program))));
  return iadd(begin, integer(first));
}

NodePtr place_of_matrix_entry(const Context& context, NodePtr number) {
  return writes_cell_by_cell(context.plan) ? number : context.cell_entry(std::move(number));
}

namespace {

/// Cell matrices of a pair of fields into the record of the batch.
void store_matrices(Context& context, int field, const std::string& source, const NodePtr& first, Statements& to) {
  const auto& use = context.program.outputs[static_cast<std::size_t>(field)];
  const std::string matrices = context.global(role::output_vector, 0, Type::real, true);
  const NodePtr begin = begin_of_matrices(context, field, to);
  const std::string i = context.fresh("i");
  const NodePtr entry = iadd(first, variable(i));
  const NodePtr value = context.fitting(matrices, context.load(source, context.work_entry(entry)));
  to.push_back(loop(i, integer(std::int64_t{use.components} * use.num_dofs()),
                    store(matrices, place_of_matrix_entry(context, iadd(begin, variable(i))), value)));
}

} // namespace

namespace {

/// Additions of the items that hold a cell: of all at once, or of one after the other.
Statements by_items(Context& context, Statements adding) {
  const NodePtr num_active = context.num_active();
  if (context.way == Way::atomic)
    return {branch(ilt(context.at_cell(integer(0)), num_active), block(std::move(adding)), block({}))};
  const std::string cell = context.fresh("turn");
  const NodePtr is_own = ieq(context.at_cell(integer(0)), variable(cell));
  return {loop(cell, num_active, block({branch(is_own, block(std::move(adding)), block({})), barrier()}))};
}

} // namespace

namespace {

/// Stores the contributions of the cells to an output, where each cell has a place of its own. Items without a cell
/// store, too.
void store_cell_vector(Context& context, const kernel::FieldUse& use, const std::string& source,
                       const Placement& placement, Statements& to) {
  const int components = use.components;
  const std::string vector = context.global(role::cell_vector, use.vector, Type::real, true);
  const auto num_dofs = static_cast<std::int64_t>(placement.dof_entries.size());
  const std::string entries = context.integers("dof_entries", placement.dof_entries);
  const std::string i = context.fresh("i");
  Statements body;
  const NodePtr entry = context.define_integer(body, "d", iload(entries, variable(i)));
  for (int c = 0; c < components; ++c) {
    const NodePtr line = iadd(imul(context.batch(), integer(components)), integer(c));
    const NodePtr place = context.cell_entry(iadd(imul(line, integer(num_dofs)), variable(i)));
    const NodePtr value =
        context.load(source, context.work_entry(iadd(integer(c * placement.component_stride), entry)));
    body.push_back(store(vector, place, context.fitting(vector, value)));
  }
  to.push_back(loop(i, integer(num_dofs), block(body)));
}

} // namespace

void scatter(Context& context, const kernel::Access& into, const std::string& source, const Placement& placement,
             Statements& to) {
  const auto& use = context.program.field_of(into);
  if (use.trial_element != nullptr) return store_matrices(context, into.field, source, placement.begin, to);
  if (context.way == Way::cell_vector) return store_cell_vector(context, use, source, placement, to);
  const int space = use.pattern;
  const std::string vector = context.vector_of(into);
  bool stores_interior = false;
  const auto touch = [&](Statements& body, const NodePtr& index, const NodePtr& entry, const NodePtr& active,
                         bool is_interior) {
    const NodePtr value = context.fitting(vector, context.load(source, context.work_entry(entry)));
    const bool may_meet = may_run_in_any_order(context.way);
    if (may_meet && (!is_interior || context.has_lists())) // facets of a cell may add to its interior at once
      body.push_back(atomic_add(vector, index, value, active));
    else if (!is_interior || !stores_interior)
      body.push_back(add(vector, index, value, active));
    else if (context.plan[key::stores] == Stores::streaming && context.has_cell_lanes() && active == nullptr)
      body.push_back(stream(vector, index, value));
    else
      body.push_back(store(vector, index, value, active));
  };
  FieldAccess access(context, space, use.components, placement, touch);
  const bool is_by_owners = moves_owned(context, into);
  if (is_by_owners || context.has_lists() || context.way != Way::first_touch) {
    Statements adding;
    if (is_by_owners)
      scatter_owned(context, into, source, placement, adding);
    else
      access.shared(true, adding);
    access.interior(adding);
    if (context.has_items()) adding = by_items(context, std::move(adding));
    to.insert(to.end(), adding.begin(), adding.end());
    return;
  }
  if (context.plan[key::stores] != Stores::streaming)
    announce(context, into); // else it would be fetched to be thrown out
  const NodePtr is_overwriting = ieq(iload(context.global(role::mode, 0, Type::integer), integer(0)), integer(0));
  Statements runs{branch(is_overwriting, block(clear_in_first_turn(context, space, vector)), block({}))};
  access.shared(true, runs);
  const Field shared = field_of(context, space, use.components, source, placement);
  if (context.has_patches(shared.layout))
    scatter_patches(context, shared, vector, is_overwriting, std::move(runs), to);
  else
    to.insert(to.end(), runs.begin(), runs.end());
  if (!access.has_interior()) return;
  Statements storing, adding;
  stores_interior = true;
  access.interior(storing);
  stores_interior = false;
  access.interior(adding);
  to.push_back(branch(is_overwriting, block(storing), block(adding)));
}

void mask(Context& context, int number, const std::string& target, const Placement& placement, Statements& to) {
  const auto& use = context.program.masks[static_cast<std::size_t>(number)];
  const auto& access = context.program.access_of(use);
  if (moves_owned(context, access)) return;
  const auto& field = context.program.field_of(access);
  const auto& layout = context.program.batches.pattern_of(field);
  const int components = field.components, per_factor = components / use.components;
  if (layout.num_runs == 0) return;
  const std::string factors = context.global(role::mask, number, Type::real32);
  const std::string dofs = context.integers("mask_entries", placed(placement, layout.run_dofs));
  for (const auto& runs : run_classes(layout.run_lengths)) {
    const std::string r = context.fresh("r"), k = context.fresh("k");
    Statements per_run, per_dof;
    const NodePtr run = iadd(imul(context.batch(), integer(layout.num_runs)), iadd(integer(runs.first), variable(r)));
    std::vector<NodePtr> of_run;
    for (int c = 0; c < use.components; ++c)
      of_run.push_back(context.define(
          per_run, "m",
          context.fetch(factors, context.cell_entry(iadd(imul(run, integer(use.components)), integer(c))))));
    const NodePtr number_of_dof =
        iadd(integer(runs.first_dof), iadd(imul(variable(r), integer(runs.length)), variable(k)));
    const NodePtr dof = context.define_integer(per_dof, "d", iload(dofs, number_of_dof));
    for (int c = 0; c < components; ++c) {
      const NodePtr entry = context.work_entry(iadd(integer(c * placement.component_stride), dof));
      const auto& factor = of_run[static_cast<std::size_t>(c / per_factor)];
      per_dof.push_back(store(target, entry, operation(form::ScalarOp::mul, {factor, context.load(target, entry)})));
    }
    per_run.push_back(loop(k, integer(runs.length), block(per_dof)));
    to.push_back(loop(r, integer(runs.count), block(per_run)));
  }
}

} // namespace rafter::schedule
