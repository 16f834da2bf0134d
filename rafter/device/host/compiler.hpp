// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <filesystem>
#include <rafter/device/device.hpp>
#include <string>
#include <vector>

namespace rafter::device {

struct Compiler {
  std::string path;    ///< absolute
  std::string version; ///< first line of what --version says
};

/// The C compiler of a name or path; "": gcc, else clang, else cc from PATH. Version looked up once per process and
/// path. Throws EnvironmentError that says what to install when there is none.
Compiler find_compiler(const std::string& name = "");

/// "default", and the names of the other known compilers that PATH has.
std::vector<std::string> available_compilers();

/// Flags that plans choose by name: all compilers take them.
struct FlagSet {
  std::string name, meaning;
  std::vector<std::string> flags; ///< added to those of every kernel
};
/// "default" first.
const std::vector<FlagSet>& flag_sets();
std::vector<std::string> flag_set_names();

/// Flags that make kernels for the processor that this program runs on.
std::vector<std::string> own_processor_flags();

/// All flags of a kernel for a processor; they are part of a program's name in the cache. Throws InputError for unknown
/// sets of flags.
std::vector<std::string> compiler_flags(const CompileOptions& options,
                                        const std::vector<std::string>& processor = own_processor_flags());

/// Compiles a C file to a shared library. On failure moves the source to kept_source and throws EnvironmentError that
/// shows the command, the first lines of the compiler's output and where the source is. The compiler's own temporary
/// files are beside the source.
struct Compilation {
  std::vector<std::string> flags;
  std::filesystem::path source, library, kept_source;
};
void compile_library(const Compiler& compiler, const Compilation& compilation);

} // namespace rafter::device
