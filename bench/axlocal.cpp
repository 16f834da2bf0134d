// SPDX-License-Identifier: BSD-3-Clause
#include <bench/axlocal.hpp>

#include <algorithm>
#include <cmath>
#include <deque>

#include <bench/mesh_file.hpp>
#include <bench/spectral_elements.hpp>
#include <rafter/device/device.hpp>
#include <rafter/machine/roofline.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::bench {
namespace {

const PublishedEquation& published_of(const Case& equation) {
  return is_helmholtz(equation) ? published_helmholtz : published_poisson;
}

struct AxlocalChoices {
  Settings common;
  std::vector<std::string> equations = names_of(spectral_equations()), kernels = factor_source_names();
  std::string plan = "stores=streaming", coefficients = "expressions";
  Coefficients coefficients_kind() const {
    return coefficients == "array" ? Coefficients::array : Coefficients::expressions;
  }
};
AxlocalChoices axlocal_defaults() {
  AxlocalChoices choices;
  choices.common.degrees = {3, 5, 7, 9};
  return choices;
}
std::vector<Option> options_of(AxlocalChoices& choices) {
  std::vector<Option> options{
      names_option("--equations", "operators", choices.equations, names_of(spectral_equations())),
      names_option("--kernels", "where factors come from; speeds are over the first", choices.kernels,
                   factor_source_names()),
      name_option("--coefficients", "of the Helmholtz equations", choices.coefficients, {"expressions", "array"}),
      text_option("--plan", "TEXT", "plan of all kernels but for the factors", choices.plan)};
  options.push_back(device_option(choices.common));
  for (auto& option : common_options(choices.common)) options.push_back(std::move(option));
  return options;
}

Layout axlocal_layout(bool has_mesh) {
  Layout result{
      .suite = "axlocal",
      .title = "local operator of spectral elements, cell vector to cell vector; unknowns: cells p^3 components",
      .columns = {equation_column(),
                  kernel_column(),
                  degree_column(),
                  dofs_column(),
                  {"gdofs_per_second", {"GDoF/s", "10^9 unknowns per second"}, "{:6.3f}"},
                  spread_column(),
                  {"effective_gflops", {"GFLOP/s", "10^9 operations of the paper's table 2 per second"}, "{:7.2f}"},
                  {"bound_gflops", {"bound", "GFLOP/s at the roofline of the plan"}, "{:6.1f}"},
                  share_column(),
                  limit_column(),
                  {"speed", {"speed", "rate over that of the first kernel"}, "{:5.2f}"}},
      .tables =
          {{"counts of one cell, beside the paper's",
            {{"factors", {"factors", "of the plan: which factors are stored"}, "{:<16}"},
             {"flops", {"flop", "operations of the kernel, before halves of symmetric matrices save some"}, "{:7.0f}"},
             {"paper_flops", {"paper flop", "tables 2 and 3 together"}, "{:7.0f}"},
             {"factor_flops", {"factors", "operations beyond the baseline's"}, "{:7.0f}"},
             {"paper_factor_flops", {"paper factors", "table 3"}, "{:7.0f}"},
             {"factor_words", {"words", "doubles that are read for factors and coefficients"}, "{:6.0f}"},
             {"paper_factor_words", {"paper words", "table 3 and the coefficients that its kernel reads"}, "{:6.0f}"},
             level_column()}},
           {"bytes of one cell, and rates of the operations of this kernel",
            {{"bytes", {"bytes", "compulsory: vectors, factors and coefficients"}, "{:7.0f}"},
             {"paper_bytes", {"paper bytes", "the same, table 2 or 3"}, "{:7.0f}"},
             {"intensity", {"flop/B", "operations per byte"}, "{:6.2f}"},
             {"paper_intensity", {"paper flop/B", "the same, tables 2 and 3"}, "{:6.2f}"},
             {"bound_gflops", {"R_eff", "GFLOP/s of table 2 at the roofline"}, "{:6.1f}"},
             {"total_gflops", {"P_tot", "GFLOP/s of the kernel, with the operations that make its factors"}, "{:7.2f}"},
             {"total_bound_gflops", {"R_tot", "the same at the roofline"}, "{:7.2f}"}}}},
      .identity = {"equation", "kernel", "degree", "dofs"},
      .figure = "gdofs_per_second"};
  if (has_mesh) result.columns.insert(result.columns.begin(), cells_column());
  return result;
}

/// An operator of the equation has factors from a source.
struct Variant {
  FactorSource source;
  op::Operator A;
};

int num_components(const Case& equation) { return std::max(equation.components, 1); }

/// Returns the paper's counts per cell for a kernel with such factors.
Json published_counts(const Case& equation, const PublishedFactors& factors, double N) {
  const double flops = published_of(equation).algorithm_flops(num_components(equation), N) + factors.flops(N);
  const double bytes = factors.bytes(num_components(equation), N);
  return {{"paper_flops", flops},
          {"paper_factor_flops", factors.flops(N)},
          {"paper_factor_words", factors.words(N)},
          {"paper_bytes", bytes},
          {"paper_intensity", flops / bytes}};
}

/// Returns Rafter's counts per cell for comparison with the paper's: all operations, words read besides vectors, and
/// all bytes.
Json counted(const Case& equation, const Variant& variant, const space::FunctionSpace& space) {
  const auto counts = variant.A.counts();
  const auto cells = static_cast<double>(space.mesh().num_cells());
  const double bytes = counts.global_bytes_read + counts.global_bytes_written;
  const double input_bytes = 8 * static_cast<double>(space.num_local());
  Json row{{"flops", counts.effective_flops / cells},
           {"factor_words", (counts.global_bytes_read - input_bytes) / 8 / cells},
           {"bytes", bytes / cells},
           {"intensity", counts.effective_flops / bytes}};
  row.update(published_counts(equation, variant.source.published(published_of(equation)), space.degree + 1));
  return row;
}

/// Adds two rates: of the operations of the paper's table 2, which are the same for all kernels of an equation, and of
/// the operations of this kernel as it is written, those that make its factors included. The paper's counts of its own
/// kernel say nothing about the rate of this one.
void add_rates(Json& row, double algorithm_flops, double cells) {
  const double seconds = row["seconds"].get<double>(), bound = row["bound_seconds"].get<double>();
  const double total_flops = cells * row["flops"].get<double>();
  row["gdofs_per_second"] = 1e-3 * row["mdofs_per_second"].get<double>();
  row["effective_gflops"] = 1e-9 * algorithm_flops / seconds;
  row["bound_gflops"] = 1e-9 * algorithm_flops / bound;
  row["total_gflops"] = 1e-9 * total_flops / seconds;
  row["total_bound_gflops"] = 1e-9 * total_flops / bound;
  row["speed"] = 1 / row["relative_seconds"].get<double>();
}

/// Adds the rates that the kernels of others would reach on this machine, from their counts alone.
void add_approaches(Report& report, const Case& equation, const space::FunctionSpace& space, int threads) {
  const double N = space.degree + 1;
  const auto& machine = report.machine();
  for (const auto& approach : published_approaches) {
    const auto factors = approach.factors(published_of(equation));
    Json row{{"equation", equation.name},
             {"kernel", approach.name},
             {"factors", "published counts"},
             {"degree", space.degree},
             {"dofs", std::llround(counted_dofs(space))},
             {"cells", space.mesh().num_cells()},
             {"missing", std::string("counts alone: ") + approach.source}};
    row.update(published_counts(equation, factors, N));
    const double words = num_components(equation) * N * N * N;
    const double flops = row["paper_flops"].get<double>();
    const auto bound = machine::bound({.flops = flops,
                                       .global_bytes_read = row["paper_bytes"].get<double>() - 8 * words,
                                       .global_bytes_written = 8 * words},
                                      machine, threads);
    row["bound_gflops"] = 1e-9 * (flops - factors.flops(N)) / bound.seconds;
    row["total_bound_gflops"] = 1e-9 * flops / bound.seconds;
    row["limited_by"] = bound.limited_by;
    report.add(std::move(row));
  }
}

std::deque<Variant> make_variants(Report& report, const AxlocalChoices& choices, const Case& equation,
                                  SpaceChoice choice, const std::shared_ptr<device::Device>& device) {
  std::deque<Variant> variants;
  for (const auto& source : factor_sources(equation, choices.kernels, choices.coefficients_kind())) {
    choice.geometry = source.geometry;
    auto A = make_spectral_operator(report, equation, source, make_space(equation, choice), device,
                                    {.plan = choices.plan, .coefficients = choices.coefficients_kind()});
    if (A) variants.push_back({source, std::move(*A)});
  }
  return variants;
}

void measure_variants(Report& report, const AxlocalChoices& choices, const Case& equation, const SpaceChoice& choice,
                      const std::shared_ptr<device::Device>& device) {
  const auto variants = make_variants(report, choices, equation, choice, device);
  if (variants.empty()) return;
  std::vector<const op::Operator*> operators, same_cells;
  for (const auto& variant : variants) {
    operators.push_back(&variant.A);
    if (choice.mesh != nullptr || std::string_view(variant.source.geometry) == "deformed")
      same_cells.push_back(&variant.A);
  }
  const auto space = make_space(equation, choice);
  const auto difference = same_cells.empty() ? std::vector<double>() : differences(same_cells);
  const auto rows = measure(operators, *space, report.machine(), choices.common);
  const bool has_baseline = std::string_view(variants.front().source.name) == "baseline";
  double first_flops = 0;
  for (std::size_t i = 0, next = 0; i < variants.size(); ++i) {
    Json row{{"equation", equation.name},
             {"kernel", variants[i].source.name},
             {"geometry", choice.mesh != nullptr ? choices.common.mesh->name : variants[i].source.geometry},
             {"factors", variants[i].source.factors(equation, choices.coefficients_kind())}};
    row.update(rows[i]);
    row.update(counted(equation, variants[i], *space));
    if (i == 0) first_flops = row["flops"].get<double>();
    if (has_baseline) row["factor_flops"] = row["flops"].get<double>() - first_flops;
    const auto cells = static_cast<double>(space->mesh().num_cells());
    add_rates(row, published_of(equation).algorithm_flops(num_components(equation), space->degree + 1) * cells, cells);
    if (std::ranges::find(same_cells, operators[i]) != same_cells.end()) row["difference"] = difference[next++];
    report.add(std::move(row));
  }
  add_approaches(report, equation, *space, choices.common.threads);
}

/// Plots the operations per byte of the kernels that read all factors, and those of the machine, below which the memory
/// is the bound.
report::Plot intensities(const machine::Machine& machine, int threads) {
  constexpr int least = 2, most = 20;
  report::Plot plot{"figure 5: operations per byte of the published kernels that read all factors",
                    {"points per direction", false, true},
                    {"flop/byte"},
                    {}};
  for (const auto& equation : spectral_equations()) {
    report::PlotSeries line{.name = equation.name};
    for (int N = least; N <= most; ++N)
      line.points.emplace_back(N, published_of(equation).intensity(num_components(equation), N));
    plot.series.push_back(std::move(line));
  }
  const double balance = machine.peak_flops(threads) / machine.rate(machine.memory().read, threads);
  plot.series.push_back({"balance of this machine", {{least, balance}, {most, balance}}, true});
  return plot;
}

std::vector<report::Plot> axlocal_plots(const Report& report, int threads) {
  const report::PlotAxis x{"degree", false, true};
  const std::vector<std::string> by{"equation", "kernel"};
  return {
      {"figure 8: speed over the first kernel", x, {"times"}, series(report.rows(), by, "degree", "speed")},
      {"rate of the algorithm's operations", x, {"GFLOP/s"}, series(report.rows(), by, "degree", "effective_gflops")},
      {"bounds of that rate, as in figures 9 and 10, of this machine",
       x,
       {"GFLOP/s"},
       series(report.rows(), by, "degree", "bound_gflops")},
      intensities(report.machine(), threads)};
}

} // namespace

