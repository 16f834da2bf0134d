// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <string>
#include <vector>

#include <rafter/schedule/loop_program.hpp>

/// The differences between the languages of the C family.
namespace rafter::emit {

/// A move of runs of consecutive numbers, one run per lane, between a vector of the solver and work arrays.
struct RunMove {
  int vector_width = 1, width = 1;
  int stride = 1;    ///< distance, in vectors, between successive entries of the work array
  bool adds = false; ///< the move adds to the vector
  schedule::Type vector = schedule::Type::real, work = schedule::Type::real;
};
/// Name of the helper for a move: "load_run8", for floats "load_run8_f", for a conversion between both types
/// "load_run8_df", for every other entry of the work array "load_run8_by2".
std::string name(const RunMove& move);

/// Names that a language has for real numbers of a type.
struct RealNames {
  const char* scalar;   ///< type of a number, such as "double"
  const char* vector;   ///< type of a vector with one number per lane
  const char* loose;    ///< type of such a vector at any address
  const char* suffix;   ///< suffix of floating-point literals
  const char* literals; ///< name of the table of long literals
  const char* initial;  ///< first letter of the names of helper functions
};

/// The spelling of vectors with one number per lane. Programs have one lane in languages without vectors, and these
/// functions are not set.
struct VectorSpelling {
  /// Loads vector number `y` of an array of numbers, which begins where a whole vector may.
  std::function<std::string(const std::string& array, const std::string& y, schedule::Type type)> load_whole;
  /// Writes to that vector; `assignment` is "=" or "+=". The text has no semicolon.
  std::function<std::string(const std::string& array, const std::string& y, const char* assignment,
                            const std::string& value, schedule::Type type)>
      store_whole;
  /// An array of vectors as an array of numbers.
  std::function<std::string(const std::string& array, schedule::Type type, bool is_written)> as_numbers;
  /// Loads the vector that begins at an address of any alignment.
  std::function<std::string(const std::string& address, schedule::Type type)> load;
  /// Writes a vector to such an address, as store_whole.
  std::function<std::string(const std::string& address, const char* assignment, const std::string& value,
                            schedule::Type type)>
      store;
  /// One number of the vector of this name.
  std::function<std::string(const std::string& vector, const std::string& number, schedule::Type type)> lane;
  /// The absolute values of the vector of this name in one expression; not set: they are taken lane by lane.
  std::function<std::string(const std::string& vector, schedule::Type type)> absolute;
  /// Statements that return an elementary function of the vector a, and of the vector b where it has two operands, in
  /// all lanes at once where the compiler's target has a library for that; else nothing happens. "" for functions that
  /// no library has. Not set: there are none.
  std::function<std::string(form::ScalarOp op, schedule::Type type)> function;
  std::string function_prelude; ///< text that stands once before functions with such statements
  /// A vector of reals converted to `type`.
  std::function<std::string(const std::string& value, schedule::Type type)> converted;
  /// The vector of these numbers, one per lane, and number `lane` of a vector; for the helpers of lane_macros.hpp, in
  /// languages that take them.
  std::function<std::string(const std::string& vector, const std::vector<std::string>& numbers)> of_numbers;
  std::function<std::string(const std::string& vector, int lane)> element;
  /// The vector of the `width` numbers at an address of any alignment, and a statement that adds to them.
  std::function<std::string(int width, const std::string& address)> load_run;
  std::function<std::string(int width, const std::string& address, const std::string& value)> add_run;
};

/// The spelling of groups of items. Programs are those of a host in languages without them, and this is not set.
struct GroupSpelling {
  std::string group;                         ///< number of the group
  std::function<std::string(int axis)> item; ///< number of the item along an axis
  std::string barrier;                       ///< statement without semicolon
  std::string shared;                        ///< text before the declaration of a shared array
  /// Helper of this name that adds a number to an entry of a buffer: name(pointer, number).
  std::function<std::string(const std::string& name, schedule::Space space, schedule::Type type)> atomic_add;
};

/// The loops that a compiler is not to unroll, where it unrolls whatever has a constant length. Programs whose work
/// arrays fit into the registers of an item are left to it: unrolled as a whole they need no memory for them. Others
/// would fill more registers than there are, and take seconds to compile: there loops of many statements stay loops.
struct RolledLoops {
  const char* line = nullptr;       ///< line before such a loop; null: the language leaves all loops to its compiler
  std::int64_t register_bytes = 0;  ///< bytes of the registers of an item
  std::int64_t most_statements = 0; ///< number of statements that a loop may become
};

/// The spelling of what loop programs need in a language. The emitter itself writes all that is the same in every
/// language: integers, infix operations, loops and branches.
struct Spelling {
  std::string name;
  RealNames doubles, floats;
  const RealNames& names(schedule::Type type) const { return type == schedule::Type::real32 ? floats : doubles; }
  /// Types and helpers that precede every kernel of `vector_width` lanes, and those for floats, which precede kernels
  /// that use them. For several lanes they define LANES; the vector types of `doubles` and `floats`; the type `ivec` of
  /// integers with lane_numbers, isplat(integer), vmin_i(vector, vector) and gather_i(array, indices); and for each
  /// type of reals, with its initial before the name, splat(number) and gather(array, indices).
  std::function<std::string(int vector_width)> prelude, float_prelude;
  /// Type of a pointer to the numbers of a global buffer, through which alone they are changed.
  std::function<std::string(const schedule::LoopBuffer& buffer)> pointer;
  /// Head of the entry point up to its opening brace, and the statement that makes the typed pointer `name` from
  /// argument i.
  std::function<std::string(const schedule::LoopProgram& program)> head;
  std::function<std::string(const schedule::LoopBuffer& buffer, int i)> argument;
  /// Head, up to its opening brace, of the statement that runs the body for the batches begin .. end-1 that the kernel
  /// or, with groups, the group takes; it defines `batch`.
  std::function<std::string(const schedule::Launch& launch)> batches;
  /// Name of an elementary function on one number ("sqrt" -> "__builtin_sqrt").
  std::function<std::string(form::ScalarOp op, schedule::Type type)> function;
  VectorSpelling vectors;
  bool has_vectors() const { return vectors.load != nullptr; }
  GroupSpelling groups;
  bool has_groups() const { return groups.item != nullptr; }
  /// Says whether atomic_add of doubles is one instruction on devices that have it.
  bool has_atomic_doubles = false;
  /// Prefetch of the entry at `place`, the text of an address, into the nearest cache or the second one; null where the
  /// language has none.
  std::function<std::string(const std::string& place, bool is_nearest)> prefetch;
  /// Definitions that the helpers of run_mover share, for work arrays of a type.
  std::function<std::string(int vector_width, schedule::Type work)> run_prelude;
  /// Helper that moves runs of `width` consecutive numbers, one per lane, between a vector and work arrays, and
  /// converts them where the types differ: `load_run<width>(work array, its entries, vector, start of each lane's run,
  /// number to add to the starts)`, or `add_run<width>` for the opposite direction. Null: runs are moved number by
  /// number.
  std::function<std::string(const RunMove& move)> run_mover;
  /// Helpers `gather_lanes(array, positions)`, with one load per lane, for positions in a table (a pointer to that of
  /// lane 0) and, named `gather_lanes_of`, in a vector of integers; each with the initial of the type before the name.
  std::function<std::string(int vector_width, schedule::Type type)> lane_gather;
  /// Helper `stream(pointer, vector)`, a store past the caches where possible, and `finish_streams()` for the end of a
  /// kernel, after which other threads see all streamed numbers.
  std::function<std::string(int vector_width, schedule::Type type)> stream;
  /// Text before the definition of a table of constants. Where those of a source take more than so many bytes (0: no
  /// limit), another text takes its place.
  std::string constant;
  std::int64_t most_constant_bytes = 0;
  std::string large_constant;
  std::string function_head; ///< text before the definition of a helper
  RolledLoops rolled_loops;
  /// Text before the declaration of a work array that is too large for the stack; it gives memory of the thread.
  std::string large_work;
};

/// C with the vector extensions of GCC and Clang, no headers.
const Spelling& c_spelling();
/// OpenCL C 1.2 with doubles.
const Spelling& opencl_spelling();
/// CUDA C++ without headers.
const Spelling& cuda_spelling();
/// The same for HIP.
const Spelling& hip_spelling();

} // namespace rafter::emit
