// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/kernel_builder.hpp>

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/hash.hpp>
#include <rafter/base/text.hpp>
#include <rafter/emit/c_family.hpp>
#include <rafter/form/degree.hpp>
#include <rafter/kernel/cell_matrices.hpp>
#include <rafter/kernel/folding.hpp>
#include <rafter/kernel/separable.hpp>
#include <rafter/schedule/counts.hpp>
#include <rafter/tune/candidates.hpp>
#include <rafter/tune/generation_cache.hpp>
#include <rafter/tune/kernel_lowering.hpp>
#include <rafter/tune/unweighed_plans.hpp>

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

/// First indices of the atoms of a kind that a function reads, in ascending order.
std::vector<int> indices_of(const kernel::QFunction& function, kernel::AtomKind kind) {
  std::set<int> result;
  for (const auto id : function.graph.reachable(function.roots())) {
    const auto& node = function.graph[id];
    if (node.op == form::ScalarOp::atom && node.atom.kind == kind) result.insert(node.atom.a);
  }
  return {result.begin(), result.end()};
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
    degree = std::min(degree, element::max_quadrature_degree);
  }
  const auto rule = element::is_tensor(shape)
                        ? element::make_quadrature_with_points(shape, points_for(degree, kind), kind)
                        : element::make_quadrature(shape, degree, kind);
  return {rule, fmt::format("{}, {} points, degree {}: {}", kind_name, rule.num_points(), degree, why)};
}

namespace {

/// Describes a kernel as its plans are lowered, without the cuts of its QFunction, which are found later.
tune::CellKernel cell_kernel(const KernelSpecification& specification) {
  tune::CellKernel result;
  auto& program = result.program;
  program.quadrature = specification.rule;
  program.local_facet = specification.local_facet;
  program.inputs = specification.inputs;
  program.outputs = specification.outputs;
  program.geometry = specification.geometry;
  program.tables = kernel::make_dense_tables();
  result.map = specification.map;
  result.spaces = specification.spaces;
  result.input_spaces = specification.input_spaces;
  result.output_spaces = specification.output_spaces;
  result.num_trials = specification.num_trials;
  result.cells_per_batch = specification.cells_per_batch;
  result.num_coefficients = specification.num_coefficients;
  if (specification.num_batches > 0)
    result.data_rows_per_batch =
        static_cast<double>(specification.num_data_rows) / static_cast<double>(specification.num_batches);
  return result;
}

kernel::QFunction integrand(const KernelSpecification& specification) {
  auto function =
      kernel::pull_back(specification.parts, specification.shape, specification.map, specification.local_facet >= 0);
  if (specification.purpose == Purpose::diagonal) return kernel::diagonal(function, specification.trial_of_output);
  if (specification.purpose == Purpose::matrix)
    return kernel::pair_coefficients(function, specification.trial_components);
  return function;
}

/// Describes a kernel to the planner and makes the text of the plan that is taken.
class KernelGenerator {
public:
  KernelGenerator(const KernelSpecification& specification, const KernelOptions& options)
      : specification_(specification), options_(options), lowering_(with_choices(cell_kernel(specification))) {
    const auto first = kernel().input_of(kernel().choices.front().functions.main,
                                         contraction(schedule::Plan().contraction, is_facet()));
    is_too_large_ = is_matrix() && is_too_large(kernel::cell_matrix_size(first));
    has_modes_ = !is_matrix() && kernel::modal_degree(first).has_value();
    is_separable_ = !is_matrix() && kernel::separable_form(first).has_value();
  }

