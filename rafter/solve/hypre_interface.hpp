// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>

/// The library and its adapter to hypre agree on this interface. The adapter is a shared library of its own
/// (adapters/hypre), which is opened when it is first needed: the library is built and runs without hypre and the MPI
/// that comes with it. Only types of C cross this boundary, and no exceptions.
extern "C" {

/// A square matrix in compressed rows, symmetric positive (semi-)definite, each row with a positive diagonal entry.
struct RafterHypreMatrix {
  std::int64_t num_rows;
  const std::int64_t* row_offsets; ///< shape (row + 1)
  const std::int32_t* columns;     ///< shape (entry)
  const double* values;            ///< shape (entry)
};

/// Options of BoomerAMG.
struct RafterHypreOptions {
  double strong_threshold;
  std::int32_t num_components;
  const std::int32_t* component; ///< shape (row); null: there is one component
  /// Functions that interpolation holds besides the constants of the components, shape (vector, row). With any, the
  /// rows of a node must be together, all components of it in the same order.
  const double* const* vectors;
  std::int32_t num_vectors;
  /// Dimension of the null space of the matrix. Levels have more rows than it. With any, or with vectors, the coarsest
  /// level is relaxed by symmetric sweeps, not factorised.
  std::int32_t num_null_vectors;
};

/// Set-up fills in what it has made.
struct RafterHypreInfo {
  std::int32_t num_levels;
  double operator_complexity; ///< entries of the matrices of all levels over those of the given one
  bool is_indefinite;         ///< a level has a negative eigenvalue, and so has the given matrix
};

/// The functions of the adapter. Those that can fail return false, or null, and write why into `error`. hypre keeps
/// state of its own in the process: one thread at a time may call them.
struct RafterHypreFunctions {
  std::int32_t interface_version; ///< rafter_hypre_interface of the adapter's build
  const char* hypre_version;      ///< such as "2.26.0"
  /// Sets up BoomerAMG for a matrix, which may go away afterwards.
  void* (*create)(const RafterHypreMatrix* matrix, const RafterHypreOptions* options, RafterHypreInfo* info,
                  char* error, std::size_t error_size);
  /// Computes z from r by one V-cycle that begins with zero.
  bool (*cycle)(void* instance, const double* r, double* z, char* error, std::size_t error_size);
  void (*destroy)(void* instance); ///< releases all that belongs to it
};

enum : std::int32_t { rafter_hypre_interface = 1 }; ///< grows when these types change

/// The only symbol of the adapter that the library looks for, by its name.
const RafterHypreFunctions* rafter_hypre();
}
