// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/tuning.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <random>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/sampling.hpp>
#include <rafter/device/finish.hpp>
#include <rafter/mesh/distribution.hpp>
#include <rafter/operator/generate/matrix_builder.hpp>
#include <rafter/operator/matrix/assembled_matrix.hpp>
#include <rafter/operator/run/form_data.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/tune/device_probe.hpp>
#include <rafter/tune/store.hpp>

namespace rafter::op {

namespace {

/// Fills a vector with random values between 0.5 and 1, the same in every run.
void fill(Vector& vector) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0.5, 1);
  for (double& value : vector.host_overwrite()) value = uniform(random);
}

/// Times kernels of one block under several plans, on the same vectors.
class PlanTiming {
public:
  PlanTiming(const form::LoweredForm& form, const System& system, const KernelOptions& options, Purpose purpose,
             int block, double sample_seconds)
      : form_(form), system_(system), options_(options), purpose_(purpose), block_(block),
        sample_seconds_(sample_seconds), x_(options.device, static_cast<std::size_t>(system.size())),
        y_(options.device, static_cast<std::size_t>(system.size())) {
    // The plans are given, so that nothing needs to be weighed or looked up.
    options_.planner = std::make_shared<const tune::Planner>(
        tune::PlannerOptions{.machine = options.planner->options().machine, .store = nullptr});
    fill(x_);
    for (double& value : y_.host_overwrite()) value = 0; // pages are touched before the clock runs
  }

  /// Returns the seconds of one run, shape (plan); infinite for a plan whose kernel does not compile.
  std::vector<double> measure(std::span<const schedule::Plan> plans, int rounds) {
    const auto all = compiled(plans);
    std::vector<std::function<void()>> runs;
    for (const auto& kernels : all)
      runs.push_back(kernels == nullptr ? std::function<void()>() : [this, &kernels] { run(*kernels); });
    return base::steady_medians(base::sample(runs, {.rounds = rounds,
                                                    .sample_seconds = sample_seconds_,
                                                    .threads = options_.device->num_threads(),
                                                    .finish = device::finish_of(options_.device)}));
  }

private:
  using Kernels = std::shared_ptr<const FormKernels>;

  /// Returns the kernels of the plans; null for a plan whose kernel does not compile. Kernels of the plans that were
  /// compiled last are kept.
  std::vector<Kernels> compiled(std::span<const schedule::Plan> plans) {
    std::vector<Kernels> result(plans.size());
    for (std::size_t i = 0; i < plans.size(); ++i)
      for (const auto& [plan, kernels] : kept_)
        if (plan == plans[i]) result[i] = kernels;
    kept_.clear(); // frees memory before more is taken
    std::vector<std::shared_ptr<GeneratedForm>> built(plans.size());
    for (std::size_t i = 0; i < plans.size(); ++i)
      if (result[i] == nullptr) {
        options_.plan = std::make_shared<const schedule::Plan>(plans[i]);
        built[i] = build_block(form_, system_, purpose_, block_, options_);
      }
    compile_those_that_can(built);
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (result[i] == nullptr && built[i]->is_compiled) result[i] = std::make_shared<const FormKernels>(built[i]);
      if (result[i] != nullptr) result[i]->data().set_missing();
      kept_.emplace_back(plans[i], result[i]);
    }
    return result;
  }
  static void compile_those_that_can(std::span<const std::shared_ptr<GeneratedForm>> all) {
    std::vector<std::shared_ptr<GeneratedForm>> forms;
    std::copy_if(all.begin(), all.end(), std::back_inserter(forms), [](const auto& form) { return form != nullptr; });
    try {
      compile(forms);
      return;
    } catch (const base::EnvironmentError&) {
      // Compiling one by one shows which kernels fail; the others are in the cache.
    }
    for (const auto& form : forms) try {
        compile({&form, 1});
      } catch (const base::EnvironmentError&) {
      }
  }

  void run(const FormKernels& kernels) {
    if (purpose_ == Purpose::matrix)
      kernels.cell_matrices([](const CellMatrices&) {});
    else
      kernels.run(&x_, y_, false);
  }

  const form::LoweredForm& form_;
  const System& system_;
  KernelOptions options_;
  Purpose purpose_;
  int block_;
  double sample_seconds_;
  Vector x_, y_;
  std::vector<std::pair<schedule::Plan, Kernels>> kept_;
};

/// Options for kernels, also where an operator would take an assembled matrix.
KernelOptions for_kernels(KernelOptions options, bool weighs_all) {
  auto planner = (options.planner == nullptr ? tune::planner_of(*options.device) : options.planner)->options();
  planner.weighs_all = weighs_all;
  options.planner = std::make_shared<const tune::Planner>(std::move(planner));
  options.num_applications = 0;
  return options;
}

