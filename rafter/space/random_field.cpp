// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/space/random_field.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/space/run_permutations.hpp>

namespace rafter::space {
namespace {

/// Makes one step of SplitMix64 (Steele, Lea and Flood, doi:10.1145/2660193.2660195), so that all bits depend on all
/// bits.
std::uint64_t mixed(std::uint64_t state) {
  state += 0x9e3779b97f4a7c15ULL;
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9ULL;
  state = (state ^ (state >> 27)) * 0x94d049bb133111ebULL;
  return state ^ (state >> 31);
}

/// Maps bits to an evenly distributed number in [-1, 1).
double to_number(std::uint64_t bits) { return std::ldexp(static_cast<double>(bits >> 11), -52) - 1; }

/// Fills the dofs of one cell after the other.
class RandomField {
public:
  RandomField(const FunctionSpace& space, std::uint64_t seed, std::span<double> vector)
      : space_(space), seed_(seed), vector_(vector) {}

  void fill(std::int32_t group, std::int32_t cell) {
    const auto& cells = space_.mesh().groups[static_cast<std::size_t>(group)];
    const auto position = space_.position(group, cell);
    const auto& dofs = space_.block(position.block);
    const auto& layout = dofs.layout;
    entries_.resize(static_cast<std::size_t>(layout.element->num_dofs() * space_.num_components()));
    space_.cell_dofs(position.block, position.batch, position.cell, entries_);
    const auto cells_per_batch = static_cast<std::size_t>(space_.batches().cells_per_batch);
    std::size_t run = static_cast<std::size_t>(position.batch) * layout.run_dims.size() * cells_per_batch +
                      static_cast<std::size_t>(position.cell);
    const int* dof = layout.run_dofs.data();
    for (std::size_t r = 0; r < layout.run_dims.size(); ++r, run += cells_per_batch) {
      const auto key = key_of(cells, cell, layout.run_dims[r], layout.run_entities[r]);
      const std::int32_t* permutation = permutation_of(dofs, run);
      for (int k = 0; k < layout.run_lengths[r]; ++k) set(*dof++, key, permutation[k]);
    }
    const auto key = key_of(cells, cell, element::dimension(cells.shape), 0);
    for (std::size_t i = 0; i < layout.interior_dofs.size(); ++i)
      set(layout.interior_dofs[i], key, static_cast<std::int32_t>(i));
  }

private:
  /// Makes a key from the seed, the dimension of the entity and its global vertices in ascending order.
  std::uint64_t key_of(const mesh::CellGroup& cells, std::int32_t cell, int dim, int entity) {
    const auto first = static_cast<std::size_t>(cell) * static_cast<std::size_t>(element::num_vertices(cells.shape));
    vertices_.clear();
    for (const int v : element::entity_vertices(cells.shape, dim, entity))
      vertices_.push_back(space_.mesh().global_vertex(cells.vertices[first + static_cast<std::size_t>(v)]));
    std::ranges::sort(vertices_);
    std::uint64_t key = mixed(seed_ ^ mixed(static_cast<std::uint64_t>(dim)));
    for (const auto vertex : vertices_) key = mixed(key ^ static_cast<std::uint64_t>(vertex));
    return key;
  }

  void set(int dof, std::uint64_t key, std::int32_t place) {
    const auto num_dofs = entries_.size() / static_cast<std::size_t>(space_.num_components());
    for (std::size_t c = 0; c * num_dofs < entries_.size(); ++c) {
      const auto number = static_cast<std::uint64_t>(place) << 8 | c;
      const auto entry = entries_[c * num_dofs + static_cast<std::size_t>(dof)];
      vector_[static_cast<std::size_t>(entry)] = to_number(mixed(key ^ mixed(number)));
    }
  }

  const FunctionSpace& space_;
  std::uint64_t seed_;
  std::span<double> vector_;
  std::vector<std::int32_t> entries_;
  std::vector<std::int64_t> vertices_;
};

} // namespace

void fill_random(const FunctionSpace& space, std::uint64_t seed, std::span<double> vector) {
  if (vector.size() != static_cast<std::size_t>(space.num_local()))
    throw base::InputError(fmt::format("a random field in space '{}': the vector has {} entries, the space {}",
                                       space.name, vector.size(), space.num_local()));
  RandomField field(space, seed, vector);
  const auto& groups = space.mesh().groups;
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::int32_t cell = 0; cell < groups[g].num_cells(); ++cell) field.fill(static_cast<std::int32_t>(g), cell);
}

} // namespace rafter::space
