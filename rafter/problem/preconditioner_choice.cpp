// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/preconditioner_choice.hpp>

#include <algorithm>
#include <cmath>

#include <rafter/base/error.hpp>
#include <rafter/operator/generate/form_compiler.hpp>
#include <rafter/operator/generate/kernel_options.hpp>
#include <rafter/operator/run/form_data.hpp>
#include <rafter/solve/solver.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::problem {
namespace {

/// The parameters of an operator that have values.
std::vector<std::pair<std::string, double>> parameters_of(const op::Operator& A) {
  std::vector<std::pair<std::string, double>> result;
  const auto values = A.data().parameters().host_read();
  for (std::size_t p = 0; p < A.form().parameters.size(); ++p)
    if (!std::isnan(values[p])) result.emplace_back(A.form().parameters[p].coefficient->name, values[p]);
  return result;
}

} // namespace

PreconditionerChoice multigrid(MultigridOptions options) {
  PreconditionerChoice result("multigrid");
  result.multigrid = std::move(options);
  return result;
}

PreconditionerChoice amg(solvers::MultigridParameters parameters) {
  PreconditionerChoice result("amg");
  result.parameters = parameters;
  return result;
}

PreconditionerChoice block(std::vector<std::pair<std::string, PreconditionerChoice>> fields,
                           std::optional<form::Form> form, std::vector<NamedValues> data) {
  PreconditionerChoice result("block");
  result.blocks = std::move(fields);
  result.block_form = std::move(form);
  result.block_data = std::move(data);
  return result;
}

bool has_multigrid(const PreconditionerChoice& choice, const std::string& method) {
  return choice.name == "multigrid" && !solvers::find_method(method).is_direct;
}

bool has_blocks(const PreconditionerChoice& choice, const std::string& method) {
  return choice.name == "block" && !solvers::find_method(method).is_direct;
}

bool uses_multigrid(const PreconditionerChoice& choice, const std::string& method) {
  if (!has_blocks(choice, method)) return has_multigrid(choice, method);
  return std::ranges::any_of(choice.blocks, [](const auto& of) { return of.second.name == "multigrid"; });
}

solvers::GeneratedBlocks generate_blocks(const PreconditionerChoice& choice, const form::Form& form,
                                         const op::System& system, std::span<const op::FieldCondition> conditions,
                                         const op::KernelOptions& kernels) {
  std::vector<solvers::FieldPreconditioner> preconditioners;
  for (const auto& space : system.spaces) {
    const auto is_of_space = [&](const auto& of) { return of.first == space->name; };
    if (std::ranges::count_if(choice.blocks, is_of_space) != 1)
      throw base::InputError("block: field '" + space->name + "' has no preconditioner, or several; accepted is one");
    const auto& of = std::ranges::find_if(choice.blocks, is_of_space)->second;
    solvers::FieldPreconditioner made{.name = of.name};
    made.multigrid = of.parameters;
    if (of.multigrid) {
      made.meshes = std::make_shared<const mesh::Generations>(of.multigrid->meshes);
      made.coarsening = of.multigrid->coarsening;
      made.precision = of.multigrid->precision;
      made.multigrid = of.multigrid->parameters;
    }
    preconditioners.push_back(std::move(made));
  }
  if (choice.blocks.size() != system.spaces.size())
    throw base::InputError("block: a preconditioner is named for a field that the operator does not have");
  return solvers::generate_blocks(form, system, conditions, kernels, std::move(preconditioners));
}

void set_block_data(const PreconditionerChoice& choice, op::Operator& block) {
  const auto& names = block.form().field_names;
  for (const auto& given : choice.block_data)
    if (std::ranges::find(names, given.name) != names.end()) block.set(given.name, *given.values);
}

std::vector<solvers::FieldBlock> make_blocks(const op::Operator& A, const PreconditionerChoice& choice,
                                             const solvers::NullSpace& null_space,
                                             std::span<const solvers::NullSpaceCondition> conditions) {
  if (!choice.block_form && A.form().source == nullptr)
    throw base::InputError("block: the operator was made without its form");
  if (!A.constraints().entries.empty() && A.conditions().empty())
    throw base::InputError("block: the operator was made with constrained entries, blocks need conditions");
  auto generated = generate_blocks(choice, choice.block_form ? *choice.block_form : *A.form().source, A.system(),
                                   A.conditions(), A.options());
  op::compile(solvers::kernels_of(generated));
  return solvers::make_blocks(std::move(generated), A, null_space, conditions,
                              [&](op::Operator& block) { set_block_data(choice, block); });
}

std::shared_ptr<const solvers::MultigridHierarchy>
make_hierarchy(const op::Operator& A, const MultigridOptions& options,
               std::span<const solvers::NullSpaceCondition> null_space, op::FormOnSpaces form_on) {
  if (A.form().source == nullptr && !form_on)
    throw base::InputError("multigrid: the operator was made without its form");
  if (!A.constraints().entries.empty() && A.conditions().empty())
    throw base::InputError("multigrid: the operator was made with constrained entries, coarser levels need conditions");
  const auto meshes = std::make_shared<const mesh::Generations>(options.meshes);
  auto own = A.options();
  own.precision = options.precision;
  auto levels = op::generate_levels({.form = form_on ? form::Form() : *A.form().source,
                                     .form_on = std::move(form_on),
                                     .system = A.system(),
                                     .meshes = meshes,
                                     .conditions = {A.conditions().begin(), A.conditions().end()},
                                     .kernels = own,
                                     .coarsening = options.coarsening,
                                     .parameters = parameters_of(A)});
  if (levels.empty()) own.precision = schedule::Precision::double_precision;
  const auto finest = op::generate_own_level(A.form(), A.system(), A.conditions(), own);
  auto kernels = op::kernels_of(levels);
  for (auto& kernel : op::kernels_of(finest)) kernels.push_back(std::move(kernel));
  op::compile(kernels);
  const auto own_level = op::make_auxiliary(finest, A);
  return solvers::make_hierarchy(op::make_levels(std::move(levels), own_level.A ? *own_level.A : A, *meshes),
                                 A.system(), null_space, own_level);
}

} // namespace rafter::problem
