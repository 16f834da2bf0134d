// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Configuration text as a plain tree in which every value remembers where it was written.
namespace rafter::io {

/// A place in a text: line and column count from 1 (columns in characters); line 0: not from a file ("--set a.b=1").
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
  std::string text;         ///< string
  std::int64_t integer = 0; ///< integer
  double real = 0;          ///< integer and real
  bool boolean = false;     ///< boolean
  std::vector<Key> keys;    ///< table, in the order of the text; shape as items
  std::vector<Value> items; ///< array, table
  Location location;        ///< of the value; of the first character inside the quotes of a string

  const Value* find(std::string_view key) const; ///< of a table; null when absent
  std::string description() const; ///< `the string "gmres"`, `the integer 5`, `a list of 3 values`, `a table`
};

/// Parses TOML 1.0. Throws InputError "source:line:column: ...".
Value parse_toml(std::string_view text, const std::string& source);

/// Sets one value as `--set` gives it: "solver.rtol=1e-8". Numbers select items of lists ("dirichlet.0.value=1"). The
/// right side is a TOML value; text that is none and does not begin as a list, a table or a quoted string does is taken
/// as a string ("forms.L=x[0]*v*dx"). Throws InputError.
void apply_override(Value& table, std::string_view assignment);

} // namespace rafter::io
