// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/io/saved_state.hpp>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <tuple>
#include <utility>
#include <vector>

#include <rafter/base/error.hpp>
#include <rafter/base/hash.hpp>
#include <rafter/io/hdf5_reader.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::io {
namespace {

const std::string root_group = "Rafter", values_group = "Rafter/State", spaces_group = "Rafter/Spaces",
                  intermediate_group = "Rafter/Intermediate", lag_name = "Rafter/Lag";

template <class Values> void append_bytes(const Values& values, std::string& bytes) {
  bytes += fmt::format("{}:", values.size());
  if (!values.empty()) bytes.append(reinterpret_cast<const char*>(values.data()), std::span(values).size_bytes());
}

/// Points, cells and identified vertices enter the hash, so that equal meshes have equal ones, whatever file they come
/// from.
std::string mesh_hash(const mesh::Mesh& mesh) {
  std::string bytes = fmt::format("{} {} ", mesh.gdim, mesh.num_vertices);
  append_bytes(mesh.points, bytes);
  append_bytes(mesh.global_vertices, bytes);
  for (const auto& cells : mesh.groups) {
    bytes += fmt::format("{} {} ", element::name(cells.shape), cells.degree);
    append_bytes(cells.vertices, bytes);
    append_bytes(cells.nodes(), bytes);
  }
  return base::content_hash(bytes);
}

/// Returns the entries of the local vector of a space in the order of saved states.
std::vector<std::int32_t> file_order(const space::FunctionSpace& space) {
  std::vector<std::int32_t> order, entries;
  std::vector<char> is_listed(static_cast<std::size_t>(space.num_local()), 0);
  const auto& mesh = space.mesh();
  for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
    const auto& cells = mesh.groups[g];
    entries.resize(static_cast<std::size_t>(space.element(cells.shape)->num_dofs() * space.num_components()));
    for (std::int32_t cell = 0; cell < cells.num_cells(); ++cell) {
      const auto position = space.position(static_cast<std::int32_t>(g), cell);
      space.cell_dofs(position.block, position.batch, position.cell, entries);
      for (const auto entry : entries)
        if (std::exchange(is_listed[static_cast<std::size_t>(entry)], 1) == 0) order.push_back(entry);
    }
  }
  return order;
}

std::vector<std::int64_t> description(const space::FunctionSpace& space) {
  return {space.degree, space.num_components()};
}

std::string text(const std::vector<std::int64_t>& description) {
  return description.size() == 2 ? fmt::format("degree {} and {} component{}", description[0], description[1],
                                               description[1] == 1 ? "" : "s")
                                 : "another description";
}

[[noreturn]] void refuse(const std::string& path, const std::string& message) {
  throw base::InputError(path + ": " + message);
}

void require_state(const Hdf5Reader& file, const std::string& path) {
  if (!file.has(values_group))
    refuse(path, "the file holds no state to go on from; accepted are outputs of problems with [time]");
}

/// Refuses times of a file that no run with steps writes: count and length of the steps lead from the start to the
/// time.
void require_times(const SavedTime& saved, const std::string& path) {
  const auto [time, start, step, number] = std::tuple(saved.time, saved.start, saved.step, saved.number);
  if (!(std::isfinite(time) && std::isfinite(start) && std::isfinite(step)))
    refuse(path, fmt::format("{}/Time: its times are damaged: found {}, {} and {}, accepted are finite numbers",
                             root_group, time, start, step));
  if (!(step > 0))
    refuse(path, fmt::format("{}/Time: its length of steps is damaged: found {}, accepted is a number above 0",
                             root_group, step));
  if (time < start)
    refuse(path, fmt::format("{}/Time: its times are damaged: the state at t = {} is before the start {}", root_group,
                             time, start));
  if (number < 0)
    refuse(path,
           fmt::format("{}/Step: its number of steps is damaged: found {}, accepted is 0 or more", root_group, number));
  // The bound holds rounding of the product and of the sum.
  const double end = start + static_cast<double>(number) * step;
  if (!(std::abs(end - time) <= 1e-6 * step + 1e-15 * (std::abs(start) + std::abs(time))))
    refuse(path, fmt::format("{}/Step: its number of steps is damaged: {} steps of {} from {} end at t = {:.6g}, while "
                             "its state is that of t = {:.6g}",
                             root_group, number, step, start, end, time));
  if (saved.lag && !(*saved.lag >= 0 && *saved.lag <= step))
    refuse(path, fmt::format("{}: its time is damaged: found {}, accepted is 0 to the length of steps, {}", lag_name,
                             *saved.lag, step));
}

/// Refuses a state of another time than the last one of the series that the file shows.
void require_last(double time, const Hdf5Reader& file, const std::string& path) {
  const std::string name = "VTKHDF/Steps/Values";
  if (!file.has(name)) return;
  const auto times = file.read<double>(name);
  if (!times.empty() && times.back() != time)
    refuse(path, fmt::format("{}/Time: its time is damaged: its state is that of t = {}, while its series ({}) ends at "
                             "t = {}",
                             root_group, time, name, times.back()));
}

