// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <rafter/comm/ghost_exchange.hpp>
#include <rafter/operator/generate/system.hpp>
#include <rafter/operator/run/free_list.hpp>
#include <rafter/operator/run/vector_runner.hpp>

/// Exchanges the values of ghosts in vectors on a part of a mesh, wherever the vectors are.
namespace rafter::op {

/// The ghosts of some fields in vectors of one device. Values that are sent are packed by a loop on the device, and
/// those that arrive for owned entries are added by loops there, so that no others pass through the host. Ghosts
/// themselves are consecutive: they are sent and received without packing, in place where the device shares the host's
/// memory.
class Ghosts {
public:
  /// A field of a vector begins at an entry of it.
  struct Field {
    const space::FunctionSpace* space = nullptr; ///< space on a part of a mesh, which must outlive the ghosts
    std::size_t offset = 0;
  };
  Ghosts(std::shared_ptr<device::Device> device, std::vector<Field> fields);
  /// The ghosts of all fields of a system, which must outlive them.
  Ghosts(std::shared_ptr<device::Device> device, const System& system);
  Ghosts(const Ghosts&) = delete;
  Ghosts& operator=(const Ghosts&) = delete;
  ~Ghosts();

private:
  /// Memory of an exchange, and the runners of its loops: one for each, since their memory depends on the lengths. It
  /// is lent by pointer, which costs less than to move it.
  template <class T> struct Work {
    VectorRunner packing;
    std::vector<VectorRunner> adding;           ///< shape (round)
    device::Array<T> packed, received;          ///< values of entries_, sent to their ghosts and received from them
    std::vector<base::AlignedVector<T>> ghosts; ///< room on the host for those that are not in place, shape (field)
  };
  template <class T> using WorkList = FreeList<std::unique_ptr<Work<T>>>;

public:
  /// Values that are under way to other processes.
  template <class T> class Pending {
  private:
    friend class Ghosts;
    const device::Array<T>* vector = nullptr; ///< the ghosts of this vector are under way
    std::optional<typename WorkList<T>::Loan> work;
    std::vector<std::unique_ptr<comm::Communicator::Exchange>> exchanges; ///< shape (field)
  };
  /// Compiles the loops for vectors of T, which may fail, before messages are under way.
  template <class T> void prepare() const;
  /// Begins to bring the values of owned entries to their ghosts. Ghosts are no part of a vector's value, which is why
  /// they are written in vectors that are inputs, too. The vector must outlive the exchange.
  template <class T> Pending<T> start_update(const device::Array<T>& x) const;
  template <class T> void finish_update(Pending<T> pending) const;

  /// Sets ghosts to 0, because kernels add to them, and with `owned` also the owned entries that other processes have
  /// as ghosts.
  template <class T> void clear(device::Array<T>& y, bool owned) const;
  /// Adds the values of ghosts to the entries of their owners, in the order of ranks.
  template <class T> void add_to_owners(device::Array<T>& y) const;

private:
  struct Place;
  /// Entries of which each has one contribution at most: the first one of every entry, the second one, and so on.
  struct Round {
    IntegerArray positions; ///< positions of contributions among those received
    IntegerArray entries;   ///< entries of the vector that they belong to
  };
  template <class T> WorkList<T>& all_work() const;
  template <class T> typename WorkList<T>::Loan take() const;

  std::shared_ptr<device::Device> device_;
  std::vector<Place> places_; ///< shape (field)
  IntegerArray entries_;      ///< owned entries that are sent, shape (field, neighbour, entry)
  std::vector<Round> rounds_; ///< contributions that are received for them, in the order of ranks
  mutable WorkList<double> work_;
  mutable WorkList<float> single_work_;
};

} // namespace rafter::op
