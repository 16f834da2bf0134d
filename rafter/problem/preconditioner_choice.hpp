// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rafter/form/form.hpp>
#include <rafter/mesh/generations.hpp>
#include <rafter/operator/levels/level_hierarchy.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/schedule/precision.hpp>
#include <rafter/solve/block_setup.hpp>
#include <rafter/solve/multigrid_levels.hpp>
#include <rafter/solve/null_space_condition.hpp>

/// Preconditioners as programs choose them, and what they are made of.
namespace rafter::problem {

/// Values of a data field, with its name. Copies share them, so that lists of these may stand in braces:
/// {{"k", std::move(values)}}.
struct NamedValues {
  NamedValues(std::string of, op::Vector of_field, std::shared_ptr<const space::FunctionSpace> on = nullptr)
      : name(std::move(of)), values(std::make_shared<const op::Vector>(std::move(of_field))), space(std::move(on)) {}
  NamedValues(std::string of, std::shared_ptr<const op::Vector> of_field,
              std::shared_ptr<const space::FunctionSpace> on)
      : name(std::move(of)), values(std::move(of_field)), space(std::move(on)) {}
  std::string name;
  std::shared_ptr<const op::Vector> values;
  std::shared_ptr<const space::FunctionSpace> space; ///< only fields of the output need it; null: it is not known
};

/// Multigrid is made of these besides the operator.
struct MultigridOptions {
  mesh::Generations meshes{};  ///< the last is the mesh of the operator
  op::Coarsening coarsening{}; ///< levels below the operator
  /// Precision in which levels are stored and computed, all but the coarsest, whose solver works in double. The
  /// operator itself and the method around the cycles stay in double.
  schedule::Precision precision = schedule::Precision::double_precision;
  solvers::MultigridParameters parameters{}; ///< cycle, smoother and coarse solver
};

/// The name of a preconditioner, with what multigrid needs, or with those of the fields.
struct PreconditionerChoice {
  PreconditionerChoice(const char* text) : name(text) {}
  PreconditionerChoice(std::string text) : name(std::move(text)) {}
  std::string name;
  std::optional<MultigridOptions> multigrid{};
  std::optional<solvers::MultigridParameters> parameters{}; ///< parameters of "amg"; absent: the usual ones
  std::vector<std::pair<std::string, PreconditionerChoice>>
      blocks{};                           ///< preconditioners, each with the name of its field
  std::optional<form::Form> block_form{}; ///< form that the blocks are taken of; absent: that of the operator
  /// Values of data fields of `block_form` that the operator does not have, by name.
  std::vector<NamedValues> block_data{};
};

/// Multigrid as a preconditioner of solve(), whose levels have the form and the conditions of the operator:
///
///     auto meshes = refined_generations(read_mesh("beam-hex.mesh"), 2);
///     FunctionSpace V(meshes, {.degree = 4, .components = 3});
///     auto result = solve(A, b, {.preconditioner = multigrid({.meshes = meshes})});
PreconditionerChoice multigrid(MultigridOptions options);

/// Algebraic multigrid of the assembled matrix as a preconditioner of solve(): its cycle and smoothers, or BoomerAMG.
///
///     solve(A, b, {.preconditioner = amg({.amg = AmgMethod::boomeramg})});
PreconditionerChoice amg(solvers::MultigridParameters parameters);

/// A preconditioner for each field as a preconditioner of solve(), by the names of their spaces. Fields without a block
/// in the form, as the pressure of Stokes flow, get their mass matrix; `form` may give others, with `data` for fields
/// that the operator does not have.
///
///     solve(A, b, {.method = "minres", .preconditioner = block({{"u", multigrid({.meshes = meshes})}, {"p",
///     "jacobi"}})});
PreconditionerChoice block(std::vector<std::pair<std::string, PreconditionerChoice>> fields,
                           std::optional<form::Form> form = {}, std::vector<NamedValues> data = {});

/// Says whether linear systems with this method are preconditioned by multigrid of all fields; direct solves are not.
bool has_multigrid(const PreconditionerChoice& choice, const std::string& method);
/// Says whether they have a preconditioner for each field.
bool has_blocks(const PreconditionerChoice& choice, const std::string& method);
/// Says whether some part of the preconditioner is multigrid.
bool uses_multigrid(const PreconditionerChoice& choice, const std::string& method);

/// Generates the kernels of blocks, whose diagonal blocks are taken of `form`, for a system with these conditions.
/// Throws InputError for fields that are unknown, named twice or not named, and what solvers::generate_blocks refuses.
solvers::GeneratedBlocks generate_blocks(const PreconditionerChoice& choice, const form::Form& form,
                                         const op::System& system, std::span<const op::FieldCondition> conditions,
                                         const op::KernelOptions& kernels);
/// Gives a block the values of data fields of PreconditionerChoice::block_data that it has.
void set_block_data(const PreconditionerChoice& choice, op::Operator& block);

/// The blocks of an operator, compiled and bound. Throws InputError for forms without a source, and as
/// generate_blocks() does.
std::vector<solvers::FieldBlock> make_blocks(const op::Operator& A, const PreconditionerChoice& choice,
                                             const solvers::NullSpace& null_space = {},
                                             std::span<const solvers::NullSpaceCondition> conditions = {});

/// The levels of multigrid below an operator, or below its symmetric part where it is not seen to be symmetric,
/// compiled and bound; their data fields and parameters follow those of A, which must outlive them. `form_on` makes the
/// forms of levels where A has no source. Throws InputError where both are missing, and what op::generate_levels
/// refuses.
std::shared_ptr<const solvers::MultigridHierarchy>
make_hierarchy(const op::Operator& A, const MultigridOptions& options,
               std::span<const solvers::NullSpaceCondition> null_space = {}, op::FormOnSpaces form_on = {});

} // namespace rafter::problem
