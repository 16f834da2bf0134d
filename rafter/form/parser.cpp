// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/parser.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <numbers>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <rafter/base/text.hpp>
#include <rafter/form/functions.hpp>
#include <rafter/form/lexer.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/form/printer.hpp>

namespace rafter::form {

namespace {

/// Those of the names that are v_<field>.
std::vector<std::string> test_function_names(std::span<const std::string> names) {
  std::vector<std::string> found;
  std::copy_if(names.begin(), names.end(), std::back_inserter(found),
               [](const std::string& name) { return name.starts_with("v_"); });
  return found;
}

constexpr std::size_t max_nesting = 150;
constexpr std::size_t max_tokens = 500'000; // over all texts that one call reads

/// What the texts of one call share: limits, and values of definitions that are known already (so that definitions
/// built on definitions cost their size, not its exponential).
struct Session {
  const Scope& scope;
  std::size_t nesting = 0;
  std::size_t num_tokens = 0;
  std::vector<std::string> active; ///< definitions being read
  struct Known {
    std::vector<Expr> arguments;
    Value value;
  };
  std::map<std::string, std::vector<Known>> known;
  /// Integrals that stand for numbers, in functionals; null: forms are not numbers.
  std::vector<IntegralNumber>* integrals = nullptr;
};

/// The number that stands for an integral, the same one for the same integral.
Expr number_of(const Form& form, std::vector<IntegralNumber>& integrals) {
  if (form.rank() != 0) throw base::InputError("a form with a test or trial function is not a number");
  const auto found = std::ranges::find_if(integrals, [&](const auto& known) { return known.form == form; });
  if (found != integrals.end()) return coefficient(found->number);
  auto number = std::make_shared<CoefficientData>();
  number->name = fmt::format("integral_{}", integrals.size() + 1);
  number->values = {1.0}; // until it is evaluated
  integrals.push_back({form, number});
  return coefficient(std::move(number));
}

bool is_form(const Value& value) { return std::holds_alternative<Form>(value.content); }

/// Whether an expression is computed from one of these integrals.
bool holds_number(const Value& value, const std::vector<IntegralNumber>& integrals) {
  const auto* root = std::get_if<Expr>(&value.content);
  if (root == nullptr) return false;
  std::vector<const ExprNode*> nodes{&root->node()};
  std::unordered_set<const ExprNode*> is_seen;
  while (!nodes.empty()) {
    const ExprNode& node = *nodes.back();
    nodes.pop_back();
    if (!is_seen.insert(&node).second) continue;
    if (std::ranges::any_of(integrals, [&](const auto& known) { return known.number == node.coefficient; }))
      return true;
    for (const auto& operand : node.operands) nodes.push_back(&operand.node());
  }
  return false;
}

[[noreturn]] void fail_at(Position position, const std::string& message) {
  throw base::InputError(fmt::format("{}: {}", to_string(position), message));
}

/// Known before anything is read, since what a missing bracket makes of the text is often wrong in other ways, too.
void require_closed_brackets(std::span<const Token> tokens) {
  const auto closing = [](const Token& token) { return token.text == "(" ? ")" : "]"; };
  std::vector<Token> open;
  for (const auto& token : tokens) {
    if (token.kind != TokenKind::symbol) continue;
    if (token.text == "(" || token.text == "[") open.push_back(token);
    if (open.size() > max_nesting) fail_at(token.position, fmt::format("nested more than {} levels deep", max_nesting));
    if (token.text != ")" && token.text != "]") continue;
    if (open.empty()) fail_at(token.position, fmt::format("unexpected '{}': no bracket is open", token.text));
    if (token.text != closing(open.back()))
      fail_at(token.position, fmt::format("unexpected '{}': the '{}' of {} needs its '{}' first", token.text,
                                          open.back().text, to_string(open.back().position), closing(open.back())));
    open.pop_back();
  }
  if (open.empty()) return;
  fail_at(open.back().position, fmt::format("the '{}' of {} is not closed: a '{}' is missing", open.back().text,
                                            to_string(open.back().position), closing(open.back())));
}

/// What users of other packages expect, and what serves here.
constexpr const char* interior_facets =
    "integrals over interior facets (dS, with jump, avg and restrictions such as u('+')) are not in this version: take "
    "fields that are continuous (Lagrange), whose jumps vanish, and impose conditions on the boundary with ds";

/// For coordinates as mathematicians write them; "" for other names.
std::string coordinate_hint(const std::string& name, int gdim) {
  if (name != "y" && name != "z") return "";
  const int axis = name == "y" ? 1 : 2;
  return axis < gdim
             ? fmt::format(" (the coordinate is x[{}])", axis)
             : fmt::format(" (coordinates are x[0]{} on a mesh of dimension {})", gdim > 1 ? ", x[1]" : "", gdim);
}

class Parser {
public:
  Parser(std::string_view text, Session& session, std::map<std::string, Expr> locals)
      : session_(session), locals_(std::move(locals)), tokens_(tokenize(text)) {
    session.num_tokens += tokens_.size();
    if (session.num_tokens > max_tokens)
      throw base::InputError(fmt::format("the texts have more than {} parts", max_tokens));
    require_closed_brackets(tokens_);
  }

