// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include <rafter/comm/communicator.hpp>
#include <rafter/comm/index_map.hpp>

namespace rafter::comm {

/// Values of the owned entries that other processes have as ghosts, and of the ghosts that this one has. Forward: from
/// the owners to the ghosts. Reverse: from the ghosts to their owners, which combine them with their own in the order
/// of ranks, so that sums are the same bits in every run.
class GhostExchange {
public:
  /// Collective. Ghosts of the map are grouped by owners in ascending order, else InternalError.
  GhostExchange(std::shared_ptr<const Communicator> communicator, const IndexMap& map);

  /// A process that shares entries with this one.
  struct Neighbour {
    int rank = 0;
    std::vector<std::int32_t> owned;               ///< local numbers of its ghosts that this process owns
    std::int32_t ghosts_begin = 0, ghosts_end = 0; ///< local numbers of the ghosts that it owns
  };
  std::span<const Neighbour> neighbours() const { return neighbours_; } ///< ascending ranks

  /// Values that are under way.
  template <class T> struct Pending {
    std::vector<std::vector<T>> values; ///< values of owned entries, shape (neighbour, entry)
    std::unique_ptr<Communicator::Exchange> exchange;
  };

  /// `values` has shape (local number) here and below. Owned entries are read now.
  template <class T> Pending<T> start_forward(std::span<T> values) const;
  /// Waits until the ghosts have the values of their owners.
  template <class T> void finish_forward(Pending<T> pending) const { pending.exchange->finish(); }
  /// Ghosts are read now.
  template <class T> Pending<T> start_reverse(std::span<const T> values) const;
  /// values[i] = combine(values[i], value of the ghost) for every ghost of the owned entry i.
  template <class T, class Combine>
  void finish_reverse(Pending<T> pending, std::span<T> values, const Combine& combine) const;

private:
  std::shared_ptr<const Communicator> communicator_;
  std::vector<Neighbour> neighbours_;
};

template <class T> GhostExchange::Pending<T> GhostExchange::start_forward(std::span<T> values) const {
  static_assert(std::is_trivially_copyable_v<T>);
  Pending<T> pending;
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  for (const auto& neighbour : neighbours_) {
    auto& packed = pending.values.emplace_back();
    packed.reserve(neighbour.owned.size());
    for (const auto entry : neighbour.owned) packed.push_back(values[static_cast<std::size_t>(entry)]);
    const auto ghosts = values.subspan(static_cast<std::size_t>(neighbour.ghosts_begin),
                                       static_cast<std::size_t>(neighbour.ghosts_end - neighbour.ghosts_begin));
    if (!packed.empty()) outgoing.push_back({neighbour.rank, std::as_bytes(std::span(packed))});
    if (!ghosts.empty()) incoming.push_back({neighbour.rank, std::as_writable_bytes(ghosts)});
  }
  pending.exchange = communicator_->start(outgoing, incoming);
  return pending;
}

template <class T> GhostExchange::Pending<T> GhostExchange::start_reverse(std::span<const T> values) const {
  static_assert(std::is_trivially_copyable_v<T>);
  Pending<T> pending;
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  for (const auto& neighbour : neighbours_) {
    auto& received = pending.values.emplace_back(neighbour.owned.size());
    const auto ghosts = values.subspan(static_cast<std::size_t>(neighbour.ghosts_begin),
                                       static_cast<std::size_t>(neighbour.ghosts_end - neighbour.ghosts_begin));
    if (!ghosts.empty()) outgoing.push_back({neighbour.rank, std::as_bytes(ghosts)});
    if (!received.empty()) incoming.push_back({neighbour.rank, std::as_writable_bytes(std::span(received))});
  }
  pending.exchange = communicator_->start(outgoing, incoming);
  return pending;
}

template <class T, class Combine>
void GhostExchange::finish_reverse(Pending<T> pending, std::span<T> values, const Combine& combine) const {
  pending.exchange->finish();
  for (std::size_t n = 0; n < neighbours_.size(); ++n)
    for (std::size_t i = 0; i < neighbours_[n].owned.size(); ++i) {
      T& own = values[static_cast<std::size_t>(neighbours_[n].owned[i])];
      own = combine(own, pending.values[n][i]);
    }
}

} // namespace rafter::comm
