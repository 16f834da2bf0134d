// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/generate/form_builder.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/parallel.hpp>
#include <rafter/comm/communicator.hpp>
#include <rafter/kernel/cell_matrices.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/operator/generate/kernel_target.hpp>
#include <rafter/operator/generate/matrix_builder.hpp>
#include <rafter/operator/generate/quadrature_rule.hpp>
#include <rafter/schedule/matrix_product.hpp>
#include <rafter/space/function_space.hpp>
#include <rafter/tune/device_probe.hpp>

namespace rafter::op {
namespace {

/// Says whether integrands depend on where a cell is, and not on its shape alone.
bool reads_position(const std::vector<kernel::IntegralPart>& parts) {
  return std::ranges::any_of(parts, [](const kernel::IntegralPart& part) {
    const auto& graph = *part.integral->graph;
    std::vector<form::NodeId> roots;
    for (const auto& term : part.integral->test_terms) roots.push_back(term.coefficient);
    if (part.integral->integrand >= 0) roots.push_back(part.integral->integrand);
    return std::ranges::any_of(graph.reachable(roots), [&graph](form::NodeId id) {
      return graph[id].op == form::ScalarOp::atom && graph[id].atom.kind == form::AtomKind::coordinate;
    });
  });
}

/// Plans the kernels of a form and fills a GeneratedForm with them, block by block.
class FormGenerator {
public:
  explicit FormGenerator(GeneratedForm& built) : built_(built), form_(built.form), system_(built.system) {
    collect_fields();
    make_cell_blocks();
    if (built.only_block < 0) make_facet_blocks();
    generate();
  }

private:
  /// A block's kernel is made from its specification, under this name.
  struct PlannedKernel {
    KernelSpecification specification;
    std::string name, quadrature; ///< see KernelInfo
  };
  using Space = std::shared_ptr<const form::FieldSpace>;
  /// Returns the space of a field as one on a mesh, which must be that of the system.
  std::shared_ptr<const space::FunctionSpace> on_mesh(const Space& space) const {
    auto result = std::dynamic_pointer_cast<const space::FunctionSpace>(space);
    if (result == nullptr)
      throw base::InputError("field '" + space->name + "' has no mesh: use the space of a FunctionSpace");
    if (result->discretisation() != system_.discretisation)
      throw base::InputError("the fields of a form must be on one discretisation, a mesh with its batches of cells; '" +
                             space->name + "' is on another one: make its space on the discretisation of the others");
    return result;
  }
  kernel::FieldUse use(kernel::AtomKind kind, std::size_t index, const form::FieldSpace& space) const {
    kernel::FieldUse result;
    result.kind = kind;
    result.index = static_cast<int>(index);
    result.components = space.num_components();
    return result;
  }
  void collect_fields() {
    for (std::size_t i = 0; i < form_.trial_spaces.size() && built_.purpose == Purpose::action; ++i) {
      const auto& space = form_.trial_spaces[i];
      built_.input_fields.push_back(built_.trial_system.index_of(*space));
      built_.inputs.push_back(use(kernel::AtomKind::reference_trial, i, *space));
      built_.input_spaces.push_back(on_mesh(space));
    }
    for (std::size_t i = 0; i < form_.fields.size(); ++i) {
      built_.inputs.push_back(use(kernel::AtomKind::reference_field, i, *form_.fields[i]));
      built_.input_spaces.push_back(on_mesh(form_.fields[i]));
    }
    for (std::size_t i = 0; i < form_.test_spaces.size(); ++i) {
      const auto& space = form_.test_spaces[i];
      built_.output_fields.push_back(system_.index_of(*space));
      built_.outputs.push_back(use(kernel::AtomKind::reference_test, i, *space));
      built_.output_spaces.push_back(on_mesh(space));
    }
    for (const auto& space : form_.trial_spaces)
      if (built_.purpose == Purpose::matrix) built_.trial_fields.push_back(built_.trial_system.index_of(*space));
    if (built_.purpose == Purpose::matrix) take_pairs_of_fields();
  }

  /// Makes the outputs pairs of a test and a trial field, numbered as by kernel::number_of_pair.
  void take_pairs_of_fields() {
    const auto tests = std::exchange(built_.outputs, {});
    for (const auto& test : tests)
      for (std::size_t trial = 0; trial < form_.trial_spaces.size(); ++trial) {
        auto pair = test;
        pair.index = kernel::number_of_pair(test.index, static_cast<int>(trial), form_.trial_spaces.size());
        pair.components *= form_.trial_spaces[trial]->num_components();
        built_.outputs.push_back(pair);
      }
  }

