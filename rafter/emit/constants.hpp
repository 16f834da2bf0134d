// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <string>
#include <vector>

#include <rafter/emit/spelling.hpp>

namespace rafter::emit {

/// Real literal of a type; negative ones stand in brackets. InternalError when the value is not finite.
std::string number(double value, schedule::Type type, const Spelling& spelling);

/// Definition of a table: a constant buffer of a program of `vector_width` lanes.
std::string constant_table(const schedule::LoopBuffer& buffer, int vector_width, const Spelling& spelling);

/// Real literals of a kernel. Long ones stand once, in a table per type (compilers fold its entries), because the
/// entries of 1D matrices recur with every use.
class Literals {
public:
  explicit Literals(const Spelling& spelling) : spelling_(spelling) {}

  /// The value as it stands in an expression: itself, or its entry of the table.
  std::string text(double value, schedule::Type type);
  /// Definitions of the tables.
  std::string tables() const;

private:
  struct Table {
    std::map<double, std::size_t> entries; ///< by absolute value
    std::vector<double> values;
  };

  const Spelling& spelling_;
  std::map<schedule::Type, Table> tables_;
};

} // namespace rafter::emit
