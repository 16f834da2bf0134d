// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/generate/run_mask.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/space/function_space.hpp>
#include <rafter/space/layout.hpp>

namespace rafter::op {
namespace {

/// Takes one factor for all components where those of each run are equal.
RunMask compressed(RunMask mask, std::size_t cells_per_batch) {
  const auto components = static_cast<std::size_t>(mask.components);
  const auto& factors = mask.factors;
  for (std::size_t i = 0; i < factors.size(); ++i)
    if (factors[i] != factors[i / (cells_per_batch * components) * cells_per_batch * components + i % cells_per_batch])
      return mask;
  RunMask result{.components = 1, .factors = {}};
  result.factors.reserve(factors.size() / components);
  for (std::size_t i = 0; i < factors.size(); i += cells_per_batch * components)
    result.factors.insert(result.factors.end(), factors.begin() + static_cast<std::ptrdiff_t>(i),
                          factors.begin() + static_cast<std::ptrdiff_t>(i + cells_per_batch));
  return result;
}

} // namespace

RunMasks::RunMasks(const space::FunctionSpace& space, std::span<const std::int32_t> constrained)
    : space_(space), is_constrained_(static_cast<std::size_t>(space.num_local()), false),
      is_owned_(is_constrained_.size(), false) {
  for (const auto entry : constrained) {
    if (entry < 0 || entry >= space.num_local())
      throw base::InputError(fmt::format("space '{}' has no entry {} to be constrained", space.name, entry));
    is_constrained_[static_cast<std::size_t>(entry)] = true;
  }
  require_free_interiors();
}

/// Factors belong to shared entities, so that they cannot mask what lies in one cell alone.
void RunMasks::require_free_interiors() const {
  const auto& batches = space_.batches();
  for (std::size_t b = 0; b < batches.blocks.size(); ++b) {
    const auto& dofs = space_.block(static_cast<int>(b));
    const auto of_cell = static_cast<std::int64_t>(dofs.layout.interior_dofs.size()) * space_.num_components();
    for (std::size_t batch = 0; of_cell > 0 && batch < dofs.interior_starts.size(); ++batch) {
      const auto before = static_cast<std::int64_t>(batch) * batches.cells_per_batch;
      const auto num_active = std::min<std::int64_t>(batches.cells_per_batch, batches.blocks[b].num_cells - before);
      const auto begin = is_constrained_.begin() + dofs.interior_starts[batch], end = begin + num_active * of_cell;
      const auto found = std::find(begin, end, true);
      if (found != end)
        throw base::InputError(fmt::format("entry {} of '{}' is constrained and lies in the interior of a cell; "
                                           "transfers serve constraints on vertices, edges and faces",
                                           found - is_constrained_.begin(), space_.name));
    }
  }
}

/// Says whether component `component` of a run is free.
bool RunMasks::is_free(std::int32_t start, int num_dofs, int component) const {
  const int step = space_.num_components();
  const auto at = [&](int dof) { return is_constrained_[static_cast<std::size_t>(start + dof * step + component)]; };
  for (int dof = 1; dof < num_dofs; ++dof)
    if (at(dof) != at(0))
      throw base::InputError(fmt::format("constraints on '{}' hold for a part of an edge or a face, from entry {} on",
                                         space_.name, start));
  return !at(0);
}

template <class IsOwned> RunMask RunMasks::mask(const BatchedRuns& cells, const IsOwned& is_owned) const {
  const int components = space_.num_components();
  const auto cells_per_batch = static_cast<std::size_t>(cells.cells_per_batch);
  const auto& lengths = cells.layout->run_lengths;
  RunMask result{.components = components, .factors = {}};
  result.factors.resize(cells.starts.size() * static_cast<std::size_t>(components));
  auto* factor = result.factors.data();
  for (std::size_t i = 0; i < cells.starts.size(); i += cells_per_batch) {
    const std::size_t run = i / cells_per_batch % lengths.size(), batch = i / cells_per_batch / lengths.size();
    for (std::size_t cell = 0; cell < cells_per_batch; ++cell) {
      const bool is_active = static_cast<std::int64_t>(batch * cells_per_batch + cell) < cells.num_cells;
      const auto start = cells.starts[i + cell];
      const bool counts = is_active && is_owned(static_cast<std::size_t>(start));
      for (int c = 0; c < components; ++c)
        factor[static_cast<std::size_t>(c) * cells_per_batch + cell] =
            counts && is_free(start, lengths[run], c) ? 1.0F : 0.0F;
    }
    factor += cells_per_batch * static_cast<std::size_t>(components);
  }
  return compressed(std::move(result), cells_per_batch);
}

RunMask RunMasks::free(const BatchedRuns& cells) const {
  if (std::ranges::find(is_constrained_, true) == is_constrained_.end()) return {};
  return mask(cells, [](std::size_t) { return true; });
}

RunMask RunMasks::owned(const BatchedRuns& cells) {
  return mask(cells, [this](std::size_t start) {
    const bool is_first = !is_owned_[start];
    is_owned_[start] = true;
    return is_first;
  });
}

} // namespace rafter::op
