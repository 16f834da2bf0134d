// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <memory>

#include <rafter/device/opencl/opencl_device.hpp>
#include <rafter/device/opencl/opencl_library.hpp>

#include <tests/support/shared_device.hpp>

namespace rafter::test {

/// Calls of a driver that wait for what a device has to do before, and the largest of its reads.
struct DriverWaits {
  int reads = 0, writes = 0, finishes = 0;
  std::size_t largest_read = 0;
  bool operator==(const DriverWaits&) const = default;
};

/// An OpenCL device whose driver is the machine's, with its waits counted. There is one, so that all tests share its
/// compiled programs.
class CountedOpenCl {
public:
  static const std::shared_ptr<device::Device>& device() {
    static SharedDevice device(
        [] { return std::make_shared<device::OpenClDevice>(device::OpenClOptions{.library = counting_library()}); });
    return device.get();
  }
  /// The waits while a function runs.
  template <class Function> static DriverWaits waits_of(const Function& function) {
    waits() = {};
    function();
    return waits();
  }

private:
  static DriverWaits& waits() {
    static DriverWaits waits;
    return waits;
  }
  static const device::OpenClLibrary& real() {
    static const auto library = device::OpenClLibrary::instance();
    return *library;
  }
  /// The functions of the loader, some of which count their calls before they do what they do.
  static std::shared_ptr<const device::OpenClLibrary> counting_library() {
    auto result = std::make_shared<device::OpenClLibrary>(real());
    result->read_buffer = [](cl_command_queue queue, cl_mem buffer, cl_bool waits_for_it, size_t offset, size_t bytes,
                             void* to, auto... events) {
      ++waits().reads;
      waits().largest_read = std::max(waits().largest_read, bytes);
      return real().read_buffer(queue, buffer, waits_for_it, offset, bytes, to, events...);
    };
    result->write_buffer = [](auto... arguments) {
      ++waits().writes;
      return real().write_buffer(arguments...);
    };
    result->finish = [](cl_command_queue queue) {
      ++waits().finishes;
      return real().finish(queue);
    };
    return result;
  }
};

} // namespace rafter::test
