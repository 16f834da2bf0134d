// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <rafter/schedule/counts.hpp>
#include <rafter/schedule/least_traffic.hpp>
#include <rafter/schedule/plan.hpp>

namespace rafter::tune {

/// Names the generator of this build: it changes with the sources of all modules from forms to kernels, so that texts
/// of another generator are never taken for those of this one.
std::string_view generator_id();

/// A program as it runs: its text, and its arguments with the tables of elements and quadrature rules among them.
struct GeneratedProgram {
  std::string source; ///< text of the program; "" where there is none
  std::string name;   ///< name of its entry point
  schedule::Plan plan;
  int vector_width = 1;
  schedule::Launch launch; ///< launch that the program states
  std::vector<schedule::LoopBuffer> arguments;
  std::vector<std::vector<double>> matrices; ///< packed tables; one that stands in the text is empty
  std::vector<double> points, weights;       ///< points and weights of the rule, padding included
  bool operator==(const GeneratedProgram&) const = default;
};

/// A field that a kernel writes.
struct GeneratedOutput {
  int field = 0;                ///< its number in the form
  int components = 1;           ///< or pairs of them, in kernels of cell matrices
  int num_tests = 0;            ///< functions per component
  int num_trials = 0;           ///< trial functions, in kernels of cell matrices
  std::vector<int> places = {}; ///< kernel::pair_places, in kernels of cell matrices
  bool operator==(const GeneratedOutput&) const = default;
};

/// Holds what planning decided, and what lowering and emission wrote, for one specification of a kernel.
struct KernelPrograms {
  double seconds = 0;                          ///< time of a run that the planner predicted; 0: it is not known
  bool is_too_large = false;                   ///< the kernel is too large to be worth it, and nothing was generated
  GeneratedProgram main;                       ///< the kernel, with the plan that was decided for
  GeneratedProgram setup;                      ///< the kernel that computes what `main` reads as stored
  std::string tensor_program;                  ///< the tensor program of `main` as text
  std::string schedule_text;                   ///< text of the schedule of `main`
  std::string loop_program;                    ///< the loop program of `main` as text
  std::string setup_loop_program;              ///< that of `setup`; "" where there is none
  schedule::LoopCounts counts;                 ///< counts of `main` without its instructions
  std::optional<schedule::LeastTraffic> least; ///< absent until somebody has asked for it
  double cell_flops = 0;                       ///< operations per cell of the tensor program
  double work_bytes = 0;                       ///< bytes of the work arrays of `main`
  double data_bytes = 0; ///< bytes that a batch reads besides vectors; of rows that batches share it counts its part
  int num_points = 0;    ///< points of a cell, padding included
  int stored_point_slots = 0, stored_cell_slots = 0;
  double setup_flops = 0;                          ///< operations per cell that `setup` executes
  std::vector<int> setup_fields, setup_parameters; ///< data fields and parameters of the form that set-up reads
  std::vector<GeneratedOutput> outputs;
  bool operator==(const KernelPrograms&) const = default;
};

/// Entries of the matrices of a cell, for kernels of cell matrices: schedule::num_matrix_entries.
std::int64_t num_matrix_entries(const KernelPrograms& programs);

/// Programs of kernels by the hash of their specification, as files in a folder that is named by the generator and that
/// several processes may use. It is a memory and nothing more: what is missing, is not that of its specification
/// (device::read_entry) or cannot be written is generated anew, never an exception.
class KernelTextCache {
public:
  /// Uses the cache folder of this user (device::CacheDirectory). Folders of other generators that no process has used
  /// for some weeks go.
  KernelTextCache();
  explicit KernelTextCache(std::filesystem::path folder, std::string_view id = generator_id());

  std::optional<KernelPrograms> find(const std::string& specification) const;
  void remember(const std::string& specification, const KernelPrograms& programs);

  const std::filesystem::path& folder() const { return folder_; }

private:
  /// The file of a specification with this hash.
  std::filesystem::path file_of(const std::string& hash) const;
  std::filesystem::path parent_, folder_;
  std::string kind_; ///< kind of its entries, with the generator: device::EntryKey
  std::once_flag is_made_;
  mutable std::once_flag is_used_; ///< the folder's time says when kernels were last found in it
};

} // namespace rafter::tune
