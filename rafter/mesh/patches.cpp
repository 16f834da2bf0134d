// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/patches.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include <rafter/base/parallel.hpp>
#include <rafter/base/sorted_order.hpp>
#include <rafter/mesh/cell_batches.hpp>
#include <rafter/mesh/parallel_neighbours.hpp>
#include <rafter/mesh/visiting_order.hpp>

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

/// Goes from cell to cell. Neighbours that lie as far away as the last one along an axis are found without a search: of
/// two cells with a common facet each is the only one that the other finds there.
class Walk {
public:
  explicit Walk(const ParallelNeighbours& neighbours) : neighbours_(neighbours) {}

  /// Both return what ParallelNeighbours::above() and below() do.
  std::int32_t above(std::int32_t cell, int axis) {
    auto& stride = strides_[static_cast<std::size_t>(axis)];
    if (const auto guess = cell + stride;
        exists(guess) && neighbours_.continues(cell, static_cast<std::int32_t>(guess), axis))
      return static_cast<std::int32_t>(guess);
    const auto found = neighbours_.above(cell, axis);
    if (found >= 0) stride = std::int64_t{found} - cell;
    return found;
  }
  std::int32_t below(std::int32_t cell, int axis) {
    auto& stride = strides_[static_cast<std::size_t>(axis)];
    if (const auto guess = cell - stride;
        exists(guess) && neighbours_.continues(static_cast<std::int32_t>(guess), cell, axis))
      return static_cast<std::int32_t>(guess);
    const auto found = neighbours_.below(cell, axis);
    if (found >= 0) stride = std::int64_t{cell} - found;
    return found;
  }

private:
  bool exists(std::int64_t cell) const { return cell >= 0 && cell < neighbours_.num_cells(); }
  const ParallelNeighbours& neighbours_;
  std::array<std::int64_t, 3> strides_{}; ///< stride from a cell to the one above it, where it was found last
};

/// Arrangement of the cells of a patch and of their vertices.
class PatchShape {
public:
  PatchShape(int dim, int width)
      : num_corners_(Lattice(dim, 2).size()), points_(patch_points(dim, width)), vertices_(points_.size()) {
    const Lattice cells(dim, width), points(dim, width + 1), corners(dim, 2);
    for (std::size_t child = 0; child < cells.size(); ++child) {
      const auto place = cells.place(child);
      auto before = place;
      int axis = 0;
      if (child > 0) {
        while (before[axis] == 0) ++axis;
        --before[axis];
        steps_.push_back({cells.number(before), axis});
      }
      for (std::size_t v = 0; v < corners.size(); ++v) {
        auto point = place;
        for (int a = 0; a < dim; ++a) point[a] += corners.place(v)[a];
        const auto number = points.number(point);
        const bool is_of_facet = child > 0 && corners.place(v)[axis] == 0; // the step has compared it
        if (!is_of_facet && points_[number] != PatchPoint{static_cast<int>(child), static_cast<int>(v)})
          repeated_.push_back({{static_cast<int>(child), static_cast<int>(v)}, number});
      }
    }
  }

  std::size_t num_children() const { return steps_.size() + 1; }

