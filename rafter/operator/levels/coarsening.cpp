// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/levels/coarsening.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rafter/base/text.hpp>
#include <rafter/mesh/generations.hpp>

namespace rafter::op {

namespace {

/// The degrees after one more p-step; the same where there is none.
std::vector<int> lowered(const std::vector<int>& degrees, const Coarsening& coarsening) {
  const int highest = *std::ranges::max_element(degrees);
  auto result = degrees;
  if (coarsening.degrees.empty()) {
    const int largest = coarsening.largest_step > 0 ? coarsening.largest_step : highest;
    for (int& degree : result) degree = std::max({degree / 2, degree - largest, 1});
    return result;
  }
  const auto next = std::ranges::find_if(coarsening.degrees, [&](int d) { return d < highest; });
  if (next != coarsening.degrees.end())
    for (int& degree : result) degree = std::max(degree - (highest - *next), 1);
  return result;
}

void require_descending(const std::vector<int>& degrees) {
  for (std::size_t i = 0; i < degrees.size(); ++i)
    if (degrees[i] < 1 || (i > 0 && degrees[i] >= degrees[i - 1]))
      throw base::InputError(fmt::format("multigrid: degrees [{}] of levels; accepted: numbers from 1 on that descend",
                                         fmt::join(degrees, ", ")));
}

void require_no_more_below(const LevelPlace& place) {
  if (place.is_low_order_refined)
    throw CoarseningError("multigrid: a step after \"lor\"; accepted is \"lor\" as the last step");
}

LevelPlace low_order_refined(const LevelPlace& place) {
  const auto& degrees = place.degrees;
  if (std::ranges::any_of(degrees, [&](int degree) { return degree != degrees.front(); }))
    throw CoarseningError(fmt::format("multigrid: coarsening \"lor\" of fields of degrees {}; accepted are fields of "
                                      "one degree, whose nodes are the same",
                                      fmt::join(degrees, ", ")));
  if (degrees.front() == 1)
    throw CoarseningError("multigrid: coarsening \"lor\" of degree 1, which is the same as preconditioner \"amg\"; "
                          "accepted are degrees from 2 on");
  return {.generation = place.generation, .degrees = std::vector(degrees.size(), 1), .is_low_order_refined = true};
}

} // namespace

std::vector<CoarseningStep> parse_coarsening_steps(const std::string& text) {
  std::vector<CoarseningStep> result;
  for (const auto& word : base::split(text, ',')) {
    if (word != "p" && word != "h" && word != "lor")
      throw base::InputError(fmt::format("coarsening \"{}\"; accepted: \"p,h\", \"h,p\", \"p\", \"h\", \"lor\"", text));
    result.push_back(word == "p" ? CoarseningStep::p : word == "h" ? CoarseningStep::h : CoarseningStep::lor);
  }
  return result;
}

std::vector<LevelPlace> coarser_places(const LevelPlace& finest, const Coarsening& coarsening,
                                       std::span<const mesh::Refinement> refinements) {
  const auto is_partial = [&](std::size_t generation) {
    return generation > 0 && generation <= refinements.size() && refinements[generation - 1].is_partial();
  };
  require_descending(coarsening.degrees);
  std::vector<LevelPlace> result;
  auto place = finest;
  if (coarsening.repeats_steps && std::ranges::find(coarsening.steps, CoarseningStep::h) != coarsening.steps.end())
    for (; is_partial(place.generation); result.push_back(place)) --place.generation;
  for (const auto step : coarsening.steps) do {
      auto next = place;
      require_no_more_below(place);
      if (step == CoarseningStep::lor)
        next = low_order_refined(place);
      else if (step == CoarseningStep::p)
        next.degrees = lowered(place.degrees, coarsening);
      else if (place.generation > 0)
        --next.generation;
      if (next == place && !coarsening.repeats_steps)
        throw CoarseningError(
            step == CoarseningStep::p
                ? "multigrid: a step p of the list finds degree 1 alone, or no lower degree in `degrees`"
                : "multigrid: a step h of the list finds no coarser mesh");
      if (next == place) break;
      result.push_back(place = std::move(next));
    } while (coarsening.repeats_steps && step != CoarseningStep::lor);
  return result;
}

} // namespace rafter::op
