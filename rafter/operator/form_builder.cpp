// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/form_builder.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/device/compile_all.hpp>
#include <rafter/operator/matrix_builder.hpp>
#include <rafter/schedule/matrix_product.hpp>

namespace rafter::op {
namespace {

/// Whether integrands depend on where a cell is, not on its shape alone.
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

/// Fills a GeneratedForm piece by piece.
class FormGenerator {
public:
  explicit FormGenerator(GeneratedForm& built) : built_(built), form_(built.form), system_(built.system) {
    collect_fields();
    make_cell_pieces();
    if (built.options.only_block < 0) make_facet_pieces();
  }

private:
  void collect_fields() {
    const auto add_all = [this](const auto& spaces, kernel::AtomKind kind, std::vector<std::size_t>& fields,
                                std::vector<kernel::FieldUse>& uses) {
      for (std::size_t i = 0; i < spaces.size(); ++i) {
        fields.push_back(system_.index_of(*spaces[i]));
        kernel::FieldUse use;
        use.kind = kind;
        use.index = static_cast<int>(i);
        use.components = spaces[i]->num_components();
        uses.push_back(use);
      }
    };
    if (built_.purpose == Purpose::action)
      add_all(form_.trial_spaces, kernel::AtomKind::reference_trial, built_.input_fields, built_.inputs);
    num_trial_inputs_ = built_.inputs.size();
    add_all(form_.fields, kernel::AtomKind::reference_field, built_.input_fields, built_.inputs);
    add_all(form_.test_spaces, kernel::AtomKind::reference_test, built_.output_fields, built_.outputs);
    if (system_.has_own_vectors && (num_trial_inputs_ > 1 || form_.fields.size() > 1 || form_.test_spaces.size() > 1))
      throw base::InputError("fields with vectors of their own: a form has one trial, one known and one test field at "
                             "most");
  }

  /// Test and trial functions are numbered as they appear in the form: the diagonal pairs those of one space.
  std::vector<int> trial_of_output() const {
    std::vector<int> result;
    for (const auto& test : form_.test_spaces) {
      const auto found = std::find(form_.trial_spaces.begin(), form_.trial_spaces.end(), test);
      result.push_back(found == form_.trial_spaces.end() ? -1 : static_cast<int>(found - form_.trial_spaces.begin()));
    }
    return result;
  }

  /// Number of a field among those whose tables the piece takes; new ones are added with their layout.
  int table_number(std::size_t field, KernelSpecification& specification, GeneratedBlock& piece,
                   const mesh::FacetBlock* facets) const {
    const auto found = std::find(piece.fields.begin(), piece.fields.end(), field);
    if (found != piece.fields.end()) return static_cast<int>(found - piece.fields.begin());
    piece.fields.push_back(field);
    const auto& space = *system_.spaces[field];
    if (facets != nullptr) {
      auto dofs = std::make_shared<const space::FunctionSpace::FacetDofs>(
          space.facet_dofs(*facets, piece.cells.cells_per_batch));
      specification.spaces.push_back(&dofs->layout);
      piece.facet_dofs.push_back(std::move(dofs));
    } else
      specification.spaces.push_back(&space.block(piece.block).layout);
    return static_cast<int>(piece.fields.size()) - 1;
  }

  void set_fields(KernelSpecification& specification, GeneratedBlock& piece, const mesh::FacetBlock* facets) const {
    specification.inputs = built_.inputs;
    specification.outputs = built_.outputs;
    specification.trial_of_output = trial_of_output();
    for (std::size_t i = 0; i < specification.inputs.size(); ++i) {
      const std::size_t field = built_.input_fields[i];
      specification.inputs[i].element = system_.spaces[field]->element(specification.shape);
      specification.input_spaces.push_back(table_number(field, specification, piece, facets));
      specification.input_vectors.push_back(i < num_trial_inputs_ ? schedule::trial_vector
                                                                  : schedule::trial_vector + 1);
    }
    for (std::size_t i = 0; i < specification.outputs.size(); ++i) {
      const std::size_t field = built_.output_fields[i];
      specification.outputs[i].element = system_.spaces[field]->element(specification.shape);
      specification.output_spaces.push_back(table_number(field, specification, piece, facets));
    }
  }

