// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/tune/kernel_lowering.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/element/quadrature.hpp>
#include <rafter/form/scalar_graph.hpp>
#include <rafter/kernel/contraction.hpp>
#include <rafter/kernel/cut.hpp>
#include <rafter/kernel/point_matrices.hpp>
#include <rafter/kernel/qfunction.hpp>
#include <rafter/kernel/tensor_program.hpp>
#include <rafter/schedule/counts.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/precision.hpp>
#include <rafter/schedule/schedule.hpp>
#include <rafter/space/index_tables.hpp>

namespace rafter::tune {

namespace {

bool reads(const kernel::QFunction& function, const kernel::FieldUse& use) {
  return std::ranges::any_of(function.graph.reachable(function.roots()), [&](const kernel::NodeId id) {
    const auto& node = function.graph[id];
    return node.op == form::ScalarOp::atom && node.atom.kind == use.kind && node.atom.a == use.index;
  });
}

bool writes(const kernel::QFunction& function, const kernel::FieldUse& use) {
  return std::ranges::any_of(function.outputs, [&](const kernel::Output& output) {
    const bool is_tested = output.kind == kernel::OutputKind::test || output.kind == kernel::OutputKind::test_pair;
    return is_tested && output.field == use.index;
  });
}

/// Positions of the fields that a function reads, or writes.
template <class Uses>
std::vector<std::size_t> used(const kernel::QFunction& function, const std::vector<kernel::FieldUse>& fields,
                              Uses uses) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (uses(function, fields[i])) result.push_back(i);
  return result;
}

/// Work arrays of every thread, or of every item. Throws InputError.
void require_work_fits(const schedule::LoopProgram& loops, const element::Quadrature& rule,
                       const schedule::Target& target) {
  const auto limit_bytes = static_cast<double>(target.most_work_bytes);
  const double bytes = schedule::work_bytes(loops);
  if (bytes > limit_bytes)
    throw base::InputError(fmt::format("a kernel with {} quadrature points per cell would need {:.3g} MiB of working "
                                       "memory per {}, accepted are {:.3g} MiB: use a lower quadrature degree or "
                                       "fewer points",
                                       rule.num_points(), bytes / (1 << 20), target.is_processor ? "thread" : "item",
                                       limit_bytes / (1 << 20)));
}

/// Says whether a program reads the table of a role, of the space with this number.
bool takes_table(const schedule::LoopProgram& loops, std::string_view role, int space) {
  return std::ranges::any_of(loops.arguments(),
                             [&](const auto& argument) { return argument.role == role && argument.index == space; });
}

/// Words of a double that a stored number takes.
double stored_words(const schedule::Plan& plan) {
  return plan[schedule::key::storage] == schedule::Precision::single_precision ? 0.5 : 1;
}

} // namespace

int num_stored(const kernel::QFunction& setup, kernel::OutputKind kind) {
  return static_cast<int>(std::ranges::count(setup.outputs, kind, &kernel::Output::kind));
}

// --- the kernel -----------------------------------------------------------------------------------------------------

const kernel::Choice& CellKernel::choice_of(const schedule::Plan& plan) const {
  const auto found = std::ranges::find(choices, plan[schedule::key::factors], &kernel::Choice::factors);
  return found == choices.end() ? choices.front() : *found;
}

namespace {

bool stores_matrices(const schedule::Plan& plan) {
  return plan[schedule::key::contraction] == kernel::Contraction::cell_matrices;
}

} // namespace

const kernel::QFunction& CellKernel::setup_of(const schedule::Plan& plan) const {
  return stores_matrices(plan) ? matrices.function : choice_of(plan).functions.setup;
}

int CellKernel::num_stored_per_cell(const schedule::Plan& plan) const {
  return stores_matrices(plan) ? matrices.num_stored : num_stored(setup_of(plan), kernel::OutputKind::stored_cell);
}

double CellKernel::rows_per_batch(const schedule::Plan& plan) const {
  const bool depends_on_data =
      stores_matrices(plan)
          ? std::ranges::any_of(cell.fields.inputs,
                                [&](const auto& use) {
                                  return use.kind == kernel::AtomKind::reference_field && reads(matrices.function, use);
                                })
          : choice_of(plan).factors.stores_data;
  return depends_on_data ? 1 : data_rows_per_batch;
}

