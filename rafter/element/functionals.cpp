// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/element/functionals.hpp>

namespace rafter::element {

void Functionals::add(std::span<const Term> of_functional) {
  terms.insert(terms.end(), of_functional.begin(), of_functional.end());
  begins.push_back(static_cast<std::int32_t>(terms.size()));
}

bool Functionals::are_point_evaluations() const {
  if (count() != num_points() || terms.size() != static_cast<std::size_t>(count())) return false;
  for (std::int32_t i = 0; i < count(); ++i) {
    const auto& [point, component, weight] = terms[static_cast<std::size_t>(i)];
    if (begins[static_cast<std::size_t>(i)] != i || point != i || component != 0 || weight != 1) return false;
  }
  return true;
}

std::vector<double> Functionals::applied(std::span<const double> values, int num_functions) const {
  const auto n = static_cast<std::size_t>(num_functions);
  std::vector<double> result(static_cast<std::size_t>(count()) * n);
  for (std::size_t i = 0; i + 1 < begins.size(); ++i)
    for (auto t = static_cast<std::size_t>(begins[i]); t < static_cast<std::size_t>(begins[i + 1]); ++t) {
      const auto& [point, component, weight] = terms[t];
      const auto row = (static_cast<std::size_t>(component) * static_cast<std::size_t>(num_points()) +
                        static_cast<std::size_t>(point)) *
                       n;
      for (std::size_t f = 0; f < n; ++f) {
        const double term = weight * values[row + f];
        double& sum = result[i * n + f];
        sum = static_cast<std::int32_t>(t) == begins[i] ? term : sum + term; // one term keeps its sign of zero
      }
    }
  return result;
}

Functionals point_evaluations(std::vector<double> points, int dim) {
  Functionals result{.dim = dim, .points = std::move(points)};
  for (std::int32_t point = 0; point < result.num_points(); ++point) {
    const Functionals::Term value{.point = point};
    result.add({&value, 1});
  }
  return result;
}

} // namespace rafter::element
