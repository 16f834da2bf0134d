// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <map>

#include <rafter/element/quadrature.hpp>
#include <rafter/space/constraints.hpp>
#include <rafter/space/evaluate.hpp>

#include <tests/support/device_folders.hpp>
#include <tests/support/space_meshes.hpp>

/// Cells agree to the last bit about the coordinates of nodes that they share.
namespace rafter {
namespace {

/// Returns a box whose sides are no binary fractions, with rotated cells and renumbered vertices.
mesh::Mesh odd_box(const std::string& shape, int geometry_degree, unsigned seed) {
  const auto dim = static_cast<std::size_t>(test::box_dimension(shape));
  std::vector<int> cells{shape == "mixed" ? 4 : 3, 2, 2};
  std::vector<double> size{0.1, 1.0 / 3, 0.7};
  cells.resize(dim);
  size.resize(dim);
  return test::scrambled(mesh::make_box({.cells = cells, .size = size, .shape = shape, .degree = geometry_degree}),
                         seed);
}

/// Moves all coordinates but the first along curves, so that planes of constant x[0] remain.
void bend(mesh::Mesh& mesh) {
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  for (std::size_t i = 0; i < mesh.points.size(); i += dim) {
    const double shift = 0.01 * std::sin(20 * mesh.points[i] + 3 * mesh.points[i + dim - 1]);
    for (std::size_t d = 1; d < dim; ++d) mesh.points[i + d] += shift;
  }
}

/// Returns the coordinate along an axis that all of these nodes of a cell have, or NaN if they differ.
double shared_coordinate(const mesh::Mesh& mesh, std::span<const std::int32_t> nodes, const std::vector<int>& local,
                         std::size_t axis) {
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  const auto x = [&](int i) {
    return mesh.points[static_cast<std::size_t>(nodes[static_cast<std::size_t>(i)]) * dim + axis];
  };
  for (const int i : local)
    if (x(i) != x(local[0])) return std::nan("");
  return x(local[0]);
}

/// Checks that the node points of a space are exact on vertices and where all geometry nodes of an entity share a
/// coordinate. Returns the number of pairs of an entity and such a coordinate.
int check_exact(const space::FunctionSpace& space) {
  const mesh::Mesh& mesh = space.mesh();
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  int count = 0;
  test::for_each_cell(space, [&](std::int32_t g, std::int32_t cell, const auto&, const std::vector<double>& points) {
    const auto& group = mesh.groups[static_cast<std::size_t>(g)];
    const auto field = space.element(group.shape), geometry = mesh::geometry_element(group);
    const auto num_nodes = static_cast<std::size_t>(geometry->num_dofs());
    const auto nodes = group.nodes().subspan(static_cast<std::size_t>(cell) * num_nodes, num_nodes);
    for (int d = 0; d < mesh.tdim; ++d)
      for (int entity = 0; entity < element::num_entities(group.shape, d); ++entity)
        for (std::size_t axis = 0; axis < dim; ++axis) {
          const double shared = shared_coordinate(mesh, nodes, geometry->closure_dofs(d, entity), axis);
          if (std::isnan(shared)) continue;
          ++count;
          for (const int dof : field->closure_dofs(d, entity))
            ASSERT_EQ(points[static_cast<std::size_t>(dof) * dim + axis], shared)
                << mesh.source << " degree " << space.degree << " entity " << d << ", " << entity;
        }
  });
  return count;
}

/// Checks that all cells that share a node place it at the same coordinates.
void check_shared(const space::FunctionSpace& space) {
  const auto dim = static_cast<std::size_t>(space.gdim);
  std::vector<double> known(static_cast<std::size_t>(space.num_local()) * dim, std::nan(""));
  test::for_each_cell(space, [&](auto, auto, const auto& entries, const std::vector<double>& points) {
    for (std::size_t i = 0; i < entries.size() * dim; ++i) {
      double& x = known[static_cast<std::size_t>(entries[i / dim]) * dim + i % dim];
      if (std::isnan(x)) x = points[i];
      ASSERT_EQ(x, points[i]) << space.mesh().source << " degree " << space.degree;
    }
  });
}

class NodePoints : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Shapes, NodePoints, testing::ValuesIn(test::box_shapes()),
                         [](const auto& tested) { return tested.param; });

TEST_P(NodePoints, AreTheSameBitsFromAllCellsAndExactWhereGeometryNodesAre) {
  for (int geometry_degree = 1; geometry_degree <= 4; ++geometry_degree) {
    const mesh::Mesh straight = odd_box(GetParam(), geometry_degree, 3);
    mesh::Mesh bent = straight;
    bend(bent);
    const auto num_facets = static_cast<int>(straight.topology().exterior_facets.size());
    for (int degree = 1; degree <= 8; ++degree) {
      const auto on_straight = test::make_space(straight, degree), on_bent = test::make_space(bent, degree);
      check_shared(*on_straight);
      check_shared(*on_bent);
      EXPECT_GE(check_exact(*on_straight), num_facets); // every side of a box has a fixed coordinate
      EXPECT_GT(check_exact(*on_bent), 0);
    }
  }
}

TEST_P(NodePoints, AreTheImagesOfTheElementsNodes) {
  for (int geometry_degree = 1; geometry_degree <= 4; ++geometry_degree) {
    mesh::Mesh mesh = odd_box(GetParam(), geometry_degree, 7);
    bend(mesh);
    for (const int degree : {2, 5, 12}) {
      const auto space = test::make_space(mesh, degree);
      for (std::int32_t g = 0; g < static_cast<std::int32_t>(mesh.groups.size()); ++g) {
        const auto& group = mesh.groups[static_cast<std::size_t>(g)];
        const space::FieldEvaluator evaluator(space, g, space->element(group.shape)->nodes());
        for (std::int32_t cell = 0; cell < group.num_cells(); cell += 3) {
          const auto expected = evaluator.points(cell), found = space->cell_node_points(g, cell);
          for (std::size_t i = 0; i < expected.size(); ++i)
            ASSERT_NEAR(found[i], expected[i], 1e-14) << GetParam() << geometry_degree << " " << degree;
        }
      }
    }
  }
}

/// Returns a function that is 1 on the side x[0] = at, and 0 elsewhere.
space::SpatialFunction indicator(double at) {
  return [at](std::span<const double> x, std::span<double> values) { values[0] = x[0] == at ? 1.0 : 0.0; };
}

/// Prescribes on the whole boundary a value that is 1 on one side only. The constrained function on that side must be 1
/// at the points of a quadrature rule.
void check_indicator(const mesh::Mesh& mesh, int degree, double at, std::int32_t tag) {
  const auto space = test::make_space(mesh, degree);
  const std::vector<space::DirichletCondition> conditions{{.is_all = true, .value = indicator(at)}};
  const auto constraints = space::make_constraints(*space, conditions);
  std::vector<double> vector(static_cast<std::size_t>(space->num_local()), 0.5);
  for (std::size_t i = 0; i < constraints.entries.size(); ++i)
    vector[static_cast<std::size_t>(constraints.entries[i])] = constraints.values[i];
  const auto& topology = mesh.topology();
  int num_facets = 0;
  for (std::size_t i = 0; i < topology.exterior_facets.size(); ++i) {
    if (topology.exterior_tags[i] != tag) continue;
    ++num_facets;
    const auto [group, cell, facet] = topology.exterior_facets[i];
    const auto shape = mesh.groups[static_cast<std::size_t>(group)].shape;
    const auto own = element::facet_shape(shape, facet);
    const auto points =
        own == element::Shape::point ? std::vector<double>{} : element::make_quadrature_with_points(own, 3).points;
    for (const double u :
         space::tabulate_field(*space, vector, group, cell, element::map_to_cell(shape, mesh.tdim - 1, facet, points)))
      ASSERT_NEAR(u, 1, 1e-12) << mesh.source << " degree " << degree;
  }
  EXPECT_GT(num_facets, 0) << mesh.source;
}

TEST_P(NodePoints, ConditionalBoundaryDataAreExactOnTheSidesOfBoxes) {
  for (int geometry_degree = 1; geometry_degree <= 3; ++geometry_degree) {
    const mesh::Mesh mesh = odd_box(GetParam(), geometry_degree, 5);
    for (const auto& tested : {mesh, mesh.refined()})
      for (const int degree : {2, 3, 4, 7}) {
        check_indicator(tested, degree, 0, 1);
        check_indicator(tested, degree, 0.1, 2);
      }
  }
}

TEST_P(NodePoints, ConditionalBoundaryDataAreExactOnGmshFilesOfOrderOneToThree) {
  const test::Folder folder;
  const auto path = folder.path() / "box.msh";
  for (int order = 1; order <= 3; ++order) {
    mesh::write_mesh(odd_box(GetParam(), order, 9), path.string());
    const auto mesh = mesh::read_mesh(path.string());
    for (const int degree : {2, 3, 6}) {
      check_indicator(mesh, degree, 0, 1);
      check_indicator(mesh, degree, 0.1, 2);
    }
  }
}

TEST_P(NodePoints, OfRefinedBoxesLieExactlyOnTheirSides) {
  for (int geometry_degree = 1; geometry_degree <= 4; ++geometry_degree) {
    const mesh::Mesh mesh = odd_box(GetParam(), geometry_degree, 11).refined(2);
    const auto& topology = mesh.topology();
    constexpr std::array<double, 6> sides{0, 0.1, 0, 1.0 / 3, 0, 0.7};
    for (std::size_t i = 0; i < topology.exterior_facets.size(); ++i) {
      const auto [g, cell, facet] = topology.exterior_facets[i];
      const auto& group = mesh.groups[static_cast<std::size_t>(g)];
      const auto geometry = mesh::geometry_element(group);
      const auto side = static_cast<std::size_t>(topology.exterior_tags[i] - 1);
      const auto first = static_cast<std::size_t>(cell) * static_cast<std::size_t>(geometry->num_dofs());
      for (const int dof : geometry->closure_dofs(mesh.tdim - 1, facet)) {
        const auto node = static_cast<std::size_t>(group.nodes()[first + static_cast<std::size_t>(dof)]);
        ASSERT_EQ(mesh.points[node * static_cast<std::size_t>(mesh.gdim) + side / 2], sides[side])
            << mesh.source << " geometry degree " << geometry_degree;
      }
    }
  }
}

} // namespace
} // namespace rafter
