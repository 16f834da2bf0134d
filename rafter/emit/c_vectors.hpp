// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/emit/spelling.hpp>

/// Functions and types of kernels in C with vector extensions, as text; c_spelling() says what each is for.
namespace rafter::emit::c {

const RealNames& names_of(schedule::Type type);

/// "begin, begin + 1, ..., end - 1"
std::string numbers_text(int begin, int end);

std::string prelude(int lanes);
std::string float_prelude(int lanes);
std::string stream(int lanes, schedule::Type type);

/// Macros exchange<d>(a, b): blocks of d lanes of both in turn, the even ones into a, the odd ones into b.
std::string exchanges(int lanes, schedule::Type work);
std::string run_mover(const RunMove& move);

} // namespace rafter::emit::c
