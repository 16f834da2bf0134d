// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/kernel_builder.hpp>

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/hash.hpp>
#include <rafter/emit/c_family.hpp>
#include <rafter/form/degree.hpp>
#include <rafter/kernel/folding.hpp>
#include <rafter/kernel/separable.hpp>
#include <rafter/schedule/counts.hpp>
#include <rafter/tune/candidates.hpp>

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

/// Uses of fields that the program really reads or writes, by atoms of its QFunction.
std::vector<int> used(const kernel::QFunction& function, const std::vector<kernel::FieldUse>& uses, bool are_inputs) {
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

/// First indices of the atoms of a kind that a function reads, ascending.
std::vector<int> indices_of(const kernel::QFunction& function, kernel::AtomKind kind) {
  std::set<int> result;
  for (const auto id : function.graph.reachable(function.roots())) {
    const auto& node = function.graph[id];
    if (node.op == form::ScalarOp::atom && node.atom.kind == kind) result.insert(node.atom.a);
  }
  return {result.begin(), result.end()};
}

/// Work arrays of every thread: beyond any use. Throws InputError.
void require_work_fits(const schedule::LoopProgram& loops, const element::Quadrature& rule) {
  constexpr double limit_bytes = 64.0 * (1 << 20);
  const double bytes = schedule::work_bytes(loops);
  if (bytes > limit_bytes)
    throw base::InputError(fmt::format("a kernel with {} quadrature points per cell would need {:.3g} MiB of working "
                                       "memory per thread, accepted are {:.3g} MiB: use a lower quadrature degree or "
                                       "fewer points",
                                       rule.num_points(), bytes / (1 << 20), limit_bytes / (1 << 20)));
}

int count_slots(const kernel::QFunction& setup, kernel::OutputKind kind) {
  return static_cast<int>(std::count_if(setup.outputs.begin(), setup.outputs.end(),
                                        [kind](const kernel::Output& output) { return output.kind == kind; }));
}

/// What the map of the cells adds to the degree of an integrand. Linear forms and functionals: the degree of det J (per
/// direction on tensor cells), so that polynomial loads on straight cells are integrated exactly. Bilinear forms: what
/// curved edges add; the degrees p+1 points leave over serve multilinear cells, as is usual.
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

namespace {

/// The planner's words for a kernel, and the lowering of its plans; what was lowered is kept.
class KernelGenerator {
public:
  KernelGenerator(const KernelSpecification& specification, const KernelOptions& options)
      : specification_(specification), options_(options) {
    auto function = kernel::pull_back(specification.parts, specification.shape, specification.map, is_facet());
    if (specification.purpose == Purpose::diagonal)
      function = kernel::diagonal(function, specification.trial_of_output);
    const auto& machine = planner().options().machine;
    const int threads = options.device->num_threads();
    // with one contraction whatever is asked for: the text of a plan names its cut under every other choice
    const kernel::CurvedMap curved{program_input({}, fitted(schedule::Plan()))};
    choices_ = kernel::factor_storages(function, specification.rule.num_points(),
                                       {.flops_per_second = machine.peak_flops(threads),
                                        .bytes_per_second = machine.rate(machine.memory().triad, threads)},
                                       &curved);
    const auto first = program_input(choices_.front().functions.main, schedule::Plan());
    has_modes_ = kernel::modal_degree(first).has_value();
    is_separable_ = kernel::separable_form(first).has_value();
    function_text_ = kernel::to_string(function);
  }

  GeneratedKernel build() {
    GeneratedKernel result;
    auto& info = result.info;
    info.num_points = specification_.rule.num_points();
    info.decision = decide();
    auto& plan = info.decision.plan;
    const auto& choice = choice_of(plan);
    auto& main = lowered(plan);
    result.program = std::move(program(plan)); // no other plan is lowered any more
    result.loops = std::move(main.loops);
    plan.mapping = main.mapping;
    info.plan = plan;
    info.work_bytes = schedule::work_bytes(result.loops);
    info.source = emit::emit(result.loops, options_.device->language());
    info.tensor_program = result.program.to_string();
    info.loop_program = schedule::print(result.loops);
    result.data_bytes = data_bytes(result.loops, plan);
    const auto& setup = choice.functions.setup;
    result.stored_point_slots = count_slots(setup, kernel::OutputKind::stored_point);
    result.stored_cell_slots = count_slots(setup, kernel::OutputKind::stored_cell);
    if (setup.outputs.empty()) return result;
    result.setup_fields = indices_of(setup, kernel::AtomKind::reference_field);
    result.setup_parameters = indices_of(setup, kernel::AtomKind::parameter);
    const auto own_plan = setup_plan(plan);
    result.setup_program = kernel::build_program(program_input(setup, own_plan));
    result.setup_loops = lower(result.setup_program, setup, own_plan, main.stored).loops;
    result.setup_source = emit::emit(result.setup_loops, options_.device->language());
    return result;
  }

private:
  /// How what is stored per point stands.
  struct Stored {
    schedule::StoredOrder order = schedule::StoredOrder::by_batch;
    int interleave = 0; ///< as LoweringInput::interleave
  };
  struct Lowered {
    schedule::LoopProgram loops;
    std::string mapping; ///< that accepted
    Stored stored;
  };

  static constexpr std::size_t most_factor_storages = 6; ///< that are planned with

  bool is_facet() const { return specification_.local_facet >= 0; }
  const tune::Planner& planner() const { return *options_.planner; }
  /// Patches of a batch; 0: they are not gathered.
  int patches_per_batch(const space::ElementLayout& layout) const {
    return is_facet() || layout.patch == nullptr
               ? 0
               : specification_.cells_per_batch / static_cast<int>(layout.patch->corners.size());
  }
  int register_width() const { return planner().options().machine.peaks.back().bits / 64; }
  /// Lanes of plans that nobody chose.
  int usual_width(schedule::Precision compute) const {
    const int per_double = compute == schedule::Precision::single_precision ? 2 : 1;
    return tune::usual_width(specification_.cells_per_batch, per_double * register_width());
  }

  const kernel::Choice& choice_of(const schedule::Plan& plan) const {
    const auto found = std::ranges::find(choices_, plan.factors, &kernel::Choice::factors);
    return found == choices_.end() ? choices_.front() : *found;
  }

  /// A plan as this kernel can follow it.
  schedule::Plan fitted(schedule::Plan plan) const {
    if (!choices_.empty()) plan.factors = choice_of(plan).factors;
    plan.vector_width = std::min(plan.vector_width, specification_.cells_per_batch);
    plan.contraction = contraction(plan.contraction);
    plan.subbatches = kernel::has_dense_products(plan.contraction)
                          ? std::min(plan.subbatches, specification_.cells_per_batch / plan.vector_width)
                          : 1;
    if (specification_.outputs.empty()) return schedule::in_double(plan); // functionals: sums that cancel
    if (!is_action()) plan = computing_in_double(plan);
    return plan;
  }
  /// Of a bilinear form: its errors are those of smoothers, and solvers correct them; those of right-hand sides stay.
  bool is_action() const { return specification_.num_trials > 0; }
  schedule::Plan computing_in_double(schedule::Plan plan) const {
    if (plan.compute == schedule::Precision::double_precision) return plan;
    plan.compute = plan.accumulate = schedule::Precision::double_precision;
    plan.vector_width = std::min(plan.vector_width, usual_width(plan.compute));
    return plan;
  }
  /// Of the kernel that computes what is stored, from doubles.
  schedule::Plan setup_plan(const schedule::Plan& plan) const { return computing_in_double(plan); }
  /// What the shape admits, nearest to what is asked for.
  kernel::Contraction contraction(kernel::Contraction asked) const {
    using kernel::Contraction;
    if (is_facet()) return Contraction::dense;
    if (element::is_tensor(specification_.shape)) {
      const bool is_other = asked == Contraction::modal || (asked == Contraction::separable && !is_separable_);
      return is_other ? Contraction::collocated : asked;
    }
    return asked != Contraction::dense && has_modes_ ? Contraction::modal : Contraction::dense;
  }

  tune::Decision decide() {
    tune::Decision decision;
    if (is_facet()) {
      schedule::Plan usual;
      usual.factors = choices_.front().factors;
      if (options_.plan) {
        usual.storage = options_.plan->storage;
        usual.compute = options_.plan->compute;
        usual.accumulate = options_.plan->accumulate;
      }
      usual.vector_width = usual_width(usual.compute);
      decision.plan = fitted(usual);
      return decision;
    }
    if (!options_.plan || planner().options().weighs_all) decision = planner().decide(problem());
    if (options_.plan) {
      decision.plan = fitted(*options_.plan);
      decision.origin = tune::Origin::given;
    }
    return decision;
  }

  tune::PlanningProblem problem() {
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
    for (const auto& choice : choices_)
      if (!choice.is_dominated) result.factor_storages.push_back(choice.factors);
    if (result.factor_storages.size() > most_factor_storages) result.factor_storages.resize(most_factor_storages);
    result.compilers = options_.device->compilers();
    result.flag_sets = options_.device->flag_sets();
    result.cells_per_batch = specification_.cells_per_batch;
    result.register_width = register_width();
    for (const auto* layout : specification_.spaces)
      result.patches_per_batch = std::max(result.patches_per_batch, patches_per_batch(*layout));
    result.num_batches = static_cast<double>(specification_.num_batches);
    result.num_threads = options_.device->num_threads();
    result.shares_data = rows_per_batch({}) < 0.5;
    result.streams_outputs = streams_outputs();
    result.input_bytes = specification_.input_bytes;
    result.output_bytes = specification_.output_bytes;
    result.estimate = [this](const schedule::Plan& plan) { return estimate(plan); };
    result.lower = [this](const schedule::Plan& plan) {
      const auto& loops = lowered(plan).loops;
      return tune::PlannedProgram{loops, data_bytes(loops, plan)};
    };
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

  /// All that the generated text depends on besides the plan.
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
    const auto access = [&](int space) {
      const auto& layout = *specification_.spaces[static_cast<std::size_t>(space)];
      const char* words = layout.num_runs == 0 ? "cell vector" : patches_per_batch(layout) > 0 ? "patches" : "pattern";
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

  kernel::ProgramInput program_input(const kernel::QFunction& function, const schedule::Plan& plan) const {
    kernel::ProgramInput input;
    input.function = function;
    input.quadrature = specification_.rule;
    input.local_facet = specification_.local_facet;
    input.geometry = specification_.geometry;
    input.options.contraction = plan.contraction;
    input.tables = tables_;
    for (const int i : used(function, specification_.inputs, true))
      input.inputs.push_back(specification_.inputs[static_cast<std::size_t>(i)]);
    for (const int i : used(function, specification_.outputs, false))
      input.outputs.push_back(specification_.outputs[static_cast<std::size_t>(i)]);
    return input;
  }

  /// As the kernel of a plan reads it: a mapping with cells in lanes, what a group of them reads side by side.
  Stored stored_for(const schedule::LoweringInput& lowering, const schedule::Plan& plan) const {
    const auto& mapping = schedule::choose_mapping(lowering, plan);
    return {mapping.stored_order, mapping.name == "simd_cells" ? plan.vector_width : 0};
  }
  /// `stored`: when another program reads what is stored.
  Lowered lower(const kernel::TensorProgram& program, const kernel::QFunction& function, schedule::Plan plan,
                std::optional<Stored> stored = {}) const {
    schedule::LoweringInput lowering;
    lowering.spaces = specification_.spaces;
    lowering.cells_per_batch = specification_.cells_per_batch;
    lowering.is_facet = is_facet();
    for (const int i : used(function, specification_.inputs, true)) {
      lowering.input_spaces.push_back(specification_.input_spaces[static_cast<std::size_t>(i)]);
      lowering.input_vectors.push_back(i);
    }
    lowering.num_trial_vectors = specification_.num_trials;
    for (const int i : used(function, specification_.outputs, false)) {
      lowering.output_spaces.push_back(specification_.output_spaces[static_cast<std::size_t>(i)]);
      lowering.output_vectors.push_back(i);
    }
    lowering.program = &program;
    Lowered result;
    result.stored = stored ? *stored : stored_for(lowering, plan);
    lowering.stored_order = result.stored.order;
    lowering.interleave = result.stored.interleave;
    result.loops = schedule::lower(lowering, plan);
    result.mapping = plan.mapping;
    require_work_fits(result.loops, specification_.rule);
    return result;
  }

  /// Plans that differ in contraction and storage of factors have programs of their own.
  kernel::TensorProgram& program(const schedule::Plan& plan) {
    const auto [place, is_new] = programs_.try_emplace({plan.contraction, plan.factors});
    if (!is_new) return place->second;
    const auto& choice = choice_of(plan);
    const bool has_grid = plan.contraction != kernel::Contraction::dense;
    place->second = kernel::build_program(program_input(has_grid ? choice.on_grid : choice.functions.main, plan));
    return place->second;
  }
  Lowered& lowered(const schedule::Plan& plan) {
    const auto [place, is_new] = lowered_.try_emplace(schedule::to_string(schedule::without_compilation(plan)));
    if (is_new) place->second = lower(program(plan), choice_of(plan).functions.main, plan);
    return place->second;
  }

  tune::Estimate estimate(const schedule::Plan& plan) {
    const auto& cost = choice_of(plan).cost;
    const double words = stored_words(plan) * (cost.cell_words + cost.point_words * specification_.rule.num_points());
    return {.flops = kernel::count_flops(program(plan)) * specification_.cells_per_batch,
            .data_bytes = 8 * words * specification_.cells_per_batch * rows_per_batch(plan)};
  }
  /// 1: every batch has a row of the data per cell for itself, as where data fields are stored.
  double rows_per_batch(const schedule::Plan& plan) const {
    if (specification_.num_batches == 0 || choice_of(plan).factors.stores_data) return 1;
    return static_cast<double>(specification_.num_data_rows) / static_cast<double>(specification_.num_batches);
  }

  /// Words of a double that a stored number takes.
  static double stored_words(const schedule::Plan& plan) {
    return plan.storage == schedule::Precision::single_precision ? 0.5 : 1;
  }

  double data_bytes(const schedule::LoopProgram& loops, const schedule::Plan& plan) const {
    const auto& setup = choice_of(plan).functions.setup;
    const int dim = element::dimension(specification_.shape);
    const double num_stored =
        count_slots(setup, kernel::OutputKind::stored_cell) +
        static_cast<double>(specification_.rule.num_points()) * count_slots(setup, kernel::OutputKind::stored_point);
    double words = stored_words(plan) * num_stored;
    double starts = 0;
    for (const auto& argument : loops.arguments()) {
      if (argument.role == schedule::Role::map)
        words += static_cast<double>(kernel::map_modes(specification_.map, dim).size()) * dim;
      if (argument.role == schedule::Role::nodes) words += specification_.geometry->num_dofs() * dim;
      if (argument.role == schedule::Role::cell_coefficients) words += specification_.num_coefficients;
      if (argument.role == schedule::Role::run_starts) starts += starts_per_batch(loops, argument.index);
    }
    return 8 * words * rows_per_batch(plan) * specification_.cells_per_batch + 4 * starts;
  }

  /// Of batches of patches, if the kernel gathers those.
  double starts_per_batch(const schedule::LoopProgram& loops, int space) const {
    const auto& layout = *specification_.spaces[static_cast<std::size_t>(space)];
    const bool has_patches = std::ranges::any_of(loops.arguments(), [&](const auto& argument) {
      return argument.role == schedule::Role::patch_starts && argument.index == space;
    });
    if (has_patches) return static_cast<double>(layout.patch->run_lengths.size()) * patches_per_batch(layout);
    return static_cast<double>(layout.num_runs) * specification_.cells_per_batch;
  }

  const KernelSpecification& specification_;
  const KernelOptions& options_;
  std::vector<kernel::Choice> choices_;
  std::shared_ptr<kernel::DenseTables> tables_ = kernel::make_dense_tables();
  std::string function_text_;
  bool has_modes_ = false;    ///< modal contraction applies
  bool is_separable_ = false; ///< separable contraction applies
  std::map<std::pair<kernel::Contraction, kernel::FactorStorage>, kernel::TensorProgram> programs_;
  std::map<std::string, Lowered> lowered_;
};

} // namespace

GeneratedKernel build_kernel(const KernelSpecification& specification, const KernelOptions& options) {
  return KernelGenerator(specification, options).build();
}

} // namespace rafter::op
