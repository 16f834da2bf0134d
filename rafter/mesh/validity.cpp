// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/parallel.hpp>
#include <rafter/base/text.hpp>
#include <rafter/element/quadrature.hpp>
#include <rafter/mesh/cell_range.hpp>
#include <rafter/mesh/conformity.hpp>
#include <rafter/mesh/describe.hpp>

namespace rafter::mesh {

namespace {

constexpr std::size_t max_problems = 10;

/// A cell counts as flat, up to rounding, where det J is below this number times the product of the lengths of J's
/// columns. Even boundary layers of aspect ratio 1e6 are far above it.
constexpr double flat_tolerance = 1e-13;

/// A cell is measured by a single J if its nodes lie this near to where an affine map puts them, relative to the
/// shortest column of J, and if it is not thinner than `least_shape` = det J / product of the lengths of J's columns.
/// Its det J then varies by less than reports show.
constexpr double affine_tolerance = 1e-12, least_shape = 1e-4;

using Vector = std::array<double, 3>;
using Columns = std::array<Vector, 3>; ///< columns of J, dx / dX_a

/// Points where det J is sampled: those of a rule that integrates it exactly (weights > 0), then the nodes (weight 0).
struct Samples {
  std::vector<double> weights;
  element::Table table;
};

Samples make_samples(const CellGroup& group) {
  const int dim = element::dimension(group.shape);
  const auto element = geometry_element(group);
  const bool is_straight = element::is_simplex(group.shape) && group.degree == 1; // J is constant
  const int degree = is_straight ? 0 : std::min(dim * group.degree, element::max_quadrature_degree);
  const auto rule = element::make_quadrature(group.shape, degree);
  auto points = rule.points;
  auto weights = rule.weights;
  const int num_nodes = is_straight ? 0 : element->num_dofs();
  const auto nodes = element->nodes();
  for (int n = 0; n < num_nodes; ++n) {
    const auto x =
        nodes.subspan(static_cast<std::size_t>(n) * static_cast<std::size_t>(dim), static_cast<std::size_t>(dim));
    if (group.shape == element::Shape::pyramid && x[2] > 1 - 1e-12)
      continue; // rational functions have no gradient at the apex
    points.insert(points.end(), x.begin(), x.end());
    weights.push_back(0);
  }
  return {std::move(weights), element->tabulate(points)};
}

struct Jacobian {
  double det = 0, scale = 0; ///< det J and the product of the lengths of its columns
  bool is_in_range = true;   ///< says whether kernels can compute with them
};

double squared_length(const Vector& column) {
  return column[0] * column[0] + column[1] * column[1] + column[2] * column[2];
}
double length(const Vector& column) { return std::sqrt(squared_length(column)); }

Jacobian jacobian(const Columns& columns, std::size_t dim) {
  Jacobian result{0, 1};
  Vector squared{};
  for (std::size_t a = 0; a < dim; ++a) {
    squared[a] = squared_length(columns[a]);
    result.scale *= std::sqrt(squared[a]);
  }
  // Columns without length are no matter of range.
  const bool has_lengths = std::none_of(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(dim),
                                        [](const Vector& column) { return column == Vector{}; });
  result.is_in_range = !has_lengths || is_computable(std::span(squared).first(dim));
  const auto& [a, b, c] = columns;
  if (dim == 1) result.det = a[0];
  if (dim == 2) result.det = a[0] * b[1] - a[1] * b[0];
  if (dim == 3)
    result.det =
        a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
  return result;
}

struct CellSize {
  double volume = 0;    ///< signed volume
  double worst = 0;     ///< smallest det J
  double flatness = 0;  ///< smallest det J / product of the lengths of J's columns
  bool is_valid = true; ///< det J > 0 beyond rounding everywhere, and in the range of kernels
  double edge = 0;      ///< length of a cell that is out of this range, else 0
};

/// Measures the cells of one group.
class CellMeasure {
public:
  CellMeasure(const Mesh& mesh, const CellGroup& group)
      : mesh_(mesh), group_(group), samples_(make_samples(group)), element_(geometry_element(group)),
        dim_(static_cast<std::size_t>(mesh.gdim)) {
    for (int n = 0; n < element_->num_dofs(); ++n)
      for (std::size_t a = 0; a < dim_; ++a)
        steps_.push_back((element_->nodes()[static_cast<std::size_t>(n) * dim_ + a] + 1) / 2);
    origin_ = static_cast<std::size_t>(element_->entity_dofs(0, 0)[0]);
    for (std::size_t a = 0; a < dim_; ++a)
      ends_[a] =
          static_cast<std::size_t>(element_->entity_dofs(0, element::axis_vertex(group.shape, static_cast<int>(a)))[0]);
  }

