// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/comm/ghost_exchange.hpp>

#include <algorithm>

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
    : communicator_(std::move(communicator)) {
  const int num_ranks = communicator_->size();
  const auto starts = starts_by_owner(map, num_ranks);
  std::vector<std::int64_t> asked;
  for (std::size_t rank = 0; rank + 1 < starts.size(); ++rank) asked.push_back(starts[rank + 1] - starts[rank]);
  const auto wanted = communicator_->exchange_counts(asked);

  std::vector<std::vector<std::int64_t>> numbers; // global ones of its ghosts, by neighbour
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  for (int rank = 0; rank < num_ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    if (asked[r] == 0 && wanted[r] == 0) continue;
    neighbours_.push_back({rank,
                           {},
                           static_cast<std::int32_t>(map.num_owned() + starts[r]),
                           static_cast<std::int32_t>(map.num_owned() + starts[r + 1])});
    numbers.emplace_back(static_cast<std::size_t>(wanted[r]));
    const auto ghosts = map.ghosts().subspan(static_cast<std::size_t>(starts[r]), static_cast<std::size_t>(asked[r]));
    if (asked[r] > 0) outgoing.push_back({rank, std::as_bytes(ghosts)});
  }
  for (std::size_t n = 0; n < neighbours_.size(); ++n)
    if (!numbers[n].empty()) incoming.push_back({neighbours_[n].rank, std::as_writable_bytes(std::span(numbers[n]))});
  communicator_->start(outgoing, incoming)->finish();
  for (std::size_t n = 0; n < neighbours_.size(); ++n)
    for (const auto number : numbers[n]) {
      if (number < map.owned_begin() || number >= map.owned_end())
        throw base::InternalError(fmt::format("process {} takes entry {} for one of process {}", neighbours_[n].rank,
                                              number, communicator_->rank()));
      neighbours_[n].owned.push_back(static_cast<std::int32_t>(number - map.owned_begin()));
    }
}

} // namespace rafter::comm
