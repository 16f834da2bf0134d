// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rafter/base/error.hpp>
#include <rafter/base/hash.hpp>
#include <rafter/base/input_file.hpp>
#include <rafter/base/output_file.hpp>
#include <rafter/device/architecture.hpp>
#include <rafter/device/gpu/gpu_device.hpp>
#include <rafter/device/gpu/gpu_library.hpp>
#include <rafter/io/matrix_market.hpp>
#include <rafter/io/numpy_file.hpp>
#include <rafter/io/petsc_matrix.hpp>
#include <rafter/machine/device_record.hpp>
#include <rafter/machine/roofline.hpp>
#include <rafter/machine/typical.hpp>
#include <rafter/mesh/limits.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/generate/kernel_target.hpp>
#include <rafter/operator/generate/matrix_builder.hpp>
#include <rafter/operator/matrix/assembled_matrix.hpp>
#include <rafter/operator/matrix/cell_arrays.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/problem/equations.hpp>
#include <rafter/problem/measurement.hpp>
#include <rafter/problem/plan_keys.hpp>
#include <rafter/problem/storage_ways.hpp>
#include <rafter/report/table.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/tune/device_probe.hpp>

#include "commands.hpp"
#include "discretisation.hpp"
#include "exit_code.hpp"
#include "plan_table.hpp"
#include "problem_data.hpp"
#include "problem_solver.hpp"
#include "stated_problem.hpp"