  /// Trial function on the same space as each test function, -1: none; shape (test function). The diagonal needs it,
  /// because both are numbered as they appear in the form.
  std::vector<int> trial_of_output() const {
    std::vector<int> result;
    for (const auto& test : form_.test_spaces) {
      const auto found = std::find(form_.trial_spaces.begin(), form_.trial_spaces.end(), test);
      result.push_back(found == form_.trial_spaces.end() ? -1 : static_cast<int>(found - form_.trial_spaces.begin()));
    }
    return result;
  }

  /// Number of a space among those whose index tables the kernel takes; a new one is added with its layout.
  int table_number(const space::FunctionSpace& space, KernelSpecification& specification, GeneratedBlock& block,
                   const mesh::FacetBlock* facets) const {
    const auto found = std::find(block.spaces.begin(), block.spaces.end(), &space);
    if (found != block.spaces.end()) return static_cast<int>(found - block.spaces.begin());
    block.spaces.push_back(&space);
    if (facets != nullptr) {
      auto dofs = space.list_dofs(facets->group, facets->cells, block.cells.cells_per_batch);
      specification.cell.fields.batches.patterns.push_back(&dofs->layout);
      block.facet_dofs.push_back(std::move(dofs));
    } else
      specification.cell.fields.batches.patterns.push_back(&space.block(block.cell_block).layout);
    return static_cast<int>(block.spaces.size()) - 1;
  }

  void set_fields(KernelSpecification& specification, GeneratedBlock& block, const mesh::FacetBlock* facets) const {
    auto& fields = specification.cell.fields;
    fields.inputs = built_.inputs;
    fields.outputs = built_.outputs;
    specification.cell.num_trials = static_cast<int>(built_.num_trials());
    specification.trial_of_output = trial_of_output();
    for (std::size_t i = 0; i < fields.inputs.size(); ++i) {
      const auto& space = *built_.input_spaces[i];
      fields.inputs[i].element = space.element(specification.shape());
      fields.inputs[i].vector = static_cast<int>(i);
      fields.inputs[i].pattern = table_number(space, specification, block, facets);
    }
    if (built_.purpose == Purpose::matrix) return set_pairs(specification);
    for (std::size_t i = 0; i < fields.outputs.size(); ++i) {
      const auto& space = *built_.output_spaces[i];
      fields.outputs[i].element = space.element(specification.shape());
      fields.outputs[i].vector = static_cast<int>(i);
      fields.outputs[i].pattern = table_number(space, specification, block, facets);
    }
  }

  void set_pairs(KernelSpecification& specification) const {
    const std::size_t num_trials = form_.trial_spaces.size();
    for (const auto& space : form_.trial_spaces) specification.trial_components.push_back(space->num_components());
    for (std::size_t i = 0; i < specification.cell.fields.outputs.size(); ++i) {
      auto& pair = specification.cell.fields.outputs[i];
      pair.element = built_.output_spaces[i / num_trials]->element(specification.shape());
      pair.trial_element = on_mesh(form_.trial_spaces[i % num_trials])->element(specification.shape());
      pair.vector = static_cast<int>(i);
      pair.pattern = -1;
    }
  }

  int geometry_degree(const BatchedCells& cells) const {
    return cells.map == mesh::MapKind::isoparametric
               ? system_.mesh->groups[static_cast<std::size_t>(cells.group)].degree
               : 1;
  }

  /// Forms without numbers per cell of their own share the rows of the cells.
  void set_rows(GeneratedBlock& block, const std::vector<kernel::IntegralPart>& parts) const {
    const auto& cells = block.cells;
    if (built_.purpose == Purpose::matrix) // which is computed once: nothing is read again
      block.rows = one_row_each(cells);
    else if (built_.coefficients.count() > 0 || reads_position(parts))
      block.rows = make_data_rows(*system_.mesh, cells, built_.coefficients, reads_position(parts));
    else {
      block.shared_rows = shared_data_rows(*system_.discretisation, cells, built_.coefficients);
      block.rows = *block.shared_rows;
    }
  }

