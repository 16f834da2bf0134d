// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/generate/sampled_integrand.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/operator/generate/domain.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::op {

SampledIntegrand::SampledIntegrand(const form::LoweredForm& form, const System& system,
                                   std::span<const std::pair<std::string, double>> parameters)
    : form_(form), system_(system), parameters_(parameter_values(form)) {
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    if (!std::isnan(parameters_[p])) continue;
    const auto& name = form.parameters[p].coefficient->name;
    const auto given = std::ranges::find(parameters, name, &std::pair<std::string, double>::first);
    parameters_[p] = given == parameters.end() ? 1 : given->second;
  }
  for (const auto& coefficient : form.cell_coefficients) {
    auto& values = cell_values_.emplace_back(*system.mesh);
    for (const auto& [tag, components] : coefficient.coefficient->by_tag) values.add(tag, components);
  }
  for (const auto& integral : form.integrals) {
    const auto tags = measure_tags(*system.mesh, integral.measure);
    tags_.emplace_back(tags.begin(), tags.end());
    std::vector<form::NodeId> coefficients;
    for (const auto& term : integral.test_terms) coefficients.push_back(term.coefficient);
    nodes_.push_back(integral.graph->reachable(coefficients));
  }
}

std::size_t SampledIntegrand::num_nodes() const {
  std::size_t result = 1;
  for (const auto& nodes : nodes_) result += nodes.size();
  return result;
}

bool SampledIntegrand::depends_on_x() const {
  for (std::size_t i = 0; i < form_.integrals.size(); ++i) {
    const auto& graph = *form_.integrals[i].graph;
    const auto is_coordinate = [&graph](form::NodeId id) {
      return graph[id].op == form::ScalarOp::atom && graph[id].atom.kind == form::AtomKind::coordinate;
    };
    const bool is_over_cells = form_.integrals[i].measure.kind == form::MeasureKind::cell;
    if (is_over_cells && std::ranges::any_of(nodes_[i], is_coordinate)) return true;
  }
  return false;
}

Pairing SampledIntegrand::operator()(std::span<const double> x, std::int32_t tag, std::size_t field, int component) {
  Pairing result{};
  for (std::size_t i = 0; i < form_.integrals.size(); ++i) {
    const auto& integral = form_.integrals[i];
    const bool is_here = tags_[i].empty() || tags_[i].contains(tag);
    if (integral.measure.kind != form::MeasureKind::cell || !is_here) continue;
    for (int derivative = -1; derivative < system_.mesh->gdim; ++derivative) {
      evaluate(i, x, tag, {.field = field, .component = component, .derivative = derivative});
      for (const auto& term : integral.test_terms)
        if (term.component == component && index(form_.test_spaces, term.field) == field)
          result[static_cast<std::size_t>(term.derivative + 1)][static_cast<std::size_t>(derivative + 1)] +=
              values_[static_cast<std::size_t>(term.coefficient)];
    }
  }
  return result;
}

std::size_t SampledIntegrand::index(const std::vector<std::shared_ptr<const form::FieldSpace>>& spaces,
                                    int number) const {
  return system_.index_of(*spaces[static_cast<std::size_t>(number)]);
}

void SampledIntegrand::evaluate(std::size_t integral, std::span<const double> x, std::int32_t tag, const Trial& trial) {
  const auto& graph = *form_.integrals[integral].graph;
  values_.resize(static_cast<std::size_t>(graph.size()));
  const auto value = [this](form::NodeId id) { return id < 0 ? 0.0 : values_[static_cast<std::size_t>(id)]; };
  for (const auto id : nodes_[integral]) {
    const auto& node = graph[id];
    auto& result = values_[static_cast<std::size_t>(id)];
    if (node.op == form::ScalarOp::constant)
      result = node.value;
    else if (node.op == form::ScalarOp::atom)
      result = value_of(node.atom, x, tag, trial);
    else
      result = form::apply(node.op, value(node.operands[0]), value(node.operands[1]), value(node.operands[2]));
  }
}

