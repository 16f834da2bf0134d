// SPDX-License-Identifier: BSD-3-Clause
// The texts of kernels of examples and test problems are those that tests/golden/replay lists by their hashes, for
// plans of every mapping and contraction, in C and OpenCL. What changed is shown by scripts/replay.sh.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <ostream>
#include <set>

#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/base/hash.hpp>
#include <rafter/discretisation.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/operator/generate/form_builder.hpp>
#include <rafter/operator/levels/level_hierarchy.hpp>
#include <rafter/problem/equations.hpp>
#include <rafter/problem/postprocess.hpp>
#include <rafter/stated_problem.hpp>
#include <tests/support/golden.hpp>
#include <tests/support/planner.hpp>
#include <tests/support/recorded_texts.hpp>
#include <tests/support/text_device.hpp>

namespace rafter::test {
namespace {

/// A way in which the kernels of a problem are generated.
struct Way {
  const char* name;
  const char* plan = "";
  const char* language = "c";
  device::Capabilities capabilities = {};
  bool is_usual = false; ///< kernels with usual plans are generated, too, beside the action of the operator
};

const std::vector<Way>& ways() {
  static const std::vector<Way> all{
      {.name = "c", .is_usual = true},
      {.name = "c/dense", .plan = "mapping=simd_cells contraction=dense factors=recompute vector_width=4"},
      {.name = "c/collocated", .plan = "mapping=simd_cells contraction=collocated factors=store-merged even_odd=0"},
      {.name = "c/separable", .plan = "mapping=simd_cells contraction=separable factors=store vector_width=8"},
      {.name = "c/modal", .plan = "mapping=simd_cells contraction=modal factors=store-merged stores=streaming"},
      {.name = "c/floats", .plan = "mapping=simd_cells storage=float compute=float accumulate=float"},
      {.name = "c/simd_points", .plan = "mapping=simd_points contraction=collocated factors=recompute vector_width=4"},
      {.name = "c/plain", .plan = simplest},
      {.name = "c/assembled", .plan = "mapping=assembled"},
      {.name = "opencl/items",
       .language = "opencl",
       .capabilities = {.most_items = 1024, .sub_group_width = 32},
       .is_usual = true},
      {.name = "cuda/items",
       .language = "cuda",
       .capabilities = {.most_items = 1024, .sub_group_width = 32, .has_atomic_doubles = true},
       .is_usual = true},
      {.name = "opencl/lanes",
       .language = "opencl",
       .capabilities = {.most_items = 4096, .vector_width = 8, .is_processor = true}},
  };
  return all;
}

/// A problem file, maybe with another degree of its field u.
struct Case {
  std::string file; ///< path in the source folder
  int degree = 0;   ///< 0: that of the file
  std::string name() const {
    const std::filesystem::path path = file;
    return path.parent_path().filename().string() + "-" + path.stem().string() +
           (degree > 0 ? "-p" + std::to_string(degree) : "");
  }
  friend std::ostream& operator<<(std::ostream& stream, const Case& given) { return stream << given.name(); }
};

/// A problem with what does not depend on the way.
class Problem {
public:
  explicit Problem(const Case& given)
      : problem_(io::read_problem((std::filesystem::path(source_directory()) / given.file).string(),
                                  given.degree > 0
                                      ? std::vector<std::string>{fmt::format("fields.u.degree={}", given.degree)}
                                      : std::vector<std::string>{})),
        meshes_(app::make_meshes(problem_)) {}

