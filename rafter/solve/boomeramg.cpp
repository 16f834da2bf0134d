// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/boomeramg.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/base/memory.hpp>
#include <rafter/mesh/limits.hpp>
#include <rafter/solve/aggregation.hpp>
#include <rafter/solve/csr_products.hpp>
#include <rafter/solve/hypre_module.hpp>

namespace rafter::solvers {
namespace {

bool is_coupled(const op::SparseMatrix& A, std::size_t row) {
  const auto entries = row_entries(A, row);
  for (auto k = entries.begin; k < entries.end; ++k)
    if (static_cast<std::size_t>(A.columns[k]) != row && A.values[k] != 0) return true;
  return false;
}

std::int32_t num_components(const NearNullSpace& space) {
  return space.component.empty() ? 1 : std::max(1, *std::ranges::max_element(space.component) + 1);
}

void require_rigid_modes(const NearNullSpace& space, const Nodes& nodes) {
  const auto components = num_components(space);
  bool is_vector_field = std::ranges::find(space.mode_component, -1) != space.mode_component.end();
  for (std::int32_t node = 0; is_vector_field && node < nodes.count(); ++node)
    is_vector_field = nodes.of(node).size() == static_cast<std::size_t>(components);
  if (!is_vector_field)
    throw base::InputError("BoomerAMG with interpolation \"rigid-modes\": rigid modes are those of one field with a "
                           "component per axis, as displacements are; \"components\" serves others");
}

/// The unknowns that hypre gets, node by node and in each by component. Whole nodes, or the unknowns that are coupled.
std::vector<std::int32_t> ordered_unknowns(const op::SparseMatrix& A, const NearNullSpace& space, const Nodes& nodes,
                                           bool takes_whole_nodes) {
  const auto is_taken = [&](std::int32_t unknown) { return is_coupled(A, static_cast<std::size_t>(unknown)); };
  std::vector<std::int32_t> result, of_node;
  for (std::int32_t node = 0; node < nodes.count(); ++node) {
    const auto unknowns = nodes.of(node);
    of_node.assign(unknowns.begin(), unknowns.end());
    if (!takes_whole_nodes)
      std::erase_if(of_node, [&](std::int32_t unknown) { return !is_taken(unknown); });
    else if (std::ranges::none_of(of_node, is_taken))
      continue;
    std::ranges::sort(of_node, {},
                      [&](std::int32_t unknown) { return space.component[static_cast<std::size_t>(unknown)]; });
    result.insert(result.end(), of_node.begin(), of_node.end());
  }
  return result;
}

template <class Value>
std::vector<Value> values_at(const std::vector<Value>& values, std::span<const std::int32_t> at) {
  std::vector<Value> result;
  result.reserve(at.size());
  for (const auto unknown : at) result.push_back(values[static_cast<std::size_t>(unknown)]);
  return result;
}

/// The rows and columns of these unknowns, in their order.
op::SparseMatrix permuted(const op::SparseMatrix& A, std::span<const std::int32_t> unknowns) {
  std::vector<std::int32_t> row_of(static_cast<std::size_t>(A.num_rows()), -1);
  for (std::size_t row = 0; row < unknowns.size(); ++row)
    row_of[static_cast<std::size_t>(unknowns[row])] = static_cast<std::int32_t>(row);
  op::SparseMatrix result{.num_columns = static_cast<std::int64_t>(unknowns.size()), .row_offsets = {0}};
  for (const auto unknown : unknowns) {
    const auto entries = row_entries(A, static_cast<std::size_t>(unknown));
    for (auto k = entries.begin; k < entries.end; ++k) {
      const auto column = row_of[static_cast<std::size_t>(A.columns[k])];
      if (column < 0) continue;
      result.columns.push_back(column);
      result.values.push_back(A.values[k]);
    }
    result.row_offsets.push_back(result.num_entries());
  }
  return result;
}

/// Rotations, which are no constants of a component, at the rows of a matrix; 0 at rows that are coupled to nothing.
std::vector<std::vector<double>> rotations_at(std::span<const std::int32_t> unknowns, const op::SparseMatrix& A,
                                              const NearNullSpace& space) {
  std::vector<std::vector<double>> result;
  for (std::size_t m = 0; m < space.modes.size(); ++m) {
    if (space.mode_component[m] >= 0) continue;
    auto& values = result.emplace_back(values_at(space.modes[m], unknowns));
    for (std::size_t row = 0; row < values.size(); ++row)
      if (!is_coupled(A, row)) values[row] = 0;
  }
  return result;
}

double threshold_of(const BoomerAmgParameters& parameters, std::int32_t components) {
  constexpr double of_scalars = 0.25, of_systems = 0.5;
  if (!(parameters.strong_threshold >= 0 && parameters.strong_threshold < 1))
    throw base::InputError(
        fmt::format("BoomerAMG with the strong threshold {}; accepted are numbers of at least 0 and below 1",
                    parameters.strong_threshold));
  if (parameters.strong_threshold > 0) return parameters.strong_threshold;
  return components > 1 ? of_systems : of_scalars;
}

/// Throws EnvironmentError where this machine lacks the memory for levels of a usual size: hypre ends the process when
/// it gets none.
void require_memory(const op::SparseMatrix& A) {
  constexpr double entry_bytes = sizeof(double) + sizeof(std::int32_t);
  constexpr double copies = 5; // two of the matrix, three for the matrices and transfers of the levels
  const auto held = base::process_memory();
  const double needed = copies * entry_bytes * static_cast<double>(A.num_entries()),
               all = needed + (held ? static_cast<double>(held->resident_bytes) : 0),
               memory = mesh::available_memory_bytes();
  if (all > memory)
    throw base::EnvironmentError(
        fmt::format("BoomerAMG takes about {:.3g} GB more for a matrix of {} rows, {:.3g} GB in all; this "
                    "machine has {:.3g} GB: use preconditioner \"multigrid\" or \"jacobi\"",
                    1e-9 * needed, A.num_rows(), 1e-9 * all, 1e-9 * memory));
}

/// Throws SolverError where some steps of Lanczos' method find that the operator is not positive.
void require_positive(const op::LinearOperator& A, const NullSpace* null_space) {
  const NullSpace none;
  static_cast<void>(estimate_eigenvalues(A, inverse_diagonal(A), ChebyshevParameters().estimate_iterations,
                                         null_space != nullptr ? *null_space : none));
}

} // namespace

/// An instance of BoomerAMG.
class BoomerAmg::Instance {
public:
  Instance(const op::SparseMatrix& A, const RafterHypreOptions& options) {
    const RafterHypreMatrix matrix{A.num_rows(), A.row_offsets.data(), A.columns.data(), A.values.data()};
    const std::lock_guard lock(hypre_mutex());
    handle_ = functions_.create(&matrix, &options, &info_, error_.data(), error_.size());
    if (handle_ == nullptr) fail();
    if (!info_.is_indefinite) return;
    functions_.destroy(handle_);
    throw base::SolverError(
        "BoomerAMG: a coarse matrix has a negative eigenvalue, so that the operator is not positive definite: "
        "use solver.method \"direct\", or another preconditioner");
  }
  ~Instance() {
    const std::lock_guard lock(hypre_mutex());
    functions_.destroy(handle_);
  }
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  void cycle(const std::vector<double>& r, std::vector<double>& z) {
    const std::lock_guard lock(hypre_mutex());
    if (!functions_.cycle(handle_, r.data(), z.data(), error_.data(), error_.size())) fail();
  }
  const RafterHypreInfo& info() const { return info_; }

private:
  [[noreturn]] void fail() const {
    throw base::SolverError(fmt::format("BoomerAMG of hypre {} fails: {}", functions_.hypre_version, error_.data()));
  }