  /// Writes the children of the patch that begins with cell `first`, -1 for those that do not exist. Returns whether
  /// all do.
  bool find_children(Walk& walk, std::int32_t first, std::span<std::int32_t> children) const {
    children[0] = first;
    bool are_all = true;
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      const auto before = children[steps_[s].before];
      children[s + 1] = before < 0 ? -1 : walk.above(before, steps_[s].axis);
      are_all = are_all && children[s + 1] >= 0;
    }
    return are_all;
  }
  /// Says whether the vertices of the children, as find_children() gives them, form a lattice, with one vertex at each
  /// point and no two of them identified, that is, with the same one of `representatives`, unless that is empty.
  bool is_lattice(const CellGroup& group, std::span<const std::int32_t> representatives,
                  std::span<const std::int32_t> children) {
    const auto vertex_at = [&](const PatchPoint& point) {
      const auto cell = static_cast<std::size_t>(children[static_cast<std::size_t>(point.child)]);
      return group.vertices[cell * num_corners_ + static_cast<std::size_t>(point.corner)];
    };
    for (std::size_t i = 0; i < points_.size(); ++i) vertices_[i] = vertex_at(points_[i]);
    std::int32_t difference = 0;
    for (const auto& [place, point] : repeated_) difference |= vertex_at(place) ^ vertices_[point];
    if (difference != 0) return false;
    if (!representatives.empty())
      for (auto& vertex : vertices_) vertex = representatives[static_cast<std::size_t>(vertex)];
    // This holds in boxes.
    if (std::ranges::adjacent_find(vertices_, std::greater_equal()) == vertices_.end()) return true;
    std::ranges::sort(vertices_);
    return std::ranges::adjacent_find(vertices_) == vertices_.end();
  }

private:
  struct Step {
    std::size_t before; ///< child on the lower side of the step
    int axis;
  };

  std::size_t num_corners_;
  std::vector<PatchPoint> points_;
  /// Other places of points than those in `points_`, with the number of the point, that no step compares.
  std::vector<std::pair<PatchPoint, std::size_t>> repeated_;
  std::vector<Step> steps_;            ///< steps to all children but the first
  std::vector<std::int32_t> vertices_; ///< vertices of the last patch, shape (point)
};

/// Finds the patches of structured parts of a mesh. The first one of a part begins at the lower end of the rows through
/// the cell from which it is found, and the others follow along the axes. Cells belong to the patch that takes them
/// first, and rows end at them, so that no row is walked along again and again.
class PatchSearch {
public:
  PatchSearch(const ParallelNeighbours& neighbours, const PatchShape& shape, int width)
      : walk_(neighbours), dim_(neighbours.dim()), shape_(shape), width_(width),
        is_taken_(static_cast<std::size_t>(neighbours.num_cells()), 0), of_patch_(shape.num_children()) {}

  void spread_from(std::int32_t seed) {
    if (is_taken(seed)) return;
    std::int32_t first = seed;
    for (int axis = 0; axis < dim_; ++axis) first = lower_end(first, axis);
    visit(first);
    while (!waiting_.empty()) {
      const auto patch = waiting_.back();
      waiting_.pop_back();
      // Neighbours along the first axis, which tend to be neighbours in memory, are visited first.
      for (int axis = dim_; axis-- > 0;) {
        visit(step(patch, [&](std::int32_t cell) { return walk_.below(cell, axis); }));
        visit(step(patch, [&](std::int32_t cell) { return walk_.above(cell, axis); }));
      }
    }
    is_taken_[static_cast<std::size_t>(seed)] = 1; // also where no patch reaches it
  }
  /// Returns the cells of all patches, shape (patch, child).
  std::vector<std::int32_t> take() && { return std::move(children_); }

private:
  bool is_taken(std::int32_t cell) const { return is_taken_[static_cast<std::size_t>(cell)] != 0; }
  /// The cell at the lower end of the row of cells through `cell` that are not taken; `cell` itself where the row is a
  /// ring.
  std::int32_t lower_end(std::int32_t cell, int axis) {
    std::int32_t end = cell;
    for (std::int32_t next; (next = walk_.below(end, axis)) >= 0 && !is_taken(next); end = next)
      if (next == cell) return cell;
    return end;
  }
  /// The cell as many steps away as a patch has cells along an axis; -1 if there is none.
  template <class Next> std::int32_t step(std::int32_t cell, const Next& next) const {
    for (int i = 0; i < width_ && cell >= 0; ++i) cell = next(cell);
    return cell;
  }
  /// Takes the cells of the patch that begins with `first`, unless that belongs to another one.
  void visit(std::int32_t first) {
    if (first < 0 || is_taken(first)) return;
    bool is_patch = shape_.find_children(walk_, first, of_patch_);
    for (const auto cell : of_patch_) {
      if (cell < 0) continue;
      is_patch = is_patch && !is_taken(cell);
      is_taken_[static_cast<std::size_t>(cell)] = 1;
    }
    if (is_patch) children_.insert(children_.end(), of_patch_.begin(), of_patch_.end());
    waiting_.push_back(first);
  }