  Value parse() {
    Value result = expression();
    if (current().kind != TokenKind::end)
      fail_at(current().position,
              fmt::format("unexpected {} (is an operator missing before it?)", described(current())));
    return result;
  }

private:
  const Token& current() const { return tokens_[next_]; }
  bool is_symbol(std::string_view symbol) const {
    return current().kind == TokenKind::symbol && current().text == symbol;
  }
  bool is_assignment() const {
    return current().kind == TokenKind::name && tokens_[next_ + 1].kind == TokenKind::symbol &&
           tokens_[next_ + 1].text == "=";
  }
  /// ('+') or ('-') after a name
  bool is_restriction() const {
    const auto& side = tokens_[next_ + 1];
    return is_symbol("(") && side.kind == TokenKind::string && (side.text == "+" || side.text == "-");
  }
  Token take() {
    Token token = current();
    if (token.kind != TokenKind::end) ++next_;
    return token;
  }
  bool accept(std::string_view symbol) {
    if (!is_symbol(symbol)) return false;
    ++next_;
    return true;
  }
  void expect(std::string_view symbol, const char* after) {
    if (!accept(symbol))
      fail_at(current().position, fmt::format("expected '{}' {}, found {}", symbol, after, described(current())));
  }

  /// Runs one operation of the language; its errors get the position, its result remembers it.
  template <class Operation> Value located(Position position, const Operation& operation) {
    try {
      Value result{operation()};
      if (const auto* e = std::get_if<Expr>(&result.content)) origins_.try_emplace(&e->node(), std::pair(*e, position));
      return result;
    } catch (const LinearityError& error) {
      const auto origin = origins_.find(&error.offending().node());
      fail_at(origin == origins_.end() ? position : origin->second.second, error.what());
    } catch (const base::InputError& error) {
      fail_at(position, error.what() + point_hint(error.what()));
    }
  }

  /// A text that takes the point where a coordinate is meant has wrong shapes.
  std::string point_hint(std::string_view message) const {
    if (!has_whole_point_ || message.find("shape") == std::string_view::npos) return "";
    std::string coordinates = "x[0]";
    for (int axis = 1; axis < session_.scope.gdim(); ++axis) coordinates += fmt::format(", x[{}]", axis);
    return fmt::format("; 'x' is the whole point, its coordinates are {}", coordinates);
  }

  class Nesting {
  public:
    Nesting(Session& session, Position position) : session_(session) {
      if (++session_.nesting > max_nesting) {
        --session_.nesting; // the destructor of an unfinished object does not run
        fail_at(position, fmt::format("nested more than {} levels deep", max_nesting));
      }
    }
    ~Nesting() { --session_.nesting; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

  private:
    Session& session_;
  };

  /// In functionals, forms become numbers; everything else stays as it is.
  Value as_number(const Value& value) {
    if (session_.integrals == nullptr || !is_form(value)) return value;
    return {number_of(std::get<Form>(value.content), *session_.integrals)};
  }
  /// An operator on both sides. Sums and constant multiples of forms are forms (`keeps`); in functionals, forms are
  /// numbers everywhere else.
  template <class Operation> Value combined(const Value& left, const Value& right, bool keeps, Operation operation) {
    if (session_.integrals == nullptr || (!is_form(left) && !is_form(right))) return operation(left, right);
    if (keeps && !holds_number(left, *session_.integrals) && !holds_number(right, *session_.integrals))
      return operation(left, right);
    const Value first = as_number(left); // integrals are numbered from left to right
    return operation(first, as_number(right));
  }

