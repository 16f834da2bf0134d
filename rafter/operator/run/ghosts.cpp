// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/run/ghosts.hpp>

#include <array>
#include <map>
#include <type_traits>
#include <utility>

#include <rafter/space/function_space.hpp>

namespace rafter::op {
namespace {

constexpr std::array<std::string_view, 2> ghost_loops{"pack(| x[e], values): values = x",
                                                      "add(| values[p], y[e]): y = y + values"};

std::vector<Ghosts::Field> fields_of(const System& system) {
  std::vector<Ghosts::Field> result;
  for (std::size_t f = 0; f < system.spaces.size(); ++f)
    result.push_back({system.spaces[f].get(), static_cast<std::size_t>(system.offset(f))});
  return result;
}

} // namespace

/// Where the values of a field are: its ghosts in a vector, and its owned entries among those that are packed.
struct Ghosts::Place {
  const comm::GhostExchange* exchange;
  std::size_t ghosts_begin, num_ghosts;
  std::size_t owned_begin, num_owned;
  std::size_t interface_begin; ///< first owned entry that other processes have as ghost
};

Ghosts::Ghosts(std::shared_ptr<device::Device> device, const System& system)
    : Ghosts(std::move(device), fields_of(system)) {}

Ghosts::Ghosts(std::shared_ptr<device::Device> device, std::vector<Field> fields) : device_(std::move(device)) {
  base::AlignedVector<std::int32_t> entries;
  std::vector<std::array<base::AlignedVector<std::int32_t>, 2>> rounds; // positions and entries
  std::map<std::int32_t, std::size_t> num_contributions; // number of them, by the entry that they are added to
  for (const auto& [space, offset] : fields) {
    const auto& map = space->index_map();
    const auto owned = space->exchange()->owned();
    places_.push_back({.exchange = space->exchange(),
                       .ghosts_begin = offset + static_cast<std::size_t>(map.num_owned()),
                       .num_ghosts = static_cast<std::size_t>(map.num_ghosts()),
                       .owned_begin = entries.size(),
                       .num_owned = owned.size(),
                       .interface_begin = offset + static_cast<std::size_t>(space->interface_begin())});
    for (const auto local : owned) {
      const auto entry = static_cast<std::int32_t>(offset) + local;
      const std::size_t round = num_contributions[entry]++;
      if (round == rounds.size()) rounds.emplace_back();
      rounds[round][0].push_back(static_cast<std::int32_t>(entries.size()));
      rounds[round][1].push_back(entry);
      entries.push_back(entry);
    }
  }
  entries_ = IntegerArray(device_, std::move(entries));
  for (auto& [positions, of_round] : rounds)
    rounds_.push_back({IntegerArray(device_, std::move(positions)), IntegerArray(device_, std::move(of_round))});
}

Ghosts::~Ghosts() = default;

template <class T> Ghosts::WorkList<T>& Ghosts::all_work() const {
  if constexpr (std::is_same_v<T, double>)
    return work_;
  else
    return single_work_;
}

template <class T> typename Ghosts::WorkList<T>::Loan Ghosts::take() const {
  return all_work<T>().take([this] {
    const auto runner = [this] { return VectorRunner(device_, ghost_loops, std::nullopt, entry_type<T>); };
    std::vector<VectorRunner> adding;
    for (std::size_t round = 0; round < rounds_.size(); ++round) adding.push_back(runner());
    return std::make_unique<Work<T>>(Work<T>{.packing = runner(),
                                             .adding = std::move(adding),
                                             .packed = device::Array<T>(device_, entries_.size()),
                                             .received = device::Array<T>(device_, entries_.size()),
                                             .ghosts = std::vector<base::AlignedVector<T>>(places_.size())});
  });
}

template <class T> void Ghosts::prepare() const { (void)(*take<T>())->packing.kernel("pack"); }

template <class T> Ghosts::Pending<T> Ghosts::start_update(const device::Array<T>& x) const {
  Pending<T> pending;
  pending.vector = &x;
  auto& work = **pending.work.emplace(take<T>());
  if (entries_.size() > 0) work.packing.run("pack", {}, {x, work.packed, entries_});
  const auto packed = work.packed.host_read();
  for (std::size_t f = 0; f < places_.size(); ++f) {
    const auto& place = places_[f];
    pending.exchanges.push_back(
        place.exchange->send_owned(packed.subspan(place.owned_begin, place.num_owned),
                                   x.host_scratch(place.ghosts_begin, place.num_ghosts, work.ghosts[f])));
  }
  return pending;
}

template <class T> void Ghosts::finish_update(Pending<T> pending) const {
  for (std::size_t f = 0; f < pending.exchanges.size(); ++f) {
    pending.exchanges[f]->finish();
    pending.vector->put_scratch(places_[f].ghosts_begin, (**pending.work)->ghosts[f]);
  }
}

template <class T> void Ghosts::clear(device::Array<T>& y, bool owned) const {
  for (const auto& place : places_) {
    const auto begin = owned ? place.interface_begin : place.ghosts_begin;
    y.clear(begin, place.ghosts_begin + place.num_ghosts - begin);
  }
}

template <class T> void Ghosts::add_to_owners(device::Array<T>& y) const {
  auto loan = take<T>();
  auto& work = **loan;
  const auto received = work.received.host_overwrite();
  std::vector<std::unique_ptr<comm::Communicator::Exchange>> exchanges;
  for (std::size_t f = 0; f < places_.size(); ++f) {
    const auto& place = places_[f];
    const auto ghosts = std::as_const(y).host_read(place.ghosts_begin, place.num_ghosts, work.ghosts[f]);
    exchanges.push_back(place.exchange->send_ghosts(ghosts, received.subspan(place.owned_begin, place.num_owned)));
  }
  for (const auto& exchange : exchanges) exchange->finish();
  for (std::size_t r = 0; r < rounds_.size(); ++r)
    work.adding[r].run("add", {}, {work.received, y, rounds_[r].positions, rounds_[r].entries});
}

template void Ghosts::prepare<double>() const;
template void Ghosts::prepare<float>() const;
template Ghosts::Pending<double> Ghosts::start_update(const Vector&) const;
template Ghosts::Pending<float> Ghosts::start_update(const SingleVector&) const;
template void Ghosts::finish_update(Pending<double>) const;
template void Ghosts::finish_update(Pending<float>) const;
template void Ghosts::clear(Vector&, bool) const;
template void Ghosts::clear(SingleVector&, bool) const;
template void Ghosts::add_to_owners(Vector&) const;
template void Ghosts::add_to_owners(SingleVector&) const;

} // namespace rafter::op
