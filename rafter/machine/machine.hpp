// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What a machine can do: the ceilings that performance is measured against.
namespace rafter::machine {

/// Something per second, measured with one core and with all of them at once.
struct Rate {
  double one_core = 0, all_cores = 0;
  bool operator==(const Rate&) const = default;
};

/// Floating-point operations per second with registers of one width.
struct Peak {
  int bits = 64;      ///< 64: scalar
  Rate fma, add, mul; ///< flop/s in double precision; a fused multiply-add counts two
  Rate single_fma;    ///< the same of floats
  bool operator==(const Peak&) const = default;
};

/// A cache or the memory. Rates in bytes per second that the kernel's text reads and writes: what a cache line is read
/// for before it is written does not count.
struct Level {
  std::string name;       ///< "L1", "L2", "L3", "memory"
  std::int64_t bytes = 0; ///< of one such cache; of the memory: its size
  Rate read;              ///< s += x
  Rate triad;             ///< x = y + a z
  Rate copy;              ///< x = y
  Rate streaming_copy;    ///< x = y with stores that pass the caches by
  bool operator==(const Level&) const = default;
};

struct Machine {
  std::string model, vendor;
  std::vector<std::string> instruction_sets; ///< as the operating system names them, sorted
  int cores = 1;                             ///< that the process may use
  std::vector<Peak> peaks;                   ///< narrowest first
  std::vector<Level> levels;                 ///< nearest first, the last is the memory
  std::string measured_at;                   ///< UTC, "2024-02-29T12:00:00Z"
  std::string measured_with;                 ///< versions of Rafter and of the compiler
  std::int64_t streamed_bytes = 0;           ///< block that stood for the memory; caches near that size flatter it
  /// How little the measurement was disturbed by others, 1: not at all. Rate of the middle run over that of the best,
  /// median over all figures; and time on the processor over time that passed on the cores in use.
  double steadiness = 1, cpu_share = 1;
  bool operator==(const Machine&) const = default;

  /// The measurement had the machine to itself: both shares reach `least`.
  bool is_quiet(double least = quiet_share) const { return steadiness >= least && cpu_share >= least; }
  static constexpr double quiet_share = 0.8;

  /// Largest rate of fused multiply-adds over all widths, flop/s; of doubles, and of floats.
  double peak_flops(int num_cores) const;
  double single_peak_flops(int num_cores) const;
  /// Between one and all cores rates are interpolated, beyond all they stay.
  double rate(const Rate& measured, int num_cores) const;
  /// Nearest cache and memory; throw InternalError for an empty record.
  const Level& nearest_level() const;
  const Level& memory() const;
};

/// For whoever shows figures that rest on the record: that the machine was busy when it was measured, how much, and
/// what this does to figures; "" of a quiet machine.
std::string busy_warning(const Machine& machine);

/// JSON text of a record and back. from_json throws InputError that says what is missing or wrong.
std::string to_json(const Machine& machine);
Machine from_json(const std::string& text);

struct ProbeOptions {
  int cores = 0;                 ///< 0: all that the process may use
  double seconds = 2.5;          ///< roughly, without compiling
  std::int64_t memory_bytes = 0; ///< of the block that is streamed from memory; 0: three times the last cache, but at
                                 ///< most 1 GiB and an eighth of what is free
  bool is_fresh = false;         ///< load_or_probe measures even when a record is kept, and replaces it
  double least_quiet = Machine::quiet_share; ///< of a measurement that is kept
  double busy_record_seconds = 600;          ///< how long a measurement below that serves the next runs
};

/// Measures this machine with kernels compiled for it. Throws EnvironmentError without a compiler.
Machine probe(const ProbeOptions& options = {});

/// The record kept from an earlier probe of this processor with as many cores (0: all that the process may use);
/// nothing when there is none or a damaged one.
std::optional<Machine> load(int cores = 0);

/// The record kept from an earlier probe of this processor with as many cores, else a new one, which is kept. A damaged
/// record is measured again. A measurement on a busy machine serves for some minutes only, so that the next runs need
/// not wait for another one as busy, and never replaces one on a quiet machine.
Machine load_or_probe(const ProbeOptions& options = {});

} // namespace rafter::machine
