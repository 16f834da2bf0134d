// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/generate/coupling.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include <rafter/kernel/reference_matrices.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::op {
namespace {

/// A number for each shape of entity, that of cells excluded.
using Entities = std::array<double, element::all_cell_shapes.size() + 1>;

double& of(Entities& entities, element::Shape shape) { return entities[static_cast<std::size_t>(shape)]; }

/// Counts the vertices on exterior facets; vertices that periodic facets identify count once.
double count_boundary_vertices(const mesh::Mesh& mesh) {
  const auto& surface = mesh.surface();
  std::vector<bool> is_seen(static_cast<std::size_t>(mesh.num_vertices));
  double count = 0;
  for (const auto& facet : surface.exterior_facets) {
    const auto& group = mesh.groups[static_cast<std::size_t>(facet.group)];
    const auto first =
        static_cast<std::size_t>(facet.cell) * static_cast<std::size_t>(element::num_vertices(group.shape));
    for (const int v : element::entity_vertices(group.shape, mesh.tdim - 1, facet.facet)) {
      const auto vertex = surface.vertex_representative(group.vertices[first + static_cast<std::size_t>(v)]);
      if (is_seen[static_cast<std::size_t>(vertex)]) continue;
      is_seen[static_cast<std::size_t>(vertex)] = true;
      count += 1;
    }
  }
  return count;
}

/// Numbers of entities by shape, with the sign by which pairs of unknowns in their closure count beside those of cells.
/// A pair that k cells share is in the closure of k cells, of k or k - 1 interior faces between them, and so on; the
/// alternating sum is 1 for every pair.
Entities signed_entities(const mesh::Mesh& mesh) {
  using element::Shape;
  const auto& surface = mesh.surface();
  Entities result{};
  double sides = 0; // of cells
  for (const auto& group : mesh.groups)
    for (int facet = 0; facet < element::num_facets(group.shape); ++facet) {
      of(result, element::facet_shape(group.shape, facet)) -= group.num_cells() / 2.0;
      sides += group.num_cells();
    }
  double boundary_sides = 0; // edges of boundary faces, each counted by both of its faces
  for (const auto& exterior : surface.exterior_facets) {
    const auto shape =
        element::facet_shape(mesh.groups[static_cast<std::size_t>(exterior.group)].shape, exterior.facet);
    of(result, shape) += 0.5;
    if (mesh.tdim == 3) boundary_sides += element::num_facets(shape);
  }
  const double vertices = mesh.num_distinct_vertices(), boundary_vertices = count_boundary_vertices(mesh);
  const double inner_vertices = vertices - boundary_vertices;
  if (mesh.tdim == 3) {
    // Two boundary faces meet in an edge, and the Euler characteristic of a manifold of dimension 3 is half of that of
    // its boundary: edges need not be numbered to be counted.
    const auto boundary_faces = static_cast<double>(surface.exterior_facets.size());
    const double faces = (sides + boundary_faces) / 2, boundary_edges = boundary_sides / 2;
    const double edges = vertices + faces - static_cast<double>(mesh.num_cells()) -
                         (boundary_vertices - boundary_edges + boundary_faces) / 2;
    of(result, Shape::interval) += edges - boundary_edges;
    of(result, Shape::point) -= inner_vertices;
  } else if (mesh.tdim == 2)
    of(result, Shape::point) += inner_vertices;
  return result;
}

/// Counts the coupled pairs of unknowns of a cell of a block, among those local dofs that `dofs_of` returns for an
/// element.
template <class DofsOf>
double count_pairs(const System& system, const Coupling& coupling, std::size_t block, const DofsOf& dofs_of) {
  std::vector<std::vector<int>> dofs; // shape (component)
  for (const auto& space : system.spaces)
    dofs.resize(dofs.size() + static_cast<std::size_t>(space->num_components()),
                dofs_of(*space->block(static_cast<int>(block)).layout.element));
  double result = 0;
  for (int row = 0; row < coupling.num_components(); ++row)
    for (int column = 0; column < coupling.num_components(); ++column)
      if (const auto* pairs = coupling.pairs(block, row, column))
        for (const int i : dofs[static_cast<std::size_t>(row)])
          result += static_cast<double>(
              std::ranges::count_if(dofs[static_cast<std::size_t>(column)], [&](int j) { return (*pairs)(i, j); }));
  return result;
}

/// Mean number of coupled pairs in the closure of an entity of each shape, over all cells.
Entities mean_pairs(const System& system, const Coupling& coupling) {
  Entities sums{}, numbers{};
  const auto& blocks = system.batches->blocks;
  for (std::size_t b = 0; b < blocks.size(); ++b)
    for (int dim = 0; dim < element::dimension(blocks[b].shape); ++dim)
      for (int entity = 0; entity < element::num_entities(blocks[b].shape, dim); ++entity) {
        const auto shape = element::entity_shape(blocks[b].shape, dim, entity);
        of(numbers, shape) += blocks[b].num_cells;
        of(sums, shape) += blocks[b].num_cells * count_pairs(system, coupling, b, [&](const element::Element& element) {
                             return element.closure_dofs(dim, entity);
                           });
      }
  for (std::size_t s = 0; s < sums.size(); ++s) sums[s] /= std::max(1.0, numbers[s]);
  return sums;
}

/// Stores for every basis function, or its derivative in one direction, the points where it is not 0, as bits of 64-bit
/// words.
class Supports {
public:
  Supports(const element::Table& table, std::span<const double> frame, int slot)
      : num_words_(static_cast<std::size_t>(table.num_points) / 64 + 1),
        words_(static_cast<std::size_t>(table.num_dofs) * num_words_) {
    std::vector<double> sizes; // shape (point, dof)
    sizes.reserve(static_cast<std::size_t>(table.num_points) * static_cast<std::size_t>(table.num_dofs));
    for (int point = 0; point < table.num_points; ++point)
      for (int dof = 0; dof < table.num_dofs; ++dof)
        sizes.push_back(std::fabs(kernel::slot_value(table, frame, slot, point, dof)));
    const double least = sizes.empty() ? 0 : 1e-13 * std::ranges::max(sizes); // smaller ones come from rounding
    std::size_t next = 0;
    for (int point = 0; point < table.num_points; ++point)
      for (int dof = 0; dof < table.num_dofs; ++dof)
        if (sizes[next++] > least)
          words_[static_cast<std::size_t>(dof) * num_words_ + static_cast<std::size_t>(point) / 64] |= std::uint64_t{1}
                                                                                                       << (point % 64);
  }
  /// Says whether both functions differ from 0 at one point.
  static bool meet(const Supports& a, int dof_a, const Supports& b, int dof_b) {
    for (std::size_t w = 0; w < a.num_words_; ++w)
      if ((a.words_[static_cast<std::size_t>(dof_a) * a.num_words_ + w] &
           b.words_[static_cast<std::size_t>(dof_b) * b.num_words_ + w]) != 0)
        return true;
    return false;
  }

private:
  std::size_t num_words_;
  std::vector<std::uint64_t> words_;
};

/// A product of a test and a trial function in an integrand of the kernel of a block: -1 stands for the value of the
/// function, other numbers for its derivative in that direction.
struct Product {
  std::size_t block = 0;
  int test = -1, trial = -1;
  auto operator<=>(const Product&) const = default;
};
using Products = std::set<Product>;

/// Finds the pairs of basis functions that products in integrands couple.
class PairFinder {
public:
  PairFinder(const GeneratedForm& built, const System& system) : built_(built), system_(system) {
    for (std::size_t f = 0; f < system.spaces.size(); ++f)
      fields_.insert(fields_.end(), static_cast<std::size_t>(system.spaces[f]->num_components()), f);
  }

