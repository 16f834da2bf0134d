// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/tuning.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <random>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/sampling.hpp>
#include <rafter/operator/form_builder.hpp>
#include <rafter/tune/store.hpp>

namespace rafter::op {

namespace {

/// Kernels of one block under several plans, on the same vectors.
class Contest {
public:
  Contest(const form::LoweredForm& form, const System& system, const KernelOptions& options, int block,
          double sample_seconds)
      : form_(form), system_(system), options_(options), sample_seconds_(sample_seconds),
        x_(options.device, static_cast<std::size_t>(system.size())),
        fields_(options.device, form.fields.empty() ? 0 : static_cast<std::size_t>(system.size())),
        y_(options.device, static_cast<std::size_t>(system.size())) {
    options_.only_block = block;
    // the contest needs no weighing: its plans are given
    options_.planner = std::make_shared<const tune::Planner>(
        tune::PlannerOptions{.machine = options.planner->options().machine, .store = nullptr});
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(0.5, 1);
    for (auto* vector : {&x_, &fields_})
      for (double& value : vector->host_overwrite()) value = uniform(random);
    for (double& value : y_.host_overwrite()) value = 0; // pages are touched before the clock runs
  }

  /// Seconds of one run; infinite for a plan whose kernel does not compile.
  std::vector<double> measure(std::span<const schedule::Plan> plans, int rounds) {
    const auto all = compiled(plans);
    std::vector<std::function<void()>> runs;
    for (const auto& kernels : all)
      runs.push_back(kernels == nullptr ? std::function<void()>() : [this, &kernels] { run(*kernels); });
    return base::steady_medians(base::sample(
        runs, {.rounds = rounds, .sample_seconds = sample_seconds_, .threads = options_.device->num_threads()}));
  }

private:
  using Kernels = std::shared_ptr<const FormKernels>;

  /// Null for a plan whose kernel does not compile. Kernels of the plans that were compiled last stay.
  std::vector<Kernels> compiled(std::span<const schedule::Plan> plans) {
    std::vector<Kernels> result(plans.size());
    for (std::size_t i = 0; i < plans.size(); ++i)
      for (const auto& [plan, kernels] : kept_)
        if (plan == plans[i]) result[i] = kernels;
    kept_.clear(); // before more memory is taken
    std::vector<std::shared_ptr<BuiltForm>> built(plans.size());
    for (std::size_t i = 0; i < plans.size(); ++i)
      if (result[i] == nullptr) {
        options_.plan = plans[i];
        built[i] = build_form(form_, system_, Purpose::action, options_);
      }
    compile_those_that_can(built);
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (result[i] == nullptr && built[i]->is_compiled) result[i] = std::make_shared<const FormKernels>(built[i]);
      kept_.emplace_back(plans[i], result[i]);
    }
    return result;
  }
  static void compile_those_that_can(std::span<const std::shared_ptr<BuiltForm>> all) {
    std::vector<std::shared_ptr<BuiltForm>> forms;
    std::copy_if(all.begin(), all.end(), std::back_inserter(forms), [](const auto& form) { return form != nullptr; });
    try {
      compile(forms);
      return;
    } catch (const base::EnvironmentError&) {
      // one by one it shows which; the others are in the cache
    }
    for (const auto& form : forms) try {
        compile({&form, 1});
      } catch (const base::EnvironmentError&) {
      }
  }

  void run(const FormKernels& kernels) { kernels.run(&x_, form_.fields.empty() ? nullptr : &fields_, y_, false); }

  const form::LoweredForm& form_;
  const System& system_;
  KernelOptions options_;
  double sample_seconds_;
  Vector x_, fields_, y_;
  std::vector<std::pair<schedule::Plan, Kernels>> kept_;
};

KernelOptions weighing_all(KernelOptions options) {
  auto planner = (options.planner == nullptr ? tune::shared_planner() : options.planner)->options();
  planner.weighs_all = true;
  options.planner = std::make_shared<const tune::Planner>(std::move(planner));
  return options;
}

} // namespace

std::vector<TunedKernel> tune_kernels(const form::LoweredForm& form, const System& system, const KernelOptions& given,
                                      const TuningOptions& tuning) {
  const auto tell = [&](const std::string& text) {
    if (tuning.event) tuning.event(text);
  };
  if (form.rank != 2) throw base::InputError("plans are tuned for bilinear forms: only their kernels run often");
  std::vector<TunedKernel> result;
  const auto built = build_form(form, system, Purpose::action, weighing_all(given));
  const KernelOptions& options = built->options; // with a device
  if (built->num_cell_pieces == 0)
    throw base::InputError(
        "plans are tuned for kernels of cells: the form has no integral over cells (dx), and kernels "
        "of facets have no plans to choose from");
  for (const auto& piece : built->pieces) {
    const auto& info = piece.kernel.info;
    if (info.block < 0) continue;
    TunedKernel tuned{info};
    auto& decision = tuned.info.decision;
    if (decision.origin != tune::Origin::measured || tuning.is_fresh) {
      Contest contest(form, system, options, info.block, tuning.sample_seconds);
      for (auto& candidate : decision.candidates) candidate.measured_seconds.reset();
      decision.candidates = tune::search(
          std::move(decision.candidates),
          [&](std::span<const schedule::Plan> plans, int rounds) {
            tell(fmt::format("{}: timing {} plans", info.name, plans.size()));
            return contest.measure(plans, rounds);
          },
          tuning.search);
      std::vector<tune::Measurement> measurements;
      for (const auto& c : decision.candidates)
        if (c.measured_seconds)
          measurements.push_back({schedule::to_string(c.plan), *c.measured_seconds, c.predicted_seconds});
      tuned.num_timed = measurements.size();
      if (auto* store = options.planner->options().store.get(); store != nullptr)
        store->remember(decision.key, measurements);
      decision.plan = decision.candidates.front().plan;
      decision.origin = tune::Origin::measured;
      tuned.info.plan = decision.plan;
    }
    result.push_back(std::move(tuned));
  }
  return result;
}

} // namespace rafter::op
