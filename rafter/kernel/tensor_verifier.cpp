// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/kernel/tensor_program.hpp>

namespace rafter::kernel {

namespace {

void require(bool condition, const std::string& what) {
  if (!condition) throw base::InternalError("tensor program: " + what);
}

void check_folding(const Folding& folding, int extent, const std::string& name) {
  const int points = static_cast<int>(folding.places.size());
  require(points == extent, "the folding does not fit " + name);
  std::vector<char> is_moved(folding.places.size(), 0);
  const auto check_orbit = [&](const auto& orbit) {
    for (const int place : orbit) {
      require(place >= 0 && place < points && is_moved[static_cast<std::size_t>(place)] == 0,
              "the orbits of a folding overlap or leave it");
      is_moved[static_cast<std::size_t>(place)] = 1;
    }
  };
  for (const auto& quad : folding.quads) check_orbit(quad);
  for (const auto& pair : folding.pairs) check_orbit(pair);
}

void check_blocks(const ReferenceMatrix& matrix) {
  if (matrix.blocks.empty()) return;
  std::vector<char> is_covered(matrix.values.size(), 0);
  std::vector<int> row_blocks(static_cast<std::size_t>(matrix.rows), 0),
      col_blocks(static_cast<std::size_t>(matrix.cols), 0);
  for (const auto& block : matrix.blocks) {
    for (const int r : block.rows) {
      require(r >= 0 && r < matrix.rows, "a block leaves " + matrix.name);
      ++row_blocks[static_cast<std::size_t>(r)];
    }
    for (const int k : block.cols) {
      require(k >= 0 && k < matrix.cols, "a block leaves " + matrix.name);
      ++col_blocks[static_cast<std::size_t>(k)];
    }
  }
  const auto is_one = [](int count) { return count == 1; };
  require(std::all_of(row_blocks.begin(), row_blocks.end(), is_one) &&
              std::all_of(col_blocks.begin(), col_blocks.end(), is_one),
          "rows and columns of " + matrix.name + " are not part of one block each");
  for (const auto& block : matrix.blocks)
    for (const int r : block.rows)
      for (const int k : block.cols) is_covered[static_cast<std::size_t>(r * matrix.cols + k)] = 1;
  bool are_covered = true; // one message for all entries, of which there may be millions
  for (std::size_t i = 0; i < matrix.values.size(); ++i) are_covered &= is_covered[i] != 0 || matrix.values[i] == 0;
  require(are_covered, "an entry of " + matrix.name + " lies outside its blocks");
}

/// Checks that what counts facets is the axis of facets alone, which has no other use than to choose members of
/// families: its index is a number of the cell.
void check_facet_axis(const TensorProgram& program) {
  const int last = static_cast<int>(program.axes.size()) - 1, facets = program.facet_axis;
  require(facets >= -1 && facets <= last, "the axis of facets does not exist");
  for (int axis = 0; axis <= last; ++axis)
    require((program.axis(axis).kind == AxisKind::facet) == (axis == facets),
            program.axis(axis).name + " is the axis of facets and does not count them, or the reverse");
  const auto has_facets = [facets](const std::vector<int>& axes) {
    return facets >= 0 && std::ranges::find(axes, facets) != axes.end();
  };
  for (const auto& a : program.arrays) require(!has_facets(a.axes), a.name + " has the axis of facets");
  for (const auto& family : program.families) {
    require(!has_facets(family.rows) && !has_facets(family.cols), "a matrix takes facets to something");
    const bool is_one_table = std::ranges::all_of(
        family.members, [&, next = family.members.front()](int member) mutable { return member == next++; });
    require(!has_facets(family.index) || is_one_table, "the members of a family by facet do not follow each other");
  }
}

/// Checks that all entries of a component have places among what is stored, or none: loops that give the index of an
/// entry do not know its place.
void check_stored_places(const TensorProgram& program, int array, const std::vector<int>& places) {
  const auto& name = program.array(array).name;
  require(std::ssize(places) == program.size(array), "one place per entry of " + name + " is needed");
  const int num_entries = program.num_entries(array);
  for (int c = 0; c < program.num_components(array); ++c) {
    const auto begin = places.begin() + std::ptrdiff_t{c} * num_entries;
    const auto without = std::count(begin, begin + num_entries, -1);
    require(without == 0 || without == num_entries, "a component of " + name + " is stored in part");
  }
}

/// Checks that arrays which hold tables have their sizes.
void check_tables(const TensorProgram& program) {
  for (std::size_t i = 0; i < program.arrays.size(); ++i) {
    const auto& [name, axes, table] = program.arrays[i];
    require(table < static_cast<int>(program.matrices.size()), name + " is an unknown table");
    require(table < 0 || std::ssize(program.matrices[static_cast<std::size_t>(table)].values) ==
                             program.size(static_cast<int>(i)),
            "a table does not fit " + name);
  }
}

/// Checks that the axes by which a product chooses entries of an array have its extents.
void check_view(const TensorProgram& program, const TensorArray& of, const std::vector<int>& axes) {
  require(axes.size() + 1 == of.axes.size(), "a product has another number of axes than " + of.name);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int axis = axes[i];
    require(std::ranges::count(axes, axis) == 1, "a product takes an index twice for " + of.name);
    require(axis >= 0 && axis < static_cast<int>(program.axes.size()) && axis != program.facet_axis &&
                program.extent(axis) == program.extent(of.axes[i + 1]) && program.axis(axis).outer.empty(),
            "an axis of a product does not fit " + of.name);
  }
}

/// Checks what a product multiplies, of arrays that there are.
void check_operands(const TensorProgram& program, const Step& step) {
  const auto& product = program.product_of(step);
  require(step.source != step.target && product.factor != step.target, "a product changes what it is made of");
  check_view(program, program.array(step.source), product.source_axes);
  check_view(program, program.array(product.factor), product.factor_axes);
  const auto is_of = [&](int component, int of) { return component >= 0 && component < program.num_components(of); };
  for (const auto& term : product.terms)
    require(is_of(term.target, step.target) && is_of(term.source, step.source) && is_of(term.factor, product.factor),
            "a term of a product for " + program.array(step.target).name + " has an unknown component");
}

/// Goes through the steps in order and records which arrays have been written.
class Verifier {
public:
  explicit Verifier(const TensorProgram& program)
      : program_(program), is_written_(program.arrays.size(), 0), gathered_(program.arrays.size()) {}

