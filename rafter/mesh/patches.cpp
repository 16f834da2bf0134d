// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/patches.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <rafter/base/aligned.hpp>
#include <rafter/base/parallel.hpp>
#include <rafter/mesh/cell_batches.hpp>
#include <rafter/mesh/parallel_neighbours.hpp>

namespace rafter::mesh {

namespace {

/// Converts numbers below width^dim to places along the axes and back.
class Lattice {
public:
  Lattice(int dim, int width) : dim_(dim), width_(width) {}
  std::size_t size() const { return number({width_ - 1, width_ - 1, width_ - 1}) + 1; }
  std::array<int, 3> place(std::size_t number) const {
    std::array<int, 3> result{};
    for (int a = 0; a < dim_; ++a, number /= static_cast<std::size_t>(width_))
      result[a] = static_cast<int>(number % static_cast<std::size_t>(width_));
    return result;
  }
  std::size_t number(const std::array<int, 3>& place) const {
    std::size_t result = 0;
    for (int a = dim_; a-- > 0;)
      result = result * static_cast<std::size_t>(width_) + static_cast<std::size_t>(place[a]);
    return result;
  }

private:
  int dim_, width_;
};

/// Arrangement of the cells of a patch and of their vertices.
class PatchShape {
public:
  PatchShape(int dim, int width) : num_points_(Lattice(dim, width + 1).size()) {
    const Lattice cells(dim, width), points(dim, width + 1), corners(dim, 2);
    for (std::size_t child = 0; child < cells.size(); ++child) {
      const auto place = cells.place(child);
      for (std::size_t v = 0; v < corners.size(); ++v) {
        auto point = place;
        for (int a = 0; a < dim; ++a) point[a] += corners.place(v)[a];
        points_.push_back(points.number(point));
      }
      if (child == 0) continue;
      auto before = place;
      int axis = 0;
      while (before[axis] == 0) ++axis;
      --before[axis];
      steps_.push_back({cells.number(before), axis});
    }
  }

  std::size_t num_children() const { return steps_.size() + 1; }

  /// Writes the children of the patch that begins with cell `first`. Returns false when some do not exist.
  bool find_children(const ParallelNeighbours& neighbours, std::int32_t first, std::span<std::int32_t> children) const {
    children[0] = first;
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      children[s + 1] = neighbours.beside(children[steps_[s].before], steps_[s].axis, 1);
      if (children[s + 1] < 0) return false;
    }
    return true;
  }
  /// Says whether the vertices of the children form a lattice, with one vertex at each point and no two of them
  /// identified.
  bool is_lattice(const Mesh& mesh, const CellGroup& group, std::span<const std::int32_t> children) {
    vertices_.assign(num_points_, -1);
    const std::size_t num_corners = points_.size() / children.size();
    for (std::size_t child = 0; child < children.size(); ++child)
      for (std::size_t v = 0; v < num_corners; ++v) {
        const std::int32_t vertex = group.vertices[static_cast<std::size_t>(children[child]) * num_corners + v];
        auto& known = vertices_[points_[child * num_corners + v]];
        if (known >= 0 && known != vertex) return false;
        known = vertex;
      }
    for (auto& vertex : vertices_) vertex = mesh.surface().vertex_representative(vertex);
    std::ranges::sort(vertices_);
    return std::ranges::adjacent_find(vertices_) == vertices_.end();
  }

private:
  struct Step {
    std::size_t before; ///< child on the lower side of the step
    int axis;
  };
  std::size_t num_points_;
  std::vector<std::size_t> points_; ///< lattice point of each vertex, shape (child, corner)
  std::vector<Step> steps_;         ///< steps to all children but the first
  std::vector<std::int32_t> vertices_;
};

/// Places of cells along the axes, modulo the width of a patch, counted from the lower end of the structured part to
/// which a cell belongs. Patches begin at cells where all places are 0.
class Places {
public:
  Places(const ParallelNeighbours& neighbours, std::size_t num_cells, int width)
      : neighbours_(neighbours), width_(width), place_(num_cells, {-1, 0, 0}) {}

  void spread_from(std::int32_t seed) {
    if (is_known(seed)) return;
    for (int axis = 0; axis < neighbours_.dim(); ++axis) seed = lower_end(seed, axis);
    place_[seed] = {0, 0, 0};
    std::vector<std::int32_t> waiting{seed};
    while (!waiting.empty()) {
      const auto cell = waiting.back();
      waiting.pop_back();
      // Neighbours along the first axis, which tend to be neighbours in memory, are visited first.
      for (int axis = neighbours_.dim(); axis-- > 0;)
        for (int side = 0; side < 2; ++side) {
          const auto other = neighbours_.beside(cell, axis, side);
          if (other < 0 || is_known(other)) continue;
          place_[other] = place_[cell];
          auto& along = place_[other][axis];
          along = static_cast<std::int8_t>((along + (side == 0 ? width_ - 1 : 1)) % width_);
          waiting.push_back(other);
        }
    }
  }
  bool is_first(std::int32_t cell) const { return place_[cell] == std::array<std::int8_t, 3>{0, 0, 0}; }

private:
  bool is_known(std::int32_t cell) const { return place_[cell][0] >= 0; }
  /// The cell at the lower end of the row of cells through `cell`; `cell` itself where the row is a ring.
  std::int32_t lower_end(std::int32_t cell, int axis) const {
    std::int32_t end = cell;
    for (std::int32_t next; (next = neighbours_.beside(end, axis, 0)) >= 0; end = next)
      if (next == cell) return cell;
    return end;
  }
  const ParallelNeighbours& neighbours_;
  int width_;
  std::vector<std::array<std::int8_t, 3>> place_; ///< shape (cell, axis); -1 at the first axis: not known
};

} // namespace

