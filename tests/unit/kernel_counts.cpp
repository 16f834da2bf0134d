// SPDX-License-Identifier: BSD-3-Clause
// Operation counts of tensor programs agree with closed formulas. A contraction of a line of n numbers to m costs m (2n
// - 1), and m 2n when it adds to existing values. N is the number of points per direction.
#include <gtest/gtest.h>

#include <tests/support/kernel_forms.hpp>

namespace rafter::kernel {
namespace {

using element::QuadratureKind;
using element::Shape;
using mesh::MapKind;

TensorProgram stored(const std::string& text, Shape shape, int degree, int points, Contraction contraction,
                     int components = 0, QuadratureKind kind = QuadratureKind::gauss) {
  const auto function = test::qfunction(text, shape, MapKind::affine, components);
  return test::tensor_program(test::choice_of(function, FactorStorage::store_merged).functions.main, degree, points,
                              contraction, std::max(1, components), kind);
}

TEST(Flops, CollocatedLaplaceIsTwelveNToTheFourth) {
  // Forward contractions cost 3 N^3 (2N - 1), backward ones N^3 (2N - 1) and twice 2 N^4, factors 15 N^3, weights N^3.
  // (Paper 1 has 12 N^4 + 15 N^3, with the weights in the factors and 2N operations per point of a contraction.)
  for (int degree = 1; degree <= 8; ++degree) {
    const double N = degree + 1;
    const auto program =
        stored(test::laplace(), Shape::hexahedron, degree, degree + 1, Contraction::collocated, 0, QuadratureKind::gll);
    EXPECT_EQ(count_flops(program), 12 * test::power(N, 4) + 12 * test::power(N, 3)) << degree;
    const auto vector =
        stored(test::laplace(), Shape::hexahedron, degree, degree + 1, Contraction::collocated, 3, QuadratureKind::gll);
    EXPECT_EQ(count_flops(vector), 3 * count_flops(program)) << degree;
  }
}

TEST(Flops, CollocatedHelmholtzAddsTheMassTerm) {
  // The tested value exists already, so that all three transposed derivatives add to it (N^3 more), and there is one
  // product.
  for (int degree = 1; degree <= 8; ++degree) {
    const double N = degree + 1;
    const auto program = stored(test::helmholtz(), Shape::hexahedron, degree, degree + 1, Contraction::collocated, 0,
                                QuadratureKind::gll);
    EXPECT_EQ(count_flops(program), 12 * test::power(N, 4) + 14 * test::power(N, 3)) << degree;
  }
}

TEST(Flops, CollocatedLaplaceInTwoDimensions) {
  for (int degree = 1; degree <= 8; ++degree) {
    // There are two contractions forward and two backward, one of which adds, symmetric factors (6), and weights.
    const double N = degree + 1;
    const auto program = stored(test::laplace(), Shape::quadrilateral, degree, degree + 1, Contraction::collocated, 0,
                                QuadratureKind::gll);
    EXPECT_EQ(count_flops(program), 8 * test::power(N, 3) - 3 * test::power(N, 2) + 7 * test::power(N, 2)) << degree;
  }
}

TEST(Flops, MassIsInterpolationAndBack) {
  for (int degree = 1; degree <= 8; ++degree) {
    const double n = degree + 1, q = degree + 2;
    const double forward = (q * n * n + q * q * n + q * q * q) * (2 * n - 1);
    const double backward = (n * q * q + n * n * q + n * n * n) * (2 * q - 1);
    const auto program = stored(test::mass(), Shape::hexahedron, degree, degree + 2, Contraction::collocated);
    EXPECT_EQ(count_flops(program), forward + q * q * q + backward) << degree;
  }
}

TEST(Flops, CollocatedGaussAddsTheInterpolationBothWays) {
  for (int degree = 1; degree <= 8; ++degree) {
    const double n = degree + 1, q = degree + 2;
    const double interpolation =
        (q * n * n + q * q * n + q * q * q) * (2 * n - 1) + (n * q * q + n * n * q + n * n * n) * (2 * q - 1);
    // The rest is as above but for the weights, which are in the transposed interpolation.
    const auto program = stored(test::laplace(), Shape::hexahedron, degree, degree + 2, Contraction::collocated);
    EXPECT_EQ(count_flops(program), interpolation + 12 * test::power(q, 4) + 11 * test::power(q, 3)) << degree;
  }
}

TEST(Flops, DenseProgramsAreTwoMatrixProducts) {
  for (const Shape shape : {Shape::triangle, Shape::tetrahedron, Shape::prism, Shape::pyramid})
    for (int degree = 1; degree <= 4; ++degree) {
      const auto program = stored(test::mass(), shape, degree, degree + 1, Contraction::dense);
      const double dofs = element::make_element(element::Family::lagrange, shape, degree)->num_dofs();
      const double points = program.num_points();
      const double products = points * (2 * dofs - 1) + points + dofs * (2 * points - 1);
      // Reflections split the tables, which saves more than sums and differences cost.
      EXPECT_LT(count_flops(program), products) << element::name(shape) << " " << degree;
    }
}

TEST(Flops, ReflectionsOfPrismsAndPyramidsSaveWhatTheyCan) {
  // There are two reflections, so that a quarter of the products remains, and the cost of sums and differences.
  for (const Shape shape : {Shape::prism, Shape::pyramid})
    for (int degree = 2; degree <= 8; ++degree) {
      const auto program = stored(test::laplace(), shape, degree, degree + 1, Contraction::dense);
      const double dofs = element::make_element(element::Family::lagrange, shape, degree)->num_dofs();
      const double rows = 3.0 * program.num_points();
      const double products = rows * (2 * dofs - 1) + dofs * (2 * rows - 1), butterflies = 2 * 2 * (dofs + rows);
      const double uneven = degree == 2 ? 1.2 : 1.1; // the sectors have different sizes
      EXPECT_LE(count_contraction_flops(program), uneven * products / 4 + butterflies)
          << element::name(shape) << " " << degree;
    }
}

TEST(Flops, ReflectionsOfTetrahedraSaveWhatTheyCan) {
  // Gradients are evaluated at the modes and tested there. Each of the two reflections halves the entries of both
  // tables, shape (3 modes, dofs). Sums and differences of four dofs take eight operations, before and after the
  // products; the symmetric factors take 15 per mode.
  for (int degree = 1; degree <= 6; ++degree) {
    const auto program = stored(test::laplace(), Shape::tetrahedron, degree, degree, Contraction::modal);
    const double modes = degree * (degree + 1) * (degree + 2) / 6.0, dofs = modes * (degree + 3) / degree;
    EXPECT_LE(count_flops(program), 1.05 * (2 * 2 * 3 * modes * dofs / 4 + 2 * 2 * dofs + 15 * modes)) << degree;
    EXPECT_EQ(program.num_points(), modes) << "modes of degree p - 1";
  }
}

TEST(Flops, OneChainPerDerivativeCostsMoreThanCollocationFromDegreeTwoOn) {
  for (int degree = 2; degree <= 8; ++degree) {
    const auto chains = stored(test::laplace(), Shape::hexahedron, degree, degree + 2, Contraction::per_derivative);
    const auto collocated = stored(test::laplace(), Shape::hexahedron, degree, degree + 2, Contraction::collocated);
    EXPECT_GT(count_flops(chains), count_flops(collocated)) << degree;
  }
}

TEST(Flops, SliceWiseGradientsHaveTwoThreeAndThreeContractionsEachWay) {
  // A line of n numbers of the dofs becomes q at the points; two parts are added on the way back, so that lines along
  // the last axis are two there, too.
  for (int degree = 1; degree <= 8; ++degree) {
    const double n = degree + 1, q = degree + 2;
    const double forward = (2 * q * n * n + 3 * q * q * n + 3 * q * q * q) * (2 * n - 1);
    const double backward = (3 * n * q * q + 3 * n * n * q + 2 * n * n * n) * (2 * q - 1);
    const double added = n * n * q + n * n * n; // where sums begin with what is there
    for (const int components : {1, 3}) {
      const auto program = stored(components == 1 ? test::laplace() : test::elasticity(3), Shape::hexahedron, degree,
                                  degree + 2, Contraction::slice_wise, components == 1 ? 0 : components);
      EXPECT_EQ(count_contraction_flops(program), components * (forward + backward + added)) << degree;
    }
  }
}

TEST(Flops, SliceWiseProgramsContractWhatDerivativesShareOnce) {
  for (const Shape shape : {Shape::quadrilateral, Shape::hexahedron})
    for (int degree = 1; degree <= 8; ++degree)
      for (const auto& text : {test::laplace(), test::helmholtz()}) {
        const auto count = [&](Contraction contraction) {
          return count_flops(stored(text, shape, degree, degree + 2, contraction));
        };
        if (shape == Shape::quadrilateral && text == test::laplace()) // two derivatives share nothing
          EXPECT_EQ(count(Contraction::slice_wise), count(Contraction::per_derivative)) << degree;
        else
          EXPECT_LT(count(Contraction::slice_wise), count(Contraction::per_derivative)) << text << " " << degree;
      }
}

TEST(Flops, WhatDependsOnTheCellCountsOnce) {
  // Recomputed affine factors need the same work per point whatever the map costs per cell.
  const auto function = test::qfunction(test::laplace(), Shape::hexahedron, MapKind::affine);
  const auto merged_function = test::choice_of(function, FactorStorage::recompute_merged);
  const auto at = [&](int points) {
    return count_flops(test::tensor_program(merged_function.functions.main, 1, points, Contraction::collocated)) -
           count_flops(stored(test::laplace(), Shape::hexahedron, 1, points, Contraction::collocated));
  };
  EXPECT_GT(at(2), 0);
  EXPECT_EQ(at(2), at(5));
  EXPECT_EQ(at(2), merged_function.cost.cell_flops);
}

} // namespace
} // namespace rafter::kernel
