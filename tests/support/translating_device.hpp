// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <memory>
#include <string>

#include <rafter/device/opencl/opencl_device.hpp>
#include <rafter/emit/c_family.hpp>
#include <tests/support/interpreter_device.hpp>

namespace rafter::test {

/// An interpreter that gives programs whose groups have items to another device instead, and takes back what they
/// wrote: whole operators are compared with kernels of the device, while everything else stays on the host.
class TranslatingDevice final : public InterpreterDevice {
public:
  /// Takes an OpenCL device.
  TranslatingDevice() : TranslatingDevice(std::make_shared<device::OpenClDevice>()) {}
  explicit TranslatingDevice(std::shared_ptr<device::Device> device) : device_(std::move(device)) {}

protected:
  void launch(const schedule::LoopProgram& program, std::span<const schedule::Argument> arguments, std::int64_t begin,
              std::int64_t end) override {
    auto& kernel = kernels_[schedule::print(program)];
    if (kernel == nullptr) kernel = device_->compile(emit::emit(program, device_->language()))->kernel(program.name);
    std::vector<std::shared_ptr<device::Buffer>> buffers;
    std::vector<device::Buffer*> pointers;
    const auto declared = program.arguments();
    for (std::size_t i = 0; i < declared.size(); ++i) {
      const auto bytes = bytes_of(declared[i], arguments[i]);
      buffers.push_back(device_->allocate(bytes.size()));
      buffers.back()->copy_from_host(bytes.data(), bytes.size());
      pointers.push_back(buffers.back().get());
    }
    const device::Task task{
        .kernel = kernel.get(), .arguments = pointers, .begin = begin, .end = end, .launch = program.launch};
    device_->run(std::span(&task, 1))->wait();
    for (std::size_t i = 0; i < declared.size(); ++i)
      if (declared[i].is_written) {
        const auto bytes = bytes_of(declared[i], arguments[i]);
        buffers[i]->copy_to_host(bytes.data(), bytes.size());
      }
  }

private:
  static std::span<std::byte> bytes_of(const schedule::LoopBuffer& buffer, const schedule::Argument& argument) {
    if (buffer.type == schedule::Type::real) return std::as_writable_bytes(argument.reals);
    if (buffer.type == schedule::Type::real32) return std::as_writable_bytes(argument.singles);
    return std::as_writable_bytes(argument.integers);
  }

  std::shared_ptr<device::Device> device_;
  std::map<std::string, std::shared_ptr<const device::Kernel>>
      kernels_; ///< kernels that were translated, keyed by the text of the program
};

} // namespace rafter::test
