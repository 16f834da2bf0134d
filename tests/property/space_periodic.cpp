// SPDX-License-Identifier: BSD-3-Clause
// Unknowns on identified meshes: there is one per place modulo the periods, however cells see it; functions at nodes
// and patches respect that.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include <rafter/space/interpolate.hpp>
#include <rafter/space/random_field.hpp>

#include <tests/support/periodic_meshes.hpp>

namespace rafter::test {
namespace {

class PeriodicSpace : public ::testing::TestWithParam<std::string> {
protected:
  int dim() const { return box_dimension(GetParam()); }
  std::vector<int> axes() const { return periodic_axes(GetParam()); }
  /// The meshes have two cells across; the same rotated and renumbered; curved cells; and refined ones.
  std::vector<mesh::Mesh> meshes() const {
    return {periodic_box(GetParam(), 2, axes()), periodic_box(GetParam(), 2, axes(), 1, 3),
            identified(scrambled(wavy_box(GetParam(), 2, 3, axes()), 4), axes()),
            periodic_box(GetParam(), 2, axes(), 1, 6).refined(1)};
  }
};

TEST_P(PeriodicSpace, HasOneUnknownPerPlace) {
  for (const auto& mesh : meshes())
    for (int degree = 1; degree <= (mesh.num_cells() > 300 ? 3 : 5); ++degree) {
      const auto space = make_space(mesh, degree, 2);
      std::map<std::int32_t, Place> place_of;
      std::map<Place, std::int32_t> entry_at;
      for_each_cell(*space, [&](auto, auto, std::span<const std::int32_t> entries, const std::vector<double>& points) {
        const auto width = static_cast<std::size_t>(dim());
        for (std::size_t i = 0; i * width < points.size(); ++i) {
          const auto place = place_modulo_periods(std::span(points).subspan(i * width, width), axes());
          const auto entry = entries[i];
          EXPECT_EQ(place_of.emplace(entry, place).first->second, place);
          EXPECT_EQ(entry_at.emplace(place, entry).first->second, entry);
          EXPECT_GE(entries[i + points.size() / width], 0);
        }
      });
      EXPECT_EQ(2 * static_cast<std::int64_t>(place_of.size()), space->num_dofs()) << mesh.source << " " << degree;
    }
}

TEST_P(PeriodicSpace, InterpolationTakesTheValueAtOneOfTheImages) {
  const auto mesh = meshes()[1];
  const auto space = make_space(mesh, 3);
  std::vector<double> values(static_cast<std::size_t>(space->num_local()));
  space::interpolate(
      *space, [](std::span<const double> x, std::span<double> value) { value[0] = x[x.size() - 1]; }, values);
  const double period = box_size(dim()).back();
  for_each_cell(*space, [&](auto, auto, std::span<const std::int32_t> entries, const std::vector<double>& points) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const double away = std::abs(values[static_cast<std::size_t>(entries[i])] -
                                   points[i * static_cast<std::size_t>(dim()) + static_cast<std::size_t>(dim()) - 1]);
      EXPECT_LT(std::min(away, std::abs(away - period)), 1e-12);
    }
  });
}

TEST_P(PeriodicSpace, RandomFieldsDependOnGlobalVerticesAlone) {
  const auto original = box(GetParam(), 3);
  // The coordinates of its vertices show which vertices of the original they are.
  auto renumbered = scrambled(original, 11);
  std::map<Place, std::int64_t> vertex_at;
  const auto for_vertices = [&](const mesh::Mesh& mesh, const auto& visit) {
    for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
      const auto& group = mesh.groups[g];
      const auto n = static_cast<std::size_t>(element::num_vertices(group.shape)),
                 width = static_cast<std::size_t>(dim());
      for (std::int32_t c = 0; c < group.num_cells(); ++c) {
        const auto x = mesh::cell_vertex_coordinates(mesh, static_cast<std::int32_t>(g), c);
        for (std::size_t v = 0; v < n; ++v)
          visit(group.vertices[static_cast<std::size_t>(c) * n + v],
                place_modulo_periods(std::span(x).subspan(v * width, width), {}));
      }
    }
  };
  for_vertices(original, [&](std::int32_t vertex, const Place& place) { vertex_at[place] = vertex; });
  renumbered.global_vertices.resize(static_cast<std::size_t>(renumbered.num_vertices));
  for_vertices(renumbered, [&](std::int32_t vertex, const Place& place) {
    renumbered.global_vertices[static_cast<std::size_t>(vertex)] = vertex_at.at(place);
  });
  const auto axes = periodic_axes(GetParam());
  for (const auto& [degree, is_periodic] :
       {std::pair(1, false), std::pair(4, false), std::pair(1, true), std::pair(4, true)}) {
    std::map<Place, double> value_at;
    std::set<double> different;
    for (const auto& given : {original, renumbered}) {
      const auto mesh = is_periodic ? identified(given, axes) : given;
      const auto space = make_space(mesh, degree, 2);
      std::vector<double> values(static_cast<std::size_t>(space->num_local()));
      space::fill_random(*space, 17, values);
      for_each_cell(*space,
                    [&](auto g, auto, std::span<const std::int32_t> entries, const std::vector<double>& points) {
                      const auto element = space->element(mesh.groups[static_cast<std::size_t>(g)].shape);
                      const auto inner = element->entity_dofs(dim(), 0); // each cell numbers these in its order
                      const auto width = static_cast<std::size_t>(dim());
                      for (std::size_t i = 0; i * width < points.size(); ++i) {
                        const double value = values[static_cast<std::size_t>(entries[i])];
                        EXPECT_LE(std::abs(value), 1);
                        different.insert(value);
                        if (std::ranges::find(inner, static_cast<int>(i)) != inner.end()) continue;
                        const auto place = place_modulo_periods(std::span(points).subspan(i * width, width), {});
                        EXPECT_EQ(value_at.emplace(place, value).first->second, value);
                      }
                    });
      EXPECT_EQ(2 * different.size(), static_cast<std::size_t>(space->num_dofs())) << "all values differ";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(every_shape, PeriodicSpace, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

} // namespace
} // namespace rafter::test