  GeneratedKernel build() {
    GeneratedKernel result;
    auto& info = result.info;
    info.num_points = specification_.rule.num_points();
    result.is_too_large = is_too_large_;
    if (is_too_large_) return result;
    const auto decided = decided_plan();
    auto* texts = planner().options().weighs_all ? nullptr : planner().options().generations.get();
    result.specification = specification_text(decided);
    const auto known = texts == nullptr ? std::nullopt : texts->find(result.specification);
    info.decision = known ? with_plan(decided, *known) : decide(decided);
    auto& plan = info.decision.plan;
    auto generation = known.value_or(tune::Generation{.plan = plan, .seconds = info.decision.seconds});
    auto main = lowering_.take(plan);
    plan.mapping = main.mapping;
    info.plan = plan;
    info.work_bytes = schedule::work_bytes(main.loops);
    if (!known) generation.source = emit::emit(main.loops, options_.device->language());
    info.source = generation.source;
    info.tensor_program = main.program.to_string();
    info.loop_program = schedule::print(main.loops);
    result.data_bytes = lowering_.data_bytes(main.loops, plan);
    add_setup(main, result);
    if (!result.setup_loops.buffers.empty() && !known)
      generation.setup_source = emit::emit(result.setup_loops, options_.device->language());
    result.setup_source = generation.setup_source;
    if (texts != nullptr && !known) texts->remember(result.specification, generation);
    result.program = std::move(main.program);
    result.loops = std::move(main.loops);
    return result;
  }

private:
  static constexpr std::size_t most_factor_storages = 6; ///< number of factor storages that the planner weighs at most

  const tune::CellKernel& kernel() const { return lowering_.kernel(); }
  bool is_facet() const { return kernel().is_facet(); }
  bool is_matrix() const { return specification_.purpose == Purpose::matrix; }
  /// Says whether the tables are so large that no cache holds them, or the results so large that they fill it.
  bool is_too_large(const kernel::CellMatrixSize& size) const {
    constexpr double most_table_entries = 1 << 23, most_results = 1 << 22;
    return size.table_entries > most_table_entries ||
           size.result_entries * specification_.cells_per_batch > most_results;
  }
  const tune::Planner& planner() const { return *options_.planner; }

  /// Adds the ways to cut the QFunction.
  tune::CellKernel with_choices(tune::CellKernel result) {
    const auto function = integrand(specification_);
    function_text_ = kernel::to_string(function);
    const auto& machine = planner().options().machine;
    const int threads = options_.device->num_threads();
    // The contraction is the same whatever the plan asks for, because the text of a plan names its cut under every
    // other choice.
    kernel::CurvedMap curved{result.program};
    curved.input.options.contraction = contraction(schedule::Plan().contraction, result.is_facet());
    result.choices = kernel::factor_storages(function, specification_.rule.num_points(),
                                             {.flops_per_second = machine.peak_flops(threads),
                                              .bytes_per_second = machine.rate(machine.memory().triad, threads)},
                                             &curved);
    return result;
  }

  /// Adds the kernel that computes what `main` reads as stored, if it reads any such data.
  void add_setup(const tune::LoweredKernel& main, GeneratedKernel& result) const {
    const auto& plan = result.info.plan;
    const auto& setup = kernel().choice_of(plan).functions.setup;
    result.stored_point_slots = tune::num_stored(setup, kernel::OutputKind::stored_point);
    result.stored_cell_slots = tune::num_stored(setup, kernel::OutputKind::stored_cell);
    if (setup.outputs.empty()) return;
    result.setup_fields = indices_of(setup, kernel::AtomKind::reference_field);
    result.setup_parameters = indices_of(setup, kernel::AtomKind::parameter);
    auto lowered = lowering_.setup(plan, setup_plan(plan), main);
    result.setup_program = std::move(lowered.program);
    result.setup_loops = std::move(lowered.loops);
  }

  /// Changes a plan into one that this kernel can follow.
  schedule::Plan fitted(schedule::Plan plan) const {
    plan.factors = kernel().choice_of(plan).factors;
    plan.vector_width = std::min(plan.vector_width, specification_.cells_per_batch);
    plan.contraction = contraction(plan.contraction, is_facet());
    plan.subbatches = kernel::has_dense_products(plan.contraction)
                          ? std::min(plan.subbatches, specification_.cells_per_batch / plan.vector_width)
                          : 1;
    // Sums of functionals cancel, so that they are computed in double.
    if (specification_.outputs.empty()) return schedule::in_double(plan);
    if (!is_action()) plan = computing_in_double(plan);
    return plan;
  }
  /// Says whether the kernel is the action of a bilinear form. Only such kernels may compute in floats: solvers correct
  /// their errors, while those of right-hand sides stay.
  bool is_action() const { return specification_.num_trials > 0; }
  schedule::Plan computing_in_double(schedule::Plan plan) const {
    if (plan.compute == schedule::Precision::double_precision) return plan;
    plan.compute = plan.accumulate = schedule::Precision::double_precision;
    plan.vector_width = std::min(
        plan.vector_width, tune::usual_width(specification_.cells_per_batch, planner().register_width(), plan.compute));
    return plan;
  }
  /// Plan of the kernel that computes the stored data, always in double.
  schedule::Plan setup_plan(const schedule::Plan& plan) const { return computing_in_double(plan); }
  /// Returns the contraction that the shape admits and that is nearest to what is asked for.
  kernel::Contraction contraction(kernel::Contraction asked, bool has_facets) const {
    using kernel::Contraction;
    if (has_facets) return Contraction::dense;
    if (is_matrix()) return element::is_tensor(specification_.shape) ? Contraction::collocated : Contraction::dense;
    if (element::is_tensor(specification_.shape)) {
      const bool is_other = asked == Contraction::modal || (asked == Contraction::separable && !is_separable_);
      return is_other ? Contraction::collocated : asked;
    }
    return asked != Contraction::dense && has_modes_ ? Contraction::modal : Contraction::dense;
  }

