// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/form/parser.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <numbers>
#include <optional>

#include <fmt/format.h>
#include <rafter/form/definition_order.hpp>
#include <rafter/form/error_positions.hpp>
#include <rafter/form/functions.hpp>
#include <rafter/form/integral_arithmetic.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/form/printer.hpp>
#include <rafter/form/token_stream.hpp>
#include <rafter/form/unknown_names.hpp>

namespace rafter::form {

namespace {

constexpr std::size_t max_tokens = 500'000;      // limit for all texts together that one call reads
constexpr std::size_t max_list_entries = 65'536; // a list has at most so many, with those of lists in it

/// State that all texts of one call share: limits, and the values of definitions that were read before, so that
/// definitions built on definitions cost their size, not its exponential.
struct Session {
  explicit Session(const Scope& names, std::vector<IntegralNumber>* numbers = nullptr)
      : scope(names), integrals(numbers) {}

  const Scope& scope;
  IntegralArithmetic integrals;
  std::size_t nesting = 0;
  std::size_t num_tokens = 0;
  struct Known {
    std::vector<Expr> arguments; ///< held, so that the addresses of their nodes stay unique
    Value value;
  };
  using Arguments = std::vector<const ExprNode*>;
  std::map<std::string, std::map<Arguments, Known>> known; ///< values by name and arguments

  /// The definition that was read most often, for messages.
  std::string most_read() const {
    const auto most =
        std::ranges::max_element(known, {}, [](const auto& definition) { return definition.second.size(); });
    if (most == known.end()) return "split the text into several terms";
    return fmt::format("'{}' has been read with {} different arguments", most->first, most->second.size());
  }
};

class Nesting {
public:
  Nesting(Session& session, Position position) : session_(session) {
    if (++session_.nesting > max_nesting) {
      --session_.nesting; // the destructor of an object does not run when its constructor throws
      fail_at(position, fmt::format("nested more than {} levels deep", max_nesting));
    }
  }
  ~Nesting() { --session_.nesting; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

private:
  Session& session_;
};

class Parser {
public:
  Parser(std::string_view text, Session& session, std::map<std::string, Expr> locals)
      : session_(session), locals_(std::move(locals)), tokens_(text), positions_(session.scope.gdim()) {
    session.num_tokens += tokens_.size();
    if (session.num_tokens > max_tokens)
      throw base::InputError(
          fmt::format("the texts have more than {} parts, with definitions written out for each of their arguments: {}",
                      max_tokens, session.most_read()));
    tokens_.require_closed_brackets();
  }

  Value parse() {
    Value result = expression();
    if (tokens_.current().kind != TokenKind::end)
      fail_at(tokens_.current().position,
              fmt::format("unexpected {} (is an operator missing before it?)", described(tokens_.current())));
    return result;
  }

private:
  Value expression();
  Value sum();
  Value term();
  Value unary();
  Value power();
  Value postfix();
  Value primary();
  Value bracketed(Position position);
  Value list(std::string_view close, std::vector<Value> entries, Position position);
  Value indexed(const Value& value, Position position);
  Value attribute(const Value& value);
  Value named(const Token& name);
  Value measure(const Token& name);
  Value defined(const Token& name, const Definition& definition);
  Value read_definition(const Token& name, const Definition& definition, const std::vector<Expr>& arguments);
  std::vector<Value> arguments(const Token& name);