  CellSize operator()(std::int32_t cell) const {
    const auto n = static_cast<std::size_t>(element_->num_dofs());
    const auto nodes = group_.nodes().subspan(static_cast<std::size_t>(cell) * n, n);
    CellSize size;
    return is_affine(nodes, size) ? size : sampled(nodes);
  }

private:
  const double* point(std::int32_t node) const { return &mesh_.points[static_cast<std::size_t>(node) * dim_]; }

  /// Returns true, and the size, where one J is good for the whole cell.
  bool is_affine(std::span<const std::int32_t> nodes, CellSize& size) const {
    const double* first = point(nodes[origin_]);
    Columns columns{};
    double shortest = std::numeric_limits<double>::infinity();
    for (std::size_t a = 0; a < dim_; ++a) {
      for (std::size_t d = 0; d < dim_; ++d) columns[a][d] = (point(nodes[ends_[a]])[d] - first[d]) / 2;
      shortest = std::min(shortest, length(columns[a]));
    }
    const auto j = jacobian(columns, dim_);
    if (!j.is_in_range || !(j.det > least_shape * j.scale)) return false;
    for (std::size_t n = 0; n < nodes.size(); ++n)
      for (std::size_t d = 0; d < dim_; ++d) {
        double x = first[d];
        for (std::size_t a = 0; a < dim_; ++a) x += 2 * steps_[n * dim_ + a] * columns[a][d];
        if (!(std::abs(x - point(nodes[n])[d]) <= affine_tolerance * shortest)) return false;
      }
    size = {j.det * element::reference_volume(group_.shape), j.det, j.det / j.scale, true};
    return true;
  }

  CellSize sampled(std::span<const std::int32_t> nodes) const {
    CellSize size{0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(), true};
    for (int p = 0; p < samples_.table.num_points; ++p) {
      const auto columns = columns_at(p, nodes);
      const auto j = jacobian(columns, dim_);
      if (!j.is_in_range && size.edge == 0) {
        size.edge = extreme_edge(columns);
        size.is_valid = false;
      }
      size.volume += samples_.weights[static_cast<std::size_t>(p)] * j.det;
      size.worst = std::min(size.worst, j.det);
      if (j.scale > 0) size.flatness = std::min(size.flatness, j.det / j.scale);
      if (!(j.det > flat_tolerance * j.scale)) size.is_valid = false;
    }
    return size;
  }

  /// The length of the column of J, times that of the reference cell, that is farthest from 1.
  double extreme_edge(const Columns& columns) const {
    double extreme = 1;
    for (std::size_t a = 0; a < dim_; ++a) {
      const double edge = 2 * std::hypot(columns[a][0], columns[a][1], columns[a][2]);
      if (std::abs(std::log(edge)) > std::abs(std::log(extreme))) extreme = edge;
    }
    return extreme;
  }

  Columns columns_at(int sample, std::span<const std::int32_t> nodes) const {
    Columns columns{};
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      const double* x = point(nodes[n]);
      for (std::size_t a = 0; a < dim_; ++a) {
        const double derivative = samples_.table(static_cast<int>(a) + 1, sample, static_cast<int>(n));
        for (std::size_t d = 0; d < dim_; ++d) columns[a][d] += derivative * x[d];
      }
    }
    return columns;
  }

