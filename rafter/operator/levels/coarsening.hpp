// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <rafter/base/error.hpp>

namespace rafter::mesh {
struct Refinement;
}

/// Says which levels there are below the finest: by lower degrees, coarser meshes, and the mesh between nodes.
namespace rafter::op {

/// A way from a level to the next coarser one.
enum class CoarseningStep : std::uint8_t {
  p,  ///< lower degrees on the same mesh
  h,  ///< the same degrees on the mesh of the generation before
  lor ///< low-order-refined: degree 1 on the mesh between the nodes (space::LowOrderRefinement), the last level
};

/// Says which levels there are below the finest.
struct Coarsening {
  std::vector<CoarseningStep> steps{CoarseningStep::p, CoarseningStep::h}; ///< steps from the finest level on
  /// Each step is made until there is no more of its kind; false: once. Repeated steps h are first made, before all
  /// others, as long as meshes were refined along some axes alone: smoothers that know no more than the diagonal leave
  /// errors that vary along the long edges of stretched cells, and lower degrees would not hold them.
  bool repeats_steps = true;
  /// Highest degrees of the fields after the p-steps, descending; fields of lower degree keep their distance, down to
  /// degree 1. Empty: every degree is halved and rounded down, to 1 at least, or lowered by `largest_step`.
  std::vector<int> degrees;
  /// Most that a p-step lowers a degree by where `degrees` is empty. 0: there is no limit on intervals, quadrilaterals
  /// and hexahedra; on meshes with other cells it is 2, because smoothers with the diagonal damp less there.
  int largest_step = 0;
  /// Coarsening ends with the first level that has at most so many unknowns, whose matrix is factorised in no time.
  /// On the two coarsest meshes ten times as many where the coarsest was refined along some axes alone: as a rule its
  /// cells are still stretched then.
  std::int64_t enough_unknowns = 500;
};

/// Steps of a coarsening lead nowhere, or not from these fields and meshes.
class CoarseningError final : public base::InputError {
public:
  using base::InputError::InputError;
};

/// Reads steps from a text such as "p,h" or "lor". Throws InputError that names what is accepted.
std::vector<CoarseningStep> parse_coarsening_steps(const std::string& text);

/// Says where a level is.
struct LevelPlace {
  std::size_t generation = 0; ///< number of its mesh, 0 is the coarsest of mesh::Generations
  std::vector<int> degrees;   ///< degrees of the fields
  /// Says that the mesh is not that of the generation, but the one between the nodes of the level above.
  bool is_low_order_refined = false;
  bool operator==(const LevelPlace&) const = default;
};

/// The levels below `finest`, from fine to coarse, as far as steps lead. Throws InputError for degrees that do not
/// descend to at least 1; CoarseningError for a single step (Coarsening::repeats_steps) that leads nowhere, for a step
/// `lor` from fields of different degrees or from degree 1, and for steps after it. `refinements` are those of the
/// meshes; without them none is along some axes alone.
std::vector<LevelPlace> coarser_places(const LevelPlace& finest, const Coarsening& coarsening,
                                       std::span<const mesh::Refinement> refinements = {});

} // namespace rafter::op
