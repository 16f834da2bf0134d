// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <rafter/operator/operator.hpp>

/// What the package in Python is made of: the module rafter._core. Its classes are for the package, not for users.
namespace rafter::python {

namespace nb = nanobind;

/// Arrays of doubles and integers of callers, in C order.
using Doubles = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<const std::int32_t, nb::c_contig, nb::device::cpu>;

/// A function of one point, shape (gdim), in Python.
using PointFunction = std::function<std::vector<double>(std::vector<double>)>;
using PointPredicate = std::function<bool(std::vector<double>)>;

/// An array of NumPy that owns these values.
template <class T> nb::ndarray<nb::numpy, T> to_numpy(std::vector<T> values, const std::vector<std::size_t>& shape) {
  auto* kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.data(), owner);
}

inline std::span<const double> span_of(const Doubles& array) { return {array.data(), array.size()}; }
inline std::span<const std::int32_t> span_of(const Integers& array) { return {array.data(), array.size()}; }

void bind_arguments(nb::module_& module);
void bind_mesh(nb::module_& module);
void bind_form(nb::module_& module);
void bind_space(nb::module_& module);
void bind_operator(nb::module_& module);
void bind_vector(nb::module_& module);
void bind_preconditioner(nb::module_& module);
void bind_measure(nb::module_& module);
void bind_problem(nb::module_& module);
void bind_output(nb::module_& module);

} // namespace rafter::python
