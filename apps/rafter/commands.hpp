// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string>
#include <vector>

#include <rafter/mesh/mesh.hpp>

/// The subcommands, one file each. Every function prints its result on standard output and returns an exit code;
/// failures are exceptions, which main.cpp turns into messages and exit codes.
namespace rafter::app {

/// What all commands on problem files take.
struct ProblemOptions {
  std::string file;
  std::vector<std::string> overrides; ///< --set a.b=value, in order
  std::string device = "host";
  int threads = 0;  ///< 0: all cores
  std::string plan; ///< "": the planner chooses
};

struct SolveOptions {
  ProblemOptions problem;
  std::string json; ///< path of the report; "": none
};
int run_solve(const SolveOptions& options);

struct KernelOptions {
  ProblemOptions problem;
  bool has_source = false, has_tensor_program = false, has_loop_program = false;
  std::string matrix; ///< path of the operator's matrix as Matrix Market; "": none
};
int run_kernel(const KernelOptions& options);

struct MeshOptions {
  std::string file;
  int refine = 0;
  std::string output;      ///< path to write the mesh to; "": none
  mesh::MeshFormat format; ///< of that file
  bool is_json = false;
};
int run_mesh(const MeshOptions& options);

struct MachineOptions {
  bool is_json = false;
  bool is_fresh = false; ///< probes again
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
  bool is_fresh = false;      ///< times what is remembered, too
  bool is_exhaustive = false; ///< times every candidate
  std::string record;         ///< path of the sweep as JSON; "": none
};
int run_tune(const TuneOptions& options);

} // namespace rafter::app
