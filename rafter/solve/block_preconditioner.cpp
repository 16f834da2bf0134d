// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/block_preconditioner.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <rafter/base/error_context.hpp>
#include <rafter/base/text.hpp>

namespace rafter::solvers {
namespace {

void require_fit(std::int64_t size, const std::vector<BlockPreconditioner::Part>& parts) {
  if (parts.empty()) throw base::InputError("preconditioner block: there is no block");
  std::vector<op::EntryRange> entries;
  for (const auto& part : parts) {
    const auto& block = part.block;
    entries.push_back(block.entries);
    if (block.A->size() != block.entries.end - block.entries.begin)
      throw base::InputError(
          fmt::format("preconditioner block: the operator of field '{}' has {} entries, the field {}", block.field,
                      block.A->size(), block.entries.end - block.entries.begin));
  }
  std::ranges::sort(entries, {}, &op::EntryRange::begin);
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (entries[i].begin < (i == 0 ? 0 : entries[i - 1].end) || entries[i].end > size)
      throw base::InputError("preconditioner block: the entries of fields overlap or are not in the system's vectors");
}

/// Brings the values of the system's operator to a block. Says whether any may have changed.
bool follow(const FieldBlock& block) { return block.follow ? block.follow() : true; }

} // namespace

struct BlockPreconditioner::Work {
  mutable std::shared_ptr<const Preconditioner> M;
  mutable Vector r, z; ///< vectors of the field
  VectorOps ops;       ///< operations on vectors of this size
};

BlockPreconditioner::BlockPreconditioner(std::int64_t size, std::vector<Part> parts) : parts_(std::move(parts)) {
  require_fit(size, parts_);
  for (const auto& part : parts_) {
    const auto& A = *part.block.A;
    const auto entries = static_cast<std::size_t>(A.size());
    follow(part.block);
    work_.push_back({make(part), Vector(A.device(), entries), Vector(A.device(), entries), VectorOps(A.device())});
  }
}

BlockPreconditioner::~BlockPreconditioner() = default;

std::shared_ptr<const Preconditioner> BlockPreconditioner::make(const Part& part) {
  return base::with_context(fmt::format("block of field '{}'", part.block.field), part.make);
}

void BlockPreconditioner::apply(const Vector& r, Vector& z) const {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto& entries = parts_[i].block.entries;
    const auto& work = work_[i];
    work.ops.copy_range({r, entries}, work.r);
    work.M->apply(work.r, work.z);
    work.ops.copy_range(work.z, {z, entries});
  }
}

bool BlockPreconditioner::is_single() const {
  return std::ranges::any_of(work_, [](const Work& work) { return work.M->is_single(); });
}

bool BlockPreconditioner::is_variable() const {
  return std::ranges::any_of(work_, [](const Work& work) { return work.M->is_variable(); });
}

std::int64_t BlockPreconditioner::num_negative_eigenvalues() const {
  std::int64_t sum = 0;
  for (const auto& work : work_) sum += work.M->num_negative_eigenvalues();
  return sum;
}

bool BlockPreconditioner::refresh() const {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    auto& M = work_[i].M;
    const auto refresh = [&M] { return M->refresh(); };
    if (!follow(parts_[i].block) ||
        base::with_context(fmt::format("block of field '{}'", parts_[i].block.field), refresh))
      continue;
    M.reset(); // frees its memory before the next one takes some
    M = make(parts_[i]);
  }
  return true;
}

std::string BlockPreconditioner::description() const {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto& block = parts_[i].block;
    const auto inner = work_[i].M->description();
    texts.push_back(fmt::format("{}: {}{}{}", block.field, block.preconditioner,
                                block.is_mass ? " of its mass matrix, because the form has no block of this field" : "",
                                inner.empty() ? "" : fmt::format(" ({})", inner)));
  }
  return base::join(texts, "; ");
}

} // namespace rafter::solvers
