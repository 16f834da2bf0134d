// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rafter/base/error.hpp>
#include <rafter/mesh/generations.hpp>
#include <rafter/operator/level_data.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/operator/transfer.hpp>

/// Makes the coarser levels of an operator: the same form and conditions with lower degrees and on coarser meshes. A
/// form that is not seen to be symmetric is taken in its symmetric part (form::symmetric_part).
namespace rafter::op {

/// A way from a level to the next coarser one.
enum class CoarseningStep : std::uint8_t {
  p,  ///< lower degrees on the same mesh
  h,  ///< the same degrees on the mesh of the generation before
  lor ///< low-order-refined: degree 1 on the mesh between the nodes (space::LowOrderRefinement), the last level
};

/// Says which levels there are below the finest.
struct Coarsening {
  std::vector<CoarseningStep> steps{CoarseningStep::p, CoarseningStep::h}; ///< from the finest level on
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

/// Number of cells of a batch on meshes of levels in a precision, as space::DiscretisationOptions takes it: registers
/// hold twice as many floats as doubles. Up to degree 2 it is the usual one, because cells are gathered by patches
/// there, and kernels in double would have to gather more patches than a register has lanes.
int level_cells_per_batch(schedule::Precision precision, int highest_degree);

/// A level whose kernels are text.
struct GeneratedLevel {
  LevelPlace place;
  System system;
  space::Constraints constraints;                  ///< fix the same parts of the boundary as the finest level's, to 0
  std::shared_ptr<GeneratedForm> action, diagonal; ///< `diagonal` is null where an assembled matrix has it
  double kernel_seconds = 0;                       ///< time that planning and writing the kernels took
  /// The mesh of the level, where it is low-order-refined; else null.
  std::shared_ptr<const space::LowOrderRefinement> nodes;
};

/// Makes a form of a level: that of the finest level on other spaces, of which a pair has (old, new).
using FormOnSpaces = std::function<form::LoweredForm(const std::vector<form::SpacePair>&)>;

/// Everything that levels are made of.
struct HierarchySpecification {
  form::Form form{};      ///< form of the finest level
  FormOnSpaces form_on{}; ///< makes those of levels; empty: they are `form` with its arguments and data fields there
  System system;          ///< system of the finest level
  std::shared_ptr<const mesh::Generations> meshes; ///< the last is that of the system
  std::vector<FieldCondition> conditions;          ///< on spaces of the system
  /// Options of the finest level. Its precision is that of all levels but the coarsest, whose solver works in double.
  KernelOptions kernels;
  Coarsening coarsening{};
  bool keeps_plan = false; ///< says whether a plan among `kernels` is for all levels; else it is for the finest alone
};

/// Makes spaces, conditions and kernels of the levels below the finest, from coarse to fine. Levels of one mesh share
/// its discretisation; rules with a number of points have as many points less as degrees. Data fields on spaces of the
/// system are on those of the level; others keep their degree as long as it is not above those of the level, which they
/// then take. A low-order-refined level has its points at the vertices of intervals, quadrilaterals and hexahedra,
/// where its matrix is closest to that of the level above. Kernels are compiled by compile(), together with others.
/// Throws InputError for a mesh that is not the finest of the generations, for several data fields of one name, and the
/// errors of coarser_places() and space::low_order_refinement().
std::vector<GeneratedLevel> generate_levels(const HierarchySpecification& specification);

/// All kernels of levels, for compile().
std::vector<std::shared_ptr<GeneratedForm>> kernels_of(std::span<const GeneratedLevel> levels);

/// A level below the finest, ready to be applied.
struct Level {
  LevelPlace place;
  System system;
  std::shared_ptr<const Operator> A;
  std::shared_ptr<const Transfer> to_finer;
  std::shared_ptr<LevelData> data; ///< brings the values of the next finer level
};

using TransferFactory = std::function<std::shared_ptr<const Transfer>(const TransferSpecification&)>;

/// Binds the compiled levels below an operator or its symmetric part, with the values that the data fields, constants
/// and parameters of `finest` have now, and makes the transfers between them and to it: by `make`, or with compiled
/// kernels where that is empty. `finest` must outlive the levels, whose data follow it.
std::vector<Level> make_levels(std::vector<GeneratedLevel> generated, const Operator& finest,
                               const mesh::Generations& meshes, const TransferFactory& make = {});

/// "degree 4 on 512 cells"
std::string describe_level(const System& system);
/// The same for a level; "low-order-refined, degree 1 on 32768 cells".
std::string describe_level(const Level& level);

} // namespace rafter::op
