// SPDX-License-Identifier: BSD-3-Clause
// Schedules print as people read them, and a schedule that leaves something out is refused with the reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>

#include <rafter/base/error.hpp>
#include <rafter/schedule/barriers.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/schedule.hpp>
#include <rafter/schedule/slab.hpp>
#include <rafter/space/layout.hpp>
#include <tests/support/kernel_forms.hpp>

namespace rafter::test {
namespace {

using schedule::Do;
using schedule::Nest;
using schedule::Schedule;

/// The Laplacian on hexahedra of degree 2 with four points along each axis.
const kernel::TensorProgram& laplacian() {
  static const auto layout =
      space::make_layout(element::make_element(element::Family::lagrange, element::Shape::hexahedron, 2));
  static const auto program = [] {
    auto result = tensor_program(qfunction(laplace(), element::Shape::hexahedron, mesh::MapKind::affine), 2, 4,
                                 kernel::Contraction::collocated);
    result.batches.patterns = {&layout};
    return result;
  }();
  return program;
}

Schedule slab() {
  schedule::LoweringInput input;
  input.program = &laplacian();
  input.target = {.has_lanes = false, .has_groups = true};
  return schedule::schedule_slab(input, schedule::parse_plan("mapping=slab cells=2")).value();
}

std::string complaint(const Schedule& schedule) {
  try {
    verify(laplacian(), schedule);
  } catch (const base::InternalError& error) {
    return error.what();
  }
  return "";
}

int number_of(const Schedule& of, const char* name) {
  return static_cast<int>(std::ranges::find(of.memories, name, &schedule::Memory::name) - of.memories.begin());
}
schedule::Memory& memory(Schedule& of, const char* name) {
  return of.memories.at(static_cast<std::size_t>(number_of(of, name)));
}
/// The nest number `i` inside another.
Nest& nest(Nest& of, std::size_t i) { return std::get<Nest>(of.body.at(i)); }
Do& done(Nest& of, std::size_t i) { return std::get<Do>(of.body.at(i)); }

struct Spoilt {
  const char* message;
  std::function<void(Schedule&)> spoil;
};

TEST(Schedules, AreRefusedWithTheReason) {
  ASSERT_EQ(complaint(slab()), "");
  const std::array spoilt{
      Spoilt{"a group without items", [](Schedule& s) { s.cells = 0; }},
      Spoilt{"holds an unknown array", [](Schedule& s) { s.memories[0].places[0][0] = 99; }},
      Spoilt{"is done 0 times", [](Schedule& s) { s.nest.body.pop_back(); }},
      Spoilt{"is added to before it is written", [](Schedule& s) { s.nest.body.erase(s.nest.body.begin() + 3); }},
      Spoilt{"two loops of a nest over the same items",
             [](Schedule& s) { nest(s.nest, 0).loops.back().place = schedule::LoopPlace::item_y; }},
      Spoilt{"a loop in turns beside another",
             [](Schedule& s) { nest(s.nest, 0).loops.back().place = schedule::LoopPlace::turns; }},
      Spoilt{"items along the second axis would all do the same",
             [](Schedule& s) {
               nest(s.nest, 0).loops.front().place = schedule::LoopPlace::turns, nest(s.nest, 0).loops.pop_back();
             }},
      Spoilt{"items along the first axis would all do the same",
             [](Schedule& s) {
               nest(s.nest, 0).loops.back().place = schedule::LoopPlace::item_y,
                            nest(s.nest, 0).loops.erase(nest(s.nest, 0).loops.begin());
             }},
      Spoilt{"items would share the entries", [](Schedule& s) { memory(s, "layer0").keeps = {0}; }},
      Spoilt{"cannot stand in turn", // the layer of dofs is overwritten while others interpolate it
             [](Schedule& s) {
               memory(s, "layer0").places.front().push_back(memory(s, "a1_u0_0").places.front().front());
               done(nest(nest(s.nest, 1), 1), 0).to = number_of(s, "layer0");
               done(nest(nest(s.nest, 1), 2), 0).from = number_of(s, "layer0");
             }},
      Spoilt{"items read what others write to",
             [](Schedule& s) { // the layer is filled in the nest that differentiates along it
               auto& march = nest(s.nest, 4);
               auto& at_points = nest(march, 1);
               at_points.body.insert(at_points.body.begin(), done(nest(march, 0), 0));
               march.body.erase(march.body.begin());
             }},
      Spoilt{"is done 2 times", [](Schedule& s) { s.nest.body.push_back(s.nest.body.back()); }},
      Spoilt{"is read before it is written", [](Schedule& s) { s.nest.body.erase(s.nest.body.begin()); }},
      Spoilt{"more indices than the group has items", [](Schedule& s) { s.items[0] = 3; }},
      Spoilt{"two loops over axis",
             [](Schedule& s) {
               nest(s.nest, 0).loops.push_back({nest(s.nest, 0).loops.front().axes, schedule::LoopPlace::serial});
             }},
      Spoilt{"a loop over an unknown axis", [](Schedule& s) { nest(s.nest, 0).loops.front().axes = {77}; }},
      Spoilt{"count one axis", [](Schedule& s) { nest(s.nest, 0).loops.front().axes.push_back(0); }},
      Spoilt{"no loop gives the index", [](Schedule& s) { memory(s, "a0_u0_dofs").keeps = {1}; }},
      Spoilt{"does not hold", [](Schedule& s) { done(nest(s.nest, 0), 0).to = number_of(s, "a1_u0_0"); }},
      Spoilt{"an unknown memory", [](Schedule& s) { done(nest(s.nest, 0), 0).to = 88; }},
      Spoilt{"an unknown step", [](Schedule& s) { done(nest(s.nest, 0), 0).step = 88; }},
      Spoilt{"in another nest than it is made in",
             [](Schedule& s) { // derivatives apart from the QFunction
               auto& march = nest(s.nest, 4);
               Nest apart{.loops = nest(march, 1).loops, .body = {}};
               apart.body.emplace_back(done(nest(march, 1), 0));
               nest(march, 1).body.erase(nest(march, 1).body.begin());
               march.body.insert(march.body.begin() + 1, apart);
             }},
      Spoilt{"others hold nests", [](Schedule& s) { nest(s.nest, 4).body.emplace_back(done(nest(s.nest, 0), 0)); }},
  };
  for (const auto& [message, spoil] : spoilt) {
    auto schedule = slab();
    spoil(schedule);
    EXPECT_NE(complaint(schedule).find(message), std::string::npos) << message << " / " << complaint(schedule);
  }
}

/// Two waits for each layer of the march: before the layer is read, and before the fluxes are; each also parts those
/// who read from the next who write.
TEST(Schedules, OfSlabsWaitTwiceForEachLayer) {
  auto slab_schedule = slab();
  const auto barriers = schedule::barriers_of(laplacian(), slab_schedule, true);
  auto& march = nest(slab_schedule.nest, 4);
  int of_march = 0;
  for (std::size_t i = 0; i < march.body.size(); ++i) of_march += barriers.contains(&nest(march, i)) ? 1 : 0;
  EXPECT_EQ(of_march, 2);
  EXPECT_FALSE(barriers.contains(&nest(slab_schedule.nest, 0)));
}

TEST(Schedules, PrintMemoriesAndNests) {
  const auto text = to_string(laplacian(), slab());
  for (const char* line :
       {"items 4 x 4 for each of 2 cells", "layer0: u0_2|u0_dofs  shared[c j i]+1", "a0_u0_dofs: u0_dofs  work[c k]",
        "J:item_y I:item_x\n  read u0_dofs\n", "k:unrolled", "evaluate", "marched"})
    EXPECT_NE(text.find(line), std::string::npos) << line << " in\n" << text;
}

} // namespace
} // namespace rafter::test
