// SPDX-License-Identifier: BSD-3-Clause
#include <climits>
#include <cmath>

#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/mesh/limits.hpp>
#include <rafter/mesh/mesh.hpp>

using namespace rafter;

namespace {

/// Returns the message of the InputError for these options.
std::string refusal(const mesh::BoxOptions& options) {
  try {
    mesh::make_box(options);
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "no error";
}

void expect_parts(const std::string& message, std::initializer_list<std::string_view> parts) {
  for (const auto part : parts) EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' in: " << message;
}

} // namespace

TEST(box_error, number_of_directions) {
  expect_parts(refusal({.cells = {}}), {"0 entries", "1, 2 or 3"});
  expect_parts(refusal({.cells = {1, 1, 1, 1}}), {"4 entries", "1, 2 or 3"});
}

TEST(box_error, counts_that_are_not_positive) {
  expect_parts(refusal({.cells = {2, 0, 2}}), {"[2, 0, 2]", "at least 1"});
  expect_parts(refusal({.cells = {-3}, .shape = "interval"}), {"[-3]", "at least 1"});
}

TEST(box_error, sizes) {
  expect_parts(refusal({.cells = {2, 2, 2}, .size = {1, 2}}), {"2 entries", "cells has 3"});
  expect_parts(refusal({.cells = {2, 2, 2}, .size = {1, 0, 2}}), {"[1, 0, 2]", "positive and finite"});
  expect_parts(refusal({.cells = {2, 2, 2}, .size = {1, -1, 2}}), {"positive and finite"});
  expect_parts(refusal({.cells = {2, 2, 2}, .size = {1, NAN, 2}}), {"positive and finite"});
  expect_parts(refusal({.cells = {2, 2, 2}, .size = {1, INFINITY, 2}}), {"positive and finite"});
}

TEST(box_error, sizes_with_which_nothing_can_be_computed) {
  expect_parts(refusal({.cells = {2, 2}, .size = {1e-300, 1}}),
               {"size = [1e-300, 1]", "edges of [5e-301, 0.5]", "under- or overflows"});
  expect_parts(refusal({.cells = {1, 1}, .size = {1e200, 1e200}}), {"under- or overflows"});
  expect_parts(refusal({.cells = {1, 1, 1}, .size = {1e-70, 1e-70, 1}}), {"under- or overflows"});
  expect_parts(refusal({.cells = {4}, .size = {1e-140}}), {"under- or overflows"});
  for (const double length : {1e-60, 1e-30, 1e30, 1e60})
    EXPECT_EQ(refusal({.cells = {1, 1, 1}, .size = {length, length, length}}), "no error") << length;
  EXPECT_EQ(refusal({.cells = {1, 1}, .size = {1e-100, 1}}), "no error");
}

TEST(box_error, misspelt_shapes_get_the_nearest_name) {
  expect_parts(refusal({.cells = {2, 2, 2}, .shape = "hexaedron"}),
               {"'hexaedron'", "did you mean 'hexahedron'", "pyramid"});
  expect_parts(refusal({.cells = {2, 2}, .shape = "trianle"}), {"did you mean 'triangle'"});
}

TEST(box_error, shapes_of_another_dimension) {
  expect_parts(refusal({.cells = {2, 2}, .shape = "hexahedron"}), {"2 dimensions", "triangle, quadrilateral, mixed"});
  expect_parts(refusal({.cells = {2}, .shape = "mixed"}), {"1 dimension", "interval"});
  expect_parts(refusal({.cells = {2, 2, 2}, .shape = "point"}), {"'point'"});
}

TEST(box_error, mixed_boxes_need_enough_columns) {
  expect_parts(refusal({.cells = {3, 2, 2}, .shape = "mixed"}), {"3 cells along x", "at least 4"});
  expect_parts(refusal({.cells = {1, 2}, .shape = "mixed"}), {"1 cells along x", "at least 2"});
}

TEST(box_error, degrees_out_of_range) {
  expect_parts(refusal({.cells = {1, 1, 1}, .degree = 0}), {"degree = 0", "1 to 12"});
  expect_parts(refusal({.cells = {1, 1, 1}, .degree = 13}), {"degree = 13", "1 to 12"});
}

TEST(box_error, boxes_that_32_bits_cannot_number_are_refused_before_anything_is_allocated) {
  expect_parts(refusal({.cells = {INT_MAX, INT_MAX, INT_MAX}}), {"32 bits", "9.904e+27 cells"});
  expect_parts(refusal({.cells = {INT_MAX}, .shape = "interval"}), {"32 bits"});
  expect_parts(refusal({.cells = {1000, 1000, 1000}, .shape = "tetrahedron"}), {"32 bits", "6e+09 cells"});
}

TEST(box_error, meshes_that_memory_cannot_hold_are_refused_with_the_estimate) {
  EXPECT_GT(mesh::available_memory_bytes(), 1e8);
  const std::vector<mesh::PlannedCells> cells{{element::Shape::hexahedron, 12, 8e5}};
  try {
    mesh::require_mesh_fits("a mesh", 1e6, cells);
    mesh::require_mesh_fits("a mesh", mesh::available_memory_bytes() / 24 * 1.01, {});
    FAIL() << "accepted more than the machine has";
  } catch (const base::EnvironmentError& error) {
    expect_parts(error.what(), {" GB; this machine has "});
  }
}
