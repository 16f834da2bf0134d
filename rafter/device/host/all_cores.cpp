// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/host/all_cores.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <rafter/device/host/cpu.hpp>
#include <thread>
#include <vector>

namespace rafter::device {

void on_all_cores(std::size_t count, const std::function<void(std::size_t)>& body) {
  std::vector<std::exception_ptr> failures(count);
  std::atomic<std::size_t> next = 0;
  const auto work = [&body, &failures, &next, count] {
    for (std::size_t i = next++; i < count; i = next++) try {
        body(i);
      } catch (...) {
        failures[i] = std::current_exception();
      }
  };
  {
    std::vector<std::jthread> helpers;
    const std::size_t num_threads = std::min(count, static_cast<std::size_t>(num_available_cores()));
    for (std::size_t i = 1; i < num_threads; ++i) helpers.emplace_back(work);
    work();
  }
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

} // namespace rafter::device
