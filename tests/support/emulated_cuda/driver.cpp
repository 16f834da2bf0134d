// SPDX-License-Identifier: BSD-3-Clause
// A library with the functions of NVIDIA's driver that Rafter takes, for tests where there is no such device: memory is
// that of the host, kernels are the shared libraries that the emulated compiler makes, and their groups run one after
// the other while the caller waits. Copies and kernels are done at once, so that missing waits are not found.
//
// EMULATED_CUDA_LOG=FILE: at the end of the process the numbers of calls are written there, one "NAME COUNT" per line,
// then "live KIND COUNT" for what was made and not given back.
// EMULATED_CUDA_FAIL=NAME:N:CODE: call N (from 1) of a function, and all later ones, fail with this code.
// EMULATED_CUDA_BYTES=N: memory of the device (default 4 GB). EMULATED_CUDA_DEVICES=N: number of devices (default 1).
// EMULATED_CUDA_VERSION=N: version of the driver (default 13000). EMULATED_CUDA_LOCAL=N: local bytes of all kernels.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <ucontext.h>
#include <unistd.h>

namespace {

struct Index {
  unsigned x, y, z;
};

long number_of(const char* variable, long otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtol(text, nullptr, 10);
}

constexpr int out_of_memory = 2, invalid_value = 1, not_found = 500, invalid_image = 200, no_device = 100,
              invalid_context = 201;

/// What is counted and what lives, written at the end.
class Record {
public:
  void write() {
    const char* file = std::getenv("EMULATED_CUDA_LOG");
    if (file == nullptr) return;
    std::ofstream out(file);
    for (const auto& [name, count] : calls_) out << name << " " << count << "\n";
    std::istringstream lines(live());
    for (std::string line; std::getline(lines, line);) out << "live " << line << "\n";
  }
  /// Counts a call. Returns the code with which it is to fail, or 0.
  int call(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const long count = ++calls_[name];
    const char* text = std::getenv("EMULATED_CUDA_FAIL");
    if (text == nullptr) return 0;
    const std::string failing = text;
    const auto first = failing.find(':'), second = failing.find(':', first + 1);
    if (failing.substr(0, first) != name || count < std::strtol(failing.c_str() + first + 1, nullptr, 10)) return 0;
    return static_cast<int>(std::strtol(failing.c_str() + second + 1, nullptr, 10));
  }
  void add(const std::string& kind, const void* object) {
    const std::lock_guard lock(mutex_);
    live_[kind].insert(object);
  }
  std::string functions() {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (const auto& [name, count] : calls_) text += name + " ";
    return text;
  }
  long calls(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return calls_[name];
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    calls_.clear();
  }
  std::string live() {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (const auto& [kind, objects] : live_)
      if (!objects.empty()) text += kind + " " + std::to_string(objects.size()) + "\n";
    return text;
  }
  bool remove(const std::string& kind, const void* object) {
    const std::lock_guard lock(mutex_);
    return live_[kind].erase(object) == 1;
  }

private:
  std::mutex mutex_;
  std::map<std::string, long> calls_;
  std::map<std::string, std::set<const void*>> live_;
};

Record& record();

/// It outlives all users, which may end after the objects of this library.
Record& record() {
  static Record& result = *[] {
    std::atexit([] { record().write(); });
    return new Record;
  }();
  return result;
}

/// Memory of the device.
class Memory {
public:
  int allocate(std::uintptr_t* address, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes > free()) return out_of_memory;
    void* const memory = std::malloc(bytes + 1);
    if (memory == nullptr) return out_of_memory;
    std::memset(memory, 0xff, bytes); // doubles that are no numbers
    used_ += bytes;
    sizes_[reinterpret_cast<std::uintptr_t>(memory)] = bytes;
    *address = reinterpret_cast<std::uintptr_t>(memory);
    record().add("memory", memory);
    return 0;
  }
  int release(std::uintptr_t address) {
    const std::lock_guard lock(mutex_);
    const auto found = sizes_.find(address);
    if (found == sizes_.end()) return invalid_value;
    used_ -= found->second;
    sizes_.erase(found);
    record().remove("memory", reinterpret_cast<void*>(address));
    std::free(reinterpret_cast<void*>(address));
    return 0;
  }
  /// Says whether all bytes are in one allocation.
  bool holds(std::uintptr_t address, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    auto found = sizes_.upper_bound(address);
    if (found == sizes_.begin()) return false;
    --found;
    return address + bytes <= found->first + found->second;
  }
  static std::size_t all() { return static_cast<std::size_t>(number_of("EMULATED_CUDA_BYTES", 4000000000)); }
  std::size_t free() const { return all() - used_; }

private:
  std::mutex mutex_;
  std::size_t used_ = 0;
  std::map<std::uintptr_t, std::size_t> sizes_;
};

