// SPDX-License-Identifier: BSD-3-Clause
// Matrices of cells by kernels whose items hold a cell each: whatever the plan says of groups, of the order in memory
// and of shared memory, they are those of the host, and items do not meet.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/temporary.hpp>
#include <rafter/device/gpu/gpu_compiler.hpp>
#include <rafter/emit/c_family.hpp>
#include <rafter/form/language.hpp>
#include <rafter/mesh/cell_tags.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/matrix/cell_arrays.hpp>
#include <rafter/operator/matrix/matrix_records.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/operator/operator_options.hpp>
#include <rafter/schedule/item_keys.hpp>
#include <rafter/schedule/plan.hpp>

#include "../support/opencl.hpp"
#include "../support/operator_problems.hpp"
#include "../support/translating_device.hpp"

namespace rafter::test {
namespace {

using Values = std::vector<double>;

constexpr const char* in_items = "contraction=cell-matrices mapping=cell_per_item vector_width=1 ";

/// The left sides of Banas, Kruzel and Bielanski on first-order cells, and others.
struct ItemCase {
  const char *name, *shape;
  int degree = 1;
  bool is_convection = false;
};
constexpr std::array published_cases{
    ItemCase{"poisson_on_tetrahedra", "tetrahedron"}, ItemCase{"poisson_on_prisms", "prism"},
    ItemCase{"convection_on_tetrahedra", "tetrahedron", 1, true}, ItemCase{"convection_on_prisms", "prism", 1, true}};
constexpr std::array other_cases{
    ItemCase{"convection_on_triangles_p2", "triangle", 2, true}, ItemCase{"poisson_on_tetrahedra_p2", "tetrahedron", 2},
    ItemCase{"convection_on_pyramids", "pyramid", 1, true}, ItemCase{"poisson_on_hexahedra", "hexahedron"}};

/// Cells of one batch and a part of another one, or of many batches. Tetrahedra stay affine, other cells do not.
mesh::Mesh moved_box(const ItemCase& of, int n) {
  mesh::Mesh mesh = box(of.shape, n);
  for (std::size_t i = 0; i < mesh.points.size(); ++i) mesh.points[i] += 0.01 * static_cast<double>(i * i % 7);
  for (auto& group : mesh.groups) {
    std::vector<std::int32_t> tags;
    for (std::int64_t cell = 0; cell < group.num_cells(); ++cell)
      tags.push_back(static_cast<std::int32_t>(cell % 3) + 1);
    group.tags = mesh::CellTags(std::move(tags));
  }
  return mesh;
}

form::Form form_of(const ItemCase& of, Problem& problem) {
  if (!of.is_convection) return problem.form("inner(grad(u), grad(v))*dx");
  const int dim = problem.dim();
  std::vector<std::string> rows;
  int count = 0;
  const auto next = [&] {
    const auto name = fmt::format("c{}", count++);
    problem.with(name, form::by_tag(name, {{"1", 2.0 + count}, {"2", 1.0 - count}, {"3", 0.5 * count}}));
    return name;
  };
  const auto row = [&] {
    std::vector<std::string> entries;
    for (int a = 0; a < dim; ++a) entries.push_back(next());
    return fmt::format("[{}]", fmt::join(entries, ", "));
  };
  for (int a = 0; a < dim; ++a) rows.push_back(row());
  const auto matrix = fmt::format("[{}]", fmt::join(rows, ", ")), of_trial = row(), of_test = row(), reaction = next();
  return problem.form(
      fmt::format("(inner(dot({}, grad(u)), grad(v)) + dot({}, grad(u))*v + u*dot({}, grad(v)) + {}*u*v)*dx", matrix,
                  of_trial, of_test, reaction));
}

op::OperatorOptions options_on(const std::shared_ptr<device::Device>& device, const std::string& plan) {
  return planned({.shared_device = device, .quadrature = {.degree = 2}, .plan = plan});
}

/// The matrices of all cells, and what the operator does by matrices that set-up stores.
Values results_of(const op::Operator& A, const Problem& problem) {
  const auto system = problem.system();
  Values result(op::local_unknowns(system, 0).size() * static_cast<std::size_t>(op::num_local_unknowns(system, 0)));
  A.cell_matrices(std::vector<op::CellArray<double>>{{.group = 0, .values = result}});
  const auto y = values_of(applied(A, random_vector(A, 3)));
  result.insert(result.end(), y.begin(), y.end());
  return result;
}

void expect_results(const ItemCase& of, int n, const std::vector<std::string>& plans,
                    const std::shared_ptr<InterpreterDevice>& device) {
  Problem problem(moved_box(of, n), of.degree);
  const auto form = form_of(of, problem);
  const auto expected =
      results_of(op::Operator(form, options_on(std::make_shared<InterpreterDevice>(), "order=tables")), problem);
  ASSERT_GT(largest(expected), 0);
  for (const auto& plan : plans) {
    SCOPED_TRACE(plan);
    const int num_launches = device->num_launches();
    const auto found = results_of(op::Operator(form, options_on(device, in_items + plan)), problem);
    EXPECT_GT(device->num_launches(), num_launches + 2); // matrices, set-up and products
    EXPECT_LE(distance(found, expected), 1e-12 * largest(expected));
  }
}

/// Every value of every key, and what may meet.
const std::vector<std::string>& few_plans() {
  static const std::vector<std::string> plans{
      "order=qss work_group=8",
      "order=tables work_group=16 cells_per_item=3 read=staged write=plain",
      "order=qss read=plain write=plain cells_per_item=2",
      "order=qss derivatives=inside read=staged padding=1 workspace=matrix work_group=24",
      "order=sqs workspace=shapes padding=1 read=plain cells_per_item=5",
      "order=sqs derivatives=inside workspace=coefficients read=staged cells_per_item=2 work_group=16",
      "order=ssq workspace=geometry work_group=64",
      "order=ssq derivatives=inside workspace=geometry read=staged write=plain padding=1"};
  return plans;
}

class ItemKeys : public ::testing::TestWithParam<ItemCase> {};

TEST_P(ItemKeys, GiveTheMatricesOfTheHostWithoutRaces) {
  expect_results(GetParam(), 3, few_plans(), std::make_shared<InterpreterDevice>());
}

TEST_P(ItemKeys, GiveTheMatricesOfTheHostWhenOpenClRunsThem) {
  if (!has_opencl()) GTEST_SKIP() << "this machine has no OpenCL device (apt-get install pocl-opencl-icd)";
  expect_results(GetParam(), 3, few_plans(), std::make_shared<TranslatingDevice>());
}

const auto name_of_case = [](const auto& of) { return std::string(of.param.name); };
INSTANTIATE_TEST_SUITE_P(published, ItemKeys, ::testing::ValuesIn(published_cases), name_of_case);
INSTANTIATE_TEST_SUITE_P(others, ItemKeys, ::testing::ValuesIn(other_cases), name_of_case);

/// The product of all keys, for a case and an order of the loops.
class EveryItemKey : public ::testing::TestWithParam<std::tuple<ItemCase, const char*>> {
protected:
  /// `groups`: keys of groups and their shared memory.
  static std::vector<std::string> plans(const std::vector<std::string>& groups) {
    std::vector<std::string> result;
    for (const char* read : {"coalesced", "plain", "staged"})
      for (const char* write : {"coalesced", "plain"})
        for (const char* workspace : {"none", "geometry", "coefficients", "shapes", "matrix"})
          for (const auto& group : groups)
            result.push_back(fmt::format("{} read={} write={} workspace={} {}", std::get<1>(GetParam()), read, write,
                                         workspace, group));
    return result;
  }
};

TEST_P(EveryItemKey, GivesTheMatricesOfTheHostWithoutRaces) {
  std::vector<std::string> groups;
  for (const int padding : {0, 1})
    for (const int items : {8, 16, 32})
      for (const int cells : {1, 2})
        groups.push_back(fmt::format("padding={} work_group={} cells_per_item={}", padding, items, cells));
  expect_results(std::get<0>(GetParam()), 2, plans(groups), std::make_shared<InterpreterDevice>());
}

/// Drivers compile long.
TEST_P(EveryItemKey, GivesTheMatricesOfTheHostWhenOpenClRunsIt) {
  if (!has_opencl()) GTEST_SKIP() << "this machine has no OpenCL device (apt-get install pocl-opencl-icd)";
  expect_results(std::get<0>(GetParam()), 2, plans({"padding=1 work_group=16 cells_per_item=2"}),
                 std::make_shared<TranslatingDevice>());
}

INSTANTIATE_TEST_SUITE_P(all, EveryItemKey,
                         ::testing::Combine(::testing::ValuesIn(published_cases),
                                            ::testing::Values("order=qss", "order=qss derivatives=inside", "order=sqs",
                                                              "order=sqs derivatives=inside", "order=ssq",
                                                              "order=ssq derivatives=inside")),
                         [](const auto& of) {
                           std::string name = fmt::format("{}_{}", std::get<0>(of.param).name, std::get<1>(of.param));
                           std::ranges::replace_if(
                               name, [](char c) { return c == ' ' || c == '='; }, '_');
                           return name;
                         });

/// The set-up kernel of a case, as it is lowered.
schedule::LoopProgram setup_of(const ItemCase& of, const std::string& plan) {
  Problem problem(moved_box(of, 2), of.degree);
  const auto form = form_of(of, problem);
  const auto built =
      op::build(form, 2, op::systems_of(form), options_on(std::make_shared<InterpreterDevice>(), in_items + plan));
  return schedule::read(built->blocks.front().kernel.programs.setup.source);
}

/// Numbers of shared memory of a group.
std::int64_t num_shared(const schedule::LoopProgram& program) {
  std::int64_t result = 0;
  for (const auto& buffer : program.buffers)
    if (buffer.space == schedule::Space::shared) result += buffer.size;
  return result;
}

TEST(ItemKeysOf, GroupsHaveTheItemsAndCellsOfThePlan) {
  const auto& of = published_cases[0];
  EXPECT_EQ(setup_of(of, "order=qss work_group=64").launch.num_items(), 64);
  EXPECT_EQ(setup_of(of, "order=qss work_group=64").launch.batches, 8);
  EXPECT_EQ(setup_of(of, "order=qss work_group=16 cells_per_item=5").launch.num_items(), 16);
  EXPECT_EQ(setup_of(of, "order=qss work_group=16 cells_per_item=5").launch.batches, 10);
}

TEST(ItemKeysOf, SharedMemoryHoldsOneArrayOfEachCell) {
  struct SharedWords {
    std::size_t of_case;
    const char* workspace;
    int count;
  };
  // Prisms have nodes, tetrahedra a map; one coefficient of the Laplacian is the same for all pairs of axes.
  for (const auto& [number, workspace, count] :
       {SharedWords{0, "none", 0}, SharedWords{0, "geometry", 12}, SharedWords{0, "coefficients", 1},
        SharedWords{0, "shapes", 12}, SharedWords{0, "matrix", 16}, SharedWords{1, "geometry", 18},
        SharedWords{1, "shapes", 18}, SharedWords{1, "matrix", 36}, SharedWords{3, "coefficients", 16},
        SharedWords{3, "matrix", 36}}) {
    const auto& of = published_cases[number];
    SCOPED_TRACE(fmt::format("{} {}", of.name, workspace));
    for (const int padding : {0, 1}) {
      const auto plan = fmt::format("order=qss work_group=16 workspace={} padding={}", workspace, padding);
      EXPECT_EQ(num_shared(setup_of(of, plan)), 16 * (count + (count > 0 ? padding : 0)));
    }
  }
  EXPECT_EQ(num_shared(setup_of(published_cases[0], "order=qss work_group=16 read=staged")), 16 * 12);
  EXPECT_EQ(num_shared(setup_of(published_cases[3], "order=qss work_group=16 read=staged padding=1")), 16 * (19 + 17));
}

/// The compiler of CUDA, which needs no device; null where there is none.
std::shared_ptr<const device::GpuCompiler> cuda_compiler() {
  try {
    return device::GpuCompiler::instance(device::nvrtc_names());
  } catch (const base::EnvironmentError&) {
    return nullptr;
  }
}

TEST(ItemKeysOf, TextsCompileForCuda) {
  const auto compiler = cuda_compiler();
  if (compiler == nullptr) GTEST_SKIP() << "this machine has no NVRTC";
  for (const auto& of : published_cases)
    for (const auto& plan : few_plans()) {
      SCOPED_TRACE(fmt::format("{} {}", of.name, plan));
      const auto program = setup_of(of, plan);
      const auto folder = base::Temporary::folder(base::temporary_folder() + "/rafter-item-keys-");
      const auto code = compiler->compile(emit::emit(program, "cuda"), "sm_90", folder.path() + "/failed");
      ASSERT_EQ(code.kernels.size(), 1U);
      EXPECT_EQ(code.kernels.front().shared_bytes, 8 * num_shared(program));
    }
}

TEST(ItemKeysOf, PlainWritingHasTheOrderOfTheArrayOfCells) {
  const auto& of = published_cases[1];
  Problem problem(moved_box(of, 2), of.degree);
  const auto form = form_of(of, problem);
  const auto records = [&](const char* keys) {
    const op::Operator A(form, options_on(std::make_shared<InterpreterDevice>(), std::string(in_items) + keys));
    return op::matrix_records(*op::cell_matrix_kernels(A.built()), 1).front();
  };
  const auto plain = records("order=qss write=plain"), coalesced = records("order=qss");
  EXPECT_EQ(coalesced.cell_stride, 1U);
  EXPECT_EQ(plain.cell_stride, 36U);
  for (std::size_t i = 0; i < plain.places.size(); ++i) {
    EXPECT_EQ(plain.places[i], static_cast<std::int32_t>(i));
    EXPECT_EQ(coalesced.places[i], static_cast<std::int32_t>(i) * coalesced.cells_per_batch);
  }
}

TEST(ItemKeysOf, WhatGroupsCannotBeIsRefused) {
  for (const auto& [plan, parts] :
       {std::pair{"work_group=12", std::vector{"work_group=12", "no multiple of 8"}},
        std::pair{"work_group=8000", std::vector{"work_group", "8000", "from 1 to 1024"}},
        std::pair{"work_group=none", std::vector{"work_group", "none", "auto"}},
        std::pair{"cells_per_item=0", std::vector{"cells_per_item", "1 to 64"}},
        std::pair{"work_group=1024 cells_per_item=64", std::vector{"cells_per_item=64", "128 batches", "at most"}},
        std::pair{"work_group=1024 workspace=matrix", std::vector{"workspace=matrix", "128", "1024"}},
        std::pair{"read=copied", std::vector{"read", "coalesced, plain, staged"}},
        std::pair{"write=staged", std::vector{"write", "coalesced, plain"}},
        std::pair{"workspace=nodes", std::vector{"workspace", "geometry, coefficients, shapes, matrix"}},
        std::pair{"padding=2", std::vector{"padding", "0 to 1"}}}) {
    try {
      (void)setup_of(published_cases[0], fmt::format("order=qss {}", plan));
      ADD_FAILURE() << "not refused: " << plan;
    } catch (const base::InputError& error) {
      for (const char* part : parts) EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }
}

TEST(ItemKeysOf, PlansWithCellsInItemsAloneHaveThem) {
  using namespace schedule;
  const std::string keys = "work_group=64 cells_per_item=2 read=staged write=plain workspace=shapes padding=1";
  const auto plan = parse_plan("mapping=cell_per_item vector_width=1 " + keys);
  EXPECT_NE(to_string(plan).find(" " + keys + " "), std::string::npos) << to_string(plan);
  EXPECT_EQ(parse_plan(to_string(plan)), plan);
  EXPECT_EQ(parse_plan(short_name(plan)), plan);
  EXPECT_TRUE(reads_cell_by_cell(plan) && writes_cell_by_cell(plan));
  for (const char* other : {"mapping=cell_per_item vector_width=8 ", "mapping=simd_cells ", "mapping=slab "}) {
    const auto without = parse_plan(other + keys);
    EXPECT_EQ(to_string(without).find("work_group"), std::string::npos) << other;
    EXPECT_FALSE(reads_cell_by_cell(without) || writes_cell_by_cell(without)) << other;
  }
}

} // namespace
} // namespace rafter::test
