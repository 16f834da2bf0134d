// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <set>
#include <string>

#include <rafter/emit/constants.hpp>
#include <rafter/emit/integer_writer.hpp>
#include <rafter/emit/operations.hpp>
#include <rafter/emit/part_pointers.hpp>

namespace rafter::emit {

/// Writes the real expressions of a loop program as text.
class RealWriter {
public:
  /// `helpers` receives the definitions of the functions that expressions call.
  RealWriter(const schedule::LoopProgram& program, const Spelling& spelling, const IntegerWriter& integers,
             Helpers& helpers);

  /// Says whether the expression has one value per lane.
  bool is_vector(const schedule::NodePtr& node) const;
  /// Name of the type of an expression.
  std::string type_name(const schedule::NodePtr& node) const;
  /// Text of an expression; `needed` is the strength that its place needs (see enclosed()).
  std::string text(const schedule::NodePtr& node, int needed = 0);
  /// Text of an expression as a vector, also where all lanes have the same value.
  std::string vector(const schedule::NodePtr& node);
  /// Text of the buffer as an array of numbers.
  std::string numbers_of(const schedule::LoopBuffer& buffer) const;
  /// Pointers to the parts of tables that expressions read.
  const PartPointers& part_pointers() const { return part_pointers_; }
  /// Definitions of the tables of numbers that expressions use.
  std::vector<schedule::LoopBuffer> literal_tables() const { return literals_.tables(); }

private:
  void find_vectors(const schedule::NodePtr& node);
  std::string load(const schedule::Node& node) const;
  std::string lane_loads(const schedule::Node& node, const schedule::LoopBuffer& buffer) const;
  std::string operation(const schedule::Node& node, int needed);
  std::string call(const schedule::Node& node);

  const schedule::LoopProgram& program_;
  const Spelling& spelling_;
  const IntegerWriter& integers_;
  Helpers& helpers_;
  Operations operations_;
  Literals literals_;
  PartPointers part_pointers_;
  std::set<std::string> vectors_; ///< registers with one value per lane
};

} // namespace rafter::emit
