// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <memory>

#include <rafter/device/device.hpp>

namespace rafter::test {

/// A device that the tests of a program share, since a driver builds the programs of each device anew. It is made when
/// a test first asks for it, and ends behind the last test, with what its queue still holds: threads of a driver that
/// run or compile kernels while the process ends find static objects of the driver's compiler gone. Objects of this
/// class are static.
class SharedDevice {
public:
  explicit SharedDevice(std::function<std::shared_ptr<device::Device>()> make);
  SharedDevice(const SharedDevice&) = delete;
  SharedDevice& operator=(const SharedDevice&) = delete;

  const std::shared_ptr<device::Device>& get();
  void end() { device_.reset(); }

private:
  std::function<std::shared_ptr<device::Device>()> make_;
  std::shared_ptr<device::Device> device_;
};

} // namespace rafter::test
