// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/generations.hpp>

#include <algorithm>
#include <string_view>

#include <rafter/base/error.hpp>

namespace rafter::mesh {
namespace {

/// Says whether the refinement of a box of half as many cells per direction has the cells of this one.
bool has_coarser(const BoxOptions& options) {
  return options.shape != "mixed" && options.shape != element::name(element::Shape::pyramid) &&
         std::ranges::all_of(options.cells, [](int n) { return n % 2 == 0; });
}

} // namespace

Generations box_generations(const BoxOptions& options, int times) {
  auto coarsest = options;
  // A box without cells along an axis is refused below.
  const auto has_cells = [](const BoxOptions& box) {
    return std::ranges::all_of(box.cells, [](int n) { return n > 0; });
  };
  for (; !coarsest.cells.empty() && has_cells(coarsest) && has_coarser(coarsest); ++times)
    for (int& n : coarsest.cells) n /= 2;
  return refined_generations(std::make_shared<const Mesh>(make_box(coarsest)), times);
}

Generations periodic_generations(const Generations& generations, const std::vector<PeriodicPair>& pairs) {
  Generations result{.meshes = {std::make_shared<const Mesh>(generations.finest()->periodic(pairs))},
                     .refinements = {}};
  for (auto l = generations.refinements.size(); l > 0; --l) {
    auto refinement = generations.refinements[l - 1];
    try {
      refinement.coarse = std::make_shared<const Mesh>(refinement.coarse->periodic(pairs));
    } catch (const base::InputError&) { // one cell lies from side to side
      break;
    }
    result.meshes.push_back(refinement.coarse);
    result.refinements.push_back(std::move(refinement));
  }
  std::ranges::reverse(result.meshes);
  std::ranges::reverse(result.refinements);
  return result;
}

} // namespace rafter::mesh
