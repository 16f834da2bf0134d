// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/singularity.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/mesh/describe.hpp>
#include <rafter/operator/generate/unknowns.hpp>
#include <rafter/solve/null_space.hpp>
#include <rafter/solve/rigid_modes.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::problem {
namespace {

using op::Unknowns;
using op::Vector;
using solvers::Mode;
using solvers::PerConnectedComponent;

/// All checks look at the free entries of the operator, at their places, and at the connected component of the mesh
/// that each belongs to.
class Subject {
public:
  const op::Operator& A;
  const Request& request;
  const solvers::NullSpace& null_space; ///< null space that [[constraint]] fixes
  op::Reach reach;
  mesh::ConnectedComponents connected_components;
  std::vector<std::uint8_t> is_free; ///< shape (entry)

  Subject(const op::Operator& op, const Request& from, const solvers::NullSpace& fixed)
      : A(op), request(from), null_space(fixed), reach(op::reach_of(op.form(), op.system())),
        connected_components(mesh::connected_components(mesh(), reach.any)),
        is_free(static_cast<std::size_t>(op.size()), 1) {
    for (const auto entry : A.constraints().entries) is_free[static_cast<std::size_t>(entry)] = 0;
  }

  const mesh::Mesh& mesh() const { return *A.system().mesh; }
  /// The table of all unknowns is made on first use, since most problems are found regular without it.
  const Unknowns& unknowns() const {
    if (!unknowns_) unknowns_ = op::make_unknowns(A.system(), connected_components);
    return *unknowns_;
  }

private:
  mutable std::optional<Unknowns> unknowns_;
};

/// Returns a text like "field 'u', component 1, at (0.5, 0, 1)".
std::string describe(const Subject& subject, std::size_t entry) {
  const auto& unknowns = subject.unknowns();
  const auto& field = *subject.A.system().spaces[unknowns.field_of(entry)];
  const auto component = field.components == 0 ? "" : fmt::format(", component {}", unknowns.component[entry]);
  return fmt::format("field '{}'{}, at {}", field.name, component, mesh::describe_point(unknowns.point(entry)));
}

std::string tags_text(const mesh::Mesh& mesh, const std::set<std::int32_t>& tags) {
  std::vector<std::string> names;
  for (const auto tag : tags) names.push_back(mesh.physical_groups.text(mesh.tdim, tag));
  return (names.size() == 1 ? "tag " : "tags ") + base::join(names, ", ");
}

// --- rows

/// Returns a text about the cells that no cell integral with a test function of the field covers, with their tags, or
/// "" if there are none.
std::string describe_left_out(const mesh::Mesh& mesh, const mesh::CellMask& covered) {
  std::set<std::int32_t> tags;
  std::int64_t count = 0;
  for (std::size_t g = 0; g < covered.size(); ++g)
    for (std::size_t cell = 0; cell < covered[g].size(); ++cell)
      if (covered[g][cell] == 0) {
        tags.insert(mesh.groups[g].tags[cell]);
        ++count;
      }
  if (count == 0) return {};
  return fmt::format("; no dx of it reaches {} of {} cells, those with {}", count, mesh.num_cells(),
                     tags_text(mesh, tags));
}

/// Entries of at most this size, relative to the largest one of their cells, count as rounding. An empty row is exactly
/// zero where cell integrals reach, whatever the coefficients of neighbours are. Elsewhere functions that vanish on a
/// facet are integrated over it, which leaves rounding errors.
constexpr double row_noise = 1e-12;
std::vector<double> noise_of(const Subject& subject, std::span<const double> image) {
  std::vector<double> noise(image.size(), 0.0);
  std::vector<std::uint8_t> is_covered(image.size(), 0);
  const auto all_cells = mesh::make_cell_mask(subject.mesh(), true);
  for (std::size_t f = 0; f < subject.A.system().spaces.size(); ++f) {
    const auto& covered = subject.reach.by_cells[f];
    op::for_cells(subject.A.system(), f, all_cells,
                  [&](std::size_t g, std::size_t cell, std::span<const std::int32_t> entries) {
                    double largest = 0;
                    for (const auto entry : entries)
                      largest = std::max(largest, std::abs(image[static_cast<std::size_t>(entry)]));
                    for (const auto entry : entries) {
                      const auto i = static_cast<std::size_t>(entry);
                      if (covered[g][cell] != 0) is_covered[i] = 1;
                      noise[i] = std::max(noise[i], row_noise * largest);
                    }
                  });
  }
  for (std::size_t i = 0; i < noise.size(); ++i)
    if (is_covered[i] != 0) noise[i] = 0;
  return noise;
}

/// Returns whether no free entry is so small beside the largest that it might be rounding.
bool is_plainly_full(const Subject& subject, std::span<const double> image) {
  double smallest = std::numeric_limits<double>::infinity(), largest = 0;
  for (std::size_t i = 0; i < image.size(); ++i) {
    const double size = std::abs(image[i]);
    largest = std::max(largest, size);
    if (subject.is_free[i] != 0) smallest = std::min(smallest, size);
  }
  return smallest > row_noise * largest;
}

/// Throws InputError if rows of the operator map a random vector to zero.
void require_rows(const Subject& subject, const Probe& probe) {
  const auto values = probe.image.host_read();
  if (is_plainly_full(subject, values)) return;
  const auto noise = noise_of(subject, values);
  std::size_t first = values.size(), count = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (subject.is_free[i] != 0 && std::abs(values[i]) <= noise[i]) {
      first = std::min(first, i);
      ++count;
    }
  if (count == 0) return;
  const std::size_t field = subject.unknowns().field_of(first);
  throw base::InputError(at(
      subject.request.statement.places.form,
      fmt::format("{}: the problem is singular: {} of {} unknowns have an empty row, the first in {}{}; every unknown "
                  "that [[dirichlet]] does not fix needs a term with its test function '{}' (with coefficients that "
                  "are not zero, "
                  "and enough quadrature points)",
                  subject.request.statement.form_name, count, values.size(), describe(subject, first),
                  describe_left_out(subject.mesh(), subject.reach.by_cells[field]),
                  test_name(subject.A.system(), field))));
}

// --- null vectors

std::vector<Mode> modes_of(const op::System& system) {
  std::vector<Mode> modes;
  for (std::size_t f = 0; f < system.spaces.size(); ++f)
    for (const auto& of_field : {solvers::constant_modes(system, f), solvers::rotation_modes(system, f)})
      modes.insert(modes.end(), of_field.begin(), of_field.end());
  return modes;
}

/// Returns the mode on all connected components at once, including fixed entries.
Vector mode_vector(const Subject& subject, const Mode& mode) {
  Vector result = subject.A.make_vector();
  const auto entries = result.host_overwrite();
  const auto centre = centres_for(subject.unknowns(), subject.connected_components.count, mode);
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = mode_value(subject.unknowns(), mode, centre, i);
  return result;
}

/// Entries are sorted by connected component: those of component p are order[begins[p]] to
/// order[begins[p + 1] - 1].
struct EntriesByConnectedComponent {
  std::vector<std::size_t> begins, order;
};
EntriesByConnectedComponent sort_by_connected_component(const Subject& subject) {
  EntriesByConnectedComponent result;
  result.begins.assign(static_cast<std::size_t>(subject.connected_components.count) + 1, 0);
  for (const auto connected_component : subject.unknowns().connected_component)
    if (connected_component >= 0) ++result.begins[static_cast<std::size_t>(connected_component) + 1];
  for (std::size_t p = 1; p < result.begins.size(); ++p) result.begins[p] += result.begins[p - 1];
  auto next = result.begins;
  result.order.resize(result.begins.back());
  for (std::size_t i = 0; i < subject.unknowns().size(); ++i)
    if (const auto connected_component = subject.unknowns().connected_component[i]; connected_component >= 0)
      result.order[next[static_cast<std::size_t>(connected_component)]++] = i;
  return result;
}

/// The image of a mode v with |v| = 1 on each connected component is A v on free entries, in units of the operator's
/// magnitude, and v on fixed ones, in the order of the connected components. A combination of modes is free and in the
/// null space if the same combination of images is zero. The projection of v onto the space that [[constraint]] fixes
/// is added, since A + N N^T is regular if that is the whole null space.
struct Image {
  std::vector<double> values;
  /// Says whether the mode is not zero, shape (connected component).
  std::vector<std::uint8_t> exists;
};
Image image_of(const Subject& subject, const Mode& mode, const PerConnectedComponent& magnitude,
               const EntriesByConnectedComponent& entries) {
  const Vector v = mode_vector(subject, mode);
  Vector product = subject.A.make_vector();
  subject.A.apply(v, product);
  const auto values = product.host_read();
  const Vector fixed = subject.null_space.part(v);
  const auto fixed_values = fixed.host_read();
  const auto norm =
      solvers::connected_component_norms(subject.unknowns(), subject.connected_components.count, v.host_read());
  Image result;
  for (const double n : norm) result.exists.push_back(n > 0 ? 1 : 0);
  for (const auto entry : entries.order) {
    const auto connected_component = static_cast<std::size_t>(subject.unknowns().connected_component[entry]);
    const double scale =
        subject.is_free[entry] != 0 && magnitude[connected_component] > 0 ? magnitude[connected_component] : 1;
    result.values.push_back(
        norm[connected_component] > 0 ? (values[entry] / scale + fixed_values[entry]) / norm[connected_component] : 0);
  }
  return result;
}

double dot(std::span<const double> x, std::span<const double> y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

/// Returns the positions of vectors that depend linearly on the others up to rounding, by Gram-Schmidt with pivoting,
/// which overwrites the vectors.
std::vector<std::size_t> dependent(std::vector<std::span<double>> vectors, double tolerance) {
  std::vector<std::size_t> left(vectors.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  while (!left.empty()) {
    const auto pivot = std::max_element(left.begin(), left.end(), [&](std::size_t i, std::size_t j) {
      return dot(vectors[i], vectors[i]) < dot(vectors[j], vectors[j]);
    });
    const auto direction = vectors[*pivot];
    const double square = dot(direction, direction);
    if (std::sqrt(square) <= tolerance) return left;
    left.erase(pivot);
    for (const auto i : left) {
      const double factor = dot(vectors[i], direction) / square;
      for (std::size_t k = 0; k < direction.size(); ++k) vectors[i][k] -= factor * direction[k];
    }
  }
  return {};
}

/// Returns a text like " on the connected component of 8 cells with tag 2 between (2, 0) and (3, 1)", or "" for the
/// only connected component.
std::string describe_connected_component(const Subject& subject, std::int32_t connected_component) {
  if (subject.connected_components.count == 1) return {};
  const auto& mesh = subject.mesh();
  std::set<std::int32_t> tags;
  std::int64_t count = 0;
  for (std::size_t g = 0; g < mesh.groups.size(); ++g)
    for (std::size_t cell = 0; cell < subject.connected_components.of_cell[g].size(); ++cell)
      if (subject.connected_components.of_cell[g][cell] == connected_component) {
        tags.insert(mesh.groups[g].tags[cell]);
        ++count;
      }
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  std::vector<double> low(dim, std::numeric_limits<double>::max()), high(dim, std::numeric_limits<double>::lowest());
  for (std::size_t i = 0; i < subject.unknowns().size(); ++i)
    if (subject.unknowns().connected_component[i] == connected_component)
      for (std::size_t a = 0; a < dim; ++a) {
        low[a] = std::min(low[a], subject.unknowns().point(i)[a]);
        high[a] = std::max(high[a], subject.unknowns().point(i)[a]);
      }
  return fmt::format(
      " on the connected component of {} cells with {} between {} and {}, which shares no vertex with the rest of the "
      "{} cells",
      count, tags_text(mesh, tags), mesh::describe_point(low), mesh::describe_point(high), mesh.num_cells());
}

/// Returns whether on every connected component the modes are linearly independent on the fixed entries alone: then the
/// conditions exclude each of their combinations, whatever the operator is. Conditions hold on the boundary and on
/// tagged facets inside, so that only the cells at every `stride`-th of these are examined.
bool conditions_hold_all(const Subject& subject, const std::vector<Mode>& modes, std::size_t stride) {
  constexpr double least_part = 1e-6; // norm of what the other modes leave of a mode, far above rounding
  const auto count = subject.connected_components.count;
  const auto unknowns = op::fixed_on_facets(subject.A.system(), subject.connected_components, subject.is_free, stride);
  std::vector<std::vector<std::size_t>> fixed(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < unknowns.size(); ++i)
    if (const auto connected_component = unknowns.connected_component[i]; connected_component >= 0)
      fixed[static_cast<std::size_t>(connected_component)].push_back(i);
  if (std::ranges::any_of(fixed, [](const auto& entries) { return entries.empty(); })) return false;
  std::vector<std::vector<double>> centre;
  for (const auto& mode : modes) centre.push_back(centres_for(unknowns, count, mode));
  for (const auto& entries : fixed) {
    std::vector<std::vector<double>> values(modes.size());
    for (std::size_t m = 0; m < modes.size(); ++m) {
      for (const auto entry : entries) values[m].push_back(mode_value(unknowns, modes[m], centre[m], entry));
      const double norm = std::sqrt(dot(values[m], values[m]));
      if (norm == 0) return false;
      for (double& value : values[m]) value /= norm;
    }
    if (!dependent({values.begin(), values.end()}, least_part).empty()) return false;
  }
  return true;
}

/// Returns the key that fixes these modes: "mean = 0.0", or "rigid_modes = true" if rotations are among them.
std::string constraint_advice(const Subject& subject, const std::vector<Mode>& modes) {
  const bool rotates = std::ranges::any_of(modes, [](const Mode& mode) { return mode.other >= 0; });
  const auto& field = *subject.A.system().spaces[modes.front().field];
  if (rotates) return fmt::format("field = \"{}\", rigid_modes = true", field.name);
  std::vector<std::string> zeros(static_cast<std::size_t>(field.num_components()), "0.0");
  const auto value = field.components == 0 ? zeros[0] : "[" + base::join(zeros, ", ") + "]";
  return fmt::format("field = \"{}\", mean = {}", field.name, value);
}

void require_no_null_vectors(const Subject& subject) {
  const auto modes = modes_of(subject.A.system());
  constexpr std::size_t enough_facets = 1024; // these suffice for most bodies; for others, all facets are examined
  const auto& surface = subject.mesh().surface();
  const auto stride = (surface.exterior_facets.size() + surface.inner_facets.size()) / enough_facets;
  if (stride > 1 && conditions_hold_all(subject, modes, stride)) return;
  if (conditions_hold_all(subject, modes, 1)) return;
  const auto entries = sort_by_connected_component(subject);
  std::vector<PerConnectedComponent> magnitude;
  for (std::size_t f = 0; f < subject.A.system().spaces.size(); ++f)
    magnitude.push_back(
        solvers::magnitudes(subject.A, subject.unknowns(), subject.connected_components.count, f, subject.is_free));
  std::vector<Image> images;
  for (const auto& mode : modes) images.push_back(image_of(subject, mode, magnitude[mode.field], entries));

  std::int32_t first = -1, count = 0;
  std::vector<std::string> names; // modes on the first singular connected component
  std::vector<Mode> unfixed;
  for (std::int32_t p = 0; p < subject.connected_components.count; ++p) {
    const auto connected_component = static_cast<std::size_t>(p);
    std::vector<std::span<double>> vectors;
    std::vector<Mode> of_vectors;
    for (std::size_t m = 0; m < modes.size(); ++m) {
      if (images[m].exists[connected_component] == 0) continue;
      vectors.push_back(std::span(images[m].values)
                            .subspan(entries.begins[connected_component],
                                     entries.begins[connected_component + 1] - entries.begins[connected_component]));
      of_vectors.push_back(modes[m]);
    }
    const auto found = dependent(vectors, solvers::null_space_noise);
    if (found.empty() || ++count > 1) continue;
    first = p;
    for (const auto i : found) {
      unfixed.push_back(of_vectors[i]);
      names.push_back(of_vectors[i].name);
    }
  }
  if (count == 0) return;
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const auto more = count == 1 ? "" : fmt::format(" (and on {} more connected components)", count - 1);
  const auto& form = subject.request.statement.form_name;
  // Constraints exist for linear problems only, and derivatives of residuals may vanish at one state alone.
  const auto constraint =
      subject.request.is_residual
          ? std::string(" start from another state (fields.NAME.initial) if it sees them there,")
          : fmt::format(" fix the null space with [[constraint]] ({}),", constraint_advice(subject, unfixed));
  throw base::InputError(
      at(subject.request.statement.places.source,
         fmt::format("the problem is singular: {} does not see {}{}, and no condition fixes {}{}{}; "
                     "fix values with [[dirichlet]],{} or add a term without derivatives to {}",
                     form, base::join(names, ", "), subject.request.is_residual ? " at the starting state" : "",
                     names.size() == 1 ? "them" : "any of them", describe_connected_component(subject, first), more,
                     constraint, form)));
}

} // namespace

void require_regular(const op::Operator& A, const Probe& probe, const Request& request,
                     const solvers::NullSpace& fixed) {
  const Subject subject(A, request, fixed);
  require_rows(subject, probe);
  require_no_null_vectors(subject);
}

void require_diagonal(const op::Operator& A, const Request& request) {
  if (!solvers::find_preconditioner(request.solver.preconditioner).needs_diagonal) return;
  Vector diagonal = A.make_vector();
  A.diagonal(diagonal);
  const auto values = diagonal.host_read();
  const auto found = std::find_if(values.begin(), values.end(),
                                  [](double value) { return !std::isfinite(value) || !std::isfinite(1 / value); });
  if (found == values.end()) return;
  const solvers::NullSpace none;
  const Subject subject(A, request, none);
  throw base::InputError(at(
      request.statement.places.form,
      fmt::format(
          "preconditioner {} divides by the diagonal of the operator, whose entry is {} for {}: use preconditioner = "
          "\"none\"{}, or method = \"direct\" for few unknowns, if the form couples this field to others only (a "
          "saddle "
          "point request); otherwise a coefficient is not finite, or quadrature has fewer points than the degree needs",
          request.solver.preconditioner, *found, describe(subject, static_cast<std::size_t>(found - values.begin())),
          A.system().spaces.size() > 1 && !request.is_residual && !request.is_in_time ? " or \"block\"" : "")));
}

} // namespace rafter::problem
