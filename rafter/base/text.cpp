// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/base/text.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::base {

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string result;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) result += separator;
    result += parts[i];
  }
  return result;
}

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  std::string best;
  int best_distance = static_cast<int>(word.size()) / 3 + 2;
  for (const auto& candidate : candidates) {
    const int distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, std::span<const std::string> candidates) {
  const std::string best = nearest(word, candidates);
  return best.empty() ? "" : " (did you mean '" + best + "'?)";
}

double parse_double(std::string_view text) {
  const std::string_view body = text.starts_with('+') ? text.substr(1) : text;
  double value = 0;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
  if (error != std::errc() || end != body.data() + body.size())
    throw InputError("'" + std::string(text) + "' is not a number");
  return value;
}

std::string number_text(double value) { return std::isnan(value) ? "nan" : fmt::format("{:.6g}", value); }

long long parse_integer(std::string_view text) {
  const std::string_view body = text.starts_with('+') ? text.substr(1) : text;
  long long value = 0;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
  if (error != std::errc() || end != body.data() + body.size())
    throw InputError("'" + std::string(text) + "' is not an integer");
  return value;
}

namespace {
constexpr const char* blanks = " \t\r\n";
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result;
  for (auto rest = trimmed(text); !rest.empty(); rest = trimmed(rest.substr(result.back().size())))
    result.emplace_back(rest.substr(0, rest.find_first_of(blanks)));
  return result;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find(separator, begin)) != std::string_view::npos; begin = end + 1)
    parts.emplace_back(text.substr(begin, end - begin));
  parts.emplace_back(text.substr(begin));
  return parts;
}

} // namespace rafter::base
