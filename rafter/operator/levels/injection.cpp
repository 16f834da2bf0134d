// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/levels/injection.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/element/dense.hpp>
#include <rafter/mesh/subdivision.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::op {
namespace {

/// Nodes of elements lie much further apart, in reference cells with edges of length 2.
constexpr double tolerance = 1e-9;
/// Values of basis functions that are zero but for rounding are smaller.
constexpr double rounding = 1e-14;

/// The entries of a cell in the vectors of a space, shape (component, local dof).
void find_entries(const space::FunctionSpace& space, std::int32_t group, std::int32_t cell,
                  std::vector<std::int32_t>& entries) {
  const auto shape = space.mesh().groups[static_cast<std::size_t>(group)].shape;
  entries.resize(static_cast<std::size_t>(space.element(shape)->num_dofs() * space.num_components()));
  const auto position = space.position(group, cell);
  space.cell_dofs(position.block, position.batch, position.cell, entries);
}

/// Says whether a reference cell, which is convex, holds a point: it lies behind all facets.
bool holds(element::Shape shape, std::span<const double> point) {
  const int dim = element::dimension(shape);
  const auto vertices = element::reference_vertices(shape);
  for (int facet = 0; facet < element::num_facets(shape); ++facet) {
    const auto normal = element::reference_normal(shape, facet);
    const int vertex = element::entity_vertices(shape, dim - 1, facet).front();
    double distance = 0;
    for (int d = 0; d < dim; ++d)
      distance += normal[static_cast<std::size_t>(d)] *
                  (point[static_cast<std::size_t>(d)] - vertices[static_cast<std::size_t>(vertex * dim + d)]);
    if (distance > tolerance) return false;
  }
  return true;
}

/// Reference coordinates in a child of points that are given in its parent, both of shape (point, dimension). Children
/// are affine images of their reference cells.
std::vector<double> map_to_child(element::Shape parent, const mesh::Subdivision& division, const mesh::Child& child,
                                 std::span<const double> points) {
  const int dim = element::dimension(parent);
  const auto n = static_cast<std::size_t>(dim);
  const auto corners = mesh::map_to_parent(parent, division, child, element::reference_vertices(child.shape));
  const auto first = element::reference_vertices(child.shape).first(n);
  std::vector<double> matrix(n * n); // the Jacobian matrix, column by column from vertex 0
  for (int axis = 0; axis < dim; ++axis) {
    const auto other = static_cast<std::size_t>(element::axis_vertex(child.shape, axis));
    for (std::size_t d = 0; d < n; ++d)
      matrix[d * n + static_cast<std::size_t>(axis)] = (corners[other * n + d] - corners[d]) / 2;
  }
  const auto inverse = element::inverse(std::move(matrix), dim);
  std::vector<double> result(points.size());
  for (std::size_t p = 0; p < points.size(); p += n)
    for (std::size_t i = 0; i < n; ++i) {
      result[p + i] = first[i];
      for (std::size_t d = 0; d < n; ++d) result[p + i] += inverse[i * n + d] * (points[p + d] - corners[d]);
    }
  return result;
}

/// Number of the node at a point, or -1.
int node_at(const element::Element& element, std::span<const double> point) {
  const auto nodes = element.nodes();
  for (std::size_t i = 0; i < nodes.size(); i += point.size())
    if (std::ranges::equal(nodes.subspan(i, point.size()), point,
                           [](double a, double b) { return std::fabs(a - b) < tolerance; }))
      return static_cast<int>(i / point.size());
  return -1;
}

} // namespace

/// Finds where the values at coarse nodes come from.
class Injection::Builder {
public:
  Builder(Injection& injection, const mesh::Refinement* refinement)
      : result_(injection), fine_(*injection.fine_), coarse_(*injection.coarse_), between_(injection.between_.get()),
        refinement_(refinement) {}

