// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/host/program_cache.hpp>

#include <chrono>
#include <rafter/base/error.hpp>
#include <rafter/base/hash.hpp>
#include <rafter/base/output_file.hpp>
#include <rafter/base/temporary.hpp>
#include <rafter/base/text.hpp>
#include <rafter/device/host/compiler.hpp>
#include <rafter/device/host/cpu.hpp>
#include <rafter/device/host/shared_library.hpp>
#include <string_view>
#include <system_error>

namespace rafter::device {
namespace {

namespace fs = std::filesystem;

/// The folder cannot store or load programs. (A program that does not compile is another error.)
class UnusableFolder : public base::EnvironmentError {
public:
  using base::EnvironmentError::EnvironmentError;
};

constexpr std::string_view trailer_tag = "\nrafter checksum ";
constexpr std::size_t trailer_size = trailer_tag.size() + 32;
constexpr const char* build_prefix = "build-";

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
  std::string text;
  for (const auto& part : parts) text += std::to_string(part.size()) + ":" + part; // lengths keep the parts apart
  return base::content_hash(text);
}

/// Loads the program in a cache file; null when the file is missing, damaged or refused by the loader.
std::shared_ptr<const Program> load(const fs::path& file) {
  try {
    const std::string bytes = read_bytes(file);
    if (bytes.size() < trailer_size) return nullptr;
    const std::string_view library = std::string_view(bytes).substr(0, bytes.size() - trailer_size);
    const std::string trailer = std::string(trailer_tag) + base::content_hash(library);
    if (std::string_view(bytes).substr(library.size()) != trailer) return nullptr;
    return std::make_shared<HostProgram>(file);
  } catch (const base::EnvironmentError&) {
    return nullptr;
  }
}

/// Makes a folder for one compilation inside the cache folder, so that the result can be renamed into place.
base::Temporary make_build_folder(const fs::path& parent) {
  try {
    return base::Temporary::folder((parent / build_prefix).string());
  } catch (const std::system_error& error) {
    throw UnusableFolder("'" + parent.string() + "' cannot be written: " + error.code().message());
  }
}

/// Removes folders of compilations that were killed long ago.
void remove_stale_builds(const fs::path& folder) {
  std::error_code error;
  const auto limit = fs::file_time_type::clock::now() - std::chrono::hours(24);
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    std::error_code ignored;
    const bool is_build = entry->path().filename().string().starts_with(build_prefix);
    if (is_build && entry->last_write_time(ignored) < limit && !ignored) fs::remove_all(entry->path(), ignored);
  }
}

void write(const fs::path& file, std::string_view bytes) {
  try {
    base::write_output(file.string(), bytes, 0600);
  } catch (const base::EnvironmentError& error) {
    throw UnusableFolder(error.what());
  }
}

/// Says whether the disk is so full that compilers fail.
bool is_full(const fs::path& folder) {
  std::error_code error;
  return fs::space(folder, error).available < (std::uintmax_t(1) << 20) && !error;
}

/// Compiles a program into its cache file. The source is kept beside it only if that fails.
void build(const fs::path& file, const Compiler& compiler, const std::string& source, const CompileOptions& options) {
  const base::Temporary temporary = make_build_folder(file.parent_path());
  const fs::path folder = temporary.path();
  Compilation compilation{.flags = all_flags(compiler, options),
                          .source = folder / "kernel.c",
                          .library = folder / "kernel.so",
                          .kept_source = fs::path(file).replace_extension(".c")};
  write(compilation.source, source);
  try {
    compile_library(compiler, compilation);
  } catch (const base::EnvironmentError&) {
    if (is_full(file.parent_path())) throw UnusableFolder("the disk of '" + file.parent_path().string() + "' is full");
    throw;
  }
  std::string bytes = read_bytes(compilation.library);
  bytes += std::string(trailer_tag) + base::content_hash(bytes);
  write(file, bytes);
}

} // namespace

fs::path ProgramCache::directory() const {
  const std::scoped_lock lock(mutex_);
  return directory_.path();
}

fs::path ProgramCache::file_of(const std::string& source, const CompileOptions& options) const {
  return directory() / (key_of(find_compiler(options.compiler), source, options) + ".so");
}

void ProgramCache::degrade(const fs::path& from, const std::string& reason) {
  const std::scoped_lock lock(mutex_);
  if (directory_.path() == from) directory_.degrade(reason); // otherwise another thread has done it already
}

void ProgramCache::keep_source(const fs::path& folder) const {
  const std::scoped_lock lock(mutex_);
  if (directory_.is_private_temporary() && directory_.path() == folder) keep_private_temporary();
}

std::shared_ptr<const Program> ProgramCache::load_or_build(const std::string& key, const Compiler& compiler,
                                                           const std::string& source, const CompileOptions& options) {
  for (;;) {
    const fs::path folder = directory();
    const fs::path file = folder / (key + ".so");
    try {
      if (auto program = load(file)) return program;
      remove_stale_builds(folder);
      build(file, compiler, source, options);
      if (auto program = load(file)) return program;
      // The loader refuses correct bytes: most likely the disk is mounted noexec.
      throw UnusableFolder("programs cannot be loaded from '" + folder.string() + "' (mounted noexec?)");
    } catch (const UnusableFolder& error) {
      degrade(folder, error.what());
    } catch (const base::EnvironmentError&) {
      keep_source(folder);
      throw;
    }
  }
}

std::shared_ptr<ProgramCache::Entry> ProgramCache::entry_of(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  auto& slot = entries_[key];
  if (!slot) slot = std::make_shared<Entry>();
  return slot;
}

std::shared_ptr<const Program> ProgramCache::find(const std::string& source, const CompileOptions& options) {
  const std::string key = key_of(find_compiler(options.compiler), source, options);
  const auto entry = entry_of(key);
  const std::scoped_lock lock(entry->mutex);
  if (!entry->program) entry->program = load(directory() / (key + ".so"));
  return entry->program;
}

std::shared_ptr<const Program> ProgramCache::program(const std::string& source, const CompileOptions& options) {
  if (options.language != "c") throw base::InternalError("the host device compiles C, not '" + options.language + "'");
  const Compiler compiler = find_compiler(options.compiler);
  const std::string key = key_of(compiler, source, options);
  const auto entry = entry_of(key);
  const std::scoped_lock lock(entry->mutex);
  if (!entry->program) entry->program = load_or_build(key, compiler, source, options);
  return entry->program;
}

} // namespace rafter::device
