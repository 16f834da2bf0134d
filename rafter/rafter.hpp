// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <rafter/base/error.hpp>
#include <rafter/element/quadrature.hpp>
#include <rafter/form/bilinear_parts.hpp>
#include <rafter/form/form.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/form/theta_scheme.hpp>
#include <rafter/form/time_derivative.hpp>
#include <rafter/io/matrix_market.hpp>
#include <rafter/mesh/generations.hpp>
#include <rafter/mesh/merge.hpp>
#include <rafter/mesh/tag_uses.hpp>
#include <rafter/operator/linear_form.hpp>
#include <rafter/operator/matrix/cell_arrays.hpp>
#include <rafter/operator/matrix/sparse_assembly.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/problem/in_time.hpp>
#include <rafter/problem/nonlinear.hpp>
#include <rafter/problem/preconditioner_choice.hpp>
#include <rafter/problem/solve.hpp>
#include <rafter/problem/solve_problem.hpp>
#include <rafter/problem/spaces.hpp>
#include <rafter/problem/vectors.hpp>

/// The C++ face of Rafter: one header, one namespace.
///
///     auto mesh = read_mesh("beam-hex.mesh").refined(2);
///     FunctionSpace V(mesh, {.family = Family::lagrange, .degree = 4, .components = 3});
///     auto [u, v] = arguments(V);
///     Operator A(inner(grad(u), grad(v)) * dx, {.dirichlet = {V.fixed({1}, {0, 0, 0})}});
///     auto result = solve(A, b, {.preconditioner = "jacobi"});
///
/// Forms may read data fields and parameters, which are bound by name and may change at any time:
///
///     auto w = field(V, "w"), t = parameter("t");
///     Operator B(form);  B.set("w", values);  B.set("t", 0.5);
///
/// A problem may also be stated as one value, with functionals, exact solutions, steps in time and output:
///
///     Problem problem{.unknowns = {field(V.ptr(), "u")}, .a = inner(grad(u), grad(v)) * dx, .L = v(0) * dx};
///     problem.discretisation.dirichlet = {V.fixed({1}, {0, 0, 0})};
///     Solution solution = solve(problem);
///
/// The modules behind it (rafter::form, rafter::mesh, ...) stay within reach for more.
namespace rafter {

using base::EnvironmentError;
using base::InputError;
using base::SolverError;

using schedule::Precision;

using mesh::box_generations;
using mesh::BoxCoarsening;
using mesh::BoxOptions;
using mesh::Generations;
using mesh::make_box;
using mesh::Mesh;
using mesh::MeshFormat;
using mesh::PeriodicPair;
using mesh::read_mesh; // with {.merge = 1e-9}: nodes that are closer than that are one
using mesh::tags_for;  // numbers for V.fixed: tags_for(mesh, "clamped", TagUse::dirichlet)
using mesh::TagUse;
using mesh::write_mesh;

using element::Family;
using element::QuadratureKind;
using element::Shape;

// The form language; its operators are found by argument-dependent lookup
using form::action;
using form::adjoint;
using form::arguments;
using form::as_matrix;
using form::as_tensor;
using form::as_vector;
using form::by_tag;
using form::cofac;
using form::conditional;
using form::constant;
using form::cross;
using form::curl;
using form::derivative;
using form::det;
using form::dev;
using form::div;
using form::dot;
using form::ds;
using form::dt;
using form::dx;
using form::Expr;
using form::facet_normal;
using form::field;
using form::Form;
using form::grad;
using form::identity;
using form::inner;
using form::inv;
using form::on;
using form::outer;
using form::parameter;
using form::skew;
using form::spatial_coordinate;
using form::sym;
using form::tr;
using form::transpose;

using op::BlockKind;
using op::CellArray;       // for Operator::cell_matrices and LinearForm::cell_vectors
using op::cells_per_batch; // that a plan asks for, for DiscretisationOptions
using op::Coarsening;
using op::DiagonalBlocks;
using op::FieldCondition;
using op::Functional;
using op::level_cells_per_batch; // that levels in single precision ask for, likewise
using op::LinearForm;
using op::local_unknowns;     // entries of vectors that these belong to
using op::num_local_unknowns; // number of these
using op::Operator;
using op::OperatorOptions;
using op::QuadratureOptions;
using op::SparseMatrix; // of an operator: A.sparse_matrix(); its blocks: A.diagonal_blocks(BlockKind::node)
using op::Vector;

using io::write_matrix_market;
using solvers::AmgInterpolation;
using solvers::AmgMethod;
using solvers::BoomerAmgParameters;
using solvers::MultigridParameters;
using solvers::NullSpaceCondition;
using space::DiscretisationOptions;
using space::SpatialFunction;

// Meshes and spaces
using problem::arguments;
using problem::BoundaryTags;
using problem::Discretisation;
using problem::FunctionSpace;
using problem::refined_generations;

// Problems as values, and solves, with the checks, choices and errors of the command
using problem::Check;
using problem::ExactSolution;
using problem::NamedFunctional;
using problem::NonlinearOptions;
using problem::NonlinearResult;
using problem::Output;
using problem::Problem;
using problem::Progress;
using problem::Solution;
using problem::solve;
using problem::solve_in_time;
using problem::solve_nonlinear;
using problem::SolveOptions;
using problem::SolveResult;
using problem::TimeInterval;
using problem::TimeOptions;
using problem::TimeResult;

// Preconditioners: solve(A, b, {.preconditioner = multigrid({.meshes = meshes})})
using problem::amg;
using problem::block;
using problem::make_blocks;
using problem::make_hierarchy;
using problem::multigrid;
using problem::MultigridOptions;
using problem::NamedValues;
using problem::PreconditionerChoice;

// Vectors
using problem::assemble;
using problem::read_vtkhdf;
using problem::write_vtkhdf;

} // namespace rafter
