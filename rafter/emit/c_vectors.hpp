// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/emit/spelling.hpp>

/// Text of functions and types in kernels in C with vector extensions; c_spelling() gives the purpose of each.
namespace rafter::emit::c {

const RealNames& names_of(schedule::Type type);

/// The text "begin, begin + 1, ..., end - 1".
std::string numbers_text(int begin, int end);

std::string prelude(int vector_width);
std::string float_prelude(int vector_width);
std::string lane_gather(int vector_width, schedule::Type type);
std::string stream(int vector_width, schedule::Type type);

/// Defines macros exchange<d>(a, b): of the blocks of d lanes in both vectors, alternating, the even blocks go to a and
/// the odd ones to b.
std::string exchanges(int vector_width, schedule::Type work);
std::string run_mover(const RunMove& move);

/// VectorSpelling::function: those of libmvec, which glibc has for processors with AVX2 and AVX-512. They round to four
/// units in the last place (glibc's manual, 19.7), and give in each lane what they give without the others.
std::string vector_function(form::ScalarOp op, schedule::Type type);
/// The version of glibc is in a header, the only one that kernels read.
inline constexpr const char* vector_function_prelude = "#if defined(__AVX2__) && __has_include(<features.h>)\n"
                                                       "#include <features.h>\n"
                                                       "#endif\n";

} // namespace rafter::emit::c
