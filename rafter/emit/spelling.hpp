// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <string>

#include <rafter/schedule/loop_program.hpp>

/// What tells the languages of the C family from each other.
namespace rafter::emit {

/// Runs of numbers between a vector and work arrays.
struct RunMove {
  int vector_width = 1, width = 1;
  int stride = 1;    ///< vectors from one entry of the work array to the next
  bool adds = false; ///< to the vector
  schedule::Type vector = schedule::Type::real, work = schedule::Type::real;
};
/// Name of the helper that moves them: "load_run8", of floats "load_run8_f", between both types "load_run8_df", of
/// every other vector "load_run8_by2".
std::string name(const RunMove& move);

/// How a language calls reals of a type.
struct RealNames {
  const char* scalar;   ///< "double"
  const char* vector;   ///< one number per lane
  const char* loose;    ///< the same on any address
  const char* suffix;   ///< of floating-point literals
  const char* literals; ///< table of the long ones
  const char* initial;  ///< first letter of the names of helper functions
};

/// How a language says vectors with one number per lane. Languages without vectors run programs of one lane and leave
/// the functions unset.
struct VectorSpelling {
  using View = std::function<std::string(const std::string& array, schedule::Type type, bool is_written)>;
  /// An array of numbers as an array of whole vectors, and an array of vectors as one of numbers.
  View of_numbers, as_numbers;
  /// The vector that begins at an address of any alignment.
  std::function<std::string(const std::string& address, schedule::Type type)> load;
  /// Writes a vector there; `assignment` is "=" or "+=". Without semicolon.
  std::function<std::string(const std::string& address, const char* assignment, const std::string& value,
                            schedule::Type type)>
      store;
  std::function<std::string(const std::string& vector, const std::string& number)> lane; ///< one number of a vector
  /// A vector of reals converted to `type`.
  std::function<std::string(const std::string& value, schedule::Type type)> converted;
  /// Operands of integers: 1 in the lanes where both are equal, 0 in the others.
  std::function<std::string(const std::string& a, const std::string& b)> equal;
};

/// How a language says what loop programs need. The emitter writes everything else, which is the same in all of them:
/// integers, infix operations, loops and branches.
struct Spelling {
  std::string name;
  RealNames doubles, floats;
  const RealNames& names(schedule::Type type) const { return type == schedule::Type::real32 ? floats : doubles; }
  /// Types and helpers that every kernel of `vector_width` lanes starts with; those of floats, of kernels that use
  /// them. Programs of several lanes find there LANES, the vector types of `doubles` and `floats`, `ivec` of integers
  /// with lane_numbers, isplat(integer), vmin_i(vector, vector) and gather_i(array, indices), and for each type of
  /// reals, its initial before the name, splat(number) and gather(array, indices).
  std::function<std::string(int vector_width)> prelude, float_prelude;
  /// Head of the entry point up to its opening brace, and the statement that makes typed pointer `name` from argument
  /// i.
  std::function<std::string(const std::string& kernel)> head;
  std::function<std::string(const schedule::LoopBuffer& buffer, int i)> argument;
  /// Elementary function on one number ("sqrt" -> "__builtin_sqrt").
  std::function<std::string(form::ScalarOp op, schedule::Type type)> function;
  VectorSpelling vectors;
  /// Hint that the entry at `place` (text of an address) will be used soon; null: the language has none.
  std::function<std::string(const std::string& place)> prefetch;
  /// What the helpers below share, for work arrays of a type.
  std::function<std::string(int vector_width, schedule::Type work)> run_prelude;
  /// Helper that moves runs of `width` consecutive numbers, one per lane, between a vector and work arrays, converted
  /// where their types differ: `load_run<width>(work array, entries of it, vector, start of each lane's run, what is
  /// added to the starts)` or `add_run<width>` back. Null: runs move number by number.
  std::function<std::string(const RunMove& move)> run_mover;
  /// Helpers `stream(pointer, vector)`, a store that passes the caches by where it can, and `finish_streams()` at the
  /// end of a kernel, after which other threads see all of them.
  std::function<std::string(int vector_width, schedule::Type type)> stream;
  /// Before the definition of a table of constants, and of a helper.
  std::string constant, function_head;
  /// Before the declaration of a work array that a stack does not hold: memory of the thread.
  std::string large_work;
};

/// C with the vector extensions of GCC and Clang, no headers.
const Spelling& c_spelling();

} // namespace rafter::emit
