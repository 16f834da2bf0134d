// SPDX-License-Identifier: BSD-3-Clause
// What the kernels of the probe compute is what their rates are called after.
#include <gtest/gtest.h>

#include <cmath>

#include <rafter/device/array.hpp>
#include <rafter/device/host/cpu.hpp>
#include <rafter/device/host/host_device.hpp>
#include <rafter/machine/probe_kernels.hpp>

namespace {

using namespace rafter;
using device::Vector;

/// A, B and room for C, of a task.
base::AlignedVector<double> some_matrices() {
  constexpr std::size_t num_given = 2 * machine::product_order * machine::product_stride;
  base::AlignedVector<double> result(machine::product_doubles, 0.0);
  for (std::size_t i = 0; i < num_given; ++i) result[i] = std::sin(static_cast<double>(i));
  return result;
}

TEST(MachineProbeKernels, MultiplyMatricesWithRegistersOfAllWidths) {
  constexpr std::size_t order = machine::product_order, stride = machine::product_stride;
  const auto host = std::make_shared<device::HostDevice>(1);
  const auto given = some_matrices();
  const double* a = given.data();
  const double* b = a + order * stride;
  for (const int bits : device::register_bits(device::cpu())) {
    const auto program = host->compile(machine::product_source(bits));
    const auto kernel = program->kernel("matrix_product");
    Vector repeats(host, base::AlignedVector<double>{2.0}), matrices(host, given),
        results(host, machine::result_stride);
    const std::vector<device::Buffer*> arguments{repeats.device_write(), matrices.device_write(),
                                                 results.device_write()};
    host->run(std::vector<device::Task>{{kernel.get(), arguments, 0, 1}})->wait();
    const double* c = matrices.host_read().data() + 2 * order * stride;
    double largest = 0;
    for (std::size_t i = 0; i < order; ++i)
      for (std::size_t j = 0; j < order; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < order; ++k) sum += a[k * stride + i] * b[k * stride + j];
        largest = std::max(largest, std::abs(sum - c[j * stride + i]));
      }
    EXPECT_LT(largest, 2 * order * 1e-16 * order) << bits; // sums of so many products below 1
    EXPECT_EQ(results.host_read()[0], c[0]) << bits;
  }
}

} // namespace
