// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>

/// Compares kernels in less than double precision with the same ones in double precision before they are used.
namespace rafter::op {

class FormKernels;
struct GeneratedForm;

/// The largest relative difference that is accepted: 64 roundings of a float. Each number that is kept as a float is
/// off by at most 2^-24 of itself; the terms of a product with a random vector cancel to a tenth of their size or so.
inline constexpr double max_precision_error = 64 * 0x1p-24;

/// Returns the relative difference |y - z| / |z| of the results of the kernels of a bilinear form (y) and of the same
/// plans in double precision (z), for a vector from a fixed random sequence; 0 when all is in double precision. It
/// compiles the kernels in double precision. Data fields and parameters without values get random ones for the
/// comparison.
double precision_error(const std::shared_ptr<const GeneratedForm>& built, const FormKernels& kernels);

/// Returns the error when it is accepted, else throws InputError. `single_keys` holds the keys of the plan that the
/// message names, as in "compute=float"; "": no plan asks for floats, but levels of multigrid do
/// (KernelOptions::precision).
double require_precision(double error, const std::string& single_keys);

} // namespace rafter::op
