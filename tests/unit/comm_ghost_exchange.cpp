// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <functional>

#include <rafter/base/error.hpp>
#include <rafter/comm/ghost_exchange.hpp>

namespace rafter::comm {
namespace {

using Process = std::shared_ptr<const Communicator>;

/// Every process owns 4 numbers, 4 rank .. 4 rank + 3. Its ghosts are the last but one and the first number of each
/// other process, in this order.
IndexMap map_of(const Process& process) {
  std::vector<std::int64_t> ghosts;
  std::vector<int> owners;
  for (int other = 0; other < process->size(); ++other) {
    if (other == process->rank()) continue;
    ghosts.insert(ghosts.end(), {4 * other + 2, 4 * other});
    owners.insert(owners.end(), {other, other});
  }
  const std::int64_t begin = 4 * process->rank();
  return {begin, begin + 4, 4 * process->size(), ghosts, owners};
}

TEST(GhostExchange, GhostsGetTheValuesOfTheirOwners) {
  for (const int size : {1, 2, 3, 6})
    run_in_process(size, [](const Process& process) {
      const auto map = map_of(process);
      const GhostExchange exchange(process, map);
      EXPECT_EQ(static_cast<int>(exchange.neighbours().size()), process->size() - 1);
      std::vector<float> values(static_cast<std::size_t>(map.num_local()), -1);
      for (std::size_t i = 0; i < 4; ++i)
        values[i] = static_cast<float>(100 + map.local_to_global(static_cast<int>(i)));
      exchange.finish_forward(exchange.start_forward(std::span(values)));
      for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_EQ(values[i], static_cast<float>(100 + map.local_to_global(static_cast<std::int64_t>(i))));
    });
}

TEST(GhostExchange, OwnersAddWhatGhostsHoldInTheOrderOfRanks) {
  // The ranks hold 1e16, 1, -1e16, 1, whose sum depends on their order.
  const auto term = [](int rank) { return rank == 0 ? 1e16 : rank == 2 ? -1e16 : 1.0; };
  run_in_process(4, [&](const Process& process) {
    const auto map = map_of(process);
    const GhostExchange exchange(process, map);
    std::vector<double> values(static_cast<std::size_t>(map.num_local()), term(process->rank()));
    exchange.finish_reverse(exchange.start_reverse(std::span<const double>(values)), std::span(values), std::plus<>());
    double expected = term(process->rank());
    for (int other = 0; other < 4; ++other)
      if (other != process->rank()) expected += term(other);
    EXPECT_EQ(values[0], expected);
    EXPECT_EQ(values[2], expected);
    EXPECT_EQ(values[1], term(process->rank())) << "nobody has it as a ghost";
  });
}

TEST(GhostExchange, MapsThatDoNotFitAreFaults) {
  const auto with = [](std::vector<std::int64_t> ghosts, std::vector<int> owners) {
    run_in_process(3, [&](const Process& process) {
      const std::int64_t begin = 4 * process->rank();
      const IndexMap map =
          process->rank() > 0 ? IndexMap(begin, begin + 4, 12, {}, {}) : IndexMap(0, 4, 12, ghosts, owners);
      const GhostExchange exchange(process, map);
    });
  };
  EXPECT_NO_THROW(with({4, 9}, {1, 2}));
  EXPECT_THROW(with({9, 4}, {2, 1}), base::InternalError); // ghosts are not grouped in the order of their owners
  EXPECT_THROW(with({4, 9}, {1, 1}), base::InternalError); // 9 is not owned by process 1
  EXPECT_THROW(with({4, 9}, {1, 3}), base::InternalError); // there is no process 3
}

} // namespace
} // namespace rafter::comm
