// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/kernel/transfer.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/kernel/program_steps.hpp>
#include <rafter/kernel/reference_matrices.hpp>

namespace rafter::kernel {
namespace {

using element::Element;

/// Nodes of elements lie much further apart, and those of neighbours agree to rounding.
constexpr double tolerance = 1e-9;

bool are_equal(std::span<const double> x, std::span<const double> y) {
  return std::ranges::equal(x, y, [](double a, double b) { return std::fabs(a - b) < tolerance; });
}

std::span<const double> row(const std::vector<double>& points, std::size_t i, std::size_t dim) {
  return std::span(points).subspan(i * dim, dim);
}

/// The different numbers, ascending.
std::vector<double> distinct(std::vector<double> numbers) {
  std::ranges::sort(numbers);
  const auto is_same = [](double a, double b) { return b - a < tolerance; };
  numbers.erase(std::unique(numbers.begin(), numbers.end(), is_same), numbers.end());
  return numbers;
}

class GridNodes {
public:
  explicit GridNodes(const TransferInput& input)
      : input_(input), dim_(static_cast<std::size_t>(element::dimension(input.coarse->shape()))) {}

  ChildNodes run() {
    ChildNodes result;
    std::size_t num_nodes = 1;
    for (std::size_t axis = 0; axis < dim_; ++axis) {
      std::vector<double> numbers;
      for (const auto& child : input_.children)
        for (std::size_t i = axis; i < child.nodes.size(); i += dim_) numbers.push_back(child.nodes[i]);
      result.grid.push_back(distinct(std::move(numbers)));
      num_nodes *= result.grid.back().size();
    }
    std::vector<char> is_taken(num_nodes, 0);
    for (const auto& child : input_.children) {
      auto& places = result.places.emplace_back();
      for (std::size_t i = 0; i < static_cast<std::size_t>(child.element->num_dofs()); ++i) {
        const auto place = place_of(row(child.nodes, i, dim_), result.grid);
        places.push_back(is_taken[place] != 0 ? -1 : static_cast<int>(place));
        is_taken[place] = 1;
      }
    }
    if (std::ranges::count(is_taken, 0) > 0) throw base::InternalError("the nodes of the children are no grid");
    return result;
  }

private:
  std::size_t place_of(std::span<const double> x, const std::vector<std::vector<double>>& grid) const {
    std::size_t place = 0;
    for (std::size_t axis = dim_; axis-- > 0;) {
      const auto& points = grid[axis];
      const auto found = std::ranges::lower_bound(points, x[axis] - tolerance);
      place = place * points.size() + static_cast<std::size_t>(found - points.begin());
    }
    return place;
  }

  const TransferInput& input_;
  std::size_t dim_;
};

ChildNodes listed_nodes(const TransferInput& input) {
  const auto dim = static_cast<std::size_t>(element::dimension(input.coarse->shape()));
  ChildNodes result;
  for (const auto& child : input.children) {
    auto& places = result.places.emplace_back();
    const std::size_t of_others = result.points.size() / dim; // two nodes of one child are never the same
    for (std::size_t i = 0; i < static_cast<std::size_t>(child.element->num_dofs()); ++i) {
      const auto x = row(child.nodes, i, dim);
      bool is_known = false;
      for (std::size_t n = 0; n < of_others && !is_known; ++n) is_known = are_equal(row(result.points, n, dim), x);
      places.push_back(is_known ? -1 : static_cast<int>(result.points.size() / dim));
      if (!is_known) result.points.insert(result.points.end(), x.begin(), x.end());
    }
  }
  return result;
}

/// Says whether the places of the only child are those of its dofs in their order.
bool is_in_order(const ChildNodes& nodes) {
  if (nodes.places.size() != 1) return false;
  std::vector<int> order(nodes.places.front().size());
  std::iota(order.begin(), order.end(), 0);
  return order == nodes.places.front();
}

ReferenceMatrix transposed(const ReferenceMatrix& matrix) {
  return weighted_transpose(matrix, std::vector<double>(static_cast<std::size_t>(matrix.rows), 1.0));
}

class Builder {
public:
  explicit Builder(const TransferInput& input) : input_(input), nodes_(distinct_nodes(input)), steps_(program_) {
    program_.function.shape = input.coarse->shape();
    program_.tdim = element::dimension(input.coarse->shape());
    for (std::size_t axis = 0; axis < nodes_.grid.size(); ++axis)
      factors_.push_back(matrix(static_cast<int>(axis), nodes_.grid[axis]));
    if (!nodes_.is_grid()) factors_.push_back(matrix(-1, nodes_.points));
  }