  /// Returns the products in the kernels of a block of cells, shape (row, column), where rows and columns are
  /// components.
  std::vector<Products> products(std::size_t block) const {
    std::vector<Products> result(fields_.size() * fields_.size());
    for (std::size_t p = 0; p < built_.blocks.size(); ++p) {
      const auto& generated = built_.blocks[p];
      const bool is_of_block = generated.cell_block >= 0
                                   ? generated.cell_block == static_cast<int>(block)
                                   : generated.cells.group == system_.batches->blocks[block].group;
      if (is_of_block) add_products(p, result);
    }
    return result;
  }

  Coupling::Pairs pairs(std::size_t row, std::size_t column, const Products& products, element::Shape shape) {
    const auto test = system_.spaces[fields_[row]]->element(shape),
               trial = system_.spaces[fields_[column]]->element(shape);
    Coupling::Pairs result{.num_rows = test->num_dofs(), .num_columns = trial->num_dofs(), .values = {}};
    bool are_all_coupled = false;
    std::vector<std::pair<const Supports*, const Supports*>> factors; // of the products
    for (const auto& product : products) {
      are_all_coupled |= is_large(product.block, *test) || is_large(product.block, *trial);
      if (!are_all_coupled)
        factors.emplace_back(&supports(product.block, test, product.test),
                             &supports(product.block, trial, product.trial));
    }
    result.values.reserve(static_cast<std::size_t>(result.num_rows) * static_cast<std::size_t>(result.num_columns));
    for (int i = 0; i < result.num_rows; ++i)
      for (int j = 0; j < result.num_columns; ++j)
        result.values.push_back(are_all_coupled || std::ranges::any_of(factors, [&](const auto& pair) {
                                  return Supports::meet(*pair.first, i, *pair.second, j);
                                }));
    return result;
  }

private:
  /// Says whether the tables of a block take too long to make. All pairs are then taken as coupled: such degrees are so
  /// high that a matrix never pays.
  bool is_large(std::size_t block, const element::Element& element) const {
    constexpr double most_values = 1 << 22;
    const auto& of = built_.blocks[block];
    const auto num_facets = static_cast<double>(std::max<std::size_t>(1, of.cells.local_facets.size()));
    return 4.0 * num_facets * element.num_dofs() * of.rule.num_points() > most_values;
  }

