// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <gtest/gtest.h>

#include <string>

#include <rafter/element/cell.hpp>

namespace rafter::test {

/// Names tests whose parameter is a shape by it.
inline std::string shape_name(const testing::TestParamInfo<element::Shape>& info) {
  return std::string(name(info.param));
}

} // namespace rafter::test
