// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/jacobi_forecast.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <set>
#include <vector>

#include <rafter/element/quadrature.hpp>
#include <rafter/mesh/bounding_box.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/operator/generate/domain.hpp>
#include <rafter/operator/generate/sampled_integrand.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::problem {
namespace {

constexpr std::size_t max_dim = op::most_axes;
using op::Pairing;
using Point = std::array<double, max_dim>;
using Matrix = std::array<Point, max_dim>;

/// Integrals of the squares of all basis functions, and of their derivatives along each reference axis, over the
/// volume of the reference cell: the traces of its matrices.
struct ReferenceTraces {
  double values = 0;
  Matrix derivatives{};
};

ReferenceTraces reference_traces(const element::Element& element) {
  ReferenceTraces result;
  const auto shape = element.shape();
  const auto dim = static_cast<std::size_t>(element::dimension(shape));
  const bool is_tensor = element.has_tensor_factors();
  const auto rule = element::make_quadrature(is_tensor ? element::Shape::interval : shape,
                                             std::min(2 * element.degree(), element::max_quadrature_degree));
  const auto table = is_tensor ? element.tabulate_1d(0, rule.points) : element.tabulate(rule.points);
  double values = 0;
  Matrix derivatives{};
  const double volume = std::accumulate(rule.weights.begin(), rule.weights.end(), 0.0);
  for (int q = 0; q < rule.num_points(); ++q)
    for (int i = 0; i < table.num_dofs; ++i) {
      const double weight = rule.weights[static_cast<std::size_t>(q)] / volume;
      values += weight * table(0, q, i) * table(0, q, i);
      for (int a = 0; a < table.dim; ++a)
        for (int b = 0; b < table.dim; ++b)
          derivatives[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] +=
              weight * table(a + 1, q, i) * table(b + 1, q, i);
    }
  if (!is_tensor) return {values, derivatives};
  // Functions are products; those along one axis integrate to 0 with their own derivatives, together.
  result.values = std::pow(values, dim);
  for (std::size_t a = 0; a < dim; ++a)
    result.derivatives[a][a] = derivatives[0][0] * std::pow(values, static_cast<double>(dim) - 1);
  return result;
}

/// Areas of a facet of straight sides, seen along each axis.
Point seen_areas(const mesh::Mesh& mesh, const mesh::FacetRef& facet) {
  const auto shape = mesh.groups[static_cast<std::size_t>(facet.group)].shape;
  const auto points = mesh::cell_vertex_coordinates(mesh, facet.group, facet.cell);
  const auto vertices = element::entity_vertices(shape, mesh.tdim - 1, facet.facet);
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  if (dim == 1) return {1, 0, 0};
  const auto edge = [&](std::size_t from, std::size_t to) {
    Point result{};
    for (std::size_t d = 0; d < dim; ++d)
      result[d] = points[static_cast<std::size_t>(vertices[to]) * dim + d] -
                  points[static_cast<std::size_t>(vertices[from]) * dim + d];
    return result;
  };
  const auto u = edge(0, 1);
  if (dim == 2) return {std::abs(u[1]), std::abs(u[0]), 0};
  const auto v = edge(0, 2); // a quadrilateral has twice the area of this triangle
  const double scale = vertices.size() == 4 ? 1 : 0.5;
  return {scale * std::abs(u[1] * v[2] - u[2] * v[1]), scale * std::abs(u[2] * v[0] - u[0] * v[2]),
          scale * std::abs(u[0] * v[1] - u[1] * v[0])};
}

/// The boundary of a mesh by its tags: the areas of the facets, seen along each axis.
class Sides {
public:
  explicit Sides(const mesh::Mesh& mesh) {
    const auto& surface = mesh.surface();
    for (std::size_t f = 0; f < surface.exterior_facets.size(); ++f) {
      const auto areas = seen_areas(mesh, surface.exterior_facets[f]);
      auto& of_tag = areas_[surface.exterior_tags[f]];
      for (std::size_t d = 0; d < max_dim; ++d) of_tag[d] += areas[d];
    }
  }
  /// Number of ends of each axis with these tags: 0, 1 or 2.
  template <class HasTag> std::array<int, max_dim> num_ends(const HasTag& has_tag) const {
    Point held{}, all{};
    for (const auto& [tag, areas] : areas_)
      for (std::size_t d = 0; d < max_dim; ++d) {
        all[d] += areas[d];
        if (has_tag(tag)) held[d] += areas[d];
      }
    std::array<int, max_dim> result{};
    for (std::size_t d = 0; d < max_dim; ++d)
      if (all[d] > 0) result[d] = static_cast<int>(std::lround(2 * held[d] / all[d]));
    return result;
  }

private:
  std::map<std::int32_t, Point> areas_;
};

/// Tags of the boundary where something holds a component: conditions, and integrals over the boundary.
class HeldTags {
public:
  HeldTags(const mesh::Mesh& mesh, const form::LoweredForm& form) : mesh_(mesh) {
    for (const auto& integral : form.integrals)
      if (integral.measure.kind == form::MeasureKind::exterior_facet) add(op::measure_tags(mesh, integral.measure));
  }
  void add(const op::FieldCondition& condition) {
    const auto& tags = condition.condition.tags;
    add(condition.condition.is_all ? std::vector<std::int32_t>{} : mesh_.tags_of_groups(tags, mesh_.tdim - 1));
  }
  bool operator()(std::int32_t tag) const { return is_all_ || tags_.contains(tag); }

private:
  /// Without tags: the whole boundary.
  void add(const std::vector<std::int32_t>& tags) {
    is_all_ = is_all_ || tags.empty();
    tags_.insert(tags.begin(), tags.end());
  }
  const mesh::Mesh& mesh_;
  std::set<std::int32_t> tags_;
  bool is_all_ = false;
};

/// The lowest mode of a box: a product of functions along its axes.
class LowestMode {
public:
  /// Where no end is fixed it is half a wave along the longest axis: conjugate gradients find the constant, which may
  /// be lower, by itself.
  LowestMode(const mesh::BoundingBox& box, std::array<int, max_dim> fixed_ends, std::size_t dim) : box_(box) {
    for (std::size_t d = 0; d < dim; ++d)
      if (fixed_ends[d] > 0) waves_[d] = {0.5 * fixed_ends[d], 0};
    if (std::ranges::any_of(fixed_ends, [](int ends) { return ends > 0; })) return;
    std::size_t longest = 0;
    for (std::size_t d = 1; d < dim; ++d)
      if (box.length(d) > box.length(longest)) longest = d;
    waves_[longest] = {1, 0.5};
  }
  /// Its value, then its derivatives, at a point.
  std::array<double, 1 + max_dim> operator()(const Point& x) const {
    std::array<double, 1 + max_dim> result{1, 1, 1, 1};
    for (std::size_t d = 0; d < max_dim; ++d) {
      const auto& [half_waves, shift] = waves_[d];
      const double factor = half_waves > 0 ? half_waves * std::numbers::pi / box_.length(d) : 0;
      const double phase = factor * (x[d] - box_.low[d]) + shift * std::numbers::pi;
      const double value = factor > 0 ? std::sin(phase) : 1;
      for (std::size_t i = 0; i <= max_dim; ++i) result[i] *= i == d + 1 ? factor * std::cos(phase) : value;
    }
    return result;
  }

private:
  struct Wave {
    double half_waves = 0, shift = 0; ///< both in halves of a wave: sin(pi (half_waves t + shift)) for t from 0 to 1
  };
  mesh::BoundingBox box_;
  std::array<Wave, max_dim> waves_{};
};

/// A sampled cell: its midpoint, its map there, and the volume of all cells that it stands for.
struct Sample {
  Point x{};
  Matrix inverse{}; ///< inverse[a][d]: derivative of reference coordinate a along x_d
  double volume = 0;
  std::int32_t tag = 0;
  const ReferenceTraces* traces = nullptr;
};

/// The inverse of the leading `dim` rows and columns; the determinant is returned.
double invert(const Matrix& m, std::size_t dim, Matrix& inverse) {
  if (dim == 1) {
    inverse[0][0] = 1 / m[0][0];
    return m[0][0];
  }
  if (dim == 2) {
    const double det = m[0][0] * m[1][1] - m[0][1] * m[1][0];
    inverse[0] = {m[1][1] / det, -m[0][1] / det, 0};
    inverse[1] = {-m[1][0] / det, m[0][0] / det, 0};
    return det;
  }
  const auto cofactor = [&m](std::size_t i, std::size_t j) {
    const auto a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
    return m[a][c] * m[b][d] - m[a][d] * m[b][c];
  };
  const double det = m[0][0] * cofactor(0, 0) + m[0][1] * cofactor(0, 1) + m[0][2] * cofactor(0, 2);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) inverse[j][i] = cofactor(i, j) / det;
  return det;
}