SavedTime saved_time(const Hdf5Reader& file, const std::string& path) {
  if (!file.has(root_group + "/Time") || !file.has(root_group + "/Step")) refuse(path, "its time is missing");
  const auto times = file.read<double>(root_group + "/Time");
  const auto number = file.read<std::int64_t>(root_group + "/Step");
  if (times.size() != 3 || number.size() != 1)
    refuse(path, fmt::format("its time is damaged: {0}/Time has {1} numbers and {0}/Step has {2}, accepted are 3 and 1",
                             root_group, times.size(), number.size()));
  SavedTime result{.time = times[0],
                   .start = times[1],
                   .step = times[2],
                   .number = number[0],
                   .method = file.text_attribute(root_group, "Method")};
  if (file.has(lag_name)) {
    const auto lag = file.read<double>(lag_name);
    if (lag.size() != 1)
      refuse(path, fmt::format("{}: its time is damaged: found {} numbers, accepted is 1", lag_name, lag.size()));
    result.lag = lag[0];
  }
  require_times(result, path);
  require_last(result.time, file, path);
  return result;
}

/// Reads the values of a field in the order of the file into its local vector.
void read_values(const Hdf5Reader& file, const std::string& path, const std::string& name, const SavedField& field,
                 std::span<double> result) {
  const auto order = file_order(*field.space);
  if (file.shape(name + "/" + field.name) != std::vector{std::ssize(order)})
    refuse(path, fmt::format("its field '{}' is not complete", field.name));
  const auto values = file.read<double>(name + "/" + field.name);
  const auto found = std::ranges::find_if_not(values, [](double value) { return std::isfinite(value); });
  if (found != values.end())
    refuse(path, fmt::format("{}/{}: its field is damaged: number {} is {}, accepted are finite numbers", name,
                             field.name, found - values.begin(), *found));
  for (std::size_t i = 0; i < order.size(); ++i) result[static_cast<std::size_t>(order[i])] = values[i];
}

void write_values(Hdf5Writer& file, const std::string& name, const OutputField& field) {
  std::vector<double> values;
  for (const auto entry : file_order(*field.space)) values.push_back(field.values[static_cast<std::size_t>(entry)]);
  file.write(name + "/" + field.name, values);
}

} // namespace

void write_state(Hdf5Writer& file, const mesh::Mesh& mesh, const SavedTime& time, std::span<const OutputField> fields,
                 std::span<const OutputField> intermediates) {
  file.make_group(root_group);
  file.write_attribute(root_group, "Mesh", mesh_hash(mesh));
  file.write(root_group + "/Time", std::vector{time.time, time.start, time.step});
  file.write(root_group + "/Step", std::vector{time.number});
  if (!time.method.empty()) file.write_attribute(root_group, "Method", time.method);
  for (const auto& name : {values_group, spaces_group}) file.make_group(name);
  for (const auto& field : fields) {
    file.write(spaces_group + "/" + field.name, description(*field.space));
    write_values(file, values_group, field);
  }
  if (!time.lag) return;
  file.write(lag_name, std::vector{*time.lag});
  file.make_group(intermediate_group);
  for (const auto& intermediate : intermediates) write_values(file, intermediate_group, intermediate);
}

SavedTime read_state(const std::string& path, const mesh::Mesh& mesh, std::span<const SavedField> fields) {
  const Hdf5Reader file(path);
  require_state(file, path);
  if (file.text_attribute(root_group, "Mesh") != mesh_hash(mesh))
    refuse(path,
           "its state is that of another mesh: points or cells differ; a run goes on with the mesh, its refinement and "
           "its periodic boundaries as they were, and on a box with solver.preconditioner and "
           "solver.multigrid.semicoarsening, too, because multigrid numbers the cells of boxes in an order of its own");
  for (const auto& field : fields) {
    if (!file.has(values_group + "/" + field.name) || !file.has(spaces_group + "/" + field.name))
      refuse(path, fmt::format("its state has no field '{}'", field.name));
    const auto found = file.read<std::int64_t>(spaces_group + "/" + field.name);
    if (found != description(*field.space))
      refuse(path, fmt::format("its field '{}' has {}, that of the problem has {}", field.name, text(found),
                               text(description(*field.space))));
    read_values(file, path, values_group, field, field.values);
  }
  auto time = saved_time(file, path);
  const auto has_intermediate = [&file](const SavedField& field) {
    return field.intermediate.empty() || file.has(intermediate_group + "/" + field.name);
  };
  if (!std::ranges::all_of(fields, has_intermediate)) time.lag.reset();
  if (time.lag)
    for (const auto& field : fields)
      if (!field.intermediate.empty()) read_values(file, path, intermediate_group, field, field.intermediate);
  return time;
}

SavedTime read_saved_time(const std::string& path) {
  const Hdf5Reader file(path);
  require_state(file, path);
  return saved_time(file, path);
}

} // namespace rafter::io
