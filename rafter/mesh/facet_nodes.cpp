// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/facet_nodes.hpp>

#include <algorithm>
#include <cmath>

namespace rafter::mesh {

double distance(const Point& a, const Point& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

int FacetNodes::common_degree(const FacetRef& a, const FacetRef& b) const {
  return std::max(mesh_.groups[static_cast<std::size_t>(a.group)].degree,
                  mesh_.groups[static_cast<std::size_t>(b.group)].degree);
}

std::vector<Point> FacetNodes::operator()(const FacetRef& facet, int degree) {
  const auto g = static_cast<std::size_t>(facet.group), dim = static_cast<std::size_t>(mesh_.gdim);
  const auto& group = mesh_.groups[g];
  auto place = placements_.find({g, degree});
  if (place == placements_.end())
    place =
        placements_.emplace(std::pair(g, degree), PointPlacement(group.shape, group.degree, lagrange_points(degree)))
            .first;
  const auto dofs =
      element::make_element(element::Family::lagrange, group.shape, degree)->closure_dofs(mesh_.tdim - 1, facet.facet);
  std::vector<double> x(dofs.size() * dim);
  place->second.place(cell_geometry(mesh_, g, static_cast<std::size_t>(facet.cell)), dofs, x);
  std::vector<Point> result(dofs.size(), Point{});
  for (std::size_t i = 0; i < x.size(); ++i) result[i / dim][i % dim] = x[i];
  return result;
}

} // namespace rafter::mesh
