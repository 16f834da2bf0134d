// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/space/index_tables.hpp>

#include <algorithm>
#include <numeric>

#include <rafter/base/error.hpp>
#include <rafter/space/distant_lines.hpp>
#include <rafter/space/run_permutations.hpp>

namespace rafter::space {

namespace {

/// Writes the entries of the shared dofs of a batch, shape (dof, cell), and returns the place behind them.
std::int32_t* write_entries(const BlockDofs& dofs, int components, std::size_t batch, std::int32_t* to) {
  const auto& layout = dofs.layout;
  const std::size_t num_runs = layout.run_lengths.size();
  const std::size_t cells_per_batch =
      num_runs == 0 ? 0 : dofs.run_starts.size() / (num_runs * dofs.interior_starts.size());
  for (std::size_t run = 0; run < num_runs; ++run)
    for (int k = 0; k < layout.run_lengths[run]; ++k)
      for (std::size_t cell = 0; cell < cells_per_batch; ++cell) {
        const std::size_t at = (batch * num_runs + run) * cells_per_batch + cell;
        *to++ = dofs.run_starts[at] + permutation_of(dofs, at)[k] * components;
      }
  return to;
}

base::AlignedVector<std::int32_t> entries_of(const BlockDofs& dofs, int components,
                                             std::span<const std::size_t> batches) {
  const auto& layout = dofs.layout;
  const std::size_t num_starts = layout.run_lengths.size() * dofs.interior_starts.size();
  const std::size_t cells_per_batch = num_starts == 0 ? 0 : dofs.run_starts.size() / num_starts;
  base::AlignedVector<std::int32_t> entries(batches.size() * layout.run_dofs.size() * cells_per_batch);
  std::int32_t* to = entries.data();
  for (const std::size_t batch : batches) to = write_entries(dofs, components, batch, to);
  return entries;
}

} // namespace

SharedTable::SharedTable(device::Device& device, std::span<const std::int32_t> values) {
  if (device.shares_host_memory()) {
    // Kernels read tables alone, and wrapped memory has no constant form.
    buffer_ = device.wrap(const_cast<std::int32_t*>(values.data()), values.size_bytes());
    return;
  }
  buffer_ = device.allocate(values.size_bytes());
  buffer_->copy_from_host(values.data(), values.size_bytes());
}

IndexTables::IndexTables(std::shared_ptr<const BlockDofs> dofs, int components,
                         const std::shared_ptr<device::Device>& device)
    : run_starts(*device, dofs->run_starts), run_permutations(*device, dofs->run_permutations),
      permutations(device::to_array<std::int32_t>(device, dofs->layout.permutations)),
      interior_starts(*device, dofs->interior_starts), patch_starts(*device, dofs->patch_starts),
      pattern_numbers(*device, dofs->pattern_numbers),
      patch_numbers(device::to_array<std::int32_t>(device, dofs->patch_numbers)),
      patch_patterns(device::to_array<std::int32_t>(device, dofs->patch_patterns)),
      patterns(device::to_array<std::int32_t>(device, dofs->patterns)), dofs_(std::move(dofs)), components_(components),
      device_(device) {
  set_first_touch(*device);
  bring_to_device();
}

/// Leaves the interior run of a batch out of what it touches first, because kernels store it.
void IndexTables::set_first_touch(device::Device& device) {
  touched = dofs_->first_touch;
  if (!dofs_->layout.interior_dofs.empty()) {
    own_first_touch_ = dofs_->first_touch;
    for (std::size_t b = 0; b < dofs_->interior_starts.size(); ++b)
      own_first_touch_[2 * b + 1] = dofs_->interior_starts[b];
    touched = own_first_touch_;
  }
  first_touch = SharedTable(device, touched);
}

IndexTables::IndexTables(std::shared_ptr<const ListDofs> dofs, const std::shared_ptr<device::Device>& device)
    : run_starts(*device, dofs->run_starts), run_permutations(*device, dofs->run_permutations),
      permutations(device::to_array<std::int32_t>(device, dofs->layout.permutations)),
      list_interior_starts(*device, dofs->interior_starts), interior_strides(*device, dofs->interior_strides),
      list_(std::move(dofs)) {
  bring_to_device();
}

void IndexTables::bring_to_device() const {
  for (const auto* table : {&permutations, &patch_numbers, &patch_patterns, &patterns}) (void)table->device_read();
}

const IndexTables::Integers& IndexTables::dof_entries() const {
  if (dofs_ == nullptr) throw base::InternalError("tables of a list of cells have no entries of dofs");
  std::call_once(has_entries_, [this] {
    std::vector<std::size_t> all(dofs_->interior_starts.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    dof_entries_ = Integers(device_, entries_of(*dofs_, components_, all));
    (void)dof_entries_.device_read();
  });
  return dof_entries_;
}

const IndexTables::UnpatternedBatches& IndexTables::unpatterned() const {
  if (dofs_ == nullptr) throw base::InternalError("tables of a list of cells have no patterns");
  std::call_once(has_unpatterned_, [this] {
    const auto& patterns_of_batches = dofs_->pattern_numbers;
    base::AlignedVector<std::int32_t> numbers(patterns_of_batches.size());
    std::vector<std::size_t> batches;
    for (std::size_t batch = 0; batch < numbers.size(); ++batch)
      if (patterns_of_batches[batch] == 0) {
        numbers[batch] = static_cast<std::int32_t>(batches.size());
        batches.push_back(batch);
      }
    unpatterned_ = {Integers(device_, std::move(numbers)), Integers(device_, entries_of(*dofs_, components_, batches))};
    (void)unpatterned_.numbers.device_read();
    (void)unpatterned_.entries.device_read();
  });
  return unpatterned_;
}

const IndexTables::Distant& IndexTables::distant() const {
  if (dofs_ == nullptr) throw base::InternalError("tables of a list of cells have no distant lines");
  std::call_once(has_distant_, [this] {
    auto lines = distant_lines(*dofs_, components_);
    distant_ = {Integers(device_, std::move(lines.begins)), Integers(device_, std::move(lines.entries))};
    (void)distant_.begins.device_read();
    (void)distant_.entries.device_read();
  });
  return distant_;
}

void IndexTables::add_to(device::BufferRegistry& registry, int index, const Reads& reads) const {
  const auto add = [&](const char* role, const auto& table) { registry.add(role, index, table.device_read()); };
  add(role::run_starts, run_starts);
  add(role::run_permutations, run_permutations);
  add(role::permutations, permutations);
  if (list_ != nullptr)
    add(role::interior_starts, list_interior_starts);
  else
    add(role::interior_starts, interior_starts);
  add(role::interior_strides, interior_strides);
  add(role::first_touch, first_touch);
  add(role::patch_starts, patch_starts);
  add(role::patch_numbers, patch_numbers);
  add(role::patch_patterns, patch_patterns);
  add(role::pattern_numbers, pattern_numbers);
  add(role::patterns, patterns);
  if (reads(role::dof_entries)) {
    if (dofs_ != nullptr && !has_permutations(dofs_->layout)) // the starts are the entries of runs with one dof
      add(role::dof_entries, run_starts);
    else
      add(role::dof_entries, dof_entries());
  }
  if (reads(role::unpatterned_entries)) {
    add(role::unpatterned_numbers, unpatterned().numbers);
    add(role::unpatterned_entries, unpatterned().entries);
  }
  if (reads(role::distant_entries)) {
    add(role::distant_begins, distant().begins);
    add(role::distant_entries, distant().entries);
  }
}

template <class Make>
std::shared_ptr<const IndexTables> IndexTableCache::get(const void* dofs, const device::Device* device,
                                                        const Make& make) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [](const Entry& entry) { return entry.tables.expired(); });
  for (const auto& entry : entries_)
    if (entry.dofs == dofs && entry.device == device)
      // Tables keep their device alive, so that its address is that of no other device.
      if (auto tables = entry.tables.lock()) return tables;
  std::shared_ptr<const IndexTables> tables = make();
  entries_.push_back({dofs, device, tables});
  return tables;
}

std::shared_ptr<const IndexTables> IndexTableCache::get(const std::shared_ptr<const BlockDofs>& dofs, int components,
                                                        const std::shared_ptr<device::Device>& device) {
  return get(dofs.get(), device.get(), [&] { return std::make_shared<const IndexTables>(dofs, components, device); });
}

std::shared_ptr<const IndexTables> IndexTableCache::get(const std::shared_ptr<const ListDofs>& list,
                                                        const std::shared_ptr<device::Device>& device) {
  return get(list.get(), device.get(), [&] { return std::make_shared<const IndexTables>(list, device); });
}

std::shared_ptr<const ListDofs> IndexTableCache::list(std::int32_t group, std::span<const std::int32_t> cells,
                                                      int cells_per_batch, const std::function<ListDofs()>& make) {
  const std::lock_guard lock(mutex_);
  std::erase_if(lists_, [](const auto& list) { return list.expired(); });
  for (const auto& known : lists_)
    if (auto list = known.lock(); list != nullptr && list->group == group && list->cells_per_batch == cells_per_batch &&
                                  std::ranges::equal(list->cells, cells))
      return list;
  auto list = std::make_shared<const ListDofs>(make());
  lists_.push_back(list);
  return list;
}

} // namespace rafter::space
