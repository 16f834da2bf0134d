// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <string>

#include <rafter/schedule/loop_program.hpp>

/// Loop programs as source text. One emitter for the C family; a language is a table of spellings.
namespace rafter::emit {

/// How a language says what loop programs need.
struct Spelling {
  std::string name;
  /// Types and helpers that every kernel of `lanes` lanes starts with.
  std::function<std::string(int lanes)> prelude;
  /// Head of the entry point up to its opening brace, and the statement that makes typed pointer `name` from argument
  /// i.
  std::function<std::string(const std::string& kernel)> head;
  std::function<std::string(const schedule::Buffer& buffer, int i)> argument;
  /// Elementary function on one double ("sqrt" -> "__builtin_sqrt").
  std::function<std::string(form::ScalarOp op)> function;
  /// Hint that the entry at `place` (text of an address) will be used soon; null: the language has none.
  std::function<std::string(const std::string& place, bool is_written)> prefetch;
  /// What the helpers below share.
  std::function<std::string(int lanes)> run_prelude;
  /// Helper that moves runs of `width` consecutive numbers, one per lane, between a vector and work arrays:
  /// `load_run<width>(work array, entries of it, vector, start of each lane's run, what is added to the starts)` or
  /// `add_run<width>` back. Null: runs move number by number.
  std::function<std::string(int lanes, int width, bool adds)> run_mover;
  /// Helpers `stream(pointer, vec)`, a store that passes the caches by where it can, and `finish_streams()` at the end
  /// of a kernel, after which other threads see all of them.
  std::function<std::string(int lanes)> stream;
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
