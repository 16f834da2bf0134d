// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/problem/phases.hpp>

#include <utility>

namespace rafter::problem {

void Phases::watch(std::shared_ptr<const device::Device> device) {
  if (!device->shares_host_memory()) device_ = std::move(device);
}

void Phases::start(const std::string& name) {
  stop();
  if (seconds_.empty() || seconds_.back().first != name) seconds_.emplace_back(name, 0.0);
  if (device_ != nullptr) before_ = device_->copies();
  begin_ = Clock::now();
  is_running_ = true;
}

void Phases::stop() {
  if (is_running_) seconds_.back().second += std::chrono::duration<double>(Clock::now() - begin_).count();
  if (is_running_ && device_ != nullptr) add_copies(seconds_.back().first, device_->copies() - before_);
  is_running_ = false;
}

void Phases::merge(const std::string& name) {
  stop();
  double sum = 0;
  for (const auto& [phase, seconds] : seconds_) sum += seconds;
  seconds_ = {{name, sum}};
  for (const auto& [phase, copies] : std::exchange(copies_, {})) add_copies(name, copies);
}

void Phases::add_copies(const std::string& name, const device::Copies& copies) {
  if (copies_.empty() || copies_.back().first != name) copies_.emplace_back(name, device::Copies());
  auto& sum = copies_.back().second;
  sum.bytes_to_device += copies.bytes_to_device;
  sum.bytes_to_host += copies.bytes_to_host;
  sum.num_to_device += copies.num_to_device;
  sum.num_to_host += copies.num_to_host;
}

} // namespace rafter::problem
