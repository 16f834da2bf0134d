// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

/// Ceilings of a machine, against which performance is measured.
namespace rafter::machine {

/// A rate per second, measured with one core and with all cores at once.
struct Rate {
  double one_core = 0, all_cores = 0;
  bool operator==(const Rate&) const = default;
};

/// Floating-point operations per second with registers of one width.
struct Peak {
  int bits = 64;      ///< width of the registers; 64: scalar
  Rate fma, add, mul; ///< flop/s in double precision; a fused multiply-add counts two
  Rate single_fma;    ///< rate of fused multiply-adds of floats, flop/s
  bool operator==(const Peak&) const = default;
};

/// A cache or the memory. Rates are bytes per second that a kernel's text reads and writes; the transfer of a cache
/// line that is read only to be written does not count.
struct Level {
  std::string name;       ///< "L1", "L2", "L3", "memory"
  std::int64_t bytes = 0; ///< size of one such cache, or of the memory
  Rate read;              ///< rate of s += x
  Rate triad;             ///< rate of x = y + a z
  Rate copy;              ///< rate of x = y
  Rate streaming_copy;    ///< rate of x = y with stores past the caches
  bool operator==(const Level&) const = default;
};

/// Record of what was measured on a machine.
struct Machine {
  std::string model, vendor;
  std::vector<std::string> instruction_sets; ///< names of the operating system, sorted
  int cores = 1;                             ///< cores that the process may use
  std::vector<Peak> peaks;                   ///< peaks for each register width, narrowest first
  std::vector<Level> levels;                 ///< caches and memory, nearest first
  /// Doubles per second that are loaded from scattered places of the nearest cache: by one instruction for each of the
  /// widest registers, and one by one. Processors differ in which is faster. 0: not measured.
  Rate vector_gather, scalar_gather;
  /// Operations per second of products of two dense matrices of doubles, flop/s; a multiply-add counts two. Blocks of
  /// the matrices fit registers and the nearest caches, as in DGEMM. 0: not measured.
  Rate matrix_product;
  std::string measured_at;   ///< time of the measurement in UTC, such as "2024-02-29T12:00:00Z"
  std::string measured_with; ///< versions of Rafter and of the compiler
  /// Size of the block that was streamed from memory; too high a rate results if caches are nearly as large.
  std::int64_t streamed_bytes = 0;
  /// These say how little others disturbed the measurement, 1 being not at all. steadiness is the rate of the median
  /// run over that of the best run, as a median over all figures; cpu_share is the time that was computed over the time
  /// that passed on the cores in use.
  double steadiness = 1, cpu_share = 1;
  bool operator==(const Machine&) const = default;

  /// True if the measurement had the machine to itself: both shares are at least `least`.
  bool is_quiet(double least = quiet_share) const { return steadiness >= least && cpu_share >= least; }
  static constexpr double quiet_share = 0.8;

  /// Largest rates of fused multiply-adds over all widths, flop/s: peak_flops for doubles, single_peak_flops for
  /// floats.
  double peak_flops(int num_cores) const;
  double single_peak_flops(int num_cores) const;
  /// Number of cores that multiply and add as much alone as all threads together: fewer than `cores` where threads
  /// share cores, as virtual processors often do.
  double computing_cores() const { return peak_flops(cores) / peak_flops(1); }
  /// A rate for some number of cores, interpolated between one and all cores, and constant beyond.
  double rate(const Rate& measured, int num_cores) const;
  /// Says whether loading one by one is faster, by more than measurements vary.
  bool gathers_faster_by_lane() const;
  /// Nearest cache, and memory. Both throw InternalError for an empty record.
  const Level& nearest_level() const;
  const Level& memory() const;
};

/// A warning to show with figures that rest on the record: that the machine was busy when it was measured, how much,
/// and how this changes figures. It is "" for a quiet machine.
std::string busy_warning(const Machine& machine);

/// Says that threads share cores, where all of them together compute much less than as many cores would; else "".
std::string shared_cores_note(const Machine& machine);

/// Text of a record in JSON, and the record from such a text. from_json throws InputError that says what is missing or
/// wrong.
std::string to_json(const Machine& machine);
Machine from_json(const std::string& text);

struct ProbeOptions {
  int cores = 0;                 ///< number of cores; 0: all that the process may use
  double seconds = 2.5;          ///< approximate time of the measurement, without compiling
  std::int64_t memory_bytes = 0; ///< size of the block that is streamed from memory; 0: three times the last cache, but
                                 ///< at most 1 GiB and an eighth of the free memory
  bool is_fresh = false;         ///< load_or_probe measures even where a record is kept, and replaces it
  /// Value of steadiness and cpu_share at which a measurement is kept for good.
  double least_quiet = Machine::quiet_share;
  double busy_record_seconds = 600;  ///< time for which a measurement on a busy machine is used again
  std::function<void()> begins = {}; ///< load_or_probe calls it before it measures, if it does; may be empty
};

/// Measures this machine with kernels compiled for it. Throws EnvironmentError without a compiler.
Machine probe(const ProbeOptions& options = {});

/// The kept record of an earlier measurement of this processor with so many cores (0: all that the process may use);
/// nothing when there is none, or a damaged one.
std::optional<Machine> load(int cores = 0);

/// The kept record of an earlier measurement of this processor with so many cores, or a new one, which is then kept. A
/// damaged record is measured again. A measurement on a busy machine is used again for some minutes only, so that the
/// next runs need not repeat it, and never replaces one on a quiet machine.
Machine load_or_probe(const ProbeOptions& options = {});

} // namespace rafter::machine
