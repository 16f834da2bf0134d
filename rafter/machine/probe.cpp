// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <rafter/base/error.hpp>
#include <rafter/base/parallel.hpp>
#include <rafter/base/timing.hpp>
#include <rafter/device/array.hpp>
#include <rafter/device/compile_all.hpp>
#include <rafter/device/host/compiler.hpp>
#include <rafter/device/host/cpu.hpp>
#include <rafter/device/host/host_device.hpp>
#include <rafter/machine/caches.hpp>
#include <rafter/machine/machine.hpp>
#include <rafter/machine/probe_kernels.hpp>
#include <rafter/machine/record_file.hpp>

namespace rafter::machine {
namespace {

using device::Vector;

/// The compiler must keep the loops as they are written; in particular, scalar ones must stay scalar.
const device::CompileOptions as_written{.flag_set = "default",
                                        .flags = {"-fno-tree-vectorize", "-fno-tree-slp-vectorize"}};

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Probe {
public:
  explicit Probe(const ProbeOptions& options)
      : device_(std::make_shared<device::HostDevice>(options.cores)), cores_(device_->num_threads()),
        widths_(device::register_bits(device::cpu())), sizes_(cache_sizes()),
        results_(device_, std::size_t(cores_) * result_stride), block_bytes_(memory_block(options)) {
    std::vector<std::string> sources{bandwidth_source(), gather_source()};
    for (const int bits : widths_) sources.push_back(arithmetic_source(bits));
    sources.push_back(product_source(widths_.back()));
    programs_ = device::compile_all(*device_, sources, as_written);
    // Memory takes half of the time, because passes through its long block take long and several are needed.
    const double num_runs = (cores_ > 1 ? 2.0 : 1.0) * double(4 * widths_.size() + 4 * sizes_.size() + 3);
    seconds_per_run_ = 0.5 * options.seconds / num_runs;
    memory_seconds_per_run_ = 0.5 * options.seconds / (cores_ > 1 ? 8 : 4);
  }

  std::vector<Peak> peaks() {
    std::vector<Peak> result;
    for (std::size_t i = 0; i < widths_.size(); ++i)
      result.push_back({.bits = widths_[i],
                        .fma = flops(i, "fma", 2),
                        .add = flops(i, "add", 1),
                        .mul = flops(i, "mul", 1),
                        .single_fma = flops(i, "single_fma", 2)});
    return result;
  }

  std::vector<Level> levels() {
    block_ = Vector(device_, base::AlignedVector<double>(block_bytes_ / sizeof(double), 1.0));
    std::vector<Level> result;
    for (std::size_t i = 0; i < sizes_.size(); ++i)
      result.push_back(level(fmt::format("L{}", i + 1), sizes_[i], working_set(i), seconds_per_run_));
    const std::int64_t per_core = static_cast<std::int64_t>(block_bytes_) / cores_;
    result.push_back(level("memory", memory_size().total, per_core, memory_seconds_per_run_));
    return result;
  }

  /// `way`: "vector" or "scalar".
  Rate gather(const std::string& way) {
    const auto kernel = programs_[1]->kernel(way + "_gather");
    Vector parameters(device_, 1);
    const std::vector<device::Buffer*> arguments{parameters.device_write(), results_.device_write()};
    return both([&](int num_tasks) {
      return best_rate(*kernel, arguments, parameters.host_write()[0], num_tasks, double(num_tasks) * num_gathered,
                       seconds_per_run_);
    });
  }

  Rate matrix_product() {
    const auto kernel = programs_.back()->kernel("matrix_product");
    Vector parameters(device_, 1);
    Vector matrices(device_, base::AlignedVector<double>(std::size_t(cores_) * product_doubles, 1.0));
    const std::vector<device::Buffer*> arguments{parameters.device_write(), matrices.device_write(),
                                                 results_.device_write()};
    constexpr double work = 2.0 * product_order * product_order * product_order;
    return both([&](int num_tasks) {
      return best_rate(*kernel, arguments, parameters.host_write()[0], num_tasks, num_tasks * work, seconds_per_run_);
    });
  }

  int cores() const { return cores_; }
  double steadiness() const { return base::median(steadiness_); }
  double cpu_share() const { return std::min(1.0, cpu_seconds_ / core_seconds_); }
  std::size_t block_bytes() const { return block_bytes_; }

private:
  std::size_t memory_block(const ProbeOptions& options) const {
    constexpr std::int64_t most = std::int64_t(1) << 30;
    const std::int64_t wanted = options.memory_bytes > 0 ? options.memory_bytes : std::min(most, 3 * sizes_.back());
    const std::int64_t largest_set = cores_ * working_set(sizes_.size() - 1);
    return static_cast<std::size_t>(std::max(std::min(wanted, memory_size().available / 8), largest_set));
  }

  /// Bytes per core that fit into a cache but not into the one before. Caches beyond the second are taken as shared.
  std::int64_t working_set(std::size_t i) const {
    if (i < 2) return sizes_[i] / 2;
    return std::max(std::min(sizes_[i] / (2 * cores_), 8 * sizes_[i - 1]), 2 * sizes_[i - 1]);
  }

  Rate flops(std::size_t width, const std::string& operation, int flops_per_update) {
    const bool is_single = operation.starts_with("single") && widths_[width] > 64;
    const int lanes = widths_[width] / (is_single ? 32 : 64);
    const auto kernel = programs_[width + 2]->kernel(fmt::format("{}_{}", operation, widths_[width]));
    // values that stay finite and normal under any number of updates x * 1 + 0
    Vector parameters(device_, base::AlignedVector<double>{1.0, 0.0, 0.0});
    const std::vector<device::Buffer*> arguments{parameters.device_write(), results_.device_write()};
    const double work = double(num_chains) * chain_length * lanes * flops_per_update;
    return both([&](int num_tasks) {
      return best_rate(*kernel, arguments, parameters.host_write()[2], num_tasks, num_tasks * work, seconds_per_run_);
    });
  }

  Level level(const std::string& name, std::int64_t bytes, std::int64_t bytes_per_core, double seconds) {
    const auto measured = [&](const char* kernel) {
      return bandwidth(kernel, name == "memory", bytes_per_core, seconds);
    };
    return {name, bytes, measured("read_block"), measured("triad"), measured("copy"), measured("streaming_copy")};
  }

  Rate bandwidth(const std::string& name, bool is_memory, std::int64_t bytes_per_core, double seconds) {
    const auto kernel = programs_[0]->kernel(name);
    Vector parameters(device_, 2);
    const std::vector<device::Buffer*> arguments{block_.device_write(), parameters.device_write(),
                                                 results_.device_write()};
    return both([&](int num_tasks) {
      // One core alone streams through the whole block, because its share could fit into a cache.
      const std::int64_t bytes = is_memory && num_tasks == 1 ? static_cast<std::int64_t>(block_bytes_) : bytes_per_core;
      const std::int64_t size = std::max<std::int64_t>(1, bytes / 8 / part_multiple) * part_multiple;
      parameters.host_write()[0] = static_cast<double>(size);
      const double work = 8.0 * static_cast<double>(size) * num_tasks;
      return best_rate(*kernel, arguments, parameters.host_write()[1], num_tasks, work, seconds);
    });
  }

  template <class Measure> Rate both(const Measure& measure) const {
    const double one = measure(1);
    // All cores together can do what one can; a lower rate was measured only because others used the machine.
    return {one, cores_ > 1 ? std::max(one, measure(cores_)) : one};
  }

  double run(const device::Kernel& kernel, std::span<device::Buffer* const> arguments, int num_tasks) {
    std::vector<device::Task> tasks;
    for (int i = 0; i < num_tasks; ++i) tasks.push_back({&kernel, arguments, i, i + 1});
    const double start = seconds_now();
    device_->run(tasks)->wait();
    return seconds_now() - start;
  }

  /// Work per second of the best run, because disturbances only slow down. Only runs of at least some milliseconds
  /// count towards steadiness, so that clock and start of the threads do not matter; the number of repeats grows after
  /// each shorter run, since one disturbed run may have been long enough by accident.
  double best_rate(const device::Kernel& kernel, std::span<device::Buffer* const> arguments, double& repeats,
                   int num_tasks, double work, double seconds) {
    const double shortest = std::min(2e-3, seconds / 4);
    double best = 0, spent = 0;
    std::vector<double> rates; // rates of runs that are long enough
    for (repeats = 1; spent < seconds || rates.size() < 2;) {
      const double cpu_start = base::cpu_seconds();
      const double last = run(kernel, arguments, num_tasks);
      spent += last;
      best = std::max(best, repeats * work / last);
      if (last >= shortest) {
        rates.push_back(repeats * work / last);
        cpu_seconds_ += std::min(base::cpu_seconds() - cpu_start, num_tasks * last); // idle threads may spin
        core_seconds_ += num_tasks * last;
      } else
        repeats = std::ceil(repeats * std::clamp(1.2 * shortest / std::max(last, 1e-9), 2.0, 1000.0));
    }
    steadiness_.push_back(base::median(rates) / best);
    return best;
  }

  std::shared_ptr<device::HostDevice> device_;
  int cores_;
  std::vector<int> widths_;
  std::vector<std::int64_t> sizes_;
  Vector results_;
  std::size_t block_bytes_;
  Vector block_;
  std::vector<std::shared_ptr<const device::Program>> programs_;
  double seconds_per_run_ = 0, memory_seconds_per_run_ = 0;
  std::vector<double> steadiness_; ///< steadiness of every figure
  double cpu_seconds_ = 0, core_seconds_ = 0;
};

} // namespace

Machine probe(const ProbeOptions& options) {
  Probe probe(options);
  Machine machine;
  machine.model = device::cpu().model;
  machine.vendor = device::cpu().vendor;
  machine.instruction_sets = device::cpu().instruction_sets;
  machine.cores = probe.cores();
  machine.peaks = probe.peaks();
  machine.levels = probe.levels();
  machine.vector_gather = probe.gather("vector");
  machine.scalar_gather = probe.gather("scalar");
  machine.matrix_product = probe.matrix_product();
  machine.measured_at = fmt::format(
      "{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
  machine.measured_with = std::string("rafter " RAFTER_VERSION ", ") + device::find_compiler().version;
  machine.streamed_bytes = static_cast<std::int64_t>(probe.block_bytes());
  machine.steadiness = probe.steadiness();
  machine.cpu_share = probe.cpu_share();
  return machine;
}

std::optional<Machine> load(int cores) {
  if (cores <= 0) cores = base::num_available_cores();
  return read_record(record_file(device::CacheDirectory(), "machine", cores), cores);
}

Machine load_or_probe(const ProbeOptions& options) {
  const int cores = options.cores > 0 ? options.cores : base::num_available_cores();
  const device::CacheDirectory directory;
  return kept_or_measured(record_file(directory, "machine", cores), cores, options, [&] { return probe(options); });
}

} // namespace rafter::machine
