// SPDX-License-Identifier: BSD-3-Clause
// Spaces on parts of a mesh together have the dofs of the space on the whole mesh.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <mutex>
#include <set>

#include <rafter/comm/ghost_exchange.hpp>
#include <rafter/space/constraints.hpp>
#include <rafter/space/random_field.hpp>

#include <tests/support/inner_facets.hpp>
#include <tests/support/periodic_meshes.hpp>
#include <tests/support/rank_meshes.hpp>

namespace rafter::test {
namespace {

/// Calls visit(entry on the part, entry of the whole mesh) for all dofs of all cells of a part.
template <class Visit>
void for_dofs(const space::FunctionSpace& part, const space::FunctionSpace& whole, const Visit& visit) {
  const auto& groups = part.mesh().groups;
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::int32_t cell = 0; cell < groups[g].num_cells(); ++cell) {
      const auto group = static_cast<std::int32_t>(g);
      const auto global = part.mesh().distribution == nullptr
                              ? cell
                              : part.mesh().distribution->global_cells[g][static_cast<std::size_t>(cell)];
      const auto size = static_cast<std::size_t>(part.element(groups[g].shape)->num_dofs() * part.num_components());
      std::vector<std::int32_t> own(size), all(size);
      const auto here = part.position(group, cell), there = whole.position(group, global);
      part.cell_dofs(here.block, here.batch, here.cell, own);
      whole.cell_dofs(there.block, there.batch, there.cell, all);
      for (std::size_t i = 0; i < size; ++i) visit(own[i], all[i]);
    }
}

class SpacesOfRanks : public ::testing::TestWithParam<std::string> {
protected:
  std::vector<mesh::Mesh> meshes() const {
    std::vector<mesh::Mesh> result{rank_box(GetParam()), curved_rank_box(GetParam()), periodic_rank_box(GetParam()),
                                   periodic_rank_box(GetParam(), 3)};
    for (auto& mesh : result) mesh = with_tag(mesh, some_inner_facets(mesh), 9);
    return result;
  }
  /// Calls check(process, space on the part, space on the whole mesh) on every process.
  template <class Check> void on_all(const Check& check) const {
    for (const auto& mesh : meshes())
      for (const auto parts : all_parts)
        for (const int num_ranks : {1, 3, 8})
          for (const auto& [degree, components] : {std::pair(1, 2), std::pair(3, 0)}) {
            SCOPED_TRACE(mesh.source + ", processes " + std::to_string(num_ranks));
            const auto whole = make_space(mesh, degree, components, 2);
            const auto ranks = cell_ranks(mesh, num_ranks, parts);
            comm::run_in_process(num_ranks, [&, d = degree, c = components](const Process& process) {
              check(process, *make_space(mesh::local_part(mesh, ranks, process), d, c, 2), *whole);
            });
          }
  }
};

TEST_P(SpacesOfRanks, EveryDofHasOneNumberAndOneOwner) {
  on_all([](const Process& process, const space::FunctionSpace& part, const space::FunctionSpace& whole) {
    const auto& map = part.index_map();
    EXPECT_EQ(part.num_dofs(), whole.num_dofs());
    double num_owned = static_cast<double>(map.num_owned());
    process->sum(std::span(&num_owned, 1));
    EXPECT_EQ(num_owned, static_cast<double>(whole.num_dofs()));
    // Each process notes the global number of each dof of the whole mesh that it has; then the largest and the least of
    // all processes are compared.
    const auto count = static_cast<std::size_t>(whole.num_local());
    std::vector<double> largest(count, -INFINITY), least(count, -INFINITY), owner(count, -INFINITY);
    std::set<std::int32_t> seen;
    for_dofs(part, whole, [&](std::int32_t own, std::int32_t all) {
      const auto number = static_cast<double>(map.local_to_global(own));
      auto& known = largest[static_cast<std::size_t>(all)];
      EXPECT_TRUE(known == -INFINITY || known == number) << "two numbers of one dof";
      known = number;
      least[static_cast<std::size_t>(all)] = -number;
      if (own < map.num_owned()) owner[static_cast<std::size_t>(all)] = number;
      seen.insert(own);
    });
    EXPECT_EQ(static_cast<std::int64_t>(seen.size()), map.num_local());
    process->max(largest);
    process->max(least);
    process->max(owner);
    std::set<double> numbers;
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(largest[i], -least[i]) << "processes number one dof differently";
      EXPECT_EQ(owner[i], largest[i]) << "a dof that nobody owns";
      numbers.insert(largest[i]);
    }
    EXPECT_EQ(numbers.size(), count);
  });
}

