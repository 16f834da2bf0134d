// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
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

  struct Range {
    std::size_t begin = 0, end = 0;
  };
  /// A process that shares entries with this one.
  struct Neighbour {
    int rank = 0;
    Range owned;  ///< places in owned() of its ghosts that this process owns
    Range ghosts; ///< those of the ghosts that it owns, among all of this process
  };
  std::span<const Neighbour> neighbours() const { return neighbours_; } ///< ascending ranks
  /// Local numbers of the owned entries that neighbours have as ghosts, shape (neighbour, entry): an entry is there
  /// once for each of them.
  std::span<const std::int32_t> owned() const { return owned_; }

  /// Begins to bring values of owned() to the ghosts of the neighbours, and theirs to `ghosts`, shape (ghost). The
  /// values that are sent are read now.
  template <class T>
  std::unique_ptr<Communicator::Exchange> send_owned(std::span<const T> owned, std::span<T> ghosts) const {
    return start(std::as_bytes(owned), &Neighbour::owned, std::as_writable_bytes(ghosts), &Neighbour::ghosts,
                 sizeof(T));
  }
  /// Begins to bring the values of ghosts, shape (ghost), to their owners, and those of the neighbours' ghosts to
  /// `owned`, values for owned(). The values that are sent are read now.
  template <class T>
  std::unique_ptr<Communicator::Exchange> send_ghosts(std::span<const T> ghosts, std::span<T> owned) const {
    return start(std::as_bytes(ghosts), &Neighbour::ghosts, std::as_writable_bytes(owned), &Neighbour::owned,
                 sizeof(T));
  }

  /// Values that are under way.
  template <class T> struct Pending {
    std::vector<T> values; ///< values of owned()
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
  std::unique_ptr<Communicator::Exchange> start(std::span<const std::byte> sent, Range Neighbour::*of_sent,
                                                std::span<std::byte> received, Range Neighbour::*of_received,
                                                std::size_t bytes_per_value) const;
  std::shared_ptr<const Communicator> communicator_;
  std::vector<Neighbour> neighbours_;
  std::vector<std::int32_t> owned_;
  std::size_t num_owned_ = 0; ///< number of all entries that this process owns: ghosts begin behind them
};

template <class T> GhostExchange::Pending<T> GhostExchange::start_forward(std::span<T> values) const {
  static_assert(std::is_trivially_copyable_v<T>);
  Pending<T> pending;
  pending.values.reserve(owned_.size());
  for (const auto entry : owned_) pending.values.push_back(values[static_cast<std::size_t>(entry)]);
  pending.exchange = send_owned(std::span<const T>(pending.values), values.subspan(num_owned_));
  return pending;
}

template <class T> GhostExchange::Pending<T> GhostExchange::start_reverse(std::span<const T> values) const {
  static_assert(std::is_trivially_copyable_v<T>);
  Pending<T> pending;
  pending.values.resize(owned_.size());
  pending.exchange = send_ghosts(values.subspan(num_owned_), std::span(pending.values));
  return pending;
}

template <class T, class Combine>
void GhostExchange::finish_reverse(Pending<T> pending, std::span<T> values, const Combine& combine) const {
  pending.exchange->finish();
  for (std::size_t i = 0; i < owned_.size(); ++i) {
    T& own = values[static_cast<std::size_t>(owned_[i])];
    own = combine(own, pending.values[i]);
  }
}

} // namespace rafter::comm
