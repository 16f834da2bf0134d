// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <bit>
#include <concepts>
#include <cstdint>
#include <ranges>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <rafter/base/hash.hpp>

/// Texts of plain values, for hashes: values whose numbers have equal bits have equal texts, others different ones, in
/// every process.
///
/// A struct takes part by a function `members(value)` beside it, which names all of its members in a structured
/// binding, so that one which is added and not named there does not compile, and hands them all on. A class with an
/// identity of its own has a function `content_of(value)` instead, which returns a text.
namespace rafter::base {

/// Says whether a class has an identity of its own.
template <class T>
concept HasContent = requires(const T& value) {
  { content_of(value) } -> std::convertible_to<std::string>;
};

template <class T>
concept RangeOfNumbers = std::ranges::contiguous_range<T> && std::is_arithmetic_v<std::ranges::range_value_t<T>>;

/// Appends the text of a value: of what pointers point to, of all entries of ranges, of all members of structs.
template <class T> void append_content(std::string& text, const T& value) {
  if constexpr (HasContent<T>) {
    const std::string content = content_of(value);
    append_content(text, std::string_view(content));
  } else if constexpr (std::is_enum_v<T>) {
    append_content(text, static_cast<std::int64_t>(value));
  } else if constexpr (std::is_integral_v<T>) {
    text += std::to_string(value) + " ";
  } else if constexpr (std::is_floating_point_v<T>) {
    text += std::to_string(std::bit_cast<std::uint64_t>(static_cast<double>(value))) + " ";
  } else if constexpr (std::is_convertible_v<T, std::string_view>) {
    const std::string_view bytes = value;
    text += std::to_string(bytes.size()) + ":";
    text += bytes;
  } else if constexpr (RangeOfNumbers<T>) {
    // Rules have thousands of points, and meshes millions of cells: their bytes stand in the text as a hash.
    text += content_hash({reinterpret_cast<const char*>(std::ranges::data(value)),
                          std::ranges::size(value) * sizeof(std::ranges::range_value_t<T>)}) +
            " ";
  } else if constexpr (std::ranges::range<T>) {
    text += std::to_string(std::ranges::distance(value)) + ": ";
    for (const auto& entry : value) append_content(text, entry);
  } else if constexpr (requires { *value; }) { // pointers and optional values
    text += value ? "* " : "- ";
    if (value) append_content(text, *value);
  } else {
    std::apply([&text](const auto&... each) { (append_content(text, each), ...); }, members(value));
  }
}

/// Returns the text of a value.
template <class T> std::string content_text(const T& value) {
  std::string text;
  append_content(text, value);
  return text;
}

} // namespace rafter::base
