// SPDX-License-Identifier: BSD-3-Clause
#include <bench/poisson_solve.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <bench/mesh_file.hpp>
#include <bench/operators.hpp>
#include <bench/timed_solve.hpp>
#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/device/device.hpp>

namespace rafter::bench {
namespace {

/// The cells of a box have a shape, and there are so many unknowns of degree p in each cube: cube_dofs p^dim.
struct BoxShape {
  const char *name, *shape;
  int dim;
  double cube_dofs = 1;
};
constexpr std::array box_shapes{BoxShape{"hexahedra", "hexahedron", 3}, BoxShape{"tetrahedra", "tetrahedron", 3},
                                BoxShape{"prisms", "prism", 3},         BoxShape{"pyramids", "pyramid", 3, 2},
                                BoxShape{"mixed", "mixed", 3},          BoxShape{"quadrilaterals", "quadrilateral", 2},
                                BoxShape{"triangles", "triangle", 2}};
std::vector<std::string> shape_names() {
  std::vector<std::string> names;
  for (const auto& shape : box_shapes) names.emplace_back(shape.name);
  return names;
}

struct PoissonSolveChoices {
  Settings common;
  std::vector<std::string> shapes;
};
PoissonSolveChoices poisson_solve_defaults() {
  PoissonSolveChoices choices;
  choices.shapes = shape_names();
  for (const char* without_coarser_meshes : {"pyramids", "mixed"}) std::erase(choices.shapes, without_coarser_meshes);
  choices.common.degrees = {1, 2, 4, 8};
  choices.common.million_dofs = {0.1};
  choices.common.sampling.rounds = 5;
  return choices;
}
std::vector<Option> options_of(PoissonSolveChoices& choices) {
  std::vector<Option> options{names_option("--geometry", "cells of the square or cube", choices.shapes, shape_names())};
  options.push_back(device_option(choices.common));
  for (auto& option : common_options(choices.common, true)) options.push_back(std::move(option));
  return options;
}

Layout poisson_solve_layout(bool has_mesh) {
  return {.suite = "poisson-solve",
          .title = "Poisson's equation with multigrid, whole solves",
          .columns = {has_mesh ? cells_column() : Column{"geometry", {"cells", "of the box: shape"}, "{:<14}"},
                      degree_column(),
                      dofs_column(),
                      iterations_column(),
                      end_column(),
                      {"mdofs_per_second", {"MDoF/s", "10^6 unknowns solved per second"}, "{:7.2f}"},
                      spread_column(),
                      {"nanoseconds_per_unknown", {"ns/DoF", "time of a solve per unknown"}, "{:7.0f}"},
                      {"solve_applications", {"solve/A", "time of a solve in applications of the operator"}, "{:7.0f}"},
                      {"setup_applications", {"setup/A", "that of its set-up: spaces to coarse solver"}, "{:7.0f}"},
                      bytes_per_unknown_column(),
                      share_column()},
          .tables = {{"levels and phases",
                      {{"num_levels", {"levels", "of multigrid"}, "{:6}"},
                       {"finest_applications", {"applications", "of the finest operator in a solve"}, "{:12}"},
                       {"operator_share", {"operators %", "of the solve, all levels"}, "{:11.0f}", 100},
                       {"mesh_seconds", {"mesh s", "all generations; no part of the set-up"}, "{:7.3f}"},
                       {"spaces_seconds", {"spaces s", "order of cells, numbering"}, "{:8.3f}"},
                       {"form_seconds", {"form s", "data of the operator, right-hand side"}, "{:7.3f}"},
                       {"preconditioner_seconds", {"multigrid s", "levels, smoothers, coarse factors"}, "{:11.3f}"},
                       {"seconds", {"solve s", "iteration"}, "{:8.3f}"},
                       {"kernels_seconds", {"kernels s", "planning and loading kernels, before the rest"}, "{:9.2f}"},
                       memory_column()}}},
          .identity = {"geometry", "degree", "dofs"},
          .figure = "mdofs_per_second"};
}

/// Returns the number of cubes along an edge for about so many unknowns: a few cubes, halved as often as possible.
int cubes_along_edge(const BoxShape& shape, int degree, double dofs) {
  constexpr int few = 4;
  const double cubes = std::pow(dofs / shape.cube_dofs, 1.0 / shape.dim) / degree;
  int step = 1;
  while (cubes / (2 * step) >= few) step *= 2;
  return std::max(shape.shape == std::string_view("mixed") ? 4 : 2, step * static_cast<int>(std::round(cubes / step)));
}

SolveProblem make_problem(const BoxShape* shape, int degree, double dofs, const MeshFile* file) {
  const auto make_meshes = [&] {
    if (file != nullptr) return file->generations;
    const auto dim = static_cast<std::size_t>(shape->dim);
    return std::make_shared<const mesh::Generations>(
        mesh::box_generations({.cells = std::vector<int>(dim, cubes_along_edge(*shape, degree, dofs)),
                               .size = std::vector<double>(dim, 1.0),
                               .shape = shape->shape}));
  };
  return {.meshes = make_meshes(),
          .degree = degree,
          .components = 0,
          .form = "inner(grad(u), grad(v))*dx",
          .load = "v*dx",
          .add_names = {},
          .fixed_tags = {},
          .quadrature = {}};
}

Json make_row(const std::string& name, const BoxShape* shape, int degree, double dofs,
              const PoissonSolveChoices& choices, const Report& report, const std::shared_ptr<device::Device>& device) {
  Json row{{"geometry", name}};
  row.update(solve_row([&] { return make_problem(shape, degree, dofs, choices.common.mesh.get()); },
                       {.preconditioner = "multigrid", .plan = "", .max_iterations = 0}, device, report.machine(),
                       choices.common));
  const auto number = [&row](const char* key) { return row[key].get<double>(); };
  row["nanoseconds_per_unknown"] = 1e9 * number("seconds") / number("dofs");
  row["solve_applications"] = number("seconds") / number("application_seconds");
  row["setup_applications"] = (number("spaces_seconds") + number("form_seconds") + number("preconditioner_seconds")) /
                              number("application_seconds");
  row["operator_share"] = number("operator_seconds") / number("seconds");
  row["share"] = number("bound_seconds") / number("seconds");
  return row;
}

std::vector<report::Plot> plots_of(const Report& report, const PoissonSolveChoices& choices) {
  const bool is_over_size = choices.common.million_dofs.size() > 1;
  const report::PlotAxis x{is_over_size ? "unknowns" : "degree", is_over_size, !is_over_size};
  const auto by = is_over_size ? std::vector<std::string>{"geometry", "degree"} : std::vector<std::string>{"geometry"};
  const std::string key = is_over_size ? "dofs" : "degree";
  auto rates = series(report.rows(), by, key, "mdofs_per_second");
  auto iterations = series(report.rows(), by, key, "iterations");
  const report::PlotAxis rate{"MDoF/s", true}, count{"iterations"};
  return {{"unknowns solved per second", x, rate, std::move(rates)}, {"iterations", x, count, std::move(iterations)}};
}

} // namespace

int run_poisson_solve(std::span<const std::string> arguments) {
  PoissonSolveChoices choices = poisson_solve_defaults();
  const auto given = parse("poisson-solve", arguments, options_of(choices));
  const std::vector<std::string> of_boxes{"--geometry"};
  read_mesh_file("poisson-solve", choices.common, given, of_boxes);
  const bool has_mesh = choices.common.mesh != nullptr;
  require_sizes("poisson-solve", choices.common);
  const auto device =
      device::make_device(choices.common.device, choices.common.threads); // a wrong one is refused at once
  Report report(poisson_solve_layout(has_mesh), choices.common, arguments);
  const auto add_rows = [&](const std::string& name, const BoxShape* shape) {
    for (const int degree : choices.common.degrees)
      for (const double size : choices.common.million_dofs)
        report.add(make_row(name, shape, degree, 1e6 * size, choices, report, device));
  };
  if (has_mesh) add_rows(choices.common.mesh->name, nullptr);
  for (const auto& shape : box_shapes)
    if (!has_mesh && std::ranges::find(choices.shapes, shape.name) != choices.shapes.end())
      add_rows(shape.name, &shape);
  return report.finish(plots_of(report, choices));
}

std::string poisson_solve_options() {
  PoissonSolveChoices choices = poisson_solve_defaults();
  return describe(options_of(choices));
}

} // namespace rafter::bench
