// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/comm/communicator.hpp>

namespace rafter::comm {
namespace {

/// Ends the calls of processes that wait for one that has failed. It is no std::exception, so that nobody who handles
/// those sees it.
struct OtherHasFailed {};

/// The state that the virtual processes share.
class World {
public:
  explicit World(int num_ranks)
      : num_ranks_(static_cast<std::size_t>(num_ranks)), values_(num_ranks_), mail_(num_ranks_ * num_ranks_),
        states_(num_ranks_) {}
  int num_ranks() const { return static_cast<int>(num_ranks_); }

  /// Calls visit(rank, values) in the order of ranks with what each process has given. All give as many numbers for the
  /// same call.
  template <class Visit> void for_all(const char* call, int rank, std::vector<double> own, const Visit& visit) {
    const std::size_t count = own.size();
    {
      const std::lock_guard lock(mutex_);
      values_[static_cast<std::size_t>(rank)] = {call, std::move(own)};
    }
    wait_for_all(rank);
    for (std::size_t r = 0; r < num_ranks_; ++r) {
      if (std::string_view(values_[r].call) != call)
        throw base::InternalError(fmt::format("processes do not call the same: process {} calls {} where process {} "
                                              "calls {}",
                                              r, values_[r].call, rank, call));
      if (values_[r].numbers.size() != count)
        throw base::InternalError(fmt::format("process {} gives {} numbers where process {} gives {}", r,
                                              values_[r].numbers.size(), rank, count));
    }
    for (std::size_t r = 0; r < num_ranks_; ++r) visit(r, std::as_const(values_[r].numbers));
    wait_for_all(rank); // all have read before anybody gives the next numbers
  }

  /// `number` counts the messages from one process to the other one, from 0 on both sides.
  void send(int from, int to, std::uint64_t number, std::span<const std::byte> bytes) {
    {
      const std::lock_guard lock(mutex_);
      box(from, to).emplace(number, std::vector<std::byte>(bytes.begin(), bytes.end()));
    }
    changed_.notify_all();
  }

  void receive(int from, int to, std::uint64_t number, std::span<std::byte> bytes) {
    std::unique_lock lock(mutex_);
    wait(lock, to, {.what = Waiting::message, .from = from, .number = number});
    const auto message = std::move(box(from, to).extract(number).mapped());
    if (message.size() != bytes.size())
      throw base::InternalError(fmt::format("process {} sends {} bytes to process {}, which expects {}", from,
                                            message.size(), to, bytes.size()));
    std::ranges::copy(message, bytes.begin());
  }
  /// Forgets a message that nobody will receive, if it has come.
  void drop(int from, int to, std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    box(from, to).erase(number);
  }

  void fail(std::exception_ptr failure) {
    {
      const std::lock_guard lock(mutex_);
      if (!has_failed_) failure_ = std::move(failure);
      has_failed_ = true;
    }
    changed_.notify_all();
  }
  /// Takes note that a process has ended.
  void end(int rank) {
    const std::lock_guard lock(mutex_);
    states_[static_cast<std::size_t>(rank)].what = Waiting::nothing_any_more;
    look_for_standstill();
  }
  /// Is called after all processes have ended.
  void rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

private:
  /// Says what a process waits for.
  struct Waiting {
    enum What { nothing, message, all, nothing_any_more } what = nothing;
    int from = 0;             ///< process that the message comes from
    std::uint64_t number = 0; ///< number of the message, or of the round in which all wait
  };
  struct Given {
    const char* call = "";
    std::vector<double> numbers;
  };

  std::map<std::uint64_t, std::vector<std::byte>>& box(int from, int to) {
    return mail_[static_cast<std::size_t>(from) * num_ranks_ + static_cast<std::size_t>(to)];
  }
  void wait_for_all(int rank) {
    std::unique_lock lock(mutex_);
    const auto round = round_;
    if (++num_waiting_ == num_ranks_) {
      num_waiting_ = 0;
      ++round_;
      changed_.notify_all();
    }
    wait(lock, rank, {.what = Waiting::all, .number = round});
  }

  /// Says whether what a process waits for has come.
  bool is_there(std::size_t rank) {
    const auto& waiting = states_[rank];
    if (waiting.what == Waiting::message) return box(waiting.from, static_cast<int>(rank)).contains(waiting.number);
    return round_ != waiting.number;
  }
  void wait(std::unique_lock<std::mutex>& lock, int rank, Waiting waiting) {
    const auto r = static_cast<std::size_t>(rank);
    states_[r] = waiting;
    if (!is_there(r)) {
      look_for_standstill();
      changed_.wait(lock, [&] { return has_failed_ || is_there(r); });
    }
    const bool has_come = is_there(r);
    states_[r] = {};
    if (has_come) return;
    if (!standstill_.empty()) throw base::InternalError(standstill_);
    throw OtherHasFailed();
  }

  /// Ends the calls of all when each process waits, or has ended, and nothing that is waited for has come.
  void look_for_standstill() {
    bool is_anybody_waiting = false;
    for (std::size_t r = 0; r < num_ranks_; ++r) {
      const auto what = states_[r].what;
      if (what == Waiting::nothing_any_more) continue;
      if (what == Waiting::nothing || is_there(r)) return;
      is_anybody_waiting = true;
    }
    if (!is_anybody_waiting || has_failed_) return;
    std::string text;
    for (std::size_t r = 0; r < num_ranks_; ++r)
      text += fmt::format("{} process {} {}", text.empty() ? "" : ",", r, describe(states_[r]));
    standstill_ = "processes do not call the same:" + text;
    has_failed_ = true;
    failure_ = std::make_exception_ptr(base::InternalError(standstill_));
    changed_.notify_all();
  }
  static std::string describe(const Waiting& waiting) {
    if (waiting.what == Waiting::message) return fmt::format("waits for a message of process {}", waiting.from);
    return waiting.what == Waiting::all ? "waits for all" : "has ended";
  }