  std::size_t component(std::size_t field, int component) const {
    return static_cast<std::size_t>(std::ranges::find(fields_, field) - fields_.begin()) +
           static_cast<std::size_t>(component);
  }

  /// Position of a trial function in the system.
  std::size_t trial_field(int number) const {
    const auto& fields = built_.purpose == Purpose::matrix ? built_.trial_fields : built_.input_fields;
    return fields[static_cast<std::size_t>(number)];
  }

  void add_products(std::size_t number, std::vector<Products>& result) const {
    const auto& block = built_.blocks[number];
    const auto function = kernel::pull_back(integral_parts(built_.form, block), block.cells.shape, block.cells.map,
                                            block.cells.is_facet());
    for (const auto& output : function.outputs) {
      const auto row = component(built_.output_fields[static_cast<std::size_t>(output.field)], output.component);
      for (const auto id : function.graph.reachable(std::span(&output.node, 1))) {
        const auto& node = function.graph[id];
        if (node.op != form::ScalarOp::atom || node.atom.kind != form::AtomKind::reference_trial) continue;
        const auto column = component(trial_field(node.atom.a), node.atom.b);
        result[row * fields_.size() + column].insert({number, output.derivative, node.atom.c});
      }
    }
  }

  const Supports& supports(std::size_t number, const std::shared_ptr<const element::Element>& element, int slot) {
    auto& slots = supports_[{number, element.get()}];
    if (slots.empty()) slots = make_supports(number, *element);
    return slots[static_cast<std::size_t>(slot + 1)];
  }

  /// Points on the facets that the block has, in the reference cell.
  static std::vector<double> facet_points(const GeneratedBlock& block) {
    const auto& cells = block.cells;
    std::vector<double> result;
    for (const auto facet : std::set(cells.facets.begin(), cells.facets.end())) {
      const auto points = element::map_to_cell(cells.shape, element::dimension(cells.shape) - 1,
                                               cells.local_facets[static_cast<std::size_t>(facet)], block.rule.points);
      result.insert(result.end(), points.begin(), points.end());
    }
    return result;
  }

  /// Makes those of the values and of the derivatives in all directions, from one table.
  std::vector<Supports> make_supports(std::size_t number, const element::Element& element) const {
    const auto& block = built_.blocks[number];
    const auto frame = kernel::differentiation_frame(block.cells.shape, block.cells.is_facet());
    const auto table = element.tabulate(block.cells.is_facet() ? facet_points(block) : block.rule.points);
    std::vector<Supports> result;
    for (int slot = -1; slot < element::dimension(block.cells.shape); ++slot) result.emplace_back(table, frame, slot);
    return result;
  }

  const GeneratedForm& built_;
  const System& system_;
  std::vector<std::size_t> fields_; ///< field of each component of the system, shape (component)
  /// Supports of the values and of the derivatives are kept for each block and element.
  std::map<std::pair<std::size_t, const element::Element*>, std::vector<Supports>> supports_;
};

/// Gives all components of a block of unknowns the products of any of them, because the entries of a block are stored
/// together.
void share(std::vector<Products>& products, std::size_t num_components, std::size_t block_size) {
  for (std::size_t row = 0; row < num_components; ++row)
    for (std::size_t column = 0; column < num_components; ++column) {
      auto& first = products[row / block_size * block_size * num_components + column / block_size * block_size];
      first.merge(Products(products[row * num_components + column]));
    }
  for (std::size_t row = 0; row < num_components; ++row)
    for (std::size_t column = 0; column < num_components; ++column)
      products[row * num_components + column] =
          products[row / block_size * block_size * num_components + column / block_size * block_size];
}

} // namespace

