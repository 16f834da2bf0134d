// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/kernel/tensor_program.hpp>

/// Cell matrices of bilinear forms by sums over points and pairs of functions, as first-order codes compute them:
/// derivatives of the functions along physical axes, their products with the coefficients, the matrix entries (Banas,
/// Kruzel, Bielanski, Computer Methods in Applied Mechanics and Engineering 305, 2016). Where tables of products of
/// functions would be long, this takes fewer operations.
namespace rafter::kernel {

/// Says whether build_point_matrices makes a program of cells for pairs of fields (the outputs of such programs): their
/// tables of functions are small enough for texts.
bool has_point_matrices(const std::vector<FieldUse>& uses, const element::Quadrature& quadrature);

/// The tensor program of the pair coefficients (cell_matrices.hpp) of a function that keep_derivatives made. Entry (r,
/// s) sums, over points q and pairs (i, j) of a value or physical derivative of test function r and trial function s,
/// w(q) c_ij(q) phi_i,r(q) psi_j,s(q), by products of arrays:
///   c_w(n, q) = c(n, q) w(q),   phi(a, r, q) = sum_b inverse map(a b, q) reference derivative(b, r, q),
///   t(j, r, q) = sum_i c_w(ij, q) phi(i, r, q),   m(r, s) = sum_qj t(j, r, q) psi(j, s, q).
/// Arrays have no axis of points where all they are made of is the same at all points. Equal coefficients are one, and
/// none stands for those that are zero. Test and trial functions of one element share their derivatives where
/// ProgramInput::shares_derivatives says so. All cells have points that are no grid.
TensorProgram build_point_matrices(const ProgramInput& input);

/// Says whether a program with loops over points is expected to be faster than one with tables for the same matrices:
/// it takes less than 0.7 of the operations. Tables run at 1.3 to 1.5 times the rate of operations
/// (docs/decisions/0094).
bool is_faster(const TensorProgram& by_points, const TensorProgram& by_tables);

} // namespace rafter::kernel
