// SPDX-License-Identifier: BSD-3-Clause
#include <bench/gathers.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>

#include <bench/measured.hpp>
#include <bench/mesh_file.hpp>
#include <bench/operators.hpp>
#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/device/device.hpp>
#include <rafter/machine/roofline.hpp>
#include <rafter/space/cell_vectors.hpp>

namespace rafter::bench {

PlainLoop::PlainLoop(const space::FunctionSpace& space) {
  const auto broken = space::make_broken(space);
  std::vector<double> entries(static_cast<std::size_t>(space.num_local()));
  std::iota(entries.begin(), entries.end(), 0.0);
  std::vector<double> of_cells(static_cast<std::size_t>(broken->num_local()));
  space::gather_cells(space, *broken, entries, of_cells);
  list_.assign(of_cells.begin(), of_cells.end());
  int num_dofs = 1;
  for (std::size_t b = 0; b < space.batches().blocks.size(); ++b)
    num_dofs = std::max(num_dofs, space.block(static_cast<int>(b)).layout.element->num_dofs());
  of_batch_ = static_cast<std::size_t>(num_dofs * space.num_components() * space.batches().cells_per_batch);
}

void PlainLoop::apply(std::span<const double> x, std::span<double> y) const {
  std::vector<double> numbers(of_batch_);
  for (std::size_t begin = 0; begin < list_.size(); begin += of_batch_) {
    const auto batch = std::span(list_).subspan(begin, std::min(of_batch_, list_.size() - begin));
    for (std::size_t i = 0; i < batch.size(); ++i) numbers[i] = x[static_cast<std::size_t>(batch[i])];
    for (std::size_t i = 0; i < batch.size(); ++i) y[static_cast<std::size_t>(batch[i])] += numbers[i];
  }
}

namespace {

constexpr const char* suite_name = "gathers";

struct GathersChoices {
  Settings common;
  std::vector<std::string> cases{"bp3"}, geometries{"tetrahedra"};
  std::string plan;
};

GathersChoices gathers_defaults() {
  GathersChoices choices;
  choices.common.degrees = {1, 2, 3, 4};
  return choices;
}

std::vector<Option> options_of(GathersChoices& choices) {
  std::vector<Option> options{
      names_option("--cases", "operators", choices.cases, names_of(bake_off_cases())),
      names_option("--geometry", "cells of the square or cube", choices.geometries, geometry_names()),
      text_option("--plan", "TEXT", "plan of all kernels instead of the planner's", choices.plan)};
  for (auto& option : common_options(choices.common)) options.push_back(std::move(option));
  return options;
}

Measured measured_with(const std::shared_ptr<const op::Operator>& A) {
  auto result = measured(*A);
  result.apply = [A](const op::Vector& x, op::Vector& y) { A->apply(x, y); };
  return result;
}

/// The same as one that has vectors of its own, since all that is timed side by side is called with those of the first.
Measured with_own_vectors(Measured A) {
  struct Vectors {
    op::Vector x, y;
  };
  const auto own = std::make_shared<Vectors>(
      Vectors{{A.device, static_cast<std::size_t>(A.size)}, {A.device, static_cast<std::size_t>(A.size)}});
  fill(own->x);
  fill(own->y);
  A.apply = [apply = std::move(A.apply), own](const op::Vector&, op::Vector&) { apply(own->x, own->y); };
  return A;
}

Measured measured_loop(const space::FunctionSpace& space, const std::shared_ptr<device::Device>& device) {
  const auto loop = std::make_shared<const PlainLoop>(space);
  const auto vector_bytes = 8.0 * static_cast<double>(space.num_local());
  machine::Counts counts;
  counts.global_bytes_read = 2 * vector_bytes + 4.0 * static_cast<double>(loop->num_indices());
  counts.global_bytes_written = vector_bytes;
  return {.apply = [loop](const op::Vector& x, op::Vector& y) { loop->apply(x.host_read(), y.host_write()); },
          .size = space.num_local(),
          .device = device,
          .counts = counts,
          .kernels = {}};
}

Json row_of(const Case& problem, const SpaceChoice& choice, const std::string& plan, const machine::Machine& machine,
            const Settings& settings) {
  const auto device = device::make_device("host", settings.threads);
  const auto space = make_space(problem, choice);
  const OperatorChoice planned{.plan = plan};
  const auto make = [&](const std::shared_ptr<const space::FunctionSpace>& on) {
    return measured_with(std::make_shared<const op::Operator>(make_operator(problem, on, device, planned)));
  };
  const std::array all{make(space), with_own_vectors(make(space::make_broken(*space))),
                       with_own_vectors(measured_loop(*space, device))};
  const auto rows = measure(all, *space, machine, settings);
  Json row{{"case", problem.name}, {"geometry", choice.geometry}};
  row.update(rows[0]);
  const auto relative = [&](std::size_t i) { return rows[i].at("relative_seconds").get<double>(); };
  row["kernel_mdofs_per_second"] = rows[1].at("mdofs_per_second");
  row["kernel_share"] = rows[1].at("share");
  row["kernel_resident"] = rows[1].at("resident");
  row["kernel_plan"] = rows[1].at("plan");
  row["loop_mdofs_per_second"] = rows[2].at("mdofs_per_second");
  row["ratio_to_parts"] = 1 / (relative(1) + relative(2));
  return row;
}

Layout gathers_layout(bool has_mesh) {
  Layout layout{
      .suite = suite_name,
      .title = "global vector to global vector, beside its parts: cells alone, and a loop that gathers and adds alone",
      .columns = {{"case", {"case", "bake-off problem"}, "{:<10}"},
                  has_mesh ? cells_column() : Column{"geometry", {"cells", "of the cube: kind of geometry"}, "{:<15}"}},
      .identity = {"case", "geometry", "degree", "dofs"},
      .figure = "mdofs_per_second"};
  for (auto& column : {degree_column(), dofs_column(), rate_column(), spread_column(), share_column()})
    layout.columns.push_back(column);
  layout.columns.push_back(
      {"kernel_mdofs_per_second", {"kernel", "MDoF/s of the same form from cell vector to cell vector"}, "{:7.1f}"});
  layout.columns.push_back({"kernel_share", {"its share", "% of its bound, as `share %`"}, "{:9.0f}", 100});
  layout.columns.push_back(
      {"loop_mdofs_per_second", {"loop", "MDoF/s of the loop that only gathers and adds"}, "{:7.1f}"});
  layout.columns.push_back({"ratio_to_parts", {"ratio", "time over that of kernel and loop together"}, "{:5.2f}"});
  layout.tables.push_back(counts_table());
  return layout;
}

} // namespace

int run_gathers(std::span<const std::string> arguments) {
  GathersChoices choices = gathers_defaults();
  const auto given = parse(suite_name, arguments, options_of(choices));
  if (choices.common.threads != 1)
    throw base::InputError(
        fmt::format("bench {}: --threads {}: the plain loop has one", suite_name, choices.common.threads));
  const int cells_per_batch = op::cells_per_batch(choices.plan);
  const std::vector<std::string> of_boxes{"--geometry"};
  read_mesh_file(suite_name, choices.common, given, of_boxes);
  if (choices.common.mesh != nullptr) choices.geometries = {choices.common.mesh->name};
  Report report(gathers_layout(choices.common.mesh != nullptr), choices.common, arguments);
  const auto device = device::make_device("host", 1);
  for (const auto& case_name : choices.cases)
    for (const auto& geometry : choices.geometries)
      for (const int degree : choices.common.degrees)
        for (const double size : choices.common.million_dofs) {
          const auto& problem = find_case(bake_off_cases(), case_name);
          SpaceChoice choice{.degree = degree,
                             .million_dofs = size,
                             .geometry = geometry,
                             .cells_per_batch = cells_per_batch,
                             .mesh = mesh_of(choices.common)};
          if (size == 0) choice.million_dofs = beyond_caches(problem, choice, report.machine(), device);
          report.add(row_of(problem, choice, choices.plan, report.machine(), choices.common));
        }
  const std::vector<std::string> by{"case", "geometry"};
  const std::array plots{report::Plot{"time over that of kernel and loop",
                                      {"degree", false, true},
                                      {"ratio"},
                                      series(report.rows(), by, "degree", "ratio_to_parts")}};
  return report.finish(plots);
}

std::string gathers_options() {
  GathersChoices choices = gathers_defaults();
  return describe(options_of(choices));
}

} // namespace rafter::bench