  TensorProgram run() {
    const bool prolongates = input_.direction == TransferDirection::prolongation;
    auto& coarse = prolongates ? program_.inputs : program_.outputs;
    auto& fine = prolongates ? program_.outputs : program_.inputs;
    coarse.push_back(field(prolongates, 0, input_.coarse));
    for (std::size_t k = 0; k < input_.children.size(); ++k)
      fine.push_back(field(!prolongates, static_cast<int>(k), input_.children[k].element));
    if (prolongates)
      prolongate();
    else
      restrict_to_coarse();
    program_.verify();
    return std::move(program_);
  }

private:
  ReferenceMatrix matrix(int axis, std::span<const double> points) const {
    auto result = interpolation_matrix(*input_.coarse, points, axis);
    return input_.direction == TransferDirection::prolongation ? result : transposed(result);
  }
  FieldUse field(bool is_input, int index, std::shared_ptr<const Element> element) const {
    return {.kind = is_input ? AtomKind::reference_trial : AtomKind::reference_test,
            .index = index,
            .components = input_.components,
            .element = std::move(element)};
  }
  std::vector<int> fine_axes() {
    std::vector<int> extents;
    for (const auto& points : nodes_.grid) extents.push_back(static_cast<int>(points.size()));
    if (!nodes_.is_grid()) extents.push_back(static_cast<int>(nodes_.points.size()) / program_.tdim);
    return steps_.add_axes(AxisKind::dof, extents, nodes_.is_grid());
  }
  std::vector<int> coarse_axes() {
    const auto extents = nodes_.is_grid() ? input_.coarse->extents() : std::vector<int>{input_.coarse->num_dofs()};
    return steps_.add_axes(AxisKind::dof, extents, nodes_.is_grid());
  }

  void prolongate() {
    const int coarse = steps_.add_array("coarse", input_.components, coarse_axes());
    const int reading = steps_.add_access({.kind = AccessKind::input});
    steps_.read(reading, coarse);
    mask(reading, input_.masks.coarse, coarse);
    const int fine = contracted(coarse, "fine", fine_axes());
    for (int k = 0; k < static_cast<int>(input_.children.size()); ++k) {
      const int writing = child_access(AccessKind::output, k);
      mask(writing, child_mask(k), fine);
      steps_.write(writing, fine);
    }
  }
  void restrict_to_coarse() {
    const int fine = steps_.add_array("fine", input_.components, fine_axes());
    for (int k = 0; k < static_cast<int>(input_.children.size()); ++k) {
      const int reading = child_access(AccessKind::input, k);
      steps_.read(reading, fine);
      mask(reading, child_mask(k), fine);
    }
    const int coarse = contracted(fine, "coarse", coarse_axes());
    const int writing = steps_.add_access({.kind = AccessKind::output});
    mask(writing, input_.masks.coarse, coarse);
    steps_.write(writing, coarse);
  }
  int contracted(int source, const std::string& name, const std::vector<int>& rows) {
    if (nodes_.is_grid()) return steps_.chain(source, factors_, rows, name, AxisOrder::first_to_last);
    if (is_identity(factors_.front())) return source;
    const int matrix = steps_.add_matrix(factors_.front());
    return steps_.contract(source, {.rows = rows, .cols = {program_.array(source).axes.back()}, .members = {matrix}},
                           name);
  }
  int child_mask(int child) const {
    return input_.masks.children.empty() ? 0 : input_.masks.children[static_cast<std::size_t>(child)];
  }
  int child_access(AccessKind kind, int child) {
    auto places = is_in_order(nodes_) ? std::vector<int>{} : nodes_.places[static_cast<std::size_t>(child)];
    return steps_.add_access({.kind = kind, .field = child, .places = std::move(places)});
  }
  void mask(int access, int components, int array) {
    if (components == 0) return;
    const bool prolongates = input_.direction == TransferDirection::prolongation;
    const bool is_fine = (program_.access(access).kind == AccessKind::output) == prolongates;
    steps_.mask(array, {.access = access, .components = components, .is_of_owners = is_fine});
  }

  const TransferInput& input_;
  ChildNodes nodes_;
  TensorProgram program_;
  ProgramSteps steps_;
  std::vector<ReferenceMatrix> factors_; ///< matrix along each axis of tensor cells, else one dense matrix
};

} // namespace

ChildNodes distinct_nodes(const TransferInput& input) {
  return input.coarse->has_tensor_factors() ? GridNodes(input).run() : listed_nodes(input);
}

ReferenceMatrix interpolation_matrix(const Element& coarse, std::span<const double> points, int axis) {
  const bool is_grid = axis >= 0;
  const auto dim = is_grid ? std::size_t{1} : static_cast<std::size_t>(element::dimension(coarse.shape()));
  // An axis of a tensor cell has the nodes with the first coordinates on the other axes.
  const auto extents = coarse.extents();
  std::size_t step = 1, first = 0; // from one such node to the next, and the coordinate that they differ in
  for (; is_grid && first < static_cast<std::size_t>(axis); ++first) step *= static_cast<std::size_t>(extents[first]);
  const int num_nodes = is_grid ? extents[static_cast<std::size_t>(axis)] : coarse.num_dofs();
  const auto stride = step * static_cast<std::size_t>(element::dimension(coarse.shape()));
  const auto table = is_grid ? coarse.tabulate_1d(axis, points) : coarse.tabulate(points);
  ReferenceMatrix result{"P", table.num_points, num_nodes, {}, Symmetry::none, !is_grid};
  for (int q = 0; q < table.num_points; ++q) {
    const auto x = points.subspan(static_cast<std::size_t>(q) * dim, dim);
    int node = -1;
    for (int i = 0; i < num_nodes && node < 0; ++i)
      if (are_equal(coarse.nodes().subspan(static_cast<std::size_t>(i) * stride + first, dim), x)) node = i;
    for (int i = 0; i < num_nodes; ++i)
      result.values.push_back(node < 0 ? table(0, q, i) : static_cast<double>(i == node));
  }
  return is_grid ? with_symmetry(std::move(result)) : result;
}

TensorProgram build_transfer(const TransferInput& input) { return Builder(input).run(); }

} // namespace rafter::kernel
