// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/run/two_pass_sum.hpp>

#include <limits>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/schedule/cell_vector_sum.hpp>
#include <rafter/schedule/mapping.hpp>

namespace rafter::op {
namespace {

/// The entries of all cell vectors by the entry of the vector that they are added to, in compressed rows.
struct TermLists {
  base::AlignedVector<std::int32_t> starts, places; ///< shape (entry + 1), (term)
};

TermLists lists_of(std::span<const std::int32_t> entries, std::size_t num_entries) {
  TermLists result;
  result.starts.assign(num_entries + 1, 0);
  for (const auto entry : entries)
    if (entry >= 0) ++result.starts[static_cast<std::size_t>(entry) + 1];
  for (std::size_t i = 0; i < num_entries; ++i) result.starts[i + 1] += result.starts[i];
  result.places.resize(static_cast<std::size_t>(result.starts.back()));
  std::vector<std::int32_t> next(result.starts.begin(), result.starts.end() - 1);
  for (std::size_t place = 0; place < entries.size(); ++place)
    if (entries[place] >= 0)
      result.places[static_cast<std::size_t>(next[static_cast<std::size_t>(entries[place])]++)] =
          static_cast<std::int32_t>(place);
  return result;
}

} // namespace

TwoPassSum::TwoPassSum(std::shared_ptr<device::Device> device, std::span<const CellVector> parts,
                       std::int64_t num_entries, schedule::Precision precision)
    : device_(std::move(device)), precision_(precision) {
  for (const auto& part : parts) {
    parts_.push_back({part.kernel, part.output, size_});
    size_ += part.size;
  }
  if (size_ > std::numeric_limits<std::int32_t>::max())
    throw base::InputError(fmt::format("plan: scatter=two-pass keeps {} numbers of cells; at most 2147483647 are "
                                       "accepted: use scatter=atomic",
                                       size_));
  std::vector<std::int32_t> entries(size_);
  for (std::size_t i = 0; i < parts.size(); ++i)
    parts[i].find_entries(std::span(entries).subspan(parts_[i].begin, parts[i].size));
  auto lists = lists_of(entries, static_cast<std::size_t>(num_entries));
  starts_ = Integers(device_, std::move(lists.starts));
  places_ = Integers(device_, std::move(lists.places));

  const auto program = schedule::cell_vector_sum(
      precision_ == schedule::Precision::double_precision ? schedule::Type::real : schedule::Type::real32);
  device::BufferRegistry kept;
  kept.add(schedule::role::sum_starts, 0, starts_.device_read());
  kept.add(schedule::role::sum_places, 0, places_.device_read());
  sum_.emplace(device_,
               StagedKernels::Arguments{{compiled(*device_, program), program.arguments(), program.launch, kept}},
               StagedKernels::Stages{{{0, 0, static_cast<std::int32_t>(num_entries)}}});
}

TwoPassSum::Terms TwoPassSum::take() const {
  return free_terms_.take([this] { return Numbers(device_, size_, precision_); });
}

void TwoPassSum::add_to(device::BufferRegistry& registry, std::size_t kernel, Terms& terms) const {
  const std::size_t bytes = precision_ == schedule::Precision::double_precision ? sizeof(double) : sizeof(float);
  for (const auto& part : parts_)
    if (part.kernel == kernel)
      registry.add(schedule::role::cell_vector, part.output, terms->device_write(), bytes * part.begin);
}

void TwoPassSum::run(Terms& terms, device::Buffer* y, bool adds) const {
  device::BufferRegistry vectors;
  vectors.add(schedule::role::cell_vector, 0, terms->device_read());
  vectors.add(schedule::role::output_vector, 0, y);
  sum_->run(vectors, adds);
}

} // namespace rafter::op
