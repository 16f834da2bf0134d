// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/space/patch_layout.hpp>

#include <map>
#include <utility>

namespace rafter::space {

namespace {

/// The nodes of a patch, numbered along the axes, first axis fastest.
class Lattice {
public:
  Lattice(int dim, int degree, int cells) : dim_(dim), degree_(degree), cells_(cells), width_(cells * degree + 1) {}

  int num_nodes() const { return power(width_); }
  int num_children() const { return power(cells_); }
  /// Number of the first node of a child.
  int corner(int child) const {
    int result = 0;
    for (int a = 0, step = 1; a < dim_; ++a, step *= width_, child /= cells_) result += child % cells_ * degree_ * step;
    return result;
  }
  /// Number of the node of a child's local dof, counted from the child's first node.
  int place(int dof) const {
    int result = 0;
    for (int a = 0, step = 1; a < dim_; ++a, step *= width_, dof /= degree_ + 1) result += dof % (degree_ + 1) * step;
    return result;
  }
  /// The entity of the patch on which a node lies: its dimension, and a number that has for each axis a digit in base 3
  /// (0: lower end, 1: between, 2: upper end).
  std::pair<int, int> entity(int node) const {
    int dim = 0, number = 0;
    for (int a = 0; a < dim_; ++a, node /= width_) {
      const int at = node % width_;
      const bool is_between = at > 0 && at < width_ - 1;
      dim += is_between ? 1 : 0;
      number = 3 * number + (is_between ? 1 : at == 0 ? 0 : 2);
    }
    return {dim, number};
  }

private:
  int power(int base) const {
    int result = 1;
    for (int a = 0; a < dim_; ++a) result *= base;
    return result;
  }
  int dim_, degree_, cells_, width_; ///< cells and nodes along an axis
};

} // namespace

std::unique_ptr<PatchLayout> make_patch_layout(const ElementLayout& layout, int width) {
  const element::Shape shape = layout.element->shape();
  const int dim = element::dimension(shape);
  if (layout.num_runs == 0 || !layout.element->has_tensor_factors() || dim < 2) return nullptr;
  const Lattice lattice(dim, layout.element->degree(), width);
  auto result = std::make_unique<PatchLayout>();
  result->num_nodes = lattice.num_nodes();
  for (int child = 0; child < lattice.num_children(); ++child) result->corners.push_back(lattice.corner(child));
  for (const int dof : layout.run_dofs) result->places.push_back(lattice.place(dof));
  struct Nodes {
    PatchLayout::CellRun cell_run;
    std::vector<int> nodes;
  };
  std::map<int, Nodes> cell_runs; // runs of cells by their first nodes
  for (int child = 0; child < lattice.num_children(); ++child) {
    auto place = result->places.begin();
    for (int run = 0; run < layout.num_runs; ++run) {
      std::vector<int> nodes;
      for (int k = 0; k < layout.run_lengths[static_cast<std::size_t>(run)]; ++k)
        nodes.push_back(result->corners[static_cast<std::size_t>(child)] + *place++);
      // Children that share a run list its nodes in the same order, so that it does not matter which of them is
      // taken.
      cell_runs.try_emplace(nodes.front(), Nodes{{child, run}, nodes});
    }
  }
  std::map<std::pair<int, int>, std::vector<const Nodes*>> runs; // runs by entity of the patch
  for (const auto& [node, cell_run] : cell_runs) runs[lattice.entity(node)].push_back(&cell_run);
  for (const auto& [entity, of_run] : runs) {
    const std::size_t before = result->arrangements.size();
    for (const auto* cell_run : of_run) {
      result->cell_runs.push_back(cell_run->cell_run);
      result->arrangements.insert(result->arrangements.end(), cell_run->nodes.begin(), cell_run->nodes.end());
    }
    result->num_cell_runs.push_back(static_cast<int>(of_run.size()));
    result->run_lengths.push_back(static_cast<int>(result->arrangements.size() - before));
  }
  return result;
}

} // namespace rafter::space
