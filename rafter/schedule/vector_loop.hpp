// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <rafter/schedule/loop_program.hpp>

/// Describes loops over the entries of vectors: updates and sums, as solvers and conditions need them.
namespace rafter::schedule {

/// A vector of a loop. Numbers are computed in doubles: entries of floats are widened when they are read, and rounded
/// when they are written.
struct VectorOperand {
  std::string name;
  Type type = Type::real; ///< real or real32
  std::string list;       ///< list of the entries that the loop visits of this vector; "": it visits entry i
  bool is_read = false;   ///< the loop needs entries that it has not written itself
  bool is_written = false;
};

/// A name and the expression whose value it gets. The registers of the expression are names of scalars, operands, sums
/// and earlier values.
struct Assignment {
  enum class Kind : std::uint8_t {
    entry, ///< entry of an operand
    value  ///< value of this entry alone, a name for the rest of the loop
  };
  Kind kind = Kind::entry;
  std::string name;
  NodePtr value;
};

/// A loop over entries i of vectors. For each i the assignments happen in order; sums add the values of their
/// expressions after them. When all entries are done, the scalar assignments happen once, which see the sums.
///
/// The text form is
///     name(scalars | operands): statements
/// with names separated by commas and statements by semicolons:
///     "step(alpha | p, q, x, r): x = x + alpha*p; r = r - alpha*q; sum rr = r*r"
/// `let z = d*r` names a value, `sum rr = r*r` a sum, and `then beta = rr/old` assigns a scalar. An operand is `x`, or
/// `x: float` for a vector of floats in any case, or `x[entries]` where entry entries[i] is meant, a list of numbers
/// that are distinct where the loop writes x. Expressions have numbers, + - * /, brackets and the functions of
/// form::ScalarOp by name.
struct VectorLoop {
  std::string name;
  std::vector<std::string> scalars;
  std::vector<VectorOperand> operands;
  std::vector<Assignment> statements;
  std::vector<Assignment> sums;
  std::vector<Assignment> then; ///< assignments of scalars

  std::vector<std::string> lists() const; ///< each once, in the order of operands
};

/// Reads the text form; operands without a type are vectors of `type`, real or real32. Throws InternalError, with the
/// text and what is wrong: syntax; names that are unknown, given twice, or kept for the programs (those that end with
/// an underscore or with one and digits); assignments to scalars in the loop and to vectors behind it.
VectorLoop parse_vector_loop(std::string_view text, Type type = Type::real);

} // namespace rafter::schedule
