// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <memory>
#include <utility>

#include <rafter/base/error.hpp>
#include <rafter/mesh/generations.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/space/discretisation.hpp>
#include <rafter/space/function_space.hpp>

/// What objects in Python hold of meshes, spaces and vectors.
namespace rafter::python {

/// A mesh with those that it was refined from. All spaces on it have one discretisation, which is made when the first
/// of them is numbered, for the highest degree that was asked for until then: batches of cells are best for that one.
class MeshHandle {
public:
  explicit MeshHandle(mesh::Generations generations,
                      std::shared_ptr<const space::Discretisation> discretisation = nullptr)
      : generations_(std::move(generations)), discretisation_(std::move(discretisation)) {}

  const mesh::Generations& generations() const { return generations_; }
  const std::shared_ptr<const mesh::Mesh>& finest() const { return generations_.finest(); }
  void reserve(int degree) { highest_degree_ = std::max(highest_degree_, degree); }
  const std::shared_ptr<const space::Discretisation>& discretisation() {
    if (discretisation_ == nullptr)
      discretisation_ = std::make_shared<const space::Discretisation>(
          finest(), space::DiscretisationOptions{.degree = highest_degree_});
    return discretisation_;
  }

private:
  mesh::Generations generations_;
  int highest_degree_ = 1;
  std::shared_ptr<const space::Discretisation> discretisation_;
};

/// A space of finite element functions.
struct SpaceHandle {
  std::shared_ptr<MeshHandle> mesh;
  std::shared_ptr<const space::FunctionSpace> space;
};

/// A vector on the device of an operator, which other packages see through DLPack.
struct DeviceVector {
  op::Vector values;
  int number = 0;         ///< the device has this number among those of its kind
  bool is_shared = false; ///< whether others have its entries, and may write to them at any time

  /// Leaves what the host knows of the entries where others may have written to them since.
  void forget_host() {
    if (is_shared) values.device_write();
  }
  /// Throws InputError where a kernel of this device cannot have the entries.
  void require_on(const std::shared_ptr<device::Device>& device) const {
    const auto& own = values.device();
    if (own == device || (own->shares_host_memory() && device->shares_host_memory())) return;
    throw base::InputError("the vector is on a device '" + own->name() + "', and the operator on another one, '" +
                           device->name() + "'; A.vector() makes vectors where A is");
  }
};

} // namespace rafter::python
