// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/space/index_tables.hpp>

#include <algorithm>

namespace rafter::space {

namespace {

template <class Source>
IndexTables::Integers to_array(const std::shared_ptr<device::Device>& device, const Source& source) {
  return {device, base::AlignedVector<std::int32_t>(source.begin(), source.end())};
}

/// What is added to later: the range that a batch touches first without the interior run, which is stored.
base::AlignedVector<std::int32_t> shared_first_touch(const BlockDofs& dofs) {
  base::AlignedVector<std::int32_t> result(dofs.first_touch.begin(), dofs.first_touch.end());
  if (!dofs.layout.interior_dofs.empty())
    for (std::size_t b = 0; b < dofs.interior_starts.size(); ++b) result[2 * b + 1] = dofs.interior_starts[b];
  return result;
}

} // namespace

IndexTables::IndexTables(const BlockDofs& dofs, const std::shared_ptr<device::Device>& device)
    : run_starts(to_array(device, dofs.run_starts)), run_permutations(to_array(device, dofs.run_permutations)),
      permutations(to_array(device, dofs.layout.permutations)), interior_starts(to_array(device, dofs.interior_starts)),
      first_touch(device, shared_first_touch(dofs)), patch_starts(to_array(device, dofs.patch_starts)),
      patch_numbers(to_array(device, dofs.patch_numbers)), patch_patterns(to_array(device, dofs.patch_patterns)),
      pattern_numbers(to_array(device, dofs.pattern_numbers)), patterns(to_array(device, dofs.patterns)) {}

IndexTables::IndexTables(const FunctionSpace::FacetDofs& dofs, const std::shared_ptr<device::Device>& device)
    : run_starts(to_array(device, dofs.run_starts)), run_permutations(to_array(device, dofs.run_permutations)),
      permutations(to_array(device, dofs.layout.permutations)), interior_starts(to_array(device, dofs.interior_starts)),
      interior_strides(to_array(device, dofs.interior_strides)) {}

std::shared_ptr<const IndexTables> IndexTableCache::get(const BlockDofs& dofs,
                                                        const std::shared_ptr<device::Device>& device) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [](const Entry& entry) { return entry.tables.expired(); });
  for (const auto& entry : entries_)
    if (entry.dofs == &dofs && entry.device == device.get())
      if (auto tables = entry.tables.lock()) return tables; // which keep their device alive
  auto tables = std::make_shared<const IndexTables>(dofs, device);
  entries_.push_back({&dofs, device.get(), tables});
  return tables;
}

} // namespace rafter::space
