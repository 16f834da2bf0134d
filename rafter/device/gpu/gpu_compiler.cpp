// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/gpu/gpu_compiler.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>

#include <dlfcn.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/device/gpu/gpu_library.hpp>
#include <rafter/device/host/binary_cache.hpp>
#include <rafter/device/host/compiler.hpp>

namespace rafter::device {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string list_of(const std::vector<const char*>& names) {
  return base::join(std::vector<std::string>(names.begin(), names.end()), ", ");
}

/// Folders below `parent` whose names begin with a text, in the order of their names.
std::vector<fs::path> folders_in(const fs::path& parent, const std::string& begin) {
  std::vector<fs::path> result;
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().filename().string().starts_with(begin)) result.push_back(entry->path());
  // Numbers in names compare as such: version 9.2 is before 13.0.
  std::ranges::sort(result, [](const auto& a, const auto& b) { return strverscmp(a.c_str(), b.c_str()) < 0; });
  return result;
}

/// Folders in which Python of this user and of this machine looks for packages.
std::vector<fs::path> package_folders() {
  std::vector<fs::path> roots;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const auto root = variable(name); !root.empty()) roots.emplace_back(root);
  if (const auto home = variable("HOME"); !home.empty()) roots.push_back(fs::path(home) / ".local");
  roots.insert(roots.end(), {"/usr/local", "/usr"});
  std::vector<fs::path> result;
  for (const auto& root : roots)
    for (const auto& python : folders_in(root / "lib", "python"))
      for (const char* name : {"site-packages", "dist-packages"})
        if (std::error_code error; fs::is_directory(python / name, error)) result.push_back(python / name);
  return result;
}

/// Folders in which the library may be, those of environment variables first. "": the loader's path.
std::vector<fs::path> places(const GpuCompilerNames& names) {
  std::vector<fs::path> result;
  const auto add_installation = [&](const fs::path& home) {
    for (const char* name : {"lib64", "lib"}) result.push_back(home / name);
  };
  for (const auto* home : names.homes)
    if (const auto folder = variable(home); !folder.empty()) add_installation(folder);
  result.emplace_back();
  for (const auto* folder : names.folders) {
    add_installation(folder);
    const fs::path path(folder);
    auto versions = folders_in(path.parent_path(), path.filename().string() + "-");
    std::ranges::reverse(versions); // the newest first
    for (const auto& version : versions) add_installation(version);
  }
  for (const auto& packages : package_folders())
    for (const auto* wheel : names.wheels) result.push_back(packages / wheel);
  return result;
}

/// Path of the library that holds a function.
fs::path path_of(void* function, const fs::path& opened) {
  Dl_info info{};
  return dladdr(function, &info) != 0 && info.dli_fname != nullptr ? fs::path(info.dli_fname) : opened;
}

/// The number behind `word` in a line; none where the word is not there.
std::optional<int> number_after(const std::string& line, const std::string& word) {
  const auto place = line.find(word);
  int result = 0;
  if (place == std::string::npos) return std::nullopt;
  const char* const first = line.data() + place + word.size();
  if (std::from_chars(first, line.data() + line.size(), result).ec != std::errc()) return std::nullopt;
  return result;
}

/// The number before `words` in a line, which a space separates from them.
std::optional<int> number_before(const std::string& line, const std::string& words) {
  const auto end = line.find(" " + words);
  if (end == std::string::npos) return std::nullopt;
  const auto last_other = line.find_last_not_of("0123456789", end == 0 ? 0 : end - 1);
  const auto begin = last_other == std::string::npos ? 0 : last_other + 1;
  int result = 0;
  if (std::from_chars(line.data() + begin, line.data() + end, result).ec != std::errc()) return std::nullopt;
  return result;
}

} // namespace

std::vector<KernelResources> resources_in_log(const std::string& log) {
  std::map<std::string, KernelResources> kernels;
  KernelResources* kernel = nullptr;
  bool is_of_kernel = false;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view head = "Compiling entry function '";
    if (const auto place = line.find(head); place != std::string::npos) {
      const auto begin = place + head.size();
      const auto name = line.substr(begin, line.find('\'', begin) - begin);
      kernel = &kernels[name];
      kernel->name = name;
    }
    if (kernel == nullptr) continue;
    // Functions that a kernel calls have properties of their own.
    constexpr std::string_view properties = "Function properties for ";
    if (const auto place = line.find(properties); place != std::string::npos)
      is_of_kernel = line.substr(place + properties.size()) == kernel->name;
    if (const auto count = number_after(line, "Used ")) {
      kernel->registers = *count;
      kernel->shared_bytes = number_before(line, "bytes smem").value_or(0);
    }
    if (!is_of_kernel) continue;
    if (const auto bytes = number_before(line, "bytes stack frame")) kernel->stack_bytes = *bytes;
    if (const auto bytes = number_before(line, "bytes spill stores")) kernel->spilled_bytes = *bytes;
  }
  std::vector<KernelResources> result;
  for (auto& [name, value] : kernels) result.push_back(std::move(value));
  return result;
}

