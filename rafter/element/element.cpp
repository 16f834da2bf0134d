// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/element/element.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include <rafter/base/content.hpp>
#include <rafter/base/error.hpp>
#include <rafter/base/hash.hpp>
#include <rafter/element/basis.hpp>
#include <rafter/element/dense.hpp>
#include <rafter/element/lagrange.hpp>
#include <rafter/element/orientation.hpp>

namespace rafter::element {
namespace {

/// Linear combinations of tabulated scalar functions: result(c, d, q, i) = sum over j of coefficients(c, i, j) *
/// functions(d, q, j), coefficients row-major.
Table combined(const Table& functions, std::span<const double> coefficients, int num_components) {
  const int n = functions.num_dofs;
  const auto per_component = coefficients.size() / static_cast<std::size_t>(num_components);
  Table result{functions.dim, functions.num_points, static_cast<int>(per_component) / n, {}, num_components};
  for (int c = 0; c < num_components; ++c) {
    const auto of_component = coefficients.subspan(static_cast<std::size_t>(c) * per_component, per_component);
    const auto values = multiplied(functions.values, transposed(of_component, n), n);
    result.values.insert(result.values.end(), values.begin(), values.end());
  }
  return result;
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

/// Functions that span the space of a definition, in the orthonormal basis, shape (value component, function,
/// orthonormal function).
std::vector<double> spanning_functions(const ElementDefinition& definition) {
  const auto size = static_cast<std::size_t>(num_basis_functions(definition.shape, definition.degree));
  const auto num_components = static_cast<std::size_t>(definition.value_size());
  const auto count = static_cast<std::size_t>(definition.functionals.count());
  const auto rows = definition.span.empty() ? identity(definition.functionals.count()) : definition.span;
  std::vector<double> result;
  for (std::size_t c = 0; c < num_components; ++c)
    for (std::size_t i = 0; i < count; ++i) {
      const auto row = rows.begin() + static_cast<std::ptrdiff_t>((i * num_components + c) * size);
      result.insert(result.end(), row, row + static_cast<std::ptrdiff_t>(size));
    }
  return result;
}

/// Values of tabulated functions without their derivatives, shape (value component, point, function).
std::vector<double> values_alone(Table table) {
  const auto size = static_cast<std::size_t>(table.num_points) * static_cast<std::size_t>(table.num_dofs);
  const auto stride = size * static_cast<std::size_t>(table.dim + 1);
  for (std::size_t c = 1; c < static_cast<std::size_t>(table.num_components); ++c)
    std::copy_n(table.values.begin() + static_cast<std::ptrdiff_t>(c * stride), size,
                table.values.begin() + static_cast<std::ptrdiff_t>(c * size));
  table.values.resize(static_cast<std::size_t>(table.num_components) * size);
  return std::move(table.values);
}

} // namespace

/// Takes a definition, without what the basis functions need.
void Element::set_definition(ElementDefinition definition) {
  definition_ = std::move(definition);
  is_nodal_ = value_shape().empty() && functionals().are_point_evaluations();
}

/// The basis functions A F are dual to the functionals if A is the inverse transpose of D(i, j), functional i of
/// function j of those that span the space, F. In nodal elements with all polynomials D is the Vandermonde matrix.
void Element::set_basis() {
  const int count = num_dofs();
  const bool is_whole = definition_.span.empty() && value_size() == 1; // F is the orthonormal basis
  auto functions = tabulate_orthonormal(shape(), degree(), functionals().points);
  const auto spanning = is_whole ? std::vector<double>{} : spanning_functions(definition_);
  if (!is_whole) functions = combined(functions, spanning, value_size());
  const auto dual = functionals().applied(values_alone(std::move(functions)), count);
  const auto inverted = inverse(dual, count);
  condition_number_ = spectral_norm(dual, count) * spectral_norm(inverted, count);
  const auto to_basis = transposed(inverted, count);
  if (is_whole) {
    coefficients_ = to_basis;
    return;
  }
  const auto per_component = spanning.size() / static_cast<std::size_t>(value_size());
  for (std::size_t begin = 0; begin < spanning.size(); begin += per_component) {
    const auto of_component = multiplied(to_basis, std::span(spanning).subspan(begin, per_component), count);
    coefficients_.insert(coefficients_.end(), of_component.begin(), of_component.end());
  }
}

std::span<const double> Element::nodes() const {
  if (!is_nodal_)
    throw base::InternalError("element: the degrees of freedom of this element on a " +
                              std::string(element::name(shape())) + " are no values at nodes");
  return functionals().points;
}

std::vector<int> Element::closure_dofs(int dim, int entity) const {
  const auto closure = entity_vertices(shape(), dim, entity);
  std::vector<int> result;
  for (int d = 0; d <= dim; ++d)
    for (int e = 0; e < num_entities(shape(), d); ++e)
      if (std::ranges::includes(closure, entity_vertices(shape(), d, e))) {
        const auto dofs = entity_dofs(d, e);
        result.insert(result.end(), dofs.begin(), dofs.end());
      }
  std::ranges::sort(result);
  return result;
}

const EntityTransform& Element::entity_transform(Shape entity, int orientation_code) const {
  vertex_permutation(entity, orientation_code); // throws for shapes and codes that do not exist
  const auto& transforms = definition_.transforms[static_cast<std::size_t>(entity)];
  if (transforms.empty())
    throw base::InternalError("element: this element on a " + std::string(element::name(shape())) +
                              " has no dofs that cells share on a " + std::string(element::name(entity)));
  return transforms[static_cast<std::size_t>(orientation_code)];
}

const std::vector<int>& Element::entity_permutation(Shape entity, int orientation_code) const {
  const auto& transform = entity_transform(entity, orientation_code);
  if (transform.kind() != EntityTransform::Kind::permutation)
    throw base::InternalError("element: dofs on a " + std::string(element::name(entity)) +
                              " change their sign or mix with its orientation; here they may only change places");
  return transform.permutation;
}

Table Element::tabulate(std::span<const double> points) const {
  const int dim = dimension(shape());
  if (points.size() % static_cast<std::size_t>(dim) != 0)
    throw base::InternalError("element: points of a " + std::string(element::name(shape())) + " need " +
                              std::to_string(dim) + " coordinates each, got " + std::to_string(points.size()) +
                              " numbers");
  if (factors_.empty()) return combined(tabulate_orthonormal(shape(), degree(), points), coefficients_, value_size());
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

bool Element::has_tensor_factors() const {
  if (shape() == Shape::interval) return value_shape().empty(); // each function is its own factor
  return is_tensor(shape()) && !factors_.empty();
}

std::vector<int> Element::extents() const {
  if (!has_tensor_factors() || factors_.empty()) return {num_dofs()};
  std::vector<int> result;
  for (const auto& factor : factors_) result.push_back(factor->num_dofs());
  return result;
}

Table Element::tabulate_1d(int axis, std::span<const double> points) const {
  if (!has_tensor_factors())
    throw base::InternalError("element: this element on a " + std::string(element::name(shape())) +
                              " has no tensor factors");
  return factors_.empty() ? tabulate(points) : factors_[static_cast<std::size_t>(axis)]->tabulate(points);
}

std::shared_ptr<const Element> make_element(ElementDefinition definition) {
  verify(definition);
  auto result = std::make_shared<Element>();
  result->set_definition(std::move(definition));
  result->set_basis();
  return result;
}

namespace {

ElementDefinition lagrange_definition(Shape shape, int degree) {
  auto [nodes, entity_dofs] = lagrange_nodes(shape, degree);
  ElementDefinition result{.family = Family::lagrange,
                           .shape = shape,
                           .degree = degree,
                           .functionals = point_evaluations(std::move(nodes), dimension(shape)),
                           .entity_dofs = std::move(entity_dofs)};
  for (const Shape entity : {Shape::point, Shape::interval, Shape::triangle, Shape::quadrilateral})
    for (int code = 0; code < num_orientations(entity); ++code)
      result.transforms[static_cast<std::size_t>(entity)].push_back(
          EntityTransform::of_permutation(node_permutation(entity, degree, code)));
  return result;
}

} // namespace

/// An element on a product shape keeps elements for the factors: no matrix larger than a factor's Vandermonde matrix is
/// ever inverted. The condition number is the product of the factors', since the Vandermonde matrix is the Kronecker
/// product of theirs.
std::shared_ptr<const Element> make_element(Family family, Shape shape, int degree) {
  static std::mutex mutex;
  static std::map<std::tuple<Family, Shape, int>, std::shared_ptr<const Element>> cache;
  if (family != Family::lagrange)
    throw base::InternalError("element: a " + std::string(name(family)) + " element is made from its definition");
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
  result->set_definition(lagrange_definition(shape, degree));
  const auto shapes = factors(shape);
  if (shapes.size() == 1) {
    result->set_basis();
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
    result->product_index_ = matching_rows(result->nodes(), in_product, dim);
  }
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
  ElementDefinition definition{.family = Family::lagrange, .shape = shape};
  std::vector<double> all_nodes;
  for (const int degree : degrees) {
    const auto& line = *result->factors_.emplace_back(make_element(Family::lagrange, Shape::interval, degree));
    const auto nodes = line.nodes();
    definition.degree = std::max(definition.degree, degree);
    all_nodes = all_nodes.empty() ? std::vector(nodes.begin(), nodes.end())
                                  : product_nodes(all_nodes, static_cast<int>(result->factors_.size()) - 1, nodes, 1);
    result->condition_number_ *= line.condition_number();
  }
  definition.functionals = point_evaluations(std::move(all_nodes), static_cast<int>(dim));
  const auto& points = definition.functionals.points;
  const int num_dofs = definition.functionals.count();
  for (int i = 0; i < num_dofs; ++i) result->product_index_.push_back(i);
  for (int d = 0; d <= static_cast<int>(dim); ++d) {
    auto& of_dimension = definition.entity_dofs.emplace_back();
    for (int entity = 0; entity < num_entities(shape, d); ++entity) {
      auto& dofs = of_dimension.emplace_back();
      for (int i = 0; i < num_dofs; ++i)
        if (is_inside(std::span(points).subspan(static_cast<std::size_t>(i) * dim, dim), shape,
                      entity_vertices(shape, d, entity)))
          dofs.push_back(i);
    }
  }
  result->set_definition(std::move(definition));
  return result;
}

std::string content_of(const Element& element) {
  std::string result(name(element.family()));
  result += " ";
  result += name(element.shape());
  if (element.family() == Family::custom) {
    const auto definition = base::content_text(element.definition_);
    return result + " " + base::content_hash(definition);
  }
  const auto extents = element.extents();
  if (std::ranges::any_of(extents, [&](int extent) { return extent != extents.front(); }))
    for (const int extent : extents) result += " " + std::to_string(extent - 1);
  return result + " " + std::to_string(element.degree());
}

} // namespace rafter::element
