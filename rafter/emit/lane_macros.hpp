// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/emit/spelling.hpp>

/// Helpers for vectors as macros, in languages that write a vector by its numbers (VectorSpelling::of_numbers): macros
/// take pointers to any address space.
namespace rafter::emit {

/// Defines lane_numbers, gather_i, and gather for both types of reals.
std::string gather_macros(const Spelling& spelling, int lanes);
/// Spelling::lane_gather.
std::string lane_gather_macros(const Spelling& spelling, int lanes, schedule::Type type);
/// Spelling::run_mover. Vectors of work arrays are taken apart and put together by their numbers, which compilers see
/// to be exchanges of lanes.
std::string run_macro(const Spelling& spelling, const RunMove& move);

} // namespace rafter::emit
