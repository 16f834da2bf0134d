// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/printer.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <rafter/form/form.hpp>

namespace rafter::form {

namespace {

/// Strength with which an operator binds its operands, as in Python: -a*b is (-a)*b, -a**b is -(a**b).
enum Precedence { sum_level = 1, product_level, unary_level, power_level, primary_level };

Precedence precedence(const ExprNode& node) {
  switch (node.kind) {
  case NodeKind::add:
  case NodeKind::sub:
    return sum_level;
  case NodeKind::mul:
  case NodeKind::div:
    return product_level;
  case NodeKind::neg:
    return unary_level;
  case NodeKind::literal:
    return node.value < 0 ? unary_level : primary_level;
  case NodeKind::pow:
    return power_level;
  default:
    return primary_level;
  }
}

class Printer {
public:
  explicit Printer(std::size_t max_length) : max_length_(max_length) {}

  void write(const ExprNode& node, Precedence at_least) {
    if (is_full()) return;
    const bool has_brackets = precedence(node) < at_least;
    if (has_brackets) text_ += '(';
    write_bare(node);
    if (has_brackets) text_ += ')';
  }
  void write(std::string_view text) { text_ += text; }
  bool is_full() const { return text_.size() > max_length_; }

  std::string take() {
    if (is_full()) text_ = text_.substr(0, max_length_) + "...";
    return std::move(text_);
  }

private:
  void write_infix(const ExprNode& node, Precedence left, std::string_view symbol, Precedence right) {
    write(node.operands[0].node(), left);
    text_ += symbol;
    write(node.operands[1].node(), right);
  }

  void write_operands(const ExprNode& node) {
    for (std::size_t i = 0; i < node.operands.size() && !is_full(); ++i) {
      if (i > 0) text_ += ", ";
      const ExprNode& operand = node.operands[i].node();
      // the rows of a matrix are written as plain lists
      if (node.kind == NodeKind::list && operand.kind == NodeKind::list)
        write_list(operand);
      else
        write(operand, sum_level);
    }
  }

  void write_list(const ExprNode& node) {
    text_ += '[';
    write_operands(node);
    text_ += ']';
  }

  void write_number(double value) {
    if (value == std::numbers::pi)
      text_ += "pi";
    else if (value == -std::numbers::pi)
      text_ += "-pi";
    else
      text_ += fmt::format("{}", value);
  }

  void write_component(const ExprNode& node) {
    write(node.operands[0].node(), primary_level);
    std::size_t count = node.indices.size();
    while (count > 1 && node.indices[count - 1] < 0) --count; // axes at the end that are kept need no ':'
    text_ += '[';
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) text_ += ", ";
      text_ += node.indices[i] < 0 ? ":" : fmt::format("{}", node.indices[i]);
    }
    text_ += ']';
  }

  void write_bare(const ExprNode& node) {
    switch (node.kind) {
    case NodeKind::literal:
      return write_number(node.value);
    case NodeKind::coefficient:
    case NodeKind::field:
    case NodeKind::argument:
      text_ += node.name;
      return;
    case NodeKind::coordinate:
    case NodeKind::normal:
      text_ += info(node.kind).name;
      return;
    case NodeKind::identity:
      text_ += fmt::format("Identity({})", node.indices[0]);
      return;
    case NodeKind::component:
      return write_component(node);
    case NodeKind::add:
      return write_infix(node, sum_level, " + ", product_level);
    case NodeKind::sub:
      return write_infix(node, sum_level, " - ", product_level);
    case NodeKind::mul:
      return write_infix(node, product_level, "*", unary_level);
    case NodeKind::div:
      return write_infix(node, product_level, "/", unary_level);
    case NodeKind::pow:
      return write_infix(node, primary_level, "**", unary_level);
    case NodeKind::neg:
      text_ += '-';
      return write(node.operands[0].node(), unary_level);
    default:
      return write_call(node);
    }
  }

  void write_call(const ExprNode& node) {
    if (node.kind == NodeKind::list) {
      const int rank = node.operands.empty() ? 1 : node.operands[0].rank() + 1;
      text_ += rank == 1 ? "as_vector(" : rank == 2 ? "as_matrix(" : "as_tensor(";
      write_list(node);
    } else {
      text_ += info(node.kind).name;
      text_ += '(';
      write_operands(node);
    }
    text_ += ')';
  }

  std::size_t max_length_;
  std::string text_;
};

constexpr std::size_t summary_length = 80;

std::string tag_text(const std::string& tag) {
  const bool is_number =
      !tag.empty() && std::all_of(tag.begin(), tag.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? tag : fmt::format("\"{}\"", tag);
}

} // namespace

std::string to_text(const Expr& e, std::size_t max_length) {
  Printer printer(max_length);
  printer.write(e.node(), sum_level);
  return printer.take();
}

std::string to_text(const Measure& measure) {
  std::vector<std::string> parts;
  if (measure.tags.size() == 1) parts.push_back(tag_text(measure.tags[0]));
  if (measure.tags.size() > 1) {
    std::vector<std::string> tags;
    for (const auto& tag : measure.tags) tags.push_back(tag_text(tag));
    parts.push_back(fmt::format("({})", fmt::join(tags, ", ")));
  }
  if (measure.degree >= 0) parts.push_back(fmt::format("degree={}", measure.degree));
  const std::string name = measure.kind == MeasureKind::cell ? "dx" : "ds";
  return parts.empty() ? name : fmt::format("{}({})", name, fmt::join(parts, ", "));
}

std::string to_text(const Form& form, std::size_t max_length) {
  Printer printer(max_length);
  bool is_first = true;
  for (const auto& integral : form.integrals()) {
    if (!is_first) printer.write(" + ");
    is_first = false;
    printer.write(integral.integrand.node(), product_level);
    printer.write("*");
    printer.write(to_text(integral.measure));
  }
  return printer.take();
}

std::string summary(const Expr& e) { return summary(e.node()); }

std::string summary(const ExprNode& node) {
  Printer printer(summary_length);
  printer.write(node, sum_level);
  return printer.take();
}

} // namespace rafter::form
