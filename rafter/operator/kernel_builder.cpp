// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/kernel_builder.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/emit/c_family.hpp>
#include <rafter/form/degree.hpp>

namespace rafter::op {

namespace {

/// Points per direction that integrate a degree exactly.
int points_for(int degree, element::QuadratureKind kind) {
  return kind == element::QuadratureKind::gauss ? degree / 2 + 1 : std::max(2, (degree + 4) / 2);
}

element::Quadrature rule_with_points(element::Shape shape, int points, element::QuadratureKind kind) {
  if (element::is_tensor(shape)) return element::make_quadrature_with_points(shape, points, kind);
  // elsewhere: the smallest rule that is as exact as `points` points per direction are on an interval
  return element::make_quadrature(shape, kind == element::QuadratureKind::gauss ? 2 * points - 1 : 2 * points - 3);
}

/// Uses of fields that the program really reads or writes, by atoms of its point function.
std::vector<int> used(const kernel::PointFunction& function, const std::vector<kernel::FieldUse>& uses,
                      bool are_inputs) {
  std::vector<int> result;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    bool is_used = false;
    if (are_inputs) {
      for (const auto id : function.graph.reachable(function.roots())) {
        const auto& node = function.graph[id];
        is_used = is_used ||
                  (node.op == form::ScalarOp::atom && node.atom.kind == uses[i].kind && node.atom.a == uses[i].index);
      }
    } else
      for (const auto& output : function.outputs)
        is_used =
            is_used || ((output.kind == kernel::OutputKind::test || output.kind == kernel::OutputKind::test_pair) &&
                        output.field == uses[i].index);
    if (is_used) result.push_back(static_cast<int>(i));
  }
  return result;
}

struct Lowered {
  kernel::TensorProgram program;
  schedule::LoopProgram loops;
};

/// Work arrays of every thread: beyond any use. Throws InputError.
void require_work_fits(const schedule::LoopProgram& loops, const element::Quadrature& rule) {
  constexpr double limit_bytes = 64.0 * (1 << 20);
  double bytes = 0;
  for (const auto& buffer : loops.buffers)
    if (buffer.space == schedule::Space::work) bytes += static_cast<double>(buffer.size) * sizeof(double);
  if (bytes > limit_bytes)
    throw base::InputError(fmt::format("a kernel with {} quadrature points per cell would need {:.3g} MiB of working "
                                       "memory per thread, accepted are {:.3g} MiB: use a lower quadrature degree or "
                                       "fewer points",
                                       rule.num_points(), bytes / (1 << 20), limit_bytes / (1 << 20)));
}

Lowered lower_function(const kernel::PointFunction& function, const KernelRequest& request, schedule::Plan& plan) {
  kernel::ProgramInput input;
  input.function = function;
  input.quadrature = request.rule;
  input.local_facet = request.local_facet;
  input.geometry = request.geometry;
  input.options.contraction = plan.contraction;
  schedule::LoweringInput lowering;
  lowering.spaces = request.spaces;
  lowering.is_facet = request.local_facet >= 0;
  for (const int i : used(function, request.inputs, true)) {
    const auto at = static_cast<std::size_t>(i);
    input.inputs.push_back(request.inputs[at]);
    lowering.input_spaces.push_back(request.input_spaces[at]);
    lowering.input_vectors.push_back(request.input_vectors[at]);
  }
  for (const int i : used(function, request.outputs, false)) {
    const auto at = static_cast<std::size_t>(i);
    input.outputs.push_back(request.outputs[at]);
    lowering.output_spaces.push_back(request.output_spaces[at]);
  }
  Lowered result;
  result.program = kernel::build_program(input);
  lowering.program = &result.program;
  result.loops = schedule::lower(lowering, plan);
  require_work_fits(result.loops, request.rule);
  return result;
}

const kernel::Choice& choose(const std::vector<kernel::Choice>& candidates, const std::optional<schedule::Plan>& plan) {
  if (plan)
    for (const auto& candidate : candidates)
      if (candidate.recipe == plan->recipe) return candidate;
  return candidates.front();
}

int count_slots(const kernel::PointFunction& setup, kernel::OutputKind kind) {
  return static_cast<int>(std::count_if(setup.outputs.begin(), setup.outputs.end(),
                                        [kind](const kernel::Output& output) { return output.kind == kind; }));
}

/// What the map of the cells adds to the degree of an integrand. Linear forms and functionals: the degree of det J (per
/// direction on tensor cells), so that polynomial loads on straight cells are integrated exactly. Bilinear forms: what
/// curved edges add; the degrees p+1 points leave over serve multilinear cells, as is usual.
int map_degree(element::Shape shape, std::span<const kernel::IntegralPart> parts, mesh::MapKind map,
               int geometry_degree) {
  if (map == mesh::MapKind::affine) return 0;
  if (parts.front().integral->rank == 2) return 2 * (geometry_degree - 1);
  const int dim = element::dimension(shape);
  const bool is_simplex = shape == element::Shape::triangle || shape == element::Shape::tetrahedron;
  return is_simplex ? dim * (geometry_degree - 1) : dim * geometry_degree - 1;
}

} // namespace

