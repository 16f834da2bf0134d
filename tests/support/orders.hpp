// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <gtest/gtest.h>

#include "manufactured.hpp"

/// Tests expect these orders of convergence.
namespace rafter::test {

/// Observed orders may be smaller than theory by this much, since coarse meshes are not quite in the asymptotic range.
inline constexpr double order_slack = 0.25;

inline void expect_orders(const Orders& orders, int degree) {
  const auto text =
      fmt::format("L2 {:.3e} -> {:.3e} (order {:.2f}), H1 {:.3e} -> {:.3e} (order {:.2f})", orders.coarse.l2,
                  orders.fine.l2, orders.l2(), orders.coarse.h1, orders.fine.h1, orders.h1());
  ::testing::Test::RecordProperty("errors", text);
  EXPECT_GT(orders.l2(), degree + 1 - order_slack) << text;
  EXPECT_GT(orders.h1(), degree - order_slack) << text;
}

/// Returns the number of cells per direction of the coarser mesh: enough for the asymptotic range, but so few that
/// errors stay above rounding.
inline int coarse_cells(int dim, int degree) {
  if (dim == 1) return degree < 5 ? 6 : 3;
  if (dim == 2) return degree < 3 ? 6 : degree < 5 ? 4 : 2;
  return degree == 1 ? 4 : 2;
}

/// A case has a shape of box, a degree of the field, and one of the geometry.
struct OrderCase {
  std::string shape;
  int degree = 1, geometry_degree = 1;
};

inline void PrintTo(const OrderCase& c, std::ostream* out) {
  *out << c.shape << ", degree " << c.degree << ", geometry degree " << c.geometry_degree;
}

inline std::string name_of(const ::testing::TestParamInfo<OrderCase>& info) {
  const auto& c = info.param;
  return c.shape + "_p" + std::to_string(c.degree) +
         (c.geometry_degree > 1 ? "_g" + std::to_string(c.geometry_degree) : "");
}

inline std::vector<OrderCase> order_cases(int first_degree, int last_degree, int geometry_degree = 1) {
  std::vector<OrderCase> all;
  for (const auto& shape : box_shapes())
    for (int degree = first_degree; degree <= last_degree; ++degree) all.push_back({shape, degree, geometry_degree});
  return all;
}

/// Returns orders on boxes that a smooth map moves; the finer one has cells of half the size.
inline Orders orders_on_moved_boxes(Manufactured (*problem)(int dim), const OrderCase& c) {
  const int dim = box_dimension(c.shape), n = coarse_cells(dim, c.degree);
  return observed_orders(problem(dim), moved_box(c.shape, n, c.geometry_degree),
                         moved_box(c.shape, 2 * n, c.geometry_degree), c.degree);
}

} // namespace rafter::test
