// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/tune/device_probe.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/timing.hpp>
#include <rafter/device/array.hpp>
#include <rafter/device/compile_all.hpp>
#include <rafter/emit/c_family.hpp>
#include <rafter/machine/estimate.hpp>
#include <rafter/tune/device_probe_programs.hpp>
#include <rafter/tune/kernel_text_cache.hpp>
#include <rafter/tune/store.hpp>

namespace rafter::tune {
namespace {

using machine::Rate;

constexpr std::array moves{"read", "copy", "triad"};

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The same rate for one core and for all: devices have one.
Rate whole(double value) { return {value, value}; }

constexpr int bits_of_double = 64;

/// Programs for a device. Tiles of products of matrices have 16 numbers where these are vector registers of a
/// processor, whose compilers make vectors of text without loops alone; 64 for items that have registers of their own.
ProbePrograms programs_for(const device::Capabilities& device) {
  return {.items = std::clamp(device.most_items, 1, 128),
          .tile = device.is_processor ? 4 : 8,
          .product_depth = device.is_processor ? 32 : 128};
}

class DeviceProbe {
public:
  DeviceProbe(std::shared_ptr<device::Device> device, const DeviceProbeOptions& options)
      : device_(std::move(device)), capabilities_(device_->capabilities()), programs_(programs_for(capabilities_)),
        seconds_per_rate_(options.seconds / num_rates), numbers_(block_numbers(options)), y_(device_, numbers_),
        x_(device_, numbers_), z_(device_, numbers_) {
    compile();
  }

