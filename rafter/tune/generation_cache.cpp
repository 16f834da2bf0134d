// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/tune/generation_cache.hpp>

#include <chrono>
#include <nlohmann/json.hpp>
#include <system_error>

#include <rafter/base/error.hpp>
#include <rafter/base/hash.hpp>
#include <rafter/base/output_file.hpp>
#include <rafter/device/host/cache_directory.hpp>

namespace rafter::tune {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* folder_prefix = "generated-";
constexpr std::size_t hash_length = 32;

/// A checksum, then the content.
std::string to_bytes(const Generation& generation) {
  const std::string text = Json{{"plan", schedule::to_string(generation.plan)},
                                {"seconds", generation.seconds},
                                {"source", generation.source},
                                {"setup_source", generation.setup_source}}
                               .dump();
  return base::content_hash(text) + text;
}

/// Throws one of the exceptions of its parts for bytes that no to_bytes wrote.
std::optional<Generation> from_bytes(const std::string& bytes) {
  if (bytes.size() < hash_length) return std::nullopt;
  const auto text = std::string_view(bytes).substr(hash_length);
  if (base::content_hash(text) != bytes.substr(0, hash_length)) return std::nullopt;
  const auto json = Json::parse(text);
  return Generation{.plan = schedule::parse_plan(json.at("plan").get<std::string>()),
                    .seconds = json.at("seconds").get<double>(),
                    .source = json.at("source").get<std::string>(),
                    .setup_source = json.at("setup_source").get<std::string>()};
}

/// Removes the folders of generators that no process has used for long: one that finds kernels sets the folder's time.
void remove_stale(const fs::path& parent, const fs::path& own) {
  std::error_code error;
  const auto limit = fs::file_time_type::clock::now() - std::chrono::weeks(4);
  for (auto entry = fs::directory_iterator(parent, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    std::error_code ignored;
    const bool is_generated = entry->path().filename().string().starts_with(folder_prefix) && entry->path() != own;
    if (is_generated && entry->last_write_time(ignored) < limit && !ignored) fs::remove_all(entry->path(), ignored);
  }
}

} // namespace

GenerationCache::GenerationCache() : GenerationCache(device::CacheDirectory().path()) {}

GenerationCache::GenerationCache(fs::path folder, std::string_view id)
    : parent_(std::move(folder)), folder_(parent_ / (folder_prefix + std::string(id))) {}

fs::path GenerationCache::file_of(const std::string& specification) const {
  return folder_ / (base::content_hash(specification) + ".kernel");
}

std::optional<Generation> GenerationCache::find(const std::string& specification) const {
  try {
    const auto file = file_of(specification);
    std::error_code error;
    if (!fs::exists(file, error)) return std::nullopt;
    std::call_once(is_used_, [&] { fs::last_write_time(folder_, fs::file_time_type::clock::now(), error); });
    return from_bytes(device::read_bytes(file));
  } catch (const base::EnvironmentError&) {
    return std::nullopt;
  } catch (const base::InputError&) { // the plan of another version
    return std::nullopt;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

void GenerationCache::remember(const std::string& specification, const Generation& generation) {
  try {
    std::call_once(is_made_, [this] {
      fs::create_directory(folder_);
      fs::permissions(folder_, fs::perms::owner_all);
      remove_stale(parent_, folder_);
    });
    base::write_output(file_of(specification).string(), to_bytes(generation), 0600);
  } catch (const base::EnvironmentError&) { // a full disk, say: the next process generates the kernel again
    return;
  } catch (const std::system_error&) {
    return;
  }
}

} // namespace rafter::tune