Memory& memory() {
  static Memory& memory = *new Memory;
  return memory;
}

thread_local void* current = nullptr;
int context_of_device = 0; // its address is the context

/// The items of a group, one after the other. Where there are barriers, each has a stack of its own, and at a barrier
/// the next one goes on.
class Items {
public:
  using Run = void (*)(void**);
  Items(Run of_item, void** arguments, Index& index, const Index& extents)
      : run_(of_item), arguments_(arguments), index_(index) {
    for (Index i{0, 0, 0}; i.z < extents.z; ++i.z)
      for (i.y = 0; i.y < extents.y; ++i.y)
        for (i.x = 0; i.x < extents.x; ++i.x) items_.emplace_back().index = i;
  }
  void run_without_barriers() {
    for (const auto& item : items_) {
      index_ = item.index;
      run_(arguments_);
    }
  }
  void run() {
    active() = this;
    for (auto& item : items_) {
      if (item.stack == nullptr) item.stack.reset(new char[stack_bytes]);
      item.has_ended = false;
      getcontext(&item.context);
      item.context.uc_stack.ss_sp = item.stack.get();
      item.context.uc_stack.ss_size = stack_bytes;
      item.context.uc_link = &host_;
      makecontext(&item.context, begin, 0);
    }
    for (bool goes_on = true; goes_on;) { // from barrier to barrier
      goes_on = false;
      for (auto& item : items_) {
        if (item.has_ended) continue;
        now_ = &item;
        index_ = item.index;
        swapcontext(&host_, &item.context);
        goes_on = goes_on || !item.has_ended;
      }
    }
    active() = nullptr;
  }
  static void barrier() {
    auto& self = *active();
    swapcontext(&self.now_->context, &self.host_);
  }

private:
  static constexpr std::size_t stack_bytes = std::size_t{256} << 10;
  struct Item {
    Index index = {};
    ucontext_t context = {};
    std::unique_ptr<char[]> stack = {};
    bool has_ended = false;
  };
  static Items*& active() {
    static Items* items = nullptr;
    return items;
  }
  static void begin() {
    auto& self = *active();
    self.run_(self.arguments_);
    self.now_->has_ended = true;
  }
  Run run_;
  void** arguments_;
  Index& index_;
  std::vector<Item> items_;
  Item* now_ = nullptr;
  ucontext_t host_ = {};
};

struct Module {
  void* library = nullptr;
  Index *item = nullptr, *group = nullptr;
};
struct Function {
  Module* module = nullptr;
  Items::Run run = nullptr;
};

int launch(const Function& function, const Index& groups, const Index& items, void** arguments) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  *static_cast<void (**)()>(dlsym(function.module->library, "emulated_barrier")) = Items::barrier;
  const bool has_barriers = *static_cast<const int*>(dlsym(function.module->library, "emulated_has_barriers")) != 0;
  Items group_items(function.run, arguments, *function.module->item, items);
  for (Index group{0, 0, 0}; group.x < groups.x; ++group.x) {
    *function.module->group = group;
    if (has_barriers)
      group_items.run();
    else
      group_items.run_without_barriers();
  }
  return 0;
}

} // namespace

#define EMULATED(name)                                                                                                 \
  if (const int code = record().call(name); code != 0) return code;
#define IN_CONTEXT(name)                                                                                               \
  EMULATED(name)                                                                                                       \
  if (current == nullptr) return invalid_context;

