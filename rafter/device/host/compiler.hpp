// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <filesystem>
#include <rafter/device/device.hpp>
#include <string>
#include <vector>

namespace rafter::device {

/// A C compiler of this machine.
struct Compiler {
  std::string path;    ///< absolute path
  std::string version; ///< first line of its answer to --version
};

/// The C compiler with this name or path; "" means gcc, else clang, else cc from PATH. Versions are asked for once per
/// process and path, and remembered on disk (compiler_versions.hpp). Throws EnvironmentError that says what to install
/// when there is none.
Compiler find_compiler(const std::string& name = "");

/// The list of "default" and the names of other known compilers in PATH.
std::vector<std::string> available_compilers();

/// A named set of compiler flags for plans; all compilers accept them.
struct FlagSet {
  std::string name, meaning;
  std::vector<std::string> flags; ///< flags that are added to those of every kernel
};
/// All sets of flags that this processor can run, "default" first.
const std::vector<FlagSet>& flag_sets();
std::vector<std::string> flag_set_names();

/// Flags for code for the processor on which this program runs.
std::vector<std::string> own_processor_flags();

/// All flags for compiling a kernel for a processor; they are part of a program's key in the cache. Throws InputError
/// for unknown sets of flags.
std::vector<std::string> compiler_flags(const CompileOptions& options,
                                        const std::vector<std::string>& processor = own_processor_flags());

/// Flags that a compiler alone knows: they spare it work that changes no kernel.
std::vector<std::string> own_flags(const Compiler& compiler);

/// The first lines of what a compiler says, and how many more there are: errors come first, and later lines mostly
/// follow from them.
std::string first_lines(const std::string& text, std::size_t max_lines);

/// Files and flags for compiling a C source to a shared library. The compiler's temporary files stand beside the
/// source.
struct Compilation {
  std::vector<std::string> flags;
  std::filesystem::path source, library, kept_source;
};
/// Compiles the library. On failure moves the source to kept_source and throws EnvironmentError that shows the command,
/// the first lines of the compiler's output and the place of the source.
void compile_library(const Compiler& compiler, const Compilation& compilation);

} // namespace rafter::device
