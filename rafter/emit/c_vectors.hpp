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

} // namespace rafter::emit::c
