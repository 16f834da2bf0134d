// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>

#include <tests/support/host_memory_device.hpp>

/// This device takes source in any language but neither compiles nor runs it, for tests of generated text.
namespace rafter::test {

class TextDevice final : public HostMemoryDevice {
public:
  explicit TextDevice(std::string language = "c", device::Capabilities capabilities = {})
      : language_(std::move(language)), capabilities_(std::move(capabilities)) {}
  std::string language() const override { return language_; }
  device::Capabilities capabilities() const override { return capabilities_; }
  std::string name() const override { return "text"; }
  std::shared_ptr<const device::Program> compile(const std::string&, const device::CompileOptions&) override {
    return std::make_shared<Nothing>();
  }
  std::shared_ptr<device::Event> run(std::span<const device::Task>) override { return device::done(); }

private:
  struct Entry final : device::Kernel {
    explicit Entry(std::string n) : own_name(std::move(n)) {}
    const std::string& name() const override { return own_name; }
    std::string own_name;
  };
  struct Nothing final : device::Program {
    std::shared_ptr<const device::Kernel> kernel(const std::string& name) const override {
      return std::make_shared<Entry>(name);
    }
  };
  std::string language_;
  device::Capabilities capabilities_;
};

} // namespace rafter::test
