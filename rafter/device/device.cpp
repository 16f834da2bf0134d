// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/device.hpp>

#include <array>
#include <charconv>
#include <optional>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/device/checked/checked_device.hpp>
#include <rafter/device/gpu/gpu_device.hpp>
#include <rafter/device/host/host_device.hpp>
#include <rafter/device/opencl/opencl_device.hpp>

namespace rafter::device {
namespace {

/// A device by its name, and the function that makes it.
struct Registration {
  const char* name;
  std::shared_ptr<Device> (*make)(std::optional<int> number, int num_threads);
  bool has_several = false; ///< a machine may have several of this kind, which are numbered from 0
};

const std::array registrations{
    Registration{"host",
                 [](std::optional<int>, int num_threads) -> std::shared_ptr<Device> {
                   return std::make_shared<HostDevice>(num_threads);
                 }},
    Registration{"checked",
                 [](std::optional<int>, int) -> std::shared_ptr<Device> { return std::make_shared<CheckedDevice>(); }},
    Registration{"opencl",
                 [](std::optional<int> number, int) -> std::shared_ptr<Device> {
                   return std::make_shared<OpenClDevice>(OpenClOptions{.number = number});
                 },
                 true},
    Registration{"cuda",
                 [](std::optional<int> number, int) -> std::shared_ptr<Device> {
                   return std::make_shared<GpuDevice>(cuda(), GpuOptions{.number = number.value_or(0)});
                 },
                 true},
    Registration{"hip",
                 [](std::optional<int> number, int) -> std::shared_ptr<Device> {
                   return std::make_shared<GpuDevice>(hip(), GpuOptions{.number = number.value_or(0)});
                 },
                 true},
};

/// The device that a text names: "name", or "name:2" for the third of its kind.
struct Name {
  bool is_right = false; ///< the text names a device of this kind
  std::optional<int> number = {};
};
Name read_name(const std::string& text, const Registration& registration) {
  const std::string name = registration.name;
  if (text == name) return {.is_right = true};
  if (!registration.has_several || !text.starts_with(name + ":")) return {};
  int number = 0;
  const char* const first = text.data() + name.size() + 1;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(first, last, number);
  return {.is_right = error == std::errc() && end == last && number >= 0, .number = number};
}

[[noreturn]] void throw_unknown(const std::string& name) {
  std::vector<std::string> candidates;
  for (const auto& registration : registrations) candidates.emplace_back(registration.name);
  throw base::InputError("unknown device '" + name + "'" + base::suggestion(name, candidates) +
                         "; accepted: " + base::join(candidates, ", ") + " (the last three also as 'cuda:1')");
}

} // namespace

void Buffer::require_inside(std::size_t bytes, std::size_t offset) const {
  if (offset > size_bytes() || bytes > size_bytes() - offset)
    throw base::InternalError("copy of " + std::to_string(bytes) + " bytes behind the first " + std::to_string(offset) +
                              " of a buffer of " + std::to_string(size_bytes()));
}

std::shared_ptr<Device> make_device(const std::string& name, int num_threads) {
  for (const auto& registration : registrations) {
    const auto read = read_name(name, registration);
    if (!read.is_right) continue;
    return registration.make(read.number, num_threads);
  }
  throw_unknown(name);
}

} // namespace rafter::device