  void generate(const Way& way) const {
    const auto device = std::make_shared<TextDevice>(way.language, way.capabilities);
    op::OperatorOptions options = planned({.shared_device = device, .plan = way.plan});
    const auto problem = app::state(problem_, meshes_, options);
    options.quadrature = problem.discretisation.quadrature;
    const auto kernels = op::kernel_options(options, device);
    const auto equations = problem::make_equations(problem);
    const auto& system = equations.system;
    op::build_form(equations.tangent, system, op::Purpose::action, kernels);
    if (!way.is_usual) return;
    op::build_form(equations.tangent, system, op::Purpose::diagonal, kernels);
    op::build_form(equations.tangent, system, op::Purpose::matrix, kernels);
    if (equations.load) op::build_form(*equations.load, system, op::Purpose::action, kernels);
    const problem::Postprocess postprocess(problem, system, options);
    if (problem::has_multigrid(problem.preconditioner, problem_.solver.method) && equations.bilinear)
      generate_levels(*equations.bilinear, system, kernels);
  }

private:
  /// Generates the kernels of levels and of the transfers between them.
  void generate_levels(const form::Form& bilinear, const op::System& system, const op::KernelOptions& kernels) const {
    auto levels = op::generate_levels({.form = bilinear,
                                       .system = system,
                                       .meshes = std::make_shared<const mesh::Generations>(meshes_),
                                       .kernels = kernels,
                                       .coarsening = problem_.coarsening});
    for (const auto& level : op::kernels_of(levels)) op::compile({&level, 1});
    const auto finest = op::build_form(form::lower(bilinear), system, op::Purpose::action, kernels);
    op::compile({&finest, 1});
    const op::Operator A(finest, op::make_constraints(system, {}), nullptr);
    op::make_levels(std::move(levels), A, meshes_);
  }
  io::Problem problem_;
  mesh::Generations meshes_;
};

/// One line per kind of text: how many differ, and two hashes of all, raw and canonical.
std::string lines_of(const std::string& way, const Recording& recording) {
  struct Sum {
    std::size_t count = 0;
    std::set<std::string> raw, canonical;
  };
  std::map<std::string, Sum> kinds;
  for (const auto& text : recording.hashes()) {
    auto& sum = kinds[text.kind];
    sum.raw.insert(text.raw);
    sum.canonical.insert(text.canonical);
  }
  const auto hash = [](const std::set<std::string>& hashes) {
    return base::content_hash(fmt::format("{}", fmt::join(hashes, " "))).substr(0, 16);
  };
  std::string result;
  for (const auto& [kind, sum] : kinds)
    result += fmt::format("{} {} {} {} {}\n", way, kind, sum.raw.size(), hash(sum.raw), hash(sum.canonical));
  return result;
}

class Replay : public ::testing::TestWithParam<Case> {};

TEST_P(Replay, TextsAreThoseThatAreListed) {
  const Problem problem(GetParam());
  std::string found = "# way, kind of text, number of texts, hash of all, hash of all in canonical form\n";
  for (const auto& way : ways()) {
    const Recording recording;
    problem.generate(way);
    found += lines_of(way.name, recording);
  }
  expect_golden("replay/" + GetParam().name() + ".txt", found);
}

/// All files; those of Poisson's equation, one per shape and the mixed mesh, and of a vector with other degrees, too.
std::vector<Case> cases() {
  std::vector<Case> result;
  for (const std::string folder : {"examples", "tests/problems"})
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(source_directory()) / folder)) {
      const auto name = entry.path().filename().string();
      if (entry.path().extension() != ".toml" || name.starts_with("refused-")) continue;
      result.push_back({folder + "/" + name});
      if (name.starts_with("poisson") || name == "beam.toml")
        for (const int degree : {1, 3, 6}) result.push_back({folder + "/" + name, degree});
    }
  std::ranges::sort(result, {}, &Case::name);
  return result;
}

TEST(ReplayListing, HasAFileForEachCaseAndNoOther) {
  std::set<std::string> expected, found;
  for (const auto& given : cases()) expected.insert(given.name() + ".txt");
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(source_directory()) / "tests/golden/replay"))
    found.insert(entry.path().filename().string());
  EXPECT_EQ(found, expected);
}

TEST(CanonicalTexts, NumberNamesByTheirFirstUseAndLeaveWordsOfTheLanguage) {
  EXPECT_EQ(canonical("double4 t7 = vload4(0, a12) + t9*1e-12 + log2(x0_y) + a3 + t7;"),
            "double4 t0 = vload4(0, a0) + t1*1e-12 + log2(x0_y) + a1 + t0;");
  EXPECT_EQ(canonical("(let u13 (load K 0x1p-3))"), "(let u0 (load K 0x1p-3))");
  EXPECT_NE(canonical("double2 x;"), canonical("double4 x;"));
  EXPECT_NE(canonical("a1 + b1"), canonical("b1 + a1"));
}

INSTANTIATE_TEST_SUITE_P(all, Replay, ::testing::ValuesIn(cases()), [](const auto& given) {
  std::string name = given.param.name();
  std::ranges::replace(name, '-', '_');
  return name;
});

} // namespace
} // namespace rafter::test
