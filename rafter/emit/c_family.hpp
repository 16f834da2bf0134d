// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <string>

#include <rafter/schedule/loop_program.hpp>

/// Loop programs as source text. One emitter for the C family; a language is a table of spellings.
namespace rafter::emit {

/// Runs of numbers between a vector and work arrays.
struct RunMove {
  int lanes = 1, width = 1;
  int stride = 1;    ///< vectors from one entry of the work array to the next
  bool adds = false; ///< to the vector
  schedule::Type vector = schedule::Type::real, work = schedule::Type::real;
};
/// Name of the helper that moves them: "load_run8", of floats "load_run8_f", between both types "load_run8_df", of
/// every other vector "load_run8_by2".
std::string name(const RunMove& move);

/// How the C family calls reals of a type.
struct RealNames {
  const char* scalar;   ///< "double"
  const char* vector;   ///< one number per lane
  const char* loose;    ///< the same on any address
  const char* suffix;   ///< of literals
  const char* literals; ///< table of the long ones
  const char* initial;  ///< of helpers
};
const RealNames& names_of(schedule::Type type);

/// How a language says what loop programs need.
struct Spelling {
  std::string name;
  /// Types and helpers that every kernel of `lanes` lanes starts with; those of floats, of kernels that use them.
  std::function<std::string(int lanes)> prelude, float_prelude;
  /// Head of the entry point up to its opening brace, and the statement that makes typed pointer `name` from argument
  /// i.
  std::function<std::string(const std::string& kernel)> head;
  std::function<std::string(const schedule::Buffer& buffer, int i)> argument;
  /// Elementary function on one number ("sqrt" -> "__builtin_sqrt").
  std::function<std::string(form::ScalarOp op, schedule::Type type)> function;
  /// Hint that the entry at `place` (text of an address) will be used soon; null: the language has none.
  std::function<std::string(const std::string& place)> prefetch;
  /// What the helpers below share, for work arrays of a type.
  std::function<std::string(int lanes, schedule::Type work)> run_prelude;
  /// Helper that moves runs of `width` consecutive numbers, one per lane, between a vector and work arrays, converted
  /// where their types differ: `load_run<width>(work array, entries of it, vector, start of each lane's run, what is
  /// added to the starts)` or `add_run<width>` back. Null: runs move number by number.
  std::function<std::string(const RunMove& move)> run_mover;
  /// Helpers `stream(pointer, vector)`, a store that passes the caches by where it can, and `finish_streams()` at the
  /// end of a kernel, after which other threads see all of them.
  std::function<std::string(int lanes, schedule::Type type)> stream;
  /// Before the declaration of a work array that a stack does not hold: memory of the thread.
  std::string large_work;
};

/// C with the vector extensions of GCC and Clang, no headers.
const Spelling& c_spelling();

/// Source of the program; the same program gives the same text.
std::string emit(const schedule::LoopProgram& program, const Spelling& spelling = c_spelling());

/// Source in the language of a device: "c", or "loops", the text of the loop program itself (devices that interpret).
/// Throws InternalError for unknown languages.
std::string emit(const schedule::LoopProgram& program, const std::string& language);

} // namespace rafter::emit
