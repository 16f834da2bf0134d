// SPDX-License-Identifier: BSD-3-Clause
// The minimum cut costs no more than any other way to have the values; on small graphs, all ways are tried.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>

#include <rafter/kernel/min_cut.hpp>

namespace rafter::kernel {
namespace {

using form::AtomKind;
using form::NodeId;
using form::ScalarGraph;

struct Problem {
  ScalarGraph graph;
  std::vector<NodeId> needed;
  std::vector<Price> prices; ///< prices of all nodes
};

Problem random_problem(unsigned seed) {
  std::mt19937 random(seed);
  Problem p;
  const auto any = [&random](int count) { return static_cast<NodeId>(random() % static_cast<unsigned>(count)); };
  for (int i = 0; i < 3; ++i) p.graph.atom({AtomKind::parameter, i, 0, 0});
  while (p.graph.size() < 11) p.graph.mul(any(p.graph.size()), any(p.graph.size()));
  p.needed = {p.graph.size() - 1, any(p.graph.size()), any(p.graph.size())};
  std::uniform_int_distribution<int> price(0, 6);
  for (NodeId id = 0; id < p.graph.size(); ++id) {
    p.prices.push_back({.compute = static_cast<double>(price(random))});
    if (price(random) > 1) p.prices.back().fetch = price(random);
  }
  return p;
}

/// Returns the cost of the needed values when the nodes in `fetched` (bits) are fetched.
double total(const Problem& p, unsigned fetched) {
  double sum = 0;
  std::vector<NodeId> open = p.needed;
  unsigned seen = 0;
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if ((seen >> id & 1U) != 0) continue;
    seen |= 1U << id;
    const bool is_fetched = (fetched >> id & 1U) != 0;
    const auto& price = p.prices[static_cast<std::size_t>(id)];
    sum += is_fetched ? price.fetch : price.compute;
    for (const NodeId operand : p.graph[id].operands)
      if (operand >= 0 && !is_fetched) open.push_back(operand);
  }
  return sum;
}

TEST(CheapestFetches, NoOtherSetIsCheaper) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const auto p = random_problem(seed);
    unsigned found = 0;
    for (const NodeId id :
         cheapest_fetches(p.graph, p.needed, [&](NodeId i) { return p.prices[static_cast<std::size_t>(i)]; }))
      found |= 1U << id;
    double least = std::numeric_limits<double>::infinity();
    for (unsigned set = 0; set < 1U << p.graph.size(); ++set) least = std::min(least, total(p, set));
    EXPECT_EQ(total(p, found), least) << seed;
  }
}

TEST(CheapestFetches, OfEqualPricesTheOneNearestToTheNeed) {
  ScalarGraph graph;
  const NodeId x = graph.atom({AtomKind::parameter, 0, 0, 0});
  const NodeId a = graph.mul(x, x), b = graph.mul(a, a);
  const auto fetched = cheapest_fetches(graph, std::array{b}, [&](NodeId id) {
    return id == x ? Price{.compute = 10} : Price{.compute = 0, .fetch = 3};
  });
  EXPECT_EQ(fetched, std::vector{b});
}

TEST(CheapestFetches, FollowChainsOfAnyLength) {
  ScalarGraph graph;
  const NodeId x = graph.atom({AtomKind::parameter, 0, 0, 0});
  NodeId last = x;
  for (int i = 0; i < 200'000; ++i) last = graph.make(form::ScalarOp::sin, last);
  const auto fetched = cheapest_fetches(graph, std::array{last}, [&](NodeId id) {
    return id == x ? Price{.compute = 1, .fetch = 10} : Price{.compute = 0, .fetch = 2};
  });
  EXPECT_TRUE(fetched.empty()); // computing x costs 1, fetching any other node 2
}

} // namespace
} // namespace rafter::kernel
