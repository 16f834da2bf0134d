// SPDX-License-Identifier: BSD-3-Clause
#include <bench/axlocal.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>

#include <bench/operators.hpp>
#include <bench/published_axlocal.hpp>
#include <rafter/device/device.hpp>

namespace rafter::bench {
namespace {

bool is_helmholtz(const Case& equation) { return equation.name.starts_with("helmholtz"); }
const PublishedEquation& published_of(const Case& equation) {
  return is_helmholtz(equation) ? published_helmholtz : published_poisson;
}

/// Where the factors come from. Recipes by equation, nullptr: not a variant of it.
struct Kernel {
  const char *name, *geometry, *poisson, *helmholtz;
  PublishedFactors (*published)(const PublishedEquation& equation);
  const char* recipe(const Case& equation) const { return is_helmholtz(equation) ? helmholtz : poisson; }
};
constexpr std::array kernels{
    Kernel{"baseline", "deformed", "store-merged", "store-merged", published_full_access},
    Kernel{"parallelepiped", "cartesian", "store-merged", "partial-2-merged", published_parallelepiped},
    Kernel{"trilinear", "deformed", "recompute-merged", "recompute-merged", published_trilinear},
    Kernel{"merged", "deformed", nullptr, "partial-2-merged", published_partial},
    Kernel{"partial", "deformed", "partial-1-merged", nullptr, published_partial}};

/// Coefficients vary within cells.
const std::vector<Case>& equations() {
  using enum element::QuadratureKind;
  static const std::string poisson = "inner(grad(u), grad(v))*dx",
                           helmholtz = "((1 + x[0]*x[0])*inner(grad(u), grad(v)) + (2 + x[1]*x[2])*inner(u, v))*dx";
  static const std::vector<Case> cases{{"poisson", "1 component", poisson, 0, 1, gll},
                                       {"helmholtz", "1 component", helmholtz, 0, 1, gll},
                                       {"poisson-3", "3 components", poisson, 3, 1, gll},
                                       {"helmholtz-3", "3 components", helmholtz, 3, 1, gll}};
  return cases;
}

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const auto& kernel : kernels) names.emplace_back(kernel.name);
  return names;
}

struct Choices {
  Settings common;
  std::vector<std::string> equations, kernels = kernel_names();
  std::string plan = "stores=streaming";
  std::string plan_of(const char* recipe) const { return std::string("recipe=") + recipe + " " + plan; }
};
Choices defaults() {
  Choices choices;
  choices.equations = names_of(equations());
  choices.common.degrees = {3, 5, 7, 9};
  return choices;
}
std::vector<Option> options_of(Choices& choices) {
  std::vector<Option> options{
      names_option("--equations", "operators", choices.equations, names_of(equations())),
      names_option("--kernels", "where factors come from; speeds are over the first", choices.kernels, kernel_names()),
      text_option("--plan", "TEXT", "plan of all kernels but for the recipe", choices.plan)};
  for (auto& option : common_options(choices.common)) options.push_back(std::move(option));
  return options;
}

Layout layout() {
  return {.suite = "axlocal",
          .title = "local operator of spectral elements, cell vector to cell vector; unknowns: cells p^3 components",
          .columns = {{"equation", "equation", "{:<11}"},
                      {"kernel", "kernel", "{:<14}"},
                      {"recipe", "recipe", "{:<20}"},
                      {"degree", "p", "{:2}"},
                      {"dofs", "MDoF", "{:7.2f}", 1e-6},
                      {"flops", "flop", "{:7.0f}"},
                      {"paper_flops", "paper", "{:7.0f}"},
                      {"factor_flops", "factors", "{:7.0f}"},
                      {"paper_factor_flops", "paper", "{:7.0f}"},
                      {"factor_words", "words", "{:6.0f}"},
                      {"paper_factor_words", "paper", "{:6.0f}"},
                      {"gdofs_per_second", "GDoF/s", "{:7.3f}"},
                      {"spread", "spread %", "{:8.0f}", 100},
                      {"effective_gflops", "GFLOP/s", "{:8.2f}"},
                      {"bound_gflops", "bound", "{:8.2f}"},
                      {"share", "share %", "{:7.0f}", 100},
                      {"limited_by", "limit", "{:<12}"},
                      {"resident", "in", "{:<6}"},
                      {"speed", "speed", "{:6.2f}"}},
          .identity = {"equation", "kernel", "degree", "dofs"},
          .figure = "gdofs_per_second"};
}

