// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace rafter::solvers {

/// Threads that stay alive between the short loops of a solver. Which thread does what never shows in results: the
/// loops work on fixed blocks and combine their results in block order.
class ThreadTeam {
public:
  explicit ThreadTeam(int num_threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int num_threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls task(begin, end) for contiguous parts of 0 .. count-1, one per thread, and waits for all. `task` must not
  /// throw; one run at a time.
  void run(std::size_t count, const std::function<void(std::size_t, std::size_t)>& task);

private:
  void work(std::size_t rank);
  void run_part(std::size_t rank) const;
  const std::function<void(std::size_t, std::size_t)>* task_ = nullptr;
  std::size_t count_ = 0;
  std::atomic<std::uint32_t> generation_{0}; ///< raised to start a run
  std::atomic<std::uint32_t> num_pending_{0};
  std::atomic<bool> is_closing_{false};
  std::vector<std::thread> workers_;
};

} // namespace rafter::solvers
