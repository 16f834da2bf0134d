// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Configuration text is a plain tree in which every value remembers where it was written.
namespace rafter::io {

/// A place in a text has a line and a column, which count from 1 (columns in characters). Line 0 marks text that is
/// from no file ("--set a.b=1").
struct Location {
  std::string source;
  int line = 0, column = 0;
  std::string text() const; ///< "file:line:column", or the source alone
};

struct Value {
  enum class Kind { string, integer, real, boolean, date, array, table };
  struct Key {
    std::string name;
    Location location;
  };
  Kind kind = Kind::table;
  std::string text;         ///< value of strings
  std::int64_t integer = 0; ///< value of integers
  double real = 0;          ///< value of integers and reals
  bool boolean = false;     ///< value of booleans
  std::vector<Key> keys;    ///< keys of tables, in the order of the text; as many as items
  std::vector<Value> items; ///< items of arrays and tables
  Location location;        ///< place of the value; for a string, of the first character inside the quotes

  const Value* find(std::string_view key) const; ///< value of a key of a table; null if it is absent
  /// Returns a text for messages: `the string "gmres"`, `the integer 5`, `a list of 3 values`, `a table`.
  std::string description() const;
};

/// Parses TOML 1.0. Throws InputError "source:line:column: ...".
Value parse_toml(std::string_view text, const std::string& source);

/// Sets one value from a text as `--set` gives it: "solver.rtol=1e-8". Numbers in the path select items of lists
/// ("dirichlet.0.value=1"). The right side is a TOML value. Other text is taken as a string ("forms.L=x[0]*v*dx")
/// unless it begins as a list, a table or a quoted string does. Throws InputError.
void apply_override(Value& table, std::string_view assignment);

} // namespace rafter::io
