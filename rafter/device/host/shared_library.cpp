// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/host/shared_library.hpp>

#include <dlfcn.h>
#include <rafter/base/error.hpp>

namespace rafter::device {

HostProgram::HostProgram(const std::filesystem::path& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    throw base::EnvironmentError("cannot load the kernel '" + library.string() +
                                 "': " + (reason == nullptr ? "no reason given" : reason));
  }
  library_ = std::shared_ptr<void>(handle, [](void* pointer) { dlclose(pointer); });
}

std::shared_ptr<const Kernel> HostProgram::kernel(const std::string& name) const {
  void* symbol = dlsym(library_.get(), name.c_str());
  if (symbol == nullptr) throw base::InternalError("the program has no entry point '" + name + "'");
  return std::make_shared<HostKernel>(name, reinterpret_cast<EntryPoint>(symbol), library_);
}

std::string HostProgram::key() const {
  const void* symbol = dlsym(library_.get(), key_symbol);
  return symbol == nullptr ? "" : static_cast<const char*>(symbol);
}

} // namespace rafter::device