  Session& session_;
  std::map<std::string, Expr> locals_; ///< parameters of the definition being read
  TokenStream tokens_;
  ErrorPositions positions_;
  bool is_in_measure_ = false; ///< says whether the tags of dx or ds are being read
};

/// Reads: sum [comparison sum]
Value Parser::expression() {
  const Nesting nesting(session_, tokens_.current().position);
  using Comparison = Expr (*)(const Expr&, const Expr&);
  static const std::map<std::string, Comparison, std::less<>> comparisons{{"<", lt},  {"<=", le}, {">", gt},
                                                                          {">=", ge}, {"==", eq}, {"!=", ne}};
  const auto comparison = [this] {
    return tokens_.current().kind == TokenKind::symbol ? comparisons.find(tokens_.current().text) : comparisons.end();
  };
  Value left = sum();
  const auto found = comparison();
  if (found == comparisons.end()) return left;
  const Token symbol = tokens_.take();
  const Value right = sum();
  left = positions_.located(symbol.position, [&] {
    const std::string what = fmt::format("a side of '{}'", symbol.text);
    return session_.integrals.combined(left, right, false, [&](const Value& a, const Value& b) -> Value {
      return {found->second(as_expr(a, what), as_expr(b, what))};
    });
  });
  if (comparison() != comparisons.end())
    fail_at(tokens_.current().position, "comparisons cannot be chained: write And(a < b, b < c)");
  return left;
}

/// Reads: term { (+|-) term }
Value Parser::sum() {
  Value left = term();
  while (tokens_.is_symbol("+") || tokens_.is_symbol("-")) {
    const Token symbol = tokens_.take();
    const Value right = term();
    left = positions_.located(symbol.position, [&] {
      return session_.integrals.combined(left, right, is_form(left) == is_form(right),
                                         symbol.text == "+" ? added : subtracted);
    });
  }
  return left;
}

/// Reads: unary { (*|/) unary }
Value Parser::term() {
  Value left = unary();
  while (tokens_.is_symbol("*") || tokens_.is_symbol("/")) {
    const Token symbol = tokens_.take();
    const Value right = unary();
    left = positions_.located(symbol.position, [&] {
      const bool keeps = !is_form(right) || (symbol.text == "*" && !is_form(left));
      return session_.integrals.combined(left, right, keeps, symbol.text == "*" ? multiplied : divided);
    });
  }
  return left;
}

/// Reads: (+|-) unary | power
Value Parser::unary() {
  if (!tokens_.is_symbol("+") && !tokens_.is_symbol("-")) return power();
  const Token symbol = tokens_.take();
  const Nesting nesting(session_, symbol.position);
  const Value operand = unary();
  return positions_.located(symbol.position, [&] { return symbol.text == "-" ? negated(operand) : operand; });
}

/// Reads: postfix [** unary]
Value Parser::power() {
  const Value base = postfix();
  if (!tokens_.is_symbol("**")) return base;
  const Token symbol = tokens_.take();
  const Nesting nesting(session_, symbol.position);
  const Value exponent = unary();
  return positions_.located(symbol.position, [&] {
    return session_.integrals.combined(base, exponent, false, [](const Value& a, const Value& b) -> Value {
      return {pow(as_expr(a, "the base of a power"), as_expr(b, "an exponent"))};
    });
  });
}

/// Reads: primary { [indices] | .T | .dx(axis) }
Value Parser::postfix() {
  Value result = primary();
  while (tokens_.is_symbol("[") || tokens_.is_symbol(".")) {
    const Token symbol = tokens_.take();
    result = symbol.text == "[" ? indexed(result, symbol.position) : attribute(result);
  }
  return result;
}

Value Parser::indexed(const Value& value, Position position) {
  std::vector<int> indices;
  do {
    if (tokens_.accept(":")) {
      indices.push_back(-1);
      continue;
    }
    const Position place = tokens_.current().position;
    const Value index = expression();
    positions_.located(place, [&] {
      indices.push_back(as_integer(index, "an index"));
      if (indices.back() < 0)
        throw base::InputError(fmt::format("index {} is negative (components count from 0)", indices.back()));
      return index;
    });
  } while (tokens_.accept(","));
  tokens_.expect("]", "after the index");
  return positions_.located(position, [&] { return as_expr(value, "what is indexed").at(indices); });
}

Value Parser::attribute(const Value& value) {
  const Token name = tokens_.take();
  if (name.kind == TokenKind::name && name.text == "T")
    return positions_.located(name.position, [&] { return transpose(as_expr(value, "what is transposed")); });
  if (name.kind != TokenKind::name || name.text != "dx")
    fail_at(name.position,
            fmt::format("unknown attribute {}: .T (transpose) and .dx(axis) are known", described(name)));
  tokens_.expect("(", "after .dx");
  const Value axis = expression();
  tokens_.expect(")", "after the axis");
  return positions_.located(name.position, [&] {
    return partial(as_expr(value, "the operand of .dx"), as_integer(axis, "the axis"), session_.scope.gdim());
  });
}

Value Parser::primary() {
  const Token token = tokens_.take();
  switch (token.kind) {
  case TokenKind::number:
    return positions_.located(token.position, [&] { return Expr(token.value); });
  case TokenKind::string:
    return {token.text};
  case TokenKind::name:
    return named(token);
  case TokenKind::symbol:
    if (token.text == "(") return bracketed(token.position);
    if (token.text == "[") {
      if (tokens_.is_symbol("]")) fail_at(token.position, "an empty list is not a tensor: give at least one component");
      return list("]", {}, token.position);
    }
    break;
  case TokenKind::end:
    break;
  }
  fail_at(token.position, fmt::format("expected a number, a name or a bracket, found {}", described(token)));
}

/// Reads the rest of ( expression ) or of a tuple.
Value Parser::bracketed(Position position) {
  if (tokens_.is_symbol(")")) fail_at(position, "empty brackets");
  Value first = expression();
  if (tokens_.accept(")")) return first;
  tokens_.expect(",", "or ')' after an expression in brackets");
  return list(")", {std::move(first)}, position);
}

/// Entries of a list and of those within it, and how deeply these are nested; 1 and 0 for other values.
struct ListSize {
  std::size_t entries = 1, depth = 0;
};
ListSize size_of(const std::vector<Value>& entries) {
  ListSize size{0, 1};
  for (const auto& entry : entries) {
    const auto* list = std::get_if<ListValue>(&entry.content);
    const auto inner = list == nullptr ? ListSize{} : size_of(list->entries);
    size.entries += inner.entries;
    size.depth = std::max(size.depth, inner.depth + 1);
  }
  return size;
}

Value Parser::list(std::string_view close, std::vector<Value> entries, Position position) {
  while (!tokens_.is_symbol(close)) {
    entries.push_back(expression());
    if (!tokens_.accept(",")) break;
  }
  tokens_.expect(close, "or ',' after an entry of a list");
  // Definitions may put lists into lists.
  const auto size = size_of(entries);
  if (size.entries > max_list_entries)
    fail_at(position, fmt::format("the list has {} entries, at most {} are accepted", size.entries, max_list_entries));
  if (size.depth > max_nesting) fail_at(position, fmt::format("lists nested more than {} levels deep", max_nesting));
  return {ListValue{std::move(entries)}};
}

Value Parser::named(const Token& name) {
  const int gdim = session_.scope.gdim();
  const bool is_call = tokens_.is_symbol("(");
  if (name.text == "dx" || name.text == "ds") return measure(name);
  if (name.text == "dS") fail_interior_facets(name.position);
  if (const auto* function = find_function(name.text)) {
    if (!is_call) fail_at(name.position, fmt::format("'{0}' is a function: write {0}(...)", name.text));
    auto given = arguments(name);
    return positions_.located(name.position, [&] {
      if (!function->takes_forms)
        for (auto& value : given) value = session_.integrals.as_number(value);
      return call_function(*function, given, gdim);
    });
  }
  const auto local = locals_.find(name.text);
  const Expr* value = local != locals_.end() ? &local->second : session_.scope.find(name.text);
  const Definition* definition = value == nullptr ? session_.scope.find_definition(name.text) : nullptr;
  if (definition != nullptr) return defined(name, *definition);
  const bool is_known = value != nullptr || name.text == "x" || name.text == "n" || name.text == "pi";
  if (!is_known) {
    std::vector<std::string> parameters;
    for (const auto& [parameter, unused] : locals_) parameters.push_back(parameter);
    if (is_in_measure_ && !is_call)
      fail_at(name.position, fmt::format("unknown name '{0}' (names of tags stand in quotes: '{0}')", name.text));
    fail_unknown(name, is_call, session_.scope, parameters);
  }
  if (is_call && tokens_.is_restriction()) fail_interior_facets(name.position);
  if (is_call) fail_at(name.position, fmt::format("'{}' is not a function (is a '*' missing?)", name.text));
  if (value == nullptr && name.text == "x" && !tokens_.is_symbol("[")) positions_.note_whole_point();
  return positions_.located(name.position, [&]() -> Expr {
    if (value != nullptr) return *value;
    if (name.text == "pi") return std::numbers::pi;
    return name.text == "x" ? spatial_coordinate(gdim) : facet_normal(gdim);
  });
}

/// Reads: ( expression {, expression} )
std::vector<Value> Parser::arguments(const Token& name) {
  tokens_.expect("(", fmt::format("before the arguments of {}", name.text));
  std::vector<Value> result;
  while (!tokens_.is_symbol(")")) {
    if (tokens_.is_assignment())
      fail_at(tokens_.current().position,
              fmt::format("{} takes no argument by name ('{}=')", name.text, tokens_.current().text));
    result.push_back(expression());
    if (!tokens_.accept(",")) break;
  }
  tokens_.expect(")", fmt::format("or ',' after an argument of {}", name.text));
  return result;
}

/// Reads the rest of dx, dx(tag), ds((tag, tag)) or dx(tag, degree=4).
Value Parser::measure(const Token& name) {
  std::vector<Value> tags;
  std::optional<Value> degree;
  if (tokens_.accept("(")) {
    while (!tokens_.is_symbol(")")) {
      if (tokens_.is_assignment()) {
        const Token key = tokens_.take();
        tokens_.take();
        if (key.text != "degree")
          fail_at(key.position, fmt::format("{} takes tags and degree=, not '{}='", name.text, key.text));
        degree = expression();
      } else {
        is_in_measure_ = true;
        tags.push_back(expression());
        is_in_measure_ = false;
      }
      if (!tokens_.accept(",")) break;
    }
    tokens_.expect(")", "after the tags of a measure");
  }
  return positions_.located(name.position, [&] {
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
    positions_.located(name.position, [&] {
      for (const auto& value : values)
        given.push_back(as_expr(session_.integrals.as_number(value), fmt::format("an argument of {}", name.text)));
      return Value{name.text};
    });
  } else if (tokens_.is_symbol("(")) {
    fail_at(name.position, fmt::format("'{}' is not a function (is a '*' missing?)", name.text));
  }
  Session::Arguments nodes;
  for (const auto& argument : given) nodes.push_back(&argument.node());
  auto& known = session_.known[name.text];
  if (const auto found = known.find(nodes); found != known.end()) return found->second.value;
  Value result = read_definition(name, definition, given);
  known.try_emplace(std::move(nodes), Session::Known{std::move(given), result});
  return result;
}

Value Parser::read_definition(const Token& name, const Definition& definition, const std::vector<Expr>& arguments) {
  std::map<std::string, Expr> locals;
  for (std::size_t i = 0; i < arguments.size(); ++i) locals.emplace(definition.parameters[i], arguments[i]);
  const Nesting nesting(session_, name.position);
  try {
    return Parser(definition.text, session_, std::move(locals)).parse();
  } catch (const base::InputError& error) {
    fail_in(std::array{DefinitionUse{name.text, name.position}}, error.what());
  }
}

/// Reads a text, after the definitions that it needs.
Value read(std::string_view text, Session& session) {
  for_definitions(text, session.scope, [&session](std::span<const DefinitionUse> chain) {
    const auto& name = chain.back().name;
    try {
      Value value = Parser(session.scope.find_definition(name)->text, session, {}).parse();
      session.known[name].try_emplace({}, Session::Known{{}, std::move(value)});
    } catch (const base::InputError& error) {
      fail_in(chain, error.what());
    }
  });
  return Parser(text, session, {}).parse();
}

} // namespace

Form parse_form(std::string_view text, const Scope& scope) {
  Session session(scope);
  const Value value = read(text, session);
  if (const auto* form = std::get_if<Form>(&value.content)) return *form;
  const auto* e = std::get_if<Expr>(&value.content);
  throw base::InputError(
      fmt::format("the text is {}, not a form{}: a form is a sum of integrals such as inner(grad(u), grad(v))*dx",
                  kind_text(value), e != nullptr ? fmt::format(" ('{}' lacks a measure dx or ds)", summary(*e)) : ""));
}

FunctionalText parse_functional(std::string_view text, const Scope& scope) {
  FunctionalText result{{}, 0.0};
  Session session(scope, &result.integrals);
  const Value value = read(text, session);
  result.value = as_expr(session.integrals.as_number(value), "the text");
  if (is_form(value)) return result;
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
  Session session(scope);
  const Value value = read(text, session);
  return as_expr(value, "the text");
}

} // namespace rafter::form
