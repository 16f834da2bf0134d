// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cctype>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/schedule/loop_program.hpp>

namespace rafter::schedule {

namespace {

constexpr std::array kind_names{"integer", "variable", "lane",  "group",  "item",    "iadd",     "isub",
                                "imul",    "imin",     "idiv",  "ieq",    "ilt",     "iload",    "number",
                                "reg",     "load",     "widen", "narrow", "op",      "block",    "for",
                                "let",     "ilet",     "store", "add",    "barrier", "prefetch", "if"};
constexpr const char* single_number = "number32"; ///< head of a literal of type real32
static_assert(kind_names.size() == static_cast<std::size_t>(Kind::branch) + 1);
constexpr std::array space_names{"global", "constant", "work", "shared"};
constexpr std::array item_names{"item_x", "item_y", "item_z"}; // the name of each axis
constexpr std::array type_names{"real", "integer", "real32"};
constexpr std::array style_names{"", "unrolled", "run"}; // the style of each loop

bool is_statement(Kind kind) { return kind >= Kind::block; }

class Printer {
public:
  std::string text;
  void statement(const Node& node, int depth) {
    text += std::string(static_cast<std::size_t>(2 * depth), ' ');
    node_text(node, depth);
    text += "\n";
  }

  void node_text(const Node& node, int depth) {
    switch (node.kind) {
    case Kind::integer:
      text += std::to_string(node.integer);
      return;
    case Kind::lane:
    case Kind::group:
      text += kind_names[static_cast<std::size_t>(node.kind)];
      return;
    case Kind::item:
      text += item_names.at(static_cast<std::size_t>(node.integer));
      return;
    case Kind::variable:
      text += (node.has_lane ? "@" : "$") + node.name;
      return;
    case Kind::reg:
      text += "%" + node.name;
      return;
    case Kind::number:
      text += fmt::format("({} {})", node.type == Type::real32 ? single_number : "number", node.value);
      return;
    case Kind::operation:
      text += fmt::format("({}", form::info(node.op).name);
      break;
    default:
      text += fmt::format("({}", kind_names[static_cast<std::size_t>(node.kind)]);
    }
    if (!node.name.empty()) text += " " + node.name;
    if (node.style != LoopStyle::rolled) text += fmt::format(" {}", style_names[static_cast<std::size_t>(node.style)]);
    if (node.is_atomic) text += " atomic";
    if (node.is_streaming) text += " streaming";
    if (node.is_by_lane) text += " by_lane";
    if (node.is_nearest) text += " nearest";
    for (const auto& operand : node.operands) {
      if (is_statement(operand->kind)) {
        text += "\n";
        statement(*operand, depth + 1);
        text.pop_back();
      } else {
        text += " ";
        node_text(*operand, depth);
      }
    }
    text += ")";
  }
};

std::string buffer_text(const LoopBuffer& buffer) {
  std::string text =
      fmt::format("(buffer {} {} {} {}", buffer.name, space_names[static_cast<std::size_t>(buffer.space)],
                  type_names[static_cast<std::size_t>(buffer.type)], buffer.size);
  if (buffer.is_written) text += " written";
  if (buffer.is_lane) text += " lane";
  if (!buffer.role.empty()) text += fmt::format(" role {} {}", buffer.role, buffer.index);
  if (!buffer.values.empty()) {
    text += " values";
    for (const double value : buffer.values) text += fmt::format(" {}", value);
  }
  return text + ")\n";
}

/// Returns the text of groups that are no batches of a host; of others there is none.
std::string launch_text(const Launch& launch) {
  if (launch.is_of_host()) return "";
  return fmt::format("(launch {} {} {} {})\n", launch.items[0], launch.items[1], launch.items[2], launch.batches);
}

class Reader {
public:
  explicit Reader(const std::string& text) : text_(text) {}

