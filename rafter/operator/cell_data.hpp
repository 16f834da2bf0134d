// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <span>

#include <rafter/device/array.hpp>
#include <rafter/device/buffer_registry.hpp>
#include <rafter/operator/domain.hpp>
#include <rafter/schedule/plan.hpp>

/// Data that kernels of several forms read, in the memory of a device: each is there once while somebody holds it.
namespace rafter::op {

/// What kernels on a list of cells read of the mesh.
struct CellData {
  device::Array<std::int32_t> num_active; ///< cells of each batch, shape (batch)
  device::Array<double> map_coefficients; ///< as op::map_coefficients; none: the maps are isoparametric
  device::Array<double> nodes;            ///< as op::geometry_nodes, of isoparametric maps
  device::Array<double> reference_normal; ///< of facets, shape (axis)
  void add_to(device::BufferRegistry& registry) const;
};
/// `rows`: the cells in the place of `cells` whose maps and nodes are read (DataRows::representatives).
std::shared_ptr<const CellData> cell_data(const space::Discretisation& discretisation, const BatchedCells& cells,
                                          const BatchedCells& rows, const std::shared_ptr<device::Device>& device);

/// Numbers as a kernel takes them, in the precision of its plan.
class Numbers {
public:
  Numbers() = default;
  /// Zeros.
  Numbers(const std::shared_ptr<device::Device>& device, std::size_t size, schedule::Precision precision);
  Numbers(const std::shared_ptr<device::Device>& device, std::span<const double> values, schedule::Precision precision);
  device::Buffer* device_read() const { return is_double_ ? reals_.device_read() : singles_.device_read(); }
  device::Buffer* device_write() { return is_double_ ? reals_.device_write() : singles_.device_write(); }

private:
  bool is_double_ = true;
  device::Array<double> reals_; ///< or
  device::Array<float> singles_;
};
/// Numbers that do not change: tables of elements and rules.
std::shared_ptr<const Numbers> shared_numbers(const space::Discretisation& discretisation,
                                              const std::shared_ptr<device::Device>& device,
                                              std::span<const double> values, schedule::Precision precision);

} // namespace rafter::op
