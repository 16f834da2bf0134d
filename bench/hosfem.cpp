// SPDX-License-Identifier: BSD-3-Clause
#include <bench/hosfem.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <numbers>

#include <bench/mesh_file.hpp>
#include <bench/spectral_elements.hpp>
#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/device/finish.hpp>
#include <rafter/machine/roofline.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/solve/solver.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::bench {
namespace {

/// A set-up fixes the cells, the known solution, and the solver.
struct Setup {
  const char* name;
  bool is_box; ///< cells are cubes up to 1e-8 of their size, but kernels treat them as cells of the given geometry
  Coefficients coefficients;
  const char* preconditioner;
  int iterations;                                ///< largest number of iterations
  double (*solution)(std::span<const double> x); ///< its values on the boundary are replaced by zero
};
constexpr std::array setups{
    Setup{"deformed", false, Coefficients::expressions, "none", 50,
          [](std::span<const double> x) { return std::sin(3 * x[0] + x[1]) * std::cos(5 * x[2]); }},
    // nekBench solves for the lowest mode of the Laplacian on a box, preconditioned by Jacobi.
    Setup{"nekbone", true, Coefficients::ones, "jacobi", 1000, [](std::span<const double> x) {
            constexpr double pi = std::numbers::pi;
            return std::sin(pi * x[0]) * std::sin(pi * x[1]) * std::sin(pi * x[2]);
          }}};
std::vector<std::string> setup_names() {
  std::vector<std::string> names;
  for (const auto& setup : setups) names.emplace_back(setup.name);
  return names;
}

constexpr const char* by_setup = "by set-up";

struct HosfemChoices {
  Settings common;
  std::vector<std::string> equations = names_of(spectral_equations()), kernels = factor_source_names();
  std::vector<std::string> setups{"deformed"};
  std::string preconditioner = by_setup;
  int iterations = 0; ///< 0 takes the number of the set-up
};
HosfemChoices hosfem_defaults() {
  HosfemChoices choices;
  choices.common.degrees = {7};
  return choices;
}
std::vector<Option> options_of(HosfemChoices& choices) {
  std::vector<Option> options{
      names_option("--setup", "cells, solution and preconditioner", choices.setups, setup_names()),
      names_option("--equations", "what is solved", choices.equations, names_of(spectral_equations())),
      names_option("--kernels", "where geometric factors come from; the column accel is over baseline", choices.kernels,
                   factor_source_names()),
      name_option("--preconditioner", "of conjugate gradients", choices.preconditioner, {"none", "jacobi"}),
      integer_option("--iterations", "that a solve has at most; 0: 50, and 1000 of nekbone", choices.iterations, 0,
                     100'000)};
  options.push_back(device_option(choices.common));
  for (auto& option : common_options(choices.common)) options.push_back(std::move(option));
  return options;
}

Layout hosfem_layout(bool has_mesh) {
  return {
      .suite = "hosfem",
      .title =
          fmt::format("conjugate gradients on {}, rates per iteration of whole solves", has_mesh ? "a mesh" : "a box"),
      .columns = {has_mesh ? cells_column() : Column{"setup", {"setup", "cells, solution and preconditioner"}, "{:<8}"},
                  equation_column(),
                  kernel_column(),
                  degree_column(),
                  dofs_column(),
                  {"solver",
                   {"solver", "plain: one operation after the other; fused: within the loop over cells"},
                   "{:<6}"},
                  {"mdofs_per_second", {"MDoF/s", "10^6 unknowns per second of an iteration"}, "{:7.1f}"},
                  spread_column(),
                  {"speed_up", {"speed-up", "time of the plain solver over this one's"}, "{:8.2f}"},
                  share_column(),
                  limit_column()},
      .tables = {{"as in table 5 of the paper",
                  {{"published_gflops", {"GFLOPS", "10^9 operations of table 2 and of vectors per second"}, "{:7.2f}"},
                   {"gdofs", {"GDOFS", "10^9 unknowns per second, p^3 of each cell and component"}, "{:7.4f}"},
                   {"accel", {"accel", "time of the baseline kernel with the same solver over this one's"}, "{:6.2f}"},
                   {"operator_share", {"operator %", "of an iteration"}, "{:10.0f}", 100},
                   {"iterations", {"iterations", "of the solve"}, "{:10}"},
                   {"error", {"error", "largest of the solution, over its largest value"}, "{:9.1e}"}}},
                 {"bytes and rates",
                  {{"bytes_per_dof",
                    {"B/DoF", "bytes of an iteration per unknown: vectors and data of the operator"},
                    "{:6.0f}"},
                   {"target_bytes_per_dof", {"target", "what B/DoF of a fused iteration should not exceed"}, "{:6.0f}"},
                   {"effective_gflops", {"GFLOP/s", "10^9 operations of the algorithm per second"}, "{:7.2f}"},
                   bandwidth_column(),
                   level_column(),
                   {"residual", {"residual", "relative, at the end"}, "{:9.1e}"}}}},
      .identity = {"setup", "equation", "kernel", "degree", "dofs", "solver"},
      .figure = "mdofs_per_second"};
}

/// A problem A x = b has a known x, which vanishes on the boundary.
class Problem {
public:
  Problem(const FactorSource& source, op::Operator A, const space::FunctionSpace& space, const Setup& setup,
          const std::string& geometry, const HosfemChoices& choices)
      : source_(source), A_(std::move(A)), exact_(A_.make_vector()), b_(A_.make_vector()), x_(A_.make_vector()),
        M_(solvers::make_preconditioner(
            A_,
            {.preconditioner = choices.preconditioner == by_setup ? setup.preconditioner : choices.preconditioner})),
        iterations_(choices.iterations == 0 ? setup.iterations : choices.iterations) {
    space::interpolate(
        space,
        [&](std::span<const double> x, std::span<double> values) {
          const double value =
              setup.is_box ? setup.solution(undeformed(find_geometry(geometry), x)) : setup.solution(x);
          for (std::size_t c = 0; c < values.size(); ++c) values[c] = value * static_cast<double>(c + 1);
        },
        exact_.host_overwrite());
    for (const auto entry : A_.constraints().entries) exact_.host_write()[static_cast<std::size_t>(entry)] = 0;
    A_.apply(exact_, b_);
  }
  Problem(const Problem&) = delete; // not copied, since the preconditioner keeps the address of the operator
  Problem& operator=(const Problem&) = delete;
  const FactorSource& source() const { return source_; }
  const op::Operator& A() const { return A_; }
  const solvers::Preconditioner& M() const { return *M_; }

  solvers::Result solve(bool is_fused) {
    solvers::VectorOps(A_).fill(0, x_);
    return solvers::cg(A_, b_, x_, *M_,
                       {.control = {.rtol = 1e-8, .max_iterations = iterations_}, .is_fused = is_fused});
  }
  void apply() { A_.apply(b_, x_); }

  /// Returns the largest error of the last solution, relative to the largest value.
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
  FactorSource source_;
  op::Operator A_;
  op::Vector exact_, b_, x_;
  std::shared_ptr<const solvers::Preconditioner> M_;
  int iterations_;
};

/// A fused iteration of one component on trilinear cells should move at most this number of bytes per unknown: 11 words
/// of vectors, an index of 4 bytes for each of the (p+1)^3 entries of a cell, and 24 coordinates per cell.
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
  Json row{{"solver", is_fused ? "fused" : "plain"},
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
           {"error", problem.error()}};
  row.update(kernels_json(problem.A().info()));
  return row;
}

/// Adds the paper's counts of an iteration: every cell has N^3 unknowns per component, and the vectors take 15
/// operations per point and component (section 3.4 of the paper, and the ratio of the columns of its table 5).
void add_published(Json& row, const Case& equation, int degree, double cells) {
  const int components = std::max(equation.components, 1);
  const double N1 = degree + 1, seconds = row["seconds"].get<double>();
  const auto& published = is_helmholtz(equation) ? published_helmholtz : published_poisson;
  constexpr double vector_flops = 15;
  const double flops = published.algorithm_flops(components, N1) + vector_flops * components * std::pow(N1, 3);
  row["published_gflops"] = 1e-9 * cells * flops / seconds;
  row["gdofs"] = 1e-9 * cells * std::pow(degree, 3) * components / seconds;
}

std::deque<Problem> make_problems(Report& report, const HosfemChoices& choices, const Setup& setup,
                                  const Case& equation, SpaceChoice choice,
                                  const std::shared_ptr<device::Device>& device) {
  std::deque<Problem> problems;
  for (const auto& source : factor_sources(equation, choices.kernels, setup.coefficients)) {
    choice.geometry = std::string(setup.is_box ? "nearly-" : "") + source.geometry;
    const auto space = make_space(equation, choice);
    auto A = make_spectral_operator(report, equation, source, space, device,
                                    {.has_zero_boundary = true,
                                     .coefficients = setup.coefficients,
                                     .row = {{"setup", setup.name}, {"solver", "none"}}});
    if (A) problems.emplace_back(source, std::move(*A), *space, setup, choice.geometry, choices);
  }
  return problems;
}

/// Throws InputError for set-ups on boxes beside --mesh: their cells are a part of them.
void require_setups_of_meshes(const HosfemChoices& choices) {
  if (choices.common.mesh == nullptr) return;
  for (const auto& setup : setups)
    if (setup.is_box && std::ranges::find(choices.setups, setup.name) != choices.setups.end())
      throw base::InputError(
          fmt::format("bench hosfem: --setup: {} is of a box and does not go with --mesh", setup.name));
}

/// Times the solves with all kernels side by side.
void measure(Report& report, const HosfemChoices& choices, const Setup& setup, const Case& equation,
             const SpaceChoice& choice, const std::shared_ptr<device::Device>& device) {
  auto problems = make_problems(report, choices, setup, equation, choice, device);
  auto sampling = choices.common.sampling;
  sampling.threads = choices.common.threads;
  sampling.finish = device::finish_of(device);
  std::vector<std::function<void()>> calls;
  for (auto& problem : problems) {
    calls.emplace_back([&problem] { problem.solve(false); });
    calls.emplace_back([&problem] { problem.solve(true); });
    calls.emplace_back([&problem] { problem.apply(); });
  }
  const auto samples = base::sample(calls, sampling);
  const bool has_baseline = !problems.empty() && std::string_view(problems.front().source().name) == "baseline";
  for (std::size_t p = 0; p < problems.size(); ++p) {
    auto& problem = problems[p];
    const double operator_seconds = base::timing_of(samples[3 * p + 2]).median;
    for (const bool is_fused : {false, true}) {
      const auto& own = samples[3 * p + (is_fused ? 1 : 0)];
      const auto cells = problem.A().system().mesh->num_cells();
      Json row{{"setup", setup.name},     {"equation", equation.name},  {"kernel", problem.source().name},
               {"degree", choice.degree}, {"dofs", problem.A().size()}, {"cells", cells}};
      row.update(row_of(problem, is_fused, own, operator_seconds, report.machine(), choices.common.threads));
      row["speed_up"] = base::median_ratio(samples[3 * p], own);
      add_published(row, equation, choice.degree, static_cast<double>(cells));
      if (has_baseline) row["accel"] = base::median_ratio(samples[is_fused ? 1 : 0], own);
      if (equation.components == 0 && std::string_view(problem.source().name) == "trilinear")
        row["target_bytes_per_dof"] = target_bytes(choice.degree);
      report.add(std::move(row));
    }
  }
}

/// All kernels solve the same problem, so that its size is the largest with which one of them fills the last cache
/// twice.
double largest_size(const Report& report, const HosfemChoices& choices, const Case& equation, SpaceChoice choice,
                    const std::shared_ptr<device::Device>& device) {
  double size = 0;
  for (const auto& source : factor_sources(equation, choices.kernels)) {
    choice.geometry = source.geometry;
    size = std::max(size, beyond_caches(equation, choice, report.machine(), device));
  }
  return size;
}

std::vector<report::Plot> plots_of(const Report& report, const HosfemChoices& choices) {
  const bool is_over_size = choices.common.million_dofs.size() > 1;
  const report::PlotAxis x{is_over_size ? "unknowns" : "degree", is_over_size, !is_over_size};
  const std::string key = is_over_size ? "dofs" : "degree";
  return {{"conjugate gradients, unknowns per second and iteration",
           x,
           {"MDoF/s"},
           series(report.rows(), {"setup", "equation", "kernel", "solver"}, key, "mdofs_per_second")},
          {"speed-up over the plain solver",
           x,
           {"times"},
           series(report.rows(), {"setup", "equation", "kernel", "solver"}, key, "speed_up")}};
}

} // namespace

int run_hosfem(std::span<const std::string> arguments) {
  HosfemChoices choices = hosfem_defaults();
  const auto given = parse("hosfem", arguments, options_of(choices));
  require_variants("hosfem", choices.equations, choices.kernels);
  read_mesh_file("hosfem", choices.common, given);
  require_hexahedra("hosfem", choices.common);
  require_setups_of_meshes(choices);
  const auto device =
      device::make_device(choices.common.device, choices.common.threads); // a wrong one is refused at once
  Report report(hosfem_layout(choices.common.mesh != nullptr), choices.common, arguments);
  for (const auto& setup : setups) {
    if (std::ranges::find(choices.setups, setup.name) == choices.setups.end()) continue;
    for (const auto& name : choices.equations) {
      const auto& equation = find_case(spectral_equations(), name);
      for (const int degree : choices.common.degrees)
        for (const double size : choices.common.million_dofs) {
          SpaceChoice choice{.degree = degree, .million_dofs = size, .mesh = mesh_of(choices.common)};
          if (size == 0) choice.million_dofs = largest_size(report, choices, equation, choice, device);
          measure(report, choices, setup, equation, choice, device);
        }
    }
  }
  return report.finish(plots_of(report, choices));
}

std::string hosfem_options() {
  HosfemChoices choices = hosfem_defaults();
  return describe(options_of(choices));
}

} // namespace rafter::bench
