// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/thread_team.hpp>

#include <algorithm>

namespace rafter::solvers {

ThreadTeam::ThreadTeam(int num_threads) {
  const auto num_workers = static_cast<std::size_t>(std::max(num_threads, 1) - 1);
  workers_.reserve(num_workers);
  for (std::size_t rank = 1; rank <= num_workers; ++rank) workers_.emplace_back([this, rank] { work(rank); });
}

ThreadTeam::~ThreadTeam() {
  is_closing_.store(true);
  generation_.fetch_add(1);
  generation_.notify_all();
  for (auto& worker : workers_) worker.join();
}

void ThreadTeam::run_part(std::size_t rank) const {
  const std::size_t parts = workers_.capacity() + 1;
  const std::size_t begin = count_ * rank / parts, end = count_ * (rank + 1) / parts;
  if (begin < end) (*task_)(begin, end);
}

void ThreadTeam::work(std::size_t rank) {
  for (std::uint32_t seen = 0;;) {
    generation_.wait(seen);
    seen = generation_.load();
    if (is_closing_.load()) return;
    run_part(rank);
    if (num_pending_.fetch_sub(1) == 1) num_pending_.notify_one();
  }
}

void ThreadTeam::run(std::size_t count, const std::function<void(std::size_t, std::size_t)>& task) {
  if (workers_.empty() || count < 2) {
    if (count > 0) task(0, count);
    return;
  }
  task_ = &task;
  count_ = count;
  num_pending_.store(static_cast<std::uint32_t>(workers_.size()));
  generation_.fetch_add(1);
  generation_.notify_all();
  run_part(0);
  for (std::uint32_t left; (left = num_pending_.load()) != 0;) num_pending_.wait(left);
}

} // namespace rafter::solvers