RuleChoice choose_rule(element::Shape shape, std::span<const kernel::IntegralPart> parts, mesh::MapKind map,
                       int geometry_degree, const QuadratureOptions& options) {
  const bool is_gauss = options.kind == element::QuadratureKind::gauss || !element::is_tensor(shape);
  const auto kind = is_gauss ? element::QuadratureKind::gauss : options.kind;
  const char* kind_name = is_gauss ? "Gauss" : "Gauss-Lobatto";
  if (shape == element::Shape::point) return {element::make_quadrature(shape, 0), "the point"};
  if (options.points)
    return {rule_with_points(shape, *options.points, kind),
            fmt::format("{} with {} points per direction, as asked", kind_name, *options.points)};
  int degree = options.degree.value_or(0);
  std::string why = "as asked";
  if (!options.degree) {
    const int of_map = map_degree(shape, parts, map, geometry_degree);
    for (const auto& part : parts) {
      const auto choice = form::choose_quadrature_degree(*part.integral, options.max_degree);
      const int extra = part.integral->measure.degree >= 0 ? 0 : of_map; // the author's degree is taken as it is
      if (choice.degree + extra < degree) continue;
      degree = choice.degree + extra;
      why = choice.explanation;
      if (extra > 0) why += fmt::format("; + {} for {} cells", extra, mesh::name(map));
    }
    degree = std::min(degree, element::max_quadrature_degree);
  }
  const auto rule = element::is_tensor(shape)
                        ? element::make_quadrature_with_points(shape, points_for(degree, kind), kind)
                        : element::make_quadrature(shape, degree, kind);
  return {rule, fmt::format("{}, {} points, degree {}: {}", kind_name, rule.num_points(), degree, why)};
}

BuiltKernel build_kernel(const KernelRequest& request, const KernelOptions& options) {
  const bool is_facet = request.local_facet >= 0;
  auto function = kernel::pull_back(request.parts, request.shape, request.map, is_facet);
  if (request.purpose == Purpose::diagonal) function = kernel::diagonal(function, request.trial_of_output);

  BuiltKernel result;
  auto& info = result.info;
  info.num_points = request.rule.num_points();
  info.plan = options.plan && !is_facet ? *options.plan : schedule::Plan();
  if (is_facet || !element::is_tensor(request.shape)) info.plan.contraction = kernel::Contraction::dense;
  const kernel::CurvedMap curved{{.function = {},
                                  .quadrature = request.rule,
                                  .local_facet = request.local_facet,
                                  .inputs = {},
                                  .outputs = {},
                                  .geometry = request.geometry,
                                  .options = {.contraction = info.plan.contraction}}};
  info.candidates = kernel::recipes(function, info.num_points, options.balance, &curved);
  const auto& choice = choose(info.candidates, is_facet ? std::nullopt : options.plan);
  info.plan.recipe = choice.recipe;
  info.plan.lanes = request.lanes;

  auto main = lower_function(choice.functions.main, request, info.plan);
  result.program = std::move(main.program);
  result.loops = std::move(main.loops);
  info.source = emit::emit(result.loops, options.device->language());
  info.tensor_program = result.program.to_string();
  info.loop_program = schedule::print(result.loops);
  const auto& setup = choice.functions.setup;
  result.stored_point_slots = count_slots(setup, kernel::OutputKind::stored_point);
  result.stored_cell_slots = count_slots(setup, kernel::OutputKind::stored_cell);
  if (!setup.outputs.empty()) {
    auto setup_plan = info.plan;
    auto lowered = lower_function(setup, request, setup_plan);
    result.setup_program = std::move(lowered.program);
    result.setup_loops = std::move(lowered.loops);
    result.setup_source = emit::emit(result.setup_loops, options.device->language());
  }
  return result;
}

} // namespace rafter::op
