// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rafter/kernel/cut.hpp>
#include <rafter/kernel/tensor_program.hpp>

namespace rafter::schedule {

enum class Precision : std::uint8_t { double_precision, single_precision };
std::string_view name(Precision precision); ///< "double", "float"

/// Everything that was decided about a kernel: a value that prints as one line, is parsed back and replayed.
struct Plan {
  kernel::Contraction contraction = kernel::Contraction::collocated;
  kernel::FactorStorage factors = kernel::FactorStorage::store_merged;
  std::string mapping = "simd_cells"; ///< name in the registry of mappings
  int vector_width = 8;      ///< lanes; larger batches run in sub-batches of so many cells. Texts: 16 with floats
  int even_odd = 4;          ///< 1D matrices with symmetry and at least so many columns use even-odd; 0: never
  int rows = 16;             ///< sums of dense products that are kept in registers
  int subbatches = 1;        ///< that dense products take at a time; registers for sums are shared among them
  int unroll = 256;          ///< dense tables of at most so many entries stand in the text; 0: none
  bool has_patches = true;   ///< what cells of a patch share is gathered and added once, where batches are patches
  bool prefetch = true;      ///< vectors and data of the next batch are fetched while one is computed
  bool is_streaming = false; ///< what belongs to one batch alone is stored past the caches
  Precision storage = Precision::double_precision;    ///< of what set-up stores per cell and point
  Precision compute = Precision::double_precision;    ///< of work arrays and registers
  Precision accumulate = Precision::double_precision; ///< of the vectors: contributions of cells are summed in it
  std::string compiler;                               ///< "" = the device's default
  std::string flags;                                  ///< name of a set of compiler flags, "" = the usual ones
  bool operator==(const Plan&) const = default;
};

/// "contraction=collocated factors=store-merged mapping=simd_cells vector_width=8 even_odd=4 rows=16 subbatches=1
/// unroll=256 patches=1 prefetch=1 stores=cached storage=double compute=double accumulate=double compiler=default
/// flags=default"
std::string to_string(const Plan& plan);
/// The same for people: the keys that differ from the default, in the order of the text and without those that do not
/// matter to such a plan ("factors=recompute vector_width=4"), or "default". Parsed back it makes the same kernel where
/// the plan is one that a kernel follows, as reports have them: what is asked for may fall to another contraction or
/// mapping, to which other keys matter.
std::string short_name(const Plan& plan);
/// Short names of the plans of one table. Plans that differ have different ones: where keys tell them apart that do not
/// matter to them, those are named, too.
std::vector<std::string> short_names(std::span<const Plan> plans);
/// Sets one key of the text form. Throws InputError with the nearest key or value.
void set(Plan& plan, const std::string& key, const std::string& value);
/// Keys that are absent keep their default, the vector width that of 64 bytes: 8, or 16 with compute=float; the word
/// "default" is the default plan. Throws InputError with the nearest key or value, and for accumulate=float without
/// compute=float.
Plan parse_plan(const std::string& text);
/// The same decisions, all in double precision.
Plan in_double(Plan plan);
/// The keys in less than double precision as text, "storage=float compute=float"; "": none.
std::string single_keys(const Plan& plan);
/// The plan without what no program shows: plans that differ there alone have the same text.
Plan without_compilation(Plan plan);

} // namespace rafter::schedule
