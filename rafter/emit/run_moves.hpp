// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string>

#include <rafter/emit/integer_writer.hpp>
#include <rafter/emit/operations.hpp>
#include <rafter/emit/real_writer.hpp>

namespace rafter::emit {

/// Text of a loop over a run (schedule::LoopStyle::run) as one call of a helper that moves the run; nothing where the
/// language has no such helper, or the loop has another form. `helpers` receives the definition of the helper.
std::optional<std::string> run_move(const schedule::LoopProgram& program, const schedule::Node& loop,
                                    const Spelling& spelling, const IntegerWriter& integers, const RealWriter& reals,
                                    Helpers& helpers);

} // namespace rafter::emit