kernel::ProgramInput CellKernel::input_of(kernel::QFunction function, kernel::Contraction contraction) const {
  kernel::ProgramInput result{
      .fields = cell.fields, .function = std::move(function), .contraction = contraction, .tables = nullptr};
  result.fields.inputs.clear();
  result.fields.outputs.clear();
  for (const auto i : used(result.function, cell.fields.inputs, reads))
    result.fields.inputs.push_back(cell.fields.inputs[i]);
  for (const auto i : used(result.function, cell.fields.outputs, writes))
    result.fields.outputs.push_back(cell.fields.outputs[i]);
  return result;
}

// --- lowering -------------------------------------------------------------------------------------------------------

kernel::ProgramInput KernelLowering::program_input(const kernel::QFunction& function,
                                                   kernel::Contraction contraction) const {
  auto result = kernel_.input_of(function, contraction);
  result.tables = tables_;
  return result;
}

/// Plans that differ in contraction and cut have programs of their own.
kernel::TensorProgram& KernelLowering::program(const schedule::Plan& plan) {
  namespace key_of = schedule::key;
  const auto derivatives = plan[key_of::derivatives];
  const std::tuple key{plan[key_of::contraction], plan[key_of::factors], derivatives};
  const auto known = programs_.find(key);
  if (known != programs_.end()) return known->second;
  if (stores_matrices(plan))
    return programs_[key] = kernel::build_stored_product(
               kernel_.matrices,
               program_input(kernel_.choices.front().functions.main, plan[key_of::contraction]).fields);
  if (plan[key_of::contraction] == kernel::Contraction::pointwise) {
    auto input = program_input(*kernel_.of_derivatives, plan[key_of::contraction]);
    input.shares_derivatives = derivatives == schedule::DerivativePlace::ahead;
    return programs_[key] = kernel::build_program(input);
  }
  const auto& choice = kernel_.choice_of(plan);
  const bool has_grid = plan[schedule::key::contraction] != kernel::Contraction::dense;
  const auto& function = has_grid ? choice.on_grid : choice.functions.main;
  return programs_[key] = kernel::build_program(program_input(function, plan[schedule::key::contraction]));
}

KernelLowering::Loops& KernelLowering::loops(const schedule::Plan& plan) {
  const std::string key = schedule::to_string(schedule::without_compilation(plan));
  const auto known = loops_.find(key);
  if (known != loops_.end()) return known->second;
  schedule::LoweringInput input{.program = &program(plan), .stored = {}, .target = kernel_.target};
  const auto choice = schedule::choose_mapping(input, plan);
  auto taken = plan;
  taken.set(schedule::key::mapping, *choice.mapping);
  input.stored = schedule::stored_order(taken);
  return loops_[key] = loops_of(input, plan, choice);
}

KernelLowering::Loops KernelLowering::loops_of(const schedule::LoweringInput& input, schedule::Plan plan,
                                               const schedule::Choice& choice) const {
  Loops result;
  result.program = schedule::lower(input, plan, choice);
  result.mapping = choice.mapping->name;
  result.schedule = choice.schedule;
  result.stored = input.stored;
  require_work_fits(result.program, kernel_.cell.fields.quadrature, kernel_.target);
  return result;
}

PlannedProgram KernelLowering::lower(const schedule::Plan& plan) {
  const auto& program = loops(plan).program;
  return {program, data_bytes(program, plan)};
}

LoweredKernel KernelLowering::take(const schedule::Plan& plan) {
  auto& result = loops(plan);
  auto& of_cell = program(plan);
  auto text = schedule::to_string(of_cell, *result.schedule);
  return {.program = std::move(of_cell),
          .loops = std::move(result.program),
          .mapping = result.mapping,
          .schedule_text = std::move(text),
          .stored = result.stored};
}

kernel::TensorProgram KernelLowering::setup_program(const schedule::Plan& plan, kernel::Contraction contraction,
                                                    schedule::DerivativePlace derivatives) const {
  auto input = program_input(kernel_.setup_of(plan), contraction);
  input.shares_derivatives = derivatives == schedule::DerivativePlace::ahead;
  return stores_matrices(plan) ? kernel::build_stored_matrices(kernel_.matrices, input) : kernel::build_program(input);
}

