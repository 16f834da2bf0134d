// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/element/element.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/element/basis.hpp>
#include <rafter/element/dense.hpp>
#include <rafter/element/lagrange.hpp>
#include <rafter/element/orientation.hpp>

namespace rafter::element {
namespace {

constexpr std::string_view lagrange_name = "Lagrange";

/// Linear combinations of tabulated functions: table(d, q, i) = sum over j of coefficients(i, j) * functions(d, q, j),
/// coefficients row-major.
Table combined(const Table& functions, std::span<const double> coefficients) {
  const int n = functions.num_dofs;
  return {functions.dim, functions.num_points, n, multiplied(functions.values, transposed(coefficients, n), n)};
}

/// Table of the functions in another order: function i of the result is function order[i].
Table reordered(const Table& table, std::span<const int> order) {
  Table result = table;
  for (std::size_t row = 0; row < table.values.size(); row += order.size())
    for (std::size_t i = 0; i < order.size(); ++i) result.values[row + i] = table.values[row + order[i]];
  return result;
}

bool is_lexicographic(std::span<const int> order) {
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i] != static_cast<int>(i)) return false;
  return true;
}

struct Nodal {
  std::vector<double> coefficients;
  double condition_number;
};

/// Inverse transposed Vandermonde matrix of the nodes (row i holds basis function i in the orthonormal basis) and its
/// condition number.
Nodal invert_vandermonde(Shape shape, int degree, std::span<const double> nodes) {
  const int size = num_basis_functions(shape, degree);
  auto matrix = tabulate_orthonormal(shape, degree, nodes).values; // a table has values first, then derivatives
  matrix.resize(static_cast<std::size_t>(size) * size);
  const auto inverted = inverse(matrix, size);
  return {transposed(inverted, size), spectral_norm(matrix, size) * spectral_norm(inverted, size)};
}

} // namespace

std::string_view name(Family) { return lagrange_name; }

Family family_from_name(std::string_view name) {
  if (name == lagrange_name) return Family::lagrange;
  const std::vector<std::string> accepted{std::string(lagrange_name)};
  throw base::InputError("unknown element family '" + std::string(name) + "'" + base::suggestion(name, accepted) +
                         "; accepted: " + base::join(accepted, ", "));
}

std::vector<int> Element::closure_dofs(int dim, int entity) const {
  const auto closure = entity_vertices(shape_, dim, entity);
  std::vector<int> result;
  for (int d = 0; d <= dim; ++d)
    for (int e = 0; e < num_entities(shape_, d); ++e)
      if (std::ranges::includes(closure, entity_vertices(shape_, d, e))) {
        const auto dofs = entity_dofs(d, e);
        result.insert(result.end(), dofs.begin(), dofs.end());
      }
  std::ranges::sort(result);
  return result;
}

std::vector<int> Element::entity_permutation(Shape entity, int orientation_code) const {
  vertex_permutation(entity, orientation_code); // throws for shapes and codes that do not exist
  return entity_permutations_[static_cast<std::size_t>(entity)][static_cast<std::size_t>(orientation_code)];
}

Table Element::tabulate(std::span<const double> points) const {
  const int dim = dimension(shape_);
  if (points.size() % static_cast<std::size_t>(dim) != 0)
    throw base::InternalError("element: points of a " + std::string(element::name(shape_)) + " need " +
                              std::to_string(dim) + " coordinates each, got " + std::to_string(points.size()) +
                              " numbers");
  if (factors_.empty()) return combined(tabulate_orthonormal(shape_, degree_, points), coefficients_);
  Table result;
  int axis = 0;
  for (const auto& factor : factors_) {
    const int factor_dim = dimension(factor->shape());
    const Table table = factor->tabulate(axes_of(points, dim, axis, factor_dim));
    result = axis == 0 ? table : product(result, table);
    axis += factor_dim;
  }
  return is_lexicographic(product_index_) ? result : reordered(result, product_index_);
}

std::vector<int> Element::extents() const {
  if (!is_tensor(shape_) || factors_.empty()) return {num_dofs_};
  std::vector<int> result;
  for (const auto& factor : factors_) result.push_back(factor->num_dofs());
  return result;
}

Table Element::tabulate_1d(int axis, std::span<const double> points) const {
  if (!is_tensor(shape_))
    throw base::InternalError("element: a " + std::string(element::name(shape_)) + " has no tensor factors");
  return factors_.empty() ? tabulate(points) : factors_[static_cast<std::size_t>(axis)]->tabulate(points);
}

