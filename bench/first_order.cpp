// SPDX-License-Identifier: BSD-3-Clause
#include <bench/first_order.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>

#include <bench/first_order_figures.hpp>
#include <bench/first_order_variants.hpp>
#include <bench/operators.hpp>
#include <bench/published_first_order.hpp>
#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/log.hpp>
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
#include <rafter/operator/generate/kernel_target.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/schedule/work_arrays.hpp>
#include <rafter/space/function_space.hpp>
#include <rafter/tune/device_probe.hpp>

namespace rafter::bench {
namespace {

/// Left sides of the paper: the Laplacian, which has no coefficients, and all terms of convection, diffusion and
/// reaction with coefficients that each cell has for itself. The mass matrix beside them is what writes most for what
/// it computes.
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
        16},
    LeftSide{"mass", "s*u*v*dx", 0}};

std::vector<std::string> left_side_names() {
  std::vector<std::string> result;
  for (const auto& problem : left_sides) result.emplace_back(problem.name);
  return result;
}

struct FirstOrderChoices {
  Settings common;
  std::vector<std::string> cases{"poisson", "convection"}, geometries{"curved-tetrahedra", "curved-prisms"};
  std::vector<std::string> variants{"orders"};
};
FirstOrderChoices first_order_defaults() {
  FirstOrderChoices choices;
  choices.common.degrees = {1};
  choices.common.million_dofs = {0.17};
  return choices;
}
std::vector<Option> options_of(FirstOrderChoices& choices) {
  std::vector<Option> options{
      names_option("--cases", "left sides", choices.cases, left_side_names()),
      names_option("--geometry", "cells of the cube", choices.geometries, geometry_names()),
      device_option(choices.common),
      names_option("--variants", "orders of the loops; on devices with groups of items all of their keys, too",
                   choices.variants, {"orders", "all"})};
  for (auto& option : common_options(choices.common)) options.push_back(std::move(option));
  std::erase_if(options, [](const Option& option) { return option.key == "--mesh" || option.key == "--refine"; });
  return options;
}

/// Adds a column for each platform of the paper.
void add_platforms(std::vector<Column>& columns, const std::string& end_of_key, const char* header, const char* meaning,
                   const char* format, double scale = 1) {
  for (const auto& platform : published_platforms)
    columns.push_back(
        {fmt::format("paper_{}_{}", platform.key, end_of_key),
         {fmt::format(fmt::runtime(header), platform.label), fmt::format(fmt::runtime(meaning), platform.name)},
         format,
         scale});
}

Table published_table() {
  Table result{.title = "operations, words and times that are published",
               .columns = {{"paper_operations", {"flop", "table 4"}, "{:6}"},
                           {"paper_accesses", {"words", "table 4, with the load vector"}, "{:5}"}}};
  add_platforms(result.columns, "ns", "{}", "nanoseconds for a cell on {}, table 7", "{:7.2f}");
  result.columns.push_back({"paper_xeon_core_ns",
                            {"a core", "nanoseconds on a core of Xeon E5-2620: twelve times those of all"},
                            "{:7.0f}"});
  return result;
}

Table estimates_table() {
  Table result{.title = "estimates: larger of words over the rate of STREAM and operations over that of DGEMM",
               .columns = {{"estimate_ns", {"ns", "estimate for a cell on this machine"}, "{:7.2f}"},
                           {"estimate_share", {"share", "estimate over time, in %"}, "{:5.1f}", 100}}};
  add_platforms(result.columns, "estimate_ns", "{}", "estimate for {} as table 6 prints it, ns", "{:7.2f}");
  add_platforms(result.columns, "estimate_share", "{} %",
                "share of table 7 on {}: estimate by tables 4 and 5 over time, in %", "{:4.0f}", 100);
  return result;
}

Table memory_table() {
  return {"numbers of a cell, and their way to and from a device",
          {{"input_words", {"in", "numbers that are read from memory: map or nodes, coefficients"}, "{:4.0f}"},
           {"output_words", {"out", "numbers that are written"}, "{:4.0f}"},
           {"work_words", {"work", "numbers in work arrays of a cell"}, "{:5.0f}"},
           {"paper_input_words", {"paper in", "the same in table 3: geometry and coefficients"}, "{:4}"},
           {"paper_output_words", {"out", "the same in table 3: matrix and load vector"}, "{:4}"},
           {"paper_work_words", {"work", "the same in table 3: qss with one point at a time, ssq"}, "{:5}"},
           {"paper_all_points_words", {"all points", "qss with the data of all points"}, "{:5}"},
           {"to_device_ns",
            {"to device", "nanoseconds to copy what is read to a device with memory of its own"},
            "{:7.2f}"},
           {"to_host_ns", {"to host", "nanoseconds to copy what is written from there"}, "{:7.2f}"}}};
}

