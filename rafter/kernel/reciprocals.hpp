// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/kernel/qfunction.hpp>

namespace rafter::kernel {

/// The same function with one division per divisor: quotients that share a divisor become products with its reciprocal,
/// which rounds once more. A division takes a processor as long as some tens of products.
QFunction with_reciprocals(QFunction function);

} // namespace rafter::kernel
