// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <regex>
#include <string_view>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/device/device.hpp>
#include <rafter/device/gpu/gpu_device.hpp>
#include <rafter/device/gpu/gpu_library.hpp>
#include <rafter/device/host/cache_directory.hpp>
#include <rafter/device/host/cpu.hpp>
#include <rafter/device/host/process.hpp>
#include <rafter/device/opencl/opencl_device.hpp>
#include <rafter/machine/device_record.hpp>
#include <rafter/report/report.hpp>
#include <rafter/solve/factors.hpp>
#include <rafter/solve/hypre_module.hpp>
#include <rafter/tune/store.hpp>

#include "commands.hpp"
#include "exit_code.hpp"

namespace rafter::app {
namespace {

using Row = std::vector<std::string>;

bool works(const Row& row) { return row[1] == "works"; }

/// Rafter uses this program, or will use it.
struct Tool {
  std::string_view name, purpose, how_to_get;
};

constexpr std::array compilers{
    Tool{"gcc", "compiles kernels", "apt-get install gcc"},
    Tool{"clang", "compiles kernels (gcc does too)", "apt-get install clang"},
};

constexpr std::array optional_tools{
    Tool{"gmsh", "makes meshes for Rafter to read", "apt-get install gmsh"},
    Tool{"mpirun", "parallel runs: not used by this version", "apt-get install openmpi-bin"},
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Returns the first number with a point, "12.2.0", that the program prints for --version, or "" if there is none.
std::string version_of(const std::string& path) try {
  const auto result = device::run_process({path, "--version"});
  static const std::regex number("[0-9]+([.][0-9]+)+");
  std::smatch found;
  return result.is_success() && std::regex_search(result.output, found, number) ? found.str() : "";
} catch (const base::EnvironmentError&) {
  return {};
}

Row tool_row(const Tool& tool, bool& is_found) {
  const auto path = device::find_program(std::string(tool.name));
  is_found = !path.empty();
  const std::string name(tool.name), purpose(tool.purpose);
  if (!is_found) return {name, "missing", purpose, "to get it: " + std::string(tool.how_to_get)};
  const auto version = version_of(path);
  return {name, "found", purpose, version.empty() ? path : fmt::format("{}, version {}", path, version)};
}

Row device_row(const std::string& name, const std::string& purpose, bool& works) try {
  const auto device = device::make_device(name);
  works = true;
  return {name, "works", purpose,
          fmt::format("{} thread{}", device->num_threads(), device->num_threads() == 1 ? "" : "s")};
} catch (const base::Error& error) {
  works = false;
  return {name, "missing", purpose, first_line(error.what())};
}

/// Returns what `rafter machine --device opencl:i` measured of a device; "" where it did not.
std::string ceilings_text(const device::Capabilities& device) {
  const auto record = machine::load(device);
  if (!record) return "";
  return fmt::format("; {:.0f} GFLOP/s, {:.0f} GB/s", 1e-9 * record->machine.peak_flops(1),
                     1e-9 * record->machine.memory().triad.one_core);
}

/// One row for each device of a kind, or one that says how to get them.
std::vector<Row> rows_of_devices(const std::string& kind, const std::string& how_to_get,
                                 const std::function<std::vector<device::DeviceDescription>()>& list) {
  const std::string purpose = "runs kernels (--device " + kind + ":i)";
  std::vector<Row> rows;
  try {
    for (const auto& found : list()) {
      const auto& device = found.capabilities;
      const auto text = fmt::format("{} ({}), {} compute units, {:.1f} GB", device.description, device.version,
                                    device.num_compute_units, 1e-9 * static_cast<double>(device.memory_bytes));
      const bool works = found.objection.empty();
      rows.push_back({fmt::format("{}:{}", kind, rows.size()), works ? "works" : "cannot be used", purpose,
                      works ? text + ceilings_text(device) : text + "; " + found.objection});
    }
    if (rows.empty()) rows.push_back({kind, "missing", purpose, how_to_get});
  } catch (const base::EnvironmentError& error) {
    rows = {{kind, "missing", purpose, first_line(error.what())}};
  }
  return rows;
}

/// The run-time compiler of a maker, which needs no device.
Row compiler_row(const device::GpuMaker& maker) {
  const std::string language = maker.driver.language;
  const auto purpose = "compiles kernels for --device " + language;
  try {
    const auto compiler = device::GpuCompiler::instance(maker.compiler);
    return {maker.compiler.name, "works", purpose, compiler->path().string() + ", " + compiler->version()};
  } catch (const base::EnvironmentError& error) {
    return {maker.compiler.name, "missing", purpose, first_line(error.what())};
  }
}

/// MUMPS, the library for direct solves, is part of every build.
Row factors_row() {
  return {"MUMPS", "works", "direct solves (solver.method = \"direct\")",
          "version " + solvers::factors_version() + ", sequential, licence CeCILL-C"};
}

/// hypre is behind an adapter that is opened when it is needed.
Row hypre_row() try {
  return {
      "hypre", "works", "algebraic multigrid (amg = \"boomeramg\")",
      fmt::format("version {}, for one process, licence Apache-2.0 or MIT", solvers::hypre_functions().hypre_version)};
} catch (const base::EnvironmentError&) {
  return {"hypre", "missing", "algebraic multigrid (amg = \"boomeramg\")", "to get it: ./rafter.sh build"};
}

Row cache_row() {
  const device::CacheDirectory cache;
  if (cache.is_private_temporary())
    return {"cache", "temporary", "keeps compiled kernels",
            fmt::format("{}: kernels are compiled again in every run", cache.path().string())};
  return {"cache", "works", "keeps compiled kernels", cache.path().string()};
}

Row plans_row() {
  const tune::Store store;
  const auto count = store.num_kernels();
  return {"measured plans", count > 0 ? fmt::format("{} kernels", count) : "none", "plans that `rafter tune` timed",
          store.file().string()};
}

} // namespace

int run_doctor() {
  std::vector<Row> rows;
  bool has_compiler = false, is_found = false, has_host = false, has_checked = false, has_device = false;
  const auto add_devices = [&](const std::vector<Row>& of_kind, bool has_its_compiler) {
    rows.insert(rows.end(), of_kind.begin(), of_kind.end());
    has_device = has_device || (has_its_compiler && std::ranges::any_of(of_kind, works));
  };
  for (const auto& tool : compilers) {
    rows.push_back(tool_row(tool, is_found));
    has_compiler = has_compiler || is_found;
  }
  rows.push_back(cache_row());
  rows.push_back(plans_row());
  rows.push_back(factors_row());
  rows.push_back(hypre_row());
  rows.push_back(device_row("host", "runs kernels (--device host)", has_host));
  rows.push_back(device_row("checked", "looks for faults (--device checked)", has_checked));
  add_devices(rows_of_devices("opencl", "to get one: ./rafter.sh setup opencl", device::opencl_devices), true);
  for (const auto* maker : device::gpu_makers()) {
    const auto missing = std::string("this machine has no device that ") + maker->driver.driver + " serves";
    auto compiler = compiler_row(*maker);
    add_devices(rows_of_devices(maker->driver.language, missing, [maker] { return device::gpu_devices(*maker); }),
                works(compiler));
    rows.push_back(std::move(compiler));
  }
  for (const auto& tool : optional_tools) rows.push_back(tool_row(tool, is_found));
  const auto vector_sets = device::vector_instruction_sets(device::cpu().instruction_sets);
  fmt::print("rafter {}\n{}\n{}\n", RAFTER_VERSION, device::cpu().model,
             report::wrapped("vector instructions: ", base::join(vector_sets, " ")));
  const std::vector<report::Column> columns{{"what", "program, device or folder"},
                                            {"state", "here and now"},
                                            {"for", "what Rafter does with it"},
                                            {"details", "where it is, or how to get it"}};
  fmt::print("{}", report::format_table(columns, rows));
  const bool is_host_ready = has_compiler && has_host;
  const bool is_ready = is_host_ready || has_device;
  const char* text = "Not ready: kernels cannot be compiled or run; see what is missing above.";
  if (has_device) text = "Ready with --device alone: kernels for the host cannot be compiled.";
  if (is_host_ready) text = "Ready: problems can be solved on this machine.";
  fmt::print("\n{}\n", text);
  return is_ready ? exit_done : exit_environment;
}

} // namespace rafter::app
