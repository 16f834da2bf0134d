// SPDX-License-Identifier: BSD-3-Clause
#include "arguments.hpp"

#include <algorithm>

#include <rafter/base/error.hpp>
#include <rafter/mesh/tag_uses.hpp>
#include <rafter/operator/operator.hpp>

namespace rafter::python {

op::OperatorOptions RunArguments::options() const {
  op::OperatorOptions result{.device = device, .threads = threads};
  result.plan = plan;
  result.quadrature.degree = degree;
  return result;
}

op::FieldCondition ConditionArguments::make() const {
  const auto& V = space->space;
  std::vector<std::int32_t> numbers;
  for (const auto& tag : tags)
    for (const auto number : mesh::tags_for(V->mesh(), tag, mesh::TagUse::dirichlet)) numbers.push_back(number);
  op::FieldCondition result;
  if (expression)
    result = op::make_condition(V, numbers, *expression);
  else
    result = {.space = V,
              .condition = {.tags = numbers,
                            .value = [call = *function](std::span<const double> x, std::span<double> values) {
                              const auto found = call({x.begin(), x.end()});
                              if (found.size() != values.size())
                                throw base::InputError("a boundary value has " + std::to_string(found.size()) +
                                                       " components, accepted are " + std::to_string(values.size()));
                              std::ranges::copy(found, values.begin());
                            }}};
  result.condition.is_all = tags.empty();
  result.condition.components = components;
  if (where)
    result.condition.where = [holds = *where](std::span<const double> x) { return holds({x.begin(), x.end()}); };
  return result;
}

op::Vector to_vector(std::span<const double> values, std::shared_ptr<device::Device> device) {
  return {std::move(device), base::AlignedVector<double>(values.begin(), values.end())};
}

void bind_arguments(nb::module_& module) {
  nb::class_<RunArguments>(module, "RunArguments")
      .def(
          "__init__",
          [](RunArguments* self, std::string device, int threads, std::string plan, std::optional<int> degree) {
            new (self) RunArguments{std::move(device), threads, std::move(plan), degree};
          },
          nb::arg("device"), nb::arg("threads"), nb::arg("plan"), nb::arg("degree").none());
  nb::class_<DataArguments>(module, "DataArguments")
      .def("__init__", [](DataArguments* self, const std::vector<std::pair<std::string, Doubles>>& fields,
                          std::vector<std::pair<std::string, double>> parameters) {
        new (self) DataArguments{.fields = {}, .parameters = std::move(parameters)};
        for (const auto& [name, values] : fields)
          self->fields.emplace_back(name, std::vector<double>(values.data(), values.data() + values.size()));
      });
  nb::class_<ConditionArguments>(module, "Condition")
      .def(
          "__init__",
          [](ConditionArguments* self, std::shared_ptr<SpaceHandle> space, std::vector<std::string> tags,
             std::vector<int> components, std::optional<form::Expr> expression, std::optional<PointFunction> function,
             std::optional<PointPredicate> where) {
            new (self) ConditionArguments{std::move(space),      std::move(tags),     std::move(components),
                                          std::move(expression), std::move(function), std::move(where)};
          },
          nb::arg("space"), nb::arg("tags"), nb::arg("components"), nb::arg("expression").none(),
          nb::arg("function").none(), nb::arg("where").none());
}

} // namespace rafter::python
