// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include <rafter/emit/integer_writer.hpp>
#include <rafter/emit/operations.hpp>
#include <rafter/emit/real_writer.hpp>

namespace rafter::emit {

/// Writes the statements of a loop program as text.
class StatementWriter {
public:
  /// `helpers` receives the definitions of the functions that statements call.
  StatementWriter(const schedule::LoopProgram& program, const Spelling& spelling, Helpers& helpers);

  /// Text of a statement, with every line indented by `depth` blanks.
  std::string text(const schedule::NodePtr& node, int depth);
  /// Definitions of the tables of numbers that the statements use.
  std::vector<schedule::LoopBuffer> literal_tables() const { return reals_.literal_tables(); }

private:
  using Nodes = std::vector<schedule::NodePtr>;
  std::string block(const Nodes& statements, int depth);
  std::string declarations(const Nodes& statements, std::size_t& i, const std::string& indent);
  std::string integer_declaration(const schedule::Node& node);
  std::string branch(const schedule::Node& node, int depth);
  std::string loop(const schedule::Node& node, int depth);
  bool stays_rolled(const schedule::Node& loop) const;
  std::string write(const schedule::Node& node);
  std::string atomic_add(const schedule::LoopBuffer& buffer, const std::string& index, const std::string& value);
  std::string write_vector(const schedule::Node& node, const char* assignment);

  const schedule::LoopProgram& program_;
  const Spelling& spelling_;
  Helpers& helpers_;
  IntegerWriter integers_;
  RealWriter reals_;
};

} // namespace rafter::emit
