// SPDX-License-Identifier: BSD-3-Clause
// What knows one process alone is refused on a part of a mesh, by every process in the same way.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>

#include <rafter/io/vtkhdf.hpp>
#include <rafter/mesh/distribution.hpp>
#include <rafter/mesh/locate.hpp>
#include <rafter/operator/tuning.hpp>
#include <rafter/rafter.hpp>

#include <tests/support/interpreter_device.hpp>
#include <tests/support/planner.hpp>

namespace {

using namespace rafter;

struct Part {
  explicit Part(const Mesh& mesh) : V(mesh, {.degree = 1, .name = "u"}) {}
  FunctionSpace V;
  OperatorOptions options = test::planned({.shared_device = std::make_shared<test::InterpreterDevice>()});
  Expr u = field(V.ptr(), "u");
  Form laplace() const {
    const auto [trial, v] = arguments(V);
    return inner(grad(trial), grad(v)) * dx;
  }
};

using Use = std::function<void(Part&)>;
struct Case {
  std::string name; ///< name of the test
  std::string what; ///< thing that the message names
  Use use;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"null_space_conditions", "null spaces",
       [](Part& part) {
         const Operator A(part.laplace(), part.options);
         const std::vector conditions{part.V.mean({0.0})};
         (void)solvers::make_null_space(A, conditions, part.options);
       }},
      {"null_vectors", "null spaces",
       [](Part& part) {
         const Operator A(part.laplace(), part.options);
         std::vector<Vector> vectors;
         std::ranges::fill(vectors.emplace_back(A.make_vector()).host_overwrite(), 1.0);
         solvers::SolverOptions options;
         options.null_space = std::make_shared<const solvers::NullSpace>(A.device(), std::move(vectors));
         Vector b = A.make_vector(), x = A.make_vector();
         (void)solvers::solve(A, b, x, options);
       }},
      {"newton", "Newton's method",
       [](Part& part) {
         const auto v = arguments(part.V).second;
         (void)solve_nonlinear((inner(grad(part.u), grad(v)) - v) * dx, {part.u}, {.discretisation = part.options});
       }},
      {"time", "steps in time",
       [](Part& part) {
         const auto v = arguments(part.V).second;
         (void)solve_in_time((dt(part.u) * v - v) * dx, {part.u}, {.discretisation = part.options});
       }},
      {"tuning", "measured matrices",
       [](Part& part) {
         const auto system = op::make_system({part.V.ptr()});
         auto options = op::kernel_options(part.options, part.options.shared_device);
         options.num_applications = 1e6;
         (void)op::tune_matrix(form::lower(part.laplace()), system, options, {});
       }},
      {"sparse_matrices", "sparse matrix",
       [](Part& part) { (void)Operator(part.laplace(), part.options).sparse_matrix(); }},
      {"matrices_of_cells", "matrices and vectors of cells",
       [](Part& part) {
         std::vector<double> values(static_cast<std::size_t>(4 * part.V->mesh().num_cells()));
         Operator(part.laplace(), part.options).cell_matrices(std::vector<CellArray<double>>{{.values = values}});
       }},
      {"vectors_of_cells", "matrices and vectors of cells",
       [](Part& part) {
         const auto v = arguments(part.V).second;
         std::vector<double> values(static_cast<std::size_t>(2 * part.V->mesh().num_cells()));
         LinearForm(v * dx, op::make_system({part.V.ptr()}), part.options)
             .cell_vectors(std::vector<CellArray<double>>{{.values = values}});
       }},
      {"output", "output files", [](Part& part) { io::write_vtkhdf("never_written.vtkhdf", part.V->mesh(), {}); }},
      {"series", "output files",
       [](Part& part) { const io::VtkHdfSeries series("never_written_series.vtkhdf", part.V->mesh(), {}); }},
      {"meshes", "mesh files", [](Part& part) { mesh::write_mesh(part.V->mesh(), "never_written.msh"); }},
      {"points", "points that are looked for",
       [](Part& part) { (void)mesh::locate(part.V->mesh(), std::vector{0.1}); }},
      {"locators", "points that are looked for", [](Part& part) { const mesh::PointLocator locator(part.V->mesh()); }},
  };
  return all;
}

class PartsOfMeshes : public ::testing::TestWithParam<Case> {};

TEST_P(PartsOfMeshes, AreRefusedByWhatKnowsOneProcessAlone) {
  const auto mesh = make_box({.cells = {6}, .shape = "interval"});
  (void)mesh.topology();
  const mesh::CellRanks ranks{{0, 0, 0, 1, 1, 1}};
  std::atomic<int> num_refused = 0;
  comm::run_in_process(2, [&](const std::shared_ptr<const comm::Communicator>& process) {
    Part part(mesh::local_part(mesh, ranks, process));
    try {
      GetParam().use(part);
      ADD_FAILURE() << "nothing is refused";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(GetParam().what), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("part of a"), std::string::npos) << error.what();
      ++num_refused;
    }
  });
  EXPECT_EQ(num_refused, 2);
  Part whole(mesh); // which is not refused for that
  try {
    GetParam().use(whole);
  } catch (const base::Error& error) {
    EXPECT_EQ(std::string(error.what()).find("part of a"), std::string::npos) << error.what();
  }
  for (const auto* path : {"never_written.vtkhdf", "never_written.msh"}) std::filesystem::remove(path);
}

INSTANTIATE_TEST_SUITE_P(all, PartsOfMeshes, ::testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

// The operator is looked at on all parts together, and all processes refuse it alike.
TEST(PartsOfMeshes, HaveTheChecksOfWholeMeshes) {
  const auto mesh = make_box({.cells = {6}, .shape = "interval"});
  (void)mesh.topology();
  const mesh::CellRanks ranks{{0, 0, 0, 1, 1, 1}};
  const auto refuse = [&](const std::function<Form(Part&, const Expr& v)>& form, const std::string& load,
                          const std::string& what) {
    std::atomic<int> num_refused = 0;
    comm::run_in_process(2, [&](const std::shared_ptr<const comm::Communicator>& process) {
      Part part(mesh::local_part(mesh, ranks, process));
      part.options.dirichlet = {part.V.fixed({1}, 0)};
      const auto v = arguments(part.V).second;
      const Operator A(form(part, v), part.options);
      auto b = A.make_vector();
      const auto x = spatial_coordinate(1);
      LinearForm((load == "finite" ? Expr(1.0) : form::ln(x(0) - 0.1)) * v * dx, A.system(), part.options).assemble(b);
      try {
        solve(A, b);
        ADD_FAILURE() << "nothing is refused";
      } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
        ++num_refused;
      }
    });
    EXPECT_EQ(num_refused, 2);
  };
  const auto trial = [](const Part& part) { return arguments(part.V).first; };
  const auto x = spatial_coordinate(1);
  refuse([&](Part& part, const Expr& v) { return part.laplace() + 3.0 * grad(trial(part))(0) * v * dx; }, "finite",
         "not symmetric");
  // The coefficient is not finite in cells of the first process alone.
  refuse([&](Part& part, const Expr& v) { return form::ln(x(0) - 0.1) * inner(grad(trial(part)), grad(v)) * dx; },
         "finite", "not finite");
  refuse([](Part& part, const Expr&) { return part.laplace(); }, "not finite", "right-hand side is not finite");
}

} // namespace
