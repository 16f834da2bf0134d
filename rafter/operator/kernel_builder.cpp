// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/kernel_builder.hpp>

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/form/degree.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/operator/kernel_generator.hpp>
#include <rafter/operator/kernel_target.hpp>
#include <rafter/space/layout.hpp>
#include <rafter/tune/store.hpp>

namespace rafter::op {

namespace {

/// Number of points per direction that integrate a degree exactly.
int points_for(int degree, element::QuadratureKind kind) {
  return kind == element::QuadratureKind::gauss ? degree / 2 + 1 : std::max(2, (degree + 4) / 2);
}

element::Quadrature rule_with_points(element::Shape shape, int points, element::QuadratureKind kind) {
  if (element::is_tensor(shape)) return element::make_quadrature_with_points(shape, points, kind);
  // Simplices and other shapes get the smallest rule that is as exact as `points` points per direction are on an
  // interval.
  return element::make_quadrature(shape, kind == element::QuadratureKind::gauss ? 2 * points - 1 : 2 * points - 3);
}

/// Degree that the map of the cells adds to that of an integrand. Linear forms and functionals add the degree of det J
/// (per direction on tensor cells), so that polynomial loads on straight cells are integrated exactly. Bilinear forms
/// add only what curved edges bring: the degrees that p + 1 points integrate beyond those of the form serve multilinear
/// cells, as is usual.
int map_degree(element::Shape shape, std::span<const kernel::IntegralPart> parts, mesh::MapKind map,
               int geometry_degree) {
  if (mesh::is_constant(map)) return 0;
  if (parts.front().integral->rank == 2) return 2 * (geometry_degree - 1);
  const int dim = element::dimension(shape);
  return element::is_simplex(shape) ? dim * (geometry_degree - 1) : dim * geometry_degree - 1;
}

/// Least degree of an integral over facets. The size of curved ones is the root of a polynomial of degree 2 (g - 1) per
/// direction, g being the geometry degree, so that it is no polynomial even where the integrand is a constant: with
/// points for this degree lengths and areas converge as fast as the curved cells approximate their surface.
int least_facet_degree(std::span<const kernel::IntegralPart> parts, mesh::MapKind map, int geometry_degree) {
  if (mesh::is_constant(map) || parts.front().integral->measure.kind == form::MeasureKind::cell) return 0;
  return 2 * (geometry_degree - 1);
}

} // namespace

RuleChoice choose_rule(element::Shape shape, std::span<const kernel::IntegralPart> parts, mesh::MapKind map,
                       int geometry_degree, const QuadratureOptions& options) {
  const bool is_gauss = options.kind == element::QuadratureKind::gauss || !element::is_tensor(shape);
  const auto kind = is_gauss ? element::QuadratureKind::gauss : options.kind;
  const char* kind_name = is_gauss ? "Gauss" : "Gauss-Lobatto";
  if (shape == element::Shape::point) return {element::make_quadrature(shape, 0), "the point"};
  const bool is_tensor = element::is_tensor(shape);
  if (const auto points = is_tensor && options.tensor_points ? options.tensor_points : options.points)
    return {rule_with_points(shape, *points, kind),
            fmt::format("{} with {} points per direction, as asked", kind_name, *points)};
  const bool is_curved = !is_tensor && !mesh::is_constant(map);
  const auto asked = is_curved && options.curved_degree ? options.curved_degree : options.degree;
  int degree = asked.value_or(0);
  std::string why = "as asked";
  if (!asked) {
    const int of_map = map_degree(shape, parts, map, geometry_degree);
    for (const auto& part : parts) {
      const auto choice = form::choose_quadrature_degree(*part.integral, options.max_degree);
      // A degree that the author of the form gives is taken as it is.
      const int extra = part.integral->measure.degree >= 0 ? 0 : of_map;
      if (choice.degree + extra < degree) continue;
      degree = choice.degree + extra;
      why = choice.explanation;
      if (extra > 0) why += fmt::format("; + {} for {} cells", extra, mesh::name(map));
    }
    const auto is_chosen = [](const auto& part) { return part.integral->measure.degree < 0; };
    const int least = least_facet_degree(parts, map, geometry_degree);
    if (degree < least && std::ranges::any_of(parts, is_chosen)) {
      degree = least;
      why += fmt::format("; at least {} for the size of curved facets", least);
    }
    degree = std::min(degree, element::max_quadrature_degree);
  }
  const auto rule = element::is_tensor(shape)
                        ? element::make_quadrature_with_points(shape, points_for(degree, kind), kind)
                        : element::make_quadrature(shape, degree, kind);
  return {rule, fmt::format("{}, {} points, degree {}: {}", kind_name, rule.num_points(), degree, why)};
}

namespace {

/// Returns a record without what tells of the measurement alone and decides nothing: records of a machine that is
/// measured again and again while it is busy differ in nothing else, once they are tune::steady.
machine::Machine without_circumstances(machine::Machine record) {
  record.measured_at.clear();
  record.measured_with.clear();
  record.streamed_bytes = 0;
  record.steadiness = record.cpu_share = 1;
  return record;
}

/// The specification as text: generators of one build give equal texts for equal specifications. `decided` says what
/// was measured, if anything. Where the planner is asked, the text holds all that it decides from.
std::string text_of(const KernelSpecification& specification, const KernelOptions& options,
                    const tune::Decision& decided) {
  std::string result = fmt::format("{} {}\n", element::name(specification.shape), mesh::name(specification.map));
  for (const auto& part : specification.parts)
    result += fmt::format("indicator {}\n", part.indicator) + form::content_of(*part.integral);
  result += surroundings_of(specification);
  const auto target = target_of(*options.device);
  result += fmt::format("language {} {} {}\npurpose {}\nfacet {}\ntrials {} {} {}\ncoefficients {}\n",
                        options.device->language(), target.items_in_step, target.lanes_of_item,
                        static_cast<int>(specification.purpose), specification.local_facet, specification.num_trials,
                        fmt::join(specification.trial_components, ","), fmt::join(specification.trial_of_output, ","),
                        specification.num_coefficients);
  for (const auto& output : specification.outputs)
    if (output.trial_element != nullptr)
      result +=
          fmt::format("trial {} {} \n", element::name(output.trial_element->family()), output.trial_element->degree());
  for (const auto* layout : specification.spaces)
    result += fmt::format("patches {} of {}\n", patches_per_batch(specification, *layout),
                          layout->patch == nullptr ? 0 : layout->patch->corners.size());
  // The machine and its threads decide which cuts there are, and so what a plan means by them.
  result += fmt::format("threads {}\n{}\n", options.device->num_threads(),
                        machine::to_json(without_circumstances(options.planner->options().machine)));
  result += fmt::format("batches {} rows {}\n", specification.num_batches, specification.num_data_rows);
  if (runs_few_times(specification, options)) result += "few times\n";
  if (is_single(specification, options)) result += "single\n";
  if (options.plan) return result + "asked for " + schedule::to_string(*options.plan) + "\n";
  if (has_usual_plan(specification, options)) return result + "usual\n";
  if (decided.origin == tune::Origin::measured) return result + "measured " + schedule::to_string(decided.plan) + "\n";
  return result + fmt::format("planned: input {} output {} whole runs {} compilers {} flags {}\n",
                              specification.input_bytes, specification.output_bytes, specification.whole_runs_share,
                              base::join(options.device->compilers(), " "),
                              base::join(options.device->flag_sets(), " "));
}

} // namespace

GeneratedKernel build_kernel(const KernelSpecification& specification, const KernelOptions& options) {
  const auto& planner = options.planner->options();
  std::optional<KernelGenerator> generator; // it takes its time, so that it is made only where it is needed
  const auto generating = [&]() -> KernelGenerator& {
    return generator ? *generator : generator.emplace(specification, options);
  };
  tune::Decision decision;
  if (has_usual_plan(specification, options)) {
    decision.origin = tune::Origin::usual;
  } else if (!options.plan) {
    decision.origin = tune::Origin::predicted;
    if (planner.store != nullptr && planner.store->exists()) decision = generating().measured();
  }
  GeneratedKernel result;
  result.specification = text_of(specification, options, decision);
  auto* generations = planner.weighs_all ? nullptr : planner.generations.get();
  auto known = generations == nullptr ? std::nullopt : generations->find(result.specification);
  if (known) {
    result.generation = std::move(*known);
    if (decision.origin == tune::Origin::predicted) decision.seconds = result.generation.seconds;
  } else {
    decision = generating().decide();
    result.generation = generating().generate(decision);
    if (generations != nullptr) generations->remember(result.specification, result.generation);
  }
  const auto& generation = result.generation;
  auto& info = result.info;
  info.num_points = specification.rule.num_points();
  decision.plan = generation.main.plan;
  info.plan = decision.plan;
  info.decision = std::move(decision);
  info.work_bytes = generation.work_bytes;
  info.source = generation.main.source;
  info.tensor_program = generation.tensor_program;
  info.loop_program = generation.loop_program;
  return result;
}

} // namespace rafter::op