  /// Adds the kernel of these integrals on the cells of the block. `facets` is their block, or null for cells.
  void add_block(GeneratedBlock block, const std::vector<kernel::IntegralPart>& parts, const std::string& name,
                 const mesh::FacetBlock* facets) {
    const auto& cells = block.cells;
    KernelSpecification specification;
    specification.parts = parts;
    specification.cell.map = cells.map;
    specification.cell.fields.local_facets.assign(cells.local_facets.begin(), cells.local_facets.end());
    specification.cell.fields.geometry =
        mesh::geometry_element(system_.mesh->groups[static_cast<std::size_t>(cells.group)]);
    specification.purpose = built_.purpose;
    specification.cell.fields.batches.cells_per_batch = cells.cells_per_batch;
    specification.cell.fields.batches.has_lists = facets != nullptr;
    set_rows(block, parts);
    set_sizes(specification, block);
    set_fields(specification, block, facets);
    specification.cell.whole_runs_share = whole_runs_share(block);
    const auto integration_shape =
        cells.is_facet() ? element::facet_shape(cells.shape, cells.local_facets.front()) : cells.shape;
    auto rule = choose_rule(integration_shape, parts, cells.map, geometry_degree(cells), built_.options.quadrature);
    specification.cell.fields.quadrature = std::move(rule.rule);
    for (const auto& part : parts)
      block.integrals.push_back({static_cast<std::size_t>(part.integral - form_.integrals.data()), part.indicator});
    block.rule = specification.cell.fields.quadrature;
    planned_.push_back({std::move(specification), name, std::move(rule.explanation)});
    built_.blocks.push_back(std::move(block));
  }

  /// Makes the kernels of all blocks at the same time: they know nothing of each other.
  void generate() {
    auto& blocks = built_.blocks;
    base::run_parallel(std::ssize(blocks), [this, &blocks](std::int64_t number) {
      const auto i = static_cast<std::size_t>(number);
      blocks[i].kernel = build_kernel(planned_[i].specification, built_.options);
    });
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      auto& block = blocks[i];
      const auto& cells = block.cells;
      const auto& programs = block.kernel.programs;
      built_.is_too_large = built_.is_too_large || programs.is_too_large;
      // Cells of equal shape have different values of fields.
      if (!programs.setup_fields.empty()) block.rows = one_row_each(cells);
      auto& info = block.kernel.info;
      info.name = planned_[i].name;
      info.block = block.cell_block;
      info.quadrature = planned_[i].quadrature;
      info.num_cells = cells.num_items;
      info.num_batches = cells.num_batches;
    }
  }

  /// Sets the sizes that the planner takes. The bytes of vectors are divided evenly among the cells.
  void set_sizes(KernelSpecification& specification, const GeneratedBlock& block) const {
    const auto& cells = block.cells;
    specification.cell.num_coefficients = built_.coefficients.count();
    specification.sizes.num_batches = cells.num_batches;
    specification.sizes.num_data_rows = block.rows.count();
    const double share =
        cells.num_items / static_cast<double>(system_.mesh->num_cells() * std::max(cells.num_batches, 1));
    specification.sizes.input_bytes = share * built_.input_bytes();
    specification.sizes.output_bytes = share * built_.output_bytes();
  }
  static double whole_runs_share(const GeneratedBlock& block) {
    double result = 1;
    for (const auto& space : block.spaces) {
      if (block.cell_block < 0 || space->block(block.cell_block).layout.num_runs == 0) continue;
      const auto& numbers = space->block(block.cell_block).pattern_numbers;
      const auto whole = std::ranges::count_if(numbers, [](std::int32_t number) { return number > 0; });
      result =
          std::min(result, static_cast<double>(whole) / static_cast<double>(std::max<std::size_t>(numbers.size(), 1)));
    }
    return result;
  }

  void make_cell_blocks() {
    std::vector<kernel::IntegralPart> parts;
    for (std::size_t i = 0; i < form_.integrals.size(); ++i)
      if (form_.integrals[i].measure.kind == form::MeasureKind::cell)
        parts.push_back({&form_.integrals[i], built_.coefficients.indicator(i)});
    if (parts.empty()) return;
    const auto& batches = *system_.batches;
    for (std::size_t b = 0; b < batches.blocks.size(); ++b) {
      if (built_.only_block >= 0 && built_.only_block != static_cast<int>(b)) continue;
      GeneratedBlock block;
      block.cells = batched(batches.blocks[b], batches.cells_per_batch);
      block.cell_block = static_cast<int>(b);
      const auto name = fmt::format("cell {} {}", element::name(block.cells.shape), mesh::name(block.cells.map));
      add_block(std::move(block), parts, name, nullptr);
    }
    built_.num_cell_blocks = built_.blocks.size();
  }

