// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <rafter/schedule/schedule_memories.hpp>

namespace rafter::schedule {

/// The values that a nest of a schedule has at hand while its statements are made: operands are loaded once, results
/// stay in registers as long as something in the nest needs them, and reach memory when nothing in it changes them any
/// more. Child nests begin anew.
class NestValues {
public:
  NestValues(Context& context, const Schedule& schedule, const ScheduleMemories& memories)
      : context_(context), program_(context.program), schedule_(schedule), memories_(memories) {}

  EntryIndices indices; ///< those that the loops around give

  /// Entry `position` of a nest's body is made next.
  void go_to(const Nest& nest, std::size_t position);
  void forget(); ///< Forgets all values, since something else may change what stands in memory.

  /// The memory of an array that what is done now reads or makes: the one given, or the usual one; -1: registers.
  int memory_of(int array, int given) const { return schedule::memory_of(schedule_, array, given); }
  /// The value of an entry, from now on in a register.
  NodePtr read(int array, int memory, const EntryIndices& at, Statements& to);
  /// The value of an entry for one use.
  NodePtr value(int array, int memory, const EntryIndices& at) const;
  bool is_known(int array, const EntryIndices& at) const { return values_.contains(key_of(array, at)); }
  /// Sets an entry, or adds to one that is in memory.
  void write(int array, int memory, const EntryIndices& at, NodePtr value, Statements& to);
  void add(int array, int memory, const EntryIndices& at, NodePtr value, Statements& to);
  /// Stores what results of this array are not in memory yet, where nothing later in the nest makes it.
  void store_rest(int array, int memory, Statements& to);

  // Lines along axes of an array whose sums and differences are known.
  const Halves* halves_of(int array, const EntryIndices& at, const std::vector<int>& axes);
  void keep_halves(int array, const EntryIndices& at, const std::vector<int>& axes, Halves halves);

  /// A line to which products are added by halves, before these are put together.
  struct Sum {
    Halves halves;
    bool has_rest = false; ///< The line has another part, which is known or in memory.
  };
  Sum* sum_of(int array, const EntryIndices& at, const std::vector<int>& axes);
  void add_to_sum(int array, const EntryIndices& at, const std::vector<int>& axes, const Halves& more, bool has_rest);
  void end_sum(int array, const EntryIndices& at, const std::vector<int>& axes);

  // What is done later in the nest, up to the next child nest, with an array.
  bool is_read_later(int array) const { return read_later_.contains(array); }
  bool is_made_later(int array) const { return made_later_.contains(array); }
  bool is_summed_later(int array) const { return summed_later_.contains(array); } ///< by contractions
  /// Says whether contractions along these axes that are applied by halves, and nothing else, read an array later.
  bool feeds_halves(int array, const std::vector<int>& axes) const;

private:
  /// An entry by its indices along the axes of the array: numbers, and -1 where it is that of the loops around.
  using Key = std::pair<int, std::vector<int>>;
  static constexpr int of_loops = -1, of_line = -2, elsewhere = -3;
  Key key_of(int array, const EntryIndices& at, const std::vector<int>& line = {}) const;
  static bool can_be_kept(const Key& key);
  void forget_halves(int array);

  Context& context_;
  const kernel::TensorProgram& program_;
  const Schedule& schedule_;
  const ScheduleMemories& memories_;
  const Nest* nest_ = nullptr;
  std::vector<const Do*> later_;
  std::set<int> read_later_, made_later_, summed_later_; ///< arrays
  std::map<Key, NodePtr> values_;
  std::map<Key, Halves> halves_;
  std::map<Key, Sum> sums_;
  std::map<int, std::vector<EntryIndices>> unstored_; ///< entries by array
};

} // namespace rafter::schedule
