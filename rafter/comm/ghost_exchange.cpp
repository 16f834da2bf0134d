// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/comm/ghost_exchange.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <rafter/base/error.hpp>

namespace rafter::comm {
namespace {

/// First ghost of each owner, and the number of all; shape (rank + 1).
std::vector<std::int64_t> starts_by_owner(const IndexMap& map, int num_ranks) {
  const auto owners = map.ghost_owners();
  if (!std::ranges::is_sorted(owners)) throw base::InternalError("ghosts are not grouped by their owners");
  if (!owners.empty() && owners.back() >= num_ranks)
    throw base::InternalError(fmt::format("a ghost is owned by process {} of {}", owners.back(), num_ranks));
  std::vector<std::int64_t> starts;
  for (int rank = 0; rank <= num_ranks; ++rank)
    starts.push_back(std::ranges::lower_bound(owners, rank) - owners.begin());
  return starts;
}

} // namespace

GhostExchange::GhostExchange(std::shared_ptr<const Communicator> communicator, const IndexMap& map)
    : communicator_(std::move(communicator)), num_owned_(static_cast<std::size_t>(map.num_owned())) {
  const int num_ranks = communicator_->size();
  const auto starts = starts_by_owner(map, num_ranks);
  std::vector<std::int64_t> asked;
  for (std::size_t rank = 0; rank + 1 < starts.size(); ++rank) asked.push_back(starts[rank + 1] - starts[rank]);
  const auto wanted = communicator_->exchange_counts(asked);

  std::size_t num_wanted = 0;
  for (int rank = 0; rank < num_ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    if (asked[r] == 0 && wanted[r] == 0) continue;
    const auto begin = std::exchange(num_wanted, num_wanted + static_cast<std::size_t>(wanted[r]));
    neighbours_.push_back(
        {rank, {begin, num_wanted}, {static_cast<std::size_t>(starts[r]), static_cast<std::size_t>(starts[r + 1])}});
  }
  std::vector<std::int64_t> numbers(num_wanted); // global ones of the entries that are ghosts there
  send_ghosts(map.ghosts(), std::span(numbers))->finish();
  for (const auto& neighbour : neighbours_)
    for (std::size_t i = neighbour.owned.begin; i < neighbour.owned.end; ++i) {
      if (numbers[i] < map.owned_begin() || numbers[i] >= map.owned_end())
        throw base::InternalError(fmt::format("process {} takes entry {} for one of process {}", neighbour.rank,
                                              numbers[i], communicator_->rank()));
      owned_.push_back(static_cast<std::int32_t>(numbers[i] - map.owned_begin()));
    }
}

std::unique_ptr<Communicator::Exchange> GhostExchange::start(std::span<const std::byte> sent, Range Neighbour::*of_sent,
                                                             std::span<std::byte> received,
                                                             Range Neighbour::*of_received,
                                                             std::size_t bytes_per_value) const {
  const auto part = [bytes_per_value](auto bytes, const Range& range) {
    return bytes.subspan(range.begin * bytes_per_value, (range.end - range.begin) * bytes_per_value);
  };
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  for (const auto& neighbour : neighbours_) {
    if (const auto bytes = part(sent, neighbour.*of_sent); !bytes.empty()) outgoing.push_back({neighbour.rank, bytes});
    if (const auto bytes = part(received, neighbour.*of_received); !bytes.empty())
      incoming.push_back({neighbour.rank, bytes});
  }
  return communicator_->start(outgoing, incoming);
}

} // namespace rafter::comm
