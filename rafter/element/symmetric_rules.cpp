// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/element/symmetric_rules.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include <rafter/element/basis.hpp>
#include <rafter/element/dense.hpp>

namespace rafter::element {
namespace {

/// All distinct permutations of a barycentric point whose coordinates are groups of equal values. `groups` gives the
/// size of each group and `values` all values but the last, which the sum of 1 fixes: groups {2, 1}, values {a} is the
/// orbit of (a, a, 1 - 2a). The weight is that of one point, as a share of the cell's volume.
struct Orbit {
  std::vector<int> groups;
  double weight;
  std::vector<double> values;
};

struct SymmetricRule {
  Shape shape;
  int degree;
  std::vector<Orbit> orbits;
};

/// Starting values to a few digits; Newton's method on the moment equations finds the rest of them.
/// Triangles: Strang and Fix, An Analysis of the Finite Element Method (1973); Dunavant, Int. J. Numer. Meth. Engng 21
/// (1985) 1129. Tetrahedra: Keast, Comput. Meth. Appl. Mech. Engng 55 (1986) 339; Walkington, Quadrature on simplices
/// of arbitrary dimension (2000). Ascending degree per shape.
const std::vector<SymmetricRule>& starting_values() {
  constexpr auto tri = Shape::triangle, tet = Shape::tetrahedron;
  static const std::vector<SymmetricRule> table{
      {tri, 1, {{{3}, 1, {}}}},
      {tri, 2, {{{2, 1}, 0.333333, {0.166667}}}},
      {tri, 4, {{{2, 1}, 0.223381589, {0.445948491}}, {{2, 1}, 0.109951744, {0.091576214}}}},
      {tri, 5, {{{3}, 0.225, {}}, {{2, 1}, 0.132394153, {0.470142064}}, {{2, 1}, 0.125939181, {0.101286507}}}},
      {tri,
       6,
       {{{2, 1}, 0.116786276, {0.249286745}},
        {{2, 1}, 0.050844906, {0.063089014}},
        {{1, 1, 1}, 0.082851076, {0.053145050, 0.310352451}}}},
      {tri,
       7,
       {{{2, 1}, 0.074719954, {0.407745030}},
        {{2, 1}, 0.081284559, {0.210349968}},
        {{2, 1}, 0.050412426, {0.063181549}},
        {{1, 1, 1}, 0.063458198, {0.312884720, 0.039016260}}}},
      {tri,
       8,
       {{{3}, 0.144315608, {}},
        {{2, 1}, 0.095091634, {0.459292588}},
        {{2, 1}, 0.103217371, {0.170569308}},
        {{2, 1}, 0.032458498, {0.050547228}},
        {{1, 1, 1}, 0.027230314, {0.263112830, 0.008394777}}}},
      {tri,
       9,
       {{{3}, 0.097135796, {}},
        {{2, 1}, 0.031334700, {0.489682519}},
        {{2, 1}, 0.077827541, {0.437089591}},
        {{2, 1}, 0.079647739, {0.188203536}},
        {{2, 1}, 0.025577676, {0.044729513}},
        {{1, 1, 1}, 0.043283539, {0.221962989, 0.036838412}}}},
      {tri,
       10,
       {{{3}, 0.090817990, {}},
        {{2, 1}, 0.036725958, {0.485577633}},
        {{2, 1}, 0.045321059, {0.109481575}},
        {{1, 1, 1}, 0.072757917, {0.307939839, 0.550352942}},
        {{1, 1, 1}, 0.028327243, {0.246672561, 0.728323905}},
        {{1, 1, 1}, 0.009421667, {0.066803251, 0.923655934}}}},
      {tri,
       11,
       {{{3}, 0.086141238, {}},
        {{2, 1}, 0.038516138, {0.101379536}},
        {{2, 1}, 0.016984721, {0.495668792}},
        {{2, 1}, 0.067669949, {0.438564039}},
        {{2, 1}, 0.070784035, {0.209760529}},
        {{2, 1}, 0.010193476, {0.028153200}},
        {{1, 1, 1}, 0.009822435, {0.006338951, 0.845552749}},
        {{1, 1, 1}, 0.040413199, {0.666642702, 0.287529649}}}},
      {tri,
       12,
       {{{2, 1}, 0.025731066, {0.488217390}},
        {{2, 1}, 0.006166261, {0.021317350}},
        {{2, 1}, 0.062858224, {0.271210385}},
        {{2, 1}, 0.043692545, {0.439724392}},
        {{2, 1}, 0.034796113, {0.127576146}},
        {{1, 1, 1}, 0.017316231, {0.025734051, 0.116251916}},
        {{1, 1, 1}, 0.022356773, {0.281325581, 0.695836087}},
        {{1, 1, 1}, 0.040371558, {0.275713270, 0.115343495}}}},
      {tri,
       13,
       {{{3}, 0.052404033, {}},
        {{2, 1}, 0.031151604, {0.114369663}},
        {{2, 1}, 0.047278628, {0.229484070}},
        {{2, 1}, 0.047031890, {0.414447415}},
        {{2, 1}, 0.011266136, {0.495065497}},
        {{2, 1}, 0.007979340, {0.024817087}},
        {{2, 1}, 0.031504173, {0.468681112}},
        {{1, 1, 1}, 0.017447018, {0.690089500, 0.291753110}},
        {{1, 1, 1}, 0.015513435, {0.126385786, 0.022215920}},
        {{1, 1, 1}, 0.036866324, {0.095029195, 0.268671691}}}},
      {tet, 1, {{{4}, 1, {}}}},
      {tet, 2, {{{3, 1}, 0.25, {0.138196601}}}},
      {tet, 3, {{{3, 1}, 0.136217843, {0.328163303}}, {{3, 1}, 0.113782157, {0.108047250}}}},
      {tet,
       5,
       {{{3, 1}, 0.073493043, {0.092735250}},
        {{3, 1}, 0.112687926, {0.310885919}},
        {{2, 2}, 0.042546021, {0.454496296}}}},
      {tet,
       6,
       {{{3, 1}, 0.010077211, {0.040673959}},
        {{3, 1}, 0.055357182, {0.322337890}},
        {{3, 1}, 0.039922750, {0.214602871}},
        {{2, 1, 1}, 0.048214286, {0.063661002, 0.269672331}}}},
      {tet,
       7,
       {{{4}, 0.095485289, {}},
        {{3, 1}, 0.042329581, {0.315701150}},
        {{2, 2}, 0.031896928, {0.050489823}},
        {{2, 1, 1}, 0.008110771, {0.021265473, 0.146638814}},
        {{2, 1, 1}, 0.037207131, {0.188833831, 0.575171638}}}},
      {tet,
       8,
       {{{3, 1}, 0.007341561, {0.041912713}},
        {{3, 1}, 0.052574513, {0.184918311}},
        {{3, 1}, 0.026012709, {0.106938769}},
        {{3, 1}, 0.041496003, {0.314235877}},
        {{2, 2}, 0.036186365, {0.064243712}},
        {{2, 1, 1}, 0.007159479, {0.021471259, 0.717886881}},
        {{2, 1, 1}, 0.015605743, {0.204188837, 0.008357557}}}},
      {tet,
       10,
       {{{4}, 0.047399774, {}},
        {{3, 1}, 0.026937060, {0.312250069}},
        {{3, 1}, 0.009869160, {0.114309654}},
        {{2, 1, 1}, 0.025739732, {0.121050181, 0.280709258}},
        {{2, 1, 1}, 0.000361944, {0.006138009, 0.942988767}},
        {{2, 1, 1}, 0.011393881, {0.410430739, 0.013652496}},
        {{2, 1, 1}, 0.006576147, {0.032485282, 0.133852152}},
        {{2, 1, 1}, 0.012907036, {0.174979342, 0.021969470}},
        {{2, 1, 1}, 0.010135872, {0.032779468, 0.340184794}}}},
  };
  return table;
}

/// All orders of the values in an orbit: the group number of each barycentric coordinate, one row per point.
std::vector<std::vector<int>> arrangements(const std::vector<int>& groups) {
  std::vector<int> pattern;
  for (std::size_t g = 0; g < groups.size(); ++g) pattern.insert(pattern.end(), groups[g], static_cast<int>(g));
  std::vector<std::vector<int>> result;
  do result.push_back(pattern);
  while (std::ranges::next_permutation(pattern).found);
  return result;
}

/// Values of all groups; the last one follows from the sum of the coordinates, which is 1.
std::vector<double> all_values(const Orbit& orbit) {
  auto result = orbit.values;
  double sum = 0;
  for (std::size_t g = 0; g < result.size(); ++g) sum += orbit.groups[g] * result[g];
  result.push_back((1 - sum) / orbit.groups.back());
  return result;
}

/// Reference points of an orbit, shape (point, dimension); coordinate k is 2 b_(k+1) - 1 for barycentric coordinates b.
std::vector<double> orbit_points(const Orbit& orbit) {
  const auto values = all_values(orbit);
  std::vector<double> result;
  for (const auto& arrangement : arrangements(orbit.groups))
    for (std::size_t k = 1; k < arrangement.size(); ++k) result.push_back(2 * values[arrangement[k]] - 1);
  return result;
}

/// Residuals of the moment equations, one per orthonormal function, and their derivatives with respect to all unknowns
/// (the weight, then the values of each orbit).
struct Moments {
  std::vector<double> residual;
  std::vector<std::vector<double>> derivatives; ///< [unknown][function]
};

void add_orbit(const SymmetricRule& rule, const Orbit& orbit, Moments& moments) {
  const auto shapes = arrangements(orbit.groups);
  const Table basis = tabulate_orthonormal(rule.shape, rule.degree, orbit_points(orbit));
  const auto num_functions = static_cast<std::size_t>(basis.num_dofs);
  const double volume = reference_volume(rule.shape);
  const std::size_t first = moments.derivatives.size();
  moments.derivatives.resize(first + 1 + orbit.values.size(), std::vector<double>(num_functions, 0.));
  for (int q = 0; q < basis.num_points; ++q)
    for (std::size_t f = 0; f < num_functions; ++f) {
      const int function = static_cast<int>(f);
      moments.residual[f] += volume * orbit.weight * basis(0, q, function);
      moments.derivatives[first][f] += volume * basis(0, q, function);
      for (std::size_t v = 0; v < orbit.values.size(); ++v) {
        double slope = 0; // the last value falls by groups[v] / groups.back() when value v grows by 1
        for (int k = 0; k < basis.dim; ++k) {
          const int group = shapes[q][k + 1];
          const double moved = group == static_cast<int>(v) ? 1
                               : group == static_cast<int>(orbit.values.size())
                                   ? -static_cast<double>(orbit.groups[v]) / orbit.groups.back()
                                   : 0;
          slope += 2 * moved * basis(k + 1, q, function);
        }
        moments.derivatives[first + 1 + v][f] += volume * orbit.weight * slope;
      }
    }
}

/// Least-squares solution of derivatives * step = -residual.
std::vector<double> newton_step(const Moments& moments) {
  const std::size_t n = moments.derivatives.size();
  std::vector<double> normal(n * n), right(n), step(n, 0.);
  const auto dot = [](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  double trace = 0;
  for (std::size_t i = 0; i < n; ++i) {
    right[i] = -dot(moments.derivatives[i], moments.residual);
    for (std::size_t j = 0; j < n; ++j) normal[i * n + j] = dot(moments.derivatives[i], moments.derivatives[j]);
    trace += normal[i * n + i];
  }
  for (std::size_t i = 0; i < n; ++i)
    normal[i * n + i] += 1e-13 * trace; // families of rules have a free direction, which makes the matrix singular
  const auto inverted = inverse(normal, static_cast<int>(n));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) step[i] += inverted[i * n + j] * right[j];
  return step;
}

SymmetricRule polished(SymmetricRule rule) {
  constexpr int max_iterations = 20;
  const auto num_functions = static_cast<std::size_t>(num_basis_functions(rule.shape, rule.degree));
  for (int iteration = 0; iteration < max_iterations; ++iteration) {
    Moments moments{std::vector<double>(num_functions, 0.), {}};
    moments.residual[0] = -std::sqrt(reference_volume(rule.shape)); // integral of the constant function
    for (const Orbit& orbit : rule.orbits) add_orbit(rule, orbit, moments);
    const auto step = newton_step(moments);
    std::size_t unknown = 0;
    double size = 0;
    for (Orbit& orbit : rule.orbits) {
      orbit.weight += step[unknown++];
      for (double& value : orbit.values) value += step[unknown++];
    }
    for (const double s : step) size = std::max(size, std::abs(s));
    if (size < 1e-16) break;
  }
  return rule;
}

Quadrature expanded(const SymmetricRule& rule) {
  Quadrature result{rule.shape, rule.degree, {}, {}, {}};
  for (const Orbit& orbit : rule.orbits) {
    const auto points = orbit_points(orbit);
    result.points.insert(result.points.end(), points.begin(), points.end());
    result.weights.resize(result.points.size() / dimension(rule.shape), orbit.weight * reference_volume(rule.shape));
  }
  return result;
}

} // namespace

std::optional<Quadrature> symmetric_rule(Shape shape, int degree) {
  static std::mutex mutex;
  static std::map<std::size_t, Quadrature> rules; // rules that were asked for
  const auto& table = starting_values();
  const auto found = std::ranges::find_if(
      table, [&](const SymmetricRule& rule) { return rule.shape == shape && rule.degree >= degree; });
  if (found == table.end()) return std::nullopt;
  const std::scoped_lock lock(mutex);
  const auto [place, is_new] = rules.try_emplace(static_cast<std::size_t>(found - table.begin()));
  if (is_new) place->second = expanded(polished(*found));
  return place->second;
}

} // namespace rafter::element