  const Mesh& mesh_;
  const CellGroup& group_;
  Samples samples_;
  std::shared_ptr<const element::Element> element_;
  std::size_t dim_;
  std::vector<double> steps_;         ///< position of each node along the axes, from 0 to 1, shape (node, axis)
  std::size_t origin_ = 0;            ///< number of the node at vertex 0
  std::array<std::size_t, 3> ends_{}; ///< number of the node one step along each axis
};

void add_problem(ValidityReport& report, std::string line) {
  if (report.problems.size() < max_problems) report.problems.push_back(std::move(line));
}

/// Words for the fault of a cell that is not valid; `scaled` is its smallest det J divided by the mean.
std::string describe_fault(const CellSize& size, double mean, double scaled) {
  if (size.edge > 0)
    return fmt::format(
        "is so {} that computing with it {}flows: one of its edges is about {:.2g} long (give the mesh in "
        "units in which lengths are near 1)",
        size.edge < 1 ? "small" : "large", size.edge < 1 ? "under" : "over", size.edge);
  if (!std::isfinite(size.volume)) return "is so large that its volume overflows";
  if (mean == 0) return "is degenerate or partly inverted: its volume is 0";
  if (size.volume < 0) return fmt::format("is inverted: its smallest det J is {:.3g} times its mean", scaled);
  if (size.worst > 0)
    return fmt::format("is flat to rounding: its det J is {:.1e} times the product of its edge lengths, accepted is "
                       "more than {:.0e}",
                       size.flatness, flat_tolerance);
  return fmt::format("is degenerate or partly inverted: its smallest det J is {:.3g} times its mean", scaled);
}

/// Holds what is known of successive cells of a group.
struct CellFaults {
  double volume = 0, worst = std::numeric_limits<double>::infinity(); ///< smallest det J of a cell over its mean
  std::int32_t worst_cell = -1;
  std::vector<std::pair<std::int32_t, CellSize>> invalid;
};

/// Returns the smallest det J over its mean.
double scaled_worst(const CellSize& size, double reference_volume) {
  const double mean = std::abs(size.volume) / reference_volume;
  return mean > 0 ? size.worst / mean : -1.0;
}

CellFaults find_faults(const CellMeasure& measure, double reference_volume, std::int64_t begin, std::int64_t end) {
  CellFaults faults;
  for (std::int64_t c = begin; c < end; ++c) {
    const auto cell = static_cast<std::int32_t>(c);
    const auto size = measure(cell);
    faults.volume += std::abs(size.volume);
    const double scaled = scaled_worst(size, reference_volume);
    if (!(scaled >= faults.worst)) {
      faults.worst = scaled;
      faults.worst_cell = cell;
    }
    if (!size.is_valid) faults.invalid.emplace_back(cell, size);
  }
  return faults;
}

void check_group(const Mesh& mesh, std::size_t g, ValidityReport& report) {
  const auto& group = mesh.groups[g];
  if (group.num_cells() == 0) return;
  const CellMeasure measure(mesh, group);
  const double reference_volume = element::reference_volume(group.shape);
  const base::Parts parts(group.num_cells());
  std::vector<CellFaults> faults(static_cast<std::size_t>(parts.count()));
  parts.run([&](std::int64_t begin, std::int64_t end, std::int64_t part) {
    faults[static_cast<std::size_t>(part)] = find_faults(measure, reference_volume, begin, end);
  });
  const auto number = static_cast<std::int32_t>(g);
  for (const auto& of_part : faults) {
    report.volume += of_part.volume;
    if (of_part.worst_cell >= 0 && !(of_part.worst >= report.worst_det_j)) {
      report.worst_det_j = of_part.worst;
      report.worst_cell = {number, of_part.worst_cell, 0};
    }
    for (const auto& [cell, size] : of_part.invalid) {
      report.inverted_cells.push_back({number, cell, 0});
      if (report.problems.size() == max_problems) continue;
      const double mean = std::abs(size.volume) / reference_volume;
      report.problems.push_back(fmt::format("{} {}", describe_cell(mesh, number, cell),
                                            describe_fault(size, mean, scaled_worst(size, reference_volume))));
    }
  }
}

/// Throws for the first point that is not finite.
void check_finite(const Mesh& mesh) {
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  base::Parts(static_cast<std::int64_t>(mesh.points.size()))
      .run([&](std::int64_t begin, std::int64_t end, std::int64_t) {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
          if (!std::isfinite(mesh.points[i]))
            throw base::InputError(fmt::format("{}geometry node {} lies at {}: coordinates must be finite",
                                               prefix(mesh), i / dim,
                                               describe_point(std::span(mesh.points).subspan(i / dim * dim, dim))));
      });
}

} // namespace

ValidityReport check_validity(const Mesh& mesh) {
  check_finite(mesh);
  ValidityReport report;
  if (mesh.num_cells() == 0) {
    report.problems.emplace_back("the mesh has no cells");
    return report;
  }
  report.worst_det_j = std::numeric_limits<double>::infinity();
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) check_group(mesh, g, report);
  for (auto& line : find_nonconformities(mesh, max_problems)) add_problem(report, std::move(line));
  return report;
}

void require_valid(const Mesh& mesh) {
  const auto report = check_validity(mesh);
  if (report.problems.empty()) return;
  std::string message = prefix(mesh) + "the mesh cannot be used: " + base::join(report.problems, "; ");
  if (report.inverted_cells.size() > max_problems)
    message += fmt::format("; {} cells are inverted or degenerate in all", report.inverted_cells.size());
  throw base::InputError(message);
}

} // namespace rafter::mesh
