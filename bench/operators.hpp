// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <bench/geometries.hpp>
#include <bench/report.hpp>
#include <rafter/element/quadrature.hpp>
#include <rafter/form/scope.hpp>
#include <rafter/operator/operator.hpp>

/// Suites measure these operators on squares and cubes.
namespace rafter::bench {

/// A case has a bilinear form of u and v, with its rule on quadrilaterals and hexahedra. Forms may use the Lame
/// constants lmbda and mu, the unit tensor I, and in 3D C, shape (9, 9), which is the same law as a general tensor with
/// components row by row.
struct Case {
  std::string name, description, form;
  int components = 0;   ///< 0 for a scalar; otherwise the number in 3D, while in 2D there are two
  int extra_points = 1; ///< points per direction in excess of the degree
  element::QuadratureKind rule = element::QuadratureKind::gauss;
};
/// These are CEED's bake-off problems 1 to 6 (https://ceed.exascaleproject.org/bps), a Helmholtz operator and linear
/// elasticity.
const std::vector<Case>& bake_off_cases();
std::vector<std::string> names_of(std::span<const Case> cases);
/// Throws InternalError when there is none of that name.
const Case& find_case(std::span<const Case> cases, const std::string& name);

/// The space of a case is on a square or cube with about so many unknowns.
struct SpaceChoice {
  int degree = 1;
  double million_dofs = 1;
  std::string geometry = "cartesian"; ///< a name of geometries()
  bool is_broken = false;             ///< true for cell vectors
  int cells_per_batch = 8;            ///< least number of cells in a batch
};
std::shared_ptr<const space::FunctionSpace> make_space(const Case& problem, const SpaceChoice& choice);

/// Adds lmbda, mu, I and, in 3D, C.
void add_material(form::Scope& scope);
/// Returns the nine components of a gradient in 3D as text, row by row.
std::string components_of(const std::string& gradient);

struct OperatorChoice {
  std::string plan;               ///< if empty, the planner chooses
  bool has_zero_boundary = false; ///< whether the unknowns of the whole boundary are constrained to zero
  double num_applications = 0;    ///< as in op::OperatorOptions
};
/// The rule is that of the case on quadrilaterals and hexahedra. On other shapes, it is the smallest one that is exact
/// on affine cells; on curved cells, it is exact to twice the degree of the space there.
op::Operator make_operator(const Case& problem, const std::shared_ptr<const space::FunctionSpace>& space,
                           const std::shared_ptr<device::Device>& device, const OperatorChoice& choice = {});

/// Returns the number of unknowns, in millions, for which vectors and the data of the plan fill the last cache twice;
/// `choice.million_dofs` is not read.
double beyond_caches(const Case& problem, SpaceChoice choice, const machine::Machine& machine,
                     const std::shared_ptr<device::Device>& device, const std::string& plan = "");

/// Returns the number of unknowns of a space. For cell vectors, it is that of the mesh without its boundary, cells p^d
/// components, so that rates of kernels and operators can be compared.
double counted_dofs(const space::FunctionSpace& space);

/// Fills a vector with values of all sizes, which also touches its pages before times are measured.
void fill(op::Vector& vector);
void fill(op::SingleVector& vector);

/// Suites time y = A x by one kernel or several.
struct Measured {
  std::function<void(const op::Vector& x, op::Vector& y)> apply;
  std::int64_t size = 0; ///< size of x and y
  std::shared_ptr<device::Device> device;
  machine::Counts counts;
  std::vector<op::KernelInfo> kernels;
};

/// The result refers to the operator.
Measured measured(const op::Operator& A);

/// Returns the largest difference of each operator's result from that of the first, relative to its largest value.
std::vector<double> differences(std::span<const op::Operator* const> operators);
std::vector<double> differences(std::span<const Measured> operators);

/// Times the operators side by side on the same vectors. Returns rows with degree, dofs, cells, mdofs_per_second,
/// spread, effective_gflops, executed_flops_per_dof, bytes_per_dof, local_bytes_per_dof (of the nearest cache),
/// least_local_bytes_per_dof (those of them that no execution avoids), gbytes_per_second, bound_seconds, seconds,
/// share, limited_by, resident (level that holds vectors and data), text_bytes and work_bytes (of all kernels), and
/// plan (several plans run one after the other). `relative_seconds` is the median over the rounds of the time relative
/// to the first operator's.
std::vector<Json> measure(std::span<const op::Operator* const> operators, const space::FunctionSpace& space,
                          const machine::Machine& machine, const Settings& settings);
std::vector<Json> measure(std::span<const Measured> operators, const space::FunctionSpace& space,
                          const machine::Machine& machine, const Settings& settings);

/// Adds `memory_bytes`, the most that the process takes beyond what was resident at the beginning of the row, and
/// `memory_of`, which is "process". If the system does not tell, they are the bytes of vectors and data, and "vectors
/// and data".
void add_memory(Json& row, std::optional<std::int64_t> bytes);

/// Several suites have these columns.
Column degree_column();
Column dofs_column();
Column rate_column();
Column spread_column();
Column gflops_column();
Column bytes_column();
Column bandwidth_column();
Column share_column();
Column limit_column();
Column level_column();
Column memory_column();
/// These are the columns for the results of measure(): size and speed, and the table of counts per unknown. Columns of
/// the identity are left to the suite.
std::vector<Column> measured_columns();
Table counts_table();

} // namespace rafter::bench
