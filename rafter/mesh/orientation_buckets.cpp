// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/orientation_buckets.hpp>

#include <array>

namespace rafter::mesh {

namespace {

constexpr std::size_t most_orders = 1 << 6; ///< a bit for every edge of a tetrahedron

/// Order of the vertices of a cell, as bits: for every two vertices, which has the larger global number.
std::size_t order_of_vertices(const Mesh& mesh, const CellGroup& group, std::int32_t cell) {
  const auto n = static_cast<std::size_t>(element::num_vertices(group.shape));
  const auto* vertices = &group.vertices[static_cast<std::size_t>(cell) * n];
  std::size_t result = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j)
      result = 2 * result + (mesh.global_vertex(vertices[i]) < mesh.global_vertex(vertices[j]) ? 1 : 0);
  return result;
}

/// Collects cells by the order of their vertices, and returns them in batches.
class OrientationBuckets {
public:
  explicit OrientationBuckets(int cells_per_batch) : cells_per_batch_(static_cast<std::size_t>(cells_per_batch)) {}

  void take(std::int32_t cell, std::size_t order) {
    auto& bucket = buckets_[order];
    if (bucket.cells.empty()) bucket.since = num_taken_;
    bucket.cells.push_back(cell);
    if (bucket.cells.size() == cells_per_batch_) move(bucket.cells, result_);
    if (++num_taken_ % cells_per_batch_ == 0) flush_old_buckets(64 * cells_per_batch_);
  }
  std::vector<std::int32_t> finish() {
    flush_old_buckets(0);
    move(late_, result_);
    return std::move(result_);
  }

private:
  struct Bucket {
    std::vector<std::int32_t> cells;
    std::size_t since = 0; ///< number of cells that were taken before the first of the bucket
  };
  static void move(std::vector<std::int32_t>& from, std::vector<std::int32_t>& to) {
    to.insert(to.end(), from.begin(), from.end());
    from.clear();
  }
  void flush_old_buckets(std::size_t most_age) {
    for (auto& bucket : buckets_)
      if (!bucket.cells.empty() && num_taken_ - bucket.since >= most_age) move(bucket.cells, late_);
    const auto whole = static_cast<std::ptrdiff_t>(late_.size() / cells_per_batch_ * cells_per_batch_);
    result_.insert(result_.end(), late_.begin(), late_.begin() + whole);
    late_.erase(late_.begin(), late_.begin() + whole);
  }

  std::size_t cells_per_batch_, num_taken_ = 0;
  std::array<Bucket, most_orders> buckets_;
  std::vector<std::int32_t> late_, result_;
};

} // namespace

std::vector<std::int32_t> in_orientation_buckets(const Mesh& mesh, int number, std::span<const std::int32_t> cells,
                                                 int cells_per_batch) {
  const auto& group = mesh.groups[static_cast<std::size_t>(number)];
  if (!element::is_simplex(group.shape) || element::is_tensor(group.shape)) return {cells.begin(), cells.end()};
  OrientationBuckets buckets(cells_per_batch);
  for (const auto cell : cells) buckets.take(cell, order_of_vertices(mesh, group, cell));
  return buckets.finish();
}

} // namespace rafter::mesh
