// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <string_view>

#include <rafter/tune/kernel_problem.hpp>

namespace rafter::tune {

/// What one batch executes and moves, counted from the loop program; branches count their first alternative (the
/// regular path), loops over run-time counts once. Work arrays that are only indexed by constants are registers.
struct Features {
  double flops = 0;        ///< of all lanes, a fused multiply-add counts two
  double operations = 0;   ///< the same, a fused multiply-add counts one
  double arithmetic = 0;   ///< instructions: sums, products, fused multiply-adds
  double divisions = 0;    ///< instructions: quotients and square roots
  double functions = 0;    ///< calls of other elementary functions, one per lane
  double loads = 0;        ///< instructions on consecutive lanes
  double stores = 0;       ///< the same
  double broadcasts = 0;   ///< numbers that every lane takes: entries of tables in memory
  double gathers = 0;      ///< instructions
  double scatters = 0;     ///< numbers written one by one
  double index_loads = 0;  ///< loads of integers
  double iterations = 0;   ///< of loops that are not unrolled
  double work_bytes = 0;   ///< of work arrays
  double text = 0;         ///< operations that stand in the program, unrolled loops written out
  double lanes = 8;        ///< that an instruction serves
  double word_bytes = 8;   ///< of the numbers that are computed with
  double data_bytes = 0;   ///< as LoweredPlan
  double vector_bytes = 0; ///< as KernelProblem
  bool operator==(const Features&) const = default;
};

/// Name of each feature in records.
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
                                          FeatureName{"scatters", &Features::scatters},
                                          FeatureName{"index_loads", &Features::index_loads},
                                          FeatureName{"iterations", &Features::iterations},
                                          FeatureName{"work_bytes", &Features::work_bytes},
                                          FeatureName{"text", &Features::text},
                                          FeatureName{"lanes", &Features::lanes},
                                          FeatureName{"word_bytes", &Features::word_bytes},
                                          FeatureName{"data_bytes", &Features::data_bytes},
                                          FeatureName{"vector_bytes", &Features::vector_bytes}};

Features count_features(const LoweredPlan& lowered, const KernelProblem& problem);

} // namespace rafter::tune
