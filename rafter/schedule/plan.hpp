// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rafter/kernel/contraction.hpp>
#include <rafter/kernel/factor_storage.hpp>
#include <rafter/schedule/precision.hpp>

namespace rafter::schedule {

/// The way in which items of a device add what cells contribute to an unknown that cells share (mapping cell_per_item).
enum class Scatter : std::uint8_t {
  atomic,   ///< adds in any order, by atomic additions
  coloured, ///< cell by cell, where no other group adds to the same unknowns: the stages of the host. The same bits in
            ///< every run
  two_pass  ///< not at all: cells store what they contribute side by side, and one item for each unknown sums it. The
            ///< same bits in every run
};
std::string_view name(Scatter scatter); ///< "atomic", "coloured", "two-pass"

/// Set of compiler flags (Plan::flags) for kernels that run a few times.
inline constexpr std::string_view quick_flags = "quick";

/// Everything that is decided about a kernel. It prints as one line of text, from which the same kernel can be made
/// again.
struct Plan {
  kernel::Contraction contraction = kernel::Contraction::collocated;
  kernel::FactorStorage factors = kernel::FactorStorage::store_merged;
  std::string mapping = "simd_cells"; ///< name in the registry of mappings
  int vector_width = 8; ///< number of lanes; larger batches run in sub-batches of so many cells. A text without it
                        ///< means 16 with compute=float, and 1 with mapping=cell_per_item, whose items then hold a cell
  int even_odd = 4;     ///< 1D matrices with symmetry and at least so many columns use even-odd; 0: never
  int rows = 16;        ///< sums of dense products that are kept in registers
  int subbatches = 1;   ///< sub-batches that dense products take at a time, sharing the registers for sums
  int unroll = 256;     ///< dense tables of at most so many entries stand in the text; 0: none
  /// Values that cells of a patch share are gathered and added once, where batches consist of patches.
  bool has_patches = true;
  /// Cells find their shared dofs by an index of each, instead of by the starts of runs and their orientations.
  bool has_dof_lists = false;
  /// Numbers of a vector that lie apart are loaded one by one, not by an instruction for all lanes.
  bool gathers_by_lane = false;
  Scatter scatter = Scatter::atomic;
  bool prefetch = true;      ///< vectors and data of the next batch are fetched while one is computed
  bool is_streaming = false; ///< unknowns that belong to one batch alone are stored past the caches
  Precision storage = Precision::double_precision; ///< precision of what set-up stores per cell and point
  Precision compute = Precision::double_precision; ///< precision of work arrays and registers
  /// Precision of the vectors, hence of the sums of what cells contribute.
  Precision accumulate = Precision::double_precision;
  std::string compiler; ///< name or path of the C compiler; "": the device's default
  std::string flags;    ///< name of a set of compiler flags; "": the default set
  bool operator==(const Plan&) const = default;
};

/// Full text of a plan, without the keys of other mappings alone, such as
/// "contraction=collocated factors=store-merged mapping=simd_cells vector_width=8 even_odd=4 rows=16 subbatches=1
/// unroll=256 patches=1 indices=runs gathers=vector prefetch=1 stores=cached storage=double compute=double
/// accumulate=double compiler=default flags=default"
std::string to_string(const Plan& plan);
/// Short text for tables: the keys that differ from the default, in the order of the full text and without keys that do
/// not matter to the plan ("factors=recompute vector_width=4"), or "default". Parsed back, it makes the same kernel if
/// a kernel follows this plan exactly, as plans in reports do. A plan that a kernel cannot follow falls back to another
/// contraction or mapping, to which the keys left out may matter.
std::string short_name(const Plan& plan);
/// Short names of the plans of one table. Different plans get different names: where they differ only in keys that do
/// not matter to them, these keys are named, too.
std::vector<std::string> short_names(std::span<const Plan> plans);
/// Sets one key of the text form. Throws InputError, with the nearest key or value as a suggestion, where either is
/// unknown.
void set(Plan& plan, const std::string& key, const std::string& value);
/// Reads a plan from text. Keys that are absent keep their default; that of vector_width fills 64 bytes (8, or 16 with
/// compute=float). The word "default" is the default plan. Throws InputError, with the nearest key or value as a
/// suggestion, and for accumulate=float without compute=float. `usual` has the values of keys that the text leaves out.
Plan parse_plan(const std::string& text, const Plan& usual = Plan());
/// The plan with the values that its full text means for the keys that are not in it, those of other mappings.
Plan without_unused_keys(Plan plan);
/// The plan with all numbers in double precision.
Plan in_double(Plan plan);
/// The plan with all numbers in single precision, and its vector width.
Plan in_single(Plan plan);
/// The keys with less than double precision as text, such as "storage=float compute=float"; "" if there are none.
std::string single_keys(const Plan& plan);
/// The plan without compiler and flags, which do not change the text of a kernel: plans that differ there alone become
/// equal.
Plan without_compilation(Plan plan);

} // namespace rafter::schedule