Table shared_accesses_table() {
  return {"accesses of qss to shared memory in table 4, where one array stands there",
          {{"paper_shared_geometry", {"geometry", "nodes of the cell"}, "{:5}"},
           {"paper_shared_coefficients", {"coefficients", "of the form"}, "{:5}"},
           {"paper_shared_functions", {"functions", "shape functions and their derivatives"}, "{:5}"},
           {"paper_shared_matrix", {"matrix", "matrix and load vector"}, "{:5}"}}};
}

Layout first_order_layout() {
  Layout result{
      .suite = "first-order",
      .title = "matrices of cells, computed and stored in all orders of the loops",
      .columns =
          {{"case", {"case", "cells and left side"}, "{:<22}"},
           degree_column(),
           {"order", {"order", "loops over points (q) and functions (s), or tables of products"}, "{:<6}"},
           {"derivatives",
            {"deriv.", "physical derivatives of all functions ahead of the loops, or inside them"},
            "{:<6}"},
           {"operations", {"flop", "operations that are executed for a cell"}, "{:6.0f}"},
           {"accesses", {"words", "numbers that are read and written for a cell"}, "{:5.0f}"},
           {"ns", {"ns", "nanoseconds for a cell"}, "{:7.2f}"},
           spread_column(),
           {"bound_ns", {"bound", "larger of words over the rate of STREAM and operations over the peak"}, "{:6.2f}"},
           {"share", {"share", "bound over time, in %"}, "{:5.1f}", 100},
           {"estimate_ns",
            {"est.", "estimate: the bound with the rate of dense products in place of the peak"},
            "{:6.2f}"},
           {"best", {"best", "*: fastest of its case"}, "{:<4}"},
           {"paper_xeon_ns", {"Xeon", "nanoseconds that are published for twelve cores of Xeon E5-2620"}, "{:7.2f}"}},
      .tables = {published_table(), estimates_table(), memory_table(), shared_accesses_table()},
      .identity = {"case", "degree", "order", "derivatives"},
      .figure = "mcells_per_second"};
  for (auto& table : best_figure_tables()) result.tables.push_back(std::move(table));
  return result;
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

/// Numbers in the work arrays of a cell, and these arrays.
void add_work_arrays(Json& row, const tune::KernelPrograms& programs) {
  double sum = 0;
  row["work_arrays"] = Json::array();
  for (const auto& array : schedule::work_arrays(schedule::read(programs.setup_loop_program))) {
    const double words = array.bytes / 8 / programs.setup.vector_width; // lanes have a cell each
    sum += words;
    row["work_arrays"].push_back(
        {{"name", array.name}, {"words", words}, {"lives_in", array.loop}, {"in_registers", array.is_in_registers}});
  }
  row["work_words"] = sum;
}

/// The figures of a variant that are published, if any.
void add_published(Json& row, std::size_t problem, std::size_t order) {
  const auto& published = published_integration[problem];
  row["paper_operations"] = published.operations[order];
  row["paper_accesses"] = published.input_words() + published.output_words();
  row["paper_input_words"] = published.input_words();
  row["paper_output_words"] = published.output_words();
  if (published_orders[order] == "ssq") row["paper_work_words"] = published.entry_words;
  if (published_orders[order] == "qss") {
    row["paper_work_words"] = published.point_words;
    row["paper_all_points_words"] = published.all_points_words;
    row["paper_shared_geometry"] = published.shared_geometry;
    row["paper_shared_coefficients"] = published.shared_coefficients;
    row["paper_shared_functions"] = published.shared_functions;
    row["paper_shared_matrix"] = published.shared_matrix;
  }
  for (const auto& platform : published_platforms) {
    const auto key = fmt::format("paper_{}_", platform.key);
    const double ns = platform.times[problem][order];
    row[key + "ns"] = ns;
    row[key + "core_ns"] = platform.rates.cores * ns;
    row[key + "estimate_ns"] = platform.estimates[problem][order];
    row[key + "estimate_share"] = platform.share(problem, order);
  }
}

IntegrationRates rates_of_run(const machine::Machine& machine, const Settings& settings,
                              const std::shared_ptr<device::Device>& device) {
  const bool is_on_host = device->capabilities().description.empty();
  return is_on_host ? rates_of(machine, settings.threads) : rates_of(tune::load_or_probe(device));
}

/// Counts of a variant, and times that follow from them.
IntegrationCounts add_counts(Json& row, const op::GeneratedForm& built, int coefficients,
                             const IntegrationRates& rates) {
  const auto& programs = built.blocks.front().kernel.programs;
  const IntegrationCounts counts{.operations = programs.setup_flops,
                                 .input_words = words_read(built, coefficients),
                                 .output_words = static_cast<double>(programs.stored_cell_slots)};
  const double memory = counts.bytes() / rates.stream_bytes, arithmetic = counts.operations / rates.peak_flops;
  row["operations"] = counts.operations;
  row["accesses"] = counts.input_words + counts.output_words;
  row["input_words"] = counts.input_words;
  row["output_words"] = counts.output_words;
  add_work_arrays(row, programs);
  row["bound_ns"] = 1e9 * std::max(memory, arithmetic);
  row["limited_by"] = memory > arithmetic ? "memory" : "compute";
  if (const auto estimate = estimated_ns(counts, rates)) row["estimate_ns"] = *estimate;
  if (rates.bytes_to_device > 0) {
    row["to_device_ns"] = copy_ns(counts.input_words, rates.bytes_to_device);
    row["to_host_ns"] = copy_ns(counts.output_words, rates.bytes_to_host);
  }
  return counts;
}

void add_times(Json& row, const base::Timing& timing, double cells) {
  const double ns = 1e9 * timing.median / cells, bound_ns = row["bound_ns"].get<double>();
  row["ns"] = ns;
  row["seconds"] = timing.median;
  row["bound_seconds"] = 1e-9 * bound_ns * cells;
  row["mcells_per_second"] = 1e-6 * cells / timing.median;
  row["spread"] = timing.spread();
  row["share"] = bound_ns / ns;
  if (row.contains("estimate_ns")) row["estimate_share"] = row["estimate_ns"].get<double>() / ns;
}

/// What the variants of one case have in common.
struct IntegrationCase {
  const LeftSide& problem;
  const Settings& settings;
  const IntegrationRates& rates;
  std::string name;
  int degree;
  std::shared_ptr<const space::FunctionSpace> space;
  form::Form form;
  std::shared_ptr<device::Device> device;
};

IntegrationCase integration_case(const Settings& settings, const LeftSide& problem, const SpaceChoice& choice,
                                 const std::shared_ptr<device::Device>& device, const IntegrationRates& rates) {
  const Case of_space{.name = problem.name, .description = {}, .form = {}};
  SpaceChoice tagged = choice;
  tagged.mesh = tagged_mesh(make_space(of_space, choice));
  const auto space = make_space(of_space, tagged);
  return {.problem = problem,
          .settings = settings,
          .rates = rates,
          .name = fmt::format("{}-{}", element::name(space->mesh().groups.front().shape), problem.name),
          .degree = choice.degree,
          .space = space,
          .form = make_left_side(problem, space),
          .device = device};
}

/// The operators of the variants that the device can run, whose matrices agree. Warns of others, and leaves them out.
std::vector<op::Operator> make_operators(const IntegrationCase& of, std::vector<IntegrationVariant>& variants) {
  std::vector<op::Operator> operators;
  std::erase_if(variants, [&](const IntegrationVariant& variant) {
    try {
      operators.emplace_back(of.form, op::OperatorOptions{.shared_device = of.device, .plan = variant.plan()});
    } catch (const base::InputError& error) {
      if (variant.items.empty()) throw;
      base::warn(fmt::format("bench first-order: {} without {}: {}", of.name, variant.plan(), error.what()));
      return true;
    }
    operators.back().set("s", 1.0);
    operators.back().refresh();
    return false;
  });
  std::vector<const op::Operator*> all;
  for (const auto& A : operators) all.push_back(&A);
  constexpr double bound = 1e-10;
  const auto different = differences(all);
  for (std::size_t v = 0; v < different.size(); ++v)
    if (!(different[v] < bound))
      throw base::InternalError(fmt::format("bench first-order: {} differs by {}", variants[v].plan(), different[v]));
  return operators;
}

/// Seconds of set-up, shape (variant, round).
std::vector<std::vector<double>> set_up_times(std::vector<op::Operator>& operators, const IntegrationCase& of) {
  std::vector<std::function<void()>> calls;
  for (auto& A : operators)
    calls.emplace_back([&A, value = 1.0]() mutable { // another value, so that matrices are computed again
      A.set("s", value = value == 1 ? 2 : 1);
      A.refresh();
    });
  auto sampling = of.settings.sampling;
  sampling.threads = of.settings.threads;
  if (!of.device->shares_host_memory()) sampling.finish = [&] { device::finish(*of.device); };
  return base::sample(calls, sampling);
}

/// A row of the report, and what its figures follow from.
struct MeasuredVariant {
  Json row;
  IntegrationCounts counts;
};

/// Times variants side by side. The first one says what they shall give.
std::vector<MeasuredVariant> measure_variants(const IntegrationCase& of, std::vector<IntegrationVariant> variants) {
  auto operators = make_operators(of, variants);
  const auto samples = set_up_times(operators, of);
  // Equal cells share what set-up stores: those count whose matrices are computed.
  const auto& block = operators.front().built().blocks.front();
  const auto num_cells = of.space->mesh().groups.front().num_cells();
  const auto cells =
      std::min(static_cast<double>(num_cells), static_cast<double>(block.rows.count()) * block.cells.cells_per_batch);
  const auto published = published_problem(of.name, of.degree);
  std::vector<MeasuredVariant> result;
  for (std::size_t v = 0; v < variants.size(); ++v) {
    const auto& variant = variants[v];
    Json row{{"case", of.name},
             {"degree", of.degree},
             {"order", variant.order},
             {"derivatives", variant.derivatives},
             {"items", variant.items},
             {"cells", num_cells},
             {"best", ""}};
    if (!variant.items.empty()) row["plan"] = variant.plan();
    const auto counts = add_counts(row, operators[v].built(), of.problem.coefficients, of.rates);
    add_times(row, base::timing_of(samples[v]), cells);
    const auto order = published_order(variant.order);
    if (published && order && variant.items.empty()) add_published(row, *published, *order);
    result.push_back({std::move(row), counts});
  }
  return result;
}

/// Operators keep the matrices of all cells, so that a few are there at a time: the orders of the loops, then keys of
/// items beside the first one.
void measure_case(Report& report, const IntegrationCase& of, bool has_items) {
  constexpr std::size_t at_a_time = 8;
  auto measured = measure_variants(of, loop_variants());
  const auto others = has_items ? item_variants() : std::vector<IntegrationVariant>{};
  for (std::size_t begin = 0; begin < others.size(); begin += at_a_time) {
    std::vector<IntegrationVariant> some{loop_variants().front()};
    for (const auto& variant : std::span(others).subspan(begin, std::min(at_a_time, others.size() - begin)))
      some.push_back(variant);
    auto more = measure_variants(of, std::move(some));
    std::move(more.begin() + 1, more.end(), std::back_inserter(measured));
  }
  for (std::size_t i = 0; i < measured.size(); ++i) measured[i].row["number"] = i + 1;
  auto& best = *std::ranges::min_element(measured, {},
                                         [](const auto& of_row) { return of_row.row["ns"].template get<double>(); });
  best.row["best"] = "*";
  add_best_figures(best.row, best.counts, of.rates, published_problem(of.name, of.degree));
  for (auto& variant : measured) report.add(std::move(variant.row));
}

} // namespace

