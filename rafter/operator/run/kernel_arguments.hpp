// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <rafter/device/buffer_registry.hpp>
#include <rafter/schedule/loop_program.hpp>

namespace rafter::tune {
struct GeneratedProgram;
} // namespace rafter::tune

namespace rafter::op {

/// Says whether a buffer of this role and number is among the arguments of a kernel.
bool reads(const std::vector<schedule::LoopBuffer>& arguments, std::string_view role, int index);

/// A compiled kernel with its arguments and its launch. Arguments are bound by their roles: those that stay are looked
/// up once; the others, vectors above all, are looked up before each run. Runs at the same time have copies of their
/// own.
class KernelArguments {
public:
  /// `kept` holds the arguments that stay; the others are bound by bind(). Throws InternalError for an argument whose
  /// registered buffer was never made.
  KernelArguments(std::shared_ptr<const device::Kernel> kernel, const std::vector<schedule::LoopBuffer>& arguments,
                  const device::Launch& launch, const device::BufferRegistry& kept);
  KernelArguments(const device::Program& compiled, const tune::GeneratedProgram& program,
                  const device::BufferRegistry& kept);

  /// Binds the arguments that do not stay, each from the first registry that holds it. Throws InternalError for one
  /// that neither holds.
  void bind(const device::BufferRegistry& run, const device::BufferRegistry& own = {});
  /// Says whether an argument of this role, with number 0, is among those that do not stay.
  bool binds(std::string_view role) const;

  /// Returns a task that runs batches begin .. end - 1 on what was bound last. The task refers to this object.
  device::Task task(std::int64_t begin, std::int64_t end) const {
    return {kernel_.get(), buffers_, begin, end, offsets_, launch_};
  }

private:
  /// An argument that does not stay.
  struct Open {
    std::size_t place = 0;
    std::string name, role;
    int index = 0;
  };
  void set(const Open& argument, const device::Binding& binding);
  std::shared_ptr<const device::Kernel> kernel_;
  std::shared_ptr<const std::vector<Open>> open_; ///< shared by all copies
  device::Launch launch_;
  std::vector<device::Buffer*> buffers_;
  std::vector<std::size_t> offsets_;
};

} // namespace rafter::op
