// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/operator.hpp>

#include <algorithm>
#include <array>
#include <atomic>

#include <fmt/format.h>
#include <iterator>
#include <mutex>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/base/timing.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/operator/action.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/matrix/cell_arrays.hpp>
#include <rafter/operator/matrix/sparse_assembly.hpp>
#include <rafter/operator/run/entry_list.hpp>
#include <rafter/operator/run/form_data.hpp>
#include <rafter/operator/run/free_list.hpp>
#include <rafter/operator/run/touched_ranges.hpp>
#include <rafter/operator/run/vector_runner.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/space/function_space.hpp>
#include <utility>

namespace rafter::op {

/// Constrained entries and padding, given as positions in identity_entries_: by the part of the loop over cells that
/// touches them first, and by the one that touches them last.
struct Operator::FusedConstraints {
  Grouped<std::int32_t> before, after;
};

/// Holds what applications need while they last, and guards what is made on first use.
struct Operator::Work {
  VectorList<double> vectors;                ///< vectors of the size of x
  VectorList<float> singles, single_outputs; ///< vectors of the sizes of x and y
  FreeList<VectorRunner> runners;            ///< runners for loops over vectors of these sizes
  UsageCounter usage;
  std::mutex mutex;
};

namespace {

/// Returns the entries that this process owns; `entries` ascend.
std::vector<std::int32_t> owned_of(const System& system, std::span<const std::int32_t> entries) {
  std::vector<std::int32_t> result;
  for (const auto& owned : system.owned_ranges())
    result.insert(result.end(), std::ranges::lower_bound(entries, owned.begin),
                  std::ranges::lower_bound(entries, owned.end));
  return result;
}

/// Counts those of the entries, which ascend, that are owned by a process, over all processes.
std::int64_t count_owned(const System& system, std::span<const std::int32_t> entries) {
  auto count = static_cast<double>(owned_of(system, entries).size());
  system.mesh->communicator()->sum(std::span(&count, 1));
  return static_cast<std::int64_t>(count);
}

/// Throws InputError for a rectangular operator, on which solvers and constraints cannot work.
void require_square(const GeneratedForm& built, const char* what) {
  if (built.is_square()) return;
  const auto names = [](const System& system) {
    std::vector<std::string> result;
    for (const auto& space : system.spaces) result.push_back(space->name);
    return base::join(result, ", ");
  };
  throw base::InputError(fmt::format("{} one system of test and trial functions; this operator is rectangular, it has "
                                     "{} rows ({}) and {} columns ({})",
                                     what, built.system.num_unknowns(), names(built.system),
                                     built.trial_system.num_unknowns(), names(built.trial_system)));
}

/// Finds the constrained entries. Their values are 0 while parameters of conditions have no values.
space::Constraints first_constraints(const System& system, std::vector<FieldCondition> conditions) {
  if (conditions.empty()) return {};
  for (auto& condition : conditions) {
    if (condition.expression == nullptr || condition.expression->missing().empty()) continue;
    condition.condition.value = [](std::span<const double>, std::span<double> values) {
      std::ranges::fill(values, 0.0);
    };
  }
  return make_constraints(system, conditions);
}

constexpr std::array<std::string_view, 3> conversions{"narrow(| x, y: float): y = x", "widen(| x: float, y): y = x",
                                                      "add_wide(| x: float, y): y = y + x"};
constexpr std::array<std::string_view, 1> lifting{"subtract(| x, y): y = y - x"};

} // namespace

Operator::Operator(const form::Form& form, const OperatorOptions& options)
    : Operator(form, systems_of(form), options) {}

Operator::Operator(const form::Form& form, const Systems& systems, const OperatorOptions& options)
    : Operator(build_compiled(form, 2, systems, options), options.dirichlet) {}

Operator::Operator(std::shared_ptr<const GeneratedForm> action, std::vector<FieldCondition> conditions,
                   std::shared_ptr<const GeneratedForm> diagonal)
    : Operator(action, first_constraints(action->system, conditions), std::move(diagonal)) {
  conditions_ = std::move(conditions);
  are_boundary_values_stale_ = std::ranges::any_of(conditions_, [](const FieldCondition& condition) {
    return condition.expression != nullptr && !condition.expression->missing().empty();
  });
}

Operator::Operator(std::shared_ptr<const GeneratedForm> action, space::Constraints constraints,
                   std::shared_ptr<const GeneratedForm> diagonal)
    : built_(std::move(action)), data_(std::make_shared<FormData>(built_->form, built_->options.device)),
      constraints_(std::move(constraints)), work_(std::make_unique<Work>()) {
  num_constrained_ = count_owned(system(), constraints_.entries);
  if (num_constrained_ > 0) require_square(*built_, "Dirichlet conditions need");
  if (built_->is_square())
    std::ranges::set_union(constraints_.entries, system().padding(), std::back_inserter(identity_entries_));
  identity_ = std::make_unique<const EntryList>(device(), identity_entries_);
  constrained_ = std::make_unique<const EntryList>(
      device(), std::vector<std::int32_t>(constraints_.entries.begin(), constraints_.entries.end()));
  if (system().mesh->distribution != nullptr)
    owned_constrained_ = std::make_unique<const EntryList>(device(), owned_of(system(), constraints_.entries));
  action_ = make_action(built_, data_, std::move(diagonal));
}

Operator::Operator(Operator&&) noexcept = default;
Operator& Operator::operator=(Operator&&) noexcept = default;
Operator::~Operator() = default;

std::shared_ptr<const comm::Communicator> Operator::communicator() const { return system().mesh->communicator(); }

std::shared_ptr<device::Device> Operator::device() const { return built_->options.device; }

bool Operator::is_single() const { return built_->vectors() == schedule::Precision::single_precision; }

const System& Operator::system() const { return built_->system; }

const System& Operator::trial_system() const { return built_->trial_system; }

const form::LoweredForm& Operator::form() const { return built_->form; }

const KernelOptions& Operator::options() const { return built_->options; }

int Operator::num_setups() const { return action_->num_setups(); }

double Operator::precision_error() const { return action_->precision_error(); }

Usage Operator::usage() const { return work_->usage.usage(); }

const AssembledMatrix* Operator::matrix() const { return action_->matrix(); }

void Operator::set(const std::string& name, const Vector& values) { data_->set(name, values); }

void Operator::set(const std::string& name, const Vector& values, const EntryRange& range) {
  data_->set(name, values, range);
}

void Operator::set_fields(const System& system, const Vector& values) { data_->set_fields(system, values); }

void Operator::set(const std::string& name, const std::vector<double>& values) {
  bool is_of_boundary = false;
  for (auto& condition : conditions_) {
    if (condition.expression == nullptr || !condition.expression->has_parameter(name)) continue;
    auto expression = *condition.expression;
    expression.set(name, values);
    condition.set_expression(std::move(expression));
    is_of_boundary = are_boundary_values_stale_ = true;
  }
  // The form knows which names there are, and throws for others.
  if (!is_of_boundary || data_->has_parameter(name)) data_->set(name, values);
}

const space::Constraints& Operator::constraints() const {
  const std::lock_guard lock(work_->mutex);
  if (!are_boundary_values_stale_) return constraints_;
  for (const auto& condition : conditions_)
    if (condition.expression != nullptr && !condition.expression->missing().empty())
      throw base::InputError(fmt::format("boundary values of '{}' have parameters ({}) whose values are not given: set "
                                         "them by name",
                                         condition.space->name, base::join(condition.expression->missing(), ", ")));
  constraints_.values = make_constraints(system(), conditions_).values;
  are_boundary_values_stale_ = false;
  return constraints_;
}

void Operator::set_missing() { data_->set_missing(); }

bool Operator::has_boundary_parameter(const std::string& name) const {
  return std::ranges::any_of(conditions_, [&](const FieldCondition& condition) {
    return condition.expression != nullptr && condition.expression->has_parameter(name);
  });
}

void Operator::refresh() const { action_->refresh(); }

std::int64_t Operator::size() const {
  require_square(*built_, "solvers, preconditioners and diagonals need");
  return rows();
}

const FormKernels& Operator::kernels() const {
  if (const auto* kernels = action_->kernels()) return *kernels;
  throw base::InternalError("an assembled matrix has no kernels of cells");
}

std::span<const KernelInfo> Operator::info() const { return action_->info(); }

machine::Counts Operator::counts() const { return action_->counts(); }

template <class T>
std::optional<typename Operator::VectorList<T>::Loan> Operator::projected(const device::Array<T>& x,
                                                                          VectorList<T>& vectors) const {
  check_size(trial_system(), x, "the input vector");
  if (identity_->is_empty() || (device()->shares_host_memory() && identity_->are_zero(x))) return std::nullopt;
  auto copy = vectors.take([&] { return device::Array<T>(device(), x.size()); });
  identity_->copy_without(x, *copy);
  return copy;
}

template <class T>
void Operator::apply_projected(const device::Array<T>& x, device::Array<T>& y, VectorList<T>& vectors) const {
  const auto timer = work_->usage.run();
  if (identity_entries_.empty()) {
    run(x, y, false);
    return;
  }
  if (&x == &y) throw base::InputError("input and output are the same vector");
  auto copy = projected(x, vectors);
  run(copy ? **copy : x, y, false);
  identity_->copy_at(x, y);
}

void Operator::apply(const Vector& x, Vector& y) const { apply_projected(x, y, work_->vectors); }

void Operator::apply(const SingleVector& x, SingleVector& y) const {
  if (!is_single()) return LinearOperator::apply(x, y);
  apply_projected(x, y, work_->singles);
}

void Operator::run(const SingleVector& x, SingleVector& y, bool adds) const { action_->run(x, y, adds); }

void Operator::run(const Vector& x, Vector& y, bool adds) const {
  if (!is_single()) return action_->run(x, y, adds);
  check_size(trial_system(), x, "the input vector");
  check_size(system(), y, "the output vector");
  auto single_x = work_->singles.take([&] { return SingleVector(device(), x.size()); });
  auto single_y = work_->single_outputs.take([&] { return SingleVector(device(), y.size()); });
  auto runner = work_->runners.take([&] { return VectorRunner(device(), conversions); });
  runner->run("narrow", {}, {x, *single_x});
  action_->run(*single_x, *single_y, false);
  runner->run(adds ? "add_wide" : "widen", {}, {*single_y, y});
}

std::int64_t Operator::num_parts() const {
  const auto of_vectors = LinearOperator::num_parts();
  const auto* touched = action_->touched_ranges();
  if (touched == nullptr) return of_vectors;
  const auto of_cells = static_cast<std::int64_t>(touched->parts.size());
  return is_single() ? std::max(of_cells, of_vectors) : of_cells; // vectors of doubles are not fused there
}

const Operator::FusedConstraints& Operator::fused_constraints(const TouchedRanges& parts) const {
  const std::lock_guard lock(work_->mutex);
  if (fused_constraints_ == nullptr)
    fused_constraints_ = std::make_unique<const FusedConstraints>(FusedConstraints{
        parts.by_part(parts.before, identity_entries_), parts.by_part(parts.after, identity_entries_)});
  return *fused_constraints_;
}

void Operator::apply_with(Vector& x, Vector& y, const VectorWork& work) const { apply_fused(x, y, work); }

void Operator::apply_with(SingleVector& x, SingleVector& y, const VectorWork& work) const { apply_fused(x, y, work); }

/// Work on vectors of another precision than the action's is not fused.
template <class T> void Operator::apply_fused(device::Array<T>& x, device::Array<T>& y, const VectorWork& work) const {
  const auto* parts = std::is_same_v<T, float> == is_single() ? action_->touched_ranges() : nullptr;
  if (parts == nullptr) return LinearOperator::apply_with(x, y, work);
  if (identity_entries_.empty()) return action_->run_with(x, y, work);
  check_size(system(), x, "the input vector");
  check_size(system(), y, "the output vector");
  const auto& touched = fused_constraints(*parts);
  const auto from = x.host_write(), to = y.host_write();
  // Values of x at constrained entries, which are 0 while kernels read x.
  std::vector<T> kept(identity_entries_.size());
  action_->run_with(x, y,
                    {.before =
                         [&](std::int64_t part, std::span<const EntryRange> ranges) {
                           if (work.before) work.before(part, ranges);
                           for (const auto i : touched.before[static_cast<std::size_t>(part)]) {
                             auto& value =
                                 from[static_cast<std::size_t>(identity_entries_[static_cast<std::size_t>(i)])];
                             kept[static_cast<std::size_t>(i)] = std::exchange(value, T(0));
                           }
                         },
                     .after =
                         [&](std::int64_t part, std::span<const EntryRange> ranges) {
                           for (const auto i : touched.after[static_cast<std::size_t>(part)]) {
                             const auto entry =
                                 static_cast<std::size_t>(identity_entries_[static_cast<std::size_t>(i)]);
                             from[entry] = to[entry] = kept[static_cast<std::size_t>(i)];
                           }
                           if (work.after) work.after(part, ranges);
                         }});
}

void Operator::apply_add(const Vector& x, Vector& y) const {
  const auto timer = work_->usage.run();
  check_size(trial_system(), x, "the input vector");
  check_size(system(), y, "the output vector");
  if (&x == &y) throw base::InputError("input and output are the same vector");
  if (identity_->is_empty()) return run(x, y, true);
  auto sums = identity_->sums_at(x, y); // what y gets there, whatever kernels add
  auto copy = projected(x, work_->vectors);
  run(copy ? **copy : x, y, true);
  identity_->put_at(*sums, y);
}

void Operator::apply_free(const Vector& x, Vector& y) const { run(x, y, false); }

void Operator::diagonal(Vector& d) const {
  require_square(*built_, "a diagonal needs");
  action_->diagonal(d);
  identity_->set_one_at(d);
}

void Operator::set_boundary_values(std::vector<double> values) {
  if (values.size() != constraints_.entries.size())
    throw base::InputError(fmt::format("{} boundary values are given for {} constrained unknowns", values.size(),
                                       constraints_.entries.size()));
  constraints_.values = std::move(values);
  for (auto& condition : conditions_) condition.expression = nullptr; // these values stay until they are replaced
  are_boundary_values_stale_ = false;
}

void Operator::set_boundary_values(const std::vector<FieldCondition>& conditions) {
  auto constraints = make_constraints(system(), conditions);
  if (constraints.entries != constraints_.entries)
    throw base::InputError(
        fmt::format("the conditions fix other unknowns ({}) than those of the operator ({}): make an "
                    "operator with these conditions",
                    constraints.entries.size(), constraints_.entries.size()));
  set_boundary_values(std::move(constraints.values));
}

const SparseAssembly& Operator::sparse_assembly() const {
  require_square(*built_, "a sparse matrix needs");
  if (system().mesh->distribution != nullptr)
    throw base::InputError("an operator on a part of a mesh has no sparse matrix: use an iterative method");
  const std::lock_guard lock(work_->mutex);
  if (sparse_assembly_ == nullptr)
    sparse_assembly_ = std::make_unique<const SparseAssembly>(*built_, constraints_, data_);
  return *sparse_assembly_;
}

SparseMatrix Operator::sparse_matrix() const { return sparse_assembly().matrix(); }

SparseMatrix Operator::matrix_of_unknowns() const { return sparse_matrix().restricted(owned_ranges()); }

void Operator::update(SparseMatrix& matrix) const { sparse_assembly().update(matrix); }

const CellMatrixArrays& Operator::cell_matrix_arrays() const {
  const std::lock_guard lock(work_->mutex);
  if (cell_matrix_arrays_ == nullptr)
    cell_matrix_arrays_ = std::make_unique<const CellMatrixArrays>(Systems(built_->system, built_->trial_system),
                                                                   cell_matrix_kernels(*built_), data_);
  return *cell_matrix_arrays_;
}

void Operator::cell_matrices(std::span<const CellArray<double>> arrays) const { cell_matrix_arrays().run(arrays); }

void Operator::cell_matrices(std::span<const CellArray<float>> arrays) const { cell_matrix_arrays().run(arrays); }

DiagonalBlocks Operator::diagonal_blocks(BlockKind kind) const { return diagonal_blocks(sparse_matrix(), kind); }

DiagonalBlocks Operator::diagonal_blocks(const SparseMatrix& matrix, BlockKind kind) const {
  if (matrix.num_rows() != rows() || matrix.num_columns != columns())
    throw base::InputError(
        fmt::format("blocks of a matrix of {} rows and {} columns are asked for; that of the operator "
                    "has {}",
                    matrix.num_rows(), matrix.num_columns, rows()));
  return sparse_assembly().diagonal_blocks(matrix, kind);
}

double Operator::constrained_norm(const Vector& v) const {
  const auto& entries = owned_constrained_ != nullptr ? *owned_constrained_ : *constrained_;
  return scaled_root([&](double factor) {
    double sum = entries.square_at(v, factor);
    communicator()->sum(std::span(&sum, 1));
    return sum;
  });
}

void Operator::apply_boundary_values(Vector& b, Vector& x) const {
  check_size(system(), b, "the right-hand side");
  check_size(system(), x, "the initial guess");
  // The number is that of all processes, because they do together what follows.
  if (num_constrained_ == 0) return;
  const auto& given = constraints().values;
  const Vector values(device(), base::AlignedVector<double>(given.begin(), given.end()));
  double are_moved = std::ranges::any_of(given, [](double value) { return value != 0; }) ? 1 : 0;
  communicator()->max(std::span(&are_moved, 1));
  if (are_moved != 0) { // values that are all zero have no product to subtract
    Vector boundary = make_vector(), product = make_vector();
    constrained_->put_at(values, boundary);
    apply_free(boundary, product);
    VectorRunner(device(), lifting).run("subtract", {}, {product, b});
  }
  constrained_->put_at(values, b);
  constrained_->put_at(values, x);
}

} // namespace rafter::op
