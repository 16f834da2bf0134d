// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>
#include <vector>

#include <rafter/emit/spelling.hpp>
#include <rafter/schedule/target.hpp>

namespace rafter::schedule {
struct LoopProgram;
} // namespace rafter::schedule

/// Writes loop programs as source text. One emitter serves the C family; each language is a table of spellings.
namespace rafter::emit {

/// Source text of the program; equal programs give equal texts.
std::string emit(const schedule::LoopProgram& program, const Spelling& spelling = c_spelling());
/// Source text of several kernels that have the same lanes, at least one. Throws InternalError where they need tables
/// of constants.
std::string emit(std::span<const schedule::LoopProgram> programs, const Spelling& spelling = c_spelling());

/// Source text in the language of a device: "c", "opencl", or "loops", which is the text of the loop program itself,
/// for devices that interpret it. Throws InternalError for unknown languages, and for programs that a language cannot
/// say: groups of items in one without them, lanes in one without vectors.
std::string emit(const schedule::LoopProgram& program, const std::string& language);
std::string emit(std::span<const schedule::LoopProgram> programs, const std::string& language);

/// The languages that text is emitted in for compilers.
std::vector<std::string> languages();

/// A target of which nothing but the language is known: its axes, which are SIMD lanes of a host and groups of items,
/// whose items may have lanes, too, and whether it can say atomic additions of doubles. Throws InternalError for
/// unknown languages.
schedule::Target target(const std::string& language);

} // namespace rafter::emit
