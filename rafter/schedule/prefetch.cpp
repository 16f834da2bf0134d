// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>

#include <rafter/schedule/counts.hpp>
#include <rafter/schedule/lowering.hpp>
#include <rafter/space/index_tables.hpp>

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
    iterations_ = context_.num_passes();
    const auto place = heaviest(body_);
    if (place) choose(body_[*place]);
    if (!place || iterations_ < fewest_turns) {
      // Prefetches cost more than they bring on tensor cells of low degree.
      if (!context_.program.has_directions()) over_all();
      return;
    }
    Statements before, hints;
    for (const auto& stream : context_.streams) hint(stream, before, hints);
    ask_for_distant(iterations_, variable("iteration"), before, hints);
    NodePtr& nest = body_[*place];
    nest = with_hints(nest, 0, context_.pass(), hints);
    body_.insert(body_.begin() + static_cast<std::ptrdiff_t>(*place), before.begin(), before.end());
  }

private:
  /// The cache lines of a vector that one of all turns asks for.
  struct Share {
    std::string vector;
    NodePtr begin, lines;
    std::int64_t num_lines; ///< lines of all turns; -1: known at run time only
    int entries_per_line;
    bool is_nearest; ///< lines go into the nearest cache

    void ask(Context& context, const NodePtr& turn, Statements& to) const {
      const auto line = [&](const NodePtr& number) {
        return (is_nearest ? prefetch_nearest : prefetch)(vector, iadd(begin, imul(number, integer(entries_per_line))));
      };
      const NodePtr first = imul(turn, lines);
      if (num_lines >= 0 && first->kind == Kind::integer && first->integer >= num_lines) return;
      if (lines->kind == Kind::integer && lines->integer == 1) return to.push_back(line(first));
      const std::string z = context.fresh("z");
      to.push_back(loop(z, lines, line(iadd(first, variable(z)))));
    }
  };
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
    share_of(stream, iterations_, before).ask(context_, variable("iteration"), hints);
  }

  /// The same of what stands between loops: its registers come from other statements, which do not show their lanes.
  double arithmetic(const NodePtr& statement) const {
    return count(context_.result, *statement).instructions.arithmetic;
  }
  /// Says whether a statement is a loop each of whose iterations computes a turn's share of the whole.
  bool is_heavy(const NodePtr& statement) const {
    return is_plain_loop(statement) && statement->operands[0]->integer > 1 &&
           arithmetic(statement) >= of_turn_ * static_cast<double>(statement->operands[0]->integer);
  }

  /// Spreads hints between the statements if no nest has enough iterations, also inside of loops that compute much in
  /// each iteration. Short loops stay as they are, since compilers write them out.
  void over_all() {
    double total = 0;
    for (const auto& statement : body_) total += arithmetic(statement);
    if (total == 0) return;
    of_turn_ = total / enough_turns;
    const std::int64_t turns = count_turns(body_, 0);
    iterations_ = turns * context_.num_passes();
    if (iterations_ == 0) return;
    Statements result;
    std::vector<Share> shares;
    for (const auto& stream : context_.streams)
      if (stream.num_entries >= 0) {
        shares.push_back(share_of(stream, iterations_, result));
        shares.back().is_nearest = true; // so short a program leaves room there
      } else                             // few lines: most unknowns of a batch were touched by batches before
        share_of(stream, context_.num_passes(), result).ask(context_, context_.pass(), result);
    ask_for_distant(context_.num_passes(), context_.pass(), result, result);
    const auto spread = with_turns(body_, 0, imul(context_.pass(), integer(turns)), shares);
    result.insert(result.end(), spread.begin(), spread.end());
    body_ = std::move(result);
  }
  /// Statements of the body of a loop, which may be one.
  static Statements inside_of(const NodePtr& loop) {
    const auto& inside = loop->operands[1];
    return inside->kind == Kind::block ? inside->operands : Statements{inside};
  }
  /// Calls turn() before statements that a turn's share is computed before, and each(statement) for all. `since`: what
  /// was computed since the last turn.
  template <class Turn, class Each>
  void walk(const Statements& statements, double since, const Turn& turn, const Each& each) const {
    for (const auto& statement : statements) {
      if (is_heavy(statement))
        since = 0;
      else if ((since += arithmetic(statement)) >= of_turn_) {
        turn();
        since = 0;
      }
      each(statement);
    }
  }
  std::int64_t count_turns(const Statements& statements, double since) const {
    std::int64_t turns = 0;
    walk(
        statements, since, [&] { ++turns; },
        [&](const NodePtr& statement) {
          if (is_heavy(statement))
            turns += statement->operands[0]->integer * count_turns(inside_of(statement), of_turn_);
        });
    return turns;
  }
  /// The statements with hints from turn `first` on.
  Statements with_turns(const Statements& statements, double since, const NodePtr& first,
                        const std::vector<Share>& shares) {
    Statements result;
    NodePtr next = first;
    walk(
        statements, since,
        [&] {
          for (const auto& share : shares) share.ask(context_, next, result);
          next = iadd(next, integer(1));
        },
        [&](const NodePtr& statement) {
          if (!is_heavy(statement)) return result.push_back(statement);
          const auto inside = inside_of(statement);
          const auto turns = integer(count_turns(inside, of_turn_));
          const NodePtr first_of_iteration = iadd(next, imul(variable(statement->name), turns));
          result.push_back(loop(statement->name, statement->operands[0],
                                block(with_turns(inside, of_turn_, first_of_iteration, shares))));
          next = iadd(next, imul(statement->operands[0], turns));
        });
    return result;
  }

  /// Asks for the distant lines of the next batch, of which one of all turns takes an equal share. The last turns may
  /// find less.
  void ask_for_distant(std::int64_t turns, const NodePtr& turn, Statements& before, Statements& to) {
    std::map<int, std::vector<std::string>> of_spaces; // vectors
    for (const auto& stream : context_.streams)
      if (stream.space >= 0) of_spaces[stream.space].push_back(stream.vector);
    for (const auto& [space, vectors] : of_spaces) {
      const auto table = [&, of = space](const char* role) { return context_.global(role, of, Type::integer); };
      const NodePtr next = context_.next_batch();
      const std::string begins = table(space::role::distant_begins);
      const NodePtr begin = context_.define_integer(before, "z", iload(begins, next));
      const NodePtr end = context_.define_integer(before, "z", iload(begins, iadd(next, integer(1))));
      const NodePtr lines =
          context_.define_integer(before, "z", idiv(iadd(isub(end, begin), integer(turns - 1)), turns));
      const std::string z = context_.fresh("z");
      const NodePtr place = imin(iadd(begin, iadd(imul(turn, lines), variable(z))), isub(end, integer(1)));
      Statements asked;
      const NodePtr entry = context_.define_integer(asked, "z", iload(table(space::role::distant_entries), place));
      for (const auto& vector : vectors) asked.push_back(prefetch(vector, entry));
      to.push_back(loop(z, lines, block(std::move(asked))));
    }
  }

  Share share_of(const Stream& stream, std::int64_t turns, Statements& before) {
    const NodePtr begin = context_.define_integer(before, "z", stream.begin);
    const int entries_per_line = line_bytes / size_bytes(context_.result.find(stream.vector)->type);
    const std::int64_t of_turns = entries_per_line * turns;
    const bool is_known = stream.num_entries >= 0;
    const NodePtr length = is_known ? integer(stream.num_entries) : isub(stream.end, begin);
    const NodePtr lines = idiv(iadd(length, integer(of_turns - 1)), of_turns);
    return {stream.vector,
            begin,
            context_.define_integer(before, "z", lines),
            is_known ? (stream.num_entries + entries_per_line - 1) / entries_per_line : -1,
            entries_per_line,
            false};
  }

  Context& context_;
  Statements& body_;
  std::int64_t iterations_ = 1;
  int depth_ = 0;
  double of_turn_ = 0; ///< instructions between turns that are not those of a nest
};

} // namespace

void spread_prefetches(Context& context, Statements& body) { Spreading(context, body).run(); }

} // namespace rafter::schedule
