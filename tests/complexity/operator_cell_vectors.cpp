// SPDX-License-Identifier: BSD-3-Clause
// Kernels from cell vector to cell vector whose tables stand in the text: work arrays hold what is known at points and
// nothing else, and every line of the next batch is asked for once.
#include <gtest/gtest.h>

#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/schedule/counts.hpp>
#include <tests/support/operator_problems.hpp>
#include <tests/support/text_device.hpp>

namespace rafter::test {
namespace {

constexpr int vector_width = 8, line_bytes = 8 * vector_width;

struct Case {
  int degree, components;
  int num_points; ///< modes of the contraction, all derivatives of a component
};
/// Gradients on tetrahedra have 1, 4 and 10 modes of degree p - 1 for each derivative.
std::vector<Case> cases() { return {{1, 0, 3}, {2, 0, 12}, {3, 0, 30}, {2, 3, 12}, {3, 3, 30}}; }
int dofs(int degree) { return (degree + 1) * (degree + 2) * (degree + 3) / 6; }

schedule::LoopProgram program_of(const Case& wanted, const std::string& keys) {
  Problem problem(box("tetrahedron"),
                  {{.degree = wanted.degree, .components = wanted.components, .name = "e", .is_broken = true}});
  const op::OperatorOptions options =
      planned({.shared_device = std::make_shared<TextDevice>(),
               .plan = "contraction=modal factors=store-merged vector_width=8 stores=streaming unroll=4096 " + keys});
  const op::Operator A(problem.form("inner(grad(e), grad(v_e))*dx"), options);
  return schedule::read(A.kernels().info().front().loop_program);
}

/// The result passes the caches by.
TEST(WrittenSteps, StoreWhatIsKnownAtPointsAndNothingElse) {
  for (const auto& wanted : cases()) {
    const int components = std::max(wanted.components, 1);
    const auto counts = schedule::count(program_of(wanted, "prefetch=0"));
    EXPECT_EQ(counts.local.written_bytes, double{line_bytes} * components * 2 * wanted.num_points)
        << wanted.degree << " " << wanted.components;
  }
}

/// A batch asks for the lines of its vector and of six factors per cell; the share of each place in the text is rounded
/// up to whole lines.
TEST(WrittenSteps, AskForEachLineOfTheNextBatchAboutOnce) {
  for (const auto& wanted : cases()) {
    const int lines = std::max(wanted.components, 1) * dofs(wanted.degree) + 6;
    const auto loads = [&](const char* keys) { return schedule::count(program_of(wanted, keys)).instructions.loads; };
    const double asked = loads("prefetch=1") - loads("prefetch=0");
    EXPECT_GE(asked, lines) << wanted.degree << " " << wanted.components;
    EXPECT_LE(asked, 2 * lines) << wanted.degree << " " << wanted.components;
  }
}

} // namespace
} // namespace rafter::test
