// SPDX-License-Identifier: BSD-3-Clause
#include <bench/elasticity_kernel.hpp>

#include <algorithm>
#include <array>

#include <bench/measured.hpp>
#include <bench/mesh_file.hpp>
#include <bench/operators.hpp>
#include <bench/peers.hpp>
#include <bench/published_elasticity.hpp>
#include <bench/stress_vector.hpp>
#include <fmt/format.h>
#include <rafter/base/memory.hpp>
#include <rafter/device/device.hpp>
#include <rafter/schedule/work_arrays.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::bench {
namespace {

/// A row of the ablation has a name, a name in the paper, and the plan that does it.
struct Step {
  std::string name, paper;
  bool is_general; ///< the law is a tensor of 81 numbers instead of the isotropic one, whose stress is six values
  std::string plan;
  /// This plan is that of the loop that writes the stress to a vector; if it is empty, there is one loop only.
  std::string stress_plan = "";
};
constexpr const char* factorised = "contraction=per-derivative mapping=plain factors=recompute even_odd=0";
/// Rows of three sums are the fastest of their kind, and as fast as the library from which the paper starts.
constexpr const char* dense_plan = "contraction=dense mapping=plain factors=recompute rows=3 unroll=0";
const std::vector<Step>& steps() {
  static const std::vector<Step> table{
      {"pa-qvec", "baseline", true, dense_plan, factorised},
      {"c1", "+ sum factorisation", true, factorised, factorised},
      {"c2", "+ Voigt", false, factorised, factorised},
      {"c3", "+ fusion", false, factorised},
      {"paop", "+ slice-wise", false, "contraction=slice-wise mapping=simd_cells factors=recompute even_odd=0"},
      {"lanes", "(SIMD)", false, "contraction=per-derivative mapping=simd_cells factors=recompute even_odd=0"},
      {"layers", "-", false, "contraction=collocated mapping=simd_cells factors=recompute even_odd=0"},
      {"even-odd", "-", false, "contraction=collocated mapping=simd_cells factors=recompute even_odd=2"},
      {"planned", "-", false, ""},
      // The paper does not have these steps: the first two in one loop, and the best that dense tables allow.
      {"dense", "-", true, dense_plan},
      {"sum-factorised", "-", true, factorised},
      {"dense-lanes", "-", false, "contraction=dense mapping=simd_cells factors=recompute"}};
  return table;
}
constexpr std::array beside_the_ladder{"dense", "sum-factorised", "dense-lanes"};
std::vector<std::string> step_names() {
  std::vector<std::string> names;
  for (const auto& step : steps()) names.push_back(step.name);
  return names;
}

Case case_of(const Step& step) {
  Case result{"elasticity",
              "isotropic elasticity, Gauss p+2",
              "inner(lmbda*div(u)*Identity(3) + 2*mu*sym(grad(u)), sym(grad(v)))*dx",
              3,
              2,
              element::QuadratureKind::gauss};
  if (step.is_general)
    result.form = fmt::format("inner(dot(C, {}), {})*dx", components_of("sym(grad(u))"), components_of("grad(v)"));
  return result;
}

struct ElasticityKernelChoices {
  Settings common;
  std::vector<std::string> steps, geometries{"cartesian"};
};
ElasticityKernelChoices elasticity_kernel_defaults() {
  ElasticityKernelChoices choices;
  choices.steps = step_names();
  for (const char* name : beside_the_ladder) std::erase(choices.steps, name);
  choices.common.degrees = {1, 2, 4, 8};
  choices.common.million_dofs = {1}; // with twice the last cache, the dense kernel would take hours at degree 8
  return choices;
}
std::vector<Option> options_of(ElasticityKernelChoices& choices) {
  std::vector<Option> options{
      names_option("--steps", "rows; speed-ups are over the first", choices.steps, step_names()),
      names_option("--geometry", "cells of the cube", choices.geometries, {"cartesian", "deformed"})};
  options.push_back(device_option(choices.common));
  for (auto& option : common_options(choices.common)) options.push_back(std::move(option));
  return options;
}

Layout elasticity_kernel_layout(bool has_mesh) {
  Layout layout{
      .suite = "elasticity-kernel",
      .title = "linear elasticity from a dense kernel to the planner's, cell vector to cell vector; unknowns: "
               "cells p^3 components",
      .columns = {{"step", {"step", "what the kernel does (docs/command.md)"}, "{:<14}"},
                  has_mesh ? cells_column() : Column{"geometry", {"cells", "of the cube: kind of geometry"}, "{:<9}"}},
      .identity = {"step", "geometry", "degree", "dofs"},
      .figure = "mdofs_per_second"};
  for (auto& column : measured_columns()) layout.columns.push_back(std::move(column));
  layout.columns.push_back({"speed_up", {"speed-up", "time of the first step over this one's"}, "{:8.2f}"});
  layout.columns.push_back({"marginal_speed_up", {"marginal", "time of the step before over this one's"}, "{:8.2f}"});
  layout.tables.push_back(
      {"step by step, beside the paper",
       {{"paper", {"in the paper", "its name for the step; separable: another problem than its kernels"}, "{:<21}"},
        {"paper_speed_up", {"paper x", "speed-up there over the baseline, at degree 8 (table 7)"}, "{:7.2f}"},
        {"paper_marginal_speed_up", {"marginal", "the same over the step before"}, "{:8.2f}"},
        {"executed_flops_per_dof", {"flop/DoF", "operations per unknown that are executed"}, "{:8.0f}"},
        {"paper_flops_per_dof", {"paper flop", "the same of the paper's kernel"}, "{:10.1f}"},
        {"intensity", {"flop/B", "such operations per byte that must cross the memory"}, "{:6.2f}"},
        {"paper_intensity", {"paper flop/B", "the same of the paper's kernel"}, "{:12.2f}"},
        {"ratio_to_mfem",
         {"MFEM x", "rate over that of MFEM's partial assembly on another machine, scaled by peak rates"},
         "{:6.1f}"}}});
  layout.tables.push_back(counts_table());
  return layout;
}

/// Adds the work arrays of the row's kernels and those of the paper's.
void add_work_arrays(Json& row, std::span<const op::KernelInfo> kernels, int degree) {
  row["work_arrays"] = Json::array();
  for (std::size_t k = 0; k < kernels.size(); ++k)
    for (const auto& array : schedule::work_arrays(schedule::read(kernels[k].loop_program)))
      row["work_arrays"].push_back({{"kernel", k},
                                    {"name", array.name},
                                    {"bytes", array.bytes},
                                    {"lives_in", array.loop},
                                    {"first_statement", array.first},
                                    {"last_statement", array.last},
                                    {"num_statements", array.num_statements},
                                    {"in_registers", array.is_in_registers}});
  row["paper_work_arrays"] = Json::array();
  for (const auto& array : published_elasticity_arrays)
    row["paper_work_arrays"].push_back(
        {{"name", array.name}, {"bytes", array.bytes(degree)}, {"lives_in", array.lifetime}});
}

/// Says whether a kernel is a sum of products of 1D matrices, as the planner takes it where coefficients are constant
/// on equal cubes. This is an easier problem than that of the paper's kernels, which read two Lame parameters at each
/// point.
bool is_separable(std::span<const op::KernelInfo> kernels) {
  return std::ranges::any_of(kernels, [](const op::KernelInfo& info) {
    return info.plan[schedule::key::contraction] == kernel::Contraction::separable;
  });
}

/// The paper's counts hold for affine cells.
void add_published(Json& row, const std::string& geometry, int degree) {
  if (degree == published_elasticity_steps_degree) {
    const auto step = row["paper"].get<std::string>();
    if (const auto speed_up = published_elasticity_speed_up(step)) row["paper_speed_up"] = *speed_up;
    if (const auto marginal = published_elasticity_marginal_speed_up(step)) row["paper_marginal_speed_up"] = *marginal;
  }
  if (geometry != "cartesian") return;
  row["paper_flops_per_dof"] = published_elasticity_flops_per_dof(degree);
  row["paper_intensity"] = published_elasticity_intensity(degree);
  if (const auto found = published_elasticity_ratios.find(degree); found != published_elasticity_ratios.end())
    row["paper_flops_ratio"] = found->second;
}

Measured make_step(const Step& step, const std::shared_ptr<const space::FunctionSpace>& space,
                   const std::shared_ptr<device::Device>& device) {
  if (step.stress_plan.empty()) {
    const auto A = std::make_shared<op::Operator>(make_operator(case_of(step), space, device, {.plan = step.plan}));
    auto result = measured(*A);
    result.apply = [A](const op::Vector& x, op::Vector& y) { A->apply(x, y); };
    return result;
  }
  const auto A = std::make_shared<StressVectorOperator>(
      space, device,
      StressVectorChoice{.is_symmetric = !step.is_general, .stress_plan = step.stress_plan, .plan = step.plan});
  return {.apply = [A](const op::Vector& x, op::Vector& y) { A->apply(x, y); },
          .size = space->num_local(),
          .device = device,
          .counts = A->counts(),
          .kernels = A->info()};
}

void apply_once(const Measured& A) {
  op::Vector x(A.device, static_cast<std::size_t>(A.size)), y(A.device, x.size());
  fill(x);
  A.apply(x, y);
}

void measure_steps(Report& report, const ElasticityKernelChoices& choices, const SpaceChoice& choice,
                   const std::shared_ptr<device::Device>& device) {
  std::vector<Step> chosen;
  for (const auto& name : choices.steps) chosen.push_back(*std::ranges::find(steps(), name, &Step::name));
  const base::MemoryGrowth shared;
  const auto space = make_space(case_of(chosen.front()), choice);
  const auto shared_bytes = shared.resident_bytes();
  std::vector<Measured> operators;
  std::vector<std::optional<std::int64_t>> memory; // bytes of mesh and space, the operator and its vectors
  for (const auto& step : chosen) {
    const base::MemoryGrowth own;
    operators.push_back(make_step(step, space, device));
    apply_once(operators.back());
    const auto own_bytes = own.peak_bytes();
    memory.push_back(own_bytes && shared_bytes ? std::optional(*shared_bytes + *own_bytes) : std::nullopt);
  }
  const auto difference = differences(operators);
  auto rows = measure(operators, *space, report.machine(), choices.common);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Json row{{"step", chosen[i].name}, {"paper", chosen[i].paper}, {"geometry", choice.geometry}};
    row.update(rows[i]);
    row["is_separable"] = is_separable(operators[i].kernels);
    if (row["is_separable"]) row["paper"] = "separable";
    row["executed_gflops"] = 1e-3 * row["executed_flops_per_dof"].get<double>() * row["mdofs_per_second"].get<double>();
    row["intensity"] = row["executed_flops_per_dof"].get<double>() / row["bytes_per_dof"].get<double>();
    row["speed_up"] = 1 / rows[i]["relative_seconds"].get<double>();
    if (i > 0)
      row["marginal_speed_up"] =
          rows[i - 1]["relative_seconds"].get<double>() / rows[i]["relative_seconds"].get<double>();
    row["difference"] = difference[i];
    row["flops_ratio"] =
        rows.front()["executed_flops_per_dof"].get<double>() / row["executed_flops_per_dof"].get<double>();
    if (choice.mesh == nullptr) add_published(row, choice.geometry, choice.degree);
    add_work_arrays(row, operators[i].kernels, choice.degree);
    add_memory(row, memory[i]);
    const auto rate = peer_rate("mfem_partial_assembly", "elasticity", choice.degree, report.machine());
    if (rate && choice.mesh == nullptr && choices.common.device == "host")
      row["ratio_to_mfem"] = row["mdofs_per_second"].get<double>() / (*rate * choices.common.threads);
    report.add(std::move(row));
  }
}

