// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>

#include <rafter/form/form.hpp>

/// Parts of bilinear forms that preconditioners are made of.
namespace rafter::form {

/// Returns the terms of a bilinear form with test and trial functions of this space, the diagonal block of one field of
/// several. A form without integrals means that there are no such terms. Throws InputError for forms that are not
/// bilinear.
Form diagonal_block(const Form& form, const std::shared_ptr<const FieldSpace>& space);

/// Says whether the integrands of a bilinear form are seen to be symmetric in test and trial function, point by point:
/// the coefficients of each pair of their components and derivatives are the same expressions either way, or have equal
/// values at points drawn at random, as those of second derivatives of an energy. False says nothing, since expressions
/// with branches are not compared so, and forms may be symmetric as integrals alone.
bool is_symmetric(const LoweredForm& form);

/// Returns (a(u, v) + a(v, u)) / 2: the form itself where is_symmetric(). Throws InputError for forms that are not
/// bilinear.
Form symmetric_part(const Form& form);
/// The same of a lowered form: made of its source, so that the result has one, too; without a source, from the
/// coefficients of its integrals.
LoweredForm symmetric_part(const LoweredForm& form);

} // namespace rafter::form