double SampledIntegrand::value_of(const form::Atom& atom, std::span<const double> x, std::int32_t tag,
                                  const Trial& trial) const {
  const auto number = static_cast<std::size_t>(atom.a);
  switch (atom.kind) {
  case form::AtomKind::parameter:
    return parameters_[number];
  case form::AtomKind::cell_coefficient: {
    const auto* found = cell_values_[number].find(tag);
    return found == nullptr ? 0 : found->at(static_cast<std::size_t>(form_.cell_coefficients[number].component));
  }
  case form::AtomKind::coordinate:
    return x[number];
  case form::AtomKind::field:
    return atom.c < 0 ? 1 : 0;
  case form::AtomKind::trial: {
    const bool is_it =
        atom.b == trial.component && atom.c == trial.derivative && index(form_.trial_spaces, atom.a) == trial.field;
    return is_it ? 1 : 0;
  }
  default:
    return 0;
  }
}

std::vector<std::int32_t> sampled_cells(std::int32_t num_cells, std::int32_t most) {
  std::vector<std::int32_t> result(static_cast<std::size_t>(std::min(num_cells, most)));
  std::iota(result.begin(), result.end(), 0);
  if (num_cells <= most) return result;
  for (auto& cell : result) cell = static_cast<std::int32_t>(std::fmod(cell * std::numbers::phi, 1.0) * num_cells);
  return result;
}

namespace {

double size_of(const Pairing& pairing, std::size_t dim) {
  double result = 0;
  for (std::size_t d = 1; d <= dim; ++d) result += std::abs(pairing[d][d]);
  return result > 0 ? result : std::abs(pairing[0][0]);
}

/// Smallest and largest size of the coefficients of a component in a cell: at its middle, and towards each vertex.
std::pair<double, double> sizes_in_cell(SampledIntegrand& integrand, std::span<const double> vertices, std::size_t dim,
                                        std::int32_t tag, std::size_t field, int component) {
  constexpr double towards_vertex = 0.8;
  const std::size_t num_vertices = vertices.size() / dim;
  std::vector<double> middle(dim, 0.0);
  for (std::size_t i = 0; i < vertices.size(); ++i) middle[i % dim] += vertices[i] / static_cast<double>(num_vertices);
  auto x = middle;
  std::pair<double, double> result{std::numeric_limits<double>::infinity(), 0};
  for (std::size_t v = 0; v <= num_vertices; ++v) {
    const double size = size_of(integrand(x, tag, field, component), dim);
    result = {std::min(result.first, size), std::max(result.second, size)};
    if (v < num_vertices)
      for (std::size_t d = 0; d < dim; ++d) x[d] = middle[d] + towards_vertex * (vertices[v * dim + d] - middle[d]);
  }
  return result;
}

} // namespace

double largest_jump_within_cells(const form::LoweredForm& form, const System& system,
                                 std::span<const std::pair<std::string, double>> parameters) {
  SampledIntegrand integrand(form, system, parameters);
  if (!integrand.depends_on_x()) return 1;
  // Jumps reach a part of the cells alone, so that many are looked at; those of long integrands and of several
  // components are fewer. A jump that no smoother bears ends the search.
  constexpr std::size_t most_nodes = 4'000'000, points = 9, rows = 4, fewest = 50, most = 5000;
  constexpr double enough = 1e6;
  std::size_t components = 0;
  for (const auto& space : system.spaces) components += static_cast<std::size_t>(space->num_components());
  const auto num_cells = static_cast<std::int32_t>(
      std::clamp(most_nodes / (integrand.num_nodes() * points * rows * components), fewest, most));
  const auto& mesh = *system.mesh;
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  double result = 1;
  for (std::size_t g = 0; g < mesh.groups.size(); ++g)
    for (const auto cell : sampled_cells(mesh.groups[g].num_cells(), num_cells)) {
      if (result >= enough) return result;
      const auto vertices = mesh::cell_vertex_coordinates(mesh, static_cast<std::int32_t>(g), cell);
      const auto tag = mesh.groups[g].tags[static_cast<std::size_t>(cell)];
      for (std::size_t f = 0; f < system.spaces.size(); ++f)
        for (int c = 0; c < system.spaces[f]->num_components(); ++c) {
          const auto [least, largest] = sizes_in_cell(integrand, vertices, dim, tag, f, c);
          if (largest > 0 && std::isfinite(largest)) result = std::max(result, largest / least);
        }
    }
  return result;
}

} // namespace rafter::op
