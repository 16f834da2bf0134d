// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rafter/form/form.hpp>
#include <rafter/mesh/generations.hpp>
#include <rafter/operator/generate/kernel_options.hpp>
#include <rafter/operator/levels/coarsening.hpp>
#include <rafter/operator/levels/level_data.hpp>
#include <rafter/operator/levels/transfer.hpp>
#include <rafter/operator/operator.hpp>

/// Makes the coarser levels of an operator: the same form and conditions with lower degrees and on coarser meshes. A
/// form that is not seen to be symmetric is taken in its symmetric part (form::symmetric_part).
namespace rafter::op {

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
  std::vector<FieldCondition> conditions;          ///< conditions on spaces of the system
  /// Options of the finest level. Its precision is that of all levels but the coarsest, whose solver works in double.
  KernelOptions kernels;
  Coarsening coarsening{};
  /// Values of parameters that the form leaves open, by name: coefficients are looked at with them (0088).
  std::vector<std::pair<std::string, double>> parameters{};
  bool keeps_plan = false; ///< says whether a plan among `kernels` is for all levels; else it is for the finest alone
};

/// Makes spaces, conditions and kernels of the levels below the finest, from coarse to fine. Levels of one mesh share
/// its discretisation; rules with a number of points have as many points less as degrees. Where coefficients change
/// within cells by a factor of 10 or more (largest_jump_within_cells), all levels have the rule of the finest. Data
/// fields on spaces of the system are on those of the level; others keep their degree as long as it is not above those
/// of the level, which they then take. A low-order-refined level has its points at the vertices of intervals,
/// quadrilaterals and hexahedra, where its matrix is closest to that of the level above. Kernels are compiled by
/// compile(), together with others. Throws InputError for a mesh that is not the finest of the generations, for several
/// data fields of one name, and the errors of coarser_places() and space::low_order_refinement().
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
