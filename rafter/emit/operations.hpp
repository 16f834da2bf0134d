// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <string>

#include <rafter/emit/spelling.hpp>

namespace rafter::emit {

/// Definitions of the functions that a kernel calls, by name; they stand before the kernel.
using Helpers = std::map<std::string, std::string>;

/// Writes scalar operations that have no infix notation as functions.
class Operations {
public:
  Operations(const Spelling& spelling, Helpers& helpers) : spelling_(spelling), helpers_(helpers) {}

  /// Names of the function on numbers, and of the one on vectors lane by lane. Calling them adds its definition to the
  /// helpers.
  std::string scalar(form::ScalarOp op, schedule::Type type) const;
  std::string vector(form::ScalarOp op, schedule::Type type) const;

private:
  std::string formula(form::ScalarOp op, schedule::Type type, const std::string& a, const std::string& b,
                      const std::string& c) const;
  std::string define(const std::string& prefix, form::ScalarOp op, const std::string& type,
                     const std::string& body) const;

  const Spelling& spelling_;
  Helpers& helpers_;
};

} // namespace rafter::emit