void add_samples(const mesh::Mesh& mesh, std::int32_t group_number, const ReferenceTraces& traces,
                 std::int32_t num_samples, std::vector<Sample>& samples) {
  const auto& group = mesh.groups[static_cast<std::size_t>(group_number)];
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  const auto straight = element::make_element(element::Family::lagrange, group.shape, 1);
  std::vector<double> midpoint(dim, 0.0);
  const auto num_nodes = static_cast<std::size_t>(straight->num_dofs());
  for (std::size_t i = 0; i < num_nodes * dim; ++i)
    midpoint[i % dim] += straight->nodes()[i] / static_cast<double>(num_nodes);
  const auto table = straight->tabulate(midpoint);
  const auto cells = op::sampled_cells(group.num_cells(), num_samples);
  const double share = static_cast<double>(group.num_cells()) / std::max(1.0, static_cast<double>(cells.size()));
  for (const auto cell : cells) {
    const auto points = mesh::cell_vertex_coordinates(mesh, group_number, cell);
    Sample sample{.tag = group.tags[static_cast<std::size_t>(cell)], .traces = &traces};
    Matrix jacobian{};
    for (std::size_t i = 0; i < num_nodes; ++i)
      for (std::size_t d = 0; d < dim; ++d) {
        const double x = points[i * dim + d];
        sample.x[d] += table(0, 0, static_cast<int>(i)) * x;
        for (std::size_t a = 0; a < dim; ++a)
          jacobian[d][a] += table(static_cast<int>(a) + 1, 0, static_cast<int>(i)) * x;
      }
    sample.volume = std::abs(invert(jacobian, dim, sample.inverse)) * element::reference_volume(group.shape) * share;
    samples.push_back(sample);
  }
}

