// SPDX-License-Identifier: BSD-3-Clause
// One text serves every processor: kernels compiled for AArch64 (run by an emulator) and for several instruction sets
// of x86 compute what the simplest program means. All pairs of map and contraction occur on every shape, while degrees,
// storages of factors and kinds of matrices take turns.
#include <gtest/gtest.h>

#include <rafter/device/host/cpu.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/run/form_kernels.hpp>

#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>
#include <tests/support/target_device.hpp>

namespace rafter::test {
namespace {

std::vector<Target> targets() {
  const std::string cross = "aarch64-linux-gnu-gcc", packages = "gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user";
  const auto emulator = [](const std::string& cpu) {
    return std::vector<std::string>{"qemu-aarch64", "-cpu", cpu, "-L", "/usr/aarch64-linux-gnu"};
  };
  // -O1 has what the text asks of a processor, its vectors, and compiles sooner than -O3, which one target has.
  const Target neon{"neon", cross, {"-march=armv8-a", "-O1"}, emulator("cortex-a57"), packages, "", 4};
  Target more_neon = neon;
  more_neon.name = "more_neon";
  return {neon,
          more_neon,
          {"sve",
           cross,
           {"-march=armv8-a+sve", "-msve-vector-bits=512", "-O1"},
           emulator("max,sve512=on"),
           packages,
           "",
           16},
          {"sse2", "gcc", {"-march=x86-64", "-O1"}, {}, "gcc", "sse2", 4},
          {"avx2", "gcc", {"-march=haswell"}, {}, "gcc", "avx2", 8},
          {"avx512", "gcc", {"-march=skylake-avx512", "-mprefer-vector-width=512", "-O1"}, {}, "gcc", "avx512dq", 16}};
}

std::string missing_tools(const Target& target) {
  for (const auto& program : {target.compiler, target.emulator.empty() ? target.compiler : target.emulator.front()})
    if (device::find_program(program).empty())
      return "the target " + target.name + " needs " + program + ": apt-get install " + target.packages;
  return "";
}

/// A case is what a target computes.
struct Case {
  mesh::Mesh mesh;
  int degree = 1, components = 0;
  std::string form, plan;
  /// This plan is interpreted for comparison.
  std::string meaning = "mapping=plain contraction=dense factors=recompute";
  double rounding = 1e-13;
  int cells_per_batch = 8; ///< number of cells in a batch
};

class Targets : public ::testing::TestWithParam<std::tuple<std::size_t, std::string>> {
protected:
  void SetUp() override {
    target_ = targets()[std::get<0>(GetParam())];
    if (!target_.instruction_set.empty() && !device::has_instruction_set(device::cpu(), target_.instruction_set))
      GTEST_SKIP() << "this processor has no " << target_.instruction_set;
    const std::string missing = missing_tools(target_);
    if (missing.empty()) return;
    const char* may_install = std::getenv("RAFTER_INSTALL");
    if (may_install != nullptr && std::string(may_install) == "0") GTEST_SKIP() << missing;
    FAIL() << missing << " (skipped with RAFTER_INSTALL=0)";
  }

  const std::string& shape() const { return std::get<1>(GetParam()); }
  bool is_tensor() const { return element::is_tensor(element::shape_from_name(shape())); }