  void run() {
    check_axes();
    check_facet_axis(program_);
    require(static_cast<int>(program_.weights.size()) == program_.num_facets() * program_.num_points(),
            "one weight per point is needed");
    require(program_.points.empty() || std::ssize(program_.points) == std::ssize(program_.weights) * program_.tdim,
            "one point per weight is needed");
    require(program_.output_slots.size() == program_.function.outputs.size(), "one slot per output is needed");
    for (const auto& access : program_.accesses) check_access(access);
    for (const auto& mask : program_.masks) check_mask(mask);
    for (const auto& step : program_.steps) {
      check(step);
      if (step.accumulate) read(step.target);
      if (step.target >= 0 && completes_target(step)) write(step.target);
    }
    check_atoms();
  }

private:
  const TensorArray& array(int i) const {
    require(i >= 0 && i < static_cast<int>(program_.arrays.size()), fmt::format("array {} does not exist", i));
    return program_.arrays[static_cast<std::size_t>(i)];
  }
  void check_axes() const {
    const auto exists = [this](int axis) { return axis >= 0 && axis < static_cast<int>(program_.axes.size()); };
    for (const auto& axis : program_.axes) require(axis.extent > 0, "axis " + axis.name + " is empty");
    for (const auto& a : program_.arrays) {
      require(!a.axes.empty() && std::ranges::all_of(a.axes, exists), "an axis of " + a.name + " does not exist");
      require(program_.axis(a.axes.front()).kind == AxisKind::component,
              "the first axis of " + a.name + " does not count components");
    }
    for (const auto& axis : program_.axes) {
      require(std::ranges::all_of(axis.outer, exists), "an axis that " + axis.name + " depends on does not exist");
      const int num_extents = axis.outer.empty() ? 0 : program_.product_of_extents(axis.outer);
      require(std::ssize(axis.extents) == num_extents, "axis " + axis.name + " needs one extent for each outer index");
      require(axis.extents.empty() || std::ranges::max(axis.extents) == axis.extent,
              "axis " + axis.name + " has another largest extent");
    }
    check_tables(program_);
    for (const auto& a : program_.arrays)
      for (auto axis = a.axes.begin(); axis != a.axes.end(); ++axis)
        for (const int outer : program_.axis(*axis).outer)
          require(std::find(a.axes.begin(), axis, outer) != axis,
                  "an axis of " + a.name + " stands before one that it depends on");
    for (const auto& family : program_.families) {
      require(std::ranges::all_of(family.rows, exists) && std::ranges::all_of(family.cols, exists) &&
                  std::ranges::all_of(family.index, exists),
              "an axis of a family does not exist");
      require(std::ssize(family.members) == program_.product_of_extents(family.index),
              "a family needs one matrix for each value of its index");
    }
    require(std::ranges::all_of(program_.point_axes, exists), "an axis of the points does not exist");
    if (!program_.is_grid()) return;
    require(program_.point_axes.size() == program_.grid.size(), "a grid of points needs one axis along each direction");
    for (std::size_t axis = 0; axis < program_.grid.size(); ++axis)
      require(static_cast<int>(program_.grid[axis].size()) == program_.points_along(static_cast<int>(axis)),
              "one coordinate per point of an axis is needed");
  }
  void read(int i) const {
    const auto& a = array(i);
    require(a.table >= 0 || is_written_[static_cast<std::size_t>(i)] != 0,
            "array " + a.name + " is read before it is written");
  }
  void write(int i) {
    require(array(i).table < 0, "a step makes the table " + array(i).name);
    is_written_[static_cast<std::size_t>(i)] = 1;
  }
  void check_access(const Access& access) const {
    if (access.kind == AccessKind::stored)
      return require(std::ranges::all_of(access.places, [this](int p) { return p >= -1 && p < program_.num_stored; }),
                     "a place of a stored number does not exist");
    if (access.kind == AccessKind::nodes)
      return require(program_.geometry != nullptr, "geometry nodes without an element");
    const auto& fields = access.kind == AccessKind::input ? program_.inputs : program_.outputs;
    require(access.field >= 0 && access.field < static_cast<int>(fields.size()), "access to an unknown field");
  }
  const Access& access_of(const Step& step, bool is_read) const {
    require(step.access >= 0 && step.access < static_cast<int>(program_.accesses.size()), "unknown access");
    const auto& access = program_.access(step.access);
    require(access.kind == AccessKind::stored || (access.kind != AccessKind::output) == is_read,
            "an access goes the other way");
    return access;
  }
  /// Checks that the array has a place for each dof that the access moves, and for no two of them the same.
  void check_places(int i, const Access& access) const {
    const auto& a = array(i);
    if (access.kind == AccessKind::stored) return check_stored_places(program_, i, access.places);
    const bool is_of_nodes = access.kind == AccessKind::nodes;
    const int components = is_of_nodes ? program_.tdim : program_.field_of(access).components,
              num_dofs = is_of_nodes ? program_.geometry->num_dofs() : program_.field_of(access).num_dofs(),
              num_entries = program_.num_entries(i);
    require(program_.num_components(i) == components && num_dofs > 0, "the dofs do not fit " + a.name);
    if (access.places.empty()) return require(num_entries == num_dofs, "the dofs do not fit " + a.name);
    require(std::ssize(access.places) == num_dofs, "one place per dof is needed");
    std::vector<char> is_taken(static_cast<std::size_t>(num_entries), 0);
    for (const int place : access.places) {
      if (place < 0) continue;
      require(place < num_entries, "a dof leaves " + a.name);
      require(is_taken[static_cast<std::size_t>(place)]++ == 0, "two dofs have one place in " + a.name);
    }
    const auto& element = is_of_nodes ? *program_.geometry : *program_.field_of(access).element;
    for (int dim = 0; dim <= element::dimension(element.shape()); ++dim)
      for (int entity = 0; entity < element::num_entities(element.shape(), dim); ++entity) {
        const auto dofs = element.entity_dofs(dim, entity);
        const auto moved = std::ranges::count_if(dofs, [&](int dof) { return access.place_of(dof) >= 0; });
        require(moved == 0 || moved == std::ssize(dofs), "an entity has places for some of its dofs alone");
      }
  }
  void check_mask(const EntityMask& mask) const {
    require(mask.access >= 0 && mask.access < static_cast<int>(program_.accesses.size()),
            "a mask of an unknown access");
    const auto& access = program_.access_of(mask);
    require(access.kind != AccessKind::nodes && access.kind != AccessKind::stored, "a mask of what is no field");
    require(mask.components == 1 || mask.components == program_.field_of(access).components,
            "a mask has other components than its field");
  }
  /// Says whether the target of a step is written completely with it. Several fields may be read into one array, each
  /// into places of its own, and masked before the others come.
  bool completes_target(const Step& step) {
    if (program_.contracts(step, FamilyKind::masks)) return false;
    if (step.kind != StepKind::read) return true;
    if (program_.moves(step, AccessKind::stored)) {
      require(std::ranges::count(program_.access(step.access).places, -1) == 0,
              "an entry of " + array(step.target).name + " is read from no place");
      return true;
    }
    const auto& places = program_.access(step.access).places;
    if (places.empty()) return true;
    const auto& a = array(step.target);
    auto& gathered = gathered_[static_cast<std::size_t>(step.target)];
    for (const int place : places)
      require(place < 0 || gathered.insert(place).second, "two fields are read into one place of " + a.name);
    int used = 0; // entries that the array uses
    program_.each_entry(a, [&](const TensorProgram::AxisIndices&) { ++used; });
    return static_cast<int>(gathered.size()) == used;
  }
  void check_slot(const Slot& slot) const {
    const auto& a = array(slot.array);
    require(slot.component >= 0 && slot.component < program_.num_components(slot.array),
            "component out of range in " + a.name);
    const int num_points = program_.num_points(), num_entries = program_.num_entries(slot.array);
    if (!program_.has_points(slot.array))
      return require(slot.slot == 0 && num_entries == 1, "what has no points has several entries in " + a.name);
    require(slot.slot >= 0 && (slot.slot + 1) * num_points <= num_entries && num_entries % num_points == 0,
            "points out of range in " + a.name);
  }

