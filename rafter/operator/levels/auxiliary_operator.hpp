// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <span>
#include <vector>

#include <rafter/form/form.hpp>
#include <rafter/operator/generate/kernel_options.hpp>
#include <rafter/operator/levels/level_data.hpp>
#include <rafter/operator/operator.hpp>

/// Makes operators that preconditioners work with in place of the one that is solved with: blocks of single fields,
/// symmetric parts, and operators in single precision.
namespace rafter::op {

/// An auxiliary operator whose kernels are text. Without an action there is none.
struct GeneratedAuxiliary {
  System system;
  std::vector<FieldCondition> conditions; ///< those on spaces of the system
  KernelOptions kernels;
  std::shared_ptr<GeneratedForm> action, diagonal; ///< `diagonal` is null where an assembled matrix has it
};

/// Generates the kernels of a bilinear form on a system, with those of the conditions that are on its spaces. The plan
/// of `kernels` is left out, because it is meant for another operator. Kernels are compiled by compile(), together with
/// others. Throws InputError for several data fields of one name.
GeneratedAuxiliary generate_auxiliary(const form::LoweredForm& form, System system,
                                      std::span<const FieldCondition> conditions, KernelOptions kernels);

/// Generates what multigrid takes in the place of a bilinear form on its own level: the symmetric part, in the
/// precision of `kernels`. Nothing where form::is_symmetric() and the precision is double: the form is that itself.
GeneratedAuxiliary generate_own_level(const form::LoweredForm& form, const System& system,
                                      std::span<const FieldCondition> conditions, const KernelOptions& kernels);

/// An auxiliary operator that is ready to be applied. Without A there is none.
struct Auxiliary {
  std::shared_ptr<Operator> A;
  std::shared_ptr<LevelData> data; ///< brings the values of the operator that it is auxiliary to
};

/// Binds a compiled auxiliary operator, if there is one. Its constants, parameters and data fields follow those of the
/// same names in A, which must outlive it, and have their values now.
Auxiliary make_auxiliary(const GeneratedAuxiliary& generated, const Operator& A);

/// A preconditioner by blocks takes an operator for each field: the symmetric part of the form's terms with test and
/// trial functions of that field, or the mass matrix of the field where there are no such terms.
struct GeneratedFieldBlock {
  std::size_t field = 0; ///< number of the field in its system
  bool is_mass = false;  ///< whether it is the mass matrix
  form::Form form;       ///< its form
  GeneratedAuxiliary part;
};

/// Generates the blocks of all fields of a system. `form` is a bilinear form on it, whose diagonal blocks are taken.
/// `precisions` are those of the blocks, shape (field); empty: all are double. Throws InputError for other forms.
std::vector<GeneratedFieldBlock> generate_field_blocks(const form::Form& form, const System& system,
                                                       std::span<const FieldCondition> conditions,
                                                       const KernelOptions& kernels,
                                                       std::span<const schedule::Precision> precisions = {});

/// All kernels of auxiliary operators, for compile().
std::vector<std::shared_ptr<GeneratedForm>> kernels_of(const GeneratedAuxiliary& generated);

} // namespace rafter::op