/// An element on a product shape keeps elements for the factors: no matrix larger than a factor's Vandermonde matrix is
/// ever inverted. The condition number is the product of the factors', since the Vandermonde matrix is the Kronecker
/// product of theirs.
std::shared_ptr<const Element> make_element(Family family, Shape shape, int degree) {
  static std::mutex mutex;
  static std::map<std::tuple<Family, Shape, int>, std::shared_ptr<const Element>> cache;
  if (shape == Shape::point || degree < 1 || degree > max_lagrange_degree)
    throw base::InputError("lagrange element of degree " + std::to_string(degree) + " on a " +
                           std::string(name(shape)) + ": degrees 1 to " + std::to_string(max_lagrange_degree) +
                           " exist, on cells of dimension 1 to 3");
  const std::tuple key{family, shape, degree};
  {
    const std::scoped_lock lock(mutex);
    if (const auto found = cache.find(key); found != cache.end()) return found->second;
  }
  auto result = std::make_shared<Element>();
  result->family_ = family;
  result->shape_ = shape;
  result->degree_ = degree;
  result->num_dofs_ = num_basis_functions(shape, degree);
  auto [nodes, entity_dofs] = lagrange_nodes(shape, degree);
  result->entity_dofs_ = std::move(entity_dofs);
  for (const Shape entity : {Shape::point, Shape::interval, Shape::triangle, Shape::quadrilateral})
    for (int code = 0; code < num_orientations(entity); ++code)
      result->entity_permutations_[static_cast<std::size_t>(entity)].push_back(node_permutation(entity, degree, code));
  const auto shapes = factors(shape);
  if (shapes.size() == 1) {
    auto [coefficients, condition_number] = invert_vandermonde(shape, degree, nodes);
    result->coefficients_ = std::move(coefficients);
    result->condition_number_ = condition_number;
  } else {
    std::vector<double> in_product;
    int dim = 0;
    for (const Shape factor : shapes) {
      const auto& element = *result->factors_.emplace_back(make_element(family, factor, degree));
      const auto own = element.nodes();
      in_product =
          dim == 0 ? std::vector(own.begin(), own.end()) : product_nodes(in_product, dim, own, dimension(factor));
      dim += dimension(factor);
      result->condition_number_ *= element.condition_number();
    }
    result->product_index_ = matching_rows(nodes, in_product, dim);
  }
  result->nodes_ = std::move(nodes);
  const std::scoped_lock lock(mutex);
  return cache.try_emplace(key, std::move(result)).first->second; // another thread may have made it meanwhile
}

namespace {

/// Says whether a point of a tensor shape lies in the interior of the entity that these vertices span.
bool is_inside(std::span<const double> point, Shape shape, std::span<const int> vertices) {
  const auto coordinates = reference_vertices(shape);
  const auto of_vertex = [&](int vertex, std::size_t axis) {
    return coordinates[static_cast<std::size_t>(vertex) * point.size() + axis];
  };
  for (std::size_t axis = 0; axis < point.size(); ++axis) {
    const double first = of_vertex(vertices.front(), axis);
    const bool varies = std::ranges::any_of(vertices, [&](int v) { return of_vertex(v, axis) != first; });
    const bool is_at_end = point[axis] == 1 || point[axis] == -1;
    if (varies ? is_at_end : point[axis] != first) return false;
  }
  return true;
}

} // namespace

std::shared_ptr<const Element> make_tensor_element(Shape shape, std::span<const int> degrees) {
  const auto dim = static_cast<std::size_t>(dimension(shape));
  if (!is_tensor(shape) || dim < 2 || degrees.size() != dim)
    throw base::InternalError("element: degrees along each axis are those of quadrilaterals and hexahedra");
  if (std::ranges::count(degrees, degrees.front()) == std::ssize(degrees))
    return make_element(Family::lagrange, shape, degrees.front());
  auto result = std::make_shared<Element>();
  result->shape_ = shape;
  result->num_dofs_ = 1;
  for (const int degree : degrees) {
    const auto& line = *result->factors_.emplace_back(make_element(Family::lagrange, Shape::interval, degree));
    const auto nodes = line.nodes();
    result->degree_ = std::max(result->degree_, degree);
    result->nodes_ = result->nodes_.empty()
                         ? std::vector(nodes.begin(), nodes.end())
                         : product_nodes(result->nodes_, static_cast<int>(result->factors_.size()) - 1, nodes, 1);
    result->num_dofs_ *= line.num_dofs();
    result->condition_number_ *= line.condition_number();
  }
  for (int i = 0; i < result->num_dofs_; ++i) result->product_index_.push_back(i);
  for (int d = 0; d <= static_cast<int>(dim); ++d) {
    auto& of_dimension = result->entity_dofs_.emplace_back();
    for (int entity = 0; entity < num_entities(shape, d); ++entity) {
      auto& dofs = of_dimension.emplace_back();
      for (int i = 0; i < result->num_dofs_; ++i)
        if (is_inside(std::span(result->nodes_).subspan(static_cast<std::size_t>(i) * dim, dim), shape,
                      entity_vertices(shape, d, entity)))
          dofs.push_back(i);
    }
  }
  return result;
}

std::string content_of(const Element& element) {
  std::string result(name(element.family()));
  result += " ";
  result += name(element.shape());
  const auto extents = element.extents();
  if (std::ranges::any_of(extents, [&](int extent) { return extent != extents.front(); }))
    for (const int extent : extents) result += " " + std::to_string(extent - 1);
  return result + " " + std::to_string(element.degree());
}

} // namespace rafter::element
