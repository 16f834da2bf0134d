// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/tuning.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <random>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/timing.hpp>
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

  /// Medians over the rounds; in every round each plan is sampled once, so that drifts of the machine hit all alike.
  std::vector<double> measure(std::span<const schedule::Plan> plans, int rounds) {
    const auto kernels = compiled(plans);
    std::vector<std::vector<double>> samples(plans.size());
    std::vector<int> repeats(plans.size(), 1);
    for (std::size_t i = 0; i < plans.size(); ++i)
      if (kernels[i] != nullptr) repeats[i] = warmed_up(*kernels[i]);
    for (int round = 0; round < rounds; ++round)
      for (std::size_t i = 0; i < plans.size(); ++i)
        if (kernels[i] != nullptr) samples[i].push_back(sample(*kernels[i], repeats[i]));
    return medians(samples);
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

  /// Number of runs that make a sample long enough.
  int warmed_up(const FormKernels& kernels) {
    run(kernels);
    int repeats = 1;
    for (double seconds = 0;;) {
      seconds = sample(kernels, repeats) * repeats;
      if (seconds >= sample_seconds_ / 2) return std::max(1, static_cast<int>(repeats * sample_seconds_ / seconds));
      repeats *= 2;
    }
  }
  double sample(const FormKernels& kernels, int repeats) {
    const double start = base::cpu_seconds();
    for (int i = 0; i < repeats; ++i) run(kernels);
    return (base::cpu_seconds() - start) / repeats / options_.device->num_threads();
  }

  /// Times as multiples of their round's geometric mean, whose median gives the scale back.
  static std::vector<double> medians(const std::vector<std::vector<double>>& samples) {
    std::vector<double> means;
    const std::size_t rounds = std::ranges::max(samples, {}, &std::vector<double>::size).size();
    for (std::size_t r = 0; r < rounds; ++r) {
      double sum = 0;
      int count = 0;
      for (const auto& times : samples)
        if (!times.empty()) {
          sum += std::log(times[r]);
          ++count;
        }
      means.push_back(std::exp(sum / count));
    }
    std::vector<double> result;
    for (const auto& times : samples) {
      std::vector<double> relative;
      for (std::size_t r = 0; r < times.size(); ++r) relative.push_back(times[r] / means[r]);
      result.push_back(relative.empty() ? std::numeric_limits<double>::infinity()
                                        : base::median(relative) * base::median(means));
    }
    return result;
  }

  const form::LoweredForm& form_;
  const System& system_;
  KernelOptions options_;
  double sample_seconds_;
  Vector x_, fields_, y_;
  std::vector<std::pair<schedule::Plan, Kernels>> kept_;
};

} // namespace

std::vector<TunedKernel> tune_kernels(const form::LoweredForm& form, const System& system, const KernelOptions& options,
                                      const TuningOptions& tuning) {
  const auto tell = [&](const std::string& text) {
    if (tuning.event) tuning.event(text);
  };
  if (form.rank != 2) throw base::InputError("plans are tuned for bilinear forms: only their kernels run often");
  std::vector<TunedKernel> result;
  const auto built = build_form(form, system, Purpose::action, options);
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