  int geometry_degree(const BatchedCells& cells) const {
    return cells.map == mesh::MapKind::isoparametric
               ? system_.mesh->groups[static_cast<std::size_t>(cells.group)].degree
               : 1;
  }

  /// The kernel of these integrals on the cells of the piece; `facets`: their block, null for cells.
  void add_piece(GeneratedBlock piece, const std::vector<kernel::IntegralPart>& parts, const std::string& name,
                 const mesh::FacetBlock* facets) {
    const auto& cells = piece.cells;
    KernelSpecification specification;
    specification.parts = parts;
    specification.shape = cells.shape;
    specification.map = cells.map;
    specification.local_facet = cells.local_facet;
    specification.geometry = mesh::geometry_element(system_.mesh->groups[static_cast<std::size_t>(cells.group)]);
    specification.purpose = built_.purpose;
    specification.cells_per_batch = cells.cells_per_batch;
    piece.rows = make_data_rows(*system_.mesh, cells, built_.coefficients, reads_position(parts));
    set_sizes(specification, piece);
    set_fields(specification, piece, facets);
    const auto integration_shape =
        cells.local_facet >= 0 ? element::facet_shape(cells.shape, cells.local_facet) : cells.shape;
    auto rule = choose_rule(integration_shape, parts, cells.map, geometry_degree(cells), built_.options.quadrature);
    specification.rule = std::move(rule.rule);
    piece.parts = parts;
    piece.rule = specification.rule;
    piece.kernel = build_kernel(specification, built_.options);
    auto& info = piece.kernel.info;
    info.name = name;
    info.block = piece.block;
    info.quadrature = rule.explanation;
    info.num_cells = cells.num_items;
    info.num_batches = cells.num_batches;
    built_.pieces.push_back(std::move(piece));
  }

  /// Every unknown counts for the cells in equal parts.
  void set_sizes(KernelSpecification& specification, const GeneratedBlock& piece) const {
    const auto& cells = piece.cells;
    specification.num_coefficients = built_.coefficients.count();
    specification.num_batches = cells.num_batches;
    specification.num_data_rows = piece.rows.count();
    const double share =
        cells.num_items / static_cast<double>(system_.mesh->num_cells() * std::max(cells.num_batches, 1));
    specification.input_bytes = share * built_.input_bytes();
    specification.output_bytes = share * built_.output_bytes();
  }

  void make_cell_pieces() {
    std::vector<kernel::IntegralPart> parts;
    for (std::size_t i = 0; i < form_.integrals.size(); ++i)
      if (form_.integrals[i].measure.kind == form::MeasureKind::cell)
        parts.push_back({&form_.integrals[i], built_.coefficients.indicator(i)});
    if (parts.empty()) return;
    const auto& batches = *system_.batches;
    for (std::size_t b = 0; b < batches.blocks.size(); ++b) {
      if (built_.options.only_block >= 0 && built_.options.only_block != static_cast<int>(b)) continue;
      GeneratedBlock piece;
      piece.cells = batched(batches.blocks[b], batches.cells_per_batch);
      piece.block = static_cast<int>(b);
      const auto name = fmt::format("cell {} {}", element::name(piece.cells.shape), mesh::name(piece.cells.map));
      add_piece(std::move(piece), parts, name, nullptr);
    }
    built_.num_cell_pieces = built_.pieces.size();
  }

