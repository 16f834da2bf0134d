// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rafter/mesh/readers.hpp>
#include <rafter/solve/near_null_space.hpp>
#include <rafter/solve/solver.hpp>
#include <tests/support/operator_problems.hpp>
#include <tests/support/source_directory.hpp>

/// Problems with their matrices, for tests of algebraic multigrid.
namespace rafter::test {

inline double zero_values(std::span<const double>, std::size_t) { return 0.0; }

/// A problem whose matrix is coarsened.
struct Assembled {
  std::shared_ptr<Problem> problem;
  std::shared_ptr<const op::Operator> A;
  op::SparseMatrix matrix;
  solvers::NearNullSpace near_null_space;

  Assembled(mesh::Mesh mesh, const std::string& form, int components = 0, std::vector<std::int32_t> tags = {},
            int degree = 1)
      : Assembled(std::make_shared<Problem>(std::move(mesh), degree, components), form,
                  [&](const Problem& of) { return std::vector{dirichlet(of.space(), zero_values, std::move(tags))}; }) {
  }
  template <class Conditions>
  Assembled(std::shared_ptr<Problem> on, const std::string& form, const Conditions& conditions, int threads = 1)
      : problem(std::move(on)) {
    problem->with("kappa", 1.0);
    A = std::make_shared<const op::Operator>(problem->form(form),
                                             planned({.threads = threads, .dirichlet = conditions(*problem)}));
    matrix = A->sparse_matrix();
    near_null_space = solvers::make_near_null_space(problem->system());
  }
  /// Options of CG with a cycle of algebraic multigrid, to 1e-6 in the preconditioned norm.
  solvers::SolverOptions solver(const solvers::MultigridParameters& parameters = {}) const {
    solvers::SolverOptions options{.method = "cg", .preconditioner = "amg", .multigrid = parameters};
    options.control.rtol = 1e-6;
    options.control.norm = solvers::Norm::preconditioned;
    options.near_null_space = [this] { return near_null_space; };
    return options;
  }
  /// A load of ones on the free unknowns.
  op::Vector load() const {
    op::Vector b = A->make_vector();
    std::ranges::fill(b.host_overwrite(), 1.0);
    for (const auto entry : A->constraints().entries) b.host_write()[static_cast<std::size_t>(entry)] = 0;
    return b;
  }
  /// Number of iterations for this load.
  int iterations(const solvers::MultigridParameters& parameters = {}) const {
    const op::Vector b = load();
    op::Vector x = A->make_vector();
    std::ranges::fill(x.host_overwrite(), 0.0);
    const auto result = solvers::solve(*A, b, x, solver(parameters));
    EXPECT_EQ(result.status, solvers::Status::converged) << result.message;
    return result.iterations;
  }
};

/// A mesh of tests/data/meshes.
inline mesh::Mesh sample(const std::string& name) {
  return mesh::read_mesh(test::source_directory() + "/tests/data/meshes/" + name);
}
inline std::string laplacian() { return "inner(grad(u), grad(v))*dx"; }

/// A cube of elastic material that slides along three of its sides, with this stiffness.
inline Assembled sliding_cube(const std::string& stiffness) {
  return {std::make_shared<Problem>(box("tetrahedron", 8), 1, 3), stiffness + "*" + elasticity_form(3),
          [](const Problem& on) {
            std::vector<op::FieldCondition> result;
            for (const int axis : {0, 1, 2}) {
              result.push_back(dirichlet(on.space(), zero_values, {2 * axis + 1}));
              result.back().condition.components = {axis};
              result.back().condition.value = [](std::span<const double>, std::span<double> values) {
                std::ranges::fill(values, 0.0);
              };
            }
            return result;
          }};
}

/// The null space of one constant, of an operator without padding.
inline std::shared_ptr<const solvers::NullSpace> constants(const op::Operator& A) {
  op::Vector ones = A.make_vector();
  std::ranges::fill(ones.host_overwrite(), 1.0);
  std::vector<op::Vector> basis;
  basis.push_back(std::move(ones));
  return std::make_shared<const solvers::NullSpace>(A.device(), std::move(basis));
}

} // namespace rafter::test
