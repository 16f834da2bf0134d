// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/element/projection.hpp>
#include <rafter/element/quadrature.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/space/expression_evaluator.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::space {
namespace {

/// Sums the values that cells have at their nodes, weighted by the volumes of the cells.
class NodeSums {
public:
  explicit NodeSums(const FunctionSpace& space)
      : space_(space), sums_(static_cast<std::size_t>(space.num_local())), volumes_(sums_.size()) {}

  void add_group(std::int32_t group, const ExpressionEvaluator& evaluator, const element::Quadrature& rule) {
    const auto& cells = space_.mesh().groups[static_cast<std::size_t>(group)];
    const auto element = space_.element(cells.shape);
    const auto matrix = element::projection_matrix(cells.shape, element->degree(), rule, element->nodes());
    const auto num_nodes = static_cast<std::size_t>(element->num_dofs()), num_points = rule.weights.size();
    std::vector<std::int32_t> entries(num_nodes * static_cast<std::size_t>(space_.num_components()));
    for (std::int32_t cell = 0; cell < cells.num_cells(); ++cell) {
      const auto values = evaluator.values(cell), measures = evaluator.measures(cell);
      require_finite(values, evaluator, cell);
      double volume = 0;
      for (std::size_t q = 0; q < num_points; ++q) volume += rule.weights[q] * measures[q];
      const auto position = space_.position(group, cell);
      space_.cell_dofs(position.block, position.batch, position.cell, entries);
      for (std::size_t i = 0; i < entries.size(); ++i) {
        double value = 0;
        for (std::size_t q = 0; q < num_points; ++q)
          value += matrix[q * num_nodes + i % num_nodes] * values[i / num_nodes * num_points + q];
        sums_[static_cast<std::size_t>(entries[i])] += volume * value;
        volumes_[static_cast<std::size_t>(entries[i])] += volume;
      }
    }
  }

  void write_means(std::span<double> vector) const {
    for (std::size_t i = 0; i < vector.size(); ++i) vector[i] = sums_[i] / volumes_[i];
  }

private:
  void require_finite(std::span<const double> values, const ExpressionEvaluator& evaluator, std::int32_t cell) const {
    const auto gdim = static_cast<std::size_t>(space_.gdim);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!std::isfinite(values[i])) {
        const auto x = evaluator.points(cell);
        const auto point = i % static_cast<std::size_t>(evaluator.num_points());
        throw base::InputError(
            fmt::format("its value is {} at x = {}: check for divisions by zero, roots and logarithms",
                        base::number_text(values[i]), mesh::describe_point(std::span(x).subspan(point * gdim, gdim))));
      }
  }

  const FunctionSpace& space_;
  std::vector<double> sums_, volumes_; ///< shape (entry)
};

} // namespace

void project(const FunctionSpace& space, const std::shared_ptr<const form::LoweredExpression>& expression,
             std::span<const FieldValues> fields, std::span<double> vector) {
  if (expression->components.size() != static_cast<std::size_t>(space.num_components()))
    throw base::InputError(fmt::format("projection onto field '{}': the expression has {} components, the field {}",
                                       space.name, expression->components.size(), space.num_components()));
  if (vector.size() != static_cast<std::size_t>(space.num_local()))
    throw base::InputError(fmt::format("projection onto field '{}': the vector has {} entries, the space {}",
                                       space.name, vector.size(), space.num_local()));
  NodeSums sums(space);
  for (std::int32_t g = 0; g < static_cast<std::int32_t>(space.mesh().groups.size()); ++g) {
    const auto rule =
        element::make_quadrature(space.mesh().groups[static_cast<std::size_t>(g)].shape, 2 * space.degree + 1);
    sums.add_group(g, ExpressionEvaluator(expression, fields, g, rule.points), rule);
  }
  sums.write_means(vector);
}

} // namespace rafter::space
