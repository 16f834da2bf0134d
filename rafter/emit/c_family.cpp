// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/emit/c_family.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::emit {

namespace {

using form::ScalarOp;
using schedule::Buffer;
using schedule::Kind;
using schedule::LoopStyle;
using schedule::NodePtr;
using schedule::Space;
using schedule::Type;

bool is_infix(ScalarOp op) {
  return op == ScalarOp::add || op == ScalarOp::sub || op == ScalarOp::mul || op == ScalarOp::div;
}

class Emitter {
public:
  Emitter(const schedule::LoopProgram& program, const Spelling& spelling) : program_(program), spelling_(spelling) {}

  std::string run() {
    collect(program_.body);
    std::string body = uses_last_batch_ ? "  const long last_batch = end - 1;\n" : "";
    body += "  for (long batch = begin; batch < end; ++batch) {\n";
    statement(program_.body, 2, body);
    body += helpers_.contains("stream") ? "  }\n  finish_streams();\n}\n" : "  }\n}\n";
    std::string text = spelling_.prelude(program_.lanes);
    if (uses_floats_ && program_.lanes > 1) text += spelling_.float_prelude(program_.lanes);
    for (const auto& [name, helper] : helpers_) text += helper;
    for (const auto& buffer : program_.buffers)
      if (buffer.space == Space::constant) text += constant(buffer, program_.lanes);
    for (const auto& [type, literals] : literals_) text += literal_table(type, literals.values);
    text += spelling_.head(program_.name);
    const auto leaving = leaving_the_stack();
    int i = 0;
    for (const auto& buffer : program_.buffers) {
      if (buffer.space == Space::global) text += spelling_.argument(buffer, i++);
      if (buffer.space == Space::work)
        text += fmt::format("  {}{} {}[{}];\n", leaving.contains(buffer.name) ? spelling_.large_work : "",
                            buffer.is_lane ? names_of(buffer.type).vector : names_of(buffer.type).scalar, buffer.name,
                            buffer.is_lane ? buffer.size / program_.lanes : buffer.size);
    }
    return text + body;
  }

private:
  /// Work arrays that do not go on the stack. Stacks have 8 MiB on most systems, threads of other programs often less:
  /// the largest arrays leave until at most 1 MiB is left.
  std::set<std::string> leaving_the_stack() const {
    constexpr std::int64_t stack_bytes = 1 << 20;
    std::vector<std::pair<std::int64_t, std::string>> arrays;
    std::int64_t left = 0;
    for (const auto& buffer : program_.buffers)
      if (buffer.space == Space::work) {
        arrays.emplace_back(buffer.size * size_bytes(buffer.type), buffer.name);
        left += arrays.back().first;
      }
    std::ranges::stable_sort(arrays, std::ranges::greater(), &std::pair<std::int64_t, std::string>::first);
    std::set<std::string> result;
    for (std::size_t i = 0; left > stack_bytes; ++i) {
      left -= arrays[i].first;
      result.insert(arrays[i].second);
    }
    return result;
  }

  static std::string number(double value, Type type) {
    std::string text = type == Type::real32 ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
    if (text.find("inf") != std::string::npos || text.find("nan") != std::string::npos)
      throw base::InternalError("emitter: a constant is not finite");
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    text += names_of(type).suffix;
    return value < 0 ? "(" + text + ")" : text;
  }
  /// Long literals stand once in a table (compilers fold its entries): the entries of 1D matrices recur with every use.
  std::string literal(double value, Type type) {
    const std::string text = number(value, type);
    if (text.size() <= 6) return text;
    auto& table = literals_[type];
    const bool is_negative = value < 0;
    const auto [entry, is_new] = table.numbers.try_emplace(std::fabs(value), table.values.size());
    if (is_new) table.values.push_back(std::fabs(value));
    return fmt::format("{}{}[{}]{}", is_negative ? "(-" : "", names_of(type).literals, entry->second,
                       is_negative ? ")" : "");
  }
  static std::string literal_table(Type type, const std::vector<double>& values) {
    Buffer table;
    table.name = names_of(type).literals;
    table.type = type;
    table.size = static_cast<std::int64_t>(values.size());
    table.values = values;
    return constant(table, 1);
  }
  static std::string constant(const Buffer& buffer, int lanes) {
    const bool is_integer = buffer.type == Type::integer;
    std::string text = buffer.is_lane
                           ? fmt::format("static const {} {}[{}] = {{\n  {{", names_of(buffer.type).vector, buffer.name,
                                         buffer.size / lanes)
                           : fmt::format("static const {} {}[{}] = {{",
                                         is_integer ? "int" : names_of(buffer.type).scalar, buffer.name, buffer.size);
    const std::size_t row = buffer.is_lane ? static_cast<std::size_t>(lanes) : 12;
    const char* row_end = buffer.is_lane ? "},\n  {" : ",\n  ";
    for (std::size_t i = 0; i < buffer.values.size(); ++i) {
      if (i > 0) text += i % row == 0 ? row_end : ", ";
      text +=
          is_integer ? fmt::format("{}", static_cast<long>(buffer.values[i])) : number(buffer.values[i], buffer.type);
    }
    return text + (buffer.is_lane ? "}};\n" : "};\n");
  }

