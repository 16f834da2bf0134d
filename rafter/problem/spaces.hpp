// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <rafter/base/error.hpp>
#include <rafter/form/form.hpp>
#include <rafter/mesh/generations.hpp>
#include <rafter/operator/operator_options.hpp>
#include <rafter/solve/null_space_condition.hpp>
#include <rafter/space/discretisation.hpp>
#include <rafter/space/function_space.hpp>

/// Handles of meshes with their batches and of function spaces, as programs hold them.
namespace rafter::problem {

/// A mesh with the order in which kernels visit its cells: a cheap handle. Spaces on one discretisation may occur in
/// one form. Equal meshes and options give the kernels that the command has for such a request.
///
///     Discretisation on(mesh, {.degree = 2});
///     FunctionSpace Q(on, {.degree = 1, .name = "p"}), V(on, {.degree = 2, .components = 3});
class Discretisation {
public:
  /// options.degree is the highest degree of the spaces that will be made here: batches of cells are for it. Throws
  /// InputError for meshes that are not valid.
  explicit Discretisation(const mesh::Mesh& mesh, const space::DiscretisationOptions& options = {})
      : Discretisation(std::make_shared<const mesh::Mesh>(mesh), options) {}
  /// The same on a mesh that others keep, too, such as the finest of some generations.
  explicit Discretisation(std::shared_ptr<const mesh::Mesh> mesh, const space::DiscretisationOptions& options = {}) {
    require_valid(*mesh);
    discretisation_ = std::make_shared<const space::Discretisation>(std::move(mesh), options);
  }
  explicit Discretisation(std::shared_ptr<const space::Discretisation> made) : discretisation_(std::move(made)) {}

  const std::shared_ptr<const space::Discretisation>& ptr() const { return discretisation_; }
  const space::Discretisation& operator*() const { return *discretisation_; }
  const space::Discretisation* operator->() const { return discretisation_.get(); }

private:
  std::shared_ptr<const space::Discretisation> discretisation_;
};

/// Tags of boundary facets: numbers or names of physical groups, such as {1, 2} or {"inlet"}; none: the whole boundary.
class BoundaryTags {
public:
  BoundaryTags(std::initializer_list<form::Tag> tags) : tags_(tags) {}
  BoundaryTags(std::vector<std::int32_t> numbers) : numbers_(std::move(numbers)) {}

  /// Throws InputError for names that the mesh does not have.
  std::vector<std::int32_t> numbers_on(const mesh::Mesh& mesh) const {
    auto result = numbers_;
    for (const auto& [text] : tags_) {
      const bool is_number = text.size() < 10 && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
      if (is_number && mesh.physical_groups.numbers_of(mesh.tdim - 1, text).empty())
        result.push_back(std::stoi(text));
      else
        for (const auto number : mesh.tags_of(text, mesh.tdim - 1)) result.push_back(number);
    }
    return result;
  }

private:
  std::vector<form::Tag> tags_;
  std::vector<std::int32_t> numbers_;
};

/// A finite element space: a cheap handle.
class FunctionSpace {
public:
  /// Throws InputError for degrees out of range.
  FunctionSpace(const Discretisation& on, const space::SpaceOptions& options)
      : space_(space::FunctionSpace::make(on.ptr(), options)) {}
  /// Makes a space on a discretisation of its own, which is for fields of its degree at most. Throws InputError for
  /// meshes that are not valid and degrees out of range.
  FunctionSpace(const mesh::Mesh& mesh, const space::SpaceOptions& options)
      : FunctionSpace(Discretisation(mesh, {.degree = options.degree}), options) {}
  /// The same on the finest of some meshes, for operators that multigrid preconditions.
  FunctionSpace(const mesh::Generations& meshes, const space::SpaceOptions& options)
      : FunctionSpace(Discretisation(meshes.finest(), {.degree = options.degree}), options) {}
  /// A further space (another field) on the discretisation of a space.
  FunctionSpace(const FunctionSpace& with, const space::SpaceOptions& options)
      : FunctionSpace(with.discretisation(), options) {}

  Discretisation discretisation() const { return Discretisation(space_->discretisation()); }
  const std::shared_ptr<const space::FunctionSpace>& ptr() const { return space_; }
  const space::FunctionSpace& operator*() const { return *space_; }
  const space::FunctionSpace* operator->() const { return space_.get(); }
  /// So that the form language takes it as it is.
  operator std::shared_ptr<const form::FieldSpace>() const { return space_; }

  /// Condition that fixes the field to constant values (one per component) on boundary facets with these tags.
  op::FieldCondition fixed(const BoundaryTags& tags, std::vector<double> values) const {
    if (values.size() != static_cast<std::size_t>(space_->num_components()))
      throw base::InputError("a condition on '" + space_->name + "' needs " + std::to_string(space_->num_components()) +
                             " values, found " + std::to_string(values.size()));
    return fixed(tags, [values = std::move(values)](std::span<const double>, std::span<double> at_point) {
      std::copy(values.begin(), values.end(), at_point.begin());
    });
  }
  /// The same for a field of one component. (A template, so that {0} is a list of values and no number in braces.)
  template <class Number>
  requires std::is_arithmetic_v<Number> op::FieldCondition fixed(const BoundaryTags& tags, Number value)
  const { return fixed(tags, std::vector{static_cast<double>(value)}); }
  /// The same with the values of an expression of x, constants and parameters: Operator::set("t", ...) changes them.
  template <std::same_as<form::Expr> Value>
  op::FieldCondition fixed(const BoundaryTags& tags, const Value& value) const {
    return op::make_condition(space_, tags.numbers_on(space_->mesh()), value);
  }
  /// The same with values that depend on the point, by a SpatialFunction or what can be called like one.
  template <std::invocable<std::span<const double>, std::span<double>> Function>
  op::FieldCondition fixed(const BoundaryTags& tags, Function value) const {
    return {space_, {.tags = tags.numbers_on(space_->mesh()), .value = space::SpatialFunction(std::move(value))}};
  }

  /// Conditions that fix what an operator leaves open (SolveOptions::null_space): integral means of the components,
  /// values of the components at a point of the mesh, or no part in the rigid motions that nothing holds.
  solvers::NullSpaceCondition mean(std::vector<double> values) const {
    return {.space = space_, .kind = solvers::NullSpaceCondition::Kind::mean, .values = std::move(values)};
  }
  solvers::NullSpaceCondition value_at(std::vector<double> point, std::vector<double> values) const {
    return {.space = space_,
            .kind = solvers::NullSpaceCondition::Kind::point,
            .values = std::move(values),
            .point = std::move(point)};
  }
  solvers::NullSpaceCondition rigid_modes() const {
    return {.space = space_, .kind = solvers::NullSpaceCondition::Kind::rigid_modes};
  }

private:
  std::shared_ptr<const space::FunctionSpace> space_;
};

/// (trial, test)
inline std::pair<form::Expr, form::Expr> arguments(const FunctionSpace& V) {
  return form::arguments(std::shared_ptr<const form::FieldSpace>(V.ptr()));
}

} // namespace rafter::problem
