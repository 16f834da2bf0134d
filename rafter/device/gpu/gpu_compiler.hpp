// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace rafter::device {

/// Resources of a graphics processor that a kernel takes, as its compiler reports them.
struct KernelResources {
  std::string name;      ///< entry point of the program
  int registers = 0;     ///< registers of 32 bits per item
  int stack_bytes = 0;   ///< local memory of an item: work arrays that are not in registers, and what was spilled
  int spilled_bytes = 0; ///< bytes that are stored because registers did not suffice
  std::int64_t shared_bytes = 0; ///< memory that the items of a group share
  bool operator==(const KernelResources&) const = default;
};

/// A program that a compiler made for one architecture.
struct GpuCode {
  std::string code; ///< machine code; "": the compiler does not know the architecture, and there is only the text
  std::string text; ///< text that drivers compile for architectures that came after the compiler; "": none
  std::vector<KernelResources> kernels; ///< in the order of their names; empty where the compiler does not report them
};

/// Names in which the run-time compilers of two makers differ, whose functions have the same arguments.
struct GpuCompilerNames {
  const char* name;                   ///< name in messages: "NVRTC"
  std::vector<const char*> libraries; ///< names of the library, with their versions, the ones tried first ahead
  const char* builtins;               ///< name of the library with built-in functions, before its version; "": none
  std::vector<const char*> homes;     ///< environment variables that name the folder of an installation
  std::vector<const char*> folders;   ///< folders of installations
  std::vector<const char*> wheels;    ///< folders below `site-packages` in which packages for Python put it
  const char* how_to_get;             ///< for messages
  const char* source_ending;          ///< ending of the names of sources: "cu"
  std::vector<const char*> options;   ///< options of every compilation
  const char* option_of_architecture; ///< "--gpu-architecture="
  /// Reads the resources of kernels in the log of a compilation, or in the code.
  std::vector<KernelResources> (*resources)(const std::string& log, const std::string& code);
  /// Major version of the driver, whose compilers are not newer; 0: not known. Null: any version will do.
  int (*newest_version)();
  struct Functions {
    const char *version, *create, *compile, *destroy, *log_size, *log, *code_size, *code, *text_size, *text,
        *num_architectures, *architectures; ///< from text_size on, null where there is none
  } functions;
};

/// The run-time compiler of a maker's graphics processors. It needs no device.
class GpuCompiler {
public:
  /// Takes the compiler from an installation that an environment variable names, from the loader's path, from a usual
  /// folder or from a package for Python, in this order: the first one that is complete and not newer than the driver.
  /// Throws EnvironmentError, which says what is missing and how to get it, where there is none.
  static std::shared_ptr<const GpuCompiler> instance(const GpuCompilerNames& names);

  const std::string& version() const { return version_; } ///< name and version, such as "NVRTC 13.0"
  /// All that decides about the code beside source and architecture.
  const std::string& key() const { return key_; }
  const std::filesystem::path& path() const { return path_; } ///< path of the library
  /// Compiles a source for an architecture ("sm_90"). For one that is newer than the compiler there is only a text, for
  /// the newest architecture before it. May be called on several threads. Throws EnvironmentError on failure, with the
  /// first lines of the log and the place where the source is kept: `kept` with the ending of sources.
  GpuCode compile(const std::string& source, const std::string& architecture, const std::filesystem::path& kept) const;

private:
  using Program = void*;
  explicit GpuCompiler(const GpuCompilerNames& names);
  void open();
  std::string take(void* library, int newest);
  std::string target(const std::string& architecture) const;

  const GpuCompilerNames& names_;
  std::filesystem::path path_;
  std::string version_, key_;
  std::vector<int> architectures_; ///< those that the compiler knows, ascending; empty: it does not say
  int (*get_version_)(int* major, int* minor) = nullptr;
  int (*create_)(Program* program, const char* source, const char* name, int num_headers, const char* const* headers,
                 const char* const* names) = nullptr;
  int (*compile_)(Program program, int num_options, const char* const* options) = nullptr;
  int (*destroy_)(Program* program) = nullptr;
  int (*get_log_size_)(Program program, std::size_t* bytes) = nullptr;
  int (*get_log_)(Program program, char* text) = nullptr;
  int (*get_code_size_)(Program program, std::size_t* bytes) = nullptr;
  int (*get_code_)(Program program, char* code) = nullptr;
  int (*get_text_size_)(Program program, std::size_t* bytes) = nullptr;
  int (*get_text_)(Program program, char* text) = nullptr;
};

/// The run-time compiler of NVIDIA.
const GpuCompilerNames& nvrtc_names();
/// The run-time compiler of AMD.
const GpuCompilerNames& hiprtc_names();

/// Reads what ptxas reports of kernels with `-v`.
std::vector<KernelResources> resources_in_log(const std::string& log);
/// Reads the notes on kernels in a code object of AMD's: a map in MessagePack for each, with its keys in their order
/// (LLVM, User Guide for AMDGPU Backend, Code Object V3 Metadata). Spilled bytes may be in registers of matrix units.
std::vector<KernelResources> resources_in_code_object(const std::string& code);

} // namespace rafter::device
