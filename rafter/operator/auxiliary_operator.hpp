// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <span>
#include <vector>

#include <rafter/operator/operator.hpp>

/// Makes operators that preconditioners work with in place of the one that is solved with: blocks of single fields, and
/// symmetric parts.
namespace rafter::op {

/// An auxiliary operator whose kernels are text. Without an action there is none.
struct GeneratedAuxiliary {
  form::Form form;
  System system;
  std::vector<FieldCondition> conditions; ///< those on spaces of the system
  KernelOptions kernels;
  std::shared_ptr<GeneratedForm> action, diagonal; ///< `diagonal` is null where an assembled matrix has it
};

/// Generates the kernels of a bilinear form on a system, with those of the conditions that are on its spaces. The plan
/// of `kernels` is left out, because it is meant for another operator. Kernels are compiled by compile(), together with
/// others.
GeneratedAuxiliary generate_auxiliary(form::Form form, System system, std::span<const FieldCondition> conditions,
                                      KernelOptions kernels);

/// Generates the symmetric part of a bilinear form, or nothing where form::is_symmetric(). Throws InputError for forms
/// without a source.
GeneratedAuxiliary generate_symmetric_part(const form::LoweredForm& form, const System& system,
                                           std::span<const FieldCondition> conditions, const KernelOptions& kernels);

/// Gives an operator the values that constants, parameters and data fields of the same names have in another one now.
void take_values(Operator& to, const Operator& from);

/// Binds a compiled auxiliary operator, with the values that A has now (take_values).
std::shared_ptr<Operator> make_auxiliary(const GeneratedAuxiliary& generated, const Operator& A);

/// What a preconditioner by blocks takes for a field: the symmetric part of the form's terms with test and trial
/// functions of that field, or the mass matrix of the field where there are no such terms.
struct GeneratedFieldBlock {
  std::size_t field = 0; ///< number of the field in its system
  bool is_mass = false;  ///< whether it is the mass matrix
  GeneratedAuxiliary part;
};

/// Generates the blocks of all fields of a system. `form` is a bilinear form on it, whose diagonal blocks are taken.
/// Throws InputError for other forms.
std::vector<GeneratedFieldBlock> generate_field_blocks(const form::Form& form, const System& system,
                                                       std::span<const FieldCondition> conditions,
                                                       const KernelOptions& kernels);

/// All kernels of auxiliary operators, for compile().
std::vector<std::shared_ptr<GeneratedForm>> kernels_of(const GeneratedAuxiliary& generated);

} // namespace rafter::op
