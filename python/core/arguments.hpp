// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <rafter/form/expr.hpp>
#include <rafter/operator/operator_options.hpp>

#include "bindings.hpp"
#include "handles.hpp"

/// Arguments of operators and problems, as the package hands them over.
namespace rafter::python {

/// Where operators run, and how.
struct RunArguments {
  std::string device = "host";
  int threads = 0;
  std::string plan;
  std::optional<int> degree; ///< degree that quadrature integrates exactly; absent: it is chosen
  op::OperatorOptions options() const;
};

/// Values of data fields, as vectors of their spaces, and of parameters, by name.
struct DataArguments {
  using Field = std::pair<std::string, std::vector<double>>;
  std::vector<Field> fields;
  std::vector<std::pair<std::string, double>> parameters;
};

/// A Dirichlet condition. Its values are an expression of x and parameters, or a function in Python.
struct ConditionArguments {
  std::shared_ptr<SpaceHandle> space;
  std::vector<std::string> tags; ///< numbers and names of groups; empty: the whole boundary
  std::vector<int> components;   ///< empty: all
  std::optional<form::Expr> expression;
  std::optional<PointFunction> function; ///< returns the values of all components at a point
  std::optional<PointPredicate> where;   ///< says whether the condition holds at a point; absent: everywhere
  op::FieldCondition make() const;
};

op::Vector to_vector(std::span<const double> values, std::shared_ptr<device::Device> device);

} // namespace rafter::python