namespace rafter::app {
namespace {

void print_texts(const op::KernelInfo& info, const KernelOptions& options) {
  if (options.has_tensor_program && !info.tensor_program.empty())
    fmt::print("\ntensor program:\n{}\n", info.tensor_program);
  if (options.has_schedule)
    fmt::print("\nschedule:\n{}\n",
               info.schedule_text.empty() ? "the product with a matrix has none\n" : info.schedule_text);
  if (options.has_loop_program) fmt::print("\nloop program:\n{}\n", info.loop_program);
  if (options.has_source) fmt::print("\nsource:\n{}\n", info.source);
}

void print_kernel(const op::KernelInfo& info, const KernelOptions& options, report::PlanList& plans) {
  fmt::print("\n{}\n", info.name);
  fmt::print("  cells: {} in {} batches\n", info.num_cells, info.num_batches);
  fmt::print("{}", report::wrapped("  quadrature: ", info.quadrature));
  fmt::print("{}", plan_line(info, plans));
  if (info.counts.flops > 0) // kernels of cell matrices have no counts, since their data are gone by now
    fmt::print("  operations per cell: {:.4g} executed, {:.4g} by the algorithm as written\n",
               info.counts.flops / static_cast<double>(info.num_cells),
               info.counts.effective_flops / static_cast<double>(info.num_cells));
  if (!info.decision.candidates.empty()) fmt::print("\n{}", plan_table(info));
  print_texts(info, options);
}

/// Prints the plan of an assembled matrix, then the kernels that compute its cell matrices.
void print_matrix(const op::AssembledMatrix& matrix, const op::GeneratedMatrix& built, const KernelOptions& options,
                  report::PlanList& plans) {
  const auto& info = matrix.info();
  const int block = built.coupling.block_size();
  fmt::print("\n{}\n", info.name);
  fmt::print("  rows: {} in {} slices of {}, blocks of {} x {}\n", info.num_cells * block, info.num_batches,
             info.plan[schedule::key::vector_width], block, block);
  fmt::print("  entries: {:.0f}, {:.2f} % more where rows are filled up\n", info.counts.effective_flops / 2,
             100 * (info.counts.flops / info.counts.effective_flops - 1));
  fmt::print("  set-up: {}\n", report::time_text(matrix.setup_seconds()));
  fmt::print("{}", plan_line(info, plans));
  print_texts(info, options);
  fmt::print("\ncell matrices of the assembled matrix\n");
  for (const auto& generated : built.cells->blocks) print_kernel(generated.kernel.info, options, plans);
}

/// Prints what the kernels of one form cost together.
void print_costs(const machine::Counts& counts, const report::OperatorReport& report, std::int64_t dofs) {
  const auto unknowns = static_cast<double>(dofs);
  fmt::print("{}\n", report.name);
  fmt::print(
      "  per unknown: {:.4g} operations, {:.4g} bytes to and from memory, {:.4g} to and from the nearest cache ({:.4g} "
      "at least)\n",
      counts.flops / unknowns, (counts.global_bytes_read + counts.global_bytes_written) / unknowns,
      (counts.local_bytes_read + counts.local_bytes_written) / unknowns,
      (counts.least_local_bytes_read + counts.least_local_bytes_written) / unknowns);
  fmt::print("  time: {} for {} unknowns: {:.4g} MDoF/s, {:.3g} GFLOP/s, {:.3g} GB/s\n",
             report::time_text(report.seconds), dofs, 1e-6 * report.dofs_per_second, report.gflops,
             report.gbytes_per_second);
  fmt::print("  roofline bound: {}, limited by {}: the time reaches {:.1f} % of the roofline\n",
             report::time_text(report.bound_seconds), report.limited_by.empty() ? "nothing" : report.limited_by,
             100 * report.share);
}

void print_operator(const op::Operator& A, const report::OperatorReport& report, const KernelOptions& options,
                    report::PlanList& plans) {
  print_costs(A.counts(), report, A.num_unknowns());
  if (A.built().forecast) fmt::print("  {}\n", forecast_text(*A.built().forecast));
  if (const auto* matrix = A.matrix())
    print_matrix(*matrix, *A.built().matrix, options, plans);
  else
    for (const auto& info : A.info()) print_kernel(info, options, plans);
}

/// Prints what the operator costs in all ways to store it.
void print_storages(const op::Operator& A, const machine::Machine& machine, double seconds) {
  using enum report::Align;
  static const std::vector<report::Column> columns{
      {"stored", "what set-up computes: the matrix, the matrices of cells, the factors of the form at points, nothing"},
      {"set-up", "time before the first application, kernels compiled", right},
      {"apply", "time of an application", right},
      {"MDoF/s", "10^6 unknowns per second", right},
      {"share", "part of the roofline bound of this way that is reached, in %", right},
      {"flop/DoF", "executed operations of an application for each unknown", right},
      {"B/DoF", "bytes to and from memory, each number counted once", right},
      {"pays", "applications after which the set-up is paid off, beside `recomputed`; -: never", right}};
  const auto ways = problem::storage_ways(A, problem::storage_way_names());
  std::vector<report::OperatorReport> reports;
  for (const auto& way : ways) reports.push_back(problem::report_operator(way.A, machine, seconds));
  const auto without = std::ranges::find(ways, "recomputed", &problem::StorageWay::name) - ways.begin();
  const bool is_compared = without < std::ssize(ways);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t w = 0; w < ways.size(); ++w) {
    const auto& report = reports[w];
    const auto counts = ways[w].A.counts();
    const auto unknowns = static_cast<double>(A.num_unknowns());
    std::string pays = "-";
    if (is_compared) {
      const auto other = static_cast<std::size_t>(without);
      const double saved = reports[other].seconds - report.seconds;
      const double paid = std::max(0.0, ways[w].setup_seconds - ways[other].setup_seconds) / saved;
      if (saved > 0) pays = fmt::format("{:.0f}", paid);
    }
    rows.push_back({ways[w].name, report::time_text(ways[w].setup_seconds), report::time_text(report.seconds),
                    fmt::format("{:.4g}", 1e-6 * report.dofs_per_second), fmt::format("{:.1f}", 100 * report.share),
                    fmt::format("{:.4g}", counts.flops / unknowns),
                    fmt::format("{:.4g}", (counts.global_bytes_read + counts.global_bytes_written) / unknowns), pays});
  }
  fmt::print("\nways to store the operator\n{}", report::format_table(columns, rows));
  for (const auto& way : ways) fmt::print("  {}: {}\n", way.name, way.plan);
}

/// Comments of the file: which rows, counted from 1, belong to which field.
std::vector<std::string> comments_on_rows(const problem::PreparedProblem& prepared, const std::string& source) {
  const auto& system = prepared.system();
  std::vector<std::string> comments{"made by rafter " RAFTER_VERSION " from " + source};
  std::int64_t first = 1;
  for (std::size_t f = 0; f < system.spaces.size(); ++f) {
    const auto count = system.spaces[f]->num_dofs();
    comments.push_back(fmt::format("rows {} to {}: field {}", first, first + count - 1, prepared.names()[f]));
    first += count;
  }
  return comments;
}

void write_matrix(const std::string& name, const problem::PreparedProblem& prepared, const std::string& source) {
  const auto matrix = prepared.operator_a().matrix_of_unknowns();
  if (name.ends_with(".petsc"))
    io::write_petsc_matrix(name, matrix);
  else
    io::write_matrix_market(name, matrix, comments_on_rows(prepared, source));
  fmt::print("\nwritten: {} ({} rows, {} entries)\n", base::output_text(name), matrix.num_rows(), matrix.num_entries());
}

/// Names the file of the cells of a group of a mesh, or with an ending as `kind` that of their unknowns.
std::string file_of_cells(const std::string& name, const mesh::Mesh& mesh, std::size_t group, const char* kind) {
  constexpr std::string_view extension = ".npy";
  std::string result = name.ends_with(extension) ? name.substr(0, name.size() - extension.size()) : name;
  if (mesh.groups.size() > 1) result += fmt::format("-{}", element::name(mesh.groups[group].shape));
  return result + kind + std::string(extension);
}

constexpr const char* of_unknowns = "-unknowns";

/// Lists the files that an option for cells makes, which are known once there is a mesh.
std::vector<base::NamedFile> files_of_cells(const std::string& option, const std::string& name,
                                            const mesh::Mesh& mesh) {
  std::vector<base::NamedFile> result;
  if (base::is_standard_output(name))
    throw base::InputError("kernel: " + option + " writes several files, which standard output does not take");
  for (std::size_t g = 0; g < mesh.groups.size() && !name.empty(); ++g)
    for (const char* kind : {"", of_unknowns}) result.push_back({option, file_of_cells(name, mesh, g, kind)});
  return result;
}

/// Counts the numbers of the array of a group: `rank` is 2 for matrices, 1 for vectors.
std::int64_t num_values(const op::System& system, std::size_t group, int rank) {
  const std::int64_t length = op::num_local_unknowns(system, static_cast<int>(group));
  return system.mesh->groups[group].num_cells() * (rank == 2 ? length * length : length);
}

/// Refuses files that cannot be written, and arrays that the memory does not hold, before anything is timed.
void check_files_of_cells(const KernelOptions& options, const problem::PreparedProblem& prepared,
                          const io::Problem& problem) {
  const auto& system = prepared.system();
  auto outputs = files_of_cells("--cell-matrices", options.cell_matrices, *system.mesh);
  std::ranges::copy(files_of_cells("--cell-vectors", options.cell_vectors, *system.mesh), std::back_inserter(outputs));
  if (outputs.empty()) return;
  if (!base::is_standard_output(options.matrix)) outputs.push_back({"--matrix", options.matrix});
  base::claim_outputs(outputs, input_files(problem));
  if (!options.cell_vectors.empty() && prepared.linear_form() == nullptr)
    throw base::InputError("kernel: --cell-vectors: the problem has no right-hand side");
  double bytes = 0; // One array is written after the other, so that the largest one counts.
  for (std::size_t g = 0; g < system.mesh->groups.size() && !options.cell_matrices.empty(); ++g)
    bytes = std::max(bytes, static_cast<double>(sizeof(double)) * static_cast<double>(num_values(system, g, 2)));
  if (const double memory = mesh::available_memory_bytes(); bytes > memory)
    throw base::EnvironmentError(fmt::format(
        "kernel: --cell-matrices: the matrices take {:.3g} GB of memory, and this machine has {:.3g} GB: use a "
        "coarser mesh or a lower degree",
        1e-9 * bytes, 1e-9 * memory));
}

/// Turns entries of vectors into the numbers of their rows in matrix_of_unknowns().
std::vector<std::int32_t> rows_of_unknowns(const op::Operator& A, std::vector<std::int32_t> entries) {
  std::vector<std::int32_t> rows(static_cast<std::size_t>(A.rows()), -1);
  std::int32_t next = 0;
  for (const auto& range : A.owned_ranges())
    for (auto entry = range.begin; entry < range.end; ++entry) rows[static_cast<std::size_t>(entry)] = next++;
  for (auto& entry : entries) entry = rows[static_cast<std::size_t>(entry)];
  return entries;
}

/// Writes the arrays of all groups and their unknowns. `compute` fills the array of a group, of this rank.
template <class Compute>
void write_cells(const std::string& name, const op::Operator& A, int rank, const Compute& compute) {
  const auto& system = A.system();
  for (std::size_t g = 0; g < system.mesh->groups.size(); ++g) {
    const auto group = static_cast<int>(g);
    const std::int64_t num_cells = system.mesh->groups[g].num_cells(), length = op::num_local_unknowns(system, group);
    std::vector<std::int64_t> shape{num_cells, length};
    const auto file = file_of_cells(name, *system.mesh, g, ""),
               of_rows = file_of_cells(name, *system.mesh, g, of_unknowns);
    std::vector<double> values(static_cast<std::size_t>(num_values(system, g, rank)));
    compute(std::vector<op::CellArray<double>>{{.group = group, .values = values}});
    io::write_numpy(of_rows, shape, rows_of_unknowns(A, op::local_unknowns(system, group)));
    if (rank == 2) shape.push_back(length);
    io::write_numpy(file, shape, values);
    fmt::print("\nwritten: {} ({}), {}\n", base::output_text(file), fmt::join(shape, " x "),
               base::output_text(of_rows));
  }
}

void write_outputs(const KernelOptions& options, const problem::PreparedProblem& prepared, const std::string& source) {
  const auto& A = prepared.operator_a();
  if (!options.matrix.empty()) write_matrix(options.matrix, prepared, source);
  if (!options.cell_matrices.empty())
    write_cells(options.cell_matrices, A, 2, [&](const auto& arrays) { A.cell_matrices(arrays); });
  if (!options.cell_vectors.empty())
    write_cells(options.cell_vectors, A, 1, [&](const auto& arrays) { prepared.linear_form()->cell_vectors(arrays); });
}

/// Reads the target of a record, whose errors get the name of the file.
machine::DeviceRecord read_record(const std::string& file) {
  base::require_regular_file(file, "the record of a device, as `rafter machine --device cuda --json` prints it");
  std::stringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  try {
    auto record = machine::device_record_from_json(text.str());
    (void)op::kernel_target(record.capabilities);
    return record;
  } catch (const base::InputError& error) {
    throw base::InputError(file + ": " + error.what());
  }
}

/// The maker whose kernels are written in a language, which its compiler compiles without a device; null: there is
/// none.
const device::GpuMaker* maker_of(const std::string& language) {
  for (const auto* maker : device::gpu_makers())
    if (language == maker->driver.language) return maker;
  return nullptr;
}

/// The compiler of a language, if it needs no device and is on this machine.
std::shared_ptr<const device::GpuCompiler> compiler_of(const std::string& language) {
  const auto* maker = maker_of(language);
  if (maker == nullptr) return nullptr;
  try {
    return device::GpuCompiler::instance(maker->compiler);
  } catch (const base::EnvironmentError&) {
    return nullptr;
  }
}

/// A device of which nothing but the architecture is known. Throws InputError for architectures that kernels do not run
/// on, and EnvironmentError where there is no compiler for them.
machine::DeviceRecord record_of_architecture(const std::string& device, const std::string& architecture) {
  const auto* maker = maker_of(device);
  if (maker == nullptr)
    throw base::InputError("kernel: --sm and --architecture go with --device cuda or hip, not with " + device);
  if (!architecture.starts_with(maker->driver.architecture_prefix)) // hiprtc crashes on those of other makers
    throw base::InputError("kernel: --architecture " + architecture + ": those of --device " + device + " begin with " +
                           maker->driver.architecture_prefix);
  const auto capabilities = device::capabilities_of(architecture, device);
  if (!capabilities.has_atomic_doubles)
    throw base::InputError("kernel: --architecture " + architecture +
                           ": kernels need one that adds doubles atomically, as sm_60 and gfx90a do");
  (void)device::GpuCompiler::instance(maker->compiler); // compiling is what the option asks for
  return machine::typical_device(capabilities);
}

/// Compiles a kernel and prints what it takes of the device.
void print_resources(const op::KernelInfo& info, const device::GpuCompiler& compiler, const std::string& architecture) {
  const device::CacheDirectory cache;
  const auto start = std::chrono::steady_clock::now();
  const auto code = [&] {
    try {
      return compiler.compile(info.source, architecture, cache.path() / ("failed-" + base::content_hash(info.source)));
    } catch (const base::EnvironmentError&) {
      if (cache.is_private_temporary())
        device::keep_private_temporary(); // the message names the source, which is there
      throw;
    }
  }();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  for (const auto& kernel : code.kernels)
    fmt::print("  {}: {} registers, {} bytes of local memory per item (work arrays {}), {} spilled, {} bytes of shared "
               "memory\n",
               kernel.name, kernel.registers, kernel.stack_bytes, info.work_bytes, kernel.spilled_bytes,
               kernel.shared_bytes);
  fmt::print("  compiled for {} in {}: {} bytes of code\n", architecture, report::time_text(taken.count()),
             code.code.empty() ? code.text.size() : code.code.size());
}

/// Prints the kernels for a device that is not there, of which its record or its architecture is known. Those in
/// languages whose compiler needs no device are compiled; nothing runs.
int run_target(io::Problem problem, const KernelOptions& options, const machine::DeviceRecord& record) {
  op::OperatorOptions of_operator;
  const bool is_plan_given = !options.problem.plan.empty() && options.problem.plan != predicted_plan;
  if (is_plan_given) of_operator.plan = options.problem.plan;
  auto planner = tune::planner_options(record);
  planner.weighs_all = true;
  of_operator.planner = std::make_shared<const tune::Planner>(std::move(planner));

  const auto meshes = make_meshes(problem);
  of_operator.shared_device = op::device_of({});
  const auto stated = state(problem, meshes, of_operator);
  of_operator.shared_device.reset(); // known fields need some device, and kernels none
  of_operator.quadrature = stated.discretisation.quadrature;
  const auto equations = problem::make_equations(stated);
  const auto target = op::kernel_target(record.capabilities);
  const auto compiler = record.capabilities.architecture.empty() ? nullptr : compiler_of(target.target.language);
  report::PlanList plans;
  fmt::print("kernels in the language {} for {}; {}nothing runs\n", target.target.language, record.machine.model,
             compiler == nullptr ? "nothing is compiled and " : "compiled by " + compiler->version() + "; ");
  const auto print = [&](const op::KernelInfo& info) {
    print_kernel(info, options, plans);
    if (compiler != nullptr) print_resources(info, *compiler, record.capabilities.architecture);
  };
  const auto print_form = [&](const char* name, const form::LoweredForm& form) {
    fmt::print("\n{}\n", name);
    const auto built =
        op::build_form(form, equations.system, op::Purpose::action, op::kernel_options(of_operator, target));
    if (built->matrix != nullptr) print(built->matrix->info);
    const auto& cells = built->matrix != nullptr ? *built->matrix->cells : *built;
    for (const auto& block : cells.blocks) print(block.kernel.info);
    problem::warn_of_unused_plan_keys("--plan", *built, of_operator);
    of_operator.plan.clear(); // a plan of the user is meant for the operator
  };
  print_form("apply", equations.tangent);
  if (equations.load) print_form("right-hand side", *equations.load);
  fmt::print("\ntables of plans:\n{}\n{}", plan_table_legend(), plans.text());
  return exit_done;
}

} // namespace