Coupling::Coupling(const GeneratedForm& built, const System& system) {
  for (const auto& space : system.spaces) size_ += space->num_components();
  PairFinder finder(built, system);
  const auto& blocks = system.batches->blocks;
  std::vector<std::vector<Products>> products;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    products.push_back(finder.products(b));
    numbers_.emplace_back();
    for (const auto& of_components : products.back()) numbers_.back().push_back(of_components.empty() ? -1 : 0);
    num_dofs_.emplace_back();
    for (const auto& space : system.spaces)
      num_dofs_.back().insert(num_dofs_.back().end(), static_cast<std::size_t>(space->num_components()),
                              space->block(static_cast<int>(b)).layout.element->num_dofs());
  }
  block_size_ = find_block_size(system);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const auto size = static_cast<std::size_t>(size_);
    share(products[b], size, static_cast<std::size_t>(block_size_));
    std::vector<const element::Element*> elements; // those of the components, shape (component)
    for (const auto& space : system.spaces)
      elements.insert(elements.end(), static_cast<std::size_t>(space->num_components()),
                      space->block(static_cast<int>(b)).layout.element.get());
    // Key: elements of both components, and the products that couple them.
    std::map<std::tuple<const element::Element*, const element::Element*, Products>, int> found;
    for (std::size_t row = 0; row < size; ++row)
      for (std::size_t column = 0; column < size; ++column) {
        const auto& of_components = products[b][row * size + column];
        if (of_components.empty()) continue;
        const std::tuple key(elements[row], elements[column], of_components);
        const auto [place, is_new] = found.try_emplace(key, static_cast<int>(pairs_.size()));
        if (is_new) pairs_.push_back(finder.pairs(row, column, of_components, blocks[b].shape));
        numbers_[b][row * size + column] = place->second;
      }
  }
}

bool Coupling::operator()(int row, int column) const {
  return std::ranges::any_of(numbers_, [&](const auto& block) { return block[index(row, column)] >= 0; });
}

const Coupling::Pairs* Coupling::pairs(std::size_t block, int row, int column) const {
  const int number = numbers_[block][index(row, column)];
  return number < 0 ? nullptr : &pairs_[static_cast<std::size_t>(number)];
}

std::vector<std::vector<std::int32_t>> Coupling::local_columns(std::size_t block, int group_size) const {
  std::vector<std::vector<std::int32_t>> result;
  const auto& num_dofs = num_dofs_[block];
  for (int row = 0; row < size_; row += group_size)
    for (int i = 0; i < num_dofs[static_cast<std::size_t>(row)]; ++i) {
      auto& columns = result.emplace_back();
      std::int32_t first = 0;
      for (int column = 0; column < size_; column += group_size) {
        if (const auto* coupled = pairs(block, row, column))
          for (int j = 0; j < coupled->num_columns; ++j)
            if ((*coupled)(i, j)) columns.push_back(first + j);
        first += num_dofs[static_cast<std::size_t>(column)];
      }
    }
  return result;
}

bool Coupling::has_column(int column) const {
  for (int row = 0; row < size_; ++row)
    if ((*this)(row, column)) return true;
  return false;
}

int Coupling::find_block_size(const System& system) const {
  int result = 0;
  for (const auto& space : system.spaces) {
    result = std::gcd(result, space->num_components());
    for (std::size_t b = 0; b < space->batches().blocks.size();
         // Components of cell interiors are not neighbours: (dof, component, cell) has the cells of a batch between
         // them.
         ++b)
      if (!space->block(static_cast<int>(b)).layout.interior_dofs.empty() && space->num_components() > 1) return 1;
  }
  for (int row = 0; row < size_; ++row)
    for (int column = 0; column < size_; ++column)
      if ((*this)(row, column) != (*this)(row / result * result, column / result * result)) return 1;
  return result;
}

double count_cell_entries(const System& system, const Coupling& coupling) {
  double result = 0;
  const auto& blocks = system.batches->blocks;
  for (std::size_t b = 0; b < blocks.size(); ++b)
    result += blocks[b].num_cells * count_pairs(system, coupling, b, [](const element::Element& element) {
                std::vector<int> all(static_cast<std::size_t>(element.num_dofs()));
                std::iota(all.begin(), all.end(), 0);
                return all;
              });
  return result;
}

double count_entries(const System& system, const Coupling& coupling) {
  double result = count_cell_entries(system, coupling);
  if (std::ranges::any_of(system.spaces, [](const auto& space) { return space->is_broken(); })) return result;
  const auto entities = signed_entities(*system.mesh), pairs = mean_pairs(system, coupling);
  for (std::size_t s = 0; s < entities.size(); ++s) result += entities[s] * pairs[s];
  return result;
}

} // namespace rafter::op
