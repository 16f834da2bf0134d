// SPDX-License-Identifier: BSD-3-Clause
#include <bench/storages.hpp>

#include <array>

#include <bench/mesh_file.hpp>
#include <bench/operators.hpp>
#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/device/device.hpp>
#include <rafter/problem/storage_ways.hpp>

namespace rafter::bench {
namespace {

struct StorageChoices {
  Settings common;
  std::vector<std::string> cases{"bp3"}, geometries{"tetrahedra", "deformed"}, ways = problem::storage_way_names();
};
StorageChoices storage_defaults() {
  StorageChoices choices;
  choices.common.degrees = {1, 2};
  return choices;
}
std::vector<Option> options_of(StorageChoices& choices) {
  std::vector<Option> options{
      names_option("--cases", "operators", choices.cases, names_of(bake_off_cases())),
      names_option("--geometry", "cells of the square or cube", choices.geometries, geometry_names()),
      names_option("--ways", "what of the operator is stored", choices.ways, problem::storage_way_names())};
  for (auto& option : common_options(choices.common)) options.push_back(std::move(option));
  return options;
}

Layout storage_layout(bool has_mesh) {
  return {
      .suite = "storages",
      .title = "ways to store an operator, side by side",
      .columns = {{"case", {"case", "operator"}, "{:<10}"},
                  has_mesh ? cells_column() : Column{"geometry", {"cells", "of the cube"}, "{:<13}"},
                  {"way",
                   {"stored", "the matrix, the matrices of cells, the factors of the form at points, or nothing"},
                   "{:<13}"},
                  degree_column(),
                  dofs_column(),
                  {"setup_ns", {"ns/DoF", "time before the first application for each unknown"}, "{:7.1f}"},
                  rate_column(),
                  spread_column(),
                  {"speed", {"ratio", "rate over that of the first way, median over the rounds"}, "{:6.2f}"},
                  bytes_column(),
                  share_column()},
      .tables = {{"operations", {{"executed_flops_per_dof", {"flop/DoF", "operations that are executed"}, "{:8.1f}"}}}},
      .identity = {"case", "geometry", "way", "degree", "dofs"},
      .figure = "mdofs_per_second"};
}

void measure_ways(Report& report, const StorageChoices& choices, const std::string& name, const std::string& geometry,
                  const SpaceChoice& choice, const std::shared_ptr<device::Device>& device) {
  const auto& problem = find_case(bake_off_cases(), name);
  const auto space = make_space(problem, choice);
  const auto A = make_operator(problem, space, device, {.plan = "factors=recompute-merged"});
  const auto ways = problem::storage_ways(A, choices.ways);
  std::vector<const op::Operator*> operators;
  for (const auto& way : ways) operators.push_back(&way.A);
  if (operators.empty()) return;
  constexpr double bound = 1e-10;
  const auto found = differences(operators);
  for (std::size_t w = 0; w < found.size(); ++w)
    if (!(found[w] < bound))
      throw base::InternalError(
          fmt::format("bench storages: '{}' differs from '{}' by {}", ways[w].name, ways.front().name, found[w]));
  const auto rows = measure(operators, *space, report.machine(), choices.common);
  for (std::size_t w = 0; w < rows.size(); ++w) {
    Json row{{"case", name}, {"geometry", geometry}, {"way", ways[w].name}};
    row.update(rows[w]);
    row["speed"] = 1 / row["relative_seconds"].get<double>();
    row["setup_ns"] = 1e9 * ways[w].setup_seconds / row["dofs"].get<double>();
    report.add(std::move(row));
  }
}

} // namespace

int run_storages(std::span<const std::string> arguments) {
  StorageChoices choices = storage_defaults();
  const auto given = parse("storages", arguments, options_of(choices));
  const std::vector<std::string> of_boxes{"--geometry"};
  read_mesh_file("storages", choices.common, given, of_boxes);
  const bool has_mesh = choices.common.mesh != nullptr;
  if (has_mesh) choices.geometries = {choices.common.mesh->name};
  const auto device = device::make_device(choices.common.device, choices.common.threads);
  Report report(storage_layout(has_mesh), choices.common, arguments);
  for (const auto& name : choices.cases)
    for (const auto& geometry : choices.geometries)
      for (const int degree : choices.common.degrees)
        for (const double size : choices.common.million_dofs) {
          SpaceChoice choice{
              .degree = degree, .million_dofs = size, .geometry = geometry, .mesh = mesh_of(choices.common)};
          if (size == 0)
            choice.million_dofs = beyond_caches(find_case(bake_off_cases(), name), choice, report.machine(), device,
                                                "contraction=cell-matrices");
          measure_ways(report, choices, name, geometry, choice, device);
        }
  const std::array plots{
      report::Plot{"ways to store an operator",
                   {"degree", false, true},
                   {"MDoF/s"},
                   series(report.rows(), {"case", "geometry", "way"}, "degree", "mdofs_per_second")}};
  return report.finish(plots);
}

std::string storages_options() {
  StorageChoices choices = storage_defaults();
  return describe(options_of(choices));
}

} // namespace rafter::bench
