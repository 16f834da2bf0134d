// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/mapping.hpp>

#include <rafter/base/error.hpp>
#include <rafter/schedule/plain.hpp>
#include <rafter/schedule/simd_cells.hpp>

namespace rafter::schedule {

const std::vector<Mapping>& mappings() {
  static const std::vector<Mapping> registry{
      {"simd_cells", "cells across SIMD lanes", accepts_simd_cells, lower_simd_cells},
      {"plain", "one cell after the other, scalars only", accepts_plain, lower_plain},
  };
  return registry;
}

std::vector<std::string> mapping_names() {
  std::vector<std::string> names;
  for (const auto& mapping : mappings()) names.push_back(mapping.name);
  return names;
}

LoopProgram lower(const LoweringInput& input, Plan& plan) {
  const Mapping* chosen = nullptr;
  for (const auto& mapping : mappings())
    if (mapping.name == plan.mapping && mapping.accepts(input, plan)) chosen = &mapping;
  for (const auto& mapping : mappings())
    if (chosen == nullptr && mapping.accepts(input, plan)) chosen = &mapping;
  if (chosen == nullptr) throw base::InternalError("no mapping accepts the program");
  plan.mapping = chosen->name;
  LoopProgram program = chosen->lower(input, plan);
  verify(program);
  return program;
}

} // namespace rafter::schedule
