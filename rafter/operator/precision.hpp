// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/operator/form_kernels.hpp>

/// Kernels in less than double precision are held against double precision before they are used.
namespace rafter::op {

/// Largest relative difference that is accepted: 64 roundings of a float. Each number that is kept as a float is off by
/// at most 2^-24 of itself; the terms of a product with a random vector cancel to a tenth of their size or so.
inline constexpr double max_precision_error = 64 * 0x1p-24;

/// Relative difference |y - z| / |z| of what the kernels of a bilinear form give (y) and the same plans in
/// double precision (z), for a vector from a fixed random sequence; 0 when all is in double precision. Compiles the
/// kernels in double precision. What has no values yet has any.
double precision_error(const std::shared_ptr<const GeneratedForm>& built, const FormKernels& kernels);

/// The error, when it is accepted; else throws InputError with these keys of the plan, "compute=float".
double require_precision(double error, const std::string& single_keys);

} // namespace rafter::op
