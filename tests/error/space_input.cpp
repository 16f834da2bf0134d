// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <limits>

#include <rafter/base/error.hpp>
#include <rafter/space/constraints.hpp>
#include <rafter/space/evaluate.hpp>

#include <tests/support/space_meshes.hpp>

namespace rafter {
namespace {

using base::InputError;
using base::InternalError;

/// Returns the message of the error that the call throws, or "" if it throws none.
template <class Error, class Call> std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void zero(std::span<const double>, std::span<double> values) { std::ranges::fill(values, 0.0); }

class SpaceErrors : public testing::Test {
protected:
  std::string constraint_error(space::DirichletCondition condition) const {
    return message_of<InputError>([&] { space::make_constraints(*space_, std::span(&condition, 1)); });
  }
  std::shared_ptr<const space::FunctionSpace> space_ = test::make_space(test::box("hexahedron"), 2, 3);
};

TEST_F(SpaceErrors, UnknownTagIsRefusedWithTheTagsThatExist) {
  const auto message = constraint_error({.tags = {2, 17}, .value = zero});
  EXPECT_NE(message.find("tag 17"), std::string::npos) << message;
  EXPECT_NE(message.find("1, 2, 3, 4, 5, 6"), std::string::npos) << message;
}

TEST_F(SpaceErrors, ComponentOutOfRangeIsRefusedWithTheRange) {
  const auto message = constraint_error({.tags = {1}, .value = zero, .components = {3}});
  EXPECT_NE(message.find("component 3"), std::string::npos) << message;
  EXPECT_NE(message.find("0 to 2"), std::string::npos) << message;
  EXPECT_NE(constraint_error({.tags = {1}, .value = zero, .components = {-1}}), "");
}

TEST_F(SpaceErrors, MissingValueIsRefused) { EXPECT_NE(constraint_error({.tags = {1}}), ""); }

TEST_F(SpaceErrors, ValueThatIsNotFiniteIsRefusedWithThePoint) {
  const auto singular = [](std::span<const double> x, std::span<double> values) {
    std::ranges::fill(values, 0.0);
    values[1] = x[1] == 0 && x[2] == 0 ? std::numeric_limits<double>::infinity() : 0.0;
  };
  const auto message = constraint_error({.tags = {2}, .value = singular});
  EXPECT_NE(message.find("inf"), std::string::npos) << message;
  EXPECT_NE(message.find("component 1"), std::string::npos) << message;
  EXPECT_NE(message.find("(1, 0, 0)"), std::string::npos) << message;
}

TEST_F(SpaceErrors, ReciprocalOfACoordinateIsRefusedOnTheSideWhereItVanishes) {
  const auto reciprocal = [](std::span<const double> x, std::span<double> values) { values[0] = 1 / x[0]; };
  for (const auto& shape : test::box_shapes())
    for (int degree = 1; degree <= 4; ++degree) {
      const auto space = test::make_space(test::scrambled(test::box(shape), 4), degree);
      const space::DirichletCondition condition{.tags = {1}, .value = reciprocal};
      const auto message = message_of<InputError>([&] { space::make_constraints(*space, std::span(&condition, 1)); });
      EXPECT_NE(message.find("inf in component 0 at the point (0"), std::string::npos) << shape << degree << message;
    }
}

TEST_F(SpaceErrors, InterpolationRefusesWrongSizesAndValuesThatAreNotFinite) {
  std::vector<double> vector(static_cast<std::size_t>(space_->num_local()));
  const auto nan_everywhere = [](std::span<const double>, std::span<double> values) {
    std::ranges::fill(values, std::numeric_limits<double>::quiet_NaN());
  };
  EXPECT_THROW(space::interpolate(*space_, nan_everywhere, vector), InputError);
  EXPECT_THROW(space::interpolate(*space_, {}, vector), InputError);
  vector.pop_back();
  EXPECT_THROW(space::interpolate(*space_, zero, vector), InputError);
  EXPECT_THROW(space::tabulate_field(*space_, vector, 0, 0, std::vector<double>{0, 0, 0}), InputError);
}

TEST_F(SpaceErrors, DegreeAndComponentsOutOfRangeAreRefused) {
  const auto mesh = test::box("hexahedron");
  EXPECT_THROW(test::make_space(mesh, 0), InputError);
  EXPECT_THROW(test::make_space(mesh, element::max_lagrange_degree + 1), InputError);
  EXPECT_THROW(test::make_space(mesh, 1, -1), InputError);
}

TEST_F(SpaceErrors, CellsOutOfRangeAreFaultsOfOurOwn) {
  EXPECT_THROW(space_->position(1, 0), InternalError);
  EXPECT_THROW(space_->position(0, 12), InternalError);
  EXPECT_THROW(space_->position(0, -1), InternalError);
  std::vector<std::int32_t> too_few(26);
  EXPECT_THROW(space_->cell_dofs(0, 0, 0, too_few), InternalError);
}

TEST_F(SpaceErrors, SpacesBeyond32BitsAreRefusedWithTheirSizeBeforeTheyAreBuilt) {
  const auto mesh = test::box("hexahedron"); // 3 x 2 x 2 cells have 7 * 5 * 5 nodes of degree 2
  constexpr int components = 20'000'000;
  const auto message = message_of<InputError>([&] { test::make_space(mesh, 2, components); });
  EXPECT_NE(message.find(std::to_string(std::int64_t{175} * components)), std::string::npos) << message;
  EXPECT_NE(message.find("2147483647"), std::string::npos) << message;
}

TEST_F(SpaceErrors, BatchesThatMissOrRepeatCellsAreFaultsOfOurOwn) {
  const auto mesh = std::make_shared<const mesh::Mesh>(test::box("hexahedron"));
  const auto make = [&](mesh::CellBatches batches) {
    space::FunctionSpace::make(std::make_shared<const space::Discretisation>(mesh, std::move(batches)), {});
  };
  const auto good = mesh::make_cell_batches(*mesh);
  EXPECT_NO_THROW(make(good));
  auto repeated = good;
  repeated.blocks[0].cells[0] = repeated.blocks[0].cells[1];
  EXPECT_THROW(make(repeated), InternalError);
  auto unstaged = good;
  unstaged.stages.clear();
  EXPECT_THROW(make(unstaged), InternalError);
  auto twice = good;
  twice.stages.push_back(twice.stages[0]);
  EXPECT_THROW(make(twice), InternalError);
}

} // namespace
} // namespace rafter