std::vector<report::Plot> elasticity_kernel_plots(const Report& report, int threads) {
  const std::vector<std::string> by{"step", "geometry"};
  auto comparable = report.rows();
  std::erase_if(comparable, [](const Json& row) { return row["is_separable"].get<bool>(); });
  std::vector<report::Plot> result;
  if (!comparable.empty())
    result.push_back({"figure 5: rate of the kernel, without separable ones",
                      {"degree", false, true},
                      {"MDoF/s", true},
                      series(comparable, by, "degree", "mdofs_per_second")});
  result.push_back({"speed-up over the first row",
                    {"degree", false, true},
                    {"times", true},
                    series(report.rows(), by, "degree", "speed_up")});
  if (!comparable.empty())
    result.push_back(report::roofline("figure 6: roofline, operations that are executed and compulsory bytes",
                                      report.machine(), threads,
                                      series(comparable, by, "intensity", "executed_gflops")));
  return result;
}

} // namespace

int run_elasticity_kernel(std::span<const std::string> arguments) {
  ElasticityKernelChoices choices = elasticity_kernel_defaults();
  const auto given = parse("elasticity-kernel", arguments, options_of(choices));
  const std::vector<std::string> of_boxes{"--geometry"};
  read_mesh_file("elasticity-kernel", choices.common, given, of_boxes);
  require_hexahedra("elasticity-kernel", choices.common);
  if (choices.common.mesh != nullptr) choices.geometries = {choices.common.mesh->name};
  const auto device =
      device::make_device(choices.common.device, choices.common.threads); // a wrong one is refused at once
  std::vector<PlannedRow> rows;
  for (const auto& step : steps()) rows.push_back({step.name, {step.plan, step.stress_plan}});
  keep_rows_of_device("elasticity-kernel", "--steps", given, rows, *device, choices.steps);
  Report report(elasticity_kernel_layout(choices.common.mesh != nullptr), choices.common, arguments);
  for (const auto& geometry : choices.geometries)
    for (const int degree : choices.common.degrees)
      for (const double size : choices.common.million_dofs) {
        SpaceChoice choice{.degree = degree,
                           .million_dofs = size,
                           .geometry = geometry,
                           .is_broken = true,
                           .mesh = mesh_of(choices.common)};
        if (size == 0) choice.million_dofs = beyond_caches(case_of(steps().back()), choice, report.machine(), device);
        measure_steps(report, choices, choice, device);
      }
  return report.finish(elasticity_kernel_plots(report, choices.common.threads));
}

std::string elasticity_kernel_options() {
  ElasticityKernelChoices choices = elasticity_kernel_defaults();
  return describe(options_of(choices));
}

} // namespace rafter::bench
