// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/machine/record_file.hpp>

#include <chrono>
#include <limits>
#include <vector>

#include <rafter/base/error.hpp>
#include <rafter/base/hash.hpp>
#include <rafter/base/log.hpp>
#include <rafter/base/text.hpp>
#include <rafter/device/host/cpu.hpp>

namespace rafter::machine {
namespace {

double age_seconds(const std::filesystem::path& file) {
  std::error_code error;
  const auto written = std::filesystem::last_write_time(file, error);
  if (error) return std::numeric_limits<double>::max();
  return std::chrono::duration<double>(std::filesystem::file_time_type::clock::now() - written).count();
}

} // namespace

RecordFile record_file(const device::CacheDirectory& directory, const std::string& kind_of_record, int cores) {
  const device::Cpu& cpu = device::cpu();
  const std::vector<std::string> parts{RAFTER_VERSION, cpu.vendor, cpu.model, base::join(cpu.instruction_sets, " "),
                                       std::to_string(cores)};
  const auto hash = base::content_hash(base::join(parts, "\n"));
  return {directory.path() / (kind_of_record + "-" + hash + ".json"), kind_of_record, hash};
}

std::optional<Machine> read_record(const RecordFile& file, int cores) {
  const auto text = device::read_entry(file.path, file.key());
  if (!text) return std::nullopt;
  try {
    if (Machine machine = from_json(*text); machine.cores == cores) return machine;
  } catch (const base::InputError&) {
    // a record that an earlier fault wrote is measured again
  }
  return std::nullopt;
}

Machine kept_or_measured(const RecordFile& file, int cores, const ProbeOptions& options,
                         const std::function<Machine()>& measure) {
  const auto kept = read_record(file, cores);
  const bool is_kept_quiet = kept && kept->is_quiet(options.least_quiet);
  const bool is_complete = kept && kept->vector_gather.one_core > 0 && kept->matrix_product.one_core > 0;
  // Records of older versions are not complete, and are measured again.
  if (is_complete && !options.is_fresh && (is_kept_quiet || age_seconds(file.path) < options.busy_record_seconds))
    return *kept;

  if (options.begins) options.begins();
  const Machine machine = measure();
  if (is_kept_quiet && !machine.is_quiet(options.least_quiet)) return machine;
  try {
    device::write_entry(file.path, file.key(), to_json(machine));
  } catch (const base::EnvironmentError& error) {
    base::warn_once(std::string("the machine record is not kept: ") + error.what());
  }
  return machine;
}

} // namespace rafter::machine