  const std::size_t num_ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Given> values_;                                         ///< shape (rank)
  std::vector<std::map<std::uint64_t, std::vector<std::byte>>> mail_; ///< shape (from, to); messages by their numbers
  std::vector<Waiting> states_;                                       ///< shape (rank)
  std::size_t num_waiting_ = 0;                                       ///< processes that wait for all
  std::uint64_t round_ = 0;                                           ///< counts how often all have waited
  bool has_failed_ = false;
  std::exception_ptr failure_;
  std::string standstill_; ///< says why nobody can go on; empty: somebody can, or a process has failed
};

class VirtualProcess final : public Communicator {
public:
  VirtualProcess(std::shared_ptr<World> world, int rank)
      : world_(std::move(world)), rank_(rank), num_sent_(static_cast<std::size_t>(world_->num_ranks())),
        num_received_(num_sent_.size()) {}
  int rank() const override { return rank_; }
  int size() const override { return world_->num_ranks(); }

  void sum(std::span<double> values) const override {
    reduce("sum", values, [](double a, double b) { return a + b; });
  }
  void max(std::span<double> values) const override {
    reduce("max", values, [](double a, double b) { return std::max(a, b); });
  }
  std::vector<std::int64_t> gather(std::int64_t value) const override {
    std::vector<std::int64_t> result;
    world_->for_all("gather", rank_, {as_number(value)}, [&](std::size_t, const std::vector<double>& values) {
      result.push_back(static_cast<std::int64_t>(values.front()));
    });
    return result;
  }
  std::vector<std::int64_t> exchange_counts(std::span<const std::int64_t> to_each) const override {
    std::vector<double> numbers;
    for (const auto count : to_each) numbers.push_back(as_number(count));
    std::vector<std::int64_t> result;
    world_->for_all("exchange_counts", rank_, std::move(numbers), [&](std::size_t, const std::vector<double>& values) {
      result.push_back(static_cast<std::int64_t>(values.at(static_cast<std::size_t>(rank_))));
    });
    return result;
  }

  std::unique_ptr<Exchange> start(std::span<const Outgoing> outgoing,
                                  std::span<const Incoming> incoming) const override {
    for (const auto& message : outgoing)
      world_->send(rank_, message.rank, num_sent_[static_cast<std::size_t>(message.rank)]++, message.bytes);
    std::vector<Expected> expected;
    for (const auto& message : incoming)
      expected.push_back({message, num_received_[static_cast<std::size_t>(message.rank)]++});
    return std::make_unique<Mail>(world_, rank_, std::move(expected));
  }

private:
  /// A message that is expected, with its number among those of its process.
  struct Expected {
    Incoming message;
    std::uint64_t number;
  };
  class Mail final : public Exchange {
  public:
    Mail(std::shared_ptr<World> world, int rank, std::vector<Expected> expected)
        : world_(std::move(world)), rank_(rank), expected_(std::move(expected)) {}
    ~Mail() override {
      for (const auto& [message, number] : expected_) world_->drop(message.rank, rank_, number);
    }
    Mail(const Mail&) = delete;
    Mail& operator=(const Mail&) = delete;
    void finish() override {
      for (const auto& [message, number] : std::exchange(expected_, {}))
        world_->receive(message.rank, rank_, number, message.bytes);
    }

  private:
    std::shared_ptr<World> world_;
    int rank_;
    std::vector<Expected> expected_;
  };

  /// Numbers of things fit into the 53 bits of a double.
  static double as_number(std::int64_t value) {
    if (value < 0 || value >= std::int64_t{1} << 53) throw base::InternalError("a count is out of range");
    return static_cast<double>(value);
  }
  template <class Combine> void reduce(const char* call, std::span<double> values, const Combine& combine) const {
    std::vector<double> result;
    world_->for_all(call, rank_, {values.begin(), values.end()}, [&](std::size_t, const std::vector<double>& others) {
      if (result.empty())
        result = others;
      else
        std::ranges::transform(result, others, result.begin(), combine);
    });
    std::ranges::copy(result, values.begin());
  }

  std::shared_ptr<World> world_;
  int rank_;
  mutable std::vector<std::uint64_t> num_sent_, num_received_; ///< messages to and from each process so far
};

} // namespace

void run_in_process(int num_ranks, const std::function<void(const std::shared_ptr<const Communicator>&)>& function) {
  if (num_ranks < 1) throw base::InputError(fmt::format("{} processes; accepted: 1 and more", num_ranks));
  const auto world = std::make_shared<World>(num_ranks);
  {
    std::vector<std::jthread> threads;
    try {
      for (int rank = 0; rank < num_ranks; ++rank)
        threads.emplace_back([world, rank, &function] {
          try {
            function(std::make_shared<const VirtualProcess>(world, rank));
          } catch (...) {
            world->fail(std::current_exception());
          }
          world->end(rank);
        });
    } catch (const std::system_error& error) { // the failure ends the calls of those that run
      world->fail(std::make_exception_ptr(base::EnvironmentError(fmt::format(
          "only {} of {} virtual processes could be started: {}", threads.size(), num_ranks, error.what()))));
    }
  }
  world->rethrow_failure();
}

} // namespace rafter::comm
