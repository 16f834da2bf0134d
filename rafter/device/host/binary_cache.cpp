// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/device/host/binary_cache.hpp>

#include <chrono>
#include <system_error>

#include <rafter/base/hash.hpp>
#include <rafter/base/output_file.hpp>
#include <rafter/base/temporary.hpp>
#include <rafter/device/host/cache_entry.hpp>

namespace rafter::device {
namespace {

namespace fs = std::filesystem;

constexpr const char* build_prefix = "build-";

/// Makes a folder for one compilation inside the cache folder, so that the result can be renamed into place.
base::Temporary make_build_folder(const fs::path& parent) {
  try {
    return base::Temporary::folder((parent / build_prefix).string());
  } catch (const std::system_error& error) {
    throw UnusableFolder("'" + parent.string() + "' cannot be written: " + error.code().message());
  }
}

/// Removes folders of compilations that were killed long ago, and programs that were set aside then.
void remove_stale_files(const fs::path& folder, const std::string& extension) {
  std::error_code error;
  const auto limit = fs::file_time_type::clock::now() - std::chrono::hours(24);
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    std::error_code ignored;
    const auto name = entry->path().filename().string();
    const bool is_transient = name.starts_with(build_prefix) || name.ends_with(extension + damaged_ending);
    if (is_transient && entry->last_write_time(ignored) < limit && !ignored) fs::remove_all(entry->path(), ignored);
  }
}

/// Says whether the disk is so full that compilers fail.
bool is_full(const fs::path& folder) {
  std::error_code error;
  return fs::space(folder, error).available < (std::uintmax_t(1) << 20) && !error;
}

/// Runs an operation that writes into a cache folder.
template <class Write> void write_into_folder(const Write& write) {
  try {
    write();
  } catch (const base::EnvironmentError& error) {
    throw UnusableFolder(error.what());
  }
}

} // namespace

void write_private(const fs::path& file, std::string_view bytes) {
  write_into_folder([&] { base::write_output(file.string(), bytes, 0600); });
}

std::string cache_key(const std::vector<std::string>& parts) {
  std::string text;
  for (const auto& part : parts) text += std::to_string(part.size()) + ":" + part; // lengths keep the parts apart
  return base::content_hash(text);
}

fs::path BinaryCache::directory() const {
  const std::scoped_lock lock(mutex_);
  return directory_.path();
}

void BinaryCache::degrade(const fs::path& from, const std::string& reason) {
  const std::scoped_lock lock(mutex_);
  if (directory_.path() == from) directory_.degrade(reason); // otherwise another thread has done it already
}

void BinaryCache::keep_files(const fs::path& folder) const {
  const std::scoped_lock lock(mutex_);
  if (directory_.is_private_temporary() && directory_.path() == folder) keep_private_temporary();
}

/// Loads the program of a key from a cache file; null when the file is missing, is not that of the key or is refused by
/// the device.
std::shared_ptr<const Program> BinaryCache::load(const fs::path& file, const std::string& key) const {
  const auto bytes = read_entry(file, {format_.extension, key});
  if (!bytes) return nullptr;
  try {
    return format_.load(file, *bytes);
  } catch (const base::EnvironmentError&) {
    return nullptr;
  }
}

/// Compiles the program of a key into its cache file.
std::shared_ptr<const Program> BinaryCache::compiled(const fs::path& file, const std::string& key,
                                                     const BinaryBuild& build) const {
  const base::Temporary temporary = make_build_folder(file.parent_path());
  Binary binary;
  try {
    binary = build(temporary.path(), fs::path(file).replace_extension());
  } catch (const base::EnvironmentError&) {
    if (is_full(file.parent_path())) throw UnusableFolder("the disk of '" + file.parent_path().string() + "' is full");
    throw;
  }
  if (!binary.bytes.empty()) // devices may keep their binaries to themselves
    write_into_folder([&] { write_entry(file, {format_.extension, key}, std::move(binary.bytes)); });
  return binary.program;
}

std::shared_ptr<const Program> BinaryCache::load_or_build(const std::string& key, const BinaryBuild& build) {
  for (;;) {
    const fs::path folder = directory();
    const fs::path file = folder / (key + format_.extension);
    try {
      if (auto program = load(file, key)) return program;
      remove_stale_files(folder, format_.extension);
      if (auto program = compiled(file, key, build)) return program;
      if (auto program = load(file, key)) return program;
      // The loader refuses correct bytes: most likely the disk is mounted noexec.
      throw UnusableFolder("programs cannot be loaded from '" + folder.string() + "' (mounted noexec?)");
    } catch (const UnusableFolder& error) {
      degrade(folder, error.what());
    } catch (const base::EnvironmentError&) {
      keep_files(folder);
      throw;
    }
  }
}

std::shared_ptr<BinaryCache::Entry> BinaryCache::entry_of(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  auto& slot = entries_[key];
  if (!slot) slot = std::make_shared<Entry>();
  return slot;
}

std::shared_ptr<const Program> BinaryCache::find(const std::string& key) {
  const auto entry = entry_of(key);
  const std::scoped_lock lock(entry->mutex);
  if (!entry->program) entry->program = load(file_of(key), key);
  return entry->program;
}

std::shared_ptr<const Program> BinaryCache::program(const std::string& key, const BinaryBuild& build) {
  const auto entry = entry_of(key);
  const std::scoped_lock lock(entry->mutex);
  if (!entry->program) entry->program = load_or_build(key, build);
  return entry->program;
}

} // namespace rafter::device