std::vector<std::int32_t> find_patches(const Mesh& mesh, int group, std::span<const std::int32_t> cells, int width) {
  const auto& all = mesh.groups[group];
  if (!element::is_tensor(all.shape) || element::dimension(all.shape) < 2 || width < 2) return {};
  const ParallelNeighbours neighbours(mesh, group);
  Places places(neighbours, all.tags.size(), width);
  for (const auto cell : cells) places.spread_from(cell);
  std::vector<std::int32_t> firsts;
  for (const auto cell : cells)
    if (places.is_first(cell)) firsts.push_back(cell);
  const PatchShape shape(element::dimension(all.shape), width);
  const std::size_t size = shape.num_children();
  base::RawVector<std::int32_t> children(firsts.size() * size); // shape (first, child)
  std::vector<std::uint8_t> are_patches(firsts.size());
  const auto patch = [&](std::size_t i) { return std::span(children).subspan(i * size, size); };
  base::Parts(std::ssize(firsts), 1 << 11).run([&](std::int64_t begin, std::int64_t end, std::int64_t) {
    PatchShape own = shape; // it remembers the vertices of the last patch
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      are_patches[i] = own.find_children(neighbours, firsts[i], patch(i)) && own.is_lattice(mesh, all, patch(i));
  });
  std::vector<bool> is_free(all.tags.size());
  for (const auto cell : cells) is_free[cell] = true;
  std::vector<std::int32_t> result;
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    if (are_patches[i] == 0 || !std::ranges::all_of(patch(i), [&](std::int32_t cell) { return is_free[cell]; }))
      continue;
    for (const auto cell : patch(i)) is_free[cell] = false;
    result.insert(result.end(), patch(i).begin(), patch(i).end());
  }
  return result;
}

namespace {

/// Receives cells and patches in visiting order, and forms batches.
class Batches {
public:
  Batches(std::span<const std::int32_t> patches, std::size_t patch_size, int cells_per_batch)
      : patches_(patches), size_(patch_size), cells_per_batch_(static_cast<std::size_t>(cells_per_batch)) {}

  void take_cell(std::int32_t cell) {
    rest_.push_back(cell);
    if (rest_.size() == cells_per_batch_) append(rest_, false);
  }
  void take_patch(std::int32_t patch) {
    waiting_.push_back(patch);
    if (waiting_.size() * size_ != cells_per_batch_) return;
    auto children = waiting_children();
    append(children, true);
  }
  std::pair<std::vector<std::int32_t>, std::vector<std::uint8_t>> finish() {
    for (const auto cell : waiting_children()) take_cell(cell);
    if (!rest_.empty()) append(rest_, false);
    if (std::ranges::count(are_patches_, 1) == 0) are_patches_.clear();
    return {std::move(cells_), std::move(are_patches_)};
  }

private:
  void append(std::vector<std::int32_t>& batch, bool is_patches) {
    cells_.insert(cells_.end(), batch.begin(), batch.end());
    are_patches_.push_back(is_patches ? 1 : 0);
    batch.clear();
  }
  std::vector<std::int32_t> waiting_children() {
    std::vector<std::int32_t> result;
    for (std::size_t child = 0; child < size_; ++child)
      for (const auto patch : waiting_) result.push_back(patches_[static_cast<std::size_t>(patch) * size_ + child]);
    waiting_.clear();
    return result;
  }
  std::span<const std::int32_t> patches_; ///< cells of all patches, shape (patch, child)
  std::size_t size_, cells_per_batch_;
  std::vector<std::int32_t> waiting_, rest_; ///< patches, and cells without a patch, that wait for a full batch
  std::vector<std::int32_t> cells_;
  std::vector<std::uint8_t> are_patches_;
};

} // namespace

std::pair<std::vector<std::int32_t>, std::vector<std::uint8_t>>
in_patched_batches(const Mesh& mesh, int group, std::span<const std::int32_t> cells, int cells_per_batch, int width) {
  const auto size = static_cast<std::size_t>(cells_per_patch(width, mesh.tdim));
  const auto patches = find_patches(mesh, group, cells, width);
  std::vector<std::int32_t> patch_of(mesh.groups[group].tags.size(), -1);
  for (std::size_t i = 0; i < patches.size(); ++i) patch_of[patches[i]] = static_cast<std::int32_t>(i / size);
  std::vector<bool> is_taken(patches.size() / size);
  Batches batches(patches, size, cells_per_batch);
  for (const auto cell : cells)
    if (const auto patch = patch_of[cell]; patch < 0)
      batches.take_cell(cell);
    else if (!is_taken[patch]) {
      is_taken[patch] = true;
      batches.take_patch(patch);
    }
  return batches.finish();
}

} // namespace rafter::mesh
