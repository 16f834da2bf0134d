// SPDX-License-Identifier: BSD-3-Clause
#include <bench/hosfem.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <bench/spectral_elements.hpp>
#include <rafter/device/device.hpp>
#include <rafter/machine/roofline.hpp>
#include <rafter/solve/solver.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::bench {
namespace {

struct Choices {
  Settings common;
  std::vector<std::string> equations = names_of(spectral_equations()), kernels = factor_source_names();
  std::string preconditioner = "none";
  int iterations = 50;
};
Choices defaults() {
  Choices choices;
  choices.common.degrees = {7};
  return choices;
}
std::vector<Option> options_of(Choices& choices) {
  std::vector<Option> options{
      names_option("--equations", "what is solved", choices.equations, names_of(spectral_equations())),
      names_option("--kernels", "where geometric factors come from", choices.kernels, factor_source_names()),
      name_option("--preconditioner", "of conjugate gradients", choices.preconditioner, {"none", "jacobi"}),
      integer_option("--iterations", "that a solve has at most", choices.iterations, 1, 100'000)};
  for (auto& option : common_options(choices.common)) options.push_back(std::move(option));
  return options;
}

Layout layout() {
  return {
      .suite = "hosfem",
      .title = "conjugate gradients on a box, rates per iteration of whole solves",
      .columns = {equation_column(),
                  kernel_column(),
                  degree_column(),
                  dofs_column(),
                  {"solver",
                   {"solver", "plain: one operation after the other; fused: within the loop over cells"},
                   "{:<6}"},
                  {"mdofs_per_second", {"MDoF/s", "10^6 unknowns per second of an iteration"}, "{:7.1f}"},
                  spread_column(),
                  {"speed_up", {"speed-up", "time of the plain solver over this one's"}, "{:8.2f}"},
                  {"operator_share",
                   {"operator %", "of an iteration, by one application of the operator alone"},
                   "{:10.0f}",
                   100},
                  share_column(),
                  limit_column()},
      .tables = {{"bytes and convergence",
                  {{"bytes_per_dof",
                    {"B/DoF", "bytes of an iteration per unknown: vectors and data of the operator"},
                    "{:6.0f}"},
                   {"target_bytes_per_dof", {"target", "what B/DoF of a fused iteration should not exceed"}, "{:6.0f}"},
                   {"effective_gflops", {"GFLOP/s", "10^9 operations of the algorithm per second"}, "{:7.2f}"},
                   bandwidth_column(),
                   level_column(),
                   {"iterations", {"iterations", "of the solve"}, "{:10}"},
                   {"residual", {"residual", "relative, at the end"}, "{:9.1e}"},
                   {"error", {"error", "largest of the solution, over its largest value"}, "{:9.1e}"}}}},
      .identity = {"equation", "kernel", "degree", "dofs", "solver"},
      .figure = "mdofs_per_second"};
}

/// A x = b with known x, which vanishes on the boundary.
class Problem {
public:
  Problem(op::Operator A, const space::FunctionSpace& space, const Choices& choices)
      : A_(std::move(A)), exact_(A_.make_vector()), b_(A_.make_vector()), x_(A_.make_vector()),
        M_(solvers::make_preconditioner(A_, {.preconditioner = choices.preconditioner})),
        iterations_(choices.iterations) {
    space::interpolate(
        space,
        [](std::span<const double> x, std::span<double> values) {
          for (std::size_t c = 0; c < values.size(); ++c)
            values[c] = std::sin(3 * x[0] + x[1]) * std::cos(5 * x[2]) * static_cast<double>(c + 1);
        },
        exact_.host_overwrite());
    for (const auto entry : A_.constraints().entries) exact_.host_write()[static_cast<std::size_t>(entry)] = 0;
    A_.apply(exact_, b_);
  }
  const op::Operator& A() const { return A_; }
  const solvers::Preconditioner& M() const { return *M_; }

  solvers::Result solve(bool is_fused) {
    std::ranges::fill(x_.host_overwrite(), 0.0);
    return solvers::cg(A_, b_, x_, *M_,
                       {.control = {.rtol = 1e-8, .max_iterations = iterations_}, .is_fused = is_fused});
  }
  void apply() { A_.apply(b_, x_); }

  /// Largest error of the last solution, relative to the largest value.
  double error() const {
    const auto found = x_.host_read(), exact = exact_.host_read();
    double difference = 0, scale = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      difference = std::max(difference, std::abs(found[i] - exact[i]));
      scale = std::max(scale, std::abs(exact[i]));
    }
    return difference / scale;
  }

private:
  op::Operator A_;
  op::Vector exact_, b_, x_;
  std::shared_ptr<const solvers::Preconditioner> M_;
  int iterations_;
};

/// Bytes per unknown that a fused iteration of one component on trilinear cells should not exceed: 11 words of vectors,
/// an index of 4 bytes for each of the (p+1)^3 entries of a cell, 24 coordinates per cell.
double target_bytes(int degree) {
  const double p3 = std::pow(degree, 3);
  return 88 + (4 * std::pow(degree + 1, 3) + 192) / p3;
}

Json row_of(Problem& problem, bool is_fused, const std::vector<double>& samples, double operator_seconds,
            const machine::Machine& machine, int threads) {
  const auto result = problem.solve(is_fused);
  const int iterations = std::max(result.iterations, 1);
  const auto timing = base::timing_of(samples);
  const double seconds = timing.median / iterations;
  const auto dofs = static_cast<double>(problem.A().size());
  const auto product = problem.A().counts();
  const auto counts = solvers::cg_iteration_counts(product, problem.A().size(), problem.M(), is_fused);
  const double bytes = counts.global_bytes_read + counts.global_bytes_written;
  const double kept = product.global_bytes_read + product.global_bytes_written + 8 * solvers::cg_kept_vectors * dofs;
  const auto seen = machine::resident(machine, kept, threads);
  const auto bound = machine::bound(counts, seen, threads);
  return {{"solver", is_fused ? "fused" : "plain"},
          {"mdofs_per_second", 1e-6 * dofs / seconds},
          {"spread", timing.spread()},
          {"effective_gflops", 1e-9 * counts.effective_flops / seconds},
          {"operator_share", operator_seconds / seconds},
          {"vector_bytes_per_dof", solvers::cg_vector_bytes(problem.M(), is_fused).sum()},
          {"bytes_per_dof", bytes / dofs},
          {"gbytes_per_second", 1e-9 * bytes / seconds},
          {"bound_seconds", bound.seconds},
          {"seconds", seconds},
          {"share", bound.seconds / seconds},
          {"limited_by", bound.limited_by},
          {"resident", seen.levels.back().name},
          {"iterations", result.iterations},
          {"residual", result.relative_residual},
          {"error", problem.error()},
          {"plan", schedule::to_string(problem.A().info().front().plan)}};
}

void measure(Report& report, const Choices& choices, const Case& equation, const FactorSource& source,
             const SpaceChoice& choice, const std::shared_ptr<device::Device>& device) {
  const auto space = make_space(equation, choice);
  auto A = make_spectral_operator(report, equation, source, space, device, "", true);
  if (!A) return;
  Problem problem(std::move(*A), *space, choices);
  auto sampling = choices.common.sampling;
  sampling.threads = choices.common.threads;
  const std::array<std::function<void()>, 3> calls{[&] { problem.solve(false); }, [&] { problem.solve(true); },
                                                   [&] { problem.apply(); }};
  const auto samples = base::sample(calls, sampling);
  const double operator_seconds = base::timing_of(samples[2]).median;
  for (const bool is_fused : {false, true}) {
    const auto& own = samples[is_fused ? 1 : 0];
    Json row{{"equation", equation.name},
             {"kernel", source.name},
             {"degree", choice.degree},
             {"dofs", problem.A().size()},
             {"cells", space->mesh().num_cells()}};
    row.update(row_of(problem, is_fused, own, operator_seconds, report.machine(), choices.common.threads));
    row["speed_up"] = base::median_ratio(samples[0], own);
    if (equation.components == 0 && std::string_view(source.name) == "trilinear")
      row["target_bytes_per_dof"] = target_bytes(choice.degree);
    report.add(std::move(row));
  }
}

std::vector<report::Plot> plots_of(const Report& report, const Choices& choices) {
  const bool is_over_size = choices.common.million_dofs.size() > 1;
  const report::PlotAxis x{is_over_size ? "unknowns" : "degree", is_over_size, !is_over_size};
  const std::string key = is_over_size ? "dofs" : "degree";
  return {{"conjugate gradients, unknowns per second and iteration",
           x,
           {"MDoF/s"},
           series(report.rows(), {"equation", "kernel", "solver"}, key, "mdofs_per_second")},
          {"speed-up over the plain solver",
           x,
           {"times"},
           series(report.rows(), {"equation", "kernel", "solver"}, key, "speed_up")}};
}

} // namespace

int run_hosfem(std::span<const std::string> arguments) {
  Choices choices = defaults();
  parse("hosfem", arguments, options_of(choices));
  require_variants("hosfem", choices.equations, choices.kernels);
  Report report(layout(), choices.common, arguments);
  const auto device = device::make_device("host", choices.common.threads);
  for (const auto& name : choices.equations) {
    const auto& equation = find_case(spectral_equations(), name);
    for (const auto& source : factor_sources(equation, choices.kernels))
      for (const int degree : choices.common.degrees)
        for (const double size : choices.common.million_dofs) {
          SpaceChoice choice{.degree = degree, .million_dofs = size, .geometry = source.geometry};
          if (size == 0) choice.million_dofs = beyond_caches(equation, choice, report.machine(), device);
          measure(report, choices, equation, source, choice, device);
        }
  }
  return report.finish(plots_of(report, choices));
}

std::string hosfem_options() {
  Choices choices = defaults();
  return describe(options_of(choices));
}

} // namespace rafter::bench
