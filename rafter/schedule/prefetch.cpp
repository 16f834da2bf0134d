// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <rafter/schedule/counts.hpp>
#include <rafter/schedule/lowering.hpp>

namespace rafter::schedule {

namespace {

constexpr int line_bytes = 64; ///< size of a cache line

/// Says whether a node is a loop with a fixed count that is not unrolled.
bool is_plain_loop(const NodePtr& node) {
  return node->kind == Kind::loop && node->style == LoopStyle::rolled && node->operands[0]->kind == Kind::integer;
}

class Spreading {
public:
  Spreading(Context& context, Statements& body) : context_(context), body_(body) {}

  void run() {
    const auto place = heaviest(body_);
    if (!place) return;
    NodePtr& nest = body_[*place];
    iterations_ = context_.num_passes();
    choose(nest);
    if (iterations_ < fewest_turns) return;
    Statements before, hints;
    for (const auto& stream : context_.streams) hint(stream, before, hints);
    nest = with_hints(nest, 0, context_.pass(), hints);
    body_.insert(body_.begin() + static_cast<std::ptrdiff_t>(*place), before.begin(), before.end());
  }

private:
  static constexpr std::int64_t fewest_turns = 12, enough_turns = 16;

  double flops(const NodePtr& statement) const { return count(context_.result, *statement).flops; }
  std::optional<std::size_t> heaviest(const Statements& statements) const {
    std::optional<std::size_t> result;
    double most = 0;
    for (std::size_t i = 0; i < statements.size(); ++i) {
      if (!is_plain_loop(statements[i])) continue;
      const double cost = flops(statements[i]);
      if (cost <= most) continue;
      most = cost;
      result = i;
    }
    return result;
  }
  /// Goes into nested loops until there are enough iterations to spread the prefetches over.
  void choose(const NodePtr& nest) {
    iterations_ *= nest->operands[0]->integer;
    ++depth_;
    if (iterations_ >= enough_turns) return;
    const auto& inside = nest->operands[1]->operands;
    if (const auto place = heaviest(inside)) choose(inside[*place]);
  }
  /// The loop nest with the prefetches at the begin of the chosen loop. `iteration` is the combined number of the
  /// iteration of the enclosing loops.
  NodePtr with_hints(const NodePtr& nest, int depth, const NodePtr& iteration, const Statements& hints) const {
    const NodePtr own = iadd(imul(iteration, nest->operands[0]), variable(nest->name));
    Statements inside = nest->operands[1]->operands;
    if (depth + 1 == depth_) {
      Statements first{ilet("iteration", own)};
      first.insert(first.end(), hints.begin(), hints.end());
      inside.insert(inside.begin(), first.begin(), first.end());
    } else {
      auto& next = inside[heaviest(inside).value()];
      next = with_hints(next, depth + 1, own, hints);
    }
    return loop(nest->name, nest->operands[0], block(std::move(inside)));
  }
  /// Emits the prefetches of one vector: in every iteration an equal share of its cache lines.
  void hint(const Stream& stream, Statements& before, Statements& hints) {
    const NodePtr begin = context_.define_integer(before, "z", stream.begin);
    const int entries_per_line = line_bytes / size_bytes(context_.result.find(stream.vector)->type);
    const NodePtr length = isub(stream.end, begin);
    const NodePtr lines =
        idiv(iadd(length, integer(entries_per_line * iterations_ - 1)), entries_per_line * iterations_);
    const NodePtr part = context_.define_integer(before, "z", lines);
    const std::string z = context_.fresh("z");
    const NodePtr line = iadd(imul(variable("iteration"), part), variable(z));
    hints.push_back(loop(z, part, prefetch(stream.vector, iadd(begin, imul(line, integer(entries_per_line))))));
  }

  Context& context_;
  Statements& body_;
  std::int64_t iterations_ = 1;
  int depth_ = 0;
};

} // namespace

void spread_prefetches(Context& context, Statements& body) { Spreading(context, body).run(); }

} // namespace rafter::schedule
