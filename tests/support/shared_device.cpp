// SPDX-License-Identifier: BSD-3-Clause
#include <tests/support/shared_device.hpp>

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace rafter::test {
namespace {

std::vector<SharedDevice*>& shared_devices() {
  static std::vector<SharedDevice*> all;
  return all;
}

class EndOfSharedDevices final : public ::testing::Environment {
  void TearDown() override {
    for (auto* device : shared_devices()) device->end();
  }
};

[[maybe_unused]] const auto* const end_of_shared_devices =
    ::testing::AddGlobalTestEnvironment(new EndOfSharedDevices); // GoogleTest owns it

} // namespace

SharedDevice::SharedDevice(std::function<std::shared_ptr<device::Device>()> make) : make_(std::move(make)) {
  shared_devices().push_back(this);
}

const std::shared_ptr<device::Device>& SharedDevice::get() {
  if (device_ == nullptr) device_ = make_();
  return device_;
}

} // namespace rafter::test
