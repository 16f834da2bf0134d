// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/precision.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/run/form_data.hpp>
#include <rafter/operator/run/form_kernels.hpp>

namespace rafter::op {

namespace {

template <class T> void fill_random(device::Array<T>& vector) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (T& value : vector.host_overwrite()) value = static_cast<T>(uniform(random));
}

std::vector<double> result_of(const GeneratedForm& built, const FormKernels& kernels) {
  const auto num_rows = static_cast<std::size_t>(built.system.size()),
             num_columns = static_cast<std::size_t>(built.trial_system.size());
  const auto run = [&]<class T>(device::Array<T> x, device::Array<T> y, const auto& kernel) {
    fill_random(x);
    kernel(x, y);
    const auto values = y.host_read();
    return std::vector<double>(values.begin(), values.end());
  };
  const auto& device = kernels.device();
  if (built.vectors() == schedule::Precision::single_precision)
    return run(SingleVector(device, num_columns), SingleVector(device, num_rows),
               [&](const auto& x, auto& y) { kernels.run(x, y, false); });
  return run(Vector(device, num_columns), Vector(device, num_rows),
             [&](const auto& x, auto& y) { kernels.run(&x, y, false); });
}

} // namespace

double precision_error(const std::shared_ptr<const GeneratedForm>& built, const FormKernels& kernels) {
  auto options = built->options; // they are the same for all processes, whichever kernels these have
  if (!options.plan || single_keys(*options.plan).empty()) return 0;
  options.plan = std::make_shared<const schedule::Plan>(schedule::in_double(*options.plan));
  auto reference = build_form(built->form, {built->system, built->trial_system}, built->purpose, options);
  compile(std::span(&reference, 1));
  const auto result = [](const std::shared_ptr<const GeneratedForm>& form, const FormKernels& of_form) {
    if (of_form.data().has_values()) return result_of(*form, of_form);
    const FormKernels own(form); // data fields and parameters without values get random ones
    own.data().set_missing();
    return result_of(*form, own);
  };
  const auto y = result(built, kernels), z = result(reference, FormKernels(reference));
  std::array<double, 2> sums{};
  auto& [difference, size] = sums;
  for (std::size_t i = 0; i < y.size(); ++i) {
    difference += (y[i] - z[i]) * (y[i] - z[i]);
    size += z[i] * z[i];
  }
  built->system.mesh->communicator()->sum(sums); // with sums over all processes, all of them come to the same result
  return difference == 0 ? 0 : std::sqrt(difference / size);
}

double require_precision(double error, const std::string& single_keys) {
  if (error <= max_precision_error) return error; // written so that NaN is not accepted
  const bool is_level = single_keys.empty();
  auto keys = base::split(single_keys, ' ');
  for (auto& key : keys) key = key.substr(0, key.find('=')) + "=double";
  const std::string found = std::isfinite(error)
                                ? fmt::format("differs from double precision by {:.2g} of its size, accepted is {:.2g}",
                                              error, max_precision_error)
                                : "gives numbers that are not finite, floats end at 3.4e38";
  throw base::InputError(
      is_level ? fmt::format("multigrid: in single precision the operator of a level {}; use "
                             "precision = \"double\"",
                             found)
               : fmt::format("plan: with {} the operator {}; use {}", single_keys, found, base::join(keys, " ")));
}

} // namespace rafter::op