  /// Kind 0 has straight cells, kind 1 those of bent boxes (multilinear if the shape allows it), kind 2 curved ones.
  mesh::Mesh mesh(int kind) const {
    const int n = box_dimension(shape()) == 1 ? 10 : 0; // one full batch and one that is not full
    return kind == 0 ? scrambled(box(shape(), n), 2) : curved_box(shape(), kind, n);
  }
  /// Returns the contractions that exist on such cells.
  std::vector<std::string> contractions_of(int kind) const {
    if (is_tensor()) return {"collocated", "per-derivative", "dense"};
    const bool is_affine = kind < 2, is_simplex = shape() == "triangle" || shape() == "tetrahedron";
    return is_affine && is_simplex ? std::vector<std::string>{"modal", "dense"} : std::vector<std::string>{"dense"};
  }
  std::vector<Case> cases() const {
    const char* factor_storages[] = {"recompute", "store-merged", "recompute-merged", "store"};
    const char* symmetries[] = {"4", "2", "0"};
    std::vector<Case> result;
    for (int kind = 0; kind < 3; ++kind) {
      const auto contractions = contractions_of(kind);
      for (std::size_t c = 0; c < contractions.size(); ++c) {
        const std::size_t turn = result.size();
        // Coefficients must be constant for modal programs.
        const bool has_facets = kind == 1 && c == 0, is_modal = contractions[c] == "modal";
        const std::string factor = is_modal ? "2" : "(1 + x[0])", terms = has_facets ? "kappa*u*v*dx + u*v*ds(1)"
                                                                          : is_modal ? "kappa*u*v*dx"
                                                                                     : "exp(x[0])*kappa*u*v*dx";
        result.push_back(
            {.mesh = mesh(kind),
             .degree = 1 + static_cast<int>((turn + turn / 4) % 4),
             .form = factor + "*inner(grad(u), grad(v))*dx + " + terms,
             .plan = "contraction=" + contractions[c] + " factors=" + factor_storages[(turn + 2) % 4] +
                     " even_odd=" + symmetries[(turn + turn / 3) % 3] +
                     (kind == 1   ? is_tensor() ? " rows=8 unroll=0" : " rows=8 unroll=0 vector_width=4 subbatches=2"
                      : kind == 2 ? " vector_width=4"
                                  : "")});
      }
    }
    const int dim = box_dimension(shape());
    result.push_back({.mesh = mesh(1), .degree = 2, .components = dim, .form = elasticity_form(dim)});
    if (is_tensor())
      for (const int degree : {2, 3}) // boxes as they are, and rotated
        result.push_back({.mesh = degree == 2 ? box(shape(), dim == 1 ? 10 : 0) : mesh(0),
                          .degree = degree,
                          .form = helmholtz_form(),
                          .plan = "contraction=separable factors=store-merged"});
    const std::string in_floats = "factors=store storage=float";
    result.push_back({.mesh = mesh(2), .degree = 3, .form = helmholtz_form(), .plan = in_floats, .meaning = in_floats});
    constexpr double rounding = 4 * 0x1p-24;
    const std::string floats = "factors=recompute compute=float vector_width=" + std::to_string(target_.floats) +
                               (dim == 2 ? " accumulate=float" : "");
    result.push_back({.mesh = mesh(target_.floats == 8 ? 2 : 1),
                      .degree = 2,
                      .components = dim,
                      .form = elasticity_form(dim),
                      .plan = floats,
                      .meaning = floats,
                      .rounding = rounding,
                      .cells_per_batch = std::max(target_.floats, 8)});
    if (is_tensor() && dim > 1)
      for (const char* lanes : {"4", "8"})
        result.push_back({.mesh = mesh(2),
                          .degree = 3,
                          .components = dim,
                          .form = elasticity_form(dim),
                          .plan = std::string("mapping=simd_points factors=store vector_width=") + lanes});
    return result;
  }
  /// Returns half of the cases for the first target, since its emulator is slow: those at even places where the
  /// dimension is even, else those at odd ones. The second target is the same one with the other half. Each of the
  /// others has a third, and all targets have what computes with floats.
  std::vector<Case> own_cases() const {
    const auto all = cases();
    const std::size_t target = std::get<0>(GetParam());
    const auto dim = static_cast<std::size_t>(box_dimension(shape()));
    std::vector<Case> result;
    for (std::size_t turn = 0; turn < all.size(); ++turn) {
      const bool is_own = target < 2 ? (turn + target) % 2 == dim % 2 : turn % 3 == (target - 2) % 3;
      if (is_own || all[turn].rounding > 1e-13) result.push_back(all[turn]);
    }
    return result;
  }
  static std::vector<double> result_of(const Case& wanted, op::OperatorOptions options) {
    Problem problem(wanted.mesh, wanted.degree, wanted.components, {.cells_per_batch = wanted.cells_per_batch});
    problem.with("kappa", 0.7);
    options.quadrature.points = wanted.degree + 1;
    const op::Operator A(problem.form(wanted.form), planned(options));
    if (options.plan.find("contraction=") != std::string::npos) {
      EXPECT_EQ(kernel::name(A.kernels().info()[0].plan[schedule::key::contraction]),
                kernel::name(schedule::parse_plan(options.plan)[schedule::key::contraction]));
    }
    return values_of(applied(A, random_vector(A, 3)));
  }

  Target target_;
};

TEST_P(Targets, KernelsGiveWhatTheSimplestProgramMeans) {
  const auto device = std::make_shared<TargetDevice>(target_);
  for (const auto& wanted : own_cases()) {
    const auto expected =
        result_of(wanted, {.shared_device = std::make_shared<InterpreterDevice>(), .plan = wanted.meaning});
    const auto found = result_of(wanted, {.shared_device = device, .plan = wanted.plan});
    EXPECT_LE(distance(found, expected),
              wanted.rounding * (wanted.degree + 1) * (wanted.degree + 1) * largest(expected))
        << wanted.mesh.source << " degree " << wanted.degree << " " << wanted.plan;
  }
}

INSTANTIATE_TEST_SUITE_P(one_text, Targets,
                         ::testing::Combine(::testing::Range(std::size_t{0}, targets().size()),
                                            ::testing::Values("interval", "triangle", "quadrilateral", "tetrahedron",
                                                              "hexahedron", "prism", "pyramid")),
                         [](const auto& parameter) {
                           return targets()[std::get<0>(parameter.param)].name + "_" + std::get<1>(parameter.param);
                         });

} // namespace
} // namespace rafter::test
