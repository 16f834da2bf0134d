// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/element/definition.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>

#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/element/basis.hpp>
#include <rafter/element/orientation.hpp>

namespace rafter::element {
namespace {

constexpr std::string_view lagrange_name = "Lagrange";

[[noreturn]] void fail(const ElementDefinition& definition, const std::string& what) {
  throw base::InternalError("element: the definition of an element on a " + std::string(name(definition.shape)) + " " +
                            what);
}

void verify_functionals(const ElementDefinition& definition) {
  const auto& functionals = definition.functionals;
  if (functionals.dim != dimension(definition.shape))
    fail(definition, "has points of dimension " + std::to_string(functionals.dim));
  for (const auto& term : functionals.terms)
    if (term.point < 0 || term.point >= functionals.num_points() || term.component < 0 ||
        term.component >= definition.value_size())
      fail(definition,
           "has a functional of point " + std::to_string(term.point) + ", component " + std::to_string(term.component));
}

void verify_span(const ElementDefinition& definition) {
  const auto per_function = static_cast<std::size_t>(definition.value_size()) *
                            static_cast<std::size_t>(num_basis_functions(definition.shape, definition.degree));
  const auto count = static_cast<std::size_t>(definition.functionals.count());
  const bool fits = definition.span.empty() ? count == per_function : definition.span.size() == count * per_function;
  if (!fits) fail(definition, "has not as many functions as the " + std::to_string(count) + " functionals");
}

void verify_entities(const ElementDefinition& definition) {
  const int dim = dimension(definition.shape);
  if (std::ssize(definition.entity_dofs) != dim + 1) fail(definition, "lacks the dofs of a dimension");
  std::vector<int> owners(static_cast<std::size_t>(definition.functionals.count()), 0);
  for (int d = 0; d <= dim; ++d) {
    const auto& of_dimension = definition.entity_dofs[static_cast<std::size_t>(d)];
    if (std::ssize(of_dimension) != num_entities(definition.shape, d)) fail(definition, "lacks the dofs of an entity");
    for (const auto& dofs : of_dimension)
      for (const int dof : dofs) {
        if (dof < 0 || dof >= std::ssize(owners)) fail(definition, "has no dof " + std::to_string(dof));
        ++owners[static_cast<std::size_t>(dof)];
      }
  }
  if (std::ranges::any_of(owners, [](int count) { return count != 1; }))
    fail(definition, "has dofs that belong to no entity, or to two");
}

void verify_transforms(const ElementDefinition& definition) {
  for (int d = 0; d < dimension(definition.shape); ++d)
    for (int e = 0; e < num_entities(definition.shape, d); ++e) {
      const auto& dofs = definition.entity_dofs[static_cast<std::size_t>(d)][static_cast<std::size_t>(e)];
      if (dofs.empty()) continue;
      const Shape entity = entity_shape(definition.shape, d, e);
      const auto& transforms = definition.transforms[static_cast<std::size_t>(entity)];
      if (std::ssize(transforms) != num_orientations(entity) || !transforms.front().is_identity())
        fail(definition, "lacks a transform of a " + std::string(name(entity)) + " that it shares");
      for (const auto& transform : transforms) {
        transform.verify();
        if (transform.size != std::ssize(dofs))
          fail(definition, "has " + std::to_string(dofs.size()) + " dofs on a " + std::string(name(entity)) +
                               " and transforms of " + std::to_string(transform.size));
      }
    }
}

} // namespace

std::string_view name(Family family) { return family == Family::lagrange ? lagrange_name : "custom"; }

Family family_from_name(std::string_view name) {
  if (name == lagrange_name) return Family::lagrange;
  const std::vector<std::string> accepted{std::string(lagrange_name)};
  throw base::InputError("unknown element family '" + std::string(name) + "'" + base::suggestion(name, accepted) +
                         "; accepted: " + base::join(accepted, ", "));
}

int ElementDefinition::value_size() const {
  return std::accumulate(value_shape.begin(), value_shape.end(), 1, std::multiplies<>());
}

void verify(const ElementDefinition& definition) {
  const int dim = dimension(definition.shape);
  if (dim == 0 || definition.degree < 0) fail(definition, "is none of a cell of dimension 1 to 3");
  if (definition.map != Map::identity && definition.value_shape != std::vector{dim})
    fail(definition, "has a Piola map, which vectors of " + std::to_string(dim) + " components have");
  verify_functionals(definition);
  verify_span(definition);
  verify_entities(definition);
  verify_transforms(definition);
}

} // namespace rafter::element
