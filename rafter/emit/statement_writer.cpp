// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/emit/statement_writer.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/emit/run_moves.hpp>
#include <rafter/schedule/counts.hpp>

namespace rafter::emit {

using schedule::Kind;
using schedule::LoopStyle;
using schedule::NodePtr;

namespace {

/// Number of statements where all loops of constant length are unrolled; `most` where that is more, or a loop has no
/// constant length.
std::int64_t unrolled_size(const schedule::Node& node, std::int64_t most) {
  std::int64_t size = 0;
  switch (node.kind) {
  case Kind::block:
  case Kind::branch: // the condition counts as one
    for (const auto& operand : node.operands) size = std::min(most, size + unrolled_size(*operand, most));
    return size;
  case Kind::loop:
    if (node.operands[0]->kind != Kind::integer) return most;
    for (std::int64_t i = 0, of_body = unrolled_size(*node.operands[1], most);
         i < node.operands[0]->integer && size < most; ++i)
      size = std::min(most, size + of_body);
    return size;
  default:
    return 1;
  }
}

} // namespace

StatementWriter::StatementWriter(const schedule::LoopProgram& program, const Spelling& spelling, Helpers& helpers)
    : program_(program), spelling_(spelling), helpers_(helpers), integers_(program.vector_width, spelling),
      reals_(program, spelling, integers_, helpers) {}

std::string StatementWriter::text(const NodePtr& node, int depth) {
  const std::string indent(static_cast<std::size_t>(depth), ' ');
  switch (node->kind) {
  case Kind::block:
    return block(node->operands, depth);
  case Kind::loop:
    return loop(*node, depth);
  case Kind::ilet:
    return indent + integer_declaration(*node) + reals_.part_pointers().definitions(node->name, indent, spelling_);
  case Kind::branch:
    return branch(*node, depth);
  case Kind::store:
  case Kind::add:
    return indent + write(*node);
  case Kind::barrier:
    return fmt::format("{}{};\n", indent, spelling_.groups.barrier);
  case Kind::prefetch:
    if (spelling_.prefetch == nullptr) return "";
    return fmt::format(
        "{}{};\n", indent,
        spelling_.prefetch(node->name + " + " + integers_.scalar(node->operands[0], 1), node->is_nearest));
  default:
    throw base::InternalError("emitter: not a statement");
  }
}

std::string StatementWriter::block(const Nodes& statements, int depth) {
  const std::string indent(static_cast<std::size_t>(depth), ' ');
  std::string result;
  for (std::size_t i = 0; i < statements.size();)
    result += statements[i]->kind == Kind::let ? declarations(statements, i, indent) : text(statements[i++], depth);
  return result;
}

/// Text of successive lets of one type, from statement `i` on, as one declaration; moves `i` behind them.
std::string StatementWriter::declarations(const Nodes& statements, std::size_t& i, const std::string& indent) {
  const std::string type = reals_.type_name(statements[i]->operands[0]);
  std::string result = indent + "const " + type + " ";
  for (const std::size_t first = i; i < statements.size() && statements[i]->kind == Kind::let &&
                                    reals_.type_name(statements[i]->operands[0]) == type;
       ++i)
    result += fmt::format("{}{} = {}", i == first ? "" : ",\n" + indent, statements[i]->name,
                          reals_.text(statements[i]->operands[0]));
  return result + ";\n";
}

std::string StatementWriter::integer_declaration(const schedule::Node& node) {
  const auto& value = node.operands[0];
  if (!value->has_lane) return fmt::format("const long {} = {};\n", node.name, integers_.scalar(value));
  integers_.define(node.name, value);
  return fmt::format("const ivec {} = {};\n", node.name, integers_.vector(value));
}

std::string StatementWriter::branch(const schedule::Node& node, int depth) {
  const std::string indent(static_cast<std::size_t>(depth), ' ');
  // Both branches are written in their order, because literals are numbered in the order of the text.
  const std::string first = text(node.operands[1], depth + 1);
  const std::string second = text(node.operands[2], depth + 1);
  return fmt::format("{0}if ({1}) {{\n{2}{0}}} else {{\n{3}{0}}}\n", indent, integers_.scalar(node.operands[0]), first,
                     second);
}

bool StatementWriter::stays_rolled(const schedule::Node& loop) const {
  const auto& rolled = spelling_.rolled_loops;
  return rolled.line != nullptr && schedule::work_bytes(program_) > rolled.register_bytes &&
         unrolled_size(loop, rolled.most_statements + 1) > rolled.most_statements;
}

std::string StatementWriter::loop(const schedule::Node& node, int depth) {
  const std::string indent(static_cast<std::size_t>(depth), ' ');
  if (node.style == LoopStyle::run)
    if (const auto move = run_move(program_, node, spelling_, integers_, reals_, helpers_)) return indent + *move;
  if (node.style != LoopStyle::unrolled)
    return fmt::format("{4}{0}for (long {1} = 0; {1} < {2}; ++{1}) {{\n{3}{0}}}\n", indent, node.name,
                       integers_.scalar(node.operands[0], 1), text(node.operands[1], depth + 1),
                       stays_rolled(node) ? spelling_.rolled_loops.line : "");
  std::string result;
  for (std::int64_t i = 0; i < node.operands[0]->integer; ++i)
    result +=
        fmt::format("{0}{{ const long {1} = {2};\n{3}{0}}}\n", indent, node.name, i, text(node.operands[1], depth + 1));
  return result;
}

std::string StatementWriter::write(const schedule::Node& node) {
  const auto& index = node.operands[0];
  const char* assignment = node.kind == Kind::add ? "+=" : "=";
  if (index->has_lane) return write_vector(node, assignment);
  if (node.is_atomic)
    return atomic_add(*program_.find(node.name), integers_.scalar(index, 1), reals_.text(node.operands[1]));
  return fmt::format("{}[{}] {} {};\n", reals_.numbers_of(*program_.find(node.name)), integers_.scalar(index),
                     assignment, reals_.text(node.operands[1]));
}

std::string StatementWriter::atomic_add(const schedule::LoopBuffer& buffer, const std::string& index,
                                        const std::string& value) {
  const std::string name = fmt::format("{}atomic_add_{}", spelling_.names(buffer.type).initial,
                                       buffer.space == schedule::Space::shared ? "shared" : "global");
  helpers_[name] = spelling_.groups.atomic_add(name, buffer.space, buffer.type);
  return fmt::format("{}({} + {}, {});\n", name, buffer.name, index, value);
}

std::string StatementWriter::write_vector(const schedule::Node& node, const char* assignment) {
  const auto& index = node.operands[0];
  const auto& buffer = *program_.find(node.name);
  const auto& vectors = spelling_.vectors;
  const bool is_partial = node.operands.size() > 2;
  const std::string value = reals_.vector(node.operands[1]);
  if (node.is_streaming) {
    helpers_["stream"] = spelling_.stream(program_.vector_width, buffer.type);
    return fmt::format("stream({} + {}, {});\n", node.name, integers_.contiguous(index).value(), value);
  }
  if (!is_partial && !node.is_atomic) {
    if (const auto y = integers_.whole(index))
      return (buffer.is_lane ? fmt::format("{}[{}] {} {}", node.name, *y, assignment, value)
                             : vectors.store_whole(node.name, *y, assignment, value, buffer.type)) +
             ";\n";
    if (const auto x = integers_.contiguous(index))
      return vectors.store(fmt::format("{} + {}", reals_.numbers_of(buffer), *x), assignment, value, buffer.type) +
             ";\n";
  }
  const std::string number = vectors.lane("v_", "l_", buffer.type);
  const std::string of_lane = node.is_atomic ? atomic_add(buffer, integers_.of_lane(index), number)
                                             : fmt::format("{}[{}] {} {};\n", reals_.numbers_of(buffer),
                                                           integers_.of_lane(index), assignment, number);
  return fmt::format("{{ const {} v_ = {}; for (long l_ = 0; l_ < {}; ++l_) {} }}\n",
                     spelling_.names(buffer.type).vector, value,
                     is_partial ? integers_.scalar(node.operands[2], 3) : "LANES",
                     std::string_view(of_lane).substr(0, of_lane.size() - 1));
}

} // namespace rafter::emit
