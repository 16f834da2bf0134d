// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/emit/operations.hpp>

#include <fmt/format.h>

namespace rafter::emit {

using form::ScalarOp;
using schedule::Type;

/// Text of the operation on operands a, b, c of a type.
std::string Operations::formula(ScalarOp op, Type type, const std::string& a, const std::string& b,
                                const std::string& c) const {
  const auto truth = [&](const std::string& condition) {
    return fmt::format("({})({})", spelling_.names(type).scalar, condition);
  };
  switch (op) {
  case ScalarOp::min:
    return fmt::format("{0} < {1} ? {0} : {1}", a, b);
  case ScalarOp::max:
    return fmt::format("{0} > {1} ? {0} : {1}", a, b);
  case ScalarOp::sign:
    return truth(fmt::format("({0} > 0) - ({0} < 0)", a));
  case ScalarOp::lt:
    return truth(a + " < " + b);
  case ScalarOp::le:
    return truth(a + " <= " + b);
  case ScalarOp::eq:
    return truth(a + " == " + b);
  case ScalarOp::ne:
    return truth(a + " != " + b);
  case ScalarOp::logical_and:
    return truth(a + " != 0 && " + b + " != 0");
  case ScalarOp::logical_or:
    return truth(a + " != 0 || " + b + " != 0");
  case ScalarOp::logical_not:
    return truth(a + " == 0");
  case ScalarOp::select:
    return fmt::format("{} != 0 ? {} : {}", a, b, c);
  default:
    return form::info(op).arity == 1 ? fmt::format("{}({})", spelling_.function(op, type), a)
                                     : fmt::format("{}({}, {})", spelling_.function(op, type), a, b);
  }
}

std::string Operations::define(const std::string& prefix, ScalarOp op, const std::string& type,
                               const std::string& body) const {
  const std::string name = prefix + form::info(op).name;
  std::string parameters = type + " a";
  if (form::info(op).arity > 1) parameters += ", " + type + " b";
  if (form::info(op).arity > 2) parameters += ", " + type + " c";
  helpers_[name] = fmt::format("{}{} {}({}) {{ {} }}\n", spelling_.function_head, type, name, parameters, body);
  return name;
}

std::string Operations::scalar(ScalarOp op, Type type) const {
  const auto& names = spelling_.names(type);
  return define(std::string(names.initial) + "s_", op, names.scalar,
                fmt::format("return {};", formula(op, type, "a", "b", "c")));
}

std::string Operations::vector(ScalarOp op, Type type) const {
  const auto& names = spelling_.names(type);
  if (op == ScalarOp::abs && spelling_.vectors.absolute)
    return define(std::string(names.initial) + "v_", op, names.vector,
                  fmt::format("return {};", spelling_.vectors.absolute("a", type)));
  const auto lane = [&](const char* vector) { return spelling_.vectors.lane(vector, "l", type); };
  const auto at_once = spelling_.vectors.function ? spelling_.vectors.function(op, type) : "";
  constexpr const char* first = "_prelude"; // helpers stand in the order of their names, the others begin with letters
  if (!at_once.empty()) helpers_[first] = spelling_.vectors.function_prelude;
  return define(std::string(names.initial) + "v_", op, names.vector,
                at_once + fmt::format("{} r; for (int l = 0; l < LANES; ++l) {} = {}; return r;", names.vector,
                                      lane("r"), formula(op, type, lane("a"), lane("b"), lane("c"))));
}

} // namespace rafter::emit