namespace {

/// The number or the text that stands in MessagePack from a place on; 0 or "" where it is something else.
std::int64_t packed_number(const std::string& bytes, std::size_t place) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(i < bytes.size() ? bytes[i] : 0); };
  constexpr unsigned char first_of_one_byte = 0xcc; // then two, four and eight bytes, the highest first
  const unsigned kind = byte(place);
  if (kind < 0x80) return kind;
  if (kind < first_of_one_byte || kind > first_of_one_byte + 3U) return 0;
  std::int64_t result = 0;
  for (std::size_t i = 1; i <= std::size_t{1} << (kind - first_of_one_byte); ++i)
    result = result << 8 | byte(place + i);
  return result;
}
std::string packed_text(const std::string& bytes, std::size_t place) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(i < bytes.size() ? bytes[i] : 0); };
  constexpr unsigned short_text = 0xa0, most_of_short_text = 31, text_of_one_byte = 0xd9;
  const unsigned kind = byte(place);
  if (kind >= short_text && kind <= short_text + most_of_short_text) return bytes.substr(place + 1, kind - short_text);
  return kind == text_of_one_byte ? bytes.substr(place + 2, byte(place + 1)) : "";
}

} // namespace

std::vector<KernelResources> resources_in_code_object(const std::string& code) {
  // Keys stand in the order of the alphabet: this one is the first of those that are read of a kernel.
  constexpr std::string_view first = ".group_segment_fixed_size";
  std::vector<KernelResources> result;
  for (auto begin = code.find(first); begin != std::string::npos;) {
    const auto end = code.find(first, begin + first.size());
    const auto place_of = [&](std::string_view key) {
      const auto place = code.find(key, begin);
      return place < end && place != std::string::npos ? place + key.size() : code.size();
    };
    const auto number = [&](std::string_view key) { return packed_number(code, place_of(key)); };
    result.push_back({.name = packed_text(code, place_of(".name")),
                      .registers = static_cast<int>(number(".vgpr_count")),
                      .stack_bytes = static_cast<int>(number(".private_segment_fixed_size")),
                      .spilled_bytes = 4 * static_cast<int>(number(".vgpr_spill_count")),
                      .shared_bytes = number(first)});
    begin = end;
  }
  return result;
}

GpuCompiler::GpuCompiler(const GpuCompilerNames& names) : names_(names) { open(); }

/// Takes the first library that is complete and not newer than the driver, if there is one.
void GpuCompiler::open() {
  const int newest = names_.newest_version == nullptr ? 0 : names_.newest_version();
  std::string objection; // what is wrong with the first library that was found
  for (const auto& place : places(names_))
    for (const auto* name : names_.libraries) {
      path_ = place.empty() ? fs::path(name) : place / name;
      void* const library = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL); // it stays as long as the process
      if (library == nullptr) {
        const char* const said = dlerror();
        std::error_code error;
        if (said != nullptr && objection.empty() && !place.empty() && fs::exists(path_, error))
          objection = std::string(names_.name) + " cannot be loaded: " + said;
        continue;
      }
      const auto here = take(library, newest);
      if (here.empty()) return;
      if (objection.empty()) objection = here;
    }
  if (objection.empty())
    objection = std::string("there is no ") + names_.name +
                ", the compiler of kernels for the device: " + list_of(names_.libraries) +
                " is in none of the folders of " + list_of(names_.homes) +
                ", the loader's path, usual folders and packages for Python";
  throw base::EnvironmentError(objection + "; to get it: " + names_.how_to_get);
}

