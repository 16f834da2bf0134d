// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/space/cell_vectors.hpp>

#include <fmt/format.h>

#include <rafter/base/error.hpp>

namespace rafter::space {
namespace {

void require_twins(const FunctionSpace& space, const FunctionSpace& broken) {
  if (!broken.is_broken() || space.discretisation() != broken.discretisation() || space.family != broken.family ||
      space.degree != broken.degree || space.components != broken.components)
    throw base::InputError(fmt::format("'{}' is not the broken space of '{}'", broken.name, space.name));
}

void require_size(const FunctionSpace& space, std::size_t size) {
  if (static_cast<std::int64_t>(size) != space.num_local())
    throw base::InputError(
        fmt::format("space '{}' has {} entries, the vector {}", space.name, space.num_local(), size));
}

/// Calls visit(entry of the space, entry of the broken space) for every dof of every cell.
template <class Visit> void for_each_entry(const FunctionSpace& space, const FunctionSpace& broken, Visit visit) {
  const auto& batches = space.batches();
  std::vector<std::int32_t> shared, own;
  for (std::size_t b = 0; b < batches.blocks.size(); ++b) {
    const int block = static_cast<int>(b);
    const int num_dofs = space.block(block).layout.element->num_dofs() * space.num_components();
    shared.resize(static_cast<std::size_t>(num_dofs));
    own.resize(shared.size());
    for (std::int32_t batch = 0; batch < batches.blocks[b].num_batches; ++batch)
      for (int cell = 0; cell < batches.num_active(block, batch); ++cell) {
        space.cell_dofs(block, batch, cell, shared);
        broken.cell_dofs(block, batch, cell, own);
        for (std::size_t i = 0; i < shared.size(); ++i)
          visit(static_cast<std::size_t>(shared[i]), static_cast<std::size_t>(own[i]));
      }
  }
}

} // namespace

std::shared_ptr<const FunctionSpace> make_broken(const FunctionSpace& space) {
  return FunctionSpace::make(space.discretisation(), {.family = element::family_from_name(space.family),
                                                      .degree = space.degree,
                                                      .components = space.components,
                                                      .name = space.name,
                                                      .is_broken = true});
}

void gather_cells(const FunctionSpace& space, const FunctionSpace& broken, std::span<const double> vector,
                  std::span<double> cells) {
  require_twins(space, broken);
  require_size(space, vector.size());
  require_size(broken, cells.size());
  for_each_entry(space, broken, [&](std::size_t shared, std::size_t own) { cells[own] = vector[shared]; });
}

void add_cells(const FunctionSpace& space, const FunctionSpace& broken, std::span<const double> cells,
               std::span<double> vector) {
  require_twins(space, broken);
  require_size(space, vector.size());
  require_size(broken, cells.size());
  for_each_entry(space, broken, [&](std::size_t shared, std::size_t own) { vector[shared] += cells[own]; });
}

} // namespace rafter::space