int run_axlocal(std::span<const std::string> arguments) {
  AxlocalChoices choices = axlocal_defaults();
  const auto given = parse("axlocal", arguments, options_of(choices));
  require_variants("axlocal", choices.equations, choices.kernels, choices.coefficients_kind());
  read_mesh_file("axlocal", choices.common, given);
  require_hexahedra("axlocal", choices.common);
  const std::string fewest_data = "factors=recompute " + choices.plan;
  (void)schedule::parse_plan(fewest_data); // a wrong plan is refused before anything is measured
  const auto device =
      device::make_device(choices.common.device, choices.common.threads); // a wrong one is refused at once
  Report report(axlocal_layout(choices.common.mesh != nullptr), choices.common, arguments);
  for (const auto& name : choices.equations)
    for (const int degree : choices.common.degrees)
      for (const double size : choices.common.million_dofs) {
        const auto& equation = find_case(spectral_equations(), name);
        SpaceChoice choice{.degree = degree,
                           .million_dofs = size,
                           .geometry = "deformed",
                           .is_broken = true,
                           .mesh = mesh_of(choices.common)};
        if (size == 0) choice.million_dofs = beyond_caches(equation, choice, report.machine(), device, fewest_data);
        measure_variants(report, choices, equation, choice, device);
      }
  return report.finish(axlocal_plots(report, choices.common.threads));
}

std::string axlocal_options() {
  AxlocalChoices choices = axlocal_defaults();
  return describe(options_of(choices));
}

} // namespace rafter::bench