int run_first_order(std::span<const std::string> arguments) {
  FirstOrderChoices choices = first_order_defaults();
  parse("first-order", arguments, options_of(choices));
  const auto device = device::make_device(choices.common.device, choices.common.threads);
  const bool has_items = std::ranges::find(choices.variants, "all") != choices.variants.end();
  if (has_items && !op::kernel_target(*device).target.has_groups)
    throw base::InputError("--variants all: the device has no groups of items; accepted there is --variants orders, or "
                           "take --device opencl or cuda");
  auto layout = first_order_layout();
  if (has_items) layout.identity.emplace_back("items");
  Report report(std::move(layout), choices.common, arguments);
  const auto rates = rates_of_run(report.machine(), choices.common, device);
  for (const auto& geometry : choices.geometries)
    for (const auto& problem : left_sides) {
      if (std::ranges::find(choices.cases, problem.name) == choices.cases.end()) continue;
      for (const int degree : choices.common.degrees)
        for (const double size : choices.common.million_dofs)
          measure_case(report,
                       integration_case(choices.common, problem,
                                        {.degree = degree, .million_dofs = size, .geometry = geometry}, device, rates),
                       has_items);
    }
  auto plots = best_figure_plots(report.rows());
  plots.insert(plots.begin(), report::Plot{"share of the bound, in the order of the table",
                                           {"variant", false, true},
                                           {"bound / time"},
                                           series(report.rows(), {"case"}, "number", "share")});
  return report.finish(plots);
}

std::string first_order_options() {
  FirstOrderChoices choices = first_order_defaults();
  return describe(options_of(choices));
}

} // namespace rafter::bench
