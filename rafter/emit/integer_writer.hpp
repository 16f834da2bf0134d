// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <optional>
#include <string>

#include <rafter/emit/spelling.hpp>

namespace rafter::emit {

/// The text in brackets where its operation binds less than the place asks for: equality 0, sums 1, products 2; what
/// stands beside < needs 1, behind a cast 3.
std::string enclosed(const std::string& text, int strength, int needed);

/// Writes the integer expressions of a loop program.
class IntegerWriter {
public:
  IntegerWriter(int vector_width, const Spelling& spelling) : vector_width_(vector_width), spelling_(spelling) {}

  /// Remembers what a variable with a value per lane stands for.
  void define(const std::string& variable, const schedule::NodePtr& value) { definitions_[variable] = value; }

  /// An expression without lanes, a long. `needed`: strength that the place asks for.
  std::string scalar(const schedule::NodePtr& node, int needed = 0) const;
  /// All lanes of an expression as a vector.
  std::string vector(const schedule::NodePtr& node) const;
  /// Lane `l_` of an expression, from its definition: entries of index tables are loaded one by one, which is cheaper
  /// than taking a vector apart.
  std::string of_lane(const schedule::NodePtr& node) const;

  /// y when the index is y * lanes + lane: the vector y of an array.
  std::optional<std::string> whole(const schedule::NodePtr& index) const;
  schedule::NodePtr whole_entry(const schedule::NodePtr& index) const; ///< the same where y is not a literal, else null
  /// x when the index is x + lane.
  std::optional<std::string> contiguous(const schedule::NodePtr& index) const;
  /// Where the value of lane 0 stands when those of all lanes follow each other in a table.
  std::optional<std::string> table_of_lanes(const schedule::NodePtr& node) const;

private:
  std::string operand_of_vectors(const schedule::NodePtr& node) const;

  int vector_width_;
  const Spelling& spelling_;
  std::map<std::string, schedule::NodePtr> definitions_; ///< of variables with a value per lane
};

} // namespace rafter::emit
