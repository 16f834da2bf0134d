// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/emit/spelling.hpp>

namespace rafter::emit {

/// Completes the table of a language that writes a vector by its numbers (VectorSpelling::of_numbers), or by one number
/// where all are equal. Gathers and moves of runs become macros, which take pointers to any address space: vectors are
/// taken apart and put together by their numbers, and compilers see what is an exchange of lanes. A vector at any
/// address is written as a whole one, and its numbers as those of an array. The prelude of the language defines the
/// types vec, fvec and ivec, LANES, vmin_i(vector, vector), to_vec(vector) and to_fvec(vector).
Spelling with_lane_macros(Spelling language);

} // namespace rafter::emit
