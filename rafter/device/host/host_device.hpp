// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/device/device.hpp>
#include <rafter/device/host/compiler.hpp>
#include <rafter/device/host/program_cache.hpp>
#include <rafter/device/host/shared_library.hpp>
#include <rafter/device/host/thread_pool.hpp>

namespace rafter::device {

/// The processor that runs this program. Kernels are C, compiled by the system's compiler, and run on a pool of
/// threads.
class HostDevice final : public Device {
public:
  /// Uses all cores that the process may use if num_threads is 0. Throws InputError for negative and unreasonably large
  /// numbers.
  explicit HostDevice(int num_threads = 0, CacheDirectory directory = CacheDirectory());

  std::string name() const override { return "host"; }
  int num_threads() const override { return pool_.num_threads(); }
  std::vector<std::string> compilers() const override { return available_compilers(); }
  std::vector<std::string> flag_sets() const override { return flag_set_names(); }
  bool shares_host_memory() const override { return true; }
  std::shared_ptr<Buffer> allocate(std::size_t bytes) override;
  std::shared_ptr<Buffer> wrap(void* host, std::size_t bytes) override;
  std::shared_ptr<const Program> find(const std::string& source, const CompileOptions& options) override;
  std::shared_ptr<const Program> compile(const std::string& source, const CompileOptions& options = {}) override;
  std::shared_ptr<Event> run(std::span<const Task> tasks) override;
  void parallel_for(std::int64_t count, const std::function<void(std::int64_t)>& body) override;

private:
  ProgramCache cache_;
  ThreadPool pool_;
};

/// Runs one task on the calling thread. Throws InternalError for a kernel that was not made for the host.
void run_task(const Task& task);

/// An event that is complete already.
std::shared_ptr<Event> done();

} // namespace rafter::device
