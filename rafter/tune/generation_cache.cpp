// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/tune/generation_cache.hpp>

#include <array>
#include <chrono>
#include <cstring>
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

// Numbers stand in the files as they are in memory: a cache belongs to one machine.
template <class T> Json to_binary(const std::vector<T>& values) {
  std::vector<std::uint8_t> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return Json::binary(std::move(bytes));
}
template <class T> std::vector<T> from_binary(const Json& json) {
  const auto& bytes = json.get_binary();
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

Json json_of(const schedule::LoopBuffer& argument) {
  return {{"name", argument.name},       {"type", static_cast<int>(argument.type)},
          {"size", argument.size},       {"is_written", argument.is_written},
          {"is_lane", argument.is_lane}, {"role", argument.role},
          {"index", argument.index},     {"values", to_binary(argument.values)}};
}
schedule::LoopBuffer argument_from(const Json& json) {
  schedule::LoopBuffer result;
  json.at("name").get_to(result.name);
  result.type = static_cast<schedule::Type>(json.at("type").get<int>());
  json.at("size").get_to(result.size);
  json.at("is_written").get_to(result.is_written);
  json.at("is_lane").get_to(result.is_lane);
  json.at("role").get_to(result.role);
  json.at("index").get_to(result.index);
  result.values = from_binary<double>(json.at("values"));
  return result;
}

Json json_of(const GeneratedProgram& program) {
  Json result{{"source", program.source},
              {"name", program.name},
              {"plan", schedule::to_string(program.plan)},
              {"vector_width", program.vector_width},
              {"items", program.launch.items},
              {"batches", program.launch.batches},
              {"points", to_binary(program.points)},
              {"weights", to_binary(program.weights)},
              {"matrices", Json::array()},
              {"arguments", Json::array()}};
  for (const auto& matrix : program.matrices) result["matrices"].push_back(to_binary(matrix));
  for (const auto& argument : program.arguments) result["arguments"].push_back(json_of(argument));
  return result;
}
GeneratedProgram program_from(const Json& json) {
  GeneratedProgram result;
  json.at("source").get_to(result.source);
  json.at("name").get_to(result.name);
  result.plan = schedule::parse_plan(json.at("plan").get<std::string>());
  json.at("vector_width").get_to(result.vector_width);
  json.at("items").get_to(result.launch.items);
  json.at("batches").get_to(result.launch.batches);
  result.points = from_binary<double>(json.at("points"));
  result.weights = from_binary<double>(json.at("weights"));
  for (const auto& matrix : json.at("matrices")) result.matrices.push_back(from_binary<double>(matrix));
  for (const auto& argument : json.at("arguments")) result.arguments.push_back(argument_from(argument));
  return result;
}

/// What is remembered of the least traffic, in one order.
template <class Least> auto entries_of_least(Least& least) {
  return std::array{&least.all.read_bytes, &least.all.written_bytes, &least.masked.read_bytes,
                    &least.masked.written_bytes};
}

/// What is remembered of the counts, in one order.
template <class Counts> auto entries(Counts& counts) {
  return std::array{&counts.flops,
                    &counts.operations,
                    &counts.single_flops,
                    &counts.single_operations,
                    &counts.local.read_bytes,
                    &counts.local.written_bytes,
                    &counts.masked.read_bytes,
                    &counts.masked.written_bytes,
                    &counts.global.read_bytes,
                    &counts.global.written_bytes};
}

Json json_of(const GeneratedOutput& output) {
  return {{"field", output.field},
          {"components", output.components},
          {"num_tests", output.num_tests},
          {"num_trials", output.num_trials},
          {"places", to_binary(output.places)}};
}
GeneratedOutput output_from(const Json& json) {
  return {.field = json.at("field").get<int>(),
          .components = json.at("components").get<int>(),
          .num_tests = json.at("num_tests").get<int>(),
          .num_trials = json.at("num_trials").get<int>(),
          .places = from_binary<int>(json.at("places"))};
}

/// A checksum, then the content.
std::string to_bytes(const Generation& generation) {
  std::vector<double> counts;
  for (const double* count : entries(generation.counts)) counts.push_back(*count);
  Json json{{"seconds", generation.seconds},
            {"is_too_large", generation.is_too_large},
            {"main", json_of(generation.main)},
            {"setup", json_of(generation.setup)},
            {"tensor_program", generation.tensor_program},
            {"loop_program", generation.loop_program},
            {"counts", to_binary(counts)},
            {"cell_flops", generation.cell_flops},
            {"work_bytes", generation.work_bytes},
            {"data_bytes", generation.data_bytes},
            {"num_points", generation.num_points},
            {"stored_point_slots", generation.stored_point_slots},
            {"stored_cell_slots", generation.stored_cell_slots},
            {"setup_fields", to_binary(generation.setup_fields)},
            {"setup_parameters", to_binary(generation.setup_parameters)},
            {"outputs", Json::array()}};
  for (const auto& output : generation.outputs) json["outputs"].push_back(json_of(output));
  if (generation.least) {
    std::vector<double> least;
    for (const double* bytes : entries_of_least(*generation.least)) least.push_back(*bytes);
    json["least"] = to_binary(least);
  }
  std::string bytes;
  Json::to_cbor(json, bytes);
  return base::content_hash(bytes) + bytes;
}

/// Throws one of the exceptions of its parts for bytes that no to_bytes wrote.
std::optional<Generation> from_bytes(const std::string& bytes) {
  if (bytes.size() < hash_length) return std::nullopt;
  const auto content = std::string_view(bytes).substr(hash_length);
  if (base::content_hash(content) != std::string_view(bytes).substr(0, hash_length)) return std::nullopt;
  const auto json = Json::from_cbor(content);
  Generation result;
  json.at("seconds").get_to(result.seconds);
  json.at("is_too_large").get_to(result.is_too_large);
  result.main = program_from(json.at("main"));
  result.setup = program_from(json.at("setup"));
  json.at("tensor_program").get_to(result.tensor_program);
  json.at("loop_program").get_to(result.loop_program);
  const auto counts = from_binary<double>(json.at("counts"));
  const auto places = entries(result.counts);
  for (std::size_t i = 0; i < places.size(); ++i) *places[i] = counts.at(i);
  json.at("cell_flops").get_to(result.cell_flops);
  json.at("work_bytes").get_to(result.work_bytes);
  json.at("data_bytes").get_to(result.data_bytes);
  json.at("num_points").get_to(result.num_points);
  json.at("stored_point_slots").get_to(result.stored_point_slots);
  json.at("stored_cell_slots").get_to(result.stored_cell_slots);
  result.setup_fields = from_binary<int>(json.at("setup_fields"));
  result.setup_parameters = from_binary<int>(json.at("setup_parameters"));
  for (const auto& output : json.at("outputs")) result.outputs.push_back(output_from(output));
  if (json.contains("least")) {
    const auto least = from_binary<double>(json["least"]);
    const auto of_least = entries_of_least(result.least.emplace());
    for (std::size_t i = 0; i < of_least.size(); ++i) *of_least[i] = least.at(i);
  }
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

std::int64_t num_matrix_entries(const Generation& generation) {
  std::int64_t result = 0;
  for (const auto& output : generation.outputs)
    result += std::int64_t{output.components} * output.num_tests * output.num_trials;
  return result;
}

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
