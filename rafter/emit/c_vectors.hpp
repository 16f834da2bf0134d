// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/emit/spelling.hpp>

/// Functions and types of kernels in C with vector extensions, as text; c_spelling() says what each is for.
namespace rafter::emit::c {

const RealNames& names_of(schedule::Type type);

/// "begin, begin + 1, ..., end - 1"
std::string numbers_text(int begin, int end);

std::string prelude(int vector_width);
std::string float_prelude(int vector_width);
std::string stream(int vector_width, schedule::Type type);

/// Macros exchange<d>(a, b): blocks of d lanes of both in turn, the even ones into a, the odd ones into b.
std::string exchanges(int vector_width, schedule::Type work);
std::string run_mover(const RunMove& move);

} // namespace rafter::emit::c