  void run() {
    require_fit();
    const auto& groups = (between_ != nullptr ? fine_ : coarse_).mesh().groups;
    for (std::size_t g = 0; g < groups.size(); ++g)
      result_.places_.push_back(refinement_ != nullptr ? refinement_->places[g]
                                                       : std::vector<mesh::ChildPlace>{{static_cast<int>(g), 1, 0}});
    is_taken_.assign(static_cast<std::size_t>(coarse_.num_local()), false);
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (std::int32_t cell = 0; cell < groups[g].num_cells(); ++cell) take_cell(static_cast<std::int32_t>(g), cell);
  }

private:
  void require_fit() const {
    if (fine_.family != coarse_.family || fine_.num_components() != coarse_.num_components())
      throw base::InputError(fmt::format("an injection from '{}' to '{}': the fields have other elements or components",
                                         fine_.name, coarse_.name));
    const bool is_connected = between_ != nullptr      ? between_->mesh.get() == &coarse_.mesh()
                              : refinement_ != nullptr ? refinement_->coarse.get() == &coarse_.mesh()
                                                       : fine_.discretisation() == coarse_.discretisation();
    if (!is_connected)
      throw base::InputError(
          fmt::format("an injection from '{}' to '{}': the meshes are not connected", fine_.name, coarse_.name));
    if (fine_.mesh().distribution != nullptr || coarse_.mesh().distribution != nullptr)
      throw base::InputError("injections are for whole meshes, not for parts of them");
  }

  void take_cell(std::int32_t group, std::int32_t cell) {
    const auto kind = kind_of(group, refinement_ != nullptr ? refinement_->halving(group, cell) : mesh::Halving{});
    result_.find_coarse_entries(group, cell, entries_);
    const auto num_dofs = entries_.size() / static_cast<std::size_t>(coarse_.num_components());
    for (std::size_t dof = 0; dof < num_dofs; ++dof) {
      const auto entry = static_cast<std::size_t>(entries_[dof]);
      if (is_taken_[entry]) continue;
      is_taken_[entry] = true;
      result_.nodes_.push_back({kind, cell, static_cast<std::int32_t>(dof)});
    }
  }

  std::int32_t kind_of(std::int32_t group, const mesh::Halving& halving) {
    const auto [found, is_new] =
        numbers_.try_emplace({group, halving}, static_cast<std::int32_t>(result_.kinds_.size()));
    if (is_new) result_.kinds_.push_back(make_kind(group, halving));
    return found->second;
  }

  Kind make_kind(std::int32_t group, const mesh::Halving& halving) const {
    if (between_ != nullptr) return make_kind_between(group);
    const auto shape = coarse_.mesh().groups[static_cast<std::size_t>(group)].shape;
    const auto element = coarse_.element(shape);
    const auto dim = static_cast<std::size_t>(element::dimension(shape));
    Kind kind{.group = group, .terms = {}};
    for (std::size_t dof = 0; dof < static_cast<std::size_t>(element->num_dofs()); ++dof) {
      const auto node = element->nodes().subspan(dof * dim, dim);
      kind.terms.push_back(refinement_ == nullptr ? terms_in(0, *fine_.element(shape), node)
                                                  : terms_at(shape, halving, node));
    }
    return kind;
  }

  /// The dofs of the coarse cells between the nodes of a fine one. The nodes of coarse cells of degree 1 are their
  /// vertices.
  Kind make_kind_between(std::int32_t group) const {
    const auto& cells = between_->groups[static_cast<std::size_t>(group)];
    const auto dim = static_cast<std::size_t>(element::dimension(cells.element->shape()));
    Kind kind{.group = group, .terms = {}};
    for (const int node : cells.corners)
      kind.terms.push_back(terms_in(0, *fine_.element(cells.element->shape()),
                                    cells.element->nodes().subspan(static_cast<std::size_t>(node) * dim, dim)));
    return kind;
  }

  /// The value at a point of the parent. A continuous function has the same one in every child, so that the child which
  /// takes the fewest dofs gives it.
  std::vector<Term> terms_at(element::Shape shape, const mesh::Halving& halving, std::span<const double> point) const {
    const auto& division = mesh::subdivision(shape, halving);
    std::vector<std::vector<Term>> found;
    for (std::size_t k = 0; k < division.children.size(); ++k) {
      const auto& child = division.children[k];
      const auto in_child = map_to_child(shape, division, child, point);
      if (holds(child.shape, in_child))
        found.push_back(terms_in(static_cast<int>(k), *fine_.element(child.shape), in_child));
    }
    if (found.empty()) throw base::InternalError("no child holds a node of its parent");
    if (!fine_.is_broken()) return *std::ranges::min_element(found, {}, [](const auto& terms) { return terms.size(); });
    std::vector<Term> mean;
    for (auto& terms : found)
      for (auto& term : terms) {
        term.weight /= static_cast<double>(found.size());
        mean.push_back(term);
      }
    return mean;
  }

