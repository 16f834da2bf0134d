// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rafter/io/value.hpp>

namespace rafter::io {

/// Throws InputError "file:line:column: key path: message".
[[noreturn]] void refuse(const Location& location, std::string_view path, std::string_view message);

/// Throws InputError that says what was found where something else is accepted.
[[noreturn]] void refuse_value(const Value& value, std::string_view path, std::string_view accepted);

/// Throws InputError for a name that this version does not know. The message has the nearest known name, or says that
/// the name is not available in this version if it is one of `later`.
[[noreturn]] void refuse_name(const Value& value, std::string_view path, std::span<const std::string> known,
                              std::span<const std::string> later = {});

/// These read a value as a type. Each throws InputError that names the path, what was found and what is accepted.
std::string read_string(const Value& value, std::string_view path);
double read_number(const Value& value, std::string_view path, std::string_view accepted = "a finite number");
int read_integer(const Value& value, std::string_view path, int lowest, int highest);

/// The bound of numbers that have none.
inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// This reads a table of the file and knows which keys it may have.
class TableReader {
public:
  /// `path` names the table in messages ("solver", "fields.u"). Throws InputError if the value is no table.
  TableReader(const Value& value, std::string path);

  /// Throws InputError for the first key that is not in this list.
  void accept_only(std::span<const std::string> keys) const;

  const Value& value() const { return value_; }
  std::string path(std::string_view key) const;
  const Value* find(std::string_view key) const { return value_.find(key); }
  const Value& require(std::string_view key, std::string_view accepted) const;

  std::optional<std::string> string(std::string_view key) const;
  /// The value may equal its bounds unless `is_open` is set.
  std::optional<double> number(std::string_view key, double lowest, double highest, bool is_open = false) const;
  std::optional<int> integer(std::string_view key, int lowest, int highest) const;
  std::optional<bool> boolean(std::string_view key) const;

private:
  const Value& value_;
  std::string path_;
};

bool is_identifier(std::string_view text);

} // namespace rafter::io
