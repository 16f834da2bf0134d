// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

/// Small loop programs are written out here for tests of the language itself.
namespace rafter::test {

/// Returns a program of 4 lanes with these statements. Its arguments are x (real, written), u (real) and s (integer),
/// in this order, its constants c = 1 2 3 and ci = 0 1, its work array w has two entries of 4 lanes.
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
