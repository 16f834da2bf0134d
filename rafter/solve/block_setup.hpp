// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <rafter/operator/levels/auxiliary_operator.hpp>
#include <rafter/operator/levels/level_hierarchy.hpp>
#include <rafter/schedule/precision.hpp>
#include <rafter/solve/block_preconditioner.hpp>
#include <rafter/solve/null_space_condition.hpp>

/// Makes the blocks that BlockPreconditioner needs, from a form to operators with their levels.
namespace rafter::solvers {

/// A field gets this preconditioner.
struct FieldPreconditioner {
  std::string name; ///< name of the preconditioner, as in SolverOptions, but not "block"
  /// The meshes, of which the last is that of the field, and its levels are for multigrid.
  std::shared_ptr<const mesh::Generations> meshes = {};
  op::Coarsening coarsening = {};
  schedule::Precision precision = schedule::Precision::double_precision; ///< levels have it, the block's own among them
  std::optional<MultigridParameters> multigrid = {};                     ///< absent: those of SolverOptions
};

/// Blocks whose kernels are text, shape (field).
struct GeneratedBlocks {
  std::vector<op::GeneratedFieldBlock> blocks;
  std::vector<std::vector<op::GeneratedLevel>> levels; ///< levels of each block; a block without multigrid has none
  std::vector<FieldPreconditioner> preconditioners;
};

/// Generates blocks and levels. `form` is the one whose diagonal blocks are taken (op::generate_field_blocks),
/// `preconditioners` has the shape (field of the system). Throws InputError for another number of them, for names that
/// are unknown or no preconditioners of a field, and where op::generate_levels does.
GeneratedBlocks generate_blocks(const form::Form& form, const op::System& system,
                                std::span<const op::FieldCondition> conditions, const op::KernelOptions& kernels,
                                std::vector<FieldPreconditioner> preconditioners);

/// All kernels of blocks, for op::compile().
std::vector<std::shared_ptr<op::GeneratedForm>> kernels_of(const GeneratedBlocks& generated);

/// Binds compiled blocks, whose data fields and parameters follow those of A, which must outlive them. `null_space` is
/// that of A and `conditions` fix it: a block is singular, too, where it maps null vectors of its field to zero.
/// `set_data` gives each block the values of data fields that A does not have; empty: there are none.
std::vector<FieldBlock> make_blocks(GeneratedBlocks generated, const op::Operator& A, const NullSpace& null_space = {},
                                    std::span<const NullSpaceCondition> conditions = {},
                                    const std::function<void(op::Operator& block)>& set_data = {});

} // namespace rafter::solvers
