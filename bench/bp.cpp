// SPDX-License-Identifier: BSD-3-Clause
#include <bench/bp.hpp>

#include <array>

#include <bench/mesh_file.hpp>
#include <bench/operators.hpp>
#include <bench/peers.hpp>
#include <fmt/format.h>
#include <rafter/base/memory.hpp>
#include <rafter/device/device.hpp>

namespace rafter::bench {
namespace {

/// Only these data distinguish the suites bp and bk.
struct Kind {
  const char *suite, *title;
  bool is_broken;
  std::vector<std::string> cases;
};
Kind bp() {
  return {"bp", "bake-off problems, global vector to global vector", false, {"bp1", "bp3", "bp5", "elasticity"}};
}
Kind bk() {
  return {"bk",
          "bake-off kernels, cell vector to cell vector; unknowns: those of a mesh without boundary",
          true,
          {"bp1", "bp2", "bp3", "bp4", "bp5", "bp6"}};
}

struct BpChoices {
  Settings common;
  std::vector<std::string> cases, geometries{"cartesian"};
  std::string plan;
  int num_applications = 1000;
};

std::vector<Option> options_of(const Kind& kind, BpChoices& choices) {
  std::vector<Option> options{
      names_option("--cases", "operators", choices.cases, names_of(bake_off_cases())),
      names_option("--geometry", "cells of the square or cube", choices.geometries, geometry_names()),
      text_option("--plan", "TEXT", "plan of all kernels instead of the planner's", choices.plan),
      device_option(choices.common)};
  if (!kind.is_broken)
    options.push_back(integer_option("--applications",
                                     "applications that pay the set-up of an assembled matrix off; 0: none",
                                     choices.num_applications, 0, 1'000'000'000));
  for (auto& option : common_options(choices.common)) options.push_back(std::move(option));
  return options;
}

BpChoices bp_defaults(const Kind& kind) {
  BpChoices choices;
  choices.cases = kind.cases;
  choices.common.degrees = {2, 4};
  return choices;
}

/// Figures of other libraries are those of one core.
void add_peer(Json& row, const machine::Machine& machine, int threads) {
  const auto rate = peer_rate(row.at("geometry").get<std::string>(), row.at("case").get<std::string>(),
                              row.at("degree").get<int>(), machine);
  if (!rate) return;
  row["peer_mdofs_per_second_scaled"] = *rate * threads;
  row["ratio_to_peer"] = row["mdofs_per_second"].get<double>() / (*rate * threads);
}

Layout layout_of(const Kind& kind, bool has_mesh) {
  Layout layout{
      .suite = kind.suite,
      .title = kind.title,
      .columns = {{"case", {"case", "bake-off problem"}, "{:<10}"},
                  has_mesh ? cells_column() : Column{"geometry", {"cells", "of the cube: kind of geometry"}, "{:<21}"}},
      .identity = {"case", "geometry", "degree", "dofs"},
      .figure = "mdofs_per_second"};
  for (auto& column : measured_columns()) layout.columns.push_back(std::move(column));
  layout.tables.push_back(counts_table());
  if (kind.is_broken || has_mesh) return layout; // figures of others are those of boxes
  layout.columns.push_back({"peer_mdofs_per_second_scaled",
                            {"peer", "best MDoF/s of other libraries on another machine, scaled by peak rates"},
                            "{:6.1f}"});
  layout.columns.push_back({"ratio_to_peer", {"ratio", "MDoF/s over the peer's"}, "{:5.2f}"});
  return layout;
}

/// Plots rates over degrees, or over sizes if there are several.
std::vector<report::Plot> plots_of(const Report& report, const BpChoices& choices, const std::string& title) {
  const bool is_over_size = choices.common.million_dofs.size() > 1;
  const report::PlotAxis x{is_over_size ? "unknowns" : "degree", is_over_size, !is_over_size};
  const auto by = is_over_size ? std::vector<std::string>{"case", "geometry", "degree"}
                               : std::vector<std::string>{"case", "geometry"};
  return {{title, x, {"MDoF/s"}, series(report.rows(), by, is_over_size ? "dofs" : "degree", "mdofs_per_second")},
          {"share of the roofline",
           x,
           {"bound / time"},
           series(report.rows(), by, is_over_size ? "dofs" : "degree", "share")}};
}

int run(const Kind& kind, std::span<const std::string> arguments) {
  BpChoices choices = bp_defaults(kind);
  const auto given = parse(kind.suite, arguments, options_of(kind, choices));
  const int threads = choices.common.threads;
  const int cells_per_batch = op::cells_per_batch(choices.plan); // a wrong plan is refused before anything is measured
  const std::vector<std::string> of_boxes{"--geometry"};
  read_mesh_file(kind.suite, choices.common, given, of_boxes);
  const bool has_mesh = choices.common.mesh != nullptr;
  if (has_mesh) choices.geometries = {choices.common.mesh->name};
  const auto device = device::make_device(choices.common.device, threads); // a wrong one is refused at once
  Report report(layout_of(kind, has_mesh), choices.common, arguments);
  for (const auto& name : choices.cases)
    for (const auto& geometry : choices.geometries)
      for (const int degree : choices.common.degrees)
        for (const double size : choices.common.million_dofs) {
          const base::MemoryGrowth memory;
          const auto& problem = find_case(bake_off_cases(), name);
          SpaceChoice choice{.degree = degree,
                             .million_dofs = size,
                             .geometry = geometry,
                             .is_broken = kind.is_broken,
                             .cells_per_batch = cells_per_batch,
                             .mesh = mesh_of(choices.common)};
          if (size == 0) choice.million_dofs = beyond_caches(problem, choice, report.machine(), device);
          const auto space = make_space(problem, choice);
          const auto A =
              make_operator(problem, space, device,
                            {.plan = choices.plan,
                             .num_applications = kind.is_broken ? 0.0 : static_cast<double>(choices.num_applications)});
          Json row{{"case", name}, {"geometry", geometry}};
          row.update(measure(std::array{&A}, *space, report.machine(), choices.common).front());
          add_memory(row, memory.peak_bytes());
          if (!kind.is_broken && !has_mesh && choices.common.device == "host") add_peer(row, report.machine(), threads);
          report.add(std::move(row));
        }
  return report.finish(plots_of(report, choices, kind.title));
}

std::string describe_options(const Kind& kind) {
  BpChoices choices = bp_defaults(kind);
  return describe(options_of(kind, choices));
}

} // namespace

int run_bp(std::span<const std::string> arguments) { return run(bp(), arguments); }
int run_bk(std::span<const std::string> arguments) { return run(bk(), arguments); }
std::string bp_options() { return describe_options(bp()); }
std::string bk_options() { return describe_options(bk()); }

} // namespace rafter::bench
