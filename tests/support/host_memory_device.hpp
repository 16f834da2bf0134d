// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstring>
#include <memory>
#include <utility>

#include <rafter/base/error.hpp>
#include <rafter/device/host/host_device.hpp>

/// Some devices of the tests work in the memory of this program on one thread; they share this base.
namespace rafter::test {

class HostMemoryDevice : public device::Device {
public:
  int num_threads() const final { return 1; }
  bool shares_host_memory() const final { return true; }
  std::shared_ptr<device::Buffer> allocate(std::size_t) final { throw base::InternalError("memory is shared"); }
  std::shared_ptr<device::Buffer> wrap(void* host, std::size_t bytes) final {
    return std::make_shared<Memory>(host, bytes);
  }

private:
  class Memory final : public device::Buffer {
  public:
    Memory(void* host, std::size_t bytes) : host_(host), bytes_(bytes) {}
    std::size_t size_bytes() const override { return bytes_; }
    void* handle() const override { return host_; }

  private:
    void write(const void*, std::size_t, std::size_t) override { throw base::InternalError("memory is shared"); }
    void read(void*, std::size_t, std::size_t) const override { throw base::InternalError("memory is shared"); }
    void copy(const device::Buffer& source, std::size_t bytes, std::size_t source_offset, std::size_t offset) override {
      std::memmove(at(offset), static_cast<const std::byte*>(source.handle()) + source_offset, bytes);
    }
    void set_to_zero(std::size_t bytes, std::size_t offset) override { std::memset(at(offset), 0, bytes); }
    std::byte* at(std::size_t offset) const { return static_cast<std::byte*>(host_) + offset; }
    void* host_;
    std::size_t bytes_;
  };
};

} // namespace rafter::test
