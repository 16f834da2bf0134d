// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/device/device.hpp>
#include <rafter/device/host/cache_directory.hpp>
#include <rafter/device/host/cpu.hpp>
#include <rafter/device/host/process.hpp>
#include <rafter/report/report.hpp>
#include <rafter/tune/store.hpp>

#include "commands.hpp"
#include "exit_code.hpp"

namespace rafter::app {
namespace {

using Row = std::vector<std::string>;

/// A program that Rafter uses, or will use.
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
    Tool{"clinfo", "OpenCL devices: not used by this version", "apt-get install clinfo pocl-opencl-icd"},
    Tool{"nvcc", "CUDA devices: not used by this version", "install the CUDA toolkit"},
    Tool{"hipcc", "HIP devices: not used by this version", "install ROCm"},
};

/// The instruction sets that make a difference to kernels.
std::string vector_sets() {
  std::vector<std::string> sets;
  for (const auto& set : device::cpu().instruction_sets)
    for (const char* prefix : {"avx", "fma", "amx", "sve", "asimd", "neon"})
      if (set.starts_with(prefix)) sets.push_back(set);
  return base::join(sets, " ");
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// The first line that the program says about its version with a digit in it; "" when it cannot be run.
std::string version_of(const std::string& path) try {
  const auto result = device::run_process({path, "--version"});
  if (!result.is_success()) return {};
  for (const auto& line : base::split(result.output, '\n'))
    if (line.find_first_of("0123456789") != std::string::npos) return line;
  return first_line(result.output);
} catch (const base::EnvironmentError&) {
  return {};
}

Row tool_row(const Tool& tool, bool& is_found) {
  const auto path = device::find_program(std::string(tool.name));
  is_found = !path.empty();
  const std::string name(tool.name), purpose(tool.purpose);
  if (!is_found) return {name, "missing", purpose, "to get it: " + std::string(tool.how_to_get)};
  const auto version = version_of(path);
  return {name, "found", purpose, version.empty() ? path : fmt::format("{} ({})", path, version)};
}

Row device_row(const std::string& name, bool& works) try {
  const auto device = device::make_device(name);
  works = true;
  return {name, "works", "device", fmt::format("{} threads", device->num_threads())};
} catch (const base::Error& error) {
  works = false;
  return {name, "missing", "device", first_line(error.what())};
}

Row cache_row() {
  const device::CacheDirectory cache;
  if (cache.is_private_temporary())
    return {"cache", "temporary", "keeps compiled kernels",
            fmt::format("{} is used until the process ends: kernels are compiled again in every run",
                        cache.path().string())};
  return {"cache", "works", "keeps compiled kernels", cache.path().string()};
}

Row plans_row() {
  const tune::Store store;
  const auto count = store.num_kernels();
  return {"measured plans", count > 0 ? fmt::format("{} kernels", count) : "none", "rafter tune",
          store.file().string()};
}

} // namespace

int run_doctor() {
  std::vector<Row> rows;
  bool has_compiler = false, is_found = false, has_host = false, has_checked = false;
  for (const auto& tool : compilers) {
    rows.push_back(tool_row(tool, is_found));
    has_compiler = has_compiler || is_found;
  }
  rows.push_back(cache_row());
  rows.push_back(plans_row());
  rows.push_back(device_row("host", has_host));
  rows.push_back(device_row("checked", has_checked));
  for (const auto& tool : optional_tools) rows.push_back(tool_row(tool, is_found));
  fmt::print("rafter {}\n{}: {}\n\n", RAFTER_VERSION, device::cpu().model, vector_sets());
  const std::vector<report::Column> columns{{"what", "program, device or folder"},
                                            {"state", "here and now"},
                                            {"for", "what Rafter does with it"},
                                            {"details", "where it is, or how to get it"}};
  fmt::print("{}", report::format_table(columns, rows));
  const bool is_ready = has_compiler && has_host;
  fmt::print("\n{}\n", is_ready ? "Ready: problems can be solved on this machine."
                                : "Not ready: kernels cannot be compiled or run; see what is missing above.");
  return is_ready ? exit_done : exit_environment;
}

} // namespace rafter::app
