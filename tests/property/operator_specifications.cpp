// SPDX-License-Identifier: BSD-3-Clause
// Equal specifications of kernels have equal texts, and a kernel that was generated once is not generated again.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>

#include <rafter/base/content.hpp>
#include <rafter/base/hash.hpp>
#include <rafter/base/temporary.hpp>
#include <rafter/form/language.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/machine/typical.hpp>
#include <rafter/operator/generate/matrix_builder.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/space/layout.hpp>
#include <rafter/tune/kernel_text_cache.hpp>
#include <rafter/tune/planner.hpp>

#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

namespace fs = std::filesystem;

/// This maps the hash of a specification to the hashes of its kernels' texts, including those of set-up and product.
using Texts = std::map<std::string, std::set<std::string>>;

void add(const op::GeneratedForm& form, Texts& texts) {
  for (const auto& block : form.blocks) {
    const auto& kernel = block.kernel;
    if (kernel.programs.is_too_large) continue;
    texts[base::content_hash(kernel.specification)].insert(
        base::content_hash(kernel.info.source + kernel.programs.setup.source + kernel.info.loop_program) + " " +
        kernel.info.name);
  }
}

/// Returns the texts of all kernels of many forms on meshes of a shape, generated in the opposite order if
/// `is_reversed`.
Texts texts_of(const std::string& shape, bool is_reversed) {
  Texts result;
  const auto device = std::make_shared<InterpreterDevice>();
  std::vector<std::function<void()>> generators;
  using Degrees = std::pair<int, int>; // degrees of the geometry and of the first field
  for (const auto& degrees : {Degrees{1, 1}, Degrees{1, 2}, Degrees{1, 4}, Degrees{2, 2}, Degrees{3, 3}}) {
    const int geometry_degree = degrees.first, degree = degrees.second;
    const auto mesh = geometry_degree == 1 ? box(shape) : curved_box(shape, geometry_degree);
    auto problem = std::make_shared<Problem>(
        mesh, std::vector<space::SpaceOptions>{{.degree = degree, .components = mesh.gdim, .name = "w"},
                                               {.degree = 1, .name = "p"}});
    problem->with("kappa", 0.7);
    const std::string div_w = mesh.gdim == 1 ? "w[0].dx(0)" : "div(w)";
    for (const auto& text :
         std::vector<std::string>{"inner(grad(w), grad(v_w))*dx", "(1 + x[0])*p*v_p*dx + kappa*p*v_p*ds(1)",
                                  "v_p*" + div_w + "*dx", "(inner(grad(w), grad(v_w)) + inner(grad(p), grad(v_p)))*dx"})
      for (const char* plan : {"", "vector_width=2 factors=store", "mapping=plain factors=recompute", "compute=float"})
        generators.emplace_back([=, &result] {
          const auto options = planned({.shared_device = device, .plan = plan});
          const auto form = problem->form(text);
          const auto systems = op::systems_of(form);
          add(*op::build(form, 2, systems, options), result);
          if (systems.test.spaces != systems.trial.spaces) return;
          add(*op::build(form, 2, systems, options, op::Purpose::diagonal), result);
          if (degree < 3 && *plan == 0) add(*op::build(form, 2, systems, options, op::Purpose::matrix), result);
        });
  }
  if (is_reversed) std::ranges::reverse(generators);
  for (const auto& generate : generators) generate();
  return result;
}

/// Another process of this test writes the texts that it generates to this file.
constexpr const char* output_variable = "RAFTER_TEST_TEXTS";

class Specifications : public ::testing::TestWithParam<std::string> {};

TEST_P(Specifications, DecideTheTextsInAnyOrderAndProcess) {
  const char* output = std::getenv(output_variable);
  const auto texts = texts_of(GetParam(), output != nullptr);
  for (const auto& [specification, of_it] : texts) EXPECT_EQ(of_it.size(), 1U) << *of_it.begin();
  std::string all;
  for (const auto& [specification, of_it] : texts)
    for (const auto& text : of_it) all += specification + " " + text + "\n";
  if (output != nullptr) {
    std::ofstream(output) << all;
    return;
  }
  EXPECT_GT(texts.size(), 20U);
  const auto file = base::Temporary::folder((fs::temp_directory_path() / "rafter-texts-").string());
  const auto path = fs::path(file.path()) / "texts";
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const auto command = std::string(output_variable) + "=" + path.string() + " " +
                       fs::read_symlink("/proc/self/exe").string() + " --gtest_filter=" + test->test_suite_name() +
                       "." + test->name() + " > /dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  std::ifstream stream(path);
  const std::string elsewhere(std::istreambuf_iterator<char>(stream), {});
  EXPECT_EQ(elsewhere, all);
}