  /// Returns the plan that needs no planner: what was asked for, what was measured, or the usual one of kernels that
  /// have no alternatives. Else the origin of the decision is `predicted`, and its plan says nothing.
  tune::Decision decided_plan() const {
    tune::Decision decision;
    if (is_facet() || is_matrix())
      decision.plan = fitted(tune::plan_usual(kernel().choices.front().factors, specification_.cells_per_batch,
                                              planner().register_width(), options_.plan));
    else if (options_.plan)
      decision.plan = fitted(*options_.plan);
    else
      decision = planner().known(problem());
    return decision;
  }
  /// Asks the planner where `decided`, the result of decided_plan(), leaves the plan open. A planner that weighs all
  /// plans is asked for kernels of cells in any case, because it lists them.
  tune::Decision decide(const tune::Decision& decided) {
    const bool is_weighed = !is_facet() && !is_matrix() && planner().options().weighs_all;
    if (!is_weighed && decided.origin != tune::Origin::predicted) return decided;
    auto decision = planner().decide(problem(), lowering_);
    if (decided.origin == tune::Origin::given) {
      decision.plan = decided.plan;
      decision.origin = tune::Origin::given;
    }
    return decision;
  }
  static tune::Decision with_plan(tune::Decision decided, const tune::Generation& known) {
    if (decided.origin != tune::Origin::predicted) return decided;
    decided.plan = known.plan;
    decided.seconds = known.seconds;
    return decided;
  }

  tune::PlanningProblem problem() const {
    tune::PlanningProblem result;
    result.text = text();
    result.is_tensor = element::is_tensor(specification_.shape);
    result.has_modes = has_modes_;
    result.is_separable = is_separable_;
    result.num_points = specification_.rule.num_points();
    result.points_per_axis = static_cast<int>(specification_.rule.points_1d.size());
    for (const auto* uses : {&specification_.inputs, &specification_.outputs})
      for (const auto& use : *uses) {
        result.num_dofs = std::max(result.num_dofs, use.element->num_dofs());
        result.nodes_per_axis = std::max(result.nodes_per_axis, use.element->degree() + 1);
      }
    for (const auto& choice : kernel().choices)
      if (!choice.is_dominated) result.factor_storages.push_back(choice.factors);
    if (result.factor_storages.size() > most_factor_storages) result.factor_storages.resize(most_factor_storages);
    result.compilers = options_.device->compilers();
    result.flag_sets = options_.device->flag_sets();
    result.cells_per_batch = specification_.cells_per_batch;
    result.register_width = planner().register_width();
    for (const auto* layout : specification_.spaces)
      result.patches_per_batch = std::max(result.patches_per_batch, kernel().patches_per_batch(*layout));
    result.num_batches = static_cast<double>(specification_.num_batches);
    result.num_threads = options_.device->num_threads();
    result.shares_data = kernel().rows_per_batch({}) < 0.5;
    result.streams_outputs = streams_outputs();
    result.input_bytes = specification_.input_bytes;
    result.output_bytes = specification_.output_bytes;
    return result;
  }