  void make_facet_pieces() {
    for (const auto& integral : form_.integrals) {
      if (integral.measure.kind != form::MeasureKind::exterior_facet) continue;
      const auto facets = std::make_shared<const mesh::FacetBatches>(
          mesh::make_facet_batches(*system_.mesh, measure_tags(*system_.mesh, integral.measure),
                                   {.cells_per_batch = system_.batches->patches_per_batch(system_.mesh->tdim)}));
      built_.facet_stages.push_back({facets, built_.pieces.size()});
      for (const auto& block : facets->blocks) {
        GeneratedBlock piece;
        piece.cells = batched(block, facets->cells_per_batch);
        const auto name = fmt::format("facet {} of {} {}", piece.cells.local_facet, element::name(piece.cells.shape),
                                      mesh::name(piece.cells.map));
        add_piece(std::move(piece), {{&integral, -1}}, name, &block);
      }
    }
  }

  GeneratedForm& built_;
  const form::LoweredForm& form_;
  const System& system_;
  std::size_t num_trial_inputs_ = 0;
};

} // namespace

std::int64_t GeneratedForm::trial_size() const {
  return system.has_own_vectors ? system.spaces[input_fields.front()]->num_local() : system.size();
}
std::int64_t GeneratedForm::fields_size() const {
  return system.has_own_vectors ? system.spaces[input_fields.back()]->num_local() : system.size();
}
std::int64_t GeneratedForm::output_size() const {
  return system.has_own_vectors ? system.spaces[output_fields.front()]->num_local() : system.size();
}
bool GeneratedForm::is_coefficient_alone(std::size_t field) const {
  const auto among = [&](const auto& spaces) {
    return std::ranges::any_of(spaces, [&](const auto& space) { return space.get() == system.spaces[field].get(); });
  };
  return form.rank == 2 && among(form.fields) && !among(form.test_spaces) && !among(form.trial_spaces);
}

namespace {
/// Entries of vectors of arguments.
double num_argument_entries(const GeneratedForm& built) {
  double result = 0;
  for (std::size_t f = 0; f < built.system.spaces.size(); ++f)
    if (!built.is_coefficient_alone(f)) result += static_cast<double>(built.system.spaces[f]->num_local());
  return result;
}
} // namespace

double GeneratedForm::input_bytes() const {
  if (system.has_own_vectors) {
    const int num_fields = form.fields.empty() ? 0 : 1;
    const double of_trial = num_input_vectors() > num_fields ? static_cast<double>(trial_size()) : 0;
    return word_bytes() * of_trial + (num_fields > 0 ? 8 * static_cast<double>(fields_size()) : 0);
  }
  const bool has_fields = !form.fields.empty();
  const int num_trials = num_input_vectors() - (has_fields ? 1 : 0);
  double field_entries = has_fields ? static_cast<double>(system.size()) : 0;
  if (form.rank == 2) {
    field_entries = 0;
    for (const auto& field : form.fields)
      field_entries += static_cast<double>(system.spaces[system.index_of(*field)]->num_local());
  }
  return num_trials * word_bytes() * num_argument_entries(*this) + 8 * field_entries;
}
double GeneratedForm::output_bytes() const {
  if (form.rank == 0) return 0;
  return word_bytes() * (system.has_own_vectors ? static_cast<double>(output_size()) : num_argument_entries(*this));
}

std::shared_ptr<GeneratedForm> build_form(const form::LoweredForm& form, const System& system, Purpose purpose,
                                          const KernelOptions& options) {
  auto built = std::make_shared<GeneratedForm>(GeneratedForm{.form = form,
                                                             .system = system,
                                                             .purpose = purpose,
                                                             .options = options,
                                                             .coefficients = CellCoefficients(*system.mesh, form),
                                                             .inputs = {},
                                                             .outputs = {},
                                                             .input_fields = {},
                                                             .output_fields = {},
                                                             .pieces = {},
                                                             .facet_stages = {},
                                                             .forecast = {},
                                                             .matrix = nullptr});
  if (built->options.device == nullptr) built->options.device = device::make_device("host");
  if (built->options.planner == nullptr) built->options.planner = tune::planner_of_this_machine();
  const bool is_matrix = form.rank == 2 && purpose == Purpose::action && options.only_block < 0;
  if (is_matrix && options.plan && schedule::is_assembled(*options.plan)) {
    built->matrix = build_matrix(form, system, built->options);
    return built;
  }
  const FormGenerator builder(*built);
  if (is_matrix && !options.plan && options.num_applications > 0 && form.fields.empty()) {
    built->forecast = forecast_matrix(*built);
    if (built->forecast->pays()) built->matrix = build_matrix(form, system, built->options);
  }
  return built;
}

StoredNumbers stored_numbers(const GeneratedBlock& piece) {
  const auto cells_per_batch =
      static_cast<std::size_t>(piece.rows.count()) * static_cast<std::size_t>(piece.cells.cells_per_batch);
  const auto& kernel = piece.kernel;
  return {.at_points = cells_per_batch * static_cast<std::size_t>(kernel.program.num_points) *
                       static_cast<std::size_t>(kernel.stored_point_slots),
          .per_cell = cells_per_batch * static_cast<std::size_t>(kernel.stored_cell_slots)};
}

double stored_bytes(const GeneratedBlock& piece) {
  const auto [at_points, per_cell] = stored_numbers(piece);
  const bool is_double = piece.kernel.info.plan.storage == schedule::Precision::double_precision;
  return (is_double ? 8.0 : 4.0) * static_cast<double>(at_points + per_cell);
}

std::vector<std::vector<BlockChunk>> chunk_stages(const GeneratedForm& form) {
  const int only = form.options.only_block;
  std::vector<std::vector<BlockChunk>> result;
  const auto add = [&](const std::vector<std::vector<mesh::Chunk>>& stages, std::size_t first_piece) {
    for (const auto& stage : stages) {
      auto& chunks = result.emplace_back();
      for (const auto& chunk : stage)
        if (only < 0 || only == chunk.block)
          chunks.push_back({only >= 0 ? 0 : first_piece + static_cast<std::size_t>(chunk.block), chunk.batch_begin,
                            chunk.batch_end});
    }
  };
  if (form.num_cell_pieces > 0) add(form.system.batches->stages, 0);
  for (const auto& [facets, first_piece] : form.facet_stages) add(facets->stages, first_piece);
  return result;
}

namespace {

/// What is compiled for forms, and where the programs go.
class CompileList {
public:
  void add(GeneratedForm& form) {
    if (form.is_compiled) return;
    device_ = form.options.device.get();
    if (form.matrix != nullptr) {
      add(form.matrix->info, form.matrix->info.source, form.matrix->program);
      add(*form.matrix->cells);
    } else
      for (auto& piece : form.pieces) {
        add(piece.kernel.info, piece.kernel.info.source, piece.program);
        add(piece.kernel.info, piece.kernel.setup_source, piece.setup_program);
      }
    forms_.push_back(&form);
  }

  void compile() {
    for (const auto* form : forms_)
      if (form->options.device.get() != device_)
        throw base::InternalError("kernels of different devices are compiled one device after the other");
    if (!jobs_.empty()) {
      const auto programs = device::compile_all(*device_, jobs_);
      for (std::size_t i = 0; i < programs_.size(); ++i) *programs_[i] = programs[i];
    }
    for (auto* form : forms_) form->is_compiled = true;
  }

private:
  void add(const KernelInfo& info, const std::string& source, std::shared_ptr<const device::Program>& program) {
    if (source.empty() || program != nullptr) return;
    jobs_.push_back({source, {.compiler = info.plan.compiler, .flag_set = info.plan.flags}});
    programs_.push_back(&program);
  }
  device::Device* device_ = nullptr;
  std::vector<device::CompileJob> jobs_;
  std::vector<std::shared_ptr<const device::Program>*> programs_;
  std::vector<GeneratedForm*> forms_;
};

} // namespace

void compile(std::span<const std::shared_ptr<GeneratedForm>> forms) {
  CompileList list;
  for (const auto& form : forms) list.add(*form);
  list.compile();
}

} // namespace rafter::op