  /// Registers that hold one value per lane, and whether the number of the last batch and floats are used.
  void collect(const NodePtr& node) {
    for (const auto& operand : node->operands) collect(operand);
    uses_floats_ = uses_floats_ || node->type == Type::real32;
    uses_last_batch_ = uses_last_batch_ || (node->kind == Kind::variable && node->name == "last_batch");
    if (node->kind == Kind::let && is_vector(node->operands[0])) vectors_.insert(node->name);
  }
  bool is_vector(const NodePtr& node) const {
    if (node->kind == Kind::reg) return vectors_.contains(node->name);
    if (node->kind == Kind::load) return node->operands[0]->has_lane;
    for (const auto& operand : node->operands)
      if (is_vector(operand)) return true;
    return false;
  }

  // --- integers -----------------------------------------------------------------------------------------------------
  /// C's binding strength of an infix operation: equality 0, sums 1, products 2; what stands beside < needs 1, behind a
  /// cast 3.
  static int strength(Kind kind) { return kind == Kind::imul ? 2 : kind == Kind::ieq ? 0 : 1; }
  static int strength(ScalarOp op) { return op == ScalarOp::add || op == ScalarOp::sub ? 1 : 2; }
  static std::string enclosed(const std::string& text, int own, int needed) {
    return own < needed ? "(" + text + ")" : text;
  }