/// Times products with a matrix and runs of the kernels that it stands for, side by side.
MatrixForecast measured(const std::shared_ptr<GeneratedForm>& kernels, MatrixForecast forecast,
                        const TuningOptions& tuning) {
  auto with_matrix = std::make_shared<GeneratedForm>(*kernels);
  with_matrix->matrix = build_matrix(kernels->form, kernels->system, kernels->options);
  compile(std::array{kernels, with_matrix});
  const auto& device = kernels->options.device;
  const auto data = std::make_shared<FormData>(kernels->form, device);
  data->set_missing();
  const FormKernels run_kernels(kernels, data);
  const AssembledMatrix matrix(with_matrix->matrix, data);
  Vector x(device, static_cast<std::size_t>(kernels->system.size())), y(device, x.size());
  fill(x);
  std::ranges::fill(y.host_overwrite(), 0.0);
  constexpr int rounds = 7;
  const std::array<std::function<void()>, 2> runs{[&] { run_kernels.run(&x, y, false); },
                                                  [&] { matrix.run(x, y, false); }};
  const auto seconds = base::steady_medians(base::sample(runs, {.rounds = rounds,
                                                                .sample_seconds = tuning.sample_seconds,
                                                                .threads = device->num_threads(),
                                                                .finish = device::finish_of(device)}));
  forecast.kernel_seconds = seconds[0];
  forecast.seconds = seconds[1];
  forecast.setup_seconds = matrix.setup_seconds();
  forecast.is_measured = true;
  return forecast;
}

} // namespace

std::optional<TunedMatrix> tune_matrix(const form::LoweredForm& form, const System& system, const KernelOptions& given,
                                       const TuningOptions& tuning) {
  mesh::require_whole(*system.mesh, "measured matrices");
  if (form.rank != 2 || !form.fields.empty() || given.num_applications <= 0) return std::nullopt;
  const auto kernels = build_form(form, system, Purpose::action, for_kernels(given, false));
  kernels->options.num_applications = given.num_applications;
  TunedMatrix result{forecast_matrix(*kernels)};
  constexpr double doubt = 2;
  const bool is_known = result.forecast.is_measured && !tuning.is_fresh;
  if (is_known || !result.forecast.pays(doubt)) return result;
  if (tuning.event) tuning.event("assembled matrix: timing its set-up and products");
  result.forecast = measured(kernels, result.forecast, tuning);
  result.was_timed = true;
  remember(*kernels, result.forecast);
  return result;
}

std::vector<TunedKernel> tune_kernels(const form::LoweredForm& form, const System& system, const KernelOptions& given,
                                      const TuningOptions& tuning, Purpose purpose) {
  const auto notify = [&](const std::string& text) {
    if (tuning.event) tuning.event(text);
  };
  if (form.rank != 2) throw base::InputError("plans are tuned for bilinear forms: only their kernels run often");
  std::vector<TunedKernel> result;
  auto weighing = for_kernels(given, true);
  if (purpose == Purpose::matrix) weighing.precision = schedule::Precision::double_precision;
  const auto built = build_form(form, system, purpose, weighing);
  const KernelOptions& options = built->options; // these have a device
  if (built->num_cell_blocks == 0)
    throw base::InputError(
        "plans are tuned for kernels of cells: the form has no integral over cells (dx), and kernels "
        "of facets have no plans to choose from");
  if (built->is_too_large)
    throw base::InputError("matrices of cells of this form are too large for a kernel, and are computed column by "
                           "column: there are no plans to choose from");
  for (const auto& block : built->blocks) {
    const auto& info = block.kernel.info;
    if (info.block < 0) continue;
    TunedKernel tuned{info};
    auto& decision = tuned.info.decision;
    if (decision.origin != tune::Origin::measured || tuning.is_fresh) {
      PlanTiming timing(form, system, options, purpose, info.block, tuning.sample_seconds);
      for (auto& candidate : decision.candidates) candidate.measured_seconds.reset();
      decision.candidates = tune::search(
          std::move(decision.candidates),
          [&](std::span<const schedule::Plan> plans, int rounds) {
            notify(fmt::format("{}: timing {} plans", info.name, plans.size()));
            return timing.measure(plans, rounds);
          },
          tuning.search);
      std::vector<tune::Measurement> measurements;
      for (const auto& c : decision.candidates)
        if (c.measured_seconds)
          measurements.push_back({schedule::to_string(c.plan), *c.measured_seconds, c.predicted_seconds});
      tuned.num_timed = measurements.size();
      if (auto* store = options.planner->options().store.get(); store != nullptr) {
        store->remember(decision.key, measurements);
        if (purpose == Purpose::matrix) store->remember(tune::tuned_matrices, {measurements.front()});
      }
      decision.plan = decision.candidates.front().plan;
      decision.origin = tune::Origin::measured;
      tuned.info.plan = decision.plan;
    }
    result.push_back(std::move(tuned));
  }
  return result;
}

} // namespace rafter::op