  bool streams_outputs() const {
    const bool is_exclusive = std::ranges::all_of(specification_.output_spaces, [this](int space) {
      return specification_.spaces[static_cast<std::size_t>(space)]->num_runs == 0;
    });
    const double bytes =
        (specification_.input_bytes + specification_.output_bytes) * static_cast<double>(specification_.num_batches);
    const auto seen = machine::resident(planner().options().machine, bytes, options_.device->num_threads());
    return is_exclusive && specification_.output_bytes > 0 &&
           seen.levels.size() == planner().options().machine.levels.size();
  }

  /// Name of the kernel in the store of measured plans. It holds all that the text of a kernel of cells depends on
  /// besides the plan and the width of patches.
  std::string text() const {
    std::string result = function_text_;
    const auto bytes = [](const std::vector<double>& values) {
      return base::content_hash({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)});
    };
    result += fmt::format("rule {} {} {}\n", specification_.rule.num_points(), bytes(specification_.rule.points),
                          bytes(specification_.rule.weights));
    const auto add = [&](const char* what, const element::Element& element, int components, const std::string& access) {
      result += fmt::format("{} {} {} {} components {} {}\n", what, element::name(element.family()),
                            element::name(element.shape()), element.degree(), components, access);
    };
    const auto access = [&](int space) -> std::string {
      if (space < 0) return "cell matrices";
      const auto& layout = *specification_.spaces[static_cast<std::size_t>(space)];
      const char* words = layout.num_runs == 0                     ? "cell vector"
                          : kernel().patches_per_batch(layout) > 0 ? "patches"
                                                                   : "pattern";
      return fmt::format("{} {}", words, space);
    };
    if (specification_.map == mesh::MapKind::isoparametric) add("geometry", *specification_.geometry, 0, "nodes");
    for (std::size_t i = 0; i < specification_.inputs.size(); ++i)
      add("input", *specification_.inputs[i].element, specification_.inputs[i].components,
          access(specification_.input_spaces[i]));
    for (std::size_t i = 0; i < specification_.outputs.size(); ++i)
      add("output", *specification_.outputs[i].element, specification_.outputs[i].components,
          access(specification_.output_spaces[i]));
    return result + fmt::format("lanes {}\n", specification_.cells_per_batch);
  }

  /// The specification as text: generators of one build give equal texts for equal specifications. Where the planner is
  /// asked, the text holds all that it decides from.
  std::string specification_text(const tune::Decision& decided) const {
    const auto& machine = planner().options().machine;
    std::string result =
        fmt::format("{}language {}\npurpose {}\nfacet {}\ntrials {}\ncoefficients {}\n", text(),
                    options_.device->language(), static_cast<int>(specification_.purpose), specification_.local_facet,
                    specification_.num_trials, specification_.num_coefficients);
    for (const auto& output : specification_.outputs)
      if (output.trial_element != nullptr)
        result += fmt::format("trial {} {} \n", element::name(output.trial_element->family()),
                              output.trial_element->degree());
    for (const auto* layout : specification_.spaces)
      result += fmt::format("patches {} of {}\n", kernel().patches_per_batch(*layout),
                            layout->patch == nullptr ? 0 : layout->patch->corners.size());
    // The machine and its threads decide which cuts there are, and so what a plan means by them.
    result += fmt::format("threads {}\n{}\n", options_.device->num_threads(), machine::to_json(machine));
    if (decided.origin != tune::Origin::predicted) return result + "plan " + schedule::to_string(decided.plan) + "\n";
    const auto planned = problem();
    return result + fmt::format("planned: batches {} rows {} input {} output {} compilers {} flags {}\n",
                                planned.num_batches, specification_.num_data_rows, planned.input_bytes,
                                planned.output_bytes, base::join(planned.compilers, " "),
                                base::join(planned.flag_sets, " "));
  }

  const KernelSpecification& specification_;
  const KernelOptions& options_;
  std::string function_text_;
  bool is_too_large_ = false; ///< the kernel computes cell matrices that are too large to be worth it
  bool has_modes_ = false;    ///< says whether the modal contraction applies
  bool is_separable_ = false; ///< says whether the separable contraction applies
  tune::KernelLowering lowering_;
};

} // namespace

GeneratedKernel build_kernel(const KernelSpecification& specification, const KernelOptions& options) {
  return KernelGenerator(specification, options).build();
}

} // namespace rafter::op
