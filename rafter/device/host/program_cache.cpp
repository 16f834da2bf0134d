// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/host/program_cache.hpp>

#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/device/host/compiler.hpp>
#include <rafter/device/host/cpu.hpp>
#include <rafter/device/host/shared_library.hpp>

namespace rafter::device {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> all_flags(const Compiler& compiler, const CompileOptions& options) {
  auto result = own_flags(compiler);
  const auto flags = compiler_flags(options);
  result.insert(result.end(), flags.begin(), flags.end());
  return result;
}

std::string key_of(const Compiler& compiler, const std::string& source, const CompileOptions& options) {
  std::vector<std::string> parts{RAFTER_VERSION, compiler.path, compiler.version, cpu().vendor, cpu().model};
  parts.push_back(base::join(cpu().instruction_sets, " "));
  for (const auto& flag : all_flags(compiler, options)) parts.push_back(flag);
  parts.push_back(source);
  return cache_key(parts);
}

/// Compiles a program to the bytes of a library. The source is kept only if that fails. The path of what is kept ends
/// in the key, which the library holds, too: another file may have its name between the check of an entry and the
/// loader's opening it.
Binary build(const fs::path& folder, const fs::path& kept, const Compiler& compiler, const std::string& source,
             const CompileOptions& options) {
  const Compilation compilation{.flags = all_flags(compiler, options),
                                .source = folder / "kernel.c",
                                .library = folder / "kernel.so",
                                .kept_source = kept.string() + ".c"};
  write_private(compilation.source,
                source + "\nconst char " + HostProgram::key_symbol + "[] = \"" + kept.filename().string() + "\";\n");
  compile_library(compiler, compilation);
  return {read_bytes(compilation.library)};
}

} // namespace

ProgramCache::ProgramCache(CacheDirectory directory)
    : binaries_(
          std::move(directory),
          {.extension = ".so", .load = [](const fs::path& file, const std::string&) -> std::shared_ptr<const Program> {
             auto program = std::make_shared<HostProgram>(file);
             return program->key() == file.stem().string() ? program : nullptr;
           }}) {}

fs::path ProgramCache::file_of(const std::string& source, const CompileOptions& options) const {
  return binaries_.file_of(key_of(find_compiler(options.compiler), source, options));
}

std::shared_ptr<const Program> ProgramCache::find(const std::string& source, const CompileOptions& options) {
  return binaries_.find(key_of(find_compiler(options.compiler), source, options));
}

std::shared_ptr<const Program> ProgramCache::program(const std::string& source, const CompileOptions& options) {
  if (options.language != "c") throw base::InternalError("the host device compiles C, not '" + options.language + "'");
  const Compiler compiler = find_compiler(options.compiler);
  return binaries_.program(key_of(compiler, source, options), [&](const fs::path& folder, const fs::path& kept) {
    return build(folder, kept, compiler, source, options);
  });
}

} // namespace rafter::device