extern "C" {

// For tests in the same process.
const char* emulated_live() {
  static thread_local std::string text;
  return (text = record().live()).c_str();
}
const char* emulated_functions() {
  static thread_local std::string text;
  return (text = record().functions()).c_str();
}
long emulated_calls(const char* name) { return record().calls(name); }
void forget_emulated_calls() { record().forget(); }

int cuInit(unsigned) {
  EMULATED("cuInit")
  return number_of("EMULATED_CUDA_DEVICES", 1) == 0 ? no_device : 0;
}
int cuDriverGetVersion(int* version) {
  EMULATED("cuDriverGetVersion")
  *version = static_cast<int>(number_of("EMULATED_CUDA_VERSION", 13000));
  return 0;
}
int cuDeviceGetCount(int* count) {
  EMULATED("cuDeviceGetCount")
  *count = static_cast<int>(number_of("EMULATED_CUDA_DEVICES", 1));
  return 0;
}
int cuDeviceGet(int* device, int number) {
  EMULATED("cuDeviceGet")
  *device = number;
  return 0;
}
int cuDeviceGetName(char* text, int size, int device) {
  EMULATED("cuDeviceGetName")
  std::snprintf(text, static_cast<std::size_t>(size), "emulated device %d", device);
  return 0;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  EMULATED("cuDeviceTotalMem_v2")
  *bytes = Memory::all();
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  EMULATED("cuDeviceGetAttribute")
  static const std::map<int, int> values{{1, 1024}, {8, 49152}, {10, 32}, {12, 65536}, {16, 4},
                                         {18, 0},   {39, 2048}, {75, 9},  {76, 0}};
  const auto found = values.find(attribute);
  if (found == values.end()) return invalid_value;
  *value = found->second;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  EMULATED("cuDevicePrimaryCtxRetain")
  *context = &context_of_device;
  record().add("context", *context);
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  EMULATED("cuDevicePrimaryCtxRelease_v2")
  record().remove("context", &context_of_device);
  return 0;
}
int cuCtxSetCurrent(void* context) {
  EMULATED("cuCtxSetCurrent")
  current = context;
  return 0;
}
int cuMemGetInfo_v2(std::size_t* free, std::size_t* all) {
  IN_CONTEXT("cuMemGetInfo_v2")
  *free = memory().free();
  *all = Memory::all();
  return 0;
}
int cuStreamCreate(void** stream, unsigned) {
  IN_CONTEXT("cuStreamCreate")
  *stream = new int(0);
  record().add("stream", *stream);
  return 0;
}
int cuStreamDestroy_v2(void* stream) {
  IN_CONTEXT("cuStreamDestroy_v2")
  if (!record().remove("stream", stream)) return invalid_value;
  delete static_cast<int*>(stream);
  return 0;
}
int cuStreamSynchronize(void*) {
  IN_CONTEXT("cuStreamSynchronize")
  return 0;
}
int cuEventCreate(void** event, unsigned) {
  IN_CONTEXT("cuEventCreate")
  *event = new int(0);
  record().add("event", *event);
  return 0;
}
int cuEventDestroy_v2(void* event) {
  IN_CONTEXT("cuEventDestroy_v2")
  if (!record().remove("event", event)) return invalid_value;
  delete static_cast<int*>(event);
  return 0;
}
int cuEventRecord(void*, void*) {
  IN_CONTEXT("cuEventRecord")
  return 0;
}
int cuEventSynchronize(void*) {
  IN_CONTEXT("cuEventSynchronize")
  return 0;
}
int cuMemAlloc_v2(std::uintptr_t* address, std::size_t bytes) {
  IN_CONTEXT("cuMemAlloc_v2")
  return memory().allocate(address, bytes);
}
int cuMemFree_v2(std::uintptr_t address) {
  IN_CONTEXT("cuMemFree_v2")
  return memory().release(address);
}
int cuMemHostAlloc(void** place, std::size_t bytes, unsigned) {
  IN_CONTEXT("cuMemHostAlloc")
  *place = std::malloc(bytes);
  record().add("pinned memory", *place);
  return 0;
}
int cuMemFreeHost(void* place) {
  IN_CONTEXT("cuMemFreeHost")
  if (!record().remove("pinned memory", place)) return invalid_value;
  std::free(place);
  return 0;
}
int cuMemcpyHtoDAsync_v2(std::uintptr_t to, const void* from, std::size_t bytes, void*) {
  IN_CONTEXT("cuMemcpyHtoDAsync_v2")
  if (!memory().holds(to, bytes)) return invalid_value;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
int cuMemcpyDtoHAsync_v2(void* to, std::uintptr_t from, std::size_t bytes, void*) {
  IN_CONTEXT("cuMemcpyDtoHAsync_v2")
  if (!memory().holds(from, bytes)) return invalid_value;
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return 0;
}
int cuMemcpyDtoDAsync_v2(std::uintptr_t to, std::uintptr_t from, std::size_t bytes, void*) {
  IN_CONTEXT("cuMemcpyDtoDAsync_v2")
  if (!memory().holds(to, bytes) || !memory().holds(from, bytes)) return invalid_value;
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return 0;
}
int cuMemsetD8Async(std::uintptr_t to, unsigned char value, std::size_t bytes, void*) {
  IN_CONTEXT("cuMemsetD8Async")
  if (!memory().holds(to, bytes)) return invalid_value;
  std::memset(reinterpret_cast<void*>(to), value, bytes);
  return 0;
}
/// The image is a shared library, whose length is where its table of sections ends.
int cuModuleLoadData(void** module, const void* image) {
  IN_CONTEXT("cuModuleLoadData")
  const auto* bytes = static_cast<const unsigned char*>(image);
  if (std::memcmp(bytes, "\177ELF", 4) != 0) return invalid_image;
  std::uint64_t sections = 0;
  std::uint16_t size = 0, count = 0;
  std::memcpy(&sections, bytes + 40, sizeof sections);
  std::memcpy(&size, bytes + 58, sizeof size);
  std::memcpy(&count, bytes + 60, sizeof count);
  std::string file = (std::filesystem::temp_directory_path() / "emulated-cuda-module-XXXXXX").string();
  const int descriptor = mkstemp(file.data());
  const auto length = sections + std::uint64_t{size} * count;
  const bool is_written = descriptor >= 0 && write(descriptor, bytes, length) == static_cast<ssize_t>(length);
  if (descriptor >= 0) close(descriptor);
  void* const library = is_written ? dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  unlink(file.c_str());
  if (library == nullptr) return invalid_image;
  auto* const result = new Module{library, static_cast<Index*>(dlsym(library, "threadIdx")),
                                  static_cast<Index*>(dlsym(library, "blockIdx"))};
  record().add("module", result);
  *module = result;
  return 0;
}
int cuModuleUnload(void* module) {
  IN_CONTEXT("cuModuleUnload")
  if (!record().remove("module", module)) return invalid_value;
  dlclose(static_cast<Module*>(module)->library);
  delete static_cast<Module*>(module);
  return 0;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  IN_CONTEXT("cuModuleGetFunction")
  auto* const run =
      reinterpret_cast<Items::Run>(dlsym(static_cast<Module*>(module)->library, (std::string("run_") + name).c_str()));
  if (run == nullptr) return not_found;
  static std::map<void*, Function> functions; // they live as long as the process, as their modules mostly do
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  auto& result = functions[reinterpret_cast<void*>(run)];
  result = {static_cast<Module*>(module), run};
  *function = &result;
  return 0;
}
int cuFuncGetAttribute(int* value, int, void*) {
  IN_CONTEXT("cuFuncGetAttribute")
  *value = static_cast<int>(number_of("EMULATED_CUDA_LOCAL", 0));
  return 0;
}
int cuLaunchKernel(void* function, unsigned groups_x, unsigned groups_y, unsigned groups_z, unsigned items_x,
                   unsigned items_y, unsigned items_z, unsigned, void*, void** arguments, void**) {
  IN_CONTEXT("cuLaunchKernel")
  if (groups_x == 0 || groups_y != 1 || groups_z != 1 || items_x * items_y * items_z > 1024) return invalid_value;
  return launch(*static_cast<Function*>(function), {groups_x, groups_y, groups_z}, {items_x, items_y, items_z},
                arguments);
}
int cuGetErrorName(int code, const char** name) {
  static thread_local std::string text;
  text = "EMULATED_" + std::to_string(code);
  *name = text.c_str();
  return 0;
}

// The same functions under the names of HIP, but for those that answer otherwise.
#define UNDER_NAME(name, of, ...) int name(__VA_ARGS__) __attribute__((alias(#of)));
UNDER_NAME(hipInit, cuInit, unsigned)
UNDER_NAME(hipGetDeviceCount, cuDeviceGetCount, int*)
UNDER_NAME(hipDeviceGet, cuDeviceGet, int*, int)
UNDER_NAME(hipDeviceGetName, cuDeviceGetName, char*, int, int)
UNDER_NAME(hipDeviceTotalMem, cuDeviceTotalMem_v2, std::size_t*, int)
UNDER_NAME(hipDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, void**, int)
UNDER_NAME(hipDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, int)
UNDER_NAME(hipCtxSetCurrent, cuCtxSetCurrent, void*)
UNDER_NAME(hipMemGetInfo, cuMemGetInfo_v2, std::size_t*, std::size_t*)
UNDER_NAME(hipStreamCreateWithFlags, cuStreamCreate, void**, unsigned)
UNDER_NAME(hipStreamDestroy, cuStreamDestroy_v2, void*)
UNDER_NAME(hipStreamSynchronize, cuStreamSynchronize, void*)
UNDER_NAME(hipEventCreateWithFlags, cuEventCreate, void**, unsigned)
UNDER_NAME(hipEventDestroy, cuEventDestroy_v2, void*)
UNDER_NAME(hipEventRecord, cuEventRecord, void*, void*)
UNDER_NAME(hipEventSynchronize, cuEventSynchronize, void*)
UNDER_NAME(hipMalloc, cuMemAlloc_v2, std::uintptr_t*, std::size_t)
UNDER_NAME(hipFree, cuMemFree_v2, std::uintptr_t)
UNDER_NAME(hipHostMalloc, cuMemHostAlloc, void**, std::size_t, unsigned)
UNDER_NAME(hipHostFree, cuMemFreeHost, void*)
UNDER_NAME(hipMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, std::uintptr_t, const void*, std::size_t, void*)
UNDER_NAME(hipMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, void*, std::uintptr_t, std::size_t, void*)
UNDER_NAME(hipMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, std::uintptr_t, std::uintptr_t, std::size_t, void*)
UNDER_NAME(hipMemsetD8Async, cuMemsetD8Async, std::uintptr_t, unsigned char, std::size_t, void*)
UNDER_NAME(hipModuleLoadData, cuModuleLoadData, void**, const void*)
UNDER_NAME(hipModuleUnload, cuModuleUnload, void*)
UNDER_NAME(hipModuleGetFunction, cuModuleGetFunction, void**, void*, const char*)
UNDER_NAME(hipFuncGetAttribute, cuFuncGetAttribute, int*, int, void*)
UNDER_NAME(hipModuleLaunchKernel, cuLaunchKernel, void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
           unsigned, void*, void**, void**)
int hipDriverGetVersion(int* version) {
  EMULATED("hipDriverGetVersion")
  *version = 50221153; // 5.2
  return 0;
}
int hipDeviceGetAttribute(int* value, int attribute, int) {
  EMULATED("hipDeviceGetAttribute")
  static const std::map<int, int> values{{56, 1024}, {74, 65536}, {87, 64}, {71, 65536}, {63, 4}, {16, 0}, {57, 2048}};
  const auto found = values.find(attribute);
  if (found == values.end()) return invalid_value;
  *value = found->second;
  return 0;
}
int hipGetDeviceProperties(void* properties, int) {
  EMULATED("hipGetDeviceProperties")
  constexpr std::size_t place = 640; // somewhere between other properties
  std::strcpy(static_cast<char*>(properties) + place, "gfx90a:sramecc+:xnack-");
  return 0;
}

} // extern "C"
