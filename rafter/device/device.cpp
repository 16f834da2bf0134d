// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/device.hpp>

#include <algorithm>
#include <array>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/device/checked/checked_device.hpp>
#include <rafter/device/host/host_device.hpp>

namespace rafter::device {
namespace {

/// A device by its name, and the function that makes it; null where this build has no such device.
struct Registration {
  const char* name;
  std::shared_ptr<Device> (*make)(int num_threads);
};

const std::array registrations{
    Registration{"host",
                 [](int num_threads) -> std::shared_ptr<Device> { return std::make_shared<HostDevice>(num_threads); }},
    Registration{"checked", [](int) -> std::shared_ptr<Device> { return std::make_shared<CheckedDevice>(); }},
    Registration{"opencl", nullptr},
    Registration{"cuda", nullptr},
    Registration{"hip", nullptr},
};

/// Says whether a text names the device: "name", or "name:2" for kinds of which a machine may have several.
bool names(const std::string& text, const Registration& registration) {
  const std::string name = registration.name;
  if (text == name) return true;
  if (registration.make != nullptr || !text.starts_with(name + ":")) return false;
  const std::string index = text.substr(name.size() + 1);
  return !index.empty() && std::ranges::all_of(index, [](char c) { return c >= '0' && c <= '9'; });
}

[[noreturn]] void throw_unknown(const std::string& name) {
  std::vector<std::string> candidates;
  for (const auto& registration : registrations) candidates.emplace_back(registration.name);
  throw base::InputError("unknown device '" + name + "'" + base::suggestion(name, candidates) +
                         "; accepted: " + base::join(candidates, ", ") + " (the last three also as 'cuda:1')");
}

} // namespace

std::shared_ptr<Device> make_device(const std::string& name, int num_threads) {
  const auto found = std::ranges::find_if(registrations, [&name](const auto& entry) { return names(name, entry); });
  if (found == registrations.end()) throw_unknown(name);
  if (found->make == nullptr)
    throw base::EnvironmentError("device '" + name + "': operators do not run on " + std::string(found->name) +
                                 " devices yet; available: host, checked");
  return found->make(num_threads);
}

} // namespace rafter::device