  Walk walk_;
  int dim_;
  const PatchShape& shape_;
  int width_;
  std::vector<std::uint8_t> is_taken_; ///< says of a cell that a patch has taken it, or that it begins none
  std::vector<std::int32_t> children_, of_patch_, waiting_;
};

} // namespace

std::vector<PatchPoint> patch_points(int dim, int width) {
  const Lattice cells(dim, width), points(dim, width + 1);
  std::vector<PatchPoint> result;
  for (std::size_t number = 0; number < points.size(); ++number) {
    auto cell = points.place(number);
    int corner = 0;
    for (int a = 0; a < dim; ++a)
      if (cell[a] == width) {
        --cell[a];
        corner |= 1 << a;
      }
    result.push_back({static_cast<int>(cells.number(cell)), corner});
  }
  return result;
}

std::vector<std::int32_t> find_patches(const Mesh& mesh, int group, std::span<const std::int32_t> cells, int width) {
  const auto& all = mesh.groups[group];
  if (!element::is_tensor(all.shape) || element::dimension(all.shape) < 2 || width < 2) return {};
  const auto& representatives = mesh.surface().vertex_representatives; // the search relies on facets of two cells
  const ParallelNeighbours neighbours(mesh, group);
  const PatchShape shape(element::dimension(all.shape), width);
  PatchSearch search(neighbours, shape, width);
  for (const auto cell : cells) search.spread_from(cell);
  auto patches = std::move(search).take();
  const std::size_t size = shape.num_children();
  std::vector<std::uint8_t> are_given(all.tags.size(), 0), are_patches(patches.size() / size);
  for (const auto cell : cells) are_given[static_cast<std::size_t>(cell)] = 1;
  const auto patch = [&](std::size_t i) { return std::span(patches).subspan(i * size, size); };
  base::Parts(std::ssize(are_patches), 1 << 11).run([&](std::int64_t begin, std::int64_t end, std::int64_t) {
    PatchShape own = shape; // it remembers the vertices of the last patch
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      are_patches[i] =
          std::ranges::all_of(patch(i), [&](auto cell) { return are_given[static_cast<std::size_t>(cell)] != 0; }) &&
          own.is_lattice(all, representatives, patch(i));
  });
  std::size_t count = 0;
  for (std::size_t i = 0; i < are_patches.size(); ++i)
    if (are_patches[i] != 0) std::ranges::copy(patch(i), patches.begin() + static_cast<std::ptrdiff_t>(count++ * size));
  patches.resize(count * size);
  return patches;
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
  std::vector<std::uint8_t> are_in_patches(mesh.groups[group].tags.size(), 0);
  for (const auto cell : patches) are_in_patches[static_cast<std::size_t>(cell)] = 1;
  std::vector<std::int32_t> rest, diagonals;
  for (const auto cell : cells)
    if (are_in_patches[static_cast<std::size_t>(cell)] == 0) rest.push_back(cell);
  for (std::size_t i = 0; i < patches.size(); i += size)
    diagonals.insert(diagonals.end(), {patches[i], patches[i + size - 1]});
  const VisitingOrder order(mesh, group);
  rest = order.of_cells(std::move(rest));
  const auto places_of_rest = order.places(rest, 1), places = order.places(diagonals, 2);
  Batches batches(patches, size, cells_per_batch);
  std::size_t next = 0; // cell of the rest
  for (const auto patch : base::sorted_order(places)) {
    for (; next < rest.size() && places_of_rest[next] < places[static_cast<std::size_t>(patch)]; ++next)
      batches.take_cell(rest[next]);
    batches.take_patch(patch);
  }
  for (; next < rest.size(); ++next) batches.take_cell(rest[next]);
  return batches.finish();
}

} // namespace rafter::mesh
