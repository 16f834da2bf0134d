// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/mesh/cell_batches.hpp>

using namespace rafter;

namespace {

std::string refusal(const mesh::BatchOptions& options) {
  const auto box = mesh::make_box({.cells = {1}, .shape = "interval"});
  try {
    mesh::make_cell_batches(box, options);
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "no error";
}

} // namespace

TEST(batches_error, options_out_of_range) {
  EXPECT_EQ(refusal({}), "no error");
  EXPECT_NE(refusal({.cells_per_batch = 0}).find("0 cells; accepted: powers of two from 1 to 1024"), std::string::npos);
  EXPECT_NE(refusal({.cells_per_batch = 2048}).find("2048 cells"), std::string::npos);
  for (const int cells_per_batch : {3, 6, 12, 20, 1000})
    EXPECT_NE(refusal({.cells_per_batch = cells_per_batch})
                  .find(std::to_string(cells_per_batch) + " cells; accepted: powers of two"),
              std::string::npos);
  EXPECT_NE(refusal({.batches_per_chunk = -1}).find("-1 batches per chunk"), std::string::npos);
  EXPECT_NE(refusal({.affine_tolerance = -1e-3}).find("affine_tolerance = -0.001"), std::string::npos);
}

TEST(batches_error, facets_too) {
  const auto box = mesh::make_box({.cells = {1}, .shape = "interval"});
  EXPECT_THROW(mesh::make_facet_batches(box, {}, {.cells_per_batch = 0}), base::InputError);
  EXPECT_THROW(mesh::make_facet_batches(box, {}, {.cells_per_batch = 12}), base::InputError);
}
