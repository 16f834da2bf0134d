// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/space/expression_evaluator.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/mesh/tag_uses.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::space {
namespace {

using form::AtomKind;
using form::ScalarOp;

const FieldValues& find_field(std::span<const FieldValues> fields, const form::FieldSpace& space) {
  const auto found = std::ranges::find_if(fields, [&](const auto& field) { return field.space.get() == &space; });
  if (found == fields.end())
    throw base::InternalError(fmt::format("an expression holds field '{}', which is not given", space.name));
  return *found;
}

/// Applies an operation at all points. The commonest operations have loops of their own, which compilers vectorise.
void apply_all(ScalarOp op, std::array<const double*, 3> x, std::span<double> result) {
  const auto run = [result, a = x[0], b = x[1], c = x[2]](auto operation) {
    for (std::size_t q = 0; q < result.size(); ++q) result[q] = operation(a[q], b[q], c[q]);
  };
  if (op == ScalarOp::add) return run([](double p, double q, double) { return p + q; });
  if (op == ScalarOp::mul) return run([](double p, double q, double) { return p * q; });
  run([op](double p, double q, double r) { return form::apply(op, p, q, r); });
}

double determinant(std::span<const double> J, std::size_t dim) {
  if (dim == 1) return J[0];
  if (dim == 2) return J[0] * J[3] - J[1] * J[2];
  return J[0] * (J[4] * J[8] - J[5] * J[7]) - J[1] * (J[3] * J[8] - J[5] * J[6]) + J[2] * (J[3] * J[7] - J[4] * J[6]);
}

} // namespace

ExpressionEvaluator::ExpressionEvaluator(std::shared_ptr<const form::LoweredExpression> expression,
                                         std::span<const FieldValues> fields, std::int32_t group,
                                         std::span<const double> points)
    : expression_(std::move(expression)), geometry_(fields[0].space, group, points), mesh_(fields[0].space->mesh()),
      group_(group) {
  for (const auto& space : expression_->fields) {
    const auto& field = find_field(fields, *space);
    fields_.push_back({FieldEvaluator(field.space, group, points), field.values});
  }
  for (const auto& component : expression_->cell_coefficients) {
    auto& values = by_tag_.emplace_back(mesh_);
    for (const auto& [tag, components] : component.coefficient->by_tag) values.add(tag, components);
  }
  for (const auto id : expression_->order) {
    const auto& node = (*expression_->graph)[id];
    if (node.op != ScalarOp::atom) continue;
    if (node.atom.kind == AtomKind::coordinate) has_points_ = true;
    if (node.atom.kind != AtomKind::field) continue;
    auto& field = fields_[static_cast<std::size_t>(node.atom.a)];
    (node.atom.c < 0 ? field.has_values : field.has_gradients) = true;
  }
}

std::vector<double> ExpressionEvaluator::measures(std::int32_t cell) const {
  const auto J = geometry_.jacobians(cell);
  const auto dim = static_cast<std::size_t>(mesh_.tdim);
  std::vector<double> result;
  for (std::size_t q = 0; q < J.size(); q += dim * dim)
    result.push_back(std::abs(determinant(std::span(J).subspan(q, dim * dim), dim)));
  return result;
}

double ExpressionEvaluator::cell_coefficient(int index, std::int32_t tag) const {
  const auto& [coefficient, component] = expression_->cell_coefficients[static_cast<std::size_t>(index)];
  const auto* values = by_tag_[static_cast<std::size_t>(index)].find(tag);
  if (values == nullptr)
    throw base::InputError(fmt::format("coefficient '{}' has no value for tag {}", coefficient->name,
                                       mesh_.physical_groups.text(mesh_.tdim, tag)));
  return values->at(static_cast<std::size_t>(component));
}

void ExpressionEvaluator::fill_atom(const form::Atom& atom, const Cell& cell, std::span<double> values) const {
  const auto a = static_cast<std::size_t>(atom.a), b = static_cast<std::size_t>(atom.b);
  const auto gdim = static_cast<std::size_t>(mesh_.gdim);
  if (atom.kind == AtomKind::parameter) {
    const auto& [data, component] = expression_->parameters[a];
    std::ranges::fill(values, data->values[static_cast<std::size_t>(component)]);
  } else if (atom.kind == AtomKind::cell_coefficient) {
    std::ranges::fill(values, cell_coefficient(atom.a, cell.tag));
  } else if (atom.kind == AtomKind::coordinate) {
    for (std::size_t q = 0; q < values.size(); ++q) values[q] = cell.points[q * gdim + a];
  } else if (atom.kind == AtomKind::field) {
    const auto components = static_cast<std::size_t>(expression_->fields[a]->num_components());
    for (std::size_t q = 0; q < values.size(); ++q)
      values[q] = atom.c < 0 ? cell.values[a][q * components + b]
                             : cell.gradients[a][(q * components + b) * gdim + static_cast<std::size_t>(atom.c)];
  } else {
    throw base::InternalError("an expression at points holds " + form::to_string(atom));
  }
}

std::vector<double> ExpressionEvaluator::values(std::int32_t cell) const {
  const auto n = static_cast<std::size_t>(num_points());
  Cell data;
  data.tag = mesh_.groups[static_cast<std::size_t>(group_)].tags[static_cast<std::size_t>(cell)];
  if (has_points_) data.points = geometry_.points(cell);
  for (const auto& field : fields_) {
    data.values.push_back(field.has_values ? field.evaluator.values(field.vector, cell) : std::vector<double>{});
    data.gradients.push_back(field.has_gradients ? field.evaluator.gradients(field.vector, cell)
                                                 : std::vector<double>{});
  }
  std::vector<double> nodes(static_cast<std::size_t>(expression_->graph->size()) * n);
  const auto at = [&](form::NodeId id) { return std::span(nodes).subspan(static_cast<std::size_t>(id) * n, n); };
  const std::vector<double> zeros(n); // stand in place of operands that an operation does not have
  for (const auto id : expression_->order) {
    const auto& node = (*expression_->graph)[id];
    const auto result = at(id);
    const auto operand = [&](std::size_t i) -> const double* {
      return node.operands[i] < 0 ? zeros.data() : at(node.operands[i]).data();
    };
    if (node.op == ScalarOp::constant)
      std::ranges::fill(result, node.value);
    else if (node.op == ScalarOp::atom)
      fill_atom(node.atom, data, result);
    else
      apply_all(node.op, {operand(0), operand(1), operand(2)}, result);
  }
  std::vector<double> result;
  for (const auto id : expression_->components) result.insert(result.end(), at(id).begin(), at(id).end());
  return result;
}

} // namespace rafter::space