  void make_facet_blocks() {
    for (const auto& integral : form_.integrals) {
      if (integral.measure.kind != form::MeasureKind::exterior_facet) continue;
      const auto& facets = system_.discretisation->facets(measure_tags(*system_.mesh, integral.measure));
      built_.facet_stages.push_back({&facets, built_.blocks.size()});
      for (const auto& facet_block : facets.blocks) {
        GeneratedBlock block;
        block.cells = batched(facet_block, facets.cells_per_batch);
        const auto facet_shape = element::facet_shape(facet_block.shape, facet_block.local_facets.front());
        const auto name = fmt::format("{}s of {} {}", element::name(facet_shape), element::name(facet_block.shape),
                                      mesh::name(facet_block.map));
        add_block(std::move(block), {{&integral, -1}}, name, &facet_block);
      }
    }
  }

  GeneratedForm& built_;
  const form::LoweredForm& form_;
  const System& system_;
  std::vector<PlannedKernel> planned_; ///< shape of GeneratedForm::blocks
};

} // namespace

double GeneratedForm::input_bytes() const {
  double result = num_trials() > 0 ? word_bytes() * static_cast<double>(trial_system.size()) : 0;
  for (std::size_t i = num_trials(); i < inputs.size(); ++i)
    result += 8 * static_cast<double>(input_spaces[i]->num_local());
  return result;
}
double GeneratedForm::output_bytes() const {
  return form.rank == 0 ? 0 : word_bytes() * static_cast<double>(system.size());
}

namespace {

/// Makes the description of a form that has no kernels yet.
std::shared_ptr<GeneratedForm> begin_form(const form::LoweredForm& form, const Systems& systems, Purpose purpose,
                                          const KernelOptions& options) {
  auto built = std::make_shared<GeneratedForm>(GeneratedForm{.form = form,
                                                             .system = systems.test,
                                                             .trial_system = systems.trial,
                                                             .purpose = purpose,
                                                             .options = options,
                                                             .coefficients = CellCoefficients(*systems.test.mesh, form),
                                                             .inputs = {},
                                                             .outputs = {},
                                                             .input_spaces = {},
                                                             .output_spaces = {},
                                                             .input_fields = {},
                                                             .output_fields = {},
                                                             .trial_fields = {},
                                                             .blocks = {},
                                                             .facet_stages = {},
                                                             .forecast = {},
                                                             .matrix = nullptr});
  auto& own = built->options;
  if (own.target == nullptr) {
    if (own.device == nullptr) own.device = systems.test.discretisation->device("host");
    own.target = std::make_shared<const KernelTarget>(kernel_target(*own.device));
  }
  if (own.planner == nullptr) {
    if (own.device == nullptr) throw base::InternalError("kernels for a target without a device need a planner");
    own.planner = tune::planner_of(*own.device);
  }
  return built;
}

} // namespace

std::shared_ptr<GeneratedForm> build_form(const form::LoweredForm& form, const Systems& systems, Purpose purpose,
                                          const KernelOptions& options) {
  auto built = begin_form(form, systems, purpose, options);
  if (purpose == Purpose::diagonal && !built->is_square())
    throw base::InputError("a form whose test and trial functions are of different systems has no diagonal");
  const bool is_action = form.rank == 2 && purpose == Purpose::action;
  const bool is_matrix_asked_for = is_action && options.plan && schedule::is_assembled(*options.plan);
  if (is_matrix_asked_for && !built->is_square())
    throw base::InputError("plan: mapping=" + std::string(schedule::assembled_mapping) +
                           " is for forms whose test and trial functions are of one system");
  const bool is_distributed = systems.test.mesh->distribution != nullptr;
  if (is_matrix_asked_for && is_distributed)
    throw base::InputError("plan: mapping=" + std::string(schedule::assembled_mapping) +
                           " is not for parts of a mesh: use another mapping");
  if (is_matrix_asked_for) {
    built->matrix = build_matrix(form, systems.test, built->options);
    return built;
  }
  const FormGenerator builder(*built);
  // The forecast is of a processor, which adds cell matrices as fast as kernels compute them.
  const bool is_processor = built->options.target->target.is_processor;
  const bool may_be_matrix = is_action && is_processor && built->is_square() && form.fields.empty() && !is_distributed;
  if (may_be_matrix && !options.plan && options.num_applications > 0) {
    built->forecast = forecast_matrix(*built);
    if (built->forecast->pays()) built->matrix = build_matrix(form, systems.test, built->options);
  }
  return built;
}

std::shared_ptr<GeneratedForm> build_block(const form::LoweredForm& form, const Systems& systems, Purpose purpose,
                                           int block, const KernelOptions& options) {
  auto built = begin_form(form, systems, purpose, options);
  built->only_block = block;
  const FormGenerator builder(*built);
  return built;
}

