// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include <rafter/emit/spelling.hpp>

namespace rafter::emit {

/// Text of a real number of a type, in brackets if it is negative. Throws InternalError when the value is not finite.
std::string number(double value, schedule::Type type, const Spelling& spelling);

/// Definitions of tables, which are constant buffers in programs of `vector_width` lanes.
std::string constant_tables(std::span<const schedule::LoopBuffer> tables, int vector_width, const Spelling& spelling);

/// Real numbers in a kernel. Long ones are written once, in a table per type (whose entries compilers fold), because
/// the entries of 1D matrices occur many times.
class Literals {
public:
  explicit Literals(const Spelling& spelling) : spelling_(spelling) {}

  /// Text of the value in an expression: the number itself, or its entry in the table.
  std::string text(double value, schedule::Type type);
  /// The tables.
  std::vector<schedule::LoopBuffer> tables() const;

private:
  struct Table {
    std::map<double, std::size_t> entries; ///< entries by absolute value
    std::vector<double> values;
  };

  const Spelling& spelling_;
  std::map<schedule::Type, Table> tables_;
};

} // namespace rafter::emit
