// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rafter::schedule {

class Plan;
struct PlanningProblem;

// --- what keys accept -----------------------------------------------------------------------------------------------

/// Values with names, numbered from 0 on.
struct Names {
  int (*count)();
  std::string (*name)(int number);
};
/// The names of the values of an enumeration up to `last`, by its function `name`.
template <auto last> constexpr Names names_up_to() {
  using T = decltype(last);
  return {[] { return static_cast<int>(last) + 1; },
          [](int number) { return std::string(name(static_cast<T>(number))); }};
}
/// Whole numbers.
struct Range {
  int least = 0, most = 0;
};
/// 1, 2, 4, ...
struct PowersOfTwo {
  int most = 1;
};
/// Values with a spelling of their own.
struct Spelling {
  std::string (*text)(int number);
  std::optional<int> (*number)(const std::string& text);
  std::vector<std::string> (*patterns)(); ///< what is accepted, for messages
};
/// Texts, such as the name of a compiler. Plans hold "" for "default".
struct Texts {
  /// Throws InputError for a text that is not accepted.
  void (*check)(const std::string& text);
};
using Values = std::variant<Names, Range, PowersOfTwo, Spelling, Texts>;

// --- keys -----------------------------------------------------------------------------------------------------------

/// One decision about a kernel, `name=value` in the text of its plan. The key is a row of whom it belongs to: of all
/// kernels (common_keys.hpp), of contractions (contraction_keys.hpp), or of the mappings that list it (Mapping::keys).
/// All that plans do with keys goes over these rows. Functions that are null are explained by what they stand for.
struct Key {
  std::string_view name;
  int place = 0;    ///< orders keys in texts
  int turn = place; ///< orders keys where candidates are made: behind those on which `tried` depends
  Values values;
  int initial = 0; ///< number of the value in the default plan; that of texts is ""
  /// Number of the value that a text means which leaves the key out, beside the plan's other values; `device` is the
  /// usual plan of the device (schedule::usual_plan). Null: the value of that plan.
  int (*usual)(const Plan& plan, const Plan& device) = nullptr;
  /// Part of the cost model's error that plans share although they differ here; 0: such plans tell nothing about each
  /// other.
  double shared = 0;
  /// Says whether the value changes the kernels of a plan that has the key. Null: it does.
  bool (*matters)(const Plan& plan) = nullptr;
  /// Says whether a plan has the key whose mapping, or which as every plan, may have it. Null: it has.
  bool (*is_of)(const Plan& plan) = nullptr;
  /// Texts of the values that make sense for a kernel, given the values of the keys whose turn is before; at least one,
  /// the usual one first. Null: the planner leaves the key alone.
  std::vector<std::string> (*tried)(const PlanningProblem& problem, const Plan& plan) = nullptr;
  /// Values are tried in kernels of cell matrices, too, where all other keys are those of the usual plan.
  bool is_tried_in_matrices = false;

  /// The plan's value as text.
  std::string text(const Plan& plan) const;
  /// Gives a plan the value of a text. Throws InputError, which says what is accepted, where the key has no such value.
  void read(Plan& plan, const std::string& text) const;
};

/// A key whose values are those of T: numbers, `bool`, enumerations, or what KeyOf is specialised for.
template <class T> struct KeyOf : Key {
  static constexpr T value(int number) { return static_cast<T>(number); }
  static constexpr int number(T value) { return static_cast<int>(value); }
};

/// A key whose values are texts. They say how a kernel is compiled, and do not change its own text.
struct TextKey : Key {};

/// Throws InputError for a word that is none of those accepted, with the nearest one as a suggestion.
[[noreturn]] void refuse(std::string_view what, const std::string& word, const std::vector<std::string>& accepted);

} // namespace rafter::schedule