INSTANTIATE_TEST_SUITE_P(every_shape, Specifications, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

/// The planner has a folder of its own, in which it remembers generated kernels.
class Remembered : public ::testing::Test {
protected:
  base::Temporary temporary_ = base::Temporary::folder((fs::temp_directory_path() / "rafter-remembered-").string());
  Problem problem_{curved_box("hexahedron", 1), 2};
  std::shared_ptr<op::GeneratedForm> generate(const std::string& plan = "", const std::string& form = "u*v*dx") const {
    op::OperatorOptions options{.shared_device = std::make_shared<InterpreterDevice>(), .plan = plan};
    options.planner = std::make_shared<const tune::Planner>(
        tune::PlannerOptions{.machine = machine::typical_machine(512),
                             .store = nullptr,
                             .kernel_texts = std::make_shared<tune::KernelTextCache>(temporary_.path())});
    const auto parsed = problem_.form(form);
    return op::build(parsed, 2, op::systems_of(parsed), options);
  }
  tune::KernelTextCache cache() const { return tune::KernelTextCache(temporary_.path()); }
};

TEST_F(Remembered, KernelsAreThoseThatWereGenerated) {
  const std::string form = "(1 + x[0])*inner(grad(u), grad(v))*dx + u*v*ds(1)";
  for (const char* plan : {"", "factors=store", "factors=recompute vector_width=4"}) {
    const auto first = generate(plan, form), second = generate(plan, form);
    ASSERT_EQ(first->blocks.size(), second->blocks.size());
    for (std::size_t p = 0; p < first->blocks.size(); ++p) {
      const auto &a = first->blocks[p].kernel, &b = second->blocks[p].kernel;
      EXPECT_TRUE(cache().find(a.specification)) << a.info.name;
      EXPECT_EQ(a.info.plan, b.info.plan);
      EXPECT_EQ(a.info.decision.origin, b.info.decision.origin);
      EXPECT_EQ(a.info.decision.seconds, b.info.decision.seconds);
      EXPECT_EQ(a.info.source, b.info.source);
      EXPECT_EQ(a.info.loop_program, b.info.loop_program);
      EXPECT_EQ(a.info.tensor_program, b.info.tensor_program);
      EXPECT_EQ(a.programs, b.programs);
    }
  }
}

TEST_F(Remembered, KernelsAreNeitherPlannedNorEmittedAgain) {
  const auto specification = generate()->blocks.front().kernel.specification;
  auto planted = cache().find(specification).value();
  planted.main.plan = schedule::parse_plan("factors=recompute vector_width=2");
  planted.main.source = "// planted\n";
  planted.seconds = 17;
  cache().remember(specification, planted);
  const auto again = generate();
  const auto& info = again->blocks.front().kernel.info;
  EXPECT_EQ(info.source, "// planted\n");
  EXPECT_EQ(info.plan[schedule::key::vector_width], 2);
  EXPECT_EQ(info.decision.seconds, 17);
  EXPECT_TRUE(info.decision.candidates.empty());
}

TEST_F(Remembered, SpecificationsDifferInAllThatTheyAskFor) {
  std::set<std::string> seen;
  const auto expect_new = [&](const std::string& plan, const std::string& form) {
    EXPECT_TRUE(seen.insert(generate(plan, form)->blocks.front().kernel.specification).second) << plan << " " << form;
  };
  expect_new("", "u*v*dx");
  expect_new("factors=recompute", "u*v*dx");
  expect_new("", "2*u*v*dx");
  expect_new("", "u*v*dx(degree=7)");
  expect_new("", "u.dx(0)*v*dx");
  expect_new("", "u*v*ds(1)");
  expect_new("", "u*v*ds(2)");
}

/// A kernel is generated for these circumstances, beside its form.
struct Circumstances {
  std::string shape = "quadrilateral";
  int degree = 2, components = 0, geometry_degree = 1;
  bool is_broken = false;
  mesh::BatchOptions batches = {};
  int threads = 1, machine = 512;
  op::QuadratureOptions quadrature = {};
  op::Purpose purpose = op::Purpose::action;
};

std::string specification_of(const Circumstances& given) {
  const auto mesh =
      given.geometry_degree == 1 ? box(given.shape, 4) : curved_box(given.shape, given.geometry_degree, 4);
  const Problem problem(
      mesh, {{.degree = given.degree, .components = given.components, .name = "u", .is_broken = given.is_broken}},
      given.batches);
  op::OperatorOptions options{.shared_device = device::make_device("host", given.threads),
                              .quadrature = given.quadrature,
                              .planner = std::make_shared<const tune::Planner>(
                                  tune::PlannerOptions{.machine = machine::typical_machine(given.machine)})};
  const auto form = problem.form("(1 + x[0])*inner(u, v)*dx");
  return op::build(form, 2, op::systems_of(form), options, given.purpose)->blocks.front().kernel.specification;
}

TEST(SpecificationsOfKernels, DifferInEverythingThatTheirTextsFollowFrom) {
  const std::map<std::string, Circumstances> all{{"as they are", {}},
                                                 {"shape", {.shape = "triangle"}},
                                                 {"degree", {.degree = 3}},
                                                 {"components", {.components = 2}},
                                                 {"geometry", {.geometry_degree = 2}},
                                                 {"geometry of higher degree", {.geometry_degree = 3}},
                                                 {"broken", {.is_broken = true}},
                                                 {"larger batches", {.batches = {.cells_per_batch = 16}}},
                                                 {"patches", {.batches = {.cells_per_batch = 32, .patch_width = 2}}},
                                                 {"threads", {.threads = 2}},
                                                 {"machine", {.machine = 256}},
                                                 {"rule", {.quadrature = {.kind = element::QuadratureKind::gll}}},
                                                 {"points", {.quadrature = {.points = 5}}},
                                                 {"diagonal", {.purpose = op::Purpose::diagonal}},
                                                 {"matrix", {.purpose = op::Purpose::matrix}}};
  std::map<std::string, std::string> seen;
  for (const auto& [name, circumstances] : all) {
    const auto [place, is_new] = seen.emplace(specification_of(circumstances), name);
    EXPECT_TRUE(is_new) << name << " has the specification of " << place->second;
  }
}

/// Every member decides about the content by itself: none is left out of members().
TEST(SpecificationsOfKernels, DifferInEveryMember) {
  const auto shape = element::Shape::quadrilateral;
  const auto element = element::make_element(element::Family::lagrange, shape, 2);
  const auto layout = space::make_layout(element), broken = space::make_broken_layout(element);
  const Problem problem(box("quadrilateral"), 2);
  const auto lowered = form::lower(problem.form("u*v*dx"));
  const auto& integral = lowered.integrals[0];
  op::KernelSpecification usual;
  usual.cell.fields.geometry = element::make_element(element::Family::lagrange, shape, 1);
  usual.cell.fields.inputs = usual.cell.fields.outputs = {{kernel::AtomKind::reference_test, 0, 1, element}};
  usual.cell.fields.batches.patterns = {&layout};
  using Change = std::function<void(op::KernelSpecification&)>;
  const std::vector<Change> changes{[](auto&) {},
                                    [&](auto& s) {
                                      s.parts = {{&integral, -1}};
                                    },
                                    [&](auto& s) {
                                      s.parts = {{&integral, 0}};
                                    },
                                    [](auto& s) { s.purpose = op::Purpose::diagonal; },
                                    [](auto& s) { s.trial_components = {1}; },
                                    [](auto& s) { s.trial_of_output = {1}; },
                                    [](auto& s) { s.sizes.num_batches = 1; },
                                    [](auto& s) { s.sizes.num_data_rows = 1; },
                                    [](auto& s) { s.sizes.input_bytes = 1; },
                                    [](auto& s) { s.sizes.output_bytes = 1; },
                                    [](auto& s) { s.cell.map = mesh::MapKind::multilinear; },
                                    [](auto& s) { s.cell.num_trials = 1; },
                                    [](auto& s) { s.cell.num_coefficients = 1; },
                                    [](auto& s) { s.cell.whole_runs_share = 0.5; },
                                    [&](auto& s) { s.cell.fields.batches.patterns = {&broken}; },
                                    [](auto& s) { s.cell.fields.inputs.front().pattern = 1; },
                                    [](auto& s) { s.cell.fields.outputs.front().vector = 1; },
                                    [](auto& s) { s.cell.fields.batches.cells_per_batch = 16; },
                                    [](auto& s) { s.cell.fields.batches.has_lists = true; },
                                    [](auto& s) { s.cell.fields.quadrature.shape = element::Shape::triangle; },
                                    [](auto& s) { s.cell.fields.quadrature.degree = 1; },
                                    [](auto& s) { s.cell.fields.quadrature.points = {1}; },
                                    [](auto& s) { s.cell.fields.quadrature.weights = {1}; },
                                    [](auto& s) { s.cell.fields.quadrature.lines.emplace_back(); },
                                    [](auto& s) { s.cell.fields.quadrature.lines = {{.points = {1}, .weights = {}}}; },
                                    [](auto& s) { s.cell.fields.quadrature.lines = {{.points = {}, .weights = {1}}}; },
                                    [](auto& s) { s.cell.fields.local_facets = {0}; },
                                    [](auto& s) { s.cell.fields.inputs.clear(); },
                                    [](auto& s) { s.cell.fields.outputs.clear(); },
                                    [&](auto& s) { s.cell.fields.geometry = element; },
                                    [](auto& s) { s.cell.fields.inputs[0].kind = kernel::AtomKind::reference_field; },
                                    [](auto& s) { s.cell.fields.inputs[0].index = 1; },
                                    [](auto& s) { s.cell.fields.inputs[0].components = 2; },
                                    [](auto& s) { s.cell.fields.inputs[0].element = s.cell.fields.geometry; },
                                    [&](auto& s) { s.cell.fields.inputs[0].trial_element = element; },
                                    [](auto& s) { s.cell.fields.inputs[0].vector = 1; }};
  std::map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    auto changed = usual;
    changes[i](changed);
    const auto [place, is_new] = seen.emplace(base::content_text(changed), i);
    EXPECT_TRUE(is_new) << "change " << i << " has the content of change " << place->second;
  }
}

} // namespace
} // namespace rafter::test
