// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>

#include <rafter/base/error.hpp>
#include <rafter/device/device.hpp>

/// A device that takes C source, compiles nothing and runs nothing: for tests of what is generated.
namespace rafter::test {

class TextDevice final : public device::Device {
public:
  std::string name() const override { return "text"; }
  int num_threads() const override { return 1; }
  bool shares_host_memory() const override { return true; }
  std::shared_ptr<device::Buffer> allocate(std::size_t) override { throw base::InternalError("memory is shared"); }
  std::shared_ptr<device::Buffer> wrap(void* host, std::size_t bytes) override {
    return std::make_shared<Memory>(host, bytes);
  }
  std::shared_ptr<const device::Program> compile(const std::string&, const device::CompileOptions&) override {
    return std::make_shared<Nothing>();
  }
  std::shared_ptr<device::Event> run(std::span<const device::Task>) override { return std::make_shared<Done>(); }

private:
  struct Memory final : device::Buffer {
    Memory(void* h, std::size_t b) : host(h), bytes(b) {}
    std::size_t size_bytes() const override { return bytes; }
    void copy_from_host(const void*, std::size_t) override {}
    void copy_to_host(void*, std::size_t) const override {}
    void* handle() const override { return host; }
    void* host;
    std::size_t bytes;
  };
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
  struct Done final : device::Event {
    void wait() override {}
  };
};

} // namespace rafter::test