Pairing laplacian(std::size_t dim) {
  Pairing result{};
  for (std::size_t d = 1; d <= dim; ++d) result[d][d] = 1;
  return result;
}

/// Rayleigh quotient of D^-1 A at a mode, from the integrand at each sample; 0 where D is not positive.
double rayleigh_quotient(const std::vector<Sample>& samples, const std::vector<Pairing>& pairings,
                         const LowestMode& mode, std::size_t dim) {
  double energy = 0, diagonal = 0;
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const auto& sample = samples[s];
    const auto& pairing = pairings[s];
    const auto w = mode(sample.x);
    double density = 0, trace = pairing[0][0] * sample.traces->values;
    for (std::size_t i = 0; i <= dim; ++i)
      for (std::size_t j = 0; j <= dim; ++j) density += w[i] * pairing[i][j] * w[j];
    for (std::size_t d = 0; d < dim; ++d)
      for (std::size_t e = 0; e < dim; ++e)
        for (std::size_t a = 0; a < dim; ++a)
          for (std::size_t b = 0; b < dim; ++b)
            trace +=
                pairing[d + 1][e + 1] * sample.inverse[a][d] * sample.inverse[b][e] * sample.traces->derivatives[a][b];
    energy += sample.volume * density;
    diagonal += sample.volume * trace * w[0] * w[0];
  }
  return diagonal > 0 ? energy / diagonal : 0;
}

} // namespace

double expected_jacobi_iterations(const form::LoweredForm& form, const op::System& system,
                                  std::span<const op::FieldCondition> conditions,
                                  std::span<const std::pair<std::string, double>> parameters, double rtol) {
  const auto& mesh = *system.mesh;
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  const auto box = mesh::bounding_box(mesh);
  const Sides sides(mesh);
  op::SampledIntegrand integrand(form, system, parameters);
  // Long integrands, as those of tangents, are evaluated at fewer points, so that all take milliseconds.
  constexpr std::size_t most_nodes = 50'000, fewest = 50, most = 500;
  const auto num_samples = static_cast<std::int32_t>(std::clamp(most_nodes / integrand.num_nodes(), fewest, most));
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t f = 0; f < system.spaces.size(); ++f) {
    const auto& space = *system.spaces[f];
    std::vector<ReferenceTraces> traces;
    for (const auto& group : mesh.groups) traces.push_back(reference_traces(*space.element(group.shape)));
    std::vector<Sample> samples;
    for (std::size_t g = 0; g < mesh.groups.size(); ++g)
      add_samples(mesh, static_cast<std::int32_t>(g), traces[g], num_samples, samples);
    for (int c = 0; c < space.num_components(); ++c) {
      HeldTags held(mesh, form);
      for (const auto& condition : conditions) {
        const auto& components = condition.condition.components;
        if (condition.space == system.spaces[f] && (components.empty() || std::ranges::count(components, c) > 0))
          held.add(condition);
      }
      const LowestMode mode(box, sides.num_ends(held), dim);
      std::vector<Pairing> pairings;
      for (const auto& sample : samples) pairings.push_back(integrand(sample.x, sample.tag, f, c));
      double found = rayleigh_quotient(samples, pairings, mode, dim);
      if (!(found > 0) || !std::isfinite(found)) {
        pairings.assign(samples.size(), laplacian(dim));
        found = rayleigh_quotient(samples, pairings, mode, dim);
      }
      least = std::min(least, found);
    }
  }
  const bool is_tensor = std::ranges::all_of(mesh.groups, [](const auto& g) { return element::is_tensor(g.shape); });
  return std::sqrt((is_tensor ? 0.19 : 0.28) / least) * std::log(2 / std::clamp(rtol, 1e-16, 0.1));
}

} // namespace rafter::problem