  Value expression();
  Value sum();
  Value term();
  Value unary();
  Value power();
  Value postfix();
  Value primary();
  Value bracketed(Position position);
  Value list(std::string_view close, std::vector<Value> entries);
  Value indexed(const Value& value, Position position);
  Value attribute(const Value& value);
  Value named(const Token& name);
  Value measure(const Token& name);
  Value defined(const Token& name, const Definition& definition);
  Value read_definition(const Token& name, const Definition& definition, const std::vector<Expr>& arguments);
  std::vector<Value> arguments(const Token& name);

  Session& session_;
  std::map<std::string, Expr> locals_; ///< parameters of the definition being read
  std::vector<Token> tokens_;
  std::size_t next_ = 0;
  bool has_whole_point_ = false; ///< 'x' without an index was read
  std::unordered_map<const ExprNode*, std::pair<Expr, Position>>
      origins_; ///< holds the nodes, so that addresses stay theirs
};

/// sum [comparison sum]
Value Parser::expression() {
  const Nesting nesting(session_, current().position);
  using Comparison = Expr (*)(const Expr&, const Expr&);
  static const std::map<std::string, Comparison, std::less<>> comparisons{{"<", lt},  {"<=", le}, {">", gt},
                                                                          {">=", ge}, {"==", eq}, {"!=", ne}};
  const auto comparison = [this] {
    return current().kind == TokenKind::symbol ? comparisons.find(current().text) : comparisons.end();
  };
  Value left = sum();
  const auto found = comparison();
  if (found == comparisons.end()) return left;
  const Token symbol = take();
  const Value right = sum();
  left = located(symbol.position, [&] {
    const std::string what = fmt::format("a side of '{}'", symbol.text);
    return combined(left, right, false, [&](const Value& a, const Value& b) -> Value {
      return {found->second(as_expr(a, what), as_expr(b, what))};
    });
  });
  if (comparison() != comparisons.end())
    fail_at(current().position, "comparisons cannot be chained: write And(a < b, b < c)");
  return left;
}

/// term { (+|-) term }
Value Parser::sum() {
  Value left = term();
  while (is_symbol("+") || is_symbol("-")) {
    const Token symbol = take();
    const Value right = term();
    left = located(symbol.position, [&] {
      return combined(left, right, is_form(left) == is_form(right), symbol.text == "+" ? added : subtracted);
    });
  }
  return left;
}

/// unary { (*|/) unary }
Value Parser::term() {
  Value left = unary();
  while (is_symbol("*") || is_symbol("/")) {
    const Token symbol = take();
    const Value right = unary();
    left = located(symbol.position, [&] {
      const bool keeps = !is_form(right) || (symbol.text == "*" && !is_form(left));
      return combined(left, right, keeps, symbol.text == "*" ? multiplied : divided);
    });
  }
  return left;
}

/// (+|-) unary | power
Value Parser::unary() {
  if (!is_symbol("+") && !is_symbol("-")) return power();
  const Token symbol = take();
  const Nesting nesting(session_, symbol.position);
  const Value operand = unary();
  return located(symbol.position, [&] { return symbol.text == "-" ? negated(operand) : operand; });
}

/// postfix [** unary]
Value Parser::power() {
  const Value base = postfix();
  if (!is_symbol("**")) return base;
  const Token symbol = take();
  const Nesting nesting(session_, symbol.position);
  const Value exponent = unary();
  return located(symbol.position, [&] {
    return combined(base, exponent, false, [](const Value& a, const Value& b) -> Value {
      return {pow(as_expr(a, "the base of a power"), as_expr(b, "an exponent"))};
    });
  });
}

/// primary { [indices] | .T | .dx(axis) }
Value Parser::postfix() {
  Value result = primary();
  while (is_symbol("[") || is_symbol(".")) {
    const Token symbol = take();
    result = symbol.text == "[" ? indexed(result, symbol.position) : attribute(result);
  }
  return result;
}

Value Parser::indexed(const Value& value, Position position) {
  std::vector<int> indices;
  do {
    if (accept(":")) {
      indices.push_back(-1);
      continue;
    }
    const Position place = current().position;
    const Value index = expression();
    located(place, [&] {
      indices.push_back(as_integer(index, "an index"));
      if (indices.back() < 0)
        throw base::InputError(fmt::format("index {} is negative (components count from 0)", indices.back()));
      return index;
    });
  } while (accept(","));
  expect("]", "after the index");
  return located(position, [&] { return as_expr(value, "what is indexed").at(indices); });
}

Value Parser::attribute(const Value& value) {
  const Token name = take();
  if (name.kind == TokenKind::name && name.text == "T")
    return located(name.position, [&] { return transpose(as_expr(value, "what is transposed")); });
  if (name.kind != TokenKind::name || name.text != "dx")
    fail_at(name.position,
            fmt::format("unknown attribute {}: .T (transpose) and .dx(axis) are known", described(name)));
  expect("(", "after .dx");
  const Value axis = expression();
  expect(")", "after the axis");
  return located(name.position, [&] {
    return partial(as_expr(value, "the operand of .dx"), as_integer(axis, "the axis"), session_.scope.gdim());
  });
}

Value Parser::primary() {
  const Token token = take();
  switch (token.kind) {
  case TokenKind::number:
    return located(token.position, [&] { return Expr(token.value); });
  case TokenKind::string:
    return {token.text};
  case TokenKind::name:
    return named(token);
  case TokenKind::symbol:
    if (token.text == "(") return bracketed(token.position);
    if (token.text == "[") {
      if (is_symbol("]")) fail_at(token.position, "an empty list is not a tensor: give at least one component");
      return list("]", {});
    }
    break;
  case TokenKind::end:
    break;
  }
  fail_at(token.position, fmt::format("expected a number, a name or a bracket, found {}", described(token)));
}

/// ( expression ) or a tuple
Value Parser::bracketed(Position position) {
  if (is_symbol(")")) fail_at(position, "empty brackets");
  Value first = expression();
  if (accept(")")) return first;
  expect(",", "or ')' after an expression in brackets");
  return list(")", {std::move(first)});
}

Value Parser::list(std::string_view close, std::vector<Value> entries) {
  while (!is_symbol(close)) {
    entries.push_back(expression());
    if (!accept(",")) break;
  }
  expect(close, "or ',' after an entry of a list");
  return {ListValue{std::move(entries)}};
}

Value Parser::named(const Token& name) {
  const int gdim = session_.scope.gdim();
  const bool is_call = is_symbol("(");
  if (name.text == "dx" || name.text == "ds") return measure(name);
  if (name.text == "dS") fail_at(name.position, interior_facets);
  if (const auto* function = find_function(name.text)) {
    if (!is_call) fail_at(name.position, fmt::format("'{0}' is a function: write {0}(...)", name.text));
    auto given = arguments(name);
    return located(name.position, [&] {
      if (!function->takes_forms)
        for (auto& value : given) value = as_number(value);
      return call_function(*function, given, gdim);
    });
  }
  const auto local = locals_.find(name.text);
  const Expr* value = local != locals_.end() ? &local->second : session_.scope.find(name.text);
  const Definition* definition = value == nullptr ? session_.scope.find_definition(name.text) : nullptr;
  if (definition != nullptr) return defined(name, *definition);
  const bool is_known = value != nullptr || name.text == "x" || name.text == "n" || name.text == "pi";
  if (!is_known) {
    if (name.text == "jump" || name.text == "avg") fail_at(name.position, interior_facets);
    auto candidates = session_.scope.names();
    const auto tests = test_function_names(candidates);
    for (const auto& [parameter, unused] : locals_) candidates.push_back(parameter);
    for (auto& known : language_names()) candidates.push_back(std::move(known));
    const auto hint = name.text == "v" && tests.size() > 1
                          ? fmt::format(" (the test functions of several fields are {})", base::join(tests, ", "))
                      : !coordinate_hint(name.text, gdim).empty() ? coordinate_hint(name.text, gdim)
                                                                  : base::suggestion(name.text, candidates);
    fail_at(name.position, fmt::format("unknown {} '{}'{}", is_call ? "function" : "name", name.text, hint));
  }
  if (is_call && is_restriction()) fail_at(name.position, interior_facets);
  if (is_call) fail_at(name.position, fmt::format("'{}' is not a function (is a '*' missing?)", name.text));
  has_whole_point_ = has_whole_point_ || (value == nullptr && name.text == "x" && !is_symbol("["));
  return located(name.position, [&]() -> Expr {
    if (value != nullptr) return *value;
    if (name.text == "pi") return std::numbers::pi;
    return name.text == "x" ? spatial_coordinate(gdim) : facet_normal(gdim);
  });
}

/// ( expression {, expression} )
std::vector<Value> Parser::arguments(const Token& name) {
  expect("(", "before the arguments");
  std::vector<Value> result;
  while (!is_symbol(")")) {
    if (is_assignment())
      fail_at(current().position, fmt::format("{} takes no argument by name ('{}=')", name.text, current().text));
    result.push_back(expression());
    if (!accept(",")) break;
  }
  expect(")", fmt::format("or ',' after an argument of {}", name.text).c_str());
  return result;
}

/// dx, dx(tag), ds((tag, tag)), dx(tag, degree=4)
Value Parser::measure(const Token& name) {
  std::vector<Value> tags;
  std::optional<Value> degree;
  if (accept("(")) {
    while (!is_symbol(")")) {
      if (is_assignment()) {
        const Token key = take();
        take();
        if (key.text != "degree")
          fail_at(key.position, fmt::format("{} takes tags and degree=, not '{}='", name.text, key.text));
        degree = expression();
      } else {
        tags.push_back(expression());
      }
      if (!accept(",")) break;
    }
    expect(")", "after the tags of a measure");
  }
  return located(name.position, [&] {
    const MeasureSum result = tagged(name.text == "dx" ? dx : ds, tags);
    return degree ? result.with_degree(as_integer(*degree, "the quadrature degree")) : result;
  });
}

Value Parser::defined(const Token& name, const Definition& definition) {
  std::vector<Expr> given;
  if (definition.is_function) {
    const auto values = arguments(name);
    if (values.size() != definition.parameters.size())
      fail_at(name.position,
              fmt::format("{}({}) takes {} argument(s), {} given", name.text, fmt::join(definition.parameters, ", "),
                          definition.parameters.size(), values.size()));
    located(name.position, [&] {
      for (const auto& value : values)
        given.push_back(as_expr(as_number(value), fmt::format("an argument of {}", name.text)));
      return Value{name.text};
    });
  } else if (is_symbol("(")) {
    fail_at(name.position, fmt::format("'{}' is not a function (is a '*' missing?)", name.text));
  }
  for (const auto& known : session_.known[name.text])
    if (known.arguments == given) return known.value;
  Value result = read_definition(name, definition, given);
  session_.known[name.text].push_back({std::move(given), result});
  return result;
}

Value Parser::read_definition(const Token& name, const Definition& definition, const std::vector<Expr>& arguments) {
  auto& active = session_.active;
  if (std::find(active.begin(), active.end(), name.text) != active.end())
    fail_at(name.position,
            fmt::format("the definition '{}' uses itself ({} -> {})", name.text, fmt::join(active, " -> "), name.text));
  std::map<std::string, Expr> locals;
  for (std::size_t i = 0; i < arguments.size(); ++i) locals.emplace(definition.parameters[i], arguments[i]);
  const Nesting nesting(session_, name.position);
  active.push_back(name.text);
  try {
    Value result = Parser(definition.text, session_, std::move(locals)).parse();
    active.pop_back();
    return result;
  } catch (const base::InputError& error) {
    fail_at(name.position, fmt::format("in the definition of '{}', {}", name.text, error.what()));
  }
}

} // namespace

Form parse_form(std::string_view text, const Scope& scope) {
  Session session{scope};
  const Value value = Parser(text, session, {}).parse();
  if (const auto* form = std::get_if<Form>(&value.content)) return *form;
  const auto* e = std::get_if<Expr>(&value.content);
  throw base::InputError(
      fmt::format("the text is {}, not a form{}: a form is a sum of integrals such as inner(grad(u), grad(v))*dx",
                  kind_text(value), e != nullptr ? fmt::format(" ('{}' lacks a measure dx or ds)", summary(*e)) : ""));
}

FunctionalText parse_functional(std::string_view text, const Scope& scope) {
  FunctionalText result{{}, 0.0};
  Session session{scope};
  session.integrals = &result.integrals;
  const Value value = Parser(text, session, {}).parse();
  if (const auto* form = std::get_if<Form>(&value.content)) {
    result.value = number_of(*form, result.integrals);
    return result;
  }
  result.value = as_expr(value, "the text");
  if (result.value.rank() != 0)
    throw base::InputError(
        fmt::format("a functional is a number, found an expression of {}", shape_text(result.value.shape())));
  const auto lowered = lower(result.value);
  for (const NodeId id : lowered.order) {
    const auto& node = (*lowered.graph)[id];
    if (node.op == ScalarOp::atom && node.atom.kind != AtomKind::parameter)
      throw base::InputError(fmt::format("'{}' lacks a measure dx or ds: a functional is made of integrals such as "
                                         "inner(u, u)*dx and of constants",
                                         summary(result.value)));
  }
  return result;
}

Expr parse_expression(std::string_view text, const Scope& scope) {
  Session session{scope};
  const Value value = Parser(text, session, {}).parse();
  return as_expr(value, "the text");
}

} // namespace rafter::form