  const RafterHypreFunctions& functions_ = hypre_functions();
  std::array<char, 512> error_{};
  RafterHypreInfo info_{};
  void* handle_ = nullptr;
};

BoomerAmg::BoomerAmg(std::shared_ptr<const op::LinearOperator> A, const NearNullSpace& near_null_space,
                     const BoomerAmgParameters& parameters, std::shared_ptr<const NullSpace> null_space)
    : null_space_(std::move(null_space)) {
  const auto& functions = hypre_functions(); // where it is not there, nothing is computed in vain
  const auto components = num_components(near_null_space);
  const double threshold = threshold_of(parameters, components);
  const bool holds_rigid_modes = parameters.interpolation == AmgInterpolation::rigid_modes;
  const auto nodes = make_nodes(near_null_space.num_nodes, near_null_space.node, near_null_space.component);
  if (holds_rigid_modes) require_rigid_modes(near_null_space, nodes);
  require_positive(*A, null_space_.get());
  auto matrix = A->sparse_matrix();
  require_memory(matrix);
  unknowns_ = ordered_unknowns(matrix, near_null_space, nodes, holds_rigid_modes);
  keep_uncoupled(matrix);
  if (unknowns_.empty()) {
    description_ = "algebraic multigrid: a diagonal matrix";
    return;
  }
  matrix = permuted(matrix, unknowns_);
  const auto component = values_at(near_null_space.component, unknowns_);
  const auto vectors =
      holds_rigid_modes ? rotations_at(unknowns_, matrix, near_null_space) : std::vector<std::vector<double>>();
  std::vector<const double*> starts;
  for (const auto& vector : vectors) starts.push_back(vector.data());
  instance_ = std::make_unique<Instance>(
      matrix,
      RafterHypreOptions{.strong_threshold = threshold,
                         .num_components = components,
                         .component = components > 1 ? component.data() : nullptr,
                         .vectors = starts.data(),
                         .num_vectors = static_cast<std::int32_t>(starts.size()),
                         .num_null_vectors = null_space_ ? static_cast<std::int32_t>(null_space_->basis().size()) : 0});
  right_.resize(unknowns_.size());
  result_.resize(unknowns_.size());
  description_ = fmt::format("algebraic multigrid: BoomerAMG of hypre {}, {} level{}, operator complexity {:.2f}",
                             functions.hypre_version, instance_->info().num_levels,
                             instance_->info().num_levels == 1 ? "" : "s", instance_->info().operator_complexity);
}

BoomerAmg::~BoomerAmg() = default;

void BoomerAmg::keep_uncoupled(const op::SparseMatrix& A) {
  std::vector<std::uint8_t> is_taken(static_cast<std::size_t>(A.num_rows()), 0);
  for (const auto unknown : unknowns_) is_taken[static_cast<std::size_t>(unknown)] = 1;
  for (std::int64_t row = 0; row < A.num_rows(); ++row) {
    if (is_taken[static_cast<std::size_t>(row)] != 0) continue;
    uncoupled_.push_back(static_cast<std::int32_t>(row));
    inverse_diagonal_.push_back(1 / A(row, row));
  }
}

void BoomerAmg::apply(const Vector& r, Vector& z) const {
  const auto from = r.host_read();
  const auto to = z.host_overwrite();
  for (std::size_t i = 0; i < uncoupled_.size(); ++i) {
    const auto unknown = static_cast<std::size_t>(uncoupled_[i]);
    to[unknown] = inverse_diagonal_[i] * from[unknown];
  }
  if (instance_ != nullptr) {
    for (std::size_t row = 0; row < unknowns_.size(); ++row)
      right_[row] = from[static_cast<std::size_t>(unknowns_[row])];
    instance_->cycle(right_, result_);
    for (std::size_t row = 0; row < unknowns_.size(); ++row)
      to[static_cast<std::size_t>(unknowns_[row])] = result_[row];
  }
  if (null_space_ != nullptr) null_space_->project(z);
}

} // namespace rafter::solvers
