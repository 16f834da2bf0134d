// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>
#include <vector>

#include <rafter/mesh/merge.hpp>
#include <rafter/mesh/mesh.hpp>

/// Each subcommand has a file of its own. Every function prints its result on standard output and returns an exit code;
/// failures are exceptions, which main.cpp turns into messages and exit codes.
namespace rafter::app {

/// All subcommands for problem files take these options.
struct ProblemOptions {
  std::string file;
  std::vector<std::string> overrides; ///< values of --set, as a.b=value, in the order given
  std::string device = "host";
  int threads = 0;  ///< 0 takes all cores
  std::string plan; ///< if empty, the planner chooses
};

struct SolveOptions {
  ProblemOptions problem;
  std::string json;        ///< path of the report; no report if empty
  bool is_verbose = false; ///< whether the text has legends, bounds, plans and all steps
  bool is_quiet = false;   ///< whether nothing but errors is printed
};
int run_solve(const SolveOptions& options);

struct KernelOptions {
  ProblemOptions problem;
  std::string
      target; ///< path of the record of a device that kernels are generated for; if empty, they are for --device
  std::string architecture; ///< kernels are compiled for it without a device ("sm_90"); "": they are for --device
  bool has_source = false, has_tensor_program = false, has_schedule = false, has_loop_program = false;
  bool has_storages = false; ///< the operator is timed in all ways to store matrices or factors
  std::string matrix;        ///< path for the operator's matrix in the format Matrix Market; not written if empty
  /// Paths for the matrices of the cells of the operator and for the vectors of those of the right-hand side, in the
  /// format of NumPy; not written if empty.
  std::string cell_matrices, cell_vectors;
};
int run_kernel(const KernelOptions& options);

struct MeshOptions {
  std::string file;
  mesh::ReadOptions read_options;
  int refine = 0;
  std::string output;      ///< path to write the mesh to; not written if empty
  mesh::MeshFormat format; ///< format of the file `output`
  bool is_json = false;
};
int run_mesh(const MeshOptions& options);

struct MachineOptions {
  std::string device = "host";
  bool is_json = false;
  bool is_fresh = false; ///< whether the machine is measured again
};
int run_machine(const MachineOptions& options);

int run_doctor();

struct BenchOptions {
  std::string suite;
  std::vector<std::string> arguments;
};
int run_bench(const BenchOptions& options);

struct TuneOptions {
  ProblemOptions problem;
  bool is_fresh = false;          ///< whether plans that were timed before are timed again
  bool is_exhaustive = false;     ///< whether every candidate is timed
  bool has_cell_matrices = false; ///< whether kernels of cell matrices are tuned instead of those of the operator
  std::string record;             ///< path for all timings as JSON; not written if empty
};
int run_tune(const TuneOptions& options);

} // namespace rafter::app
