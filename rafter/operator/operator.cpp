// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/operator.hpp>

#include <algorithm>
#include <array>
#include <chrono>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/operator/precision.hpp>

namespace rafter::op {

namespace {

std::shared_ptr<const space::FunctionSpace> as_function_space(const std::shared_ptr<const form::FieldSpace>& space) {
  auto result = std::dynamic_pointer_cast<const space::FunctionSpace>(space);
  if (result == nullptr)
    throw base::InputError("field '" + space->name + "' has no mesh: use arguments of a FunctionSpace");
  return result;
}

form::LoweredForm lower_of_rank(const form::Form& form, int rank, const char* what) {
  auto lowered = form::lower(form);
  if (lowered.rank != rank)
    throw base::InputError(fmt::format("{} is expected, found a form of rank {} (0 functional, 1 linear, 2 bilinear)",
                                       what, lowered.rank));
  return lowered;
}

System system_of_lowered(const form::LoweredForm& form) {
  std::vector<std::shared_ptr<const space::FunctionSpace>> spaces;
  for (const auto* list : {&form.test_spaces, &form.trial_spaces, &form.fields})
    for (const auto& space : *list) {
      auto function_space = as_function_space(space);
      if (std::find(spaces.begin(), spaces.end(), function_space) == spaces.end())
        spaces.push_back(std::move(function_space));
    }
  return make_system(std::move(spaces));
}

std::shared_ptr<const GeneratedForm> compiled(std::shared_ptr<GeneratedForm> built) {
  compile(std::span(&built, 1));
  return built;
}

std::string single_keys(const KernelOptions& options) {
  return options.plan ? schedule::single_keys(*options.plan) : std::string();
}

class Timer {
public:
  explicit Timer(double& total) : total_(total), start_(std::chrono::steady_clock::now()) {}
  ~Timer() { total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

private:
  double& total_;
  std::chrono::steady_clock::time_point start_;
};

/// Cells of degree 1 and 2 share most of their unknowns one by one. Patches of degree 4 as a whole share few, and their
/// unknowns fit the nearest cache. Batches become larger by the cells of a patch: fewer than 64 of them are no chunks
/// for several threads.
int patch_width(const mesh::Mesh& mesh, int degree, int cells_per_batch) {
  constexpr int degree_of_patch = 4, fewest_batches = 64;
  const bool has_patches = mesh.tdim > 1 && std::ranges::all_of(mesh.groups, [](const auto& group) {
                             return element::is_tensor(group.shape);
                           });
  for (int width = degree_of_patch / std::max(degree, 1); has_patches && width > 1; width /= 2) {
    const int of_batch = cells_per_batch * mesh::cells_per_patch(width, mesh.tdim);
    if (of_batch <= mesh::BatchOptions::most_cells_per_batch &&
        mesh.num_cells() >= std::int64_t{fewest_batches} * of_batch)
      return width;
  }
  return 1;
}

} // namespace

int cells_per_batch(const std::string& text) {
  const auto plan = schedule::parse_plan(text);
  return std::max(plan.vector_width * plan.subbatches, mesh::CellBatches().cells_per_batch);
}

mesh::BatchOptions batch_options(const mesh::Mesh& mesh, int degree, int cells_per_batch) {
  constexpr int several_per_edge = 3, long_products = 5;
  const bool is_dense =
      std::ranges::none_of(mesh.groups, [](const auto& group) { return element::is_tensor(group.shape); });
  if (is_dense && degree >= long_products)
    cells_per_batch = std::max(cells_per_batch, 2 * mesh::CellBatches().cells_per_batch);
  const int width = patch_width(mesh, degree, cells_per_batch);
  return {.cells_per_batch = cells_per_batch * mesh::cells_per_patch(width, mesh.tdim),
          .has_orientation_buckets = degree >= several_per_edge,
          .patch_width = width};
}

std::shared_ptr<device::Device> device_of(const OperatorOptions& options) {
  return options.shared_device != nullptr ? options.shared_device
                                          : device::make_device(options.device, options.threads);
}

KernelOptions kernel_options(const OperatorOptions& options, std::shared_ptr<device::Device> device) {
  KernelOptions result;
  result.device = std::move(device);
  result.quadrature = options.quadrature;
  result.planner = options.planner;
  if (!options.plan.empty()) result.plan = schedule::parse_plan(options.plan);
  result.num_applications = options.num_applications;
  return result;
}

System system_of(const form::Form& form) { return system_of_lowered(form::lower(form)); }

Operator::Operator(const form::Form& form, const OperatorOptions& options) : Operator(form, system_of(form), options) {}

space::Constraints make_constraints(const System& system, const std::vector<FieldCondition>& conditions) {
  space::Constraints result;
  for (std::size_t f = 0; f < system.spaces.size(); ++f) {
    std::vector<space::DirichletCondition> of_field;
    for (const auto& condition : conditions)
      if (condition.space == system.spaces[f]) of_field.push_back(condition.condition);
    const auto constraints = space::make_constraints(*system.spaces[f], of_field);
    for (const auto entry : constraints.entries)
      result.entries.push_back(entry + static_cast<std::int32_t>(system.offset(f)));
    result.values.insert(result.values.end(), constraints.values.begin(), constraints.values.end());
  }
  for (const auto& condition : conditions) (void)system.index_of(*condition.space);
  return result;
}

std::shared_ptr<GeneratedForm> build(const form::Form& form, int rank, const System& system,
                                     const OperatorOptions& options, Purpose purpose) {
  constexpr std::array names{"a functional", "a linear form", "a bilinear form"};
  return build_form(lower_of_rank(form, rank, names.at(static_cast<std::size_t>(rank))), system, purpose,
                    kernel_options(options, device_of(options)));
}

Operator::Operator(const form::Form& form, const System& system, const OperatorOptions& options)
    : Operator(compiled(build(form, 2, system, options)), make_constraints(system, options.dirichlet)) {}

Operator::Operator(std::shared_ptr<const GeneratedForm> action, space::Constraints constraints,
                   std::shared_ptr<const GeneratedForm> diagonal)
    : built_(std::move(action)), built_diagonal_(std::move(diagonal)), constraints_(std::move(constraints)) {
  if (built_->system.has_own_vectors)
    throw base::InputError("an operator leads from the vector of a system to another of it: fields with vectors of "
                           "their own have none");
  double error = 0;
  if (built_->matrix != nullptr) {
    matrix_ = std::make_unique<const AssembledMatrix>(built_->matrix);
    error = matrix_->storage_error();
  } else {
    kernels_ = std::make_unique<const FormKernels>(built_);
    error = op::precision_error(*built_, *kernels_);
  }
  precision_error_ = require_precision(error, single_keys(built_->options));
}

void Operator::set_fields(Vector fields) {
  check_size(system(), fields, "the vector of the fields");
  if (matrix_ != nullptr || is_single())
    throw base::InputError(fmt::format("coefficient fields are read by kernels on vectors of doubles, not by {}",
                                       matrix_ != nullptr ? "an assembled matrix" : "those with accumulate=float"));
  fields_ = std::make_unique<const Vector>(std::move(fields));
}

const FormKernels& Operator::kernels() const {
  if (kernels_ == nullptr) throw base::InternalError("an assembled matrix has no kernels of cells");
  return *kernels_;
}

std::span<const KernelInfo> Operator::info() const {
  return matrix_ != nullptr ? std::span(&matrix_->info(), 1) : std::span(kernels_->info());
}

machine::Counts Operator::counts() const { return matrix_ != nullptr ? matrix_->counts() : kernels_->counts(); }

template <class T>
const device::Array<T>& Operator::projected(const device::Array<T>& x, device::Array<T>& copy) const {
  check_size(system(), x, "the input vector");
  const auto values = x.host_read();
  const bool is_free = std::all_of(constraints_.entries.begin(), constraints_.entries.end(),
                                   [&](std::int32_t entry) { return values[static_cast<std::size_t>(entry)] == 0; });
  if (is_free) return x;
  if (copy.size() != x.size()) copy = device::Array<T>(device(), x.size());
  const auto to = copy.host_overwrite();
  std::copy(values.begin(), values.end(), to.begin());
  for (const auto entry : constraints_.entries) to[static_cast<std::size_t>(entry)] = 0;
  return copy;
}

template <class T>
void Operator::apply_projected(const device::Array<T>& x, device::Array<T>& y, device::Array<T>& copy) const {
  const Timer timer(usage_.seconds);
  ++usage_.applications;
  if (constraints_.entries.empty()) {
    run(x, y, false);
    return;
  }
  if (&x == &y) throw base::InputError("input and output are the same vector");
  run(projected(x, copy), y, false);
  const auto from = x.host_read();
  const auto to = y.host_write();
  for (const auto entry : constraints_.entries)
    to[static_cast<std::size_t>(entry)] = from[static_cast<std::size_t>(entry)];
}

void Operator::apply(const Vector& x, Vector& y) const { apply_projected(x, y, work_); }

void Operator::apply(const SingleVector& x, SingleVector& y) const {
  if (!is_single())
    throw base::InputError(
        "the operator is for vectors of doubles: a plan with compute=float accumulate=float makes one "
        "for vectors of floats");
  apply_projected(x, y, single_work_);
}

void Operator::run(const Vector& x, Vector& y, bool adds) const {
  if (matrix_ != nullptr) return matrix_->run(x, y, adds);
  if (!is_single()) return kernels_->run(&x, fields_.get(), y, adds);
  check_size(system(), x, "the input vector");
  check_size(system(), y, "the output vector");
  if (single_x_.size() != x.size()) {
    single_x_ = make_single_vector();
    single_y_ = make_single_vector();
  }
  const auto from = x.host_read();
  std::copy(from.begin(), from.end(), single_x_.host_overwrite().begin());
  kernels_->run(single_x_, single_y_, false);
  const auto result = single_y_.host_read();
  const auto to = adds ? y.host_write() : y.host_overwrite();
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = (adds ? to[i] : 0.0) + static_cast<double>(result[i]);
}

std::int64_t Operator::num_parts() const {
  return has_riding() ? static_cast<std::int64_t>(kernels_->touched_ranges().parts.size())
                      : LinearOperator::num_parts();
}

const Operator::FusedConstraints& Operator::fused_constraints() const {
  if (fused_constraints_ == nullptr) {
    const auto& parts = kernels_->touched_ranges();
    fused_constraints_ = std::make_unique<const FusedConstraints>(FusedConstraints{
        parts.by_part(parts.before, constraints_.entries), parts.by_part(parts.after, constraints_.entries)});
  }
  return *fused_constraints_;
}

void Operator::apply_with(Vector& x, Vector& y, const VectorWork& work) const {
  if (!has_riding()) return LinearOperator::apply_with(x, y, work);
  if (constraints_.entries.empty()) return kernels_->run(x, y, work);
  check_size(system(), x, "the input vector");
  check_size(system(), y, "the output vector");
  const auto& touched = fused_constraints();
  const auto from = x.host_write(), to = y.host_write();
  std::vector<double> kept(constraints_.entries.size()); // of x, which is 0 there while kernels read it
  kernels_->run(x, y,
                {.before =
                     [&](std::int64_t part, std::span<const EntryRange> ranges) {
                       if (work.before) work.before(part, ranges);
                       for (const auto i : touched.before[static_cast<std::size_t>(part)]) {
                         auto& value =
                             from[static_cast<std::size_t>(constraints_.entries[static_cast<std::size_t>(i)])];
                         kept[static_cast<std::size_t>(i)] = std::exchange(value, 0.0);
                       }
                     },
                 .after =
                     [&](std::int64_t part, std::span<const EntryRange> ranges) {
                       for (const auto i : touched.after[static_cast<std::size_t>(part)]) {
                         const auto entry = static_cast<std::size_t>(constraints_.entries[static_cast<std::size_t>(i)]);
                         from[entry] = to[entry] = kept[static_cast<std::size_t>(i)];
                       }
                       if (work.after) work.after(part, ranges);
                     }});
}

void Operator::apply_add(const Vector& x, Vector& y) const {
  const Timer timer(usage_.seconds);
  ++usage_.applications;
  check_size(system(), x, "the input vector");
  check_size(system(), y, "the output vector");
  if (&x == &y) throw base::InputError("input and output are the same vector");
  std::vector<double> constrained; // what the kernels add there does not count
  for (const auto entry : constraints_.entries)
    constrained.push_back(y.host_read()[static_cast<std::size_t>(entry)] +
                          x.host_read()[static_cast<std::size_t>(entry)]);
  run(projected(x, work_), y, true);
  const auto to = y.host_write();
  for (std::size_t i = 0; i < constrained.size(); ++i)
    to[static_cast<std::size_t>(constraints_.entries[i])] = constrained[i];
}

void Operator::apply_free(const Vector& x, Vector& y) const { run(x, y, false); }

void Operator::diagonal(Vector& d) const {
  if (matrix_ != nullptr)
    matrix_->diagonal(d);
  else
    diagonal_by_kernels(d);
  const auto values = d.host_write();
  for (const auto entry : constraints_.entries) values[static_cast<std::size_t>(entry)] = 1;
}

void Operator::diagonal_by_kernels(Vector& d) const {
  if (diagonal_kernels_ == nullptr) {
    if (built_diagonal_ == nullptr)
      built_diagonal_ = compiled(build_form(form(), system(), Purpose::diagonal, built_->options));
    diagonal_kernels_ = std::make_unique<FormKernels>(built_diagonal_);
  }
  diagonal_kernels_->run(nullptr, fields_.get(), d, false);
}

const SparseAssembly& Operator::sparse_assembly() const {
  if (sparse_assembly_ == nullptr) sparse_assembly_ = std::make_unique<const SparseAssembly>(*built_, constraints_);
  return *sparse_assembly_;
}

SparseMatrix Operator::sparse_matrix() const { return sparse_assembly().matrix(fields_.get()); }

void Operator::update(SparseMatrix& matrix) const { sparse_assembly().update(matrix, fields_.get()); }

DiagonalBlocks Operator::diagonal_blocks(BlockKind kind) const {
  return sparse_assembly().diagonal_blocks(sparse_matrix(), kind);
}

void Operator::apply_boundary_values(Vector& b, Vector& x) const {
  check_size(system(), b, "the right-hand side");
  check_size(system(), x, "the initial guess");
  if (constraints_.entries.empty()) return;
  Vector boundary = make_vector(), product = make_vector();
  const auto values = boundary.host_overwrite();
  std::fill(values.begin(), values.end(), 0.0);
  for (std::size_t i = 0; i < constraints_.entries.size(); ++i)
    values[static_cast<std::size_t>(constraints_.entries[i])] = constraints_.values[i];
  apply_free(boundary, product);
  const auto subtracted = product.host_read();
  const auto right = b.host_write();
  const auto guess = x.host_write();
  for (std::size_t i = 0; i < right.size(); ++i) right[i] -= subtracted[i];
  for (std::size_t i = 0; i < constraints_.entries.size(); ++i) {
    const auto entry = static_cast<std::size_t>(constraints_.entries[i]);
    right[entry] = guess[entry] = constraints_.values[i];
  }
}

LinearForm::LinearForm(const form::Form& form, const System& system, const OperatorOptions& options)
    : LinearForm(compiled(build(form, 1, system, options))) {}

LinearForm::LinearForm(std::shared_ptr<const GeneratedForm> built) : kernels_(std::move(built)) {}

void LinearForm::assemble(Vector& b) const { kernels_.run(nullptr, nullptr, b, false); }

Functional::Functional(const form::Form& form, const System& system, const OperatorOptions& options)
    : Functional(compiled(build(form, 0, system, options))) {}

Functional::Functional(std::shared_ptr<const GeneratedForm> built) : kernels_(std::move(built)) {}

double Functional::operator()(const Vector& fields) const { return kernels_.integral(&fields); }

} // namespace rafter::op