/// Takes the functions of a library. Returns what it lacks; "": nothing. `newest`: major version of the driver, or 0.
std::string GpuCompiler::take(void* library, int newest) {
  std::string missing;
  const auto take_if_there = [&](auto& function, const char* symbol) {
    function = symbol == nullptr
                   ? nullptr
                   : reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
  };
  const auto take_one = [&](auto& function, const char* symbol) {
    take_if_there(function, symbol);
    if (function == nullptr && missing.empty()) missing = symbol;
  };
  const auto& of = names_.functions;
  take_one(get_version_, of.version);
  take_one(create_, of.create);
  take_one(compile_, of.compile);
  take_one(destroy_, of.destroy);
  take_one(get_log_size_, of.log_size);
  take_one(get_log_, of.log);
  take_one(get_code_size_, of.code_size);
  take_one(get_code_, of.code);
  take_if_there(get_text_size_, of.text_size);
  take_if_there(get_text_, of.text);
  const auto name = std::string(names_.name) + " " + path_.string();
  if (!missing.empty()) return name + " is too old: it has no function " + missing;
  path_ = path_of(reinterpret_cast<void*>(get_version_), path_);
  int major = 0, minor = 0;
  if (get_version_(&major, &minor) != 0) return name + " does not give its version";
  version_ = std::string(names_.name) + " " + std::to_string(major) + "." + std::to_string(minor);
  if (newest > 0 && major > newest)
    return version_ + " (" + path_.string() + ") is newer than the driver, which serves version " +
           std::to_string(newest);
  if (*names_.builtins != '\0') {
    // The compiler opens them by their name when it compiles, and finds them only if they have been opened before or
    // lie on the loader's path.
    const auto builtins = names_.builtins + std::to_string(major) + "." + std::to_string(minor);
    if (dlopen((path_.parent_path() / builtins).c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr &&
        dlopen(builtins.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr)
      return name + " needs " + builtins + ", of exactly its version, in the same folder";
  }
  // Builds of one version are told apart by the size and the time of the library.
  std::error_code error;
  key_ = version_ + " " + std::to_string(fs::file_size(path_, error)) + " " +
         std::to_string(fs::last_write_time(path_, error).time_since_epoch().count());
  for (const auto* option : names_.options) key_ += std::string(" ") + option;
  int (*count)(int*) = nullptr;
  int (*list)(int*) = nullptr;
  take_if_there(count, of.num_architectures);
  take_if_there(list, of.architectures);
  architectures_.clear();
  if (int size = 0; count != nullptr && list != nullptr && count(&size) == 0) {
    architectures_.resize(static_cast<std::size_t>(size));
    if (list(architectures_.data()) != 0) architectures_.clear();
    std::ranges::sort(architectures_);
  }
  return "";
}

std::shared_ptr<const GpuCompiler> GpuCompiler::instance(const GpuCompilerNames& names) {
  static std::mutex mutex;
  static std::map<const GpuCompilerNames*, std::shared_ptr<const GpuCompiler>> compilers;
  const std::lock_guard lock(mutex);
  auto& compiler = compilers[&names];
  if (compiler == nullptr) compiler.reset(new GpuCompiler(names));
  return compiler;
}

/// The architecture that the compiler is asked for: a virtual one, for which there is a text alone, where it does not
/// know the real one.
std::string GpuCompiler::target(const std::string& architecture) const {
  constexpr std::string_view real = "sm_";
  int number = 0;
  if (architectures_.empty() || !architecture.starts_with(real) ||
      std::from_chars(architecture.data() + real.size(), architecture.data() + architecture.size(), number).ec !=
          std::errc() ||
      std::ranges::binary_search(architectures_, number))
    return architecture;
  const auto after = std::ranges::upper_bound(architectures_, number);
  if (after == architectures_.begin())
    throw base::EnvironmentError(std::string(names_.name) + " " + path_.string() + " compiles for sm_" +
                                 std::to_string(architectures_.front()) + " and newer devices, not for " +
                                 architecture + ": an older version does");
  return "compute_" + std::to_string(*(after - 1));
}

GpuCode GpuCompiler::compile(const std::string& source, const std::string& architecture,
                             const std::filesystem::path& kept) const {
  const auto asked = target(architecture);
  const bool has_code = asked == architecture;
  const auto option = names_.option_of_architecture + asked;
  std::vector<const char*> options{option.c_str()};
  options.insert(options.end(), names_.options.begin(), names_.options.end());
  const auto fail = [&](const std::string& why) {
    const auto file = kept.string() + "." + names_.source_ending;
    std::string where = "\n  source kept: " + file;
    try {
      write_private(file, source);
    } catch (const base::EnvironmentError&) {
      where = ""; // what the compiler says is more than that
    }
    return base::EnvironmentError(version_ + " (" + path_.string() + ") cannot compile a kernel for " + asked + where +
                                  "\n" + why);
  };
  Program program = nullptr;
  if (const int code = create_(&program, source.c_str(), ("kernel." + std::string(names_.source_ending)).c_str(), 0,
                               nullptr, nullptr);
      code != 0)
    throw fail("code " + std::to_string(code) + " at its start");
  const std::shared_ptr<void> owner(program, [this](void* made) { destroy_(&made); });
  const auto text_of = [&](auto* size_function, auto* function) -> std::string {
    std::size_t size = 0;
    if (size_function == nullptr || function == nullptr || size_function(program, &size) != 0 || size == 0) return "";
    std::string result(size, '\0');
    return function(program, result.data()) == 0 ? result : "";
  };
  const int code = compile_(program, static_cast<int>(options.size()), options.data());
  auto log = text_of(get_log_size_, get_log_);
  log.resize(std::min(log.size(), log.find('\0')));
  if (code != 0) throw fail("code " + std::to_string(code) + "\n" + first_lines(log, 20));
  GpuCode result{.code = has_code ? text_of(get_code_size_, get_code_) : "",
                 .text = text_of(get_text_size_, get_text_),
                 .kernels = {}};
  result.kernels = names_.resources(log, result.code);
  if (result.code.empty() && result.text.empty()) throw fail("it made no code");
  return result;
}

namespace {

/// Major version of the driver; 0: there is none.
int version_of_cuda_driver() {
  try {
    int version = 0;
    return gpu_library(cuda_names())->get_version(&version) == GpuLibrary::success ? version / 1000 : 0;
  } catch (const base::EnvironmentError&) {
    return 0;
  }
}

} // namespace

const GpuCompilerNames& nvrtc_names() {
  static const GpuCompilerNames names{
      .name = "NVRTC",
      .libraries = {"libnvrtc.so.13", "libnvrtc.so.12"},
      .builtins = "libnvrtc-builtins.so.",
      .homes = {"CUDA_HOME", "CUDA_PATH"},
      .folders = {"/usr/local/cuda", "/opt/cuda"},
      .wheels = {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"},
      .how_to_get = "pip install nvidia-cuda-nvrtc (or nvidia-cuda-nvrtc-cu12, for older drivers), or the CUDA toolkit",
      .source_ending = "cu",
      .options = {"--std=c++17", "--ptxas-options=-v"},
      .option_of_architecture = "--gpu-architecture=",
      .resources = [](const std::string& log, const std::string&) { return resources_in_log(log); },
      .newest_version = version_of_cuda_driver,
      .functions = {.version = "nvrtcVersion",
                    .create = "nvrtcCreateProgram",
                    .compile = "nvrtcCompileProgram",
                    .destroy = "nvrtcDestroyProgram",
                    .log_size = "nvrtcGetProgramLogSize",
                    .log = "nvrtcGetProgramLog",
                    .code_size = "nvrtcGetCUBINSize",
                    .code = "nvrtcGetCUBIN",
                    .text_size = "nvrtcGetPTXSize",
                    .text = "nvrtcGetPTX",
                    .num_architectures = "nvrtcGetNumSupportedArchs",
                    .architectures = "nvrtcGetSupportedArchs"}};
  return names;
}

/// The hardware's atomic additions are "unsafe" as they do not reach memory of the host that is looked at meanwhile.
const GpuCompilerNames& hiprtc_names() {
  static const GpuCompilerNames names{
      .name = "hiprtc",
      .libraries = {"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", "libamdhip64.so.5"},
      .builtins = "",
      .homes = {"ROCM_PATH", "HIP_PATH"},
      .folders = {"/opt/rocm"},
      .wheels = {"_rocm_sdk_core/lib"},
      .how_to_get = "install ROCm (Debian: libamdhip64-5, libhiprtc-builtins5, for devices up to gfx90a)",
      .source_ending = "hip",
      .options = {"--std=c++17", "-O3", "-munsafe-fp-atomics"},
      .option_of_architecture = "--offload-arch=",
      .resources = [](const std::string&, const std::string& code) { return resources_in_code_object(code); },
      .newest_version = nullptr,
      .functions = {.version = "hiprtcVersion",
                    .create = "hiprtcCreateProgram",
                    .compile = "hiprtcCompileProgram",
                    .destroy = "hiprtcDestroyProgram",
                    .log_size = "hiprtcGetProgramLogSize",
                    .log = "hiprtcGetProgramLog",
                    .code_size = "hiprtcGetCodeSize",
                    .code = "hiprtcGetCode",
                    .text_size = nullptr,
                    .text = nullptr,
                    .num_architectures = nullptr,
                    .architectures = nullptr}};
  return names;
}

} // namespace rafter::device
