// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

/// Small loop programs written out, for tests of what loop programs are.
namespace rafter::test {

/// A program of 4 lanes with these statements. Arguments in order: x (real, written), u (real), s (integer); constants
/// c = 1 2 3 and ci = 0 1; w: work, two entries of 4 lanes.
inline std::string loop_text(const std::string& statements) {
  return "(program k 4\n"
         "(buffer x global real 0 written role output_vector 0)\n"
         "(buffer u global real 0 role input_vector 0)\n"
         "(buffer s global integer 0 role run_starts 0)\n"
         "(buffer c constant real 3 values 1 2 3)\n"
         "(buffer ci constant integer 2 values 0 1)\n"
         "(buffer w work real 8 lane)\n"
         "(block " +
         statements + "))\n";
}

} // namespace rafter::test