  static std::vector<Term> terms_in(int child, const element::Element& element, std::span<const double> point) {
    if (const int node = node_at(element, point); node >= 0) return {{.child = child, .dof = node, .weight = 1}};
    const auto table = element.tabulate(point);
    std::vector<Term> terms;
    for (int i = 0; i < table.num_dofs; ++i)
      if (std::fabs(table(0, 0, i)) > rounding) terms.push_back({child, i, table(0, 0, i)});
    return terms;
  }

  Injection& result_;
  const space::FunctionSpace &fine_, &coarse_;
  const space::LowOrderRefinement* between_;
  const mesh::Refinement* refinement_;
  std::map<std::pair<std::int32_t, mesh::Halving>, std::int32_t>
      numbers_;                ///< numbers of kinds, keyed by group, halving
  std::vector<bool> is_taken_; ///< shape (entry of the coarse space)
  std::vector<std::int32_t> entries_;
};

Injection::Injection(const InjectionSpecification& specification)
    : fine_(specification.fine), coarse_(specification.coarse), between_(specification.nodes) {
  Builder(*this, specification.refinement).run();
}

void Injection::find_coarse_entries(std::int32_t group, std::int32_t cell, std::vector<std::int32_t>& entries) const {
  if (between_ != nullptr)
    between_->child_entries(*coarse_, group, cell, entries);
  else
    find_entries(*coarse_, group, cell, entries);
}

/// Entries of a coarse cell and of the fine cells in it, which are found when they are asked for.
class Injection::Cell {
public:
  explicit Cell(const Injection& injection) : of_(injection) {}

  void move_to(const Node& node) {
    if (node.kind == kind_ && node.cell == cell_) return;
    kind_ = node.kind;
    cell_ = node.cell;
    const auto group = of_.kinds_[static_cast<std::size_t>(kind_)].group;
    of_.find_coarse_entries(group, cell_, coarse_);
    places_ = of_.places_[static_cast<std::size_t>(group)];
    fine_.resize(places_.size());
    for (auto& entries : fine_) entries.clear();
  }
  std::int32_t coarse(std::int32_t dof, std::size_t component) const { return at(coarse_, dof, component); }
  std::int32_t fine(const Term& term, std::size_t component) {
    auto& entries = fine_[static_cast<std::size_t>(term.child)];
    const auto& place = places_[static_cast<std::size_t>(term.child)];
    if (entries.empty()) find_entries(*of_.fine_, place.group, place.cell(cell_), entries);
    return at(entries, term.dof, component);
  }

private:
  std::int32_t at(const std::vector<std::int32_t>& entries, int dof, std::size_t component) const {
    const auto num_dofs = entries.size() / static_cast<std::size_t>(of_.coarse_->num_components());
    return entries[component * num_dofs + static_cast<std::size_t>(dof)];
  }

  const Injection& of_;
  std::int32_t kind_ = -1, cell_ = -1;
  std::span<const mesh::ChildPlace> places_;
  std::vector<std::int32_t> coarse_;
  std::vector<std::vector<std::int32_t>> fine_; ///< shape (child)(component, local dof)
};

void Injection::apply(const Vector& fine, Vector& coarse) const {
  const auto require_size = [](const Vector& vector, const space::FunctionSpace& space) {
    if (static_cast<std::int64_t>(vector.size()) != space.num_local())
      throw base::InputError(fmt::format("a vector of '{}' has {} entries, its space has {}", space.name, vector.size(),
                                         space.num_local()));
  };
  require_size(fine, *fine_);
  require_size(coarse, *coarse_);
  const auto from = fine.host_read();
  const auto to = coarse.host_overwrite();
  std::ranges::fill(to, 0.0); // padding, too
  constexpr std::int64_t block = 4096;
  const auto count = std::ssize(nodes_), components = static_cast<std::int64_t>(coarse_->num_components());
  coarse.device()->parallel_for((count + block - 1) / block, [&](std::int64_t b) {
    Cell cell(*this);
    for (auto i = b * block; i < std::min(count, (b + 1) * block); ++i) {
      const auto& node = nodes_[static_cast<std::size_t>(i)];
      cell.move_to(node);
      const auto& terms = kinds_[static_cast<std::size_t>(node.kind)].terms[static_cast<std::size_t>(node.dof)];
      for (std::size_t c = 0; c < static_cast<std::size_t>(components); ++c) {
        double sum = 0;
        for (const auto& term : terms) sum += term.weight * from[static_cast<std::size_t>(cell.fine(term, c))];
        to[static_cast<std::size_t>(cell.coarse(node.dof, c))] = sum;
      }
    }
  });
}

} // namespace rafter::op