std::vector<kernel::IntegralPart> integral_parts(const form::LoweredForm& form, const GeneratedBlock& block) {
  std::vector<kernel::IntegralPart> result;
  for (const auto& [number, indicator] : block.integrals) result.push_back({&form.integrals[number], indicator});
  return result;
}

StoredNumbers stored_numbers(const GeneratedBlock& block) {
  const auto cells_per_batch =
      static_cast<std::size_t>(block.rows.count()) * static_cast<std::size_t>(block.cells.cells_per_batch);
  const auto& kernel = block.kernel.programs;
  return {.at_points = cells_per_batch * static_cast<std::size_t>(kernel.num_points) *
                       static_cast<std::size_t>(kernel.stored_point_slots),
          .per_cell = cells_per_batch * static_cast<std::size_t>(kernel.stored_cell_slots)};
}

double stored_bytes(const GeneratedBlock& block) {
  const auto [at_points, per_cell] = stored_numbers(block);
  const bool is_double = block.kernel.info.plan[schedule::key::storage] == schedule::Precision::double_precision;
  return (is_double ? 8.0 : 4.0) * static_cast<double>(at_points + per_cell);
}

std::vector<std::vector<BlockChunk>> chunk_stages(const GeneratedForm& form) {
  const int only = form.only_block;
  std::vector<std::vector<BlockChunk>> result;
  const auto add = [&](const std::vector<std::vector<mesh::Chunk>>& stages, std::size_t first_block) {
    for (const auto& stage : stages) {
      auto& chunks = result.emplace_back();
      for (const auto& chunk : stage)
        if (only < 0 || only == chunk.block)
          chunks.push_back({only >= 0 ? 0 : first_block + static_cast<std::size_t>(chunk.block), chunk.batch_begin,
                            chunk.batch_end});
    }
  };
  if (form.num_cell_blocks > 0) add(form.system.batches->stages, 0);
  for (const auto& [facets, first_block] : form.facet_stages) add(facets->stages, first_block);
  return result;
}

namespace {

/// Collects the sources that are to be compiled for forms, and the places where their programs go.
class CompileList {
public:
  void add(GeneratedForm& form) {
    if (form.is_compiled) return;
    device_ = form.options.device.get();
    if (device_ == nullptr)
      throw base::InternalError("kernels for " + form.options.target->name + " without a device cannot be compiled");
    if (form.matrix != nullptr) {
      add(form.matrix->info.source, form.matrix->info.plan, form.matrix->program);
      add(*form.matrix->cells);
    } else
      for (auto& block : form.blocks) {
        add(block.kernel.programs.main, block.program);
        add(block.kernel.programs.setup, block.setup_program);
      }
    forms_.push_back(&form);
  }

  void compile(const device::CompileProgress& progress) {
    for (const auto* form : forms_)
      if (form->options.device.get() != device_)
        throw base::InternalError("kernels of different devices are compiled one device after the other");
    if (!jobs_.empty()) {
      const auto programs = device::compile_all(*device_, jobs_, progress);
      for (std::size_t i = 0; i < programs_.size(); ++i) *programs_[i] = programs[i];
    }
    for (auto* form : forms_) form->is_compiled = true;
  }

private:
  void add(const tune::GeneratedProgram& generated, std::shared_ptr<const device::Program>& program) {
    add(generated.source, generated.plan, program);
  }
  void add(const std::string& source, const schedule::Plan& plan, std::shared_ptr<const device::Program>& program) {
    if (source.empty() || program != nullptr) return;
    jobs_.push_back({source,
                     {.language = device_->language(),
                      .compiler = plan[schedule::key::compiler],
                      .flag_set = plan[schedule::key::flags]}});
    programs_.push_back(&program);
  }
  device::Device* device_ = nullptr;
  std::vector<device::CompileJob> jobs_;
  std::vector<std::shared_ptr<const device::Program>*> programs_;
  std::vector<GeneratedForm*> forms_;
};

} // namespace

void compile(std::span<const std::shared_ptr<GeneratedForm>> forms, const device::CompileProgress& progress) {
  CompileList list;
  for (const auto& form : forms) list.add(*form);
  list.compile(progress);
}

std::shared_ptr<const GeneratedForm> compiled(std::shared_ptr<GeneratedForm> built) {
  comm::agree(*built->system.mesh->communicator(), [&] { compile(std::span(&built, 1)); });
  return built;
}

} // namespace rafter::op