  LoopProgram program() {
    LoopProgram result;
    expect("(");
    expect("program");
    result.name = name_token();
    result.vector_width = int_token();
    if (peek(1) == "launch") result.launch = launch();
    while (peek(1) == "buffer") {
      result.buffers.push_back(buffer());
      buffers_[result.buffers.back().name] = result.buffers.back().type;
    }
    result.body = node();
    expect(")");
    if (!is_at_end()) fail("text after the end of the program");
    return result;
  }

private:
  [[noreturn]] void fail(const std::string& what) const {
    throw base::InputError(fmt::format("loop program text, character {}: {}", position_, what));
  }
  bool is_at_end() {
    while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[position_])) != 0) ++position_;
    return position_ >= text_.size();
  }
  std::string token() {
    if (is_at_end()) fail("unexpected end");
    if (text_[position_] == '(' || text_[position_] == ')') return std::string(1, text_[position_++]);
    const std::size_t begin = position_;
    while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[position_])) == 0 &&
           text_[position_] != '(' && text_[position_] != ')')
      ++position_;
    return text_.substr(begin, position_ - begin);
  }
  std::string peek(int ahead) {
    const std::size_t saved = position_;
    std::string result = token();
    for (int i = 0; i < ahead; ++i) result = token();
    position_ = saved;
    return result;
  }
  void expect(const std::string& wanted) {
    const std::string found = token();
    if (found != wanted) fail(fmt::format("'{}' where '{}' is expected", found, wanted));
  }

  std::string name_token() {
    std::string found = token();
    if (found == "(" || found == ")") fail(fmt::format("'{}' where a name is expected", found));
    return found;
  }
  int int_token() {
    const auto value = base::parse_integer(token());
    if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
      fail(fmt::format("{} is out of range", value));
    return static_cast<int>(value);
  }

  template <std::size_t n>
  std::size_t index_of(const std::array<const char*, n>& names, const std::string& text) const {
    for (std::size_t i = 0; i < n; ++i)
      if (text == names[i]) return i;
    fail("unknown word '" + text + "'");
  }

  Launch launch() {
    Launch result;
    expect("(");
    expect("launch");
    for (int& extent : result.items) extent = int_token();
    result.batches = int_token();
    expect(")");
    return result;
  }
  LoopBuffer buffer() {
    LoopBuffer result;
    expect("(");
    expect("buffer");
    result.name = name_token();
    result.space = static_cast<Space>(index_of(space_names, token()));
    result.type = static_cast<Type>(index_of(type_names, token()));
    result.size = base::parse_integer(token());
    for (std::string word = token(); word != ")"; word = token()) {
      if (word == "written")
        result.is_written = true;
      else if (word == "lane")
        result.is_lane = true;
      else if (word == "role") {
        result.role = name_token();
        result.index = int_token();
      } else if (word == "values") {
        while (peek(0) != ")") result.values.push_back(base::parse_double(token()));
      } else
        fail("unknown word '" + word + "'");
    }
    return result;
  }

  /// Reads the word if it comes next; says whether it did.
  bool takes(const std::string& word) {
    const bool is_there = peek(0) == word;
    if (is_there) token();
    return is_there;
  }
  NodePtr node() {
    if (++depth_ > 2000) fail("nested too deeply");
    NodePtr result = parse();
    --depth_;
    return result;
  }
  NodePtr parse() {
    const std::string first = token();
    if (first == "lane") return lane();
    if (first == "group") return group();
    for (std::size_t axis = 0; axis < item_names.size(); ++axis)
      if (first == item_names[axis]) return item(static_cast<int>(axis));
    if (first[0] == '$' || first[0] == '@') return variable(first.substr(1), first[0] == '@');
    if (first[0] == '%') return reg(first.substr(1), type_of(registers_, first.substr(1)));
    if (first != "(") return integer(base::parse_integer(first));
    const std::string head = token();
    if (head == "number" || head == single_number) {
      const double value = base::parse_double(token());
      expect(")");
      return number(value, head == "number" ? Type::real : Type::real32);
    }
    Node result;
    std::optional<form::ScalarOp> op;
    for (int o = static_cast<int>(form::ScalarOp::add); o <= static_cast<int>(form::ScalarOp::select); ++o)
      if (head != "add" && head == form::info(static_cast<form::ScalarOp>(o)).name) op = static_cast<form::ScalarOp>(o);
    // `add` heads both a statement, with a name, and an operation
    if (head == "add" && (peek(0) == "(" || peek(0)[0] == '%')) op = form::ScalarOp::add;
    result.kind = op ? Kind::operation : static_cast<Kind>(index_of(kind_names, head));
    result.op = op.value_or(form::ScalarOp::constant);
    const bool has_name = result.kind == Kind::iload || result.kind == Kind::load || result.kind == Kind::loop ||
                          result.kind == Kind::let || result.kind == Kind::ilet || result.kind == Kind::store ||
                          result.kind == Kind::add || result.kind == Kind::prefetch;
    if (has_name) result.name = name_token();
    for (const auto style : {LoopStyle::unrolled, LoopStyle::run})
      if (result.kind == Kind::loop && peek(0) == style_names[static_cast<std::size_t>(style)]) {
        token();
        result.style = style;
      }
    result.is_atomic = result.kind == Kind::add && takes("atomic");
    result.is_streaming = result.kind == Kind::store && takes("streaming");
    result.is_by_lane = result.kind == Kind::load && takes("by_lane");
    result.is_nearest = result.kind == Kind::prefetch && takes("nearest");
    while (peek(0) != ")") {
      result.operands.push_back(node());
      result.has_lane = result.has_lane || result.operands.back()->has_lane;
    }
    expect(")");
    check_operands(result);
    result.type = type_of(result);
    if (result.kind == Kind::let) registers_[result.name] = result.operands[0]->type;
    return std::make_shared<const Node>(std::move(result));
  }
  using Types = std::map<std::string, Type>;
  /// Names that are not known are the verifier's matter.
  static Type type_of(const Types& types, const std::string& name) {
    const auto found = types.find(name);
    return found == types.end() ? Type::real : found->second;
  }
  Type type_of(const Node& node) const {
    switch (node.kind) {
    case Kind::load:
      return type_of(buffers_, node.name);
    case Kind::narrow:
      return Type::real32;
    case Kind::operation:
      return node.operands[0]->type;
    default:
      return Type::real;
    }
  }
  void check_operands(const Node& found) const {
    const auto is = [&found](std::size_t least, std::size_t most) {
      return found.operands.size() >= least && found.operands.size() <= most;
    };
    bool is_right = true;
    switch (found.kind) {
    case Kind::iadd:
    case Kind::isub:
    case Kind::imul:
    case Kind::imin:
    case Kind::idiv:
    case Kind::ieq:
    case Kind::ilt:
    case Kind::loop:
      is_right = is(2, 2);
      break;
    case Kind::iload:
    case Kind::load:
    case Kind::widen:
    case Kind::narrow:
    case Kind::let:
    case Kind::ilet:
    case Kind::prefetch:
      is_right = is(1, 1);
      break;
    case Kind::operation: {
      const auto arity = static_cast<std::size_t>(form::info(found.op).arity);
      is_right = is(arity, arity);
      break;
    }
    case Kind::store:
    case Kind::add:
      is_right = is(2, 3);
      break;
    case Kind::branch:
      is_right = is(3, 3);
      break;
    case Kind::barrier:
      is_right = is(0, 0);
      break;
    case Kind::block:
      break;
    default:
      is_right = false;
    }
    if (!is_right) fail("wrong number of operands");
  }

  const std::string& text_;
  Types buffers_, registers_;
  std::size_t position_ = 0;
  int depth_ = 0;
};

} // namespace

std::string print(const LoopProgram& program) {
  std::string text = fmt::format("(program {} {}\n{}", program.name, program.vector_width, launch_text(program.launch));
  for (const auto& buffer : program.buffers) text += buffer_text(buffer);
  Printer printer;
  printer.statement(*program.body, 0);
  return text + printer.text + ")\n";
}

std::string print(const Node& node) {
  Printer printer;
  printer.node_text(node, 0);
  return printer.text;
}

LoopProgram read(const std::string& text) { return Reader(text).program(); }

} // namespace rafter::schedule
