// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rafter/device/device.hpp>

namespace rafter::problem {

/// This keeps the wall-clock seconds of each phase of a run, and what it copies between host and device.
class Phases {
public:
  /// Counts what is copied to and from a device that has memory of its own.
  void watch(std::shared_ptr<const device::Device> device);
  /// Ends the phase that runs and starts another, or goes on with it if it has that name.
  void start(const std::string& name);
  void stop();
  /// Makes one phase of this name of all that have been.
  void merge(const std::string& name);
  const std::vector<std::pair<std::string, double>>& seconds() const { return seconds_; }
  /// Copies of each phase; empty where the device shares the memory of the host.
  const std::vector<std::pair<std::string, device::Copies>>& copies() const { return copies_; }

private:
  void add_copies(const std::string& name, const device::Copies& copies);
  using Clock = std::chrono::steady_clock;
  std::vector<std::pair<std::string, double>> seconds_;
  std::vector<std::pair<std::string, device::Copies>> copies_;
  std::shared_ptr<const device::Device> device_; ///< null: it shares the memory of the host
  device::Copies before_;                        ///< copies before the phase that runs
  Clock::time_point begin_;
  bool is_running_ = false;
};

} // namespace rafter::problem