/// An operator of the equation under a kernel's recipe.
struct Variant {
  Kernel kernel;
  op::Operator A;
  bool has_recipe(const Case& equation) const {
    return std::ranges::all_of(A.kernels().info(), [&](const op::KernelInfo& info) {
      return kernel::name(info.plan.recipe) == kernel.recipe(equation);
    });
  }
};

/// What Rafter counts per cell beside the paper's: all operations, and words read besides vectors.
Json counted(const Case& equation, const Variant& variant, const space::FunctionSpace& space) {
  const auto& published = published_of(equation);
  const auto factors = variant.kernel.published(published);
  const double N = space.degree + 1;
  const auto counts = variant.A.kernels().counts();
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

/// Operators of the equation, those that another recipe would stand in for left out with a row that says so.
std::deque<Variant> make_variants(Report& report, const Choices& choices, const Case& equation, SpaceChoice choice,
                                  const std::shared_ptr<device::Device>& device) {
  std::deque<Variant> variants;
  for (const auto& kernel : kernels) {
    const char* recipe = kernel.recipe(equation);
    if (recipe == nullptr || std::ranges::find(choices.kernels, kernel.name) == choices.kernels.end()) continue;
    choice.geometry = kernel.geometry;
    const auto space = make_space(equation, choice);
    variants.push_back({kernel, make_operator(equation, space, device, choices.plan_of(recipe))});
    if (variants.back().has_recipe(equation)) continue;
    variants.pop_back();
    report.add({{"equation", equation.name},
                {"kernel", kernel.name},
                {"recipe", std::string("no ") + recipe},
                {"degree", choice.degree},
                {"dofs", std::llround(counted_dofs(*space))},
                {"missing", std::string("no recipe ") + recipe + " at this degree"}});
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
    if (std::string_view(variant.kernel.geometry) == "deformed") same_cells.push_back(&variant.A);
  }
  const auto space = make_space(equation, choice);
  const auto difference = same_cells.empty() ? std::vector<double>() : differences(same_cells);
  const auto rows = measure(operators, *space, report.machine(), choices.common);
  const bool has_baseline = std::string_view(variants.front().kernel.name) == "baseline";
  double first_flops = 0;
  for (std::size_t i = 0, next = 0; i < variants.size(); ++i) {
    Json row{{"equation", equation.name},
             {"kernel", variants[i].kernel.name},
             {"geometry", variants[i].kernel.geometry},
             {"recipe", variants[i].kernel.recipe(equation)}};
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
  (void)schedule::parse_plan(choices.plan_of("recompute")); // refused before anything is measured
  Report report(layout(), choices.common, arguments);
  const auto device = device::make_device("host", choices.common.threads);
  for (const auto& name : choices.equations)
    for (const int degree : choices.common.degrees)
      for (const double size : choices.common.million_dofs) {
        const auto& equation = find_case(equations(), name);
        SpaceChoice choice{.degree = degree, .million_dofs = size, .geometry = "deformed", .is_broken = true};
        if (size == 0)
          choice.million_dofs = beyond_caches(equation, choice, report.machine(), device, choices.plan_of("recompute"));
        measure_variants(report, choices, equation, choice, device);
      }
  return report.finish(plots_of(report));
}

std::string axlocal_options() {
  Choices choices = defaults();
  return describe(options_of(choices));
}

} // namespace rafter::bench
