// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <rafter/machine/machine.hpp>

namespace rafter::schedule {
struct PlanningProblem;
} // namespace rafter::schedule

namespace rafter::tune {

/// The measured time of one plan of one kernel.
struct Measurement {
  std::string plan;     ///< text of the plan
  double seconds = 0;   ///< time of one run over all cells
  double predicted = 0; ///< time that the cost model predicted then, seconds
  bool operator==(const Measurement&) const = default;
};

/// Under this name something is kept once plans of kernels of cell matrices were measured. Where nothing is, such
/// kernels need not be described to be looked up.
inline constexpr const char* tuned_matrices = "kernels of cell matrices";

/// Keeps measurements in one SQLite file (with write-ahead log), which several processes may use. Each row has a hash
/// of its kernel, plan and times; a row for which it does not hold is removed. Losing the file costs only time: one
/// that is damaged or of another version is renamed to "<file>.damaged" and begun anew; one that is locked or not
/// writable is not used. Each fault gives one warning (base::warn_once), never an exception.
class Store {
public:
  /// Uses the file plans.sqlite in the cache folder of this user (device::CacheDirectory).
  Store();
  /// Uses the given file; `patience` is how long to wait for other processes that write.
  explicit Store(std::filesystem::path file, std::chrono::milliseconds patience = std::chrono::seconds(5));
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// Name under which measurements of a kernel are kept. It is made of the kernel's text, class of size, whether
  /// batches share data, machine and number of threads, and the versions of compilers and of Rafter.
  std::string key(const schedule::PlanningProblem& problem, const machine::Machine& machine) const;

  /// Measurements of a kernel, fastest first, and equal times as search() orders them; empty if there are none.
  std::vector<Measurement> find(const std::string& key) const;
  /// Replaces the measurements of a kernel. Returns false when they could not be kept.
  bool remember(const std::string& key, const std::vector<Measurement>& measurements);

  const std::filesystem::path& file() const { return file_; }
  bool exists() const;              ///< false when nothing was ever measured
  std::int64_t num_kernels() const; ///< number of kernels with measurements

private:
  class Database;
  template <class Action> void with_database(bool makes_file, const Action& action) const;
  template <class Action> bool try_reading(const Action& action) const;
  /// Removes what is kept of a kernel except for some rows, with one warning.
  void remove_all_but(const std::string& key, const std::vector<Measurement>& rows) const;
  std::filesystem::path file_;
  std::chrono::milliseconds patience_;
  mutable std::mutex mutex_;
};

} // namespace rafter::tune
