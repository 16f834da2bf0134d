// SPDX-License-Identifier: BSD-3-Clause
// Schedules of slice-wise programs keep what is contracted along the last axis of a whole cell, of a layer what is
// contracted along two axes, and of a line what is at its points. They are those of slice-wise programs alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <sstream>

#include <rafter/base/error.hpp>
#include <rafter/schedule/collocated_stages.hpp>
#include <rafter/schedule/nest_loops.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/slice_cells.hpp>
#include <tests/support/kernel_forms.hpp>

namespace rafter::test {
namespace {

using element::Shape;
using kernel::Contraction;
using schedule::CellPlace;
using schedule::Nest;
using schedule::Schedule;

kernel::TensorProgram slice_wise(const std::string& text, int degree, Shape shape = Shape::hexahedron,
                                 int components = 0, Contraction contraction = Contraction::slice_wise,
                                 element::QuadratureKind kind = element::QuadratureKind::gauss) {
  const auto function = qfunction(text, shape, mesh::MapKind::affine, components);
  return tensor_program(function, degree, degree + 2, contraction, std::max(components, 1), kind);
}
std::optional<Schedule> slices_of(const kernel::TensorProgram& program) {
  schedule::LoweringInput input;
  input.program = &program;
  return schedule::schedule_slices(input, schedule::Plan{}, CellPlace::lanes);
}

/// Numbers of a cell in memories that keep indices along so many reference axes.
double numbers_kept(const kernel::TensorProgram& program, const Schedule& of, std::size_t num_axes) {
  double total = 0;
  for (const auto& memory : of.memories) {
    auto plain = memory;
    plain.layer = 0; // which may be padded
    if (memory.keeps.size() == num_axes) total += schedule::size_of(program, plain);
  }
  return total;
}

TEST(SliceSchedules, KeepNoMoreThanALayerOrALineOfWhatLiesBetween) {
  for (int degree = 1; degree <= 8; ++degree) {
    const auto program = slice_wise(elasticity(3), degree, Shape::hexahedron, 3);
    const auto slices = slices_of(program);
    ASSERT_TRUE(slices.has_value());
    schedule::verify(program, *slices);
    const double n = degree + 1, q = degree + 2;
    // What is contracted along the last axis is values and derivatives of three components, and dofs stand beside.
    for (const std::size_t num_axes : {1, 2, 3}) EXPECT_GT(numbers_kept(program, *slices, num_axes), 0) << degree;
    EXPECT_LE(numbers_kept(program, *slices, 3), 3 * n * n * (2 * q + n)) << degree;
    EXPECT_LE(numbers_kept(program, *slices, 2), 9 * n * q) << degree;
    EXPECT_LE(numbers_kept(program, *slices, 1), 9 * q) << degree;
  }
}

TEST(SliceSchedules, HaveFewPlaces) {
  const auto program = slice_wise(elasticity(3), 2, Shape::hexahedron, 3);
  std::istringstream text(schedule::to_string(program, *slices_of(program)));
  std::vector<std::string> memories;
  for (std::string line; std::getline(text, line);)
    if (line.find("work[") != std::string::npos) memories.push_back(line);
  // Three components of values and one derivative come from columns, of three derivatives from a layer, and a line.
  EXPECT_EQ(memories, (std::vector<std::string>{
                          "a0_u0_dofs: u0_dofs|u0_2d2|r0_1d2  work[c k j i] layers of 12",
                          "a1_u0_2: u0_2|r0_1|r0_2  work[c k j i] layers of 12",
                          "a2_u0_1: u0_1|r0_0d2  work[c j i] layers of 12", "a3_u0_0d0: u0_0d0|f0_3  work[c i]",
                          "a4_u0_1d1: u0_1d1|r0_0d1  work[c j i] layers of 12", "a5_u0_0d1: u0_0d1|f0_2  work[c i]",
                          "a7_u0_1d2: u0_1d2|r0_0  work[c j i] layers of 12", "a8_u0_0d2: u0_0d2|f0_1  work[c i]"}));
}

TEST(SliceSchedules, AreThoseOfSliceWiseProgramsAlone) {
  for (const auto shape : {Shape::quadrilateral, Shape::hexahedron}) {
    for (const auto& text : {laplace(), helmholtz(), mass(), variable_helmholtz()})
      EXPECT_TRUE(slices_of(slice_wise(text, 2, shape)).has_value()) << text;
    for (const auto contraction : {Contraction::per_derivative, Contraction::collocated, Contraction::dense})
      EXPECT_FALSE(slices_of(slice_wise(laplace(), 2, shape, 0, contraction)).has_value());
  }
  EXPECT_FALSE(slices_of(slice_wise(laplace(), 2, Shape::interval)).has_value());
  EXPECT_FALSE(slices_of(slice_wise(laplace(), 2, Shape::tetrahedron)).has_value());
  EXPECT_FALSE(schedule::collocated_stages(slice_wise(laplace(), 2)).has_value());
}

TEST(SliceSchedules, AreRefusedWithTheReasonWhereLoopsDoNotFit) {
  const auto program = slice_wise(elasticity(3), 2, Shape::hexahedron, 3);
  const auto complaint = [&](const std::function<void(Schedule&)>& spoil) -> std::string {
    auto made = *slices_of(program);
    spoil(made);
    try {
      schedule::verify(program, made);
    } catch (const base::InternalError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(complaint([](Schedule&) {}), "");
  const auto layers = [&](Schedule& of) -> Nest& {
    for (auto& entry : of.nest.body)
      if (auto* nest = std::get_if<Nest>(&entry); nest != nullptr && schedule::evaluates(program, *nest)) return *nest;
    throw std::logic_error("no layers");
  };
  const auto expect = [&](const char* message, const std::function<void(Schedule&)>& spoil) {
    EXPECT_NE(complaint(spoil).find(message), std::string::npos) << message << " / " << complaint(spoil);
  };
  expect("no loop gives the index", [&](Schedule& of) { layers(of).loops.clear(); });
  expect("is read before it is written", [&](Schedule& of) { std::ranges::reverse(layers(of).body); });
  expect("r0_1 is read before it is written", [&](Schedule& of) { layers(of).body.pop_back(); });
}

} // namespace
} // namespace rafter::test
