// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/alike_cells.hpp>

#include <array>

namespace rafter::mesh {

namespace {

constexpr std::size_t most_orders = 1 << 6; ///< a bit for every edge of a tetrahedron

/// Which of every two vertices has the larger number, as bits.
std::size_t order_of_vertices(const CellGroup& group, std::int32_t cell) {
  const auto n = static_cast<std::size_t>(element::num_vertices(group.shape));
  const auto* vertices = &group.vertices[static_cast<std::size_t>(cell) * n];
  std::size_t result = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) result = 2 * result + (vertices[i] < vertices[j] ? 1 : 0);
  return result;
}

/// Takes cells in, gives batches out.
class Waiting {
public:
  explicit Waiting(int lanes) : lanes_(static_cast<std::size_t>(lanes)) {}

  void take(std::int32_t cell, std::size_t order) {
    auto& alike = alike_[order];
    if (alike.cells.empty()) alike.since = num_taken_;
    alike.cells.push_back(cell);
    if (alike.cells.size() == lanes_) move(alike.cells, result_);
    if (++num_taken_ % lanes_ == 0) lose_patience(64 * lanes_);
  }
  std::vector<std::int32_t> finish() {
    lose_patience(0);
    move(late_, result_);
    return std::move(result_);
  }

private:
  struct Alike {
    std::vector<std::int32_t> cells;
    std::size_t since = 0; ///< number of the first
  };
  static void move(std::vector<std::int32_t>& from, std::vector<std::int32_t>& to) {
    to.insert(to.end(), from.begin(), from.end());
    from.clear();
  }
  void lose_patience(std::size_t patience) {
    for (auto& alike : alike_)
      if (!alike.cells.empty() && num_taken_ - alike.since >= patience) move(alike.cells, late_);
    const auto whole = static_cast<std::ptrdiff_t>(late_.size() / lanes_ * lanes_);
    result_.insert(result_.end(), late_.begin(), late_.begin() + whole);
    late_.erase(late_.begin(), late_.begin() + whole);
  }

  std::size_t lanes_, num_taken_ = 0;
  std::array<Alike, most_orders> alike_;
  std::vector<std::int32_t> late_, result_;
};

} // namespace

std::vector<std::int32_t> in_alike_batches(const CellGroup& group, std::span<const std::int32_t> cells, int lanes) {
  if (!element::is_simplex(group.shape) || element::is_tensor(group.shape)) return {cells.begin(), cells.end()};
  Waiting waiting(lanes);
  for (const auto cell : cells) waiting.take(cell, order_of_vertices(group, cell));
  return waiting.finish();
}

} // namespace rafter::mesh
