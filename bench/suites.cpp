// SPDX-License-Identifier: BSD-3-Clause
#include <bench/suites.hpp>

#include <array>

#include <bench/axlocal.hpp>
#include <bench/bp.hpp>
#include <bench/elasticity_kernel.hpp>
#include <bench/elasticity_solve.hpp>
#include <bench/first_order.hpp>
#include <bench/gathers.hpp>
#include <bench/hosfem.hpp>
#include <bench/mesh.hpp>
#include <bench/poisson_solve.hpp>
#include <bench/sparse.hpp>
#include <bench/storages.hpp>

namespace rafter::bench {

std::span<const Suite> suites() {
  static constexpr std::array table{
      Suite{"bp", "CEED bake-off problems and elasticity, global vector to global vector", bp_options, run_bp},
      Suite{"bk", "CEED bake-off kernels and elasticity, cell vector to cell vector", bk_options, run_bk},
      Suite{"axlocal", "local operator of spectral elements, geometric factors stored and recomputed", axlocal_options,
            run_axlocal, true, false},
      Suite{"elasticity-kernel", "linear elasticity from a dense kernel to the planner's, step by step",
            elasticity_kernel_options, run_elasticity_kernel, true, false},
      Suite{"elasticity-solve", "a beam of two materials with several solvers, phase by phase",
            elasticity_solve_options, run_elasticity_solve, true, false},
      Suite{"first-order", "matrices of cells by all orders of the loops over points and functions",
            first_order_options, run_first_order, true, false},
      Suite{"gathers", "what the way between vector and cells costs, beside a plain loop of gathers and sums",
            gathers_options, run_gathers, false},
      Suite{"hosfem", "conjugate gradients on a box, one operation after the other and fused with the loop over cells",
            hosfem_options, run_hosfem, true, false},
      Suite{"poisson-solve", "Poisson's equation with multigrid on all shapes, in applications of the operator",
            poisson_solve_options, run_poisson_solve},
      Suite{"storages", "operators assembled, by stored matrices of cells, stored factors and recomputed ones",
            storages_options, run_storages},
      Suite{"sparse", "products of an assembled matrix beside compressed rows written by hand", sparse_options,
            run_sparse, false},
      Suite{"mesh", "one of these suites on the mesh of a file", mesh_options, run_mesh, true, false},
  };
  return table;
}

} // namespace rafter::bench
