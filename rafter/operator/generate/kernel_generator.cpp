// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/generate/kernel_generator.hpp>

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <rafter/base/content.hpp>
#include <rafter/emit/c_family.hpp>
#include <rafter/emit/recorder.hpp>
#include <rafter/kernel/cell_matrices.hpp>
#include <rafter/kernel/cut.hpp>
#include <rafter/kernel/folding.hpp>
#include <rafter/kernel/point_matrices.hpp>
#include <rafter/kernel/separable.hpp>
#include <rafter/operator/generate/kernel_target.hpp>
#include <rafter/schedule/cell_per_item.hpp>
#include <rafter/schedule/contraction_keys.hpp>
#include <rafter/schedule/counts.hpp>
#include <rafter/schedule/item_keys.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/schedule/point_loops.hpp>
#include <rafter/space/layout.hpp>
#include <rafter/tune/candidates.hpp>
#include <rafter/tune/unweighed_plans.hpp>

namespace rafter::op {

namespace {

namespace key = schedule::key;

/// First indices of the atoms of a kind that a function reads, in ascending order.
std::vector<int> indices_of(const kernel::QFunction& function, kernel::AtomKind kind) {
  std::set<int> result;
  for (const auto id : function.graph.reachable(function.roots())) {
    const auto& node = function.graph[id];
    if (node.op == form::ScalarOp::atom && node.atom.kind == kind) result.insert(node.atom.a);
  }
  return {result.begin(), result.end()};
}

/// Describes a kernel as its plans are lowered, without the cuts of its QFunction, which are found later.
tune::CellKernel cell_kernel(const KernelSpecification& specification) {
  tune::CellKernel result{.cell = specification.cell};
  const auto& sizes = specification.sizes;
  if (sizes.num_batches > 0)
    result.data_rows_per_batch = static_cast<double>(sizes.num_data_rows) / static_cast<double>(sizes.num_batches);
  return result;
}

/// The pair coefficients of a matrix of cells by physical derivatives, where its tables are small enough.
std::optional<kernel::QFunction> pairs_of_derivatives(const KernelSpecification& specification) {
  const auto& cell = specification.cell;
  if (specification.purpose != Purpose::matrix || cell.is_facet() ||
      !kernel::has_point_matrices(cell.fields.outputs, cell.fields.quadrature))
    return std::nullopt;
  const auto function = kernel::keep_derivatives(specification.parts, specification.shape(), cell.map);
  return kernel::pair_coefficients(function, specification.trial_components);
}

kernel::QFunction integrand(const KernelSpecification& specification) {
  auto function = kernel::pull_back(specification.parts, specification.shape(), specification.cell.map,
                                    specification.cell.is_facet());
  if (specification.purpose == Purpose::diagonal) return kernel::diagonal(function, specification.trial_of_output);
  if (specification.purpose == Purpose::matrix)
    return kernel::pair_coefficients(function, specification.trial_components);
  return function;
}

bool stores_matrices(const schedule::Plan& plan) {
  return plan[key::contraction] == kernel::Contraction::cell_matrices;
}

/// Says whether a function reads data fields or parameters.
bool reads_what_changes(const kernel::QFunction& function) {
  return !indices_of(function, kernel::AtomKind::reference_field).empty() ||
         !indices_of(function, kernel::AtomKind::parameter).empty();
}

/// Numbers behind the last weight, because kernels with points in lanes read whole vectors.
constexpr std::size_t weights_room = 16;

std::vector<tune::GeneratedOutput> outputs_of(const kernel::TensorProgram& program) {
  std::vector<tune::GeneratedOutput> result;
  for (const auto& use : program.outputs) {
    auto& output = result.emplace_back(tune::GeneratedOutput{.field = use.index, .components = use.components});
    output.num_tests = use.element->num_dofs();
    if (use.trial_element == nullptr) continue;
    output.num_trials = use.trial_element->num_dofs();
    output.places = kernel::pair_places(program, use);
  }
  return result;
}

/// Says how items add where no plan does. Additions without an instruction that adds are tried again and again, and
/// take about as long as a second pass, which gives the same bits in every run. Its lists are worth it in kernels that
/// run often. Items with lanes do neither.
schedule::Scatter usual_scatter(const KernelSpecification& specification, const KernelOptions& options) {
  const bool adds = specification.purpose != Purpose::matrix && !specification.cell.fields.outputs.empty();
  if (!adds) return schedule::Scatter::atomic;
  const auto target = options.target->target;
  const auto usual = schedule::usual_plan(target);
  if (schedule::has_items(usual) && schedule::has_cell_lanes(usual)) return usual[key::scatter];
  const bool is_worth_lists = !runs_few_times(specification, options) && specification.purpose == Purpose::action;
  return is_worth_lists && !target.has_atomic_doubles ? schedule::Scatter::two_pass : schedule::Scatter::atomic;
}

} // namespace

bool runs_few_times(const KernelSpecification& specification, const KernelOptions& options) {
  return options.runs_few_times || specification.purpose != Purpose::action ||
         specification.cell.fields.outputs.empty();
}

bool has_usual_plan(const KernelSpecification& specification, const KernelOptions& options) {
  return specification.cell.is_facet() || specification.purpose == Purpose::matrix ||
         (!options.plan && runs_few_times(specification, options));
}

bool may_be_measured(const KernelSpecification& specification, const KernelOptions& options) {
  const bool is_of_matrices = specification.purpose == Purpose::matrix && !specification.cell.is_facet();
  return !options.plan && (is_of_matrices || !has_usual_plan(specification, options));
}

bool is_single(const KernelSpecification& specification, const KernelOptions& options) {
  return !options.plan && specification.purpose == Purpose::action && specification.cell.num_trials > 0 &&
         options.precision == schedule::Precision::single_precision;
}

std::string surroundings_of(const KernelSpecification& specification) {
  auto cell = specification.cell;
  cell.whole_runs_share = 1; // it weighs plans, and no text depends on it
  return base::content_text(cell);
}

KernelGenerator::KernelGenerator(const KernelSpecification& specification, const KernelOptions& options)
    : specification_(specification), options_(options), lowering_(with_choices(cell_kernel(specification))) {
  const auto first = kernel().input_of(kernel().choices.front().functions.main,
                                       contraction(schedule::Plan()[key::contraction], is_facet()));
  is_too_large_ = is_matrix() && is_too_large(kernel::cell_matrix_size(first));
  has_modes_ = !is_matrix() && kernel::modal_degree(first).has_value();
  is_separable_ = !is_matrix() && kernel::separable_form(first).has_value();
}

/// Adds the ways to cut the QFunction.
tune::CellKernel KernelGenerator::with_choices(tune::CellKernel result) {
  result.target = options_.target->target;
  result.of_derivatives = pairs_of_derivatives(specification_);
  const auto function = integrand(specification_);
  result.matrices = matrices_to_store(function, result.cell);
  function_text_ = kernel::to_string(function);
  const auto& machine = planner().options().machine;
  const int threads = options_.target->num_threads;
  // The contraction is the same whatever the plan asks for, because the text of a plan names its cut under every other
  // choice.
  kernel::CurvedMap curved{{.fields = result.cell.fields,
                            .function = {},
                            .contraction = contraction(schedule::Plan()[key::contraction], result.cell.is_facet()),
                            .tables = nullptr}};
  result.choices =
      kernel::factor_storages(function, kernel::point_loops(function, specification_.cell.fields.quadrature),
                              {.flops_per_second = machine.peak_flops(threads),
                               .bytes_per_second = machine.rate(machine.memory().triad, threads)},
                              &curved);
  return result;
}

tune::Decision KernelGenerator::decide() {
  tune::Decision decision;
  if (has_usual_plan(specification_, options_)) {
    const bool weighs = planner().options().weighs_all && !is_too_large_;
    if (weighs && may_be_measured(specification_, options_)) decision = planner().decide(problem(), lowering_);
    if (decision.origin == tune::Origin::measured) return decision;
    decision.plan = usual_plan();
    decision.origin = tune::Origin::usual;
    decision.seconds = 0;
    return decision;
  }
  const bool is_given = options_.plan != nullptr;
  if (!is_given || planner().options().weighs_all) decision = planner().decide(problem(), lowering_);
  if (is_given) {
    decision.plan = fitted(*options_.plan);
    decision.origin = tune::Origin::given;
  } else if (is_single(specification_, options_))
    decision.plan = fitted(computing_in_floats(decision.plan));
  return decision;
}

// --- generation -----------------------------------------------------------------------------------------------------

tune::KernelPrograms KernelGenerator::generate(const tune::Decision& decision) {
  tune::KernelPrograms result;
  result.is_too_large = is_too_large_;
  if (is_too_large_) return result;
  auto plan = decision.plan;
  const auto main = lowering_.take(plan);
  plan.set(key::mapping, schedule::mapping_named(main.mapping));
  result.seconds = decision.seconds;
  result.main = generated(main, plan, plan);
  result.tensor_program = main.program.to_string();
  result.schedule_text = main.schedule_text;
  result.loop_program = schedule::print(main.loops);
  result.counts = schedule::count(main.loops);
  result.counts.instructions = {};
  result.cell_flops = kernel::count_flops(main.program);
  result.work_bytes = schedule::work_bytes(main.loops);
  result.data_bytes = lowering_.data_bytes(main.loops, plan);
  result.num_points = main.program.num_points();
  result.outputs = outputs_of(main.program);
  add_setup(main, result);
  return result;
}

/// Adds the kernel that computes what `main` reads as stored, if it reads any such data.
void KernelGenerator::add_setup(const tune::LoweredKernel& main, tune::KernelPrograms& result) const {
  const auto& plan = result.main.plan;
  const auto& setup = kernel().setup_of(plan);
  result.stored_point_slots = tune::num_stored(setup, kernel::OutputKind::stored_point);
  result.stored_cell_slots = kernel().num_stored_per_cell(plan);
  if (setup.outputs.empty()) return;
  result.setup_fields = indices_of(setup, kernel::AtomKind::reference_field);
  result.setup_parameters = indices_of(setup, kernel::AtomKind::parameter);
  // Matrices of cells are worth a compiler's time for each new value of a parameter, factors are not.
  const bool runs_again = !result.setup_fields.empty() || (stores_matrices(plan) && !result.setup_parameters.empty());
  const auto own_plan = setup_plan(plan, runs_again);
  const auto lowered = lowering_.setup(plan, own_plan, main);
  const int cells = lowered.loops.vector_width == 1 ? 1 : specification_.cell.fields.batches.cells_per_batch;
  result.setup_flops = schedule::count(lowered.loops).flops / cells;
  result.setup_loop_program = schedule::print(lowered.loops);
  result.setup = generated(lowered, own_plan, plan);
}

/// Makes the text of a kernel that was lowered, whose tables are packed by the plan `packed`.
tune::GeneratedProgram KernelGenerator::generated(const tune::LoweredKernel& lowered, schedule::Plan plan,
                                                  const schedule::Plan& packed) const {
  tune::GeneratedProgram result;
  emit::record("tensors", lowered.loops.name, [&] { return lowered.program.to_string(); });
  result.source = emit::emit(lowered.loops, kernel().target.language);
  result.name = lowered.loops.name;
  result.plan = std::move(plan);
  result.vector_width = lowered.loops.vector_width;
  result.launch = lowered.loops.launch;
  result.arguments = lowered.loops.arguments();
  result.matrices = schedule::packed_tables(lowered.program, packed);
  result.points = lowered.program.points;
  result.weights = lowered.program.weights;
  result.weights.resize(result.weights.size() + weights_room);
  emit::record("tables", result.name, [&] {
    return base::content_text(result.matrices) + base::content_text(result.points) + base::content_text(result.weights);
  });
  return result;
}

/// Numbers in a register of a host, or that an item of another device computes at a time.
int KernelGenerator::register_width() const {
  return kernel().target.has_lanes ? planner().register_width() : kernel().target.lanes_of_item;
}

int KernelGenerator::most_patches_per_batch() const {
  int result = 0;
  for (const auto* layout : specification_.cell.fields.batches.patterns)
    result = std::max(result, specification_.cell.patches_per_batch(*layout));
  return result;
}

// --- plans ----------------------------------------------------------------------------------------------------------

/// Says whether the tables are so large that no cache holds them, or the results so large that they fill it.
bool KernelGenerator::is_too_large(const kernel::CellMatrixSize& size) const {
  constexpr double most_table_entries = 1 << 23, most_results = 1 << 22;
  return size.table_entries > most_table_entries ||
         size.result_entries * specification_.cell.fields.batches.cells_per_batch > most_results;
}

/// Returns the plan of kernels that have none to choose from.
schedule::Plan KernelGenerator::usual_plan() {
  // Functionals, diagonals, matrices, and right-hand sides that run rarely would store values to read them once.
  const bool is_quick = runs_few_times(specification_, options_);
  const bool has_one_run =
      is_quick && (specification_.purpose != Purpose::action || specification_.cell.num_trials == 0);
  const auto factors = has_one_run ? kernel::FactorStorage::recompute : kernel().choices.front().factors;
  auto plan = tune::plan_usual(factors, specification_.cell.fields.batches.cells_per_batch, register_width(),
                               kernel().target, options_.plan.get());
  if (!options_.plan) plan.set(key::scatter, usual_scatter(specification_, options_));
  if (is_matrix()) take_matrix_keys(plan);
  if (is_matrix() && !is_facet()) take_item_keys(plan);
  if (is_single(specification_, options_)) plan = computing_in_floats(plan);
  if (is_facet()) plan.set(key::unroll, 0); // tables are data: those of most facets depend on the number of the facet
  if (is_quick) take_quick_flags(plan);
  return fitted(std::move(plan));
}

/// Changes a plan into one that this kernel can follow.
schedule::Plan KernelGenerator::fitted(schedule::Plan plan) const {
  const int cells = specification_.cell.fields.batches.cells_per_batch;
  plan.set(key::contraction, contraction(plan[key::contraction], is_facet()));
  plan.set(key::factors, stores_matrices(plan) ? schedule::Plan()[key::factors] : kernel().choice_of(plan).factors);
  plan.set(key::vector_width, std::min(plan[key::vector_width], cells));
  const bool is_dense = kernel::has_dense_products(plan[key::contraction]);
  plan.set(key::subbatches, is_dense ? std::min(plan[key::subbatches], cells / plan[key::vector_width]) : 1);
  // Sums of functionals cancel, so that they are computed in double.
  if (specification_.cell.fields.outputs.empty()) return schedule::without_unused_keys(schedule::in_double(plan));
  // Only the action of a bilinear form may compute in floats: solvers correct its errors, while those of right-hand
  // sides stay.
  const bool is_action = specification_.cell.num_trials > 0;
  return schedule::without_unused_keys(is_action ? plan : computing_in_double(plan));
}

/// Lanes that plans usually have which compute in the precision of this one.
int KernelGenerator::usual_width(const schedule::Plan& plan) const {
  return schedule::usual_width(specification_.cell.fields.batches.cells_per_batch, register_width(),
                               plan[key::compute]);
}

schedule::Plan KernelGenerator::computing_in_double(schedule::Plan plan) const {
  if (plan[key::compute] == schedule::Precision::double_precision) return plan;
  plan.set(key::compute, schedule::Precision::double_precision);
  plan.set(key::accumulate, schedule::Precision::double_precision);
  return plan.set(key::vector_width, std::min(plan[key::vector_width], usual_width(plan)));
}

/// The plan with floats, in as many more lanes as registers then hold. Plans that gather patches keep their lanes,
/// which are the patches of a batch: these save more than a wider register does.
schedule::Plan KernelGenerator::computing_in_floats(schedule::Plan plan) const {
  plan = schedule::in_single(plan);
  const bool gathers_patches = plan[key::patches] && plan[key::vector_width] == most_patches_per_batch();
  if (schedule::may_have_lanes(plan) && !gathers_patches)
    plan.set(key::vector_width, std::max(plan[key::vector_width], usual_width(plan)));
  return plan;
}

/// Plan of the kernel that computes the stored data, always in double.
schedule::Plan KernelGenerator::setup_plan(const schedule::Plan& plan, bool runs_again) const {
  auto result = computing_in_double(plan);
  if (stores_matrices(plan)) // it makes what others multiply by
    result.set(key::contraction, has_point_loops(result) ? kernel::Contraction::pointwise
                                                         : contraction(schedule::Plan()[key::contraction], false));
  if (stores_matrices(plan) && stores_past_caches(result)) result.set(key::stores, schedule::Stores::streaming);
  result = schedule::without_unused_keys(result);
  if (!runs_again) take_quick_flags(result);
  return result;
}

/// How cell matrices are computed: as the plan asks that was given, else as is faster.
void KernelGenerator::take_matrix_keys(schedule::Plan& plan) {
  plan.set(key::contraction, contraction(plan[key::contraction], is_facet()));
  if (!kernel().of_derivatives || is_too_large_) return;
  const auto given = options_.plan ? *options_.plan : schedule::Plan();
  auto order = given[key::order];
  if (order == schedule::LoopOrder::automatic)
    order = given[key::contraction] == kernel::Contraction::pointwise || lowering_.is_faster_by_points(plan)
                ? schedule::LoopOrder::qss
                : schedule::LoopOrder::tables;
  if (order == schedule::LoopOrder::tables) return;
  plan.set(key::contraction, kernel::Contraction::pointwise);
  plan.set(key::order, order).set(key::derivatives, given[key::derivatives]);
}

/// Cells of matrices stand in items, as the plan says that was given, if that has cells in items.
void KernelGenerator::take_item_keys(schedule::Plan& plan) const {
  if (!options_.plan || !schedule::holds_cells(*options_.plan)) return;
  plan.set(key::mapping, (*options_.plan)[key::mapping]).set(key::vector_width, 1);
  for (const auto* item_key : schedule::keys_of_items()) plan.set_number(*item_key, options_.plan->number(*item_key));
}

/// The matrices of cells that a plan may ask to store; none of more numbers than any other way moves. Where the planner
/// chooses, it weighs them for few numbers of functions that never change (each new value computes all of them again),
/// and on hosts, where the cost model has been held against their times.
kernel::StoredMatrices KernelGenerator::matrices_to_store(const kernel::QFunction& function,
                                                          const tune::CellSpecification& cell) const {
  constexpr int most = 1 << 14, most_weighed = 1 << 10;
  const bool is_asked_for = options_.plan && stores_matrices(*options_.plan),
             is_weighed = options_.target->target.has_lanes && !has_usual_plan(specification_, options_) &&
                          !reads_what_changes(function);
  if ((!is_asked_for && !is_weighed) || specification_.purpose != Purpose::action || cell.num_trials == 0 ||
      cell.is_facet() || kernel::num_matrix_entries(cell.fields) > (is_asked_for ? most : most_weighed))
    return {};
  return kernel::stored_matrices(
      function, kernel::keep_derivatives(specification_.parts, specification_.shape(), cell.map), cell.fields);
}

/// Says whether the matrices that set-up stores with this plan of its own are larger than the caches, and whether its
/// lanes fill whole lines of them: lines that are filled in parts leave the processor in parts.
bool KernelGenerator::stores_past_caches(const schedule::Plan& plan) const {
  constexpr int line_bytes = 64;
  const auto& machine = planner().options().machine;
  const int cells = specification_.cell.fields.batches.cells_per_batch;
  const int number_bytes = plan[key::storage] == schedule::Precision::single_precision ? 4 : 8;
  const double bytes = static_cast<double>(number_bytes) * kernel().matrices.num_stored * cells *
                       static_cast<double>(specification_.sizes.num_data_rows);
  return plan[key::vector_width] >= std::min(line_bytes / number_bytes, cells) &&
         machine::resident(machine, bytes, options_.target->num_threads).levels.size() == machine.levels.size();
}

/// Says whether the matrices that the plan stores are computed by loops over points and functions.
bool KernelGenerator::has_point_loops(const schedule::Plan& plan) const {
  const bool has_loops = kernel::has_point_matrices(kernel().matrices.uses, specification_.cell.fields.quadrature);
  if (plan[key::order] == schedule::LoopOrder::automatic) return has_loops && lowering_.stores_faster_by_points(plan);
  return has_loops && plan[key::order] != schedule::LoopOrder::tables;
}

void KernelGenerator::take_quick_flags(schedule::Plan& plan) const {
  const auto known = options_.target->flag_sets;
  if (std::ranges::find(known, schedule::quick_flags) != known.end())
    plan.set(key::flags, std::string(schedule::quick_flags));
}

/// Returns the contraction that the elements admit and that is nearest to what is asked for.
kernel::Contraction KernelGenerator::contraction(kernel::Contraction asked, bool has_facets) const {
  using kernel::Contraction;
  if (has_facets) return Contraction::dense;
  const bool is_tensor = kernel::has_tensor_factors(specification_.shape(), specification_.cell.fields);
  if (is_matrix() && asked == Contraction::pointwise && kernel().of_derivatives) return asked;
  if (is_matrix()) return is_tensor ? Contraction::collocated : Contraction::dense;
  if (asked == Contraction::cell_matrices && kernel().matrices.num_stored > 0) return asked;
  if (asked == Contraction::pointwise || asked == Contraction::cell_matrices) asked = Contraction::collocated;
  if (is_tensor) {
    const bool is_other = asked == Contraction::modal || (asked == Contraction::separable && !is_separable_);
    return is_other ? Contraction::collocated : asked;
  }
  return asked != Contraction::dense && has_modes_ ? Contraction::modal : Contraction::dense;
}

schedule::PlanningProblem KernelGenerator::problem() {
  schedule::PlanningProblem result;
  if (is_matrix()) result.matrix_plan = std::make_shared<const schedule::Plan>(usual_plan());
  result.has_point_matrices = kernel().of_derivatives.has_value();
  result.text = function_text_ + surroundings_of(specification_);
  result.is_tensor = kernel::has_tensor_factors(specification_.shape(), specification_.cell.fields);
  result.has_modes = has_modes_;
  result.is_separable = is_separable_;
  result.has_stored_matrices = kernel().matrices.num_stored > 0;
  result.num_points = specification_.cell.fields.quadrature.num_points();
  for (const auto& line : specification_.cell.fields.quadrature.lines)
    result.points_per_axis = std::max(result.points_per_axis, static_cast<int>(line.points.size()));
  for (const auto* uses : {&specification_.cell.fields.inputs, &specification_.cell.fields.outputs})
    for (const auto& use : *uses) {
      result.num_dofs = std::max(result.num_dofs, use.element->num_dofs());
      result.nodes_per_axis = std::max(result.nodes_per_axis, std::ranges::max(use.element->extents()));
    }
  for (const auto& choice : kernel().choices)
    if (!choice.is_dominated) result.factor_storages.push_back(choice.factors);
  if (result.factor_storages.size() > most_factor_storages) result.factor_storages.resize(most_factor_storages);
  result.compilers = options_.target->compilers;
  result.flag_sets = options_.target->flag_sets;
  result.gathers = planner().ways_to_gather();
  result.scatter = schedule::name(usual_scatter(specification_, options_));
  result.whole_runs_share = specification_.cell.whole_runs_share;
  result.has_longer_runs =
      std::ranges::any_of(specification_.cell.fields.batches.patterns, [](const space::ElementLayout* layout) {
        return std::ranges::any_of(layout->run_lengths, [](int length) { return length > 1; });
      });
  result.cells_per_batch = specification_.cell.fields.batches.cells_per_batch;
  result.target = kernel().target;
  result.register_width = register_width();
  result.patches_per_batch = most_patches_per_batch();
  result.num_batches = static_cast<double>(specification_.sizes.num_batches);
  result.num_threads = options_.target->num_threads;
  result.shares_data = kernel().rows_per_batch({}) < 0.5;
  result.streams_outputs = streams_outputs();
  result.input_bytes = specification_.sizes.input_bytes;
  result.output_bytes = specification_.sizes.output_bytes;
  return result;
}

bool KernelGenerator::streams_outputs() const {
  const auto& fields = specification_.cell.fields;
  const bool is_exclusive = std::ranges::all_of(fields.outputs, [&](const kernel::FieldUse& output) {
    return output.pattern >= 0 && fields.batches.pattern_of(output).num_runs == 0;
  });
  const double bytes = (specification_.sizes.input_bytes + specification_.sizes.output_bytes) *
                       static_cast<double>(specification_.sizes.num_batches);
  const auto seen = machine::resident(planner().options().machine, bytes, options_.target->num_threads);
  return is_exclusive && specification_.sizes.output_bytes > 0 &&
         seen.levels.size() == planner().options().machine.levels.size();
}

} // namespace rafter::op
