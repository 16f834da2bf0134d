// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

/// Processes that solve one problem together, and what they send each other.
namespace rafter::comm {

/// Bytes for the process `rank`.
struct Outgoing {
  int rank = 0;
  std::span<const std::byte> bytes;
};
/// Room for the bytes that the process `rank` sends, which must be as many.
struct Incoming {
  int rank = 0;
  std::span<std::byte> bytes;
};

/// The processes of a run, numbered by ranks from 0. All functions but rank() and size() are collective: every process
/// calls them in the same order, one thread at a time. A process that leaves what all do together leaves the others
/// waiting: virtual processes (run_in_process) detect that and throw on all of them, processes of an operating system
/// can only be ended together. Processes therefore agree upon the outcome of all that may fail on one of them alone
/// (agree()).
class Communicator {
public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0; ///< number of this process, from 0
  virtual int size() const = 0; ///< number of processes

  /// Replaces each value by its sum over all processes, added in the order of ranks: the same bits on every process and
  /// in every run.
  virtual void sum(std::span<double> values) const = 0;
  /// Replaces each value by the largest of all processes.
  virtual void max(std::span<double> values) const = 0;
  /// The values of all processes, shape (rank).
  virtual std::vector<std::int64_t> gather(std::int64_t value) const = 0;
  /// Entry r of the result is what process r has given for this one; `to_each` has shape (rank).
  virtual std::vector<std::int64_t> exchange_counts(std::span<const std::int64_t> to_each) const = 0;

  /// Messages between neighbours that are under way.
  class Exchange {
  public:
    /// An exchange that is not finished is cancelled: what it would have received is dropped, and its rooms are not
    /// written any more.
    virtual ~Exchange() = default;
    virtual void finish() = 0; ///< waits until all messages for this process are in their rooms
  };
  /// Sends and begins to receive; at most one message per process each way. The values sent may be changed afterwards,
  /// the rooms belong to the exchange until it is finished. A process that has no neighbours need not take part.
  /// Several exchanges may be under way; those of two processes are matched in the order of their starts, whichever is
  /// finished first.
  virtual std::unique_ptr<Exchange> start(std::span<const Outgoing> outgoing,
                                          std::span<const Incoming> incoming) const = 0;
};

/// Collective. Runs `attempt`, which calls no other process, and throws on all processes when it fails on one: the
/// exception of the lowest rank that has failed, of the same kind (base::InputError, ...; InternalError for others).
void agree(const Communicator& communicator, const std::function<void()>& attempt);

/// The communicator of a process that is alone.
std::shared_ptr<const Communicator> single_process();

/// Runs `function` on so many virtual processes, each a thread of this process, and waits for all of them. They
/// exchange messages through memory, so that what holds for ranks can be tested without a second process. When one
/// fails, the others end at their next collective call, and the first failure is thrown here. When all that have not
/// ended wait for something that nobody is left to bring, their calls throw InternalError, which says what each waits
/// for.
void run_in_process(int num_ranks, const std::function<void(const std::shared_ptr<const Communicator>&)>& function);

} // namespace rafter::comm
