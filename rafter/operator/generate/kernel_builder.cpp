// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/generate/kernel_builder.hpp>

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <rafter/base/content.hpp>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/operator/generate/kernel_generator.hpp>
#include <rafter/operator/generate/kernel_target.hpp>
#include <rafter/space/layout.hpp>
#include <rafter/tune/store.hpp>

namespace rafter::op {

namespace {

/// Returns a record without what describes the measurement alone and decides nothing: records of a machine that is
/// measured again and again while it is busy differ in nothing else, once they are machine::steady.
machine::Machine without_circumstances(machine::Machine record) {
  record.measured_at.clear();
  record.measured_with.clear();
  record.streamed_bytes = 0;
  record.steadiness = record.cpu_share = 1;
  return record;
}

/// A kernel depends on these options beside its specification.
struct GeneratorOptions {
  schedule::Target target;
  int num_threads = 1;
  std::string machine; ///< machine and its threads decide which cuts there are, and so what a plan means by them
  tune::CostWeights weights;
  std::vector<std::string> compilers, flag_sets;
  bool runs_few_times = false, is_single = false;
  tune::Origin origin = tune::Origin::predicted;
  std::string plan; ///< plan that was asked for or measured; "": it follows from everything else
};
auto members(const GeneratorOptions& value) {
  const auto& [target, num_threads, machine, weights, compilers, flag_sets, runs_few_times, is_single, origin, plan] =
      value;
  return std::tie(target, num_threads, machine, weights, compilers, flag_sets, runs_few_times, is_single, origin, plan);
}

/// Everything that decides about a kernel as text: generators of one build give equal texts for equal ones. `decided`
/// says what was measured, if anything.
std::string text_of(const KernelSpecification& specification, const KernelOptions& options,
                    const tune::Decision& decided) {
  const auto& [name, target, num_threads, compilers, flag_sets] = *options.target;
  const GeneratorOptions generator{
      .target = target,
      .num_threads = num_threads,
      .machine = machine::to_json(without_circumstances(options.planner->options().machine)),
      .weights = options.planner->options().weights,
      .compilers = compilers,
      .flag_sets = flag_sets,
      .runs_few_times = runs_few_times(specification, options),
      .is_single = is_single(specification, options),
      .origin = options.plan != nullptr ? tune::Origin::given : decided.origin,
      .plan = options.plan != nullptr                    ? schedule::to_string(*options.plan)
              : decided.origin == tune::Origin::measured ? schedule::to_string(decided.plan)
                                                         : ""};
  return base::content_text(specification) + base::content_text(generator);
}

} // namespace

GeneratedKernel build_kernel(const KernelSpecification& specification, const KernelOptions& options) {
  const auto& planner = options.planner->options();
  std::optional<KernelGenerator> generator; // it takes its time, so that it is made only where it is needed
  const auto generating = [&]() -> KernelGenerator& {
    return generator ? *generator : generator.emplace(specification, options);
  };
  tune::Decision decision;
  const bool is_usual = has_usual_plan(specification, options);
  if (!options.plan || is_usual) decision.origin = is_usual ? tune::Origin::usual : tune::Origin::predicted;
  const auto* store = planner.store.get();
  const bool has_store = store != nullptr && store->exists();
  if (has_store && may_be_measured(specification, options) &&
      (!is_usual || !store->find(tune::tuned_matrices).empty())) {
    auto measured = generating().measured();
    if (!is_usual || measured.origin == tune::Origin::measured) decision = std::move(measured);
  }
  GeneratedKernel result;
  result.specification = text_of(specification, options, decision);
  auto* kernel_texts = planner.weighs_all ? nullptr : planner.kernel_texts.get();
  auto known = kernel_texts == nullptr ? std::nullopt : kernel_texts->find(result.specification);
  if (known) {
    result.programs = std::move(*known);
    if (decision.origin == tune::Origin::predicted) decision.seconds = result.programs.seconds;
  } else {
    // A measured plan of a kernel with a usual one is all that there is to decide, unless candidates are asked for.
    const bool is_decided = is_usual && decision.origin == tune::Origin::measured && !planner.weighs_all;
    if (!is_decided) decision = generating().decide();
    result.programs = generating().generate(decision);
    if (kernel_texts != nullptr) kernel_texts->remember(result.specification, result.programs);
  }
  const auto& programs = result.programs;
  auto& info = result.info;
  info.num_points = specification.cell.fields.quadrature.num_points();
  decision.plan = programs.main.plan;
  info.plan = decision.plan;
  info.decision = std::move(decision);
  info.work_bytes = programs.work_bytes;
  info.source = programs.main.source;
  info.tensor_program = programs.tensor_program;
  info.schedule_text = programs.schedule_text;
  info.loop_program = programs.loop_program;
  return result;
}

} // namespace rafter::op
