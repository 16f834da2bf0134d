// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/emit/spelling.hpp>

/// Loop programs as source text. One emitter for the C family; a language is a table of spellings.
namespace rafter::emit {

/// Source of the program; the same program gives the same text.
std::string emit(const schedule::LoopProgram& program, const Spelling& spelling = c_spelling());

/// Source in the language of a device: "c", or "loops", the text of the loop program itself (devices that interpret).
/// Throws InternalError for unknown languages.
std::string emit(const schedule::LoopProgram& program, const std::string& language);

} // namespace rafter::emit
