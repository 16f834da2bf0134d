// SPDX-License-Identifier: BSD-3-Clause
#include <bench/first_order.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include <bench/operators.hpp>
#include <bench/published_first_order.hpp>
#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/sampling.hpp>
#include <rafter/device/device.hpp>
#include <rafter/device/finish.hpp>
#include <rafter/form/language.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/form/scope.hpp>
#include <rafter/kernel/qfunction.hpp>
#include <rafter/mesh/cell_tags.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::bench {
namespace {

/// Left sides of the paper: the Laplacian, which has no coefficients, and all terms of convection, diffusion and
/// reaction with coefficients that each cell has for itself.
struct LeftSide {
  const char *name, *form;
  int coefficients; ///< numbers per cell
};
constexpr std::array left_sides{
    LeftSide{"poisson", "s*inner(grad(u), grad(v))*dx", 0},
    LeftSide{
        "convection",
        "s*(inner(dot([[c0, c1, c2], [c3, c4, c5], [c6, c7, c8]], grad(u)), grad(v)) + dot([c9, c10, c11], grad(u))*v "
        "+ u*dot([c12, c13, c14], grad(v)) + c15*u*v)*dx",
        16}};

struct LoopVariant {
  const char *order, *derivatives;
};
constexpr std::array loop_variants{LoopVariant{"tables", "ahead"}, LoopVariant{"qss", "ahead"},
                                   LoopVariant{"qss", "inside"},   LoopVariant{"sqs", "ahead"},
                                   LoopVariant{"sqs", "inside"},   LoopVariant{"ssq", "ahead"},
                                   LoopVariant{"ssq", "inside"}};
constexpr std::array published_orders{"qss", "sqs", "ssq"};

std::vector<std::string> left_side_names() {
  std::vector<std::string> result;
  for (const auto& problem : left_sides) result.emplace_back(problem.name);
  return result;
}

struct FirstOrderChoices {
  Settings common;
  std::vector<std::string> cases = left_side_names(), geometries{"curved-tetrahedra", "curved-prisms"};
};
FirstOrderChoices first_order_defaults() {
  FirstOrderChoices choices;
  choices.common.degrees = {1};
  choices.common.million_dofs = {0.17};
  return choices;
}
std::vector<Option> options_of(FirstOrderChoices& choices) {
  std::vector<Option> options{names_option("--cases", "left sides", choices.cases, left_side_names()),
                              names_option("--geometry", "cells of the cube", choices.geometries, geometry_names())};
  for (auto& option : common_options(choices.common)) options.push_back(std::move(option));
  std::erase_if(options, [](const Option& option) { return option.key == "--mesh" || option.key == "--refine"; });
  return options;
}

Layout first_order_layout() {
  return {
      .suite = "first-order",
      .title = "matrices of cells, computed and stored in all orders of the loops",
      .columns = {{"case", {"case", "cells and left side"}, "{:<22}"},
                  degree_column(),
                  {"order", {"order", "loops over points (q) and functions (s), or tables of products"}, "{:<6}"},
                  {"derivatives",
                   {"deriv.", "physical derivatives of all functions ahead of the loops, or inside them"},
                   "{:<6}"},
                  {"operations", {"flop", "operations that are executed for a cell"}, "{:6.0f}"},
                  {"accesses", {"words", "numbers that are read and written for a cell"}, "{:5.0f}"},
                  {"ns", {"ns", "nanoseconds for a cell"}, "{:7.2f}"},
                  spread_column(),
                  {"bound_ns",
                   {"bound", "larger of words over the rate of STREAM and operations over the peak"},
                   "{:6.2f}"},
                  {"share", {"share", "bound over time, in %"}, "{:5.1f}", 100},
                  {"best", {"best", "*: fastest of its case"}, "{:<4}"},
                  {"paper_ns", {"Xeon", "nanoseconds that are published for twelve cores of Xeon E5-2620"}, "{:>7}"}},
      .tables =
          {{"operations and words that are published",
            {{"paper_core_ns", {"a core", "nanoseconds on a core of Xeon E5-2620: twelve times those of all"}, "{:>7}"},
             {"paper_operations", {"flop", "table 4"}, "{:>6}"},
             {"paper_accesses", {"words", "table 4, with the load vector"}, "{:>5}"},
             {"paper_phi_ns", {"Phi", "nanoseconds on a Xeon Phi 5110P, table 7"}, "{:>7}"},
             {"paper_kepler_ns", {"K20m", "nanoseconds on a Tesla K20m, table 7"}, "{:>7}"}}}},
      .identity = {"case", "degree", "order", "derivatives"},
      .figure = "mcells_per_second"};
}

/// Every cell has one of a few sets of coefficients, and numbers of its own in memory.
constexpr int num_coefficient_sets = 5;

std::shared_ptr<const mesh::Mesh> tagged_mesh(const std::shared_ptr<const space::FunctionSpace>& space) {
  auto result = std::make_shared<mesh::Mesh>(space->mesh());
  for (auto& group : result->groups) {
    std::vector<std::int32_t> tags;
    for (std::int64_t cell = 0; cell < group.num_cells(); ++cell)
      tags.push_back(static_cast<std::int32_t>(cell % num_coefficient_sets) + 1);
    group.tags = mesh::CellTags(std::move(tags));
  }
  return result;
}

form::Form make_left_side(const LeftSide& problem, const std::shared_ptr<const space::FunctionSpace>& space) {
  form::Scope scope(space->mesh().gdim);
  const std::shared_ptr<const form::FieldSpace> unknown = space;
  scope.add("u", form::trial_function(unknown));
  scope.add("v", form::test_function(unknown));
  scope.add("s", form::parameter("s"));
  for (int c = 0; c < problem.coefficients; ++c) {
    std::vector<std::pair<std::string, double>> values;
    const bool is_on_diagonal = c == 0 || c == 4 || c == 8;
    for (int tag = 1; tag <= num_coefficient_sets; ++tag)
      values.emplace_back(std::to_string(tag), (is_on_diagonal ? 3.0 : 0.1) + 0.01 * (tag + c));
    const auto name = fmt::format("c{}", c);
    scope.add(name, form::by_tag(name, std::move(values)));
  }
  return form::parse_form(problem.form, scope);
}

/// Numbers that a cell's matrix takes beside itself: its map or nodes, and coefficients.
double words_read(const op::GeneratedForm& built, int coefficients) {
  const auto& block = built.blocks.front();
  const auto& group = built.system.mesh->groups[static_cast<std::size_t>(block.cells.group)];
  const int dim = built.system.mesh->gdim;
  const auto geometry = block.cells.map == mesh::MapKind::isoparametric
                            ? mesh::geometry_element(group)->num_dofs()
                            : static_cast<int>(kernel::map_modes(block.cells.map, dim).size());
  return geometry * dim + coefficients;
}

/// The figures of a variant that are published, if any.
void add_published(Json& row, const std::string& name, const std::string& order, int degree) {
  for (const char* key :
       {"paper_ns", "paper_core_ns", "paper_operations", "paper_accesses", "paper_phi_ns", "paper_kepler_ns"})
    row[key] = "-";
  const auto found = std::ranges::find_if(published_integration, [&](const auto& of) { return of.problem == name; });
  const auto place = std::ranges::find(published_orders, order);
  if (found == published_integration.end() || place == published_orders.end() || degree != 1) return;
  const auto i = static_cast<std::size_t>(place - published_orders.begin());
  row["paper_ns"] = found->xeon_ns[i];
  row["paper_core_ns"] = std::round(found->xeon_ns[i] * published_xeon_cores); // three digits are published
  row["paper_operations"] = found->operations[i];
  row["paper_accesses"] = found->accesses;
  row["paper_phi_ns"] = found->phi_ns[i];
  row["paper_kepler_ns"] = found->kepler_ns[i];
}

void measure_case(Report& report, const FirstOrderChoices& choices, const LeftSide& problem, const SpaceChoice& choice,
                  const std::shared_ptr<device::Device>& device) {
  const Case of_space{.name = problem.name, .description = {}, .form = {}};
  SpaceChoice tagged = choice;
  tagged.mesh = tagged_mesh(make_space(of_space, choice));
  const auto space = make_space(of_space, tagged);
  const auto& group = space->mesh().groups.front();
  const auto name = fmt::format("{}-{}", element::name(group.shape), problem.name);
  const auto form = make_left_side(problem, space);
  std::vector<op::Operator> operators;
  for (const auto& variant : loop_variants) {
    operators.emplace_back(form,
                           op::OperatorOptions{.shared_device = device,
                                               .plan = fmt::format("contraction=cell-matrices order={} derivatives={}",
                                                                   variant.order, variant.derivatives)});
    operators.back().set("s", 1.0);
    operators.back().refresh();
  }
  std::vector<const op::Operator*> all;
  for (const auto& A : operators) all.push_back(&A);
  constexpr double bound = 1e-10;
  const auto different = differences(all);
  for (std::size_t v = 0; v < different.size(); ++v)
    if (!(different[v] < bound))
      throw base::InternalError(fmt::format("bench first-order: order={} derivatives={} differs by {}",
                                            loop_variants[v].order, loop_variants[v].derivatives, different[v]));
  std::vector<std::function<void()>> calls;
  for (auto& A : operators)
    calls.emplace_back([&A, value = 1.0]() mutable { // another value, so that matrices are computed again
      A.set("s", value = value == 1 ? 2 : 1);
      A.refresh();
    });
  const int threads = choices.common.threads;
  auto sampling = choices.common.sampling;
  sampling.threads = threads;
  if (!device->shares_host_memory()) sampling.finish = [&] { device::finish(*device); };
  const auto samples = base::sample(calls, sampling);

  // Equal cells share what set-up stores: those count whose matrices are computed.
  const auto& block = operators.front().built().blocks.front();
  const auto cells = std::min(static_cast<double>(group.num_cells()),
                              static_cast<double>(block.rows.count()) * block.cells.cells_per_batch);
  const auto& machine = report.machine();
  std::vector<Json> rows;
  for (std::size_t v = 0; v < loop_variants.size(); ++v) {
    const auto& built = operators[v].built();
    const auto& programs = built.blocks.front().kernel.programs;
    const auto timing = base::timing_of(samples[v]);
    const double words = words_read(built, problem.coefficients) + programs.stored_cell_slots;
    const double memory = 8 * words / machine.rate(machine.memory().triad, threads),
                 arithmetic = programs.setup_flops / machine.peak_flops(threads);
    const double bound_ns = 1e9 * std::max(memory, arithmetic);
    Json row{{"case", name},
             {"degree", choice.degree},
             {"order", loop_variants[v].order},
             {"derivatives", loop_variants[v].derivatives},
             {"number", v + 1},
             {"cells", group.num_cells()},
             {"operations", programs.setup_flops},
             {"accesses", words},
             {"ns", 1e9 * timing.median / cells},
             {"seconds", timing.median},
             {"bound_seconds", 1e-9 * bound_ns * cells},
             {"mcells_per_second", 1e-6 * cells / timing.median},
             {"spread", timing.spread()},
             {"bound_ns", bound_ns},
             {"limited_by", memory > arithmetic ? "memory" : "compute"},
             {"share", bound_ns / (1e9 * timing.median / cells)},
             {"best", ""}};
    add_published(row, name, loop_variants[v].order, choice.degree);
    rows.push_back(std::move(row));
  }
  auto& best = *std::ranges::min_element(rows, {}, [](const Json& row) { return row["ns"].get<double>(); });
  best["best"] = "*";
  for (auto& row : rows) report.add(std::move(row));
}

} // namespace

int run_first_order(std::span<const std::string> arguments) {
  FirstOrderChoices choices = first_order_defaults();
  parse("first-order", arguments, options_of(choices));
  const auto device = device::make_device(choices.common.device, choices.common.threads);
  Report report(first_order_layout(), choices.common, arguments);
  for (const auto& geometry : choices.geometries)
    for (const auto& problem : left_sides) {
      if (std::ranges::find(choices.cases, problem.name) == choices.cases.end()) continue;
      for (const int degree : choices.common.degrees)
        for (const double size : choices.common.million_dofs)
          measure_case(report, choices, problem, {.degree = degree, .million_dofs = size, .geometry = geometry},
                       device);
    }
  const std::array plots{report::Plot{"share of the bound, in the order of the table",
                                      {"variant", false, true},
                                      {"bound / time"},
                                      series(report.rows(), {"case"}, "number", "share")}};
  return report.finish(plots);
}

std::string first_order_options() {
  FirstOrderChoices choices = first_order_defaults();
  return describe(options_of(choices));
}

} // namespace rafter::bench