  void check(const Step& step) {
    switch (step.kind) {
    case StepKind::read:
      check_places(step.target, access_of(step, true));
      break;
    case StepKind::contract:
      require(step.family >= 0 && step.family < static_cast<int>(program_.families.size()), "unknown family");
      if (program_.contracts(step))
        check_contraction(step);
      else
        check_in_place(step);
      break;
    case StepKind::multiply:
      check_product(step);
      break;
    case StepKind::evaluate_cell:
      check_evaluation_of_cell();
      break;
    case StepKind::evaluate:
      check_evaluation();
      break;
    case StepKind::write:
      read(step.source);
      check_places(step.source, access_of(step, false));
      break;
    }
  }
  /// Checks a family that is no matrices: it changes what stands along its axes.
  void check_in_place(const Step& step) const {
    const auto& family = program_.family(step.family);
    const auto& of = array(step.target);
    require(step.source == step.target && !step.accumulate && family.rows == family.cols,
            "a family that is applied in place changes " + of.name + " into another array");
    require(!family.cols.empty() && family.position_in(of) > 0 && family.members.size() == 1,
            "a family of axes that " + of.name + " has not");
    const auto number = family.members.front();
    const auto is_one_of = [number](const auto& list) { return number >= 0 && number < std::ssize(list); };
    const int extent = program_.product_of_extents(family.cols);
    if (family.kind == FamilyKind::masks) {
      require(is_one_of(program_.masks), "unknown mask");
      const auto& access = program_.access_of(program_.masks[static_cast<std::size_t>(number)]);
      if (access.kind == AccessKind::output) read(step.target); // fields of inputs are masked as they are read
      return check_places(step.target, access);
    }
    read(step.target);
    if (family.kind == FamilyKind::weights)
      return require(extent == program_.num_points(), "the weights do not fit " + of.name);
    require(is_one_of(program_.foldings), "unknown folding");
    check_folding(program_.folding_of(step), extent, of.name);
  }
  void check_contraction(const Step& step) const {
    read(step.source);
    require(step.source != step.target, "matrices change " + array(step.source).name + " in place");
    const auto& family = program_.family(step.family);
    for (const int member : family.members) {
      require(member >= 0 && member < static_cast<int>(program_.matrices.size()), "unknown matrix");
      const auto& matrix = program_.matrices[static_cast<std::size_t>(member)];
      require(static_cast<int>(matrix.values.size()) == matrix.rows * matrix.cols,
              "matrix " + matrix.name + " needs one value per entry");
      require(family.index.empty() || matrix.blocks.empty(), matrix.name + " is one of several and has blocks");
      check_blocks(matrix);
    }
    const auto& source = array(step.source);
    require(!family.cols.empty() && family.position_in(source) > 0,
            "a contraction of axes that " + source.name + " has not");
    for (const int member : family.members) {
      const auto& matrix = program_.matrices[static_cast<std::size_t>(member)];
      require(program_.product_of_extents(family.rows) == matrix.rows &&
                  program_.product_of_extents(family.cols) == matrix.cols,
              "matrix " + matrix.name + " does not fit its axes");
    }
    require(family.axes_of_result(source) == array(step.target).axes,
            "a contraction does not fit " + array(step.target).name);
    for (const int axis : family.index) {
      if (axis == program_.facet_axis) continue;
      const auto& of_target = array(step.target).axes;
      require(std::ranges::find(of_target, axis) != of_target.end() &&
                  std::ranges::find(family.rows, axis) == family.rows.end(),
              "the index of a family is none of " + array(step.target).name);
    }
  }
  void check_product(const Step& step) const {
    require(step.product >= 0 && step.product < static_cast<int>(program_.products.size()), "unknown product");
    read(step.source);
    read(program_.product_of(step).factor);
    (void)array(step.target);
    check_operands(program_, step);
  }
  /// Checks that outputs without points are the same at all of them.
  void check_evaluation_of_cell() {
    const auto sets = dependencies(program_.function);
    for (std::size_t i = 0; i < program_.output_slots.size(); ++i) {
      const auto& slot = program_.output_slots[i];
      if (slot.array < 0 || program_.has_points(slot.array)) continue;
      check_slot(slot);
      require(is_per_cell(sets[static_cast<std::size_t>(program_.function.outputs[i].node)]),
              "an output of the cell depends on the point in " + array(slot.array).name);
      write(slot.array);
    }
  }
  void check_evaluation() {
    for (const auto& input : program_.input_slots) {
      check_slot(input.slot);
      read(input.slot.array);
    }
    for (const auto& slot : program_.output_slots) {
      if (slot.array < 0 || !program_.has_points(slot.array)) continue;
      check_slot(slot);
      write(slot.array);
    }
  }
  /// Checks that atoms whose values stand in arrays have an input slot.
  void check_atoms() const {
    const auto& graph = program_.function.graph;
    for (const NodeId id : graph.reachable(program_.function.roots())) {
      const auto& node = graph[id];
      if (node.op != form::ScalarOp::atom) continue;
      const auto kind = node.atom.kind;
      const bool is_array = kind == AtomKind::reference_field || kind == AtomKind::reference_trial ||
                            kind == AtomKind::jacobian || kind == AtomKind::coordinate;
      require(!is_array || std::any_of(program_.input_slots.begin(), program_.input_slots.end(),
                                       [&](const InputSlot& input) { return input.atom == node.atom; }),
              "no array serves " + form::to_string(node.atom));
    }
  }

  const TensorProgram& program_;
  std::vector<char> is_written_;
  std::vector<std::set<int>> gathered_; ///< places that fields with places were gathered into, of each array
};

} // namespace

void TensorProgram::verify() const { Verifier(*this).run(); }

} // namespace rafter::kernel
