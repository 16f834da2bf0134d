// SPDX-License-Identifier: BSD-3-Clause
#include <tests/support/cuda.hpp>

#include <sstream>

#include <dlfcn.h>

#include <rafter/base/error.hpp>
#include <rafter/device/gpu/gpu_library.hpp>

namespace rafter::test {
namespace {

constexpr const char* driver_path = RAFTER_EMULATED_CUDA "/libcuda.so.1";
constexpr const char* compiler_path = RAFTER_EMULATED_CUDA "/libnvrtc.so.13";

template <class Function> Function* function(const char* name) {
  void* const library = dlopen(driver_path, RTLD_NOW | RTLD_LOCAL);
  auto* const result = library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
  if (result == nullptr) throw base::InternalError(std::string("no emulated CUDA: ") + dlerror());
  return result;
}

device::GpuNames emulated(device::GpuNames names) {
  names.libraries = {driver_path};
  return names;
}

device::GpuCompilerNames emulated(device::GpuCompilerNames names) {
  names.homes = names.folders = names.wheels = {};
  names.libraries = {compiler_path};
  return names;
}

} // namespace

const device::GpuMaker& emulated_cuda() {
  static const auto driver = emulated(device::cuda_names());
  static const auto compiler = emulated(device::nvrtc_names());
  static const device::GpuMaker maker{.driver = driver, .compiler = compiler};
  return maker;
}

const device::GpuMaker& emulated_hip() {
  static const auto driver = emulated(device::hip_names());
  static const auto compiler = emulated(device::hiprtc_names());
  static const device::GpuMaker maker{.driver = driver, .compiler = compiler};
  return maker;
}

std::vector<std::string> emulated_live() {
  std::istringstream lines(function<const char*()>("emulated_live")());
  std::vector<std::string> result;
  for (std::string line; std::getline(lines, line);) result.push_back(line);
  return result;
}

long emulated_calls(const std::string& name) { return function<long(const char*)>("emulated_calls")(name.c_str()); }

std::vector<std::string> emulated_functions() {
  std::istringstream words(function<const char*()>("emulated_functions")());
  std::vector<std::string> result;
  for (std::string word; words >> word;) result.push_back(word);
  return result;
}

void forget_emulated_calls() { function<void()>("forget_emulated_calls")(); }

bool has_cuda() {
  static const bool result = [] {
    try {
      const device::GpuDevice device(device::cuda());
      (void)device::GpuCompiler::instance(device::cuda().compiler);
      return true;
    } catch (const base::EnvironmentError&) {
      return false;
    }
  }();
  return result;
}

} // namespace rafter::test
