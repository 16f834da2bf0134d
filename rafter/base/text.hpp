// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rafter::base {

/// Elements joined by a separator: join({"a", "b"}, ", ") is "a, b".
std::string join(std::span<const std::string> parts, std::string_view separator);

/// Edit (Levenshtein) distance of two words.
int edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to a misspelt word; "" when none is near enough to be a plausible misspelling.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// Text " (did you mean 'x'?)" for the nearest candidate, or "".
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

/// Read a number from the whole text, independent of the locale. Throw InputError that names the text.
double parse_double(std::string_view text);
long long parse_integer(std::string_view text);

/// A number with few digits for readers; "nan" whatever the sign bit says.
std::string number_text(double value);

std::string_view trimmed(std::string_view text);
std::vector<std::string> split(std::string_view text, char separator);
/// The parts of a text between blanks, tabs and line ends, none of them empty.
std::vector<std::string> words(std::string_view text);

} // namespace rafter::base
