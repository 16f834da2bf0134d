// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <rafter/base/error.hpp>
#include <rafter/comm/communicator.hpp>

namespace rafter::comm {
namespace {

/// Ends the calls of processes that wait for one that has failed; nobody outside sees it.
struct OtherHasFailed final : std::exception {
  const char* what() const noexcept override { return "another process has failed"; }
};

/// What the virtual processes share.
class World {
public:
  explicit World(int num_ranks)
      : num_ranks_(static_cast<std::size_t>(num_ranks)), values_(num_ranks_), mail_(num_ranks_ * num_ranks_) {}
  int num_ranks() const { return static_cast<int>(num_ranks_); }

  /// Calls visit(rank, values) in the order of ranks with what each process has given. All give as many numbers.
  template <class Visit> void for_all(int rank, std::vector<double> own, const Visit& visit) {
    const std::size_t count = own.size();
    {
      const std::lock_guard lock(mutex_);
      values_[static_cast<std::size_t>(rank)] = std::move(own);
    }
    wait_for_all();
    for (std::size_t r = 0; r < num_ranks_; ++r)
      if (values_[r].size() != count)
        throw base::InternalError(
            fmt::format("process {} gives {} numbers where process {} gives {}", r, values_[r].size(), rank, count));
    for (std::size_t r = 0; r < num_ranks_; ++r) visit(r, std::as_const(values_[r]));
    wait_for_all(); // before anybody gives the next ones
  }

  void send(int from, int to, std::span<const std::byte> bytes) {
    {
      const std::lock_guard lock(mutex_);
      box(from, to).emplace_back(bytes.begin(), bytes.end());
    }
    changed_.notify_all();
  }

  void receive(int from, int to, std::span<std::byte> bytes) {
    std::unique_lock lock(mutex_);
    auto& messages = box(from, to);
    changed_.wait(lock, [&] { return has_failed_ || !messages.empty(); });
    if (has_failed_) throw OtherHasFailed();
    const auto message = std::move(messages.front());
    messages.pop_front();
    if (message.size() != bytes.size())
      throw base::InternalError(fmt::format("process {} sends {} bytes to process {}, which expects {}", from,
                                            message.size(), to, bytes.size()));
    std::ranges::copy(message, bytes.begin());
  }

  void fail(std::exception_ptr failure) {
    {
      const std::lock_guard lock(mutex_);
      if (!has_failed_) failure_ = std::move(failure);
      has_failed_ = true;
    }
    changed_.notify_all();
  }
  /// After all processes have ended.
  void rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

private:
  std::deque<std::vector<std::byte>>& box(int from, int to) {
    return mail_[static_cast<std::size_t>(from) * num_ranks_ + static_cast<std::size_t>(to)];
  }
  void wait_for_all() {
    std::unique_lock lock(mutex_);
    const auto round = round_;
    if (++num_waiting_ == num_ranks_) {
      num_waiting_ = 0;
      ++round_;
      changed_.notify_all();
    } else
      changed_.wait(lock, [&] { return has_failed_ || round_ != round; });
    if (has_failed_ && round_ == round) throw OtherHasFailed();
  }

  const std::size_t num_ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::vector<double>> values_;              ///< shape (rank)
  std::vector<std::deque<std::vector<std::byte>>> mail_; ///< shape (from, to)
  std::size_t num_waiting_ = 0;
  std::uint64_t round_ = 0; ///< of waiting for all
  bool has_failed_ = false;
  std::exception_ptr failure_;
};

class VirtualProcess final : public Communicator {
public:
  VirtualProcess(std::shared_ptr<World> world, int rank) : world_(std::move(world)), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return world_->num_ranks(); }

  void sum(std::span<double> values) const override {
    reduce(values, [](double a, double b) { return a + b; });
  }
  void max(std::span<double> values) const override {
    reduce(values, [](double a, double b) { return std::max(a, b); });
  }
  std::vector<std::int64_t> gather(std::int64_t value) const override {
    std::vector<std::int64_t> result;
    world_->for_all(rank_, {as_number(value)}, [&](std::size_t, const std::vector<double>& values) {
      result.push_back(static_cast<std::int64_t>(values.front()));
    });
    return result;
  }
  std::vector<std::int64_t> exchange_counts(std::span<const std::int64_t> to_each) const override {
    std::vector<double> numbers;
    for (const auto count : to_each) numbers.push_back(as_number(count));
    std::vector<std::int64_t> result;
    world_->for_all(rank_, std::move(numbers), [&](std::size_t, const std::vector<double>& values) {
      result.push_back(static_cast<std::int64_t>(values.at(static_cast<std::size_t>(rank_))));
    });
    return result;
  }

  std::unique_ptr<Exchange> start(std::span<const Outgoing> outgoing,
                                  std::span<const Incoming> incoming) const override {
    for (const auto& message : outgoing) world_->send(rank_, message.rank, message.bytes);
    return std::make_unique<Mail>(world_, rank_, incoming);
  }

private:
  class Mail final : public Exchange {
  public:
    Mail(std::shared_ptr<World> world, int rank, std::span<const Incoming> incoming)
        : world_(std::move(world)), rank_(rank), incoming_(incoming.begin(), incoming.end()) {}
    void finish() override {
      for (const auto& message : std::exchange(incoming_, {})) world_->receive(message.rank, rank_, message.bytes);
    }

  private:
    std::shared_ptr<World> world_;
    int rank_;
    std::vector<Incoming> incoming_;
  };

  /// Numbers of things fit into the 53 bits of a double.
  static double as_number(std::int64_t value) {
    if (value < 0 || value >= std::int64_t{1} << 53) throw base::InternalError("a count is out of range");
    return static_cast<double>(value);
  }
  template <class Combine> void reduce(std::span<double> values, const Combine& combine) const {
    std::vector<double> result;
    world_->for_all(rank_, {values.begin(), values.end()}, [&](std::size_t, const std::vector<double>& others) {
      if (result.empty())
        result = others;
      else
        std::ranges::transform(result, others, result.begin(), combine);
    });
    std::ranges::copy(result, values.begin());
  }

  std::shared_ptr<World> world_;
  int rank_;
};

} // namespace

void run_in_process(int num_ranks, const std::function<void(const std::shared_ptr<const Communicator>&)>& function) {
  if (num_ranks < 1) throw base::InputError(fmt::format("{} processes; accepted: 1 and more", num_ranks));
  const auto world = std::make_shared<World>(num_ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < num_ranks; ++rank)
    threads.emplace_back([world, rank, &function] {
      try {
        function(std::make_shared<const VirtualProcess>(world, rank));
      } catch (...) {
        world->fail(std::current_exception());
      }
    });
  for (auto& thread : threads) thread.join();
  world->rethrow_failure();
}

} // namespace rafter::comm
