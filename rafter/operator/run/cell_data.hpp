// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <span>
#include <vector>

#include <rafter/device/array.hpp>
#include <rafter/device/buffer_registry.hpp>
#include <rafter/operator/generate/data_rows.hpp>
#include <rafter/operator/generate/domain.hpp>
#include <rafter/schedule/precision.hpp>

namespace rafter::space {
class Discretisation;
} // namespace rafter::space
namespace rafter::tune {
struct GeneratedProgram;
} // namespace rafter::tune

/// Holds the data that kernels of several forms read, in the memory of a device. Equal data are there once while
/// somebody holds them.
namespace rafter::op {

/// The numbers of batches of cells or facets that kernels read.
struct BatchNumbers {
  device::Array<std::int32_t> num_active; ///< number of active cells of each batch, shape (batch)
  device::Array<std::int32_t> facets;     ///< see BatchedCells::facets; empty for cells
  void add_to(device::BufferRegistry& registry) const;
};
BatchNumbers batch_numbers(const BatchedCells& cells, const std::shared_ptr<device::Device>& device);

/// The data of the mesh that kernels on a list of cells read. Cells come last, or behind the batch.
struct CellData {
  BatchNumbers batches;
  /// Shape (batch, mode, axis, cell), see op::map_coefficients; empty for isoparametric maps.
  device::Array<double> map_coefficients;
  /// Shape (batch, node, axis, cell), see op::geometry_nodes; empty for other maps than isoparametric ones.
  device::Array<double> nodes;
  /// Unit normals in the reference cell, shape (facet of BatchedCells::local_facets, axis); empty for cells.
  device::Array<double> reference_normal;
  void add_to(device::BufferRegistry& registry) const; ///< all but `batches`
};
/// Returns the data of these cells, shared with whoever holds the same ones. `rows` are the cells whose maps and nodes
/// are read in the place of `cells`, because batches of equal cells share their data (DataRows::representatives).
/// `is_cell_by_cell`: maps and nodes stand in the order of schedule::reads_cell_by_cell.
std::shared_ptr<const CellData> cell_data(const space::Discretisation& discretisation, const BatchedCells& cells,
                                          const BatchedCells& rows, const std::shared_ptr<device::Device>& device,
                                          bool is_cell_by_cell);

/// Numbers in the precision that the plan of a kernel asks for.
class Numbers {
public:
  Numbers() = default;
  /// The numbers are 0.
  Numbers(const std::shared_ptr<device::Device>& device, std::size_t size, schedule::Precision precision);
  Numbers(const std::shared_ptr<device::Device>& device, std::span<const double> values, schedule::Precision precision);
  explicit Numbers(device::Array<double> values) : reals_(std::move(values)) {}
  explicit Numbers(device::Array<float> values) : is_double_(false), singles_(std::move(values)) {}
  device::Buffer* device_read() const { return is_double_ ? reals_.device_read() : singles_.device_read(); }
  device::Buffer* device_write() { return is_double_ ? reals_.device_write() : singles_.device_write(); }

private:
  bool is_double_ = true;
  device::Array<double> reals_; ///< used where the precision is double
  device::Array<float> singles_;
};
/// Returns numbers that never change, such as tables of elements and quadrature rules, shared with whoever holds the
/// same ones.
std::shared_ptr<const Numbers> shared_numbers(const space::Discretisation& discretisation,
                                              const std::shared_ptr<device::Device>& device,
                                              std::span<const double> values, schedule::Precision precision);

/// The tables that a kernel reads: those of elements and of its quadrature rule, packed as it takes them, and its
/// tables of integers.
class ProgramTables {
public:
  ProgramTables() = default;
  ProgramTables(const space::Discretisation& discretisation, const std::shared_ptr<device::Device>& device,
                const tune::GeneratedProgram& program, schedule::Precision precision);
  void add_to(device::BufferRegistry& registry) const;

private:
  std::vector<std::shared_ptr<const Numbers>> matrices_;
  std::shared_ptr<const Numbers> points_, weights_;
  std::vector<device::Array<std::int32_t>> values_;
};

} // namespace rafter::op