  /// Without lanes: a long. `needed`: strength that the place asks for.
  std::string integer(const NodePtr& node, int needed = 0) {
    switch (node->kind) {
    case Kind::integer:
      return std::to_string(node->integer);
    case Kind::variable:
      return node->name;
    case Kind::iload:
      return fmt::format("(long){}[{}]", node->name, integer(node->operands[0]));
    case Kind::imin: {
      const std::string a = integer(node->operands[0], 1), b = integer(node->operands[1], 1);
      return fmt::format("({0} < {1} ? {0} : {1})", a, b);
    }
    case Kind::idiv: // quotients do not associate with products
      return fmt::format("({}/{})", integer(node->operands[0], 2), integer(node->operands[1]));
    default:
      const int own = strength(node->kind);
      const int right = node->kind == Kind::iadd || node->kind == Kind::imul ? own : own + 1; // integers associate
      return enclosed(integer(node->operands[0], own) + infix(node->kind) + integer(node->operands[1], right), own,
                      needed);
    }
  }
  static const char* infix(Kind kind) {
    switch (kind) {
    case Kind::iadd:
      return "+";
    case Kind::isub:
      return "-";
    case Kind::imul:
      return "*";
    case Kind::idiv:
      return "/";
    case Kind::ieq:
      return "==";
    default:
      throw base::InternalError("emitter: not an integer operation");
    }
  }
  std::string integer_vector(const NodePtr& node) {
    if (!node->has_lane) return fmt::format("isplat({})", integer(node));
    switch (node->kind) {
    case Kind::lane:
      return "lane_numbers";
    case Kind::variable:
      return node->name;
    case Kind::iload:
      if (const auto y = whole(node->operands[0])) return fmt::format("((const ivec*){})[{}]", node->name, *y);
      return fmt::format("gather_i({}, {})", node->name, integer_vector(node->operands[0]));
    case Kind::imin:
      return fmt::format("vmin_i({}, {})", integer_vector(node->operands[0]), integer_vector(node->operands[1]));
    default: {
      const auto side = [this](const NodePtr& n) {
        if (n->has_lane) return integer_vector(n);
        if (n->kind == Kind::integer) return integer(n);
        return n->kind == Kind::variable ? "(int)" + n->name : fmt::format("(int)({})", integer(n));
      };
      // vectors compare to -1
      return fmt::format("{}({} {} {})", node->kind == Kind::ieq ? "-" : "", side(node->operands[0]), infix(node->kind),
                         side(node->operands[1]));
    }
    }
  }
  /// Lane `l_` of an integer vector, from its definition: entries of index tables are loaded one by one, which is
  /// cheaper than taking a vector apart.
  std::string integer_of_lane(const NodePtr& node) {
    if (!node->has_lane) return integer(node, 3);
    switch (node->kind) {
    case Kind::lane:
      return "l_";
    case Kind::variable:
      return integer_of_lane(integer_definitions_.at(node->name));
    case Kind::iload:
      return fmt::format("(long){}[{}]", node->name, integer_of_lane(node->operands[0]));
    case Kind::imin: {
      const std::string a = integer_of_lane(node->operands[0]), b = integer_of_lane(node->operands[1]);
      return fmt::format("({0} < {1} ? {0} : {1})", a, b);
    }
    default:
      return fmt::format("({} {} {})", integer_of_lane(node->operands[0]), infix(node->kind),
                         integer_of_lane(node->operands[1]));
    }
  }
  /// y when the index is y * lanes + lane.
  std::optional<std::string> whole(const NodePtr& index) {
    if (index->kind == Kind::lane) return "0";
    if (const auto entry = lane_entry(index)) return integer(entry);
    if (index->kind != Kind::iadd || index->operands[1]->kind != Kind::lane) return std::nullopt;
    const auto& base = index->operands[0];
    if (base->kind == Kind::integer && base->integer % program_.lanes == 0)
      return std::to_string(base->integer / program_.lanes);
    return std::nullopt;
  }
  /// x when the index is x + lane.
  std::optional<std::string> contiguous(const NodePtr& index) {
    if (index->kind == Kind::iadd && index->operands[1]->kind == Kind::lane && !index->operands[0]->has_lane)
      return integer(index->operands[0], 1);
    return std::nullopt;
  }

