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
#include <rafter/tune/planning_problem.hpp>

namespace rafter::tune {

/// One plan of one kernel, timed.
struct Measurement {
  std::string plan;     ///< text
  double seconds = 0;   ///< of one run over all cells
  double predicted = 0; ///< what the cost model said then, seconds
  bool operator==(const Measurement&) const = default;
};

/// What was measured, in one SQLite file (write-ahead log) that several processes may use. It is a memory and nothing
/// more: a file that is damaged or of another version is set aside under the name "<file>.damaged" and begun anew, one
/// that is locked or cannot be written is not used; one warning each (base::warn_once), never an exception.
class Store {
public:
  /// The file plans.sqlite in the cache folder of this user (device::CacheDirectory).
  Store();
  /// `patience`: how long others that write are waited for.
  explicit Store(std::filesystem::path file, std::chrono::milliseconds patience = std::chrono::seconds(5));
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// Name of a kernel: its text, class of size, whether cells are equal, machine and threads, compilers and versions of
  /// Rafter and theirs.
  std::string key(const PlanningProblem& problem, const machine::Machine& machine) const;

  /// Measurements of a kernel, fastest first; empty: none.
  std::vector<Measurement> find(const std::string& key) const;
  /// Replaces what is known of a kernel. False when it could not be kept.
  bool remember(const std::string& key, const std::vector<Measurement>& measurements);

  const std::filesystem::path& file() const { return file_; }
  bool exists() const;              ///< false: nothing was ever measured
  std::int64_t num_kernels() const; ///< that are remembered

private:
  class Database;
  template <class Action> void with_database(bool makes_file, const Action& action) const;
  template <class Action> bool try_reading(const Action& action) const;
  std::filesystem::path file_;
  std::chrono::milliseconds patience_;
  mutable std::mutex mutex_;
};

} // namespace rafter::tune
