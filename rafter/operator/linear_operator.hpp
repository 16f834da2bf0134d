// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>

#include <rafter/device/array.hpp>

/// Namespace of module operator/ (`operator` is a keyword of C++).
namespace rafter::op {

using device::Vector;

/// A square linear operator on local vectors: what solvers see.
class LinearOperator {
public:
  virtual ~LinearOperator() = default;
  virtual std::int64_t size() const = 0;
  virtual std::shared_ptr<device::Device> device() const = 0;
  virtual void apply(const Vector& x, Vector& y) const = 0; ///< y = A x
  virtual void diagonal(Vector& d) const = 0;               ///< d_i = A_ii
};

} // namespace rafter::op
