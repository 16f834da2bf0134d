// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/mesh/mesh.hpp>

using namespace rafter;

namespace {

std::string refusal(const mesh::Mesh& mesh, int times) {
  try {
    (void)mesh.refined(times);
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "no error";
}

} // namespace

TEST(refine_error, counts_out_of_range) {
  const auto box = mesh::make_box({.cells = {1, 1}, .shape = "triangle"});
  EXPECT_NE(refusal(box, -1).find("-1 times; accepted: 0 to 30"), std::string::npos) << refusal(box, -1);
  EXPECT_NE(refusal(box, 31).find("31 times; accepted: 0 to 30"), std::string::npos) << refusal(box, 31);
}

TEST(refine_error, sizes_that_32_bits_cannot_number_are_refused_before_refining) {
  const auto box = mesh::make_box({.cells = {1, 1, 1}, .shape = "hexahedron"});
  const auto message = refusal(box, 11);
  EXPECT_NE(message.find("8.59e+09 cells"), std::string::npos) << message;
  EXPECT_NE(message.find("32 bits"), std::string::npos) << message;
}
