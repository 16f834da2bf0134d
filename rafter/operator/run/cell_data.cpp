// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/run/cell_data.hpp>

#include <fmt/format.h>
#include <rafter/base/hash.hpp>
#include <rafter/schedule/loop_program.hpp>
#include <rafter/space/discretisation.hpp>
#include <rafter/tune/kernel_text_cache.hpp>

namespace rafter::op {
namespace {

template <class T> std::string hash_of(std::span<const T> values) {
  return base::content_hash({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

/// The address names the device, because shared values keep their device alive: no other device has this address while
/// they are known.
std::string name_of(const std::shared_ptr<device::Device>& device) {
  return fmt::format("{}", static_cast<const void*>(device.get()));
}

std::vector<double> reference_normals(const BatchedCells& cells) {
  std::vector<double> result;
  for (const int facet : cells.local_facets) {
    const auto normal = element::reference_normal(cells.shape, facet);
    result.insert(result.end(), normal.begin(), normal.begin() + element::dimension(cells.shape));
  }
  return result;
}

CellData make_cell_data(const mesh::Mesh& mesh, const BatchedCells& cells, const BatchedCells& rows,
                        const std::shared_ptr<device::Device>& device, bool is_cell_by_cell) {
  CellData result{.batches = batch_numbers(cells, device), .map_coefficients = {}, .nodes = {}, .reference_normal = {}};
  const bool has_nodes = cells.map == mesh::MapKind::isoparametric;
  auto geometry = has_nodes ? geometry_nodes(mesh, rows) : map_coefficients(mesh, rows);
  if (is_cell_by_cell) put_cell_by_cell(geometry, rows.cells_per_batch, rows.num_batches);
  (has_nodes ? result.nodes : result.map_coefficients) = {device, std::move(geometry)};
  if (cells.is_facet()) result.reference_normal = device::to_array<double>(device, reference_normals(cells));
  for (const auto* numbers : {&result.batches.num_active, &result.batches.facets})
    (void)numbers->device_read(); // now, because threads that share the data must only read
  for (const auto* numbers : {&result.map_coefficients, &result.nodes, &result.reference_normal})
    (void)numbers->device_read();
  return result;
}

} // namespace

BatchNumbers batch_numbers(const BatchedCells& cells, const std::shared_ptr<device::Device>& device) {
  return {.num_active = {device, active_counts(cells)}, .facets = device::to_array<std::int32_t>(device, cells.facets)};
}

void BatchNumbers::add_to(device::BufferRegistry& registry) const {
  registry.add(schedule::role::num_active, 0, num_active.device_read());
  registry.add(schedule::role::facet, 0, facets.device_read());
}

void CellData::add_to(device::BufferRegistry& registry) const {
  registry.add(schedule::role::map, 0, map_coefficients.device_read());
  registry.add(schedule::role::nodes, 0, nodes.device_read());
  registry.add(schedule::role::reference_normal, 0, reference_normal.device_read());
}

std::shared_ptr<const CellData> cell_data(const space::Discretisation& discretisation, const BatchedCells& cells,
                                          const BatchedCells& rows, const std::shared_ptr<device::Device>& device,
                                          bool is_cell_by_cell) {
  const auto key = fmt::format("{} group {} {} facets {} {} active {} batches {} of {} cells {} rows {} by cell {}",
                               name_of(device), cells.group, mesh::name(cells.map), hash_of(cells.local_facets),
                               hash_of(cells.facets), hash_of(cells.active), cells.num_batches, cells.cells_per_batch,
                               cells.num_items, hash_of(rows.cells), is_cell_by_cell);
  return discretisation.shared().get<CellData>(
      key, [&] { return make_cell_data(discretisation.mesh(), cells, rows, device, is_cell_by_cell); });
}

Numbers::Numbers(const std::shared_ptr<device::Device>& device, std::size_t size, schedule::Precision precision)
    : is_double_(precision == schedule::Precision::double_precision), reals_(device, is_double_ ? size : 0),
      singles_(device, is_double_ ? 0 : size) {}

Numbers::Numbers(const std::shared_ptr<device::Device>& device, std::span<const double> values,
                 schedule::Precision precision)
    : is_double_(precision == schedule::Precision::double_precision) {
  if (is_double_)
    reals_ = device::to_array<double>(device, values);
  else
    singles_ = device::to_array<float>(device, values);
  (void)std::as_const(*this).device_read(); // now, because threads that share them must only read
}

std::shared_ptr<const Numbers> shared_numbers(const space::Discretisation& discretisation,
                                              const std::shared_ptr<device::Device>& device,
                                              std::span<const double> values, schedule::Precision precision) {
  const auto key =
      fmt::format("{} {} {} {}", name_of(device), static_cast<int>(precision), values.size(), hash_of(values));
  return discretisation.shared().get<Numbers>(key, [&] { return Numbers(device, values, precision); });
}

ProgramTables::ProgramTables(const space::Discretisation& discretisation, const std::shared_ptr<device::Device>& device,
                             const tune::GeneratedProgram& program, schedule::Precision precision)
    : points_(shared_numbers(discretisation, device, program.points, precision)),
      weights_(shared_numbers(discretisation, device, program.weights, precision)) {
  for (const auto& matrix : program.matrices)
    matrices_.push_back(shared_numbers(discretisation, device, matrix, precision));
  for (const auto& argument : program.arguments)
    if (argument.role == schedule::role::table)
      values_.push_back(device::to_array<std::int32_t>(device, argument.values));
}

void ProgramTables::add_to(device::BufferRegistry& registry) const {
  for (std::size_t i = 0; i < matrices_.size(); ++i)
    registry.add(schedule::role::matrix, static_cast<int>(i), matrices_[i]->device_read());
  for (std::size_t i = 0; i < values_.size(); ++i)
    registry.add(schedule::role::table, static_cast<int>(i), values_[i].device_read());
  registry.add(schedule::role::points, 0, points_->device_read());
  registry.add(schedule::role::weights, 0, weights_->device_read());
}

} // namespace rafter::op
