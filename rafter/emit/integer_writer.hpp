// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <optional>
#include <string>

#include <rafter/emit/spelling.hpp>

namespace rafter::emit {

/// Puts `text` in brackets where its operation binds more weakly (`strength`) than its place needs: equality has
/// strength 0, sums 1, products 2; a side of < needs 1, the operand of a cast 3.
std::string enclosed(const std::string& text, int strength, int needed);

/// Writes the integer expressions of a loop program as text.
class IntegerWriter {
public:
  IntegerWriter(int vector_width, const Spelling& spelling) : vector_width_(vector_width), spelling_(spelling) {}

  /// Remembers the expression that a variable with one value per lane stands for.
  void define(const std::string& variable, const schedule::NodePtr& value) { definitions_[variable] = value; }

  /// Text of an expression that is the same for all lanes, as a long. `needed` is the strength that its place needs.
  std::string scalar(const schedule::NodePtr& node, int needed = 0) const;
  /// Text of an expression as a vector of all lanes.
  std::string vector(const schedule::NodePtr& node) const;
  /// Text of an expression for the lane `l_`, from the definitions of variables: loading single entries of index tables
  /// is cheaper than taking a vector apart.
  std::string of_lane(const schedule::NodePtr& node) const;

  /// The expression y when the index is y * lanes + lane, which is vector y of an array.
  std::optional<std::string> whole(const schedule::NodePtr& index) const;
  /// The expression y when the index is y * lanes + lane and y is no number, else null.
  schedule::NodePtr whole_entry(const schedule::NodePtr& index) const;
  /// The expression x when the index is x + lane.
  std::optional<std::string> contiguous(const schedule::NodePtr& index) const;
  /// Address of the value of lane 0, when the values of all lanes follow each other in a table.
  std::optional<std::string> table_of_lanes(const schedule::NodePtr& node) const;
  /// Positions of all lanes that follow each other in a table, but for a number that is added to all of them: the
  /// address of that of lane 0, and the number.
  struct Positions {
    std::string table, shift;
  };
  std::optional<Positions> positions(const schedule::NodePtr& node) const;

private:
  std::string operand_of_vectors(const schedule::NodePtr& node) const;

  int vector_width_;
  const Spelling& spelling_;
  std::map<std::string, schedule::NodePtr> definitions_; ///< definitions of variables with one value per lane
};

} // namespace rafter::emit
