// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/form/printer.hpp>
#include <tests/property/form_corpus.hpp>

/// The message about a wrong text says where it is wrong, what was found, and what would be right.
namespace rafter::form {
namespace {

template <class Operation> std::string message_of(const Operation& operation) {
  try {
    operation();
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "(no error)";
}

struct Case {
  std::string text;
  std::vector<std::string> parts; ///< parts that the message must have
};

void expect_messages(const std::vector<Case>& cases, const Scope& scope, bool is_form) {
  for (const auto& test : cases) {
    const std::string message = message_of([&] {
      if (is_form)
        parse_form(test.text, scope);
      else
        parse_expression(test.text, scope);
    });
    for (const auto& part : test.parts)
      EXPECT_NE(message.find(part), std::string::npos)
          << test.text << "\n  gives: " << message << "\n  lacks: " << part;
  }
}

TEST(FormErrors, ShapesAreNamedWithTheSubExpressionAndItsColumn) {
  expect_messages(
      {
          {"1 + inner(w, grad(w))",
           {"line 1, column 5", "inner(w, grad(w))", "'w' has shape (3)", "'grad(w)' has shape (3, 3)"}},
          {"w + r", {"column 3", "'w + r'", "'w' has shape (3)", "'r' has no axes (a scalar)"}},
          {"grad(w) - w", {"column 9", "shape (3, 3)", "shape (3)"}},
          {"w*b", {"column 2", "inner, dot or outer", "shape (3)"}},
          {"w*grad(w)", {"column 2", "inner, dot or outer"}},
          {"as_matrix([[1, 2]])*w", {"column 20", "last axis", "shape (1, 2)", "shape (3)"}},
          {"r/w", {"column 2", "divisor must be a scalar", "shape (3)"}},
          {"w**2", {"column 2", "takes scalars", "'w' has shape (3)"}},
          {"2**w", {"column 2", "takes scalars"}},
          {"dot(r, w)", {"column 1", "dot takes vectors and matrices", "'r' has no axes"}},
          {"dot(w, [1, 2])", {"column 1", "last axis of the left side", "shape (2)"}},
          {"cross(w, [1, 2])", {"column 1", "3 components", "shape (2)"}},
          {"transpose(w)", {"column 1", "only a matrix"}},
          {"w.T", {"column 3", "only a matrix"}},
          {"tr(w)", {"column 1", "tr takes a square matrix", "'w' has shape (3)"}},
          {"det(as_matrix([[1, 2]]))", {"column 1", "det takes a square matrix", "shape (1, 2)"}},
          {"inv(Identity(4))", {"column 1", "up to 3 x 3", "shape (4, 4)"}},
          {"sym(w)", {"sym takes a square matrix"}},
          {"skew(r)", {"skew takes a square matrix"}},
          {"dev(w)", {"dev takes a square matrix"}},
          {"div(r)", {"div takes a vector or matrix with 3 columns"}},
          {"div([1, 2])", {"div takes a vector or matrix with 3 columns"}},
          {"curl(r)", {"curl takes a vector with 3 components"}},
          {"sin(w)", {"column 1", "sin takes a scalar", "'w' has shape (3)"}},
          {"max_value(r, w)", {"max_value takes scalars"}},
          {"conditional(r < 0, w, 0)", {"equal shapes", "'w' has shape (3)"}},
          {"conditional(r, 1, 0)", {"'r' is not a condition"}},
          {"1 + (r < 0)", {"is a condition, not a number"}},
          {"And(r, r < 0)", {"'r' is not a condition"}},
          {"w < 1", {"column 3", "takes scalars"}},
          {"w[3]", {"column 2", "index 3 is out of range"}},
          {"w[0, 1]", {"column 2", "2 indices"}},
          {"w[-1]", {"column 3", "negative"}},
          {"w[r]", {"column 3", "whole number"}},
          {"w[0.5]", {"whole number"}},
          {"r[0]", {"only vectors and matrices"}},
          {"[1, w]", {"entries of a list must have equal shapes"}},
          {"[1, w] + w", {"entries of a list must have equal shapes"}},
          {"as_vector([w])", {"as_vector takes a list of scalars", "shape (1, 3)"}},
          {"as_matrix([1, 2])", {"as_matrix takes a list of equally long lists", "shape (2)"}},
          {"as_matrix([[1, 2], [3]])", {"equal shapes"}},
          {"as_vector([])", {"empty list"}},
          {"Identity(0)", {"between 1 and 32"}},
          {"Identity(w)", {"whole number"}},
          {"outer(outer(k, k), w)", {"too large", "rank 4"}},
          {"grad(grad(w))", {"column 1", "second derivatives are not supported", "grad(grad(w))"}},
          {"div(grad(r))", {"second derivatives"}},
          {"grad(n)", {"derivatives of the facet normal"}},
          {"w.dx(3)", {"axes count from 0 to 2"}},
          {"w.dy(0)", {"unknown attribute 'dy'", ".T (transpose)"}},
          {"derivative(r**2, 2, 1)", {"taken by a coefficient field, which '2' is not"}},
          {"derivative(r**2, r, w)", {"direction must have the shape"}},
          {"derivative(r**2, r)", {"needs a direction"}},
          {"len(r)", {"len takes a vector or matrix"}},
      },
      test::make_scope(3), false);
}

TEST(FormErrors, SyntaxErrorsNameTheColumn) {
  expect_messages(
      {
          {"", {"line 1, column 1", "found the end of the text"}},
          {"1 +", {"column 4", "found the end of the text"}},
          {"(1 + 2", {"column 1", "the '(' of line 1, column 1 is not closed: a ')' is missing"}},
          {"1 + 2)", {"column 6", "unexpected ')': no bracket is open"}},
          {"(x[0] + 1*r*dx",
           // This matters more than that a number and a form cannot be added.
           {"column 1", "the '(' of line 1, column", "is not closed"}},
          {"inner(grad(r), grad(r)*2", {"column 6", "the '(' of line 1, column", "is not closed"}},
          {"(1 + (2*r)\n  + sin(r)", {"line 1, column 1", "the '(' of line 1, column", "is not closed"}},
          {"[1, [2, 3]", {"column 1", "the '[' of line 1, column 1 is not closed: a ']' is missing"}},
          {"w[0 + r", {"column 2", "the '[' of line 1, column 2 is not closed"}},
          {"(w[0)]", {"column 5", "unexpected ')': the '[' of line 1, column 3 needs its ']' first"}},
          {"inner(w n)", {"column 9", "expected ')' or ',' after an argument of inner", "'n'"}},
          {"as_vector([1 2])", {"column 14", "expected ']' or ',' after an entry of a list", "'2'"}},
          {"(r r)", {"column 4", "expected ',' or ')'", "'r'"}},
          {"r w", {"column 3", "unexpected 'w'", "an operator missing"}},
          {"y", {"column 1", "unknown name 'y' (the coordinate is x[1])"}},
          {"2*z + r", {"column 3", "unknown name 'z' (the coordinate is x[2])"}},
          {"sin(pi*x)", {"column 1", "x' is the whole point, its coordinates are x[0], x[1], x[2]"}},
          {"x + 1", {"column 3", "its coordinates are x[0], x[1], x[2]"}},
          {"jump(r)", {"column 1", "interior facets", "ds", "continuous"}},
          {"inner(avg(grad(r)), n)", {"column 7", "interior facets"}},
          {"r('+')", {"column 1", "interior facets"}},
          {"()", {"column 1", "empty brackets"}},
          {"1 2", {"column 3", "unexpected '2'"}},
          {"2x", {"column 1", "runs into 'x'"}},
          {"r^2", {"column 2", "a**b"}},
          {"r $ 2", {"column 3", "unexpected '$'"}},
          {"r \x01 2", {"column 3", "byte 0x01"}},
          {"\xc3\xa4", {"column 1", "byte 0xc3"}},
          {"r +\n  * 2", {"line 2, column 3", "found '*'"}},
          {"'abc", {"column 1", "string does not end"}},
          {"1e999", {"out of range"}},
          {"gard(r)", {"column 1", "unknown function 'gard'", "did you mean 'grad'"}},
          {"alfa*r", {"column 1", "unknown name 'alfa'", "did you mean 'alpha'"}},
          {"r*ds(top)", {"column 6", "unknown name 'top' (names of tags stand in quotes: 'top')"}},
          {"grad", {"'grad' is a function"}},
          {"grad()", {"grad takes 1 argument, 0 given"}},
          {"inner(r)", {"inner takes 2 arguments, 1 given"}},
          {"inner(r, r, r)", {"inner takes 2 arguments, 3 given"}},
          {"derivative(r)", {"takes 2 to 3 arguments, 1 given"}},
          {"grad(f=r)", {"column 6", "no argument by name"}},
          {"r(1)", {"'r' is not a function", "'*' missing"}},
          {"eps(w, w)", {"eps(a) takes 1 argument(s), 2 given"}},
          {"E(w)", {"'E' is not a function"}},
          {"0 < r < 1", {"column 7", "cannot be chained"}},
          {"dx", {"must be an expression, not a measure"}},
          {"dS", {"interior facets", "ds", "continuous"}},
          {"'steel'", {"must be an expression, not a string"}},
          {"inner(dx, r)", {"argument 1 of inner must be an expression, not a measure"}},
          {"r + dx", {"cannot add an expression and a measure"}},
          {"r*'a'", {"cannot multiply an expression and a string"}},
      },
      test::make_scope(3), false);
}

TEST(FormErrors, FormsMustBeLinearScalarAndMeasured) {
  expect_messages(
      {
          {"inner(grad(p), grad(q))", {"an expression, not a form", "lacks a measure"}},
          {"inner(grad(p), grad(q))*dx + 1", {"cannot add a form and an expression"}},
          {"grad(q)*dx", {"an integrand must be a scalar", "shape (3)"}},
          {"(r < 1)*dx", {"is a condition"}},
          {"p*p*q*dx", {"column 2", "'p*p' is not linear", "both factors contain the trial function"}},
          {"sin(q)*dx", {"column 1", "'sin(q)' is not linear in the test function"}},
          {"p*q**2*dx", {"column 4", "'q**2'"}},
          {"r/q*dx", {"column 2", "not linear in the test function"}},
          {"(q + 1)*dx", {"column 4", "'q' contains the test function", "'1' contains neither"}},
          {"(p + r)*q*dx", {"column 4", "'p' contains the trial function", "'r' contains neither"}},
          {"abs(p)*q*dx", {"'abs(p)' is not linear"}},
          {"conditional(q < 0, q, 1)*dx", {"not linear"}},
          {"conditional(r < 0, q, 1)*dx", {"'q' contains the test function"}},
          {"inner(u, w)*inner(u, v)*dx", {"both factors contain the trial function"}},
          {"inner(inv(grad(u)), grad(v))*dx", {"'inv(grad(u))' is not linear"}},
          {"p*dx", {"a trial function but no test function"}},
          {"p*q*dx + q*dx", {"same arguments", "'q*dx' is linear", "bilinear"}},
          {"q*ds - r*dx", {"same arguments", "functional"}},
          {"dot(n, grad(p))*q*dx", {"facet normal n", "integrate over ds"}},
          {"dx*q", {"column 3", "measure comes last"}},
          {"q*dx*dx", {"column 5", "has a measure already"}},
          {"r*(q*dx)", {"constant scalar", "'r'"}},
          {"q*dx(1)(2)", {"unexpected '('"}},
          {"q*dx(-1)", {"tags are not negative"}},
          {"q*dx(1.5)", {"whole number"}},
          {"q*dx(1, 2)", {"ds((1, 2))"}},
          {"q*dx(r)", {"a tag must be a whole number, not 'r'"}},
          {"q*dx('')", {"is not a tag"}},
          {"q*dx(degree=-1)", {"out of range"}},
          {"q*dx(degree=61)", {"out of range (0 to 60)"}},
          {"q*dx(deg=1)", {"takes tags and degree=, not 'deg='"}},
          {"derivative(p*q*dx, r)", {"bilinear form needs a direction"}},
          {"derivative(r*q*dx, q)", {"'q' is not a coefficient field"}},
          {"action(q*dx, r)", {"action takes a bilinear form"}},
          {"action(p*q*dx, w)", {"no field is given for the trial function 'p'"}},
          {"adjoint(q*dx)", {"adjoint takes a bilinear form"}},
          {"adjoint(q)", {"adjoint takes a form, not an expression"}},
      },
      test::make_scope(3), true);
}

TEST(FormErrors, DefinitionsNameThemselvesInMessages) {
  Scope scope = test::make_scope(2);
  scope.define("broken", "1 + w");
  scope.define("g(a)", "2*h(a)");
  scope.define("h(a)", "g(a)");
  scope.define("uses", "1 + broken");
  scope.define("open(a)", "2*(a + sin(a)");
  expect_messages({{"2*broken", {"line 1, column 3: in the definition of 'broken', line 1, column 3", "shape (2)"}},
                   {"uses", {"in the definition of 'uses'", "in the definition of 'broken'"}},
                   {"1 + open(r)",
                    {"line 1, column 5: in the definition of 'open', line 1, column 3: the '(' of line 1, column 3"}},
                   {"g(r)", {"'g' uses itself (g -> h -> g)"}},
                   {"inner(sigma(r), E)",
                    {"in the definition of 'sigma'", "in the definition of 'eps'", "'grad(r)' has shape (2)"}}},
                  scope, false);
}

TEST(FormErrors, ScopeRefusesNamesThatWouldBeAmbiguous) {
  Scope scope(3);
  scope.add("f", constant("f", 1));
  const auto parts = std::vector<std::pair<std::string, std::string>>{
      {message_of([&] { scope.add("f", 2.0); }), "used twice"},
      {message_of([&] { scope.define("f(a)", "a"); }), "used twice"},
      {message_of([&] { scope.add("grad", 2.0); }), "belongs to the form language"},
      {message_of([&] { scope.add("x", 2.0); }), "belongs to the form language"},
      {message_of([&] { scope.add("2f", 2.0); }), "is not a name"},
      {message_of([&] { scope.add("", 2.0); }), "is not a name"},
      {message_of([&] { scope.define("g(", "1"); }), "does not define anything"},
      {message_of([&] { scope.define("g()", "1"); }), "does not define anything"},
      {message_of([&] { scope.define("g(a, a)", "1"); }), "appears twice"},
      {message_of([&] { scope.define("g(a) b", "1"); }), "does not define anything"},
      {message_of([&] { scope.define("3", "1"); }), "does not define anything"},
      {message_of([] { Scope wrong(4); }), "1, 2 or 3 dimensions"},
  };
  for (const auto& [message, part] : parts) EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(FormErrors, CoefficientsMustFitTheirShapeAndBeFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_NE(message_of([] { constant("f", {3}, {1, 2}); }).find("2 values given for shape (3)"), std::string::npos);
  EXPECT_NE(message_of([] { constant("f", {0}, {}); }).find("empty axis"), std::string::npos);
  EXPECT_NE(message_of([&] { constant("f", infinity); }).find("not finite"), std::string::npos);
  EXPECT_NE(message_of([] { by_tag("f", {{"1", std::nan("")}}); }).find("tag 1"), std::string::npos);
  EXPECT_NE(message_of([] { by_tag("f", {}); }).find("no tag has a value"), std::string::npos);
  EXPECT_NE(message_of([&] { Expr e(infinity); }).find("not finite"), std::string::npos);
}

TEST(FormErrors, SpacesOfOneExpressionShareTheirDimension) {
  const Expr flat = field(test::make_space("a", 0, 2), "a");
  const Expr solid = field(test::make_space("b", 0, 3), "b");
  EXPECT_NE(message_of([&] { flat + solid; }).find("2D and in 3D"), std::string::npos);
  EXPECT_NE(message_of([] { grad(Expr(1.0)); }).find("dimension of space is not known"), std::string::npos);
}

TEST(FormErrors, PointEvaluatorWantsExpressionsInXOnly) {
  const Scope scope = test::make_scope(2);
  for (const std::string text : {"r", "p", "n[0]", "lmbda", "grad(w)[0, 0]"})
    EXPECT_NE(message_of([&] { PointEvaluator e(parse_expression(text, scope)); }).find("x and constants only"),
              std::string::npos)
        << text;
  EXPECT_NE(message_of([&] { PointEvaluator e(parse_expression("x[0] < 1", scope)); }).find("is a condition"),
            std::string::npos);
}

TEST(FormErrors, HostileTextsEndInErrorsNotInCrashes) {
  const Scope scope = test::make_scope(3);
  const auto repeated = [](const std::string& part, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += part;
    return text;
  };
  constexpr int many = 20000;
  EXPECT_NE(
      message_of([&] { parse_expression(repeated("(", many) + "r" + repeated(")", many), scope); }).find("levels deep"),
      std::string::npos);
  EXPECT_NE(message_of([&] { parse_expression(repeated("[", many), scope); }).find("levels deep"), std::string::npos);
  EXPECT_NE(message_of([&] { parse_expression(repeated("- ", many) + "r", scope); }).find("levels deep"),
            std::string::npos);
  EXPECT_NE(message_of([&] { parse_expression(repeated("r**", many) + "r", scope); }).find("levels deep"),
            std::string::npos);
  EXPECT_NE(message_of([&] { parse_expression(repeated("sin(", many), scope); }).find("levels deep"),
            std::string::npos);
  EXPECT_NE(message_of([&] { parse_expression(repeated("r + ", many) + "r", scope); }).find("nested more than 1000"),
            std::string::npos);
  EXPECT_NE(message_of([&] { parse_expression(repeated("x", 2 << 20), scope); }).find("at most"), std::string::npos);
  Scope doubling = test::make_scope(3);
  doubling.define("a0", "r");
  for (int i = 1; i < 60; ++i) doubling.define(fmt::format("a{}", i), fmt::format("a{0}*a{0}", i - 1));
  // The degree is bounded and does not overflow.
  EXPECT_EQ(lower(parse_form("a59*q*dx", doubling)).integrals[0].degree, 1000);
}

TEST(FormErrors, VOfSeveralFieldsNamesTheirTestFunctions) {
  const std::vector<std::shared_ptr<const FieldSpace>> spaces{test::make_space("p", 0, 2, 1, true),
                                                              test::make_space("q", 0, 2, 2, true)};
  Scope scope(2);
  scope.add_arguments(spaces);
  expect_messages({{"p*v*dx", {"unknown name 'v'", "the test functions of several fields are v_p, v_q"}}}, scope, true);
}

} // namespace
} // namespace rafter::form