bool KernelLowering::is_faster_by_points(const schedule::Plan& plan) {
  if (!kernel_.of_derivatives) return false;
  auto by_points = plan;
  by_points.set(schedule::key::contraction, kernel::Contraction::pointwise);
  return kernel::is_faster(program(by_points), program(plan));
}

bool KernelLowering::stores_faster_by_points(const schedule::Plan& plan) const {
  const auto derivatives = plan[schedule::key::derivatives];
  return kernel::is_faster(setup_program(plan, kernel::Contraction::pointwise, derivatives),
                           setup_program(plan, kernel::Contraction::dense, derivatives));
}

LoweredKernel KernelLowering::setup(const schedule::Plan& plan, const schedule::Plan& own_plan,
                                    const LoweredKernel& main) const {
  LoweredKernel result{
      .program = setup_program(plan, own_plan[schedule::key::contraction], own_plan[schedule::key::derivatives]),
      .loops = {},
      .mapping = {},
      .schedule_text = {},
      .stored = main.stored};
  const schedule::LoweringInput input{.program = &result.program, .stored = main.stored, .target = kernel_.target};
  auto loops = loops_of(input, own_plan, schedule::choose_mapping(input, own_plan));
  result.loops = std::move(loops.program);
  result.mapping = std::move(loops.mapping);
  result.schedule_text = schedule::to_string(result.program, *loops.schedule);
  return result;
}

// --- cost -----------------------------------------------------------------------------------------------------------

Estimate KernelLowering::estimate(const schedule::Plan& plan) {
  const auto& cost = kernel_.choice_of(plan).cost;
  const int cells = kernel_.cell.fields.batches.cells_per_batch;
  const double read = stores_matrices(plan)
                          ? kernel_.matrices.num_stored
                          : cost.cell_words + cost.point_words * kernel_.cell.fields.quadrature.num_points();
  const double words = stored_words(plan) * read;
  return {.flops = kernel::count_flops(program(plan)) * cells,
          .data_bytes = 8 * words * cells * kernel_.rows_per_batch(plan)};
}

double KernelLowering::data_bytes(const schedule::LoopProgram& loops, const schedule::Plan& plan) const {
  using kernel::OutputKind;
  const auto& setup = kernel_.setup_of(plan);
  const auto& cell = kernel_.cell;
  const int dim = setup.tdim();
  const double stored = kernel_.num_stored_per_cell(plan) + static_cast<double>(cell.fields.quadrature.num_points()) *
                                                                num_stored(setup, OutputKind::stored_point);
  double words = stored_words(plan) * stored;
  const double whole = cell.whole_runs_share;
  double starts = 0;
  for (const auto& argument : loops.arguments()) {
    if (argument.role == schedule::role::map)
      words += static_cast<double>(kernel::map_modes(cell.map, dim).size()) * dim;
    if (argument.role == schedule::role::nodes) words += cell.fields.geometry->num_dofs() * dim;
    if (argument.role == schedule::role::cell_coefficients) words += cell.num_coefficients;
    if (argument.role == space::role::dof_entries) starts += dofs_per_batch(argument.index);
    if (argument.role == space::role::run_starts)
      starts += starts_per_batch(loops, argument.index) *
                (takes_table(loops, space::role::unpatterned_entries, argument.index) ? whole : 1);
    if (argument.role == space::role::unpatterned_entries) // and the number of the batch among its like
      starts += (1 - whole) * (dofs_per_batch(argument.index) + 1);
  }
  return 8 * words * kernel_.rows_per_batch(plan) * kernel_.cell.fields.batches.cells_per_batch + 4 * starts;
}

double KernelLowering::dofs_per_batch(int space) const {
  return static_cast<double>(kernel_.cell.fields.batches.pattern(space).run_dofs.size()) *
         kernel_.cell.fields.batches.cells_per_batch;
}

/// Returns the starts of a batch of patches, if the kernel gathers those, else of cells.
double KernelLowering::starts_per_batch(const schedule::LoopProgram& loops, int space) const {
  const auto& layout = kernel_.cell.fields.batches.pattern(space);
  if (takes_table(loops, space::role::patch_starts, space))
    return static_cast<double>(layout.patch->run_lengths.size()) * kernel_.cell.patches_per_batch(layout);
  return static_cast<double>(layout.num_runs) * kernel_.cell.fields.batches.cells_per_batch;
}

} // namespace rafter::tune
