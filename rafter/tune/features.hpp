// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <string_view>

namespace rafter::schedule {
struct PlanningProblem;
} // namespace rafter::schedule

namespace rafter::tune {

struct PlannedProgram;

/// Features are what one batch executes and moves, counted from its loop program (see schedule::LoopCounts and
/// schedule::Instructions).
struct Features {
  double flops = 0;
  double operations = 0;
  double arithmetic = 0; ///< counts down to `iterations` are as in schedule::Instructions
  double divisions = 0;
  double functions = 0;
  double loads = 0;
  double stores = 0;
  double broadcasts = 0;
  double gathers = 0;
  double lane_loads = 0;
  double scatters = 0;
  double index_loads = 0;
  double iterations = 0;
  double work_bytes = 0;   ///< size of all work arrays
  double text = 0;         ///< operations in the text of the program
  double vector_width = 8; ///< lanes of an instruction
  double word_bytes = 8;   ///< size of the numbers that are computed with
  double data_bytes = 0;   ///< bytes read besides vectors, as in PlannedProgram
  double vector_bytes = 0; ///< bytes of vectors that are read and written, as in schedule::PlanningProblem
  /// Traffic with the nearest cache, as in schedule::LoopCounts::local.
  double local_read_bytes = 0, local_written_bytes = 0;
  bool operator==(const Features&) const = default;
};

/// Name of a feature in records of sweeps.
struct FeatureName {
  std::string_view name;
  double Features::*value;
};
inline constexpr std::array feature_names{FeatureName{"flops", &Features::flops},
                                          FeatureName{"operations", &Features::operations},
                                          FeatureName{"arithmetic", &Features::arithmetic},
                                          FeatureName{"divisions", &Features::divisions},
                                          FeatureName{"functions", &Features::functions},
                                          FeatureName{"loads", &Features::loads},
                                          FeatureName{"stores", &Features::stores},
                                          FeatureName{"broadcasts", &Features::broadcasts},
                                          FeatureName{"gathers", &Features::gathers},
                                          FeatureName{"lane_loads", &Features::lane_loads},
                                          FeatureName{"scatters", &Features::scatters},
                                          FeatureName{"index_loads", &Features::index_loads},
                                          FeatureName{"iterations", &Features::iterations},
                                          FeatureName{"work_bytes", &Features::work_bytes},
                                          FeatureName{"text", &Features::text},
                                          FeatureName{"vector_width", &Features::vector_width},
                                          FeatureName{"word_bytes", &Features::word_bytes},
                                          FeatureName{"data_bytes", &Features::data_bytes},
                                          FeatureName{"vector_bytes", &Features::vector_bytes},
                                          FeatureName{"local_read_bytes", &Features::local_read_bytes},
                                          FeatureName{"local_written_bytes", &Features::local_written_bytes}};

Features count_features(const PlannedProgram& lowered, const schedule::PlanningProblem& problem);

} // namespace rafter::tune
