// SPDX-License-Identifier: BSD-3-Clause
// Only this file includes toml++, which takes seconds to compile.
#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <toml++/toml.h>

#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/io/toml_depth.hpp>
#include <rafter/io/value.hpp>

namespace rafter::io {
namespace {

/// The lines of the text are needed to find where the contents of quoted strings begin.
class Document {
public:
  Document(std::string_view text, std::string source) : lines_(base::split(text, '\n')), source_(std::move(source)) {}

  Location locate(const toml::source_region& region) const {
    return {source_, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
  }

  /// Returns the place of the first character inside the quotes of a string.
  Location inside_quotes(const toml::source_region& region) const {
    Location location = locate(region);
    const std::string_view rest = from(location);
    if (!rest.starts_with("\"\"\"") && !rest.starts_with("'''")) {
      location.column += 1;
    } else if (rest.size() == 3 || rest.substr(3) == "\r") { // TOML drops a line break right after the opening quotes
      location.line += 1;
      location.column = 1;
    } else {
      location.column += 3;
    }
    return location;
  }

private:
  /// Returns the rest of a line; columns count characters, not bytes.
  std::string_view from(const Location& location) const {
    if (location.line < 1 || static_cast<std::size_t>(location.line) > lines_.size()) return {};
    const std::string_view line = lines_[static_cast<std::size_t>(location.line) - 1];
    std::size_t byte = 0;
    for (int column = 1; column < location.column && byte < line.size(); ++column) {
      ++byte;
      while (byte < line.size() && (static_cast<unsigned char>(line[byte]) & 0xc0) == 0x80) ++byte;
    }
    return line.substr(byte);
  }
  std::vector<std::string> lines_;
  std::string source_;
};

Value convert(const toml::node& node, const Document& document);

Value convert_table(const toml::table& table, const Document& document) {
  Value result;
  std::vector<std::pair<const toml::key*, const toml::node*>> entries;
  for (const auto& [key, node] : table) entries.emplace_back(&key, &node);
  // toml++ keeps keys sorted by name. The order of the text is restored, since later parts of a file may use earlier
  // ones.
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    const auto place = [](const toml::key& key) {
      return std::pair(key.source().begin.line, key.source().begin.column);
    };
    return place(*a.first) < place(*b.first);
  });
  for (const auto& [key, node] : entries) {
    result.keys.push_back({std::string(key->str()), document.locate(key->source())});
    result.items.push_back(convert(*node, document));
  }
  return result;
}

Value convert(const toml::node& node, const Document& document) {
  Value value;
  if (const auto* table = node.as_table()) {
    value = convert_table(*table, document);
  } else if (const auto* array = node.as_array()) {
    value.kind = Value::Kind::array;
    for (const auto& item : *array) value.items.push_back(convert(item, document));
  } else if (const auto* text = node.as_string()) {
    value.kind = Value::Kind::string;
    value.text = text->get();
  } else if (const auto* integer = node.as_integer()) {
    value.kind = Value::Kind::integer;
    value.integer = integer->get();
    value.real = static_cast<double>(integer->get());
  } else if (const auto* real = node.as_floating_point()) {
    value.kind = Value::Kind::real;
    value.real = real->get();
  } else if (const auto* boolean = node.as_boolean()) {
    value.kind = Value::Kind::boolean;
    value.boolean = boolean->get();
  } else {
    value.kind = Value::Kind::date;
  }
  value.location = node.is_string() ? document.inside_quotes(node.source()) : document.locate(node.source());
  return value;
}

} // namespace

Value parse_toml(std::string_view text, const std::string& source) {
  require_toml_depth(text, source);
  try {
    const toml::table table = toml::parse(text, source);
    const Document document(text, source);
    Value value = convert_table(table, document);
    value.location = {source, 1, 1};
    return value;
  } catch (const toml::parse_error& error) {
    const auto& begin = error.source().begin;
    const Location location{source, static_cast<int>(begin.line), static_cast<int>(begin.column)};
    throw base::InputError(fmt::format("{}: {}", location.text(), error.description()));
  }
}

} // namespace rafter::io