TEST_P(SpacesOfRanks, OwnersAreTheLowestRanksAndGhostsAreGroupedByThem) {
  on_all([](const Process& process, const space::FunctionSpace& part, const space::FunctionSpace& whole) {
    const auto& map = part.index_map();
    const auto owners = map.ghost_owners();
    EXPECT_TRUE(std::ranges::is_sorted(owners));
    std::vector<double> lowest(static_cast<std::size_t>(whole.num_local()), -INFINITY), highest = lowest;
    for_dofs(part, whole, [&](std::int32_t, std::int32_t all) {
      lowest[static_cast<std::size_t>(all)] = -process->rank();
      highest[static_cast<std::size_t>(all)] = process->rank();
    });
    process->max(lowest);
    process->max(highest);
    for_dofs(part, whole, [&](std::int32_t own, std::int32_t all) {
      const int owner = -static_cast<int>(lowest[static_cast<std::size_t>(all)]);
      const bool is_shared = highest[static_cast<std::size_t>(all)] != static_cast<double>(owner);
      if (own < map.num_owned()) {
        EXPECT_EQ(owner, process->rank());
        EXPECT_EQ(own >= part.interface_begin(), is_shared);
      } else
        EXPECT_EQ(owner, owners[static_cast<std::size_t>(own - map.num_owned())]);
    });
  });
}

TEST_P(SpacesOfRanks, InteriorStagesTouchWhatTheProcessHasAlone) {
  on_all([](const Process&, const space::FunctionSpace& part, const space::FunctionSpace&) {
    const auto& batches = part.batches();
    std::int64_t next = 0; // ranges of first touch follow each other
    for (std::size_t stage = 0; stage < batches.stages.size(); ++stage)
      for (const auto& chunk : batches.stages[stage])
        for (std::int32_t batch = chunk.batch_begin; batch < chunk.batch_end; ++batch) {
          const auto& touch = part.block(chunk.block).first_touch;
          EXPECT_EQ(touch[2 * static_cast<std::size_t>(batch)], next);
          next = touch[2 * static_cast<std::size_t>(batch) + 1];
          const auto shape = batches.blocks[static_cast<std::size_t>(chunk.block)].shape;
          std::vector<std::int32_t> entries(
              static_cast<std::size_t>(part.element(shape)->num_dofs() * part.num_components()));
          bool is_inside = true;
          for (int cell = 0; cell < batches.num_active(chunk.block, batch); ++cell) {
            part.cell_dofs(chunk.block, batch, cell, entries);
            for (const auto entry : entries) is_inside = is_inside && entry < part.interface_begin();
          }
          EXPECT_TRUE(is_inside || stage >= batches.num_interior_stages);
        }
    EXPECT_EQ(next, part.interface_begin());
  });
}

TEST_P(SpacesOfRanks, ExchangesBringTheValuesOfOwners) {
  on_all([](const Process&, const space::FunctionSpace& part, const space::FunctionSpace& whole) {
    if (part.exchange() == nullptr) return;
    std::vector<double> all(static_cast<std::size_t>(whole.num_local())),
        own(static_cast<std::size_t>(part.num_local()), std::nan(""));
    std::iota(all.begin(), all.end(), 1.0);
    for_dofs(part, whole, [&](std::int32_t entry, std::int32_t of_whole) {
      if (entry < part.index_map().num_owned())
        own[static_cast<std::size_t>(entry)] = all[static_cast<std::size_t>(of_whole)];
    });
    part.exchange()->finish_forward(part.exchange()->start_forward(std::span(own)));
    for_dofs(part, whole, [&](std::int32_t entry, std::int32_t of_whole) {
      EXPECT_EQ(own[static_cast<std::size_t>(entry)], all[static_cast<std::size_t>(of_whole)]);
    });
  });
}

