// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/tune/kernel_text_cache.hpp>

#include <chrono>
#include <concepts>
#include <cstring>
#include <system_error>
#include <tuple>
#include <type_traits>

#include <rafter/base/error.hpp>
#include <rafter/base/hash.hpp>
#include <rafter/device/host/cache_directory.hpp>
#include <rafter/device/host/cache_entry.hpp>

namespace rafter::tune {

namespace {

namespace fs = std::filesystem;

constexpr const char* folder_prefix = "generated-";

template <class T, class Wanted>
concept SameButConst = std::same_as<std::remove_const_t<T>, Wanted>;

// The members of each record, in the order in which they stand in a file.
auto fields(SameButConst<schedule::LoopBuffer> auto& argument) {
  return std::tie(argument.name, argument.space, argument.type, argument.size, argument.is_written, argument.is_lane,
                  argument.role, argument.index, argument.values);
}
auto fields(SameButConst<GeneratedProgram> auto& program) {
  return std::tie(program.source, program.name, program.plan, program.vector_width, program.launch.items[0],
                  program.launch.items[1], program.launch.items[2], program.launch.batches, program.arguments,
                  program.matrices, program.points, program.weights);
}
auto fields(SameButConst<GeneratedOutput> auto& output) {
  return std::tie(output.field, output.components, output.num_tests, output.num_trials, output.places);
}
auto fields(SameButConst<schedule::Traffic> auto& traffic) {
  return std::tie(traffic.read_bytes, traffic.written_bytes);
}
auto fields(SameButConst<schedule::LeastTraffic> auto& least) { return std::tie(least.all, least.masked); }
/// Instructions are not remembered: they are counted of the loop program where somebody asks for them.
auto fields(SameButConst<schedule::LoopCounts> auto& counts) {
  return std::tie(counts.flops, counts.operations, counts.single_flops, counts.single_operations, counts.local,
                  counts.masked, counts.global);
}
auto fields(SameButConst<KernelPrograms> auto& programs) {
  auto& g = programs;
  return std::tie(g.seconds, g.is_too_large, g.main, g.setup, g.tensor_program, g.schedule_text, g.loop_program,
                  g.setup_loop_program, g.counts, g.least, g.cell_flops, g.work_bytes, g.data_bytes, g.num_points,
                  g.stored_point_slots, g.stored_cell_slots, g.setup_flops, g.setup_fields, g.setup_parameters,
                  g.outputs);
}

template <class T>
concept Number = std::is_arithmetic_v<T> || std::is_enum_v<T>;
template <class T>
concept Record = requires(T& value) {
  fields(value);
};

/// Writes values as they are in memory: a cache belongs to one machine and one generator.
class Writer {
public:
  void write(const Number auto& value) { append(&value, sizeof value); }
  void write(const std::string& text) {
    write(text.size());
    append(text.data(), text.size());
  }
  void write(const schedule::Plan& plan) { write(schedule::to_string(plan)); }
  template <class T> void write(const std::vector<T>& values) {
    write(values.size());
    if constexpr (Number<T>)
      append(values.data(), values.size() * sizeof(T));
    else
      for (const auto& value : values) write(value);
  }
  template <class T> void write(const std::optional<T>& value) {
    write(value.has_value());
    if (value) write(*value);
  }
  void write(const Record auto& record) {
    std::apply([&](const auto&... members) { (write(members), ...); }, fields(record));
  }

  std::string bytes;

private:
  void append(const void* begin, std::size_t size) { bytes.append(static_cast<const char*>(begin), size); }
};

/// Reads what a Writer wrote. Throws InputError for bytes that none did.
class Reader {
public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  void read(Number auto& value) { take(&value, sizeof value); }
  void read(std::string& text) {
    text.resize(size_of_items(1));
    take(text.data(), text.size());
  }
  void read(schedule::Plan& plan) {
    std::string text;
    read(text);
    plan = schedule::parse_plan(text);
  }
  template <class T> void read(std::vector<T>& values) {
    values.resize(size_of_items(Number<T> ? sizeof(T) : 1));
    if constexpr (Number<T>)
      take(values.data(), values.size() * sizeof(T));
    else
      for (auto& value : values) read(value);
  }
  template <class T> void read(std::optional<T>& value) {
    bool has_value = false;
    read(has_value);
    if (has_value) read(value.emplace());
  }
  void read(Record auto& record) {
    std::apply([&](auto&... members) { (read(members), ...); }, fields(record));
  }

private:
  /// Reads a number of items, each of which has at least so many bytes.
  std::size_t size_of_items(std::size_t least_bytes) {
    std::size_t count = 0;
    read(count);
    if (count > rest_.size() / least_bytes) throw base::InputError("a remembered kernel is cut off");
    return count;
  }
  void take(void* target, std::size_t size) {
    if (size > rest_.size()) throw base::InputError("a remembered kernel is cut off");
    if (size > 0) std::memcpy(target, rest_.data(), size);
    rest_.remove_prefix(size);
  }

  std::string_view rest_;
};

std::string to_bytes(const KernelPrograms& programs) {
  Writer writer;
  writer.write(programs);
  return std::move(writer.bytes);
}

/// Throws InputError for bytes that no to_bytes wrote.
KernelPrograms from_bytes(std::string_view bytes) {
  KernelPrograms result;
  Reader(bytes).read(result);
  return result;
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

std::int64_t num_matrix_entries(const KernelPrograms& programs) {
  std::int64_t result = 0;
  for (const auto& output : programs.outputs)
    result += std::int64_t{output.components} * output.num_tests * output.num_trials;
  return result;
}

KernelTextCache::KernelTextCache() : KernelTextCache(device::CacheDirectory().path()) {}

KernelTextCache::KernelTextCache(fs::path folder, std::string_view id)
    : parent_(std::move(folder)), folder_(parent_ / (folder_prefix + std::string(id))),
      kind_("kernel of generator " + std::string(id)) {}

fs::path KernelTextCache::file_of(const std::string& hash) const { return folder_ / (hash + ".kernel"); }

std::optional<KernelPrograms> KernelTextCache::find(const std::string& specification) const {
  const auto hash = base::content_hash(specification);
  const auto file = file_of(hash);
  const auto bytes = device::read_entry(file, {kind_, hash});
  if (!bytes) return std::nullopt;
  std::error_code error;
  std::call_once(is_used_, [&] { fs::last_write_time(folder_, fs::file_time_type::clock::now(), error); });
  try {
    return from_bytes(*bytes);
  } catch (const base::InputError&) { // the plan names a set of flags, say, that this version does not have
    device::set_entry_aside(file);
    return std::nullopt;
  }
}

void KernelTextCache::remember(const std::string& specification, const KernelPrograms& programs) {
  try {
    std::call_once(is_made_, [this] {
      fs::create_directory(folder_);
      fs::permissions(folder_, fs::perms::owner_all);
      remove_stale(parent_, folder_);
    });
    const auto hash = base::content_hash(specification);
    device::write_entry(file_of(hash), {kind_, hash}, to_bytes(programs));
  } catch (const base::EnvironmentError&) { // a full disk, say: the next process generates the kernel again
    return;
  } catch (const std::system_error&) {
    return;
  }
}

} // namespace rafter::tune