  // --- reals --------------------------------------------------------------------------------------------------------
  std::string vector_place(const std::string& name, const std::string& y) const {
    const auto* buffer = program_.find(name);
    if (buffer->is_lane) return fmt::format("{}[{}]", name, y);
    return fmt::format("((const {}*){})[{}]", names_of(buffer->type).vector, name, y);
  }
  std::string real(const NodePtr& node, int needed = 0) {
    switch (node->kind) {
    case Kind::number:
      return literal(node->value, node->type);
    case Kind::reg:
      return node->name;
    case Kind::load:
      return load(*node);
    case Kind::widen:
    case Kind::narrow:
      return is_vector(node)
                 ? fmt::format("__builtin_convertvector({}, {})", real(node->operands[0]), names_of(node->type).vector)
                 : fmt::format("({}){}", names_of(node->type).scalar, real(node->operands[0], 3));
    case Kind::operation:
      return operation(*node, needed);
    default:
      throw base::InternalError("emitter: not a real expression");
    }
  }
  std::string load(const schedule::Node& node) {
    const auto& index = node.operands[0];
    const auto* buffer = program_.find(node.name);
    const auto& names = names_of(buffer->type);
    if (!index->has_lane)
      return buffer->is_lane ? fmt::format("((const {}*){})[{}]", names.scalar, node.name, integer(index))
                             : fmt::format("{}[{}]", node.name, integer(index));
    if (const auto y = whole(index)) return vector_place(node.name, *y);
    if (const auto x = contiguous(index))
      return fmt::format("({})*(const {}*)({} + {})", names.vector, names.loose, numbers_of(*buffer), *x);
    return fmt::format("{}gather({}, {})", names.initial, numbers_of(*buffer), integer_vector(index));
  }
  /// The buffer as an array of numbers.
  static std::string numbers_of(const Buffer& buffer) {
    if (!buffer.is_lane) return buffer.name;
    return fmt::format("(({}{}*){})", buffer.space == Space::constant ? "const " : "", names_of(buffer.type).scalar,
                       buffer.name);
  }
  std::string as_vector(const NodePtr& node) {
    return is_vector(node) ? real(node) : fmt::format("{}splat({})", names_of(node->type).initial, real(node));
  }
  std::string operation(const schedule::Node& node, int needed) {
    const auto& operands = node.operands;
    if (node.op == ScalarOp::neg) return fmt::format("(-{})", real(operands[0], 3));
    if (is_infix(node.op)) {
      const char* sign = node.op == ScalarOp::add   ? " + "
                         : node.op == ScalarOp::sub ? " - "
                         : node.op == ScalarOp::mul ? "*"
                                                    : "/";
      const int own = strength(node.op); // reals do not associate: the tree's order is kept
      return enclosed(real(operands[0], own) + sign + real(operands[1], own + 1), own, needed);
    }
    bool is_vectorial = false;
    for (const auto& operand : operands) is_vectorial = is_vectorial || is_vector(operand);
    std::string text = (is_vectorial ? vector_helper(node.op, node.type) : scalar_helper(node.op, node.type)) + "(";
    for (std::size_t i = 0; i < operands.size(); ++i)
      text += (i > 0 ? ", " : "") + (is_vectorial ? as_vector(operands[i]) : real(operands[i]));
    return text + ")";
  }
  /// The operation on operands a, b, c of a type.
  std::string formula(ScalarOp op, Type type, const std::string& a, const std::string& b, const std::string& c) const {
    const auto truth = [type](const std::string& condition) {
      return fmt::format("({})({})", names_of(type).scalar, condition);
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
  std::string helper(const std::string& prefix, ScalarOp op, const std::string& type, const std::string& body) {
    const std::string name = prefix + form::info(op).name;
    std::string parameters = type + " a";
    if (form::info(op).arity > 1) parameters += ", " + type + " b";
    if (form::info(op).arity > 2) parameters += ", " + type + " c";
    helpers_[name] = fmt::format("static inline {} {}({}) {{ {} }}\n", type, name, parameters, body);
    return name;
  }
  std::string vector_helper(ScalarOp op, Type type) {
    const auto& names = names_of(type);
    return helper(std::string(names.initial) + "v_", op, names.vector,
                  fmt::format("{} r; for (int l = 0; l < LANES; ++l) r[l] = {}; return r;", names.vector,
                              formula(op, type, "a[l]", "b[l]", "c[l]")));
  }
  std::string scalar_helper(ScalarOp op, Type type) {
    const auto& names = names_of(type);
    return helper(std::string(names.initial) + "s_", op, names.scalar,
                  fmt::format("return {};", formula(op, type, "a", "b", "c")));
  }

  // --- statements ---------------------------------------------------------------------------------------------------
  void statement(const NodePtr& node, int depth, std::string& text) {
    const std::string indent(static_cast<std::size_t>(depth), ' ');
    switch (node->kind) {
    case Kind::block:
      for (std::size_t i = 0; i < node->operands.size();)
        if (node->operands[i]->kind == Kind::let)
          i = declarations(node->operands, i, indent, text);
        else
          statement(node->operands[i++], depth, text);
      break;
    case Kind::loop:
      loop(*node, depth, text);
      break;
    case Kind::ilet:
      if (node->operands[0]->has_lane) integer_definitions_[node->name] = node->operands[0];
      text += node->operands[0]->has_lane
                  ? fmt::format("{}const ivec {} = {};\n", indent, node->name, integer_vector(node->operands[0]))
                  : fmt::format("{}const long {} = {};\n", indent, node->name, integer(node->operands[0]));
      break;
    case Kind::branch:
      text += fmt::format("{}if ({}) {{\n", indent, integer(node->operands[0]));
      statement(node->operands[1], depth + 1, text);
      text += indent + "} else {\n";
      statement(node->operands[2], depth + 1, text);
      text += indent + "}\n";
      break;
    case Kind::store:
    case Kind::add:
      text += indent + write(*node);
      break;
    case Kind::prefetch:
      if (spelling_.prefetch != nullptr)
        text += fmt::format("{}{};\n", indent, spelling_.prefetch(node->name + " + " + integer(node->operands[0], 1)));
      break;
    default:
      throw base::InternalError("emitter: not a statement");
    }
  }
  /// The lets of one type that follow each other as one declaration; the position after them.
  std::size_t declarations(const std::vector<NodePtr>& statements, std::size_t i, const std::string& indent,
                           std::string& text) {
    const auto type_name = [this](const NodePtr& value) {
      const auto& names = names_of(value->type);
      return std::string(is_vector(value) ? names.vector : names.scalar);
    };
    const std::string type = type_name(statements[i]->operands[0]);
    text += indent + "const " + type + " ";
    for (bool is_first = true;
         i < statements.size() && statements[i]->kind == Kind::let && type_name(statements[i]->operands[0]) == type;
         ++i, is_first = false)
      text += fmt::format("{}{} = {}", is_first ? "" : ",\n" + indent, statements[i]->name,
                          real(statements[i]->operands[0]));
    text += ";\n";
    return i;
  }
  void loop(const schedule::Node& node, int depth, std::string& text) {
    const std::string indent(static_cast<std::size_t>(depth), ' ');
    if (node.style == LoopStyle::run && move_run(node, indent, text)) return;
    if (node.style != LoopStyle::unrolled) {
      text +=
          fmt::format("{0}for (long {1} = 0; {1} < {2}; ++{1}) {{\n", indent, node.name, integer(node.operands[0], 1));
      statement(node.operands[1], depth + 1, text);
      text += indent + "}\n";
      return;
    }
    for (std::int64_t i = 0; i < node.operands[0]->integer; ++i) {
      text += fmt::format("{}{{ const long {} = {};\n", indent, node.name, i);
      statement(node.operands[1], depth + 1, text);
      text += indent + "}\n";
    }
  }
  /// x when the index is x + the loop variable.
  static NodePtr behind(const NodePtr& index, const std::string& variable) {
    const auto is_variable = [&](const NodePtr& n) { return n->kind == Kind::variable && n->name == variable; };
    if (is_variable(index)) return schedule::integer(0);
    return index->kind == Kind::iadd && is_variable(index->operands[1]) ? index->operands[0] : nullptr;
  }
  /// The entry of a work array as `entry` * `stride` + `offset` (null: 0): several groups of lanes side by side.
  struct Strided {
    NodePtr entry;
    int stride = 1;
    NodePtr offset;
  };
  static Strided strided(const NodePtr& entry) {
    const bool has_offset = entry->kind == Kind::iadd && entry->operands[0]->kind == Kind::imul;
    const NodePtr& scaled = has_offset ? entry->operands[0] : entry;
    if (scaled->kind != Kind::imul || scaled->operands[1]->kind != Kind::integer) return {entry, 1, nullptr};
    return {scaled->operands[0], static_cast<int>(scaled->operands[1]->integer),
            has_offset ? entry->operands[1] : nullptr};
  }
  /// A loop over a run as one call that moves it; false when it does not look like one.
  bool move_run(const schedule::Node& loop, const std::string& indent, std::string& text) {
    const auto& move = *loop.operands[1]->operands[0];
    const bool adds = move.kind == Kind::add;
    const auto& moved = *move.operands[1];
    const auto& value = moved.kind == Kind::load ? moved : *moved.operands[0]; // converted
    const auto& outside = adds ? move : value;
    const auto& inside = adds ? value : move;
    const auto position = behind(outside.operands[0], loop.name);
    const auto whole_entry = lane_entry(inside.operands[0]);
    if (position == nullptr || whole_entry == nullptr || spelling_.run_mover == nullptr) return false;
    const auto [entry, stride, offset] = strided(whole_entry);
    if (entry->kind != Kind::iload) return false;
    const auto first = behind(entry->operands[0], loop.name);
    if (first == nullptr || !program_.find(inside.name)->is_lane) return false;
    const auto place = starts(position);
    if (!place) return false;
    const RunMove mover{.lanes = program_.lanes,
                        .width = static_cast<int>(loop.operands[0]->integer),
                        .stride = stride,
                        .adds = adds,
                        .vector = program_.find(outside.name)->type,
                        .work = program_.find(inside.name)->type};
    helpers_["move"] = spelling_.run_prelude(program_.lanes, mover.work);
    helpers_["move_" + name(mover)] = spelling_.run_mover(mover);
    text += fmt::format("{}{}({}{}, {} + {}, {}, {});\n", indent, name(mover), inside.name,
                        offset == nullptr ? "" : " + " + integer(offset, 1), entry->name, integer(first, 1),
                        numbers_of(*program_.find(outside.name)), *place);
    return true;
  }
  /// Where the position of lane 0 stands when those of all lanes follow each other in a table, and what is added to
  /// them: two arguments.
  std::optional<std::string> starts(const NodePtr& position) {
    if (position->kind == Kind::iadd && !position->operands[1]->has_lane) {
      const auto table = table_of_lanes(position->operands[0]);
      return table ? std::optional(*table + ", " + integer(position->operands[1])) : std::nullopt;
    }
    const auto table = table_of_lanes(position);
    return table ? std::optional(*table + ", 0") : std::nullopt;
  }
  std::optional<std::string> table_of_lanes(const NodePtr& node) {
    if (node->kind == Kind::variable && node->has_lane) return table_of_lanes(integer_definitions_.at(node->name));
    if (node->kind != Kind::iload) return std::nullopt;
    const auto& index = node->operands[0];
    if (index->kind == Kind::lane) return node->name;
    const auto first = contiguous(index);
    return first ? std::optional(node->name + " + " + *first) : std::nullopt;
  }
  /// y when the index is y * lanes + lane.
  NodePtr lane_entry(const NodePtr& index) const {
    if (index->kind != Kind::iadd || index->operands[1]->kind != Kind::lane) return nullptr;
    const auto& base = index->operands[0];
    if (base->kind != Kind::imul || base->has_lane || base->operands[1]->kind != Kind::integer ||
        base->operands[1]->integer != program_.lanes)
      return nullptr;
    return base->operands[0];
  }
  std::string write(const schedule::Node& node) {
    const auto& index = node.operands[0];
    const char* sign = node.kind == Kind::add ? "+=" : "=";
    const bool is_partial = node.operands.size() > 2;
    const auto* buffer = program_.find(node.name);
    const auto& names = names_of(buffer->type);
    if (!index->has_lane)
      return fmt::format("{}[{}] {} {};\n", numbers_of(*buffer), integer(index), sign, real(node.operands[1]));
    const std::string value = as_vector(node.operands[1]);
    if (node.is_streaming) {
      helpers_["stream"] = spelling_.stream(program_.lanes, buffer->type);
      return fmt::format("stream({} + {}, {});\n", node.name, contiguous(index).value(), value);
    }
    if (!is_partial) {
      if (const auto y = whole(index)) {
        const std::string array = buffer->is_lane ? node.name : fmt::format("(({}*){})", names.vector, node.name);
        return fmt::format("{}[{}] {} {};\n", array, *y, sign, value);
      }
      if (const auto x = contiguous(index))
        return fmt::format("*({}*)({} + {}) {} {};\n", names.loose, numbers_of(*buffer), *x, sign, value);
    }
    return fmt::format("{{ const {} v_ = {}; for (long l_ = 0; l_ < {}; ++l_) {}[{}] {} v_[l_]; }}\n", names.vector,
                       value, is_partial ? integer(node.operands[2], 3) : "LANES", numbers_of(*buffer),
                       integer_of_lane(index), sign);
  }

  /// Long literals of a type.
  struct Literals {
    std::map<double, std::size_t> numbers;
    std::vector<double> values;
  };

  const schedule::LoopProgram& program_;
  const Spelling& spelling_;
  std::set<std::string> vectors_;
  bool uses_last_batch_ = false, uses_floats_ = false;
  std::map<std::string, NodePtr> integer_definitions_; ///< of variables with a value per lane
  std::map<std::string, std::string> helpers_;
  std::map<Type, Literals> literals_;
};

} // namespace

const RealNames& names_of(schedule::Type type) {
  static const RealNames doubles{"double", "vec", "uvec", "", "K", ""},
      floats{"float", "fvec", "ufvec", "f", "KF", "f"};
  return type == schedule::Type::real32 ? floats : doubles;
}

std::string name(const RunMove& move) {
  const char* types = move.vector != move.work ? "_df" : move.work == Type::real32 ? "_f" : "";
  const std::string stride = move.stride > 1 ? fmt::format("_by{}", move.stride) : "";
  return fmt::format("{}_run{}{}{}", move.adds ? "add" : "load", move.width, types, stride);
}

std::string emit(const schedule::LoopProgram& program, const Spelling& spelling) {
  return Emitter(program, spelling).run();
}

std::string emit(const schedule::LoopProgram& program, const std::string& language) {
  if (language == "loops") return schedule::print(program);
  if (language == c_spelling().name) return emit(program, c_spelling());
  throw base::InternalError("no emitter for language '" + language + "'");
}

} // namespace rafter::emit
