// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <charconv>

#include <rafter/base/error.hpp>
#include <rafter/device/finish.hpp>

#include "arguments.hpp"
#include "bindings.hpp"
#include "handles.hpp"

namespace rafter::python {
namespace {

/// The number behind the name of a device, such as "cuda:1".
int number_of(const std::string& device) {
  int number = 0;
  if (const auto colon = device.find(':'); colon != std::string::npos)
    std::from_chars(device.data() + colon + 1, device.data() + device.size(), number);
  return number;
}

void require_size(const op::Vector& vector, std::size_t size) {
  if (size != vector.size())
    throw base::InputError("the vector has " + std::to_string(vector.size()) + " entries, found " +
                           std::to_string(size));
}

/// Kinds of memory as DLPack numbers them.
std::pair<int, int> dlpack_device(const DeviceVector& self) {
  const auto language = self.values.device()->language();
  if (language == "cuda") return {nb::device::cuda::value, self.number};
  if (language == "hip") return {nb::device::rocm::value, self.number};
  if (language == "opencl") return {nb::device::opencl::value, self.number};
  return {nb::device::cpu::value, 0};
}

/// The entries as an array that shares them. Whoever has it may write to it at any time: what the host knows of the
/// entries is stale from now on.
nb::ndarray<nb::array_api> shared(const std::shared_ptr<DeviceVector>& self) {
  auto& values = self->values;
  self->is_shared = true;
  auto* const buffer = values.device_write();
  device::finish(*values.device()); // others do not know its queue
  const auto [kind, number] = dlpack_device(*self);
  auto* const kept = new std::shared_ptr<DeviceVector>(self);
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::shared_ptr<DeviceVector>*>(p); });
  const std::size_t shape = values.size();
  return nb::ndarray<nb::array_api>(buffer->handle(), 1, &shape, owner, nullptr, nb::dtype<double>(), kind, number);
}

/// y = A x. What others wrote to the entries counts: what the host knew of them is left.
void apply(const op::Operator& A, DeviceVector& x, DeviceVector& y) {
  const nb::gil_scoped_release unlock;
  x.require_on(A.device());
  y.require_on(A.device());
  x.forget_host();
  A.apply(x.values, y.values);
  device::finish(*A.device());
}

/// The right-hand side of the constrained problem (op::Operator::apply_boundary_values).
void lift(const op::Operator& A, DeviceVector& b, DeviceVector& x) {
  const nb::gil_scoped_release unlock;
  A.apply_boundary_values(b.values, x.values);
}

} // namespace

void bind_vector(nb::module_& module) {
  nb::class_<DeviceVector>(module, "Vector")
      .def_prop_ro("size", [](const DeviceVector& self) { return self.values.size(); })
      .def_prop_ro("device", [](const DeviceVector& self) { return self.values.device()->name(); })
      .def("copy_from",
           [](DeviceVector& self, const Doubles& values) {
             require_size(self.values, values.size());
             std::copy_n(values.data(), values.size(), self.values.host_overwrite().begin());
             self.forget_host(); // others see them now
           })
      .def("copy_to",
           [](DeviceVector& self, nb::ndarray<double, nb::c_contig, nb::device::cpu> values) {
             require_size(self.values, values.size());
             self.forget_host();
             std::ranges::copy(self.values.host_read(), values.data());
           })
      .def("__dlpack_device__", &dlpack_device)
      .def("shared", &shared);
  module.def("vector", [](const op::Operator& A, bool is_row, const std::string& device) {
    return std::make_shared<DeviceVector>(
        DeviceVector{is_row ? A.make_row_vector() : A.make_column_vector(), number_of(device)});
  });
  module.def("apply_vectors", &apply);
  module.def("lift", &lift);
}

} // namespace rafter::python
