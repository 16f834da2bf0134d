// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/block_setup.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/schedule/precision.hpp>
#include <rafter/solve/diagnosis.hpp>
#include <rafter/solve/multigrid_levels.hpp>
#include <rafter/solve/solver.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::solvers {
namespace {

/// The null vectors that lie in a field and that its block maps to zero, too; null: there are none.
std::shared_ptr<const NullSpace> null_space_of(const op::Operator& block, const op::EntryRange& entries,
                                               const NullSpace& null_space) {
  const VectorOps ops(block);
  std::vector<Vector> vectors;
  for (const auto& vector : null_space.basis()) {
    Vector part = block.make_vector();
    ops.copy_range({vector, entries}, part);
    if (ops.norm(part) > 0.5 && is_null_vector(block, ops, part)) vectors.push_back(std::move(part));
  }
  return vectors.empty() ? nullptr : std::make_shared<const NullSpace>(block.device(), std::move(vectors));
}

std::vector<NullSpaceCondition> conditions_on(const space::FunctionSpace& space,
                                              std::span<const NullSpaceCondition> conditions) {
  std::vector<NullSpaceCondition> result;
  std::ranges::copy_if(conditions, std::back_inserter(result),
                       [&](const NullSpaceCondition& condition) { return condition.space.get() == &space; });
  return result;
}

std::vector<op::GeneratedLevel> generate_levels(const op::GeneratedFieldBlock& block, const FieldPreconditioner& of) {
  if (of.name != "multigrid") return {};
  const auto& part = block.part; // of the precision of the levels
  return op::generate_levels({.form = block.form,
                              .system = part.system,
                              .meshes = of.meshes,
                              .conditions = part.conditions,
                              .kernels = part.kernels,
                              .coarsening = of.coarsening});
}

} // namespace

GeneratedBlocks generate_blocks(const form::Form& form, const op::System& system,
                                std::span<const op::FieldCondition> conditions, const op::KernelOptions& kernels,
                                std::vector<FieldPreconditioner> preconditioners) {
  if (preconditioners.size() != system.spaces.size())
    throw base::InputError(fmt::format("preconditioner block: {} fields have a preconditioner, the system has {}",
                                       preconditioners.size(), system.spaces.size()));
  for (const auto& of : preconditioners)
    if (find_preconditioner(of.name).name == "block")
      throw base::InputError("preconditioner block: that of a field is \"block\" itself");
  std::vector<schedule::Precision> precisions;
  for (const auto& of : preconditioners)
    precisions.push_back(of.name == "multigrid" ? of.precision : schedule::Precision::double_precision);
  GeneratedBlocks result{.blocks = op::generate_field_blocks(form, system, conditions, kernels, precisions),
                         .levels = {},
                         .preconditioners = std::move(preconditioners)};
  for (std::size_t f = 0; f < result.blocks.size(); ++f)
    result.levels.push_back(generate_levels(result.blocks[f], result.preconditioners[f]));
  return result;
}

std::vector<std::shared_ptr<op::GeneratedForm>> kernels_of(const GeneratedBlocks& generated) {
  std::vector<std::shared_ptr<op::GeneratedForm>> result;
  const auto add = [&](const auto& kernels) { result.insert(result.end(), kernels.begin(), kernels.end()); };
  for (const auto& block : generated.blocks) add(op::kernels_of(block.part));
  for (const auto& levels : generated.levels) add(op::kernels_of(levels));
  return result;
}

std::vector<FieldBlock> make_blocks(GeneratedBlocks generated, const op::Operator& A, const NullSpace& null_space,
                                    std::span<const NullSpaceCondition> conditions,
                                    const std::function<void(op::Operator& block)>& set_data) {
  std::vector<FieldBlock> result;
  for (std::size_t f = 0; f < generated.blocks.size(); ++f) {
    const auto& [field, is_mass, form, part] = generated.blocks[f];
    const auto& of = generated.preconditioners[f];
    const auto [block, data] = op::make_auxiliary(part, A);
    if (set_data) set_data(*block);
    const auto entries = A.system().entries(field);
    FieldBlock made{.field = part.system.spaces[0]->name,
                    .preconditioner = of.name,
                    .entries = entries,
                    .A = block,
                    .is_mass = is_mass,
                    .near_null_space = [system = part.system] { return make_near_null_space(system); },
                    .null_space = null_space_of(*block, entries, null_space),
                    .multigrid = of.multigrid,
                    .follow = [data = data] { return data->follow(); }};
    if (of.name == "multigrid") {
      const auto own =
          made.null_space ? conditions_on(*part.system.spaces[0], conditions) : std::vector<NullSpaceCondition>();
      made.hierarchy =
          make_hierarchy(op::make_levels(std::move(generated.levels[f]), *block, *of.meshes), part.system, own);
    }
    result.push_back(std::move(made));
  }
  return result;
}

} // namespace rafter::solvers
