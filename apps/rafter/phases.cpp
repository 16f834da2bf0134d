// SPDX-License-Identifier: BSD-3-Clause
#include "phases.hpp"

namespace rafter::app {

void Phases::watch(std::shared_ptr<const device::Device> device) {
  if (!device->shares_host_memory()) device_ = std::move(device);
}

void Phases::start(const std::string& name) {
  stop();
  seconds_.emplace_back(name, 0.0);
  if (device_ != nullptr) before_ = device_->copies();
  begin_ = Clock::now();
  is_running_ = true;
}

void Phases::stop() {
  if (is_running_) seconds_.back().second = std::chrono::duration<double>(Clock::now() - begin_).count();
  if (is_running_ && device_ != nullptr) copies_.emplace_back(seconds_.back().first, device_->copies() - before_);
  is_running_ = false;
}

void Phases::merge(const std::string& name) {
  stop();
  double sum = 0;
  for (const auto& [phase, seconds] : seconds_) sum += seconds;
  seconds_ = {{name, sum}};
  if (copies_.empty()) return;
  device::Copies all;
  for (const auto& [phase, copies] : copies_) {
    all.bytes_to_device += copies.bytes_to_device;
    all.bytes_to_host += copies.bytes_to_host;
    all.num_to_device += copies.num_to_device;
    all.num_to_host += copies.num_to_host;
  }
  copies_ = {{name, all}};
}

} // namespace rafter::app
