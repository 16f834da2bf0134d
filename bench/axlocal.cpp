// SPDX-License-Identifier: BSD-3-Clause
#include <bench/axlocal.hpp>

#include <algorithm>
#include <deque>

#include <bench/spectral_elements.hpp>
#include <rafter/device/device.hpp>

namespace rafter::bench {
namespace {

const PublishedEquation& published_of(const Case& equation) {
  return is_helmholtz(equation) ? published_helmholtz : published_poisson;
}

struct Choices {
  Settings common;
  std::vector<std::string> equations = names_of(spectral_equations()), kernels = factor_source_names();
  std::string plan = "stores=streaming";
};
Choices defaults() {
  Choices choices;
  choices.common.degrees = {3, 5, 7, 9};
  return choices;
}
std::vector<Option> options_of(Choices& choices) {
  std::vector<Option> options{
      names_option("--equations", "operators", choices.equations, names_of(spectral_equations())),
      names_option("--kernels", "where factors come from; speeds are over the first", choices.kernels,
                   factor_source_names()),
      text_option("--plan", "TEXT", "plan of all kernels but for the recipe", choices.plan)};
  for (auto& option : common_options(choices.common)) options.push_back(std::move(option));
  return options;
}

Layout layout() {
  return {
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
            {{"recipe", {"recipe", "of the plan: which factors are stored"}, "{:<19}"},
             {"flops", {"flop", "operations of the kernel, before halves of symmetric matrices save some"}, "{:7.0f}"},
             {"paper_flops", {"paper flop", "tables 2 and 3 together"}, "{:7.0f}"},
             {"factor_flops", {"factors", "operations beyond the baseline's"}, "{:7.0f}"},
             {"paper_factor_flops", {"paper factors", "table 3"}, "{:7.0f}"},
             {"factor_words", {"words", "doubles that are read for factors and coefficients"}, "{:6.0f}"},
             {"paper_factor_words", {"paper words", "table 3 and the coefficients that its kernel reads"}, "{:6.0f}"},
             level_column()}}},
      .identity = {"equation", "kernel", "degree", "dofs"},
      .figure = "gdofs_per_second"};
}

/// An operator of the equation with factors from a source.
struct Variant {
  FactorSource source;
  op::Operator A;
};

/// What Rafter counts per cell beside the paper's: all operations, and words read besides vectors.
Json counted(const Case& equation, const Variant& variant, const space::FunctionSpace& space) {
  const auto& published = published_of(equation);
  const auto factors = variant.source.published(published);
  const double N = space.degree + 1;
  const auto counts = variant.A.counts();
  const auto cells = static_cast<double>(space.mesh().num_cells());
  const double input_bytes = 8 * static_cast<double>(variant.A.size());
  return {{"flops", counts.effective_flops / cells},
          {"paper_flops", published.algorithm_flops(std::max(equation.components, 1), N) + factors.flops(N)},
          {"factor_words", (counts.global_bytes_read - input_bytes) / 8 / cells},
          {"paper_factor_words", factors.words(N)},
          {"paper_factor_flops", factors.flops(N)}};
}

/// Rates of the algorithm's operations, which are the same for all kernels of an equation.
void add_rates(Json& row, double algorithm_flops) {
  row["gdofs_per_second"] = 1e-3 * row["mdofs_per_second"].get<double>();
  row["effective_gflops"] = 1e-9 * algorithm_flops / row["seconds"].get<double>();
  row["bound_gflops"] = 1e-9 * algorithm_flops / row["bound_seconds"].get<double>();
  row["speed"] = 1 / row["relative_seconds"].get<double>();
}

std::deque<Variant> make_variants(Report& report, const Choices& choices, const Case& equation, SpaceChoice choice,
                                  const std::shared_ptr<device::Device>& device) {
  std::deque<Variant> variants;
  for (const auto& source : factor_sources(equation, choices.kernels)) {
    choice.geometry = source.geometry;
    auto A = make_spectral_operator(report, equation, source, make_space(equation, choice), device, choices.plan);
    if (A) variants.push_back({source, std::move(*A)});
  }
  return variants;
}

void measure_variants(Report& report, const Choices& choices, const Case& equation, const SpaceChoice& choice,
                      const std::shared_ptr<device::Device>& device) {
  const auto variants = make_variants(report, choices, equation, choice, device);
  if (variants.empty()) return;
  std::vector<const op::Operator*> operators, same_cells;
  for (const auto& variant : variants) {
    operators.push_back(&variant.A);
    if (std::string_view(variant.source.geometry) == "deformed") same_cells.push_back(&variant.A);
  }
  const auto space = make_space(equation, choice);
  const auto difference = same_cells.empty() ? std::vector<double>() : differences(same_cells);
  const auto rows = measure(operators, *space, report.machine(), choices.common);
  const bool has_baseline = std::string_view(variants.front().source.name) == "baseline";
  double first_flops = 0;
  for (std::size_t i = 0, next = 0; i < variants.size(); ++i) {
    Json row{{"equation", equation.name},
             {"kernel", variants[i].source.name},
             {"geometry", variants[i].source.geometry},
             {"recipe", variants[i].source.recipe(equation)}};
    row.update(rows[i]);
    row.update(counted(equation, variants[i], *space));
    if (i == 0) first_flops = row["flops"].get<double>();
    if (has_baseline) row["factor_flops"] = row["flops"].get<double>() - first_flops;
    add_rates(row, published_of(equation).algorithm_flops(std::max(equation.components, 1), space->degree + 1) *
                       static_cast<double>(space->mesh().num_cells()));
    if (std::ranges::find(same_cells, operators[i]) != same_cells.end()) row["difference"] = difference[next++];
    report.add(std::move(row));
  }
}

std::vector<report::Plot> plots_of(const Report& report) {
  const report::PlotAxis x{"degree", false, true};
  const std::vector<std::string> by{"equation", "kernel"};
  return {
      {"figure 8: speed over the first kernel", x, {"times"}, series(report.rows(), by, "degree", "speed")},
      {"figure 11: rate of the algorithm's operations",
       x,
       {"GFLOP/s"},
       series(report.rows(), by, "degree", "effective_gflops")},
      {"figures 9 and 10: bounds of that rate", x, {"GFLOP/s"}, series(report.rows(), by, "degree", "bound_gflops")}};
}

} // namespace

int run_axlocal(std::span<const std::string> arguments) {
  Choices choices = defaults();
  parse("axlocal", arguments, options_of(choices));
  require_variants("axlocal", choices.equations, choices.kernels);
  const std::string fewest_data = "recipe=recompute " + choices.plan;
  (void)schedule::parse_plan(fewest_data); // refused before anything is measured
  Report report(layout(), choices.common, arguments);
  const auto device = device::make_device("host", choices.common.threads);
  for (const auto& name : choices.equations)
    for (const int degree : choices.common.degrees)
      for (const double size : choices.common.million_dofs) {
        const auto& equation = find_case(spectral_equations(), name);
        SpaceChoice choice{.degree = degree, .million_dofs = size, .geometry = "deformed", .is_broken = true};
        if (size == 0) choice.million_dofs = beyond_caches(equation, choice, report.machine(), device, fewest_data);
        measure_variants(report, choices, equation, choice, device);
      }
  return report.finish(plots_of(report));
}

std::string axlocal_options() {
  Choices choices = defaults();
  return describe(options_of(choices));
}

} // namespace rafter::bench