  machine::DeviceRecord record() {
    machine::DeviceRecord result;
    auto& machine = result.machine;
    machine.model = capabilities_.description;
    machine.vendor = capabilities_.version;
    machine.cores = 1;
    machine.peaks = {{.bits = bits_of_double * capabilities_.vector_width,
                      .fma = whole(arithmetic("fma", schedule::Type::real)),
                      .add = whole(arithmetic("add", schedule::Type::real)),
                      .mul = whole(arithmetic("mul", schedule::Type::real)),
                      .single_fma = whole(arithmetic("fma", schedule::Type::real32))}};
    machine.matrix_product = whole(matrix_product());
    machine.levels = levels(machine.peaks.front().fma.one_core);
    result.shared = shared_level();
    machine.measured_at = fmt::format(
        "{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
    machine.measured_with = "rafter " RAFTER_VERSION ", " + device_->name();
    machine.streamed_bytes = static_cast<std::int64_t>(3 * numbers_ * sizeof(double));
    result.capabilities = capabilities_;
    result.launch_seconds = launch_seconds();
    result.bytes_to_device_per_second = copies(true);
    result.bytes_to_host_per_second = copies(false);
    machine.steadiness = base::median(steadiness_);
    return result;
  }

private:
  static constexpr int num_rates = 4 + 1 + 3 + 3 + 8;

  /// Numbers of each of the three arrays, whole groups of them.
  std::size_t block_numbers(const DeviceProbeOptions& options) const {
    constexpr std::size_t usual = std::size_t{1} << 30;
    const std::size_t known = capabilities_.memory_bytes > 0 ? capabilities_.memory_bytes / 8 : usual;
    const std::size_t wanted = options.memory_bytes > 0 ? options.memory_bytes : std::min(usual, known);
    std::size_t bytes = wanted / 3;
    if (capabilities_.most_buffer_bytes > 0) bytes = std::min(bytes, capabilities_.most_buffer_bytes);
    return std::max(most_product_numbers() / numbers_of_group() + 1, bytes / sizeof(double) / numbers_of_group()) *
           numbers_of_group();
  }
  std::size_t numbers_of_group() const {
    return static_cast<std::size_t>(programs_.items) * ProbePrograms::numbers_per_item;
  }
  /// Numbers of the largest of the three matrices that one group multiplies.
  std::size_t most_product_numbers() const {
    const int rows = programs_.product_rows(), columns = programs_.product_columns();
    return static_cast<std::size_t>(
        std::max({rows * columns, programs_.product_depth * rows, programs_.product_depth * columns}));
  }
  std::int64_t all_groups() const { return static_cast<std::int64_t>(numbers_ / numbers_of_group()); }
  /// So many that launches take little of the time, while what they read and write stays in caches.
  std::int64_t many_groups() const { return std::min<std::int64_t>(all_groups(), 16384); }
  /// So many that every compute unit has several.
  std::int64_t few_groups() const {
    return std::min<std::int64_t>(all_groups(), 8 * std::max(1, capabilities_.num_compute_units));
  }

  void compile() {
    std::vector<schedule::LoopProgram> all{programs_.empty()};
    for (const auto* what : moves) {
      all.push_back(programs_.memory(what));
      all.push_back(programs_.shared(what));
    }
    for (const auto* what : {"fma", "add", "mul"}) all.push_back(programs_.arithmetic(what, schedule::Type::real));
    all.push_back(programs_.arithmetic("fma", schedule::Type::real32));
    all.push_back(programs_.matrix_product());
    std::vector<std::string> sources;
    for (const auto& program : all) sources.push_back(emit::emit(program, device_->language()));
    const auto compiled = device::compile_all(*device_, sources, {.language = device_->language()});
    for (std::size_t i = 0; i < all.size(); ++i)
      kernels_[all[i].name] = {compiled[i]->kernel(all[i].name), all[i].launch, all[i].arguments().size()};
  }

  /// Seconds of so many runs of a program on the first `groups` batches, waited for once.
  double seconds_of(const std::string& program, std::int64_t groups, int runs) {
    const auto& [kernel, launch, num_arguments] = kernels_.at(program);
    std::vector<device::Buffer*> arguments{y_.device_write()};
    if (num_arguments > 1) arguments.insert(arguments.end(), {x_.device_read(), z_.device_read()});
    const device::Task task{
        .kernel = kernel.get(), .arguments = arguments, .begin = 0, .end = groups, .launch = launch};
    const std::vector<device::Task> tasks(static_cast<std::size_t>(runs), task);
    const double start = seconds_now();
    device_->run(tasks)->wait();
    return seconds_now() - start;
  }

  /// Runs per second of the best of several samples, because disturbances only slow down. A sample has so many runs
  /// that the clock does not matter.
  double best_rate(const std::function<double(int runs)>& seconds) {
    constexpr double shortest = 2e-3;
    constexpr std::size_t fewest = 3;
    seconds(1); // memory is touched, and drivers finish what they have put off
    double best = 0, spent = 0;
    std::vector<double> rates;
    for (int runs = 1; spent < seconds_per_rate_ || rates.size() < fewest;) {
      const double last = std::max(seconds(runs), 1e-9);
      spent += last;
      best = std::max(best, runs / last);
      if (last >= shortest)
        rates.push_back(runs / last);
      else
        runs = static_cast<int>(std::ceil(runs * std::clamp(1.2 * shortest / last, 2.0, 100.0)));
    }
    steadiness_.push_back(base::median(rates) / best);
    return best;
  }
  /// Work per second of a program whose items do `work` each.
  double rate(const std::string& program, std::int64_t groups, double work) {
    return static_cast<double>(groups) * programs_.items * work *
           best_rate([&](int runs) { return seconds_of(program, groups, runs); });
  }

  double arithmetic(const std::string& what, schedule::Type type) {
    const std::string program = what + (type == schedule::Type::real32 ? "_single" : "_double");
    return rate(program, many_groups(), ProbePrograms::flops(what));
  }

  double matrix_product() {
    const auto groups = std::min(many_groups(), static_cast<std::int64_t>(numbers_ / most_product_numbers()));
    return static_cast<double>(groups) * programs_.product_flops() *
           best_rate([&](int runs) { return seconds_of("matrix_product", groups, runs); });
  }

  machine::Level shared_level() {
    const auto measured = [&](const std::string& what) {
      return whole(rate("shared_" + what, many_groups(), ProbePrograms::shared_bytes(what)));
    };
    machine::Level result{.name = machine::shared_name,
                          .bytes = static_cast<std::int64_t>(capabilities_.shared_bytes),
                          .read = measured("read"),
                          .triad = measured("triad"),
                          .copy = measured("copy")};
    result.streaming_copy = result.copy;
    return result;
  }

  /// Rates of runs through the first batches of the arrays.
  machine::Level streamed(const std::string& name, std::int64_t bytes, std::int64_t groups) {
    const auto measured = [&](const char* what) {
      return whole(rate(std::string("memory_") + what, groups, ProbePrograms::memory_bytes(what)));
    };
    machine::Level result{
        .name = name, .bytes = bytes, .read = measured("read"), .triad = measured("triad"), .copy = measured("copy")};
    result.streaming_copy = result.copy;
    return result;
  }

  /// Registers give each multiply-add three numbers and take one. No data of a run stay in them.
  static machine::Level registers(double fma_flops) {
    constexpr double bytes_per_flop = 4 * sizeof(double) / 2.0;
    const Rate rate = whole(bytes_per_flop * fma_flops);
    return {.name = "registers", .bytes = 0, .read = rate, .triad = rate, .copy = rate, .streaming_copy = rate};
  }

  /// Registers, the memory, and between them the largest block that is read clearly faster than the memory: drivers do
  /// not report all of their caches.
  std::vector<machine::Level> levels(double fma_flops) {
    constexpr double clearly = 1.3;
    constexpr std::int64_t step = 4;
    std::vector<machine::Level> result{registers(fma_flops)};
    const auto memory = streamed("memory", static_cast<std::int64_t>(capabilities_.memory_bytes), all_groups());
    for (std::int64_t groups = all_groups() / step; groups >= few_groups(); groups /= step) {
      const double read = rate("memory_read", groups, ProbePrograms::memory_bytes("read"));
      if (read < clearly * memory.read.one_core) continue;
      const auto bytes = groups * static_cast<std::int64_t>(numbers_of_group() * sizeof(double));
      // three arrays of the triad have to fit, so that its block is a third as long
      result.push_back(streamed("cache", bytes, std::max<std::int64_t>(1, groups / 3)));
      break;
    }
    result.push_back(memory);
    return result;
  }

  double launch_seconds() {
    std::vector<double> samples;
    for (int i = 0; i < 50; ++i) samples.push_back(seconds_of("empty", 1, 1));
    return base::median(std::move(samples));
  }

  /// Bytes per second between host and device.
  double copies(bool is_to_device) {
    constexpr std::size_t most = std::size_t{64} << 20;
    const std::size_t bytes = std::min(most, numbers_ * sizeof(double));
    std::vector<std::byte> host(bytes);
    device::Buffer& buffer = *y_.device_write();
    const auto seconds = [&](int runs) {
      const double start = seconds_now();
      for (int i = 0; i < runs; ++i)
        if (is_to_device)
          buffer.copy_from_host(host.data(), bytes);
        else
          buffer.copy_to_host(host.data(), bytes);
      return seconds_now() - start;
    };
    return static_cast<double>(bytes) * best_rate(seconds);
  }

  struct Compiled {
    std::shared_ptr<const device::Kernel> kernel;
    device::Launch launch;
    std::size_t num_arguments = 1; ///< 1: y alone; else x and z, too
  };
  std::shared_ptr<device::Device> device_;
  device::Capabilities capabilities_;
  ProbePrograms programs_;
  double seconds_per_rate_;
  std::size_t numbers_;
  device::Vector y_, x_, z_;
  std::map<std::string, Compiled> kernels_; ///< kernels by the name of their program
  std::vector<double> steadiness_;          ///< steadiness of every figure
};

} // namespace

machine::DeviceRecord probe(const std::shared_ptr<device::Device>& device, const DeviceProbeOptions& options) {
  if (!emit::target(device->language()).has_groups)
    throw base::InputError("the device '" + device->name() + "' runs on the host, whose record is that of the machine");
  return DeviceProbe(device, options).record();
}

machine::DeviceRecord load_or_probe(const std::shared_ptr<device::Device>& device, const DeviceProbeOptions& options) {
  const auto capabilities = device->capabilities();
  if (!options.is_fresh)
    if (auto kept = machine::load(capabilities); kept && kept->machine.matrix_product.one_core > 0) return *kept;
  if (options.begins) options.begins();
  auto record = probe(device, options);
  machine::keep(record, capabilities);
  return record;
}

namespace {

Ceilings of_record(const machine::DeviceRecord& record) { return {record.machine, cost_weights(record)}; }

} // namespace

Ceilings ceilings(const std::shared_ptr<device::Device>& device, const machine::ProbeOptions& options) {
  if (device->capabilities().description.empty()) return {machine::load_or_probe(options), processor_weights()};
  return of_record(
      load_or_probe(device, {.seconds = options.seconds, .is_fresh = options.is_fresh, .begins = options.begins}));
}

Ceilings quick_ceilings(const std::shared_ptr<device::Device>& device, double seconds,
                        const std::function<void()>& begins) {
  if (!device->capabilities().description.empty()) return ceilings(device, {.seconds = seconds, .begins = begins});
  auto machine = machine::load();
  if (!machine || !machine->is_quiet()) machine = machine::load_or_estimate(0, begins);
  return {std::move(*machine), processor_weights()};
}

std::optional<Ceilings> kept_ceilings(const device::Device& device) {
  const auto capabilities = device.capabilities();
  if (!capabilities.description.empty()) {
    const auto record = machine::load(capabilities);
    return record ? std::optional(of_record(*record)) : std::nullopt;
  }
  auto machine = machine::load(device.num_threads());
  return machine ? std::optional(Ceilings{std::move(*machine), processor_weights()}) : std::nullopt;
}

std::shared_ptr<const Planner> planner_of(const device::Device& device) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::string>, std::shared_ptr<const Planner>> planners;
  const auto capabilities = device.capabilities();
  if (capabilities.description.empty()) return planner_of_this_machine();
  const std::scoped_lock lock(mutex);
  auto& planner = planners[{capabilities.description, capabilities.version}];
  if (planner == nullptr) {
    const int bits = bits_of_double * capabilities.vector_width;
    auto [machine, weights] =
        kept_ceilings(device).value_or(Ceilings{machine::typical_machine(bits), processor_weights()});
    machine.model = capabilities.description; // what is measured is kept under these names
    machine.vendor = capabilities.version;
    planner = std::make_shared<const Planner>(PlannerOptions{.machine = std::move(machine),
                                                             .weights = weights,
                                                             .store = std::make_shared<Store>(),
                                                             .kernel_texts = std::make_shared<KernelTextCache>()});
  }
  return planner;
}

PlannerOptions planner_options(const machine::DeviceRecord& record) {
  return {.machine = record.machine, .weights = cost_weights(record), .store = nullptr};
}

} // namespace rafter::tune