int run_kernel(const KernelOptions& options) {
  auto problem = io::read_problem(options.problem.file, options.problem.overrides);
  problem.output.file.clear(); // the subcommand solves nothing, so that there is no output
  if (!options.target.empty()) return run_target(std::move(problem), options, read_record(options.target));
  if (!options.architecture.empty())
    return run_target(std::move(problem), options,
                      record_of_architecture(options.problem.device, options.architecture));
  base::claim_outputs(std::vector<base::NamedFile>{{"--matrix", options.matrix}}, input_files(problem));
  const auto made = prepare_operators(
      problem, {.device = options.problem.device, .threads = options.problem.threads, .plan = options.problem.plan});
  const auto& prepared = *made;
  const auto& A = prepared.operator_a();
  check_files_of_cells(options, prepared, problem);
  report::PlanList plans;
  constexpr double timing_seconds = 0.15; // for each form
  const auto report = problem::report_operator(A, prepared.machine(), timing_seconds);
  problem::warn_if_busy(prepared.machine());
  print_operator(A, report, options, plans);
  if (options.has_storages) print_storages(A, prepared.machine(), timing_seconds);
  if (A.precision_error() > 0)
    fmt::print("\nprecision: the operator differs from double precision by {:.2g} of its size\n", A.precision_error());
  if (const auto* L = prepared.linear_form()) {
    fmt::print("\n");
    print_costs(L->kernels().counts(),
                problem::report_linear_form(*L, prepared.system(), prepared.machine(), timing_seconds),
                A.num_unknowns());
    for (const auto& info : L->kernels().info()) print_kernel(info, options, plans);
  }
  fmt::print("\nMDoF/s: 10^6 unknowns per second; GFLOP/s: 10^9 operations of the algorithm as written per second; "
             "GB/s: 10^9\n"
             "bytes per second to and from memory, each number counted once; tables of plans:\n{}\n{}",
             plan_table_legend(), plans.text());
  write_outputs(options, prepared, problem.source);
  return exit_done;
}

} // namespace rafter::app
