// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/hypre_module.hpp>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>

#include <rafter/base/error.hpp>

namespace rafter::solvers {
namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "librafter_hypre.so";

[[noreturn]] void refuse(const std::string& why) {
  throw base::EnvironmentError(fmt::format(
      "BoomerAMG is not available: {}. To get it: ./rafter.sh build, which installs hypre and builds the "
      "adapter (without the script: Debian's libhypre-dev, and CMake again); without hypre, multigrid = {{ amg "
      "= \"smoothed-aggregation\" }} serves",
      why));
}

/// The program or shared library that this function is part of.
fs::path own_file() {
  Dl_info info{};
  return dladdr(reinterpret_cast<const void*>(&own_file), &info) != 0 && info.dli_fname != nullptr
             ? fs::path(info.dli_fname)
             : fs::path();
}

/// Places of the adapter: beside a program of the build, above its tests, and where it is installed, seen from the
/// program or by the path that the build was configured with.
std::vector<fs::path> places() {
  if (const char* given = std::getenv("RAFTER_HYPRE_MODULE"); given != nullptr && *given != '\0') return {given};
  std::error_code error;
  auto folder = fs::canonical(own_file(), error).parent_path();
  if (error) folder = fs::read_symlink("/proc/self/exe", error).parent_path(); // found by a name without its folder
  std::vector<fs::path> result;
  for (const char* from_here : {"", "..", RAFTER_HYPRE_FROM_BIN, RAFTER_HYPRE_FROM_LIB})
    result.push_back(folder / from_here / file_name);
  result.push_back(fs::path(RAFTER_HYPRE_INSTALLED) / file_name);
  return result;
}

/// Sanitizers refuse deep binding, as their own functions have to come first.
bool is_under_sanitizer() {
  for (const char* name : {"__asan_init", "__tsan_init", "__msan_init"})
    if (dlsym(RTLD_DEFAULT, name) != nullptr) return true;
  return false;
}

/// Opens the adapter so that names of MPI mean, in it and in hypre, what the adapter defines, whatever else the process
/// calls so: deep binding asks it first. Without that the few functions of MUMPS's library for one process come first
/// in programs that have no MPI, and they answer the same.
void* open(const fs::path& file) {
  return dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | (is_under_sanitizer() ? 0 : RTLD_DEEPBIND));
}

const RafterHypreFunctions& opened() {
  for (const auto& file : places()) {
    std::error_code error;
    if (!fs::exists(file, error)) continue;
    void* library = open(file);
    if (library == nullptr) refuse(fmt::format("the adapter cannot be opened ({})", dlerror()));
    const auto get = reinterpret_cast<decltype(&rafter_hypre)>(dlsym(library, "rafter_hypre"));
    if (get == nullptr || get()->interface_version != rafter_hypre_interface)
      refuse(fmt::format("the adapter {} is of another version of Rafter", file.string()));
    return *get();
  }
  refuse(fmt::format("this build of Rafter has no adapter to hypre, {}, or it was moved (the environment variable "
                     "RAFTER_HYPRE_MODULE may name it)",
                     file_name));
}

} // namespace

const RafterHypreFunctions& hypre_functions() {
  static const RafterHypreFunctions& functions = opened();
  return functions;
}

std::mutex& hypre_mutex() {
  static std::mutex mutex;
  return mutex;
}

std::optional<std::string> hypre_version() try {
  return hypre_functions().hypre_version;
} catch (const base::EnvironmentError&) {
  return std::nullopt;
}

} // namespace rafter::solvers
