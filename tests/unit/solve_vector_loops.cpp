// SPDX-License-Identifier: BSD-3-Clause
// Every loop over vectors of the solvers computes on every device what its definition in plain C++ says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include <rafter/solve/vector_loops.hpp>
#include <rafter/solve/vector_ops.hpp>
#include <tests/support/interpreter_device.hpp>
#include <tests/support/opencl.hpp>
#include <tests/support/solve_matrices.hpp>

using namespace rafter;
using namespace rafter::test;

namespace {

/// Changes the entries v of the operands, in their order, given the scalars s, and returns what sums get.
using Definition = std::function<std::vector<double>(const std::vector<double>& s, std::vector<double>& v)>;

const std::map<std::string, Definition>& definitions() {
  using Sums = std::vector<double>;
  using In = const std::vector<double>&;
  using Entries = std::vector<double>&;
  static const std::map<std::string, Definition> result{
      {"fill",
       [](In s, Entries v) {
         v[0] = s[0];
         return Sums{};
       }},
      {"copy",
       [](In, Entries v) {
         v[1] = v[0];
         return Sums{};
       }},
      {"scale",
       [](In s, Entries v) {
         v[0] *= s[0];
         return Sums{};
       }},
      {"add",
       [](In, Entries v) {
         v[1] += v[0];
         return Sums{};
       }},
      {"axpy",
       [](In s, Entries v) {
         v[1] += s[0] * v[0];
         return Sums{};
       }},
      {"aypx",
       [](In s, Entries v) {
         v[1] = v[0] + s[0] * v[1];
         return Sums{};
       }},
      {"subtract_from",
       [](In, Entries v) {
         v[1] = v[0] - v[1];
         return Sums{};
       }},
      {"multiply",
       [](In, Entries v) {
         v[2] = v[0] * v[1];
         return Sums{};
       }},
      {"combine",
       [](In s, Entries v) {
         v[2] = s[0] * v[2] + s[1] * v[0] * v[1];
         return Sums{};
       }},
      {"dot", [](In, Entries v) { return Sums{v[0] * v[1]}; }},
      {"scaled_dot", [](In s, Entries v) { return Sums{(s[0] * v[0]) * (s[1] * v[1])}; }},
      {"spoil", [](In, Entries) { return Sums{0}; }},
      {"invert",
       [](In, Entries v) {
         v[1] = 1 / v[0];
         return Sums{0};
       }},
      {"negative", [](In, Entries v) { return Sums{v[0] < 0 ? -2 * v[0] : 0}; }},
      {"advance",
       [](In s, Entries v) {
         v[2] += s[0] * v[0];
         v[3] -= s[0] * v[1];
         return Sums{v[3] * v[3]};
       }},
      {"dot_four",
       [](In, Entries v) {
         return Sums{v[0] * v[4], v[1] * v[4], v[2] * v[4], v[3] * v[4]};
       }},
      {"axpy_four",
       [](In s, Entries v) {
         v[4] += s[0] * v[0] + s[1] * v[1] + s[2] * v[2] + s[3] * v[3];
         return Sums{};
       }},
      {"cg_advance",
       [](In s, Entries v) {
         v[0] += s[0] * v[2];
         v[1] -= s[0] * v[3];
         return Sums{v[1] * v[1], v[1] * v[1]};
       }},
      {"cg_advance_scaled",
       [](In s, Entries v) {
         v[0] += s[0] * v[2];
         v[1] -= s[0] * v[3];
         return Sums{v[1] * v[1], v[1] * v[1] * v[4]};
       }},
      {"cg_redirect",
       [](In s, Entries v) {
         v[0] += s[0] * v[2];
         v[1] -= s[0] * v[3];
         v[2] = v[1] + s[1] * v[2];
         return Sums{v[1] * v[1], v[1] * v[1]};
       }},
      {"cg_redirect_scaled",
       [](In s, Entries v) {
         v[0] += s[0] * v[2];
         v[1] -= s[0] * v[3];
         v[2] = v[1] * v[4] + s[1] * v[2];
         return Sums{v[1] * v[1], v[1] * v[1] * v[4]};
       }},
      {"cg_products",
       [](In, Entries v) {
         return Sums{v[1] * v[2], v[0] * v[2], v[2] * v[2], v[0] * v[2], v[2] * v[2]};
       }},
      {"cg_products_scaled",
       [](In, Entries v) {
         return Sums{v[1] * v[2], v[0] * v[2], v[2] * v[2], v[0] * v[2] * v[3], v[2] * v[2] * v[3]};
       }},
      {"cg_deferred_redirect",
       [](In s, Entries v) {
         v[0] += s[0] * v[1];
         v[1] = v[2] + s[1] * v[1];
         return Sums{};
       }},
      {"cg_residual",
       [](In s, Entries v) {
         v[0] -= s[0] * v[1];
         return Sums{v[0] * v[0]};
       }},
      {"chebyshev_start",
       [](In s, Entries v) {
         v[2] = s[1] * v[0] * v[1];
         return Sums{};
       }},
      {"chebyshev_restart",
       [](In s, Entries v) {
         v[2] = v[1] - v[2];
         v[3] = s[1] * v[0] * v[2];
         return Sums{};
       }},
      {"chebyshev_step",
       [](In s, Entries v) {
         v[4] += v[3];
         v[2] -= v[1];
         v[3] = s[0] * v[3] + s[1] * v[0] * v[2];
         return Sums{};
       }},
      {"chebyshev_first_step",
       [](In s, Entries v) {
         v[5] = v[4];
         v[3] = v[2] - v[1];
         v[4] = s[0] * v[4] + s[1] * v[0] * v[3];
         return Sums{};
       }},
      {"chebyshev_last_step",
       [](In s, Entries v) {
         v[4] += v[3] + s[0] * v[3] + s[1] * v[0] * (v[2] - v[1]);
         return Sums{};
       }},
      {"chebyshev_restart_of_two",
       [](In s, Entries v) {
         v[2] = s[1] * v[0] * (v[1] - v[2]);
         return Sums{};
       }},
      {"chebyshev_second_of_two",
       [](In s, Entries v) {
         v[3] += s[0] * v[2] - s[1] * v[0] * v[1];
         return Sums{};
       }},
      {"chebyshev_second_from_zero",
       [](In s, Entries v) {
         v[3] = s[0] * v[2] - s[1] * v[0] * v[1];
         return Sums{};
       }},
      {"chebyshev_correct",
       [](In s, Entries v) {
         v[3] += s[1] * v[0] * (v[1] - v[2]);
         return Sums{};
       }},
      {"lanczos",
       [](In s, Entries v) {
         v[2] = v[0] - s[0] * v[1] - s[1] * v[2];
         return Sums{};
       }},
      {"lanczos_identity",
       [](In s, Entries v) {
         v[0] = v[2] = v[0] - s[0] * v[1] - s[1] * v[2];
         return Sums{v[0] * v[0]};
       }},
      {"lanczos_scaled",
       [](In s, Entries v) {
         v[2] = v[0] - s[0] * v[1] - s[1] * v[2];
         v[0] = v[3] * v[2];
         return Sums{v[0] * v[2]};
       }},
      {"minres_update",
       [](In s, Entries v) {
         v[3] = (v[0] - s[2] * v[3] - s[1] * v[2]) / s[0];
         v[4] += s[3] * v[3];
         v[5] = s[4] * v[5] + s[5] * v[1];
         return Sums{v[5] * v[5]};
       }},
  };
  return result;
}

using Ranges = std::vector<op::EntryRange>;

/// Vectors and sums after a loop.
struct Outcome {
  std::vector<std::vector<double>> vectors;
  std::vector<double> sums;
  bool operator==(const Outcome&) const = default;
};

const std::vector<double> scalars{0.3, -0.7, 1.9, 0.11, -0.23, 2.7};

std::vector<std::vector<double>> start(const schedule::VectorLoop& loop, std::size_t size) {
  std::vector<std::vector<double>> result;
  for (unsigned i = 0; i < loop.operands.size(); ++i) result.push_back(random_values(size, i + 1));
  return result;
}

Outcome expected(const schedule::VectorLoop& loop, std::size_t size, const Ranges& ranges) {
  Outcome result{start(loop, size), std::vector<double>(loop.sums.size(), 0.0)};
  const auto& definition = definitions().at(loop.name);
  std::vector<double> entries(loop.operands.size());
  for (const auto& range : ranges)
    for (auto i = static_cast<std::size_t>(range.begin); i < static_cast<std::size_t>(range.end); ++i) {
      for (std::size_t k = 0; k < entries.size(); ++k) entries[k] = result.vectors[k][i];
      const auto terms = definition(scalars, entries);
      for (std::size_t k = 0; k < entries.size(); ++k) result.vectors[k][i] = entries[k];
      for (std::size_t k = 0; k < terms.size(); ++k) result.sums[k] += terms[k];
    }
  return result;
}

Outcome found(const std::shared_ptr<device::Device>& device, const schedule::VectorLoop& loop, std::size_t size,
              const Ranges& ranges) {
  std::vector<device::Vector> vectors;
  for (const auto& values : start(loop, size))
    vectors.emplace_back(device, base::AlignedVector<double>(values.begin(), values.end()));
  std::vector<op::LoopOperand> operands;
  for (auto& vector : vectors) operands.emplace_back(vector);
  const op::VectorRunner runner(device, solvers::vector_loops, ranges);
  const auto sums = runner.run(runner.kernel(loop.name), std::span(scalars).first(loop.scalars.size()), operands);
  Outcome result{{}, {sums.begin(), sums.end()}};
  for (const auto& vector : vectors) result.vectors.push_back(values(vector));
  return result;
}

void expect_near(const Outcome& found, const Outcome& expected, const schedule::VectorLoop& loop) {
  for (std::size_t k = 0; k < expected.vectors.size(); ++k)
    for (std::size_t i = 0; i < expected.vectors[k].size(); ++i)
      ASSERT_NEAR(found.vectors[k][i], expected.vectors[k][i], 1e-14) << loop.operands[k].name << ' ' << i;
  ASSERT_EQ(found.sums.size(), expected.sums.size());
  for (std::size_t k = 0; k < expected.sums.size(); ++k)
    EXPECT_NEAR(found.sums[k], expected.sums[k], 1e-12 * std::sqrt(static_cast<double>(expected.vectors[0].size())));
}

/// Lengths below, at and above multiples of a register and of a block, with gaps.
const Ranges gaps{{1, 2}, {3, 6}, {8, 16}, {17, 26}, {30, 47}, {48, 48}, {64, 8257}, {8300, 8301}};
constexpr std::size_t size = 8400;

void expect_definitions(const std::shared_ptr<device::Device>& device) {
  for (const auto text : solvers::vector_loops) {
    const auto loop = schedule::parse_vector_loop(text);
    SCOPED_TRACE(loop.name);
    const auto first = found(device, loop, size, gaps);
    expect_near(first, expected(loop, size, gaps), loop);
    EXPECT_EQ(found(device, loop, size, gaps), first) << "another run gives other bits";
  }
}

TEST(VectorLoops, AllHaveADefinition) {
  std::vector<std::string> names;
  for (const auto text : solvers::vector_loops) names.push_back(schedule::parse_vector_loop(text).name);
  std::ranges::sort(names);
  std::vector<std::string> defined;
  for (const auto& [name, definition] : definitions()) defined.push_back(name);
  EXPECT_EQ(names, defined);
}

TEST(VectorLoops, AgreeWithTheirDefinitionOnTheHost) { expect_definitions(memory_device()); }
TEST(VectorLoops, AgreeWithTheirDefinitionOnTheCheckedDevice) { expect_definitions(device::make_device("checked")); }
TEST(VectorLoops, AgreeWithTheirDefinitionOnTheInterpreter) {
  expect_definitions(std::make_shared<InterpreterDevice>());
}
TEST(VectorLoops, AgreeWithTheirDefinitionOnOpenCl) {
  if (!has_opencl()) GTEST_SKIP() << "this machine has no OpenCL device (apt-get install pocl-opencl-icd)";
  expect_definitions(device::make_device("opencl"));
}

std::vector<std::shared_ptr<device::Device>> all_devices() {
  std::vector<std::shared_ptr<device::Device>> result{memory_device(2), device::make_device("checked"),
                                                      std::make_shared<InterpreterDevice>()};
  if (has_opencl()) result.push_back(device::make_device("opencl"));
  return result;
}

device::Vector on(const std::shared_ptr<device::Device>& device, std::vector<double> values) {
  return {device, base::AlignedVector<double>(values.begin(), values.end())};
}

/// Entries before and behind a range stay, also where a vector is written that the host has changed last.
TEST(VectorRanges, AreCopiedToRangesWithoutTheHost) {
  constexpr std::size_t length = 9001, count = 8500;
  const op::EntryRange from{17, 17 + count}, to{3, 3 + count};
  const auto x_values = random_values(length, 1), y_values = random_values(length, 2);
  for (const auto& device : all_devices()) {
    SCOPED_TRACE(device->name());
    const solvers::VectorOps ops(device);
    const auto x = on(device, x_values);
    device::Vector part(device, count), y = on(device, y_values);
    ops.copy(x, y); // what a first run copies to the device stays there
    ops.copy_range({x, from}, part);
    y = on(device, y_values);
    (void)y.device_read();
    const auto before = device->copies();
    ops.copy_range({x, from}, part);
    ops.copy_range(part, {y, to});
    EXPECT_EQ(device->copies(), before);
    auto expected = y_values;
    std::copy_n(x_values.begin() + from.begin, count, expected.begin() + to.begin);
    EXPECT_EQ(values(y), expected);
    ops.copy_range({y, {0, 5}}, {part, {2, 7}});
    EXPECT_EQ(part.host_read()[1], x_values[18]);
    EXPECT_EQ(part.host_read()[2], expected[0]);
    EXPECT_EQ(part.host_read()[6], expected[4]);
    EXPECT_EQ(part.host_read()[7], x_values[24]);
  }
}

TEST(VectorRanges, OutsideOfAVectorOrOfAnotherLengthAreRefused) {
  const solvers::VectorOps ops(memory_device());
  const auto x = make_vector({1, 2, 3});
  auto y = make_vector({4, 5, 6});
  EXPECT_THROW(ops.copy_range({x, {1, 4}}, y), base::InternalError);
  EXPECT_THROW(ops.copy_range({x, {-1, 2}}, y), base::InternalError);
  EXPECT_THROW(ops.copy_range({x, {2, 1}}, y), base::InternalError);
  EXPECT_THROW(ops.copy_range({x, {1, 3}}, y), base::InternalError);
}

TEST(VectorEntries, ThatAreNotFiniteAreFoundWithoutReadingTheOthers) {
  for (const auto& device : all_devices()) {
    SCOPED_TRACE(device->name());
    const solvers::VectorOps ops(device);
    auto entries = random_values(5000, 1);
    const auto finite = on(device, entries);
    EXPECT_EQ(ops.first_non_finite(finite), -1);
    const auto before = device->copies();
    EXPECT_EQ(ops.first_non_finite(finite), -1);
    EXPECT_LE((device->copies() - before).bytes_to_host, static_cast<std::int64_t>(sizeof(double)));
    for (const double value : {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()})
      for (const std::size_t place : {0U, 4099U, 4999U}) {
        auto changed = entries;
        changed[place] = value;
        EXPECT_EQ(ops.first_non_finite(on(device, changed)), static_cast<std::int64_t>(place)) << value;
      }
  }
}

/// Programs of groups of items have no races, and their sums do not depend on the order of groups.
TEST(VectorLoops, OfGroupsHaveNoRaces) {
  for (const auto text : solvers::vector_loops) {
    const auto loop = schedule::parse_vector_loop(text);
    SCOPED_TRACE(loop.name);
    const auto programs = schedule::lower(loop, {.vector_width = 1, .num_items = 8});
    Outcome outcome{start(loop, 100), std::vector<double>(loop.sums.size(), 0.0)};
    std::vector<double> own = scalars, rows(3 * loop.sums.size()), totals(loop.sums.size());
    std::vector<std::int32_t> ranges{0, 41, 41, 50, 57, 100};
    std::vector<schedule::Argument> arguments;
    for (auto& vector : outcome.vectors) arguments.push_back({vector, {}});
    arguments.push_back({own, {}});
    arguments.push_back({{}, ranges});
    arguments.push_back({rows, {}});
    schedule::interpret_launch(programs.main, arguments, 0, 3);
    if (programs.total) {
      const std::vector<schedule::Argument> of_total{{rows, {}}, {totals, {}}, {own, {}}};
      schedule::interpret_launch(*programs.total, of_total, 0, 3);
      outcome.sums = totals;
    }
    expect_near(outcome, expected(loop, 100, {{0, 50}, {57, 100}}), loop);
  }
}

TEST(VectorLoops, AnyNumberOfThreadsGivesTheSameBits) {
  constexpr std::size_t length = 150'007; // enough for several threads, and no multiple of any block length
  for (const auto text : solvers::vector_loops) {
    const auto loop = schedule::parse_vector_loop(text);
    SCOPED_TRACE(loop.name);
    const Ranges ranges{{0, 70'001}, {70'016, static_cast<std::int32_t>(length)}};
    const auto one = found(memory_device(1), loop, length, ranges);
    for (const int threads : {2, 3}) EXPECT_EQ(found(memory_device(threads), loop, length, ranges), one) << threads;
  }
}

/// Work that is fused into an operator runs on ranges of its parts.
TEST(FusedLoops, RunOnTheRangesOfAPart) {
  for (const auto& device :
       {memory_device(), std::static_pointer_cast<device::Device>(std::make_shared<InterpreterDevice>())})
    for (const auto text : solvers::vector_loops) {
      const auto loop = schedule::parse_vector_loop(text);
      SCOPED_TRACE(loop.name);
      std::vector<device::Vector> vectors;
      for (const auto& values : start(loop, size))
        vectors.emplace_back(device, base::AlignedVector<double>(values.begin(), values.end()));
      std::vector<op::LoopOperand> operands;
      for (auto& vector : vectors) operands.emplace_back(vector);
      const op::VectorRunner runner(device, solvers::vector_loops);
      const op::FusedLoop fused(runner, loop.name, std::span(scalars).first(loop.scalars.size()), operands);
      Outcome outcome{{}, std::vector<double>(loop.sums.size(), nan(""))};
      fused(7, gaps, outcome.sums.data());
      for (const auto& vector : vectors) outcome.vectors.push_back(values(vector));
      expect_near(outcome, expected(loop, size, gaps), loop);
    }
}

} // namespace
