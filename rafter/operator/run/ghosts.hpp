// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <rafter/comm/ghost_exchange.hpp>
#include <rafter/operator/generate/system.hpp>
#include <rafter/space/function_space.hpp>

/// Exchanges the values of ghosts in the vectors of systems on a part of a mesh.
namespace rafter::op {

/// The ghosts of all fields of a system. The system must outlive this object.
class Ghosts {
public:
  explicit Ghosts(const System& system) {
    for (std::size_t f = 0; f < system.spaces.size(); ++f)
      if (system.spaces[f]->exchange() != nullptr)
        fields_.push_back({system.spaces[f].get(), static_cast<std::size_t>(system.offset(f))});
  }
  bool is_empty() const { return fields_.empty(); } ///< says that the mesh is whole, so that there are no ghosts

  /// Values that are under way to other processes, by field.
  template <class T> using Pending = std::vector<comm::GhostExchange::Pending<T>>;
  /// Begins to bring the values of owned entries to their ghosts. Ghosts are no part of a vector's value, which is why
  /// they are written in vectors that are inputs, too.
  template <class T> Pending<T> start_update(const device::Array<T>& x) const {
    Pending<T> pending;
    for (const auto& field : fields_) pending.push_back(field.exchange().start_forward(field.part(x.host_scratch())));
    return pending;
  }
  template <class T> void finish_update(Pending<T> pending) const {
    for (std::size_t f = 0; f < pending.size(); ++f) fields_[f].exchange().finish_forward(std::move(pending[f]));
  }

  /// Sets ghosts to 0, because kernels add to them, and with `owned` also the owned entries that other processes have
  /// as ghosts.
  template <class T> void clear(std::span<T> y, bool owned) const {
    for (const auto& field : fields_) {
      const auto begin = owned ? field.space->interface_begin() : field.space->index_map().num_owned();
      std::ranges::fill(field.part(y).subspan(static_cast<std::size_t>(begin)), T(0));
    }
  }
  /// Adds the values of ghosts to the entries of their owners.
  template <class T> void add_to_owners(device::Array<T>& y) const {
    Pending<T> pending;
    for (const auto& field : fields_) pending.push_back(field.exchange().start_reverse(field.part(y.host_read())));
    const auto values = y.host_write();
    for (std::size_t f = 0; f < fields_.size(); ++f)
      fields_[f].exchange().finish_reverse(std::move(pending[f]), fields_[f].part(values), std::plus<>());
  }

private:
  struct Field {
    const space::FunctionSpace* space;
    std::size_t offset;
    const comm::GhostExchange& exchange() const { return *space->exchange(); }
    template <class T> std::span<T> part(std::span<T> vector) const {
      return vector.subspan(offset, static_cast<std::size_t>(space->num_local()));
    }
  };
  std::vector<Field> fields_;
};

} // namespace rafter::op
