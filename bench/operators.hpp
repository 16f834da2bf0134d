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

/// Operators on squares and cubes, as suites measure them.
namespace rafter::bench {

/// A bilinear form of u and v, with its rule on quadrilaterals and hexahedra. Forms may use the Lame constants lmbda
/// and mu, I, the unit tensor, and in 3D C, shape (9, 9): the same law as a general tensor, components row by row.
struct Case {
  std::string name, description, form;
  int components = 0;   ///< 0: scalar; of a vector those in 3D, in 2D it has two
  int extra_points = 1; ///< points per direction: degree + extra
  element::QuadratureKind rule = element::QuadratureKind::gauss;
};
/// CEED's bake-off problems 1 to 6 (https://ceed.exascaleproject.org/bps), a Helmholtz operator and linear elasticity.
const std::vector<Case>& bake_off_cases();
std::vector<std::string> names_of(std::span<const Case> cases);
/// InternalError when there is none of that name.
const Case& find_case(std::span<const Case> cases, const std::string& name);

/// The space of a case on a square or cube that has about so many unknowns.
struct SpaceChoice {
  int degree = 1;
  double million_dofs = 1;
  std::string geometry = "cartesian"; ///< a name of geometries()
  bool is_broken = false;             ///< cell vectors
  int cells_per_batch = 8;            ///< cells of a batch, at least
};
std::shared_ptr<const space::FunctionSpace> make_space(const Case& problem, const SpaceChoice& choice);

/// Adds lmbda, mu, I and, in 3D, C.
void add_material(form::Scope& scope);
/// The nine components of a gradient in 3D as text, row by row.
std::string components_of(const std::string& gradient);

struct OperatorChoice {
  std::string plan;               ///< "": the planner's
  bool has_zero_boundary = false; ///< the unknowns of the whole boundary are constrained to zero
  double num_applications = 0;    ///< as op::OperatorOptions
};
/// The case's rule on quadrilaterals and hexahedra; on other shapes the smallest one that is exact on affine cells, and
/// on curved cells one that is exact to twice the degree of the space there.
op::Operator make_operator(const Case& problem, const std::shared_ptr<const space::FunctionSpace>& space,
                           const std::shared_ptr<device::Device>& device, const OperatorChoice& choice = {});

/// Million unknowns whose vectors and data, those of the plan, fill the last cache twice; `choice.million_dofs` is not
/// read.
double beyond_caches(const Case& problem, SpaceChoice choice, const machine::Machine& machine,
                     const std::shared_ptr<device::Device>& device, const std::string& plan = "");

/// Unknowns of a space; of cell vectors those of the mesh without its boundary, cells p^d components, so that rates of
/// kernels and operators compare.
double counted_dofs(const space::FunctionSpace& space);

/// Values of all sizes; pages are touched before the clock runs.
void fill(op::Vector& vector);
void fill(op::SingleVector& vector);

/// What suites time: y = A x by one kernel or several.
struct Measured {
  std::function<void(const op::Vector& x, op::Vector& y)> apply;
  std::int64_t size = 0; ///< of x and y
  std::shared_ptr<device::Device> device;
  machine::Counts counts;
  std::vector<op::KernelInfo> kernels;
};

/// Refers to the operator.
Measured measured(const op::Operator& A);

/// Largest difference of each operator's result from that of the first, relative to the largest value there.
std::vector<double> differences(std::span<const op::Operator* const> operators);
std::vector<double> differences(std::span<const Measured> operators);

/// Times the operators side by side on the same vectors. Rows with degree, dofs, cells, mdofs_per_second, spread,
/// effective_gflops, executed_flops_per_dof, bytes_per_dof, local_bytes_per_dof (of the nearest cache),
/// least_local_bytes_per_dof (of them those that no execution avoids), gbytes_per_second, bound_seconds, seconds,
/// share, limited_by, resident (level that holds vectors and data), text_bytes and work_bytes (of all kernels), plan
/// (several: one after the other); `relative_seconds`: median over the rounds of the time over that of the first.
std::vector<Json> measure(std::span<const op::Operator* const> operators, const space::FunctionSpace& space,
                          const machine::Machine& machine, const Settings& settings);
std::vector<Json> measure(std::span<const Measured> operators, const space::FunctionSpace& space,
                          const machine::Machine& machine, const Settings& settings);

/// Adds `memory_bytes`, the most that the process takes beyond what was resident at the beginning of the row, and
/// `memory_of`: "process"; where the system does not tell, "vectors and data": what these take.
void add_memory(Json& row, std::optional<std::int64_t> bytes);

/// Columns that several suites have.
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
/// Columns of what measure() gives but the identity: size and speed, and the table of what is counted per unknown.
std::vector<Column> measured_columns();
Table counts_table();

} // namespace rafter::bench
