// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/generate/matrix_builder.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/hash.hpp>
#include <rafter/emit/c_family.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/mesh/limits.hpp>
#include <rafter/operator/generate/cell_unknowns.hpp>
#include <rafter/operator/generate/kernel_target.hpp>
#include <rafter/operator/generate/matrix_limits.hpp>
#include <rafter/schedule/item_keys.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/schedule/matrix_product.hpp>
#include <rafter/space/function_space.hpp>
#include <rafter/tune/store.hpp>
#include <rafter/tune/unweighed_plans.hpp>

namespace rafter::op {
namespace {

/// Predicted time of set-up on one thread for every entry of a cell matrix, beside the evaluation of coefficients, as
/// it was seen on linear simplices and prisms, see docs/decisions/0040.
constexpr double seconds_per_cell_entry = 10e-9;

/// Options for the kernels of cell matrices of a matrix whose options name a device.
KernelOptions cell_options(KernelOptions options) {
  options.num_applications = 0;
  options.precision = schedule::Precision::double_precision;
  if (options.plan) {
    const auto usual =
        schedule::usual_plan(options.target != nullptr ? options.target->target : target_of(*options.device));
    auto plan = *options.plan;
    if (!schedule::holds_cells(plan)) {
      plan.set(schedule::key::mapping, usual[schedule::key::mapping]);
      if (schedule::has_items(usual)) plan.set(schedule::key::vector_width, usual[schedule::key::vector_width]);
    }
    options.plan = std::make_shared<const schedule::Plan>(schedule::in_double(plan));
  }
  return options;
}

} // namespace

std::shared_ptr<GeneratedForm> build_cell_matrices(const form::LoweredForm& form, const Systems& systems,
                                                   const KernelOptions& options) {
  auto cells = build_form(form, systems, Purpose::matrix, cell_options(options));
  return cells->is_too_large ? build_cell_action(form, systems, options) : cells;
}

std::shared_ptr<GeneratedForm> build_cell_action(const form::LoweredForm& form, const Systems& systems,
                                                 const KernelOptions& options) {
  const auto broken = make_broken(systems);
  std::vector<form::SpacePair> twins;
  const auto add_twins = [&](const System& system, const System& of_system) {
    for (std::size_t f = 0; f < system.spaces.size(); ++f) twins.emplace_back(system.spaces[f], of_system.spaces[f]);
  };
  add_twins(systems.test, broken.test);
  if (systems.trial.spaces != systems.test.spaces) add_twins(systems.trial, broken.trial);
  const auto lowered = form::arguments_on(form, twins);
  // Data fields are bound by their numbers.
  if (lowered.fields != form.fields || lowered.field_names != form.field_names)
    throw base::InternalError("a form on other spaces has its data fields in another order");
  return build_form(lowered, broken, Purpose::action, cell_options(options));
}

std::shared_ptr<GeneratedMatrix> build_matrix(const form::LoweredForm& form, const System& system,
                                              const KernelOptions& options) {
  auto cells = build_cell_matrices(form, system, options);
  Coupling coupling(*cells, system);
  auto result = std::make_shared<GeneratedMatrix>(GeneratedMatrix{.system = system,
                                                                  .coupling = std::move(coupling),
                                                                  .cells = std::move(cells),
                                                                  .info = {},
                                                                  .loops = {},
                                                                  .program = nullptr});
  auto& info = result->info;
  info.name = "assembled matrix";
  const auto& blocks = result->cells->blocks;
  info.decision = tune::plan_product(blocks.empty() ? schedule::Plan() : blocks.front().kernel.info.plan,
                                     options.plan.get(), *result->cells->options.planner, options.precision);
  info.plan = info.decision.plan;
  const auto& target = result->cells->options.target->target;
  result->loops = schedule::matrix_product(result->coupling.block_size(), info.plan, target);
  info.source = emit::emit(result->loops, target.language);
  info.loop_program = schedule::print(result->loops);
  return result;
}

double matrix_bytes(const System& system, const Coupling& coupling, double num_entries, const schedule::Plan& plan) {
  constexpr double filled_up = 1.1; // rows are filled up to the length of their slice
  const double block = coupling.block_size();
  double cell_unknowns = 0, cell_pairs = 0;
  for (const auto& of : system.batches->blocks) {
    const double per_cell = num_local_unknowns(system, of.group), num_cells = of.num_cells;
    cell_unknowns += num_cells * per_cell;
    cell_pairs += num_cells * per_cell * per_cell;
  }
  // Floats are stored beside the doubles that they are rounded from.
  const double entry = plan[schedule::key::storage] == schedule::Precision::double_precision ? 8 : 12;
  const double column_numbers = 8 / (block * block); // column numbers exist twice while they are found
  // Bytes of two vectors, the entries in both spaces, the incidence and tables.
  constexpr double per_cell_unknown = 16 + 4 + 4 + 8 + 8;
  return filled_up * num_entries * (entry + column_numbers) + per_cell_unknown * cell_unknowns +
         2 * cell_pairs / (block * block) + // the slots of pairs have 16 bits at most
         32 * static_cast<double>(system.size());
}

std::string memory_lack(const GeneratedMatrix& built, const schedule::Plan& plan, double extra_bytes) {
  const double entries = count_entries(built.system, built.coupling);
  const auto lack = lack_of_places(matrix_sizes(built.system, built.coupling, entries, 1));
  if (!lack.empty()) return "an assembled matrix is set up cell by cell, and " + lack + ": ";
  const double bytes = matrix_bytes(built.system, built.coupling, entries, plan) + extra_bytes * entries;
  const double memory = mesh::available_memory_bytes();
  if (bytes <= memory) return {};
  return fmt::format("an assembled matrix of {} unknowns has about {:.4g} entries and takes about {:.3g} GB with its "
                     "set-up; this machine has {:.3g} GB: ",
                     built.system.size(), entries, 1e-9 * bytes, 1e-9 * memory);
}

namespace {

/// Names of the times in the planner's store, where those of kernels have the text of a plan.
constexpr const char *timed_product = "product", *timed_kernels = "kernels", *timed_setup = "set-up";

/// Key of the matrix in the store, made of its kernels and the sizes of the problem; "" where nothing is remembered.
std::string store_key(const GeneratedForm& form) {
  std::string text = fmt::format("assembled matrix of {} unknowns\n", form.system.size());
  for (const auto& block : form.blocks) {
    const auto& info = block.kernel.info;
    if (info.block >= 0 && info.decision.key.empty()) return "";
    text += fmt::format("{} {} {} {}\n", info.name, info.num_cells, info.decision.key, schedule::to_string(info.plan));
  }
  return base::content_hash(text);
}

void take_measured(const GeneratedForm& form, MatrixForecast& forecast) {
  const auto* store = form.options.planner->options().store.get();
  const auto key = store == nullptr ? "" : store_key(form);
  if (key.empty()) return;
  int num_found = 0;
  auto found = forecast;
  for (const auto& m : store->find(key))
    for (const auto& [name, seconds] :
         {std::pair{timed_product, &found.seconds}, std::pair{timed_kernels, &found.kernel_seconds},
          std::pair{timed_setup, &found.setup_seconds}})
      if (m.plan == name && m.seconds > 0) {
        *seconds = m.seconds;
        ++num_found;
      }
  if (num_found < 3) return;
  forecast = found;
  forecast.is_measured = true;
}

} // namespace

void remember(const GeneratedForm& form, const MatrixForecast& measured) {
  auto* store = form.options.planner->options().store.get();
  const auto key = store == nullptr ? "" : store_key(form);
  if (key.empty()) return;
  store->remember(key, {{timed_product, measured.seconds, measured.seconds},
                        {timed_kernels, measured.kernel_seconds, measured.kernel_seconds},
                        {timed_setup, measured.setup_seconds, measured.setup_seconds}});
}

MatrixForecast forecast_matrix(const GeneratedForm& form) {
  const Coupling coupling(form, form.system);
  MatrixForecast result;
  result.num_applications = form.options.num_applications;
  result.entries = count_entries(form.system, coupling);
  result.bytes = matrix_bytes(form.system, coupling, result.entries, schedule::Plan());
  // Part of the memory that the matrix may take, because vectors and the mesh need some, too.
  constexpr double usable = 0.5;
  const auto sizes = matrix_sizes(form.system, coupling, result.entries, schedule::Plan()[schedule::key::vector_width]);
  result.fits = result.bytes <= usable * mesh::available_memory_bytes() && lack_of_places(sizes).empty() &&
                lack_of_columns(sizes).empty();
  result.seconds = tune::predict_product({.num_rows = static_cast<double>(form.system.size()),
                                          .num_entries = result.entries,
                                          .block = coupling.block_size(),
                                          .cells_per_batch = form.system.batches->cells_per_batch,
                                          .num_threads = form.options.target->num_threads},
                                         *form.options.planner);
  for (std::size_t p = 0; p < form.num_cell_blocks; ++p)
    result.kernel_seconds += form.blocks[p].kernel.info.decision.seconds;
  double most_per_cell = 0;
  for (const auto& of : form.system.batches->blocks)
    most_per_cell = std::max(most_per_cell, static_cast<double>(num_local_unknowns(form.system, of.group)));
  const double threads = form.options.target->num_threads;
  result.setup_seconds = most_per_cell * result.kernel_seconds +
                         seconds_per_cell_entry / threads * count_cell_entries(form.system, coupling);
  take_measured(form, result);
  return result;
}

} // namespace rafter::op
