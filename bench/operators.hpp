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

namespace rafter::op {
struct KernelInfo;
} // namespace rafter::op

/// Suites measure these operators on squares, cubes and meshes from files.
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
/// Lists CEED's bake-off problems 1 to 6 (https://ceed.exascaleproject.org/bps), a Helmholtz operator and linear
/// elasticity.
const std::vector<Case>& bake_off_cases();
std::vector<std::string> names_of(std::span<const Case> cases);
/// Throws InternalError when there is none of that name.
const Case& find_case(std::span<const Case> cases, const std::string& name);

/// A choice names the space of a case on a square or cube that has about so many unknowns, or on a mesh.
struct SpaceChoice {
  int degree = 1;
  double million_dofs = 1;
  std::string geometry = "cartesian";     ///< a name of geometries()
  bool is_broken = false;                 ///< whether vectors are cell vectors
  int cells_per_batch = 8;                ///< smallest number of cells in a batch
  std::shared_ptr<const mesh::Mesh> mesh; ///< taken instead of `geometry` with so many unknowns, unless it is null
};
/// Returns the mesh of the file that the settings name; null if they name none.
std::shared_ptr<const mesh::Mesh> mesh_of(const Settings& settings);
std::shared_ptr<const space::FunctionSpace> make_space(const Case& problem, const SpaceChoice& choice);

/// Adds lmbda, mu, I and, in 3D, C.
void add_material(form::Scope& scope);
/// Returns the law of elasticity as a constant of this name with one row per component of the stress and one column per
/// component of the strain, shape (9, 9).
form::Expr isotropic_tensor(const std::string& name, double lmbda, double mu);
/// Returns the nine components of a gradient in 3D as text, row by row.
std::string components_of(const std::string& gradient);

struct OperatorChoice {
  std::string plan;               ///< if empty, the planner chooses
  bool has_zero_boundary = false; ///< whether the unknowns of the whole boundary are constrained to zero
  double num_applications = 0;    ///< see op::OperatorOptions
};
/// The rule is that of the case on quadrilaterals and hexahedra. On other shapes, it is the smallest one that is exact
/// on affine cells; on cells that are not affine, it is exact to twice the degree of the space there.
op::Operator make_operator(const Case& problem, const std::shared_ptr<const space::FunctionSpace>& space,
                           const std::shared_ptr<device::Device>& device, const OperatorChoice& choice = {});

/// Returns the number of unknowns, in millions, for which vectors and the data of the plan fill the last cache twice;
/// `choice.million_dofs` is not read. On a mesh, which has its size, it is 0.
double beyond_caches(const Case& problem, SpaceChoice choice, const machine::Machine& machine,
                     const std::shared_ptr<device::Device>& device, const std::string& plan = "");

/// Returns the number of unknowns of a space. For cell vectors, it is that of the mesh without its boundary: p^d
/// components for each cell, times the part of the reference square or cube that its reference cell fills, so that
/// rates of kernels and operators can be compared.
double counted_dofs(const space::FunctionSpace& space);

/// Fills a vector with values of all sizes, which also touches its pages before times are measured.
void fill(op::Vector& vector);
void fill(op::SingleVector& vector);

struct Measured;
/// The result refers to the operator.
Measured measured(const op::Operator& A);

/// Returns the largest difference of each operator's result from that of the first, relative to its largest value.
std::vector<double> differences(std::span<const op::Operator* const> operators);
std::vector<double> differences(std::span<const Measured> operators);

/// Times the operators side by side on the same vectors. Returns rows with degree, dofs, cells, mdofs_per_second,
/// spread, effective_gflops, executed_flops_per_dof, bytes_per_dof, local_bytes_per_dof (of the nearest cache),
/// least_local_bytes_per_dof (those of them that no execution avoids), gbytes_per_second, bound_seconds, seconds,
/// share, limited_by, resident (level that holds vectors and data), text_bytes and work_bytes (of all kernels), plan
/// (several plans run one after the other), and kernels (name, cells, points and plan of each). `relative_seconds` is
/// the median over the rounds of the time relative to the first operator's.
std::vector<Json> measure(std::span<const op::Operator* const> operators, const space::FunctionSpace& space,
                          const machine::Machine& machine, const Settings& settings);
std::vector<Json> measure(std::span<const Measured> operators, const space::FunctionSpace& space,
                          const machine::Machine& machine, const Settings& settings);

/// Adds `memory_bytes`, the most that the process takes beyond what was resident at the beginning of the row, and
/// `memory_of`, which is "process". If the system does not say, they are the bytes of vectors and data, and "vectors
/// and data".
void add_memory(Json& row, std::optional<std::int64_t> bytes);

/// Returns the keys of a row that say which kernels run, `plan` and `kernels`, as measure() gives them.
Json kernels_json(std::span<const op::KernelInfo> kernels);

/// Several suites have these columns.
Column degree_column();
Column cells_column();
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
/// Returns the columns for the results of measure(): size and speed, and the table of counts per unknown. Columns of
/// the identity are left to the suite.
std::vector<Column> measured_columns();
Table counts_table();

} // namespace rafter::bench