TEST_P(SpacesOfRanks, RandomFieldsAndConditionsAreThoseOfTheWholeMesh) {
  const auto tags = [](const space::FunctionSpace& space) {
    std::set<std::int32_t> all = space.mesh().topology().boundary_tags();
    all.erase(0);
    all.insert(9); // inside the domain
    return std::vector<std::int32_t>(all.begin(), all.end());
  };
  const auto conditions = [&](const space::FunctionSpace& space) {
    std::vector<space::DirichletCondition> result;
    for (const auto tag : tags(space))
      if (tag != 2)
        result.push_back({.tags = {tag}, .value = [tag](std::span<const double> x, std::span<double> values) {
                            for (std::size_t c = 0; c < values.size(); ++c)
                              values[c] = tag + x[0] + static_cast<double>(c);
                          }});
    return space::make_constraints(space, result);
  };
  on_all([&](const Process&, const space::FunctionSpace& part, const space::FunctionSpace& whole) {
    std::vector<double> all(static_cast<std::size_t>(whole.num_local())),
        own(static_cast<std::size_t>(part.num_local()));
    space::fill_random(whole, 7, all);
    space::fill_random(part, 7, own);
    std::map<std::int32_t, double> expected, found;
    const auto of_whole = conditions(whole), of_part = conditions(part);
    for (std::size_t i = 0; i < of_whole.entries.size(); ++i) expected[of_whole.entries[i]] = of_whole.values[i];
    for (std::size_t i = 0; i < of_part.entries.size(); ++i) found[of_part.entries[i]] = of_part.values[i];
    EXPECT_EQ(found.size(), of_part.entries.size());
    EXPECT_TRUE(std::ranges::is_sorted(of_part.entries));
    const bool is_open = part.mesh().periodic_facets.empty() && part.mesh().distribution != nullptr &&
                         part.mesh().surface().periodic_tags().empty();
    for_dofs(part, whole, [&](std::int32_t entry, std::int32_t of_whole_mesh) {
      if (is_open) {
        EXPECT_EQ(own[static_cast<std::size_t>(entry)], all[static_cast<std::size_t>(of_whole_mesh)]);
      }
      ASSERT_EQ(found.contains(entry), expected.contains(of_whole_mesh));
      if (!found.contains(entry)) return;
      EXPECT_EQ(found.at(entry), expected.at(of_whole_mesh));
    });
  });
}

TEST_P(SpacesOfRanks, InterpolateAsTheWholeMeshDoesAlsoWhereXJumps) {
  on_all([](const Process&, const space::FunctionSpace& part, const space::FunctionSpace& whole) {
    const auto interpolated = [](const space::FunctionSpace& space) {
      std::vector<double> values(static_cast<std::size_t>(space.num_local()));
      space::interpolate(
          space,
          [](std::span<const double> x, std::span<double> at) {
            for (std::size_t c = 0; c < at.size(); ++c) at[c] = x.front() + 10 * x.back() + static_cast<double>(c);
          },
          values);
      return values;
    };
    const auto all = interpolated(whole), own = interpolated(part);
    for_dofs(part, whole, [&](std::int32_t entry, std::int32_t of_whole) {
      EXPECT_EQ(own[static_cast<std::size_t>(entry)], all[static_cast<std::size_t>(of_whole)]);
    });
  });
}

INSTANTIATE_TEST_SUITE_P(every_shape, SpacesOfRanks, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

} // namespace
} // namespace rafter::test
