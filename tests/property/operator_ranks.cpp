// SPDX-License-Identifier: BSD-3-Clause
// Operators act on parts of a mesh: virtual processes together compute what one process computes on the whole mesh.
#include <gtest/gtest.h>

#include <cmath>

#include <rafter/comm/ghost_exchange.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/operator/linear_form.hpp>
#include <rafter/solve/vector_ops.hpp>
#include <rafter/space/random_field.hpp>

#include <tests/support/interpreter_device.hpp>
#include <tests/support/opencl.hpp>
#include <tests/support/operator_problems.hpp>
#include <tests/support/periodic_meshes.hpp>
#include <tests/support/rank_meshes.hpp>

namespace rafter::test {
namespace {

/// Returns the mesh with tag 2 on the cells beyond the middle.
mesh::Mesh with_two_materials(mesh::Mesh mesh) {
  const auto dim = static_cast<std::size_t>(mesh.gdim);
  for (auto& group : mesh.groups) {
    if (group.tags.empty()) continue;
    const std::size_t nodes = group.nodes().size() / group.tags.size();
    for (std::size_t cell = 0; cell < group.tags.size(); ++cell)
      if (mesh.points[static_cast<std::size_t>(group.nodes()[cell * nodes]) * dim] > 0.5) group.tags.set(cell, 2);
  }
  return mesh;
}

/// A case has a vector-valued and a scalar unknown of different degrees, and a data field.
class RanksCase {
public:
  RanksCase(mesh::Mesh mesh, int degree)
      : problem_(std::move(mesh), {{.degree = degree, .components = 2, .name = "w"},
                                   {.degree = 1, .name = "p"},
                                   {.degree = 2, .name = "c"}}) {}

  op::System system() const { return op::make_system({problem_.space(0), problem_.space(1)}); }
  const Problem& problem() const { return problem_; }

  form::Form bilinear(bool has_boundary) const {
    auto names = scope();
    names.add_arguments(unknowns());
    std::string text = "((1 + c*c)*kappa*inner(grad(w), grad(v_w)) + w[1]*v_p.dx(0) - p*v_w[0])*dx + p*v_p*dx(1)";
    if (has_boundary) text += " + (2 + x[0])*inner(w, v_w)*ds + 3*c*p*v_p*ds(2)";
    return form::parse_form(text, names);
  }
  form::Form linear(bool has_boundary) const {
    auto names = scope();
    names.add_test_functions(unknowns());
    return form::parse_form(std::string("(c*v_w[0] + x[0]*v_p)*dx") + (has_boundary ? " + c*v_p*ds(1)" : ""), names);
  }
  form::Form functional(bool has_boundary) const {
    return form::parse_form(std::string("kappa*c*c*dx") + (has_boundary ? " + c*ds(2)" : ""), scope());
  }

  /// Fills a vector with values that depend on global vertices alone; ghosts get none.
  void fill(Vector& vector, const op::System& system, std::uint64_t seed) const {
    const auto values = vector.host_overwrite();
    std::ranges::fill(values, 0.0);
    for (std::size_t f = 0; f < system.spaces.size(); ++f) {
      const auto& space = *system.spaces[f];
      const auto part =
          values.subspan(static_cast<std::size_t>(system.offset(f)), static_cast<std::size_t>(space.num_local()));
      space::fill_random(space, seed + f, part);
      std::ranges::fill(part.subspan(static_cast<std::size_t>(space.index_map().num_owned())), std::nan(""));
    }
  }
  Vector data(const std::shared_ptr<device::Device>& device) const {
    const auto system = op::make_system({problem_.space(2)});
    Vector result(device, static_cast<std::size_t>(system.size()));
    fill(result, system, 77);
    return result;
  }

private:
  std::array<std::shared_ptr<const form::FieldSpace>, 2> unknowns() const {
    return {problem_.space(0), problem_.space(1)};
  }
  form::Scope scope() const {
    form::Scope result(problem_.dim());
    result.add_field(problem_.space(2));
    result.add("kappa", form::by_tag("kappa", {{"1", 1.0}, {"2", 5.0}}));
    return result;
  }
  Problem problem_;
};

/// The operators of a case have these results.
struct Results {
  std::vector<double> action, twice, diagonal, load;
  double number = 0;
};

Results results_of(const RanksCase& test, op::OperatorOptions options, bool has_boundary) {
  const auto system = test.system();
  const auto& device = options.shared_device;
  if (has_boundary) options.dirichlet = {dirichlet(system.spaces[0], [](auto, std::size_t) { return 1.5; }, {1})};
  op::Operator A(test.bilinear(has_boundary), system, options);
  op::LinearForm L(test.linear(has_boundary), system, options);
  op::Functional J(test.functional(has_boundary), op::make_system({test.problem().space(2)}), options);
  const auto c = test.data(device);
  A.set("c", c);
  L.set("c", c);
  J.set("c", c);
  Vector x = A.make_vector(), y = A.make_vector();
  Results result;
  test.fill(x, system, 5);
  test.fill(y, system, 6); // the values must not matter, since they are overwritten
  A.apply(x, y);
  result.action = values_of(y);
  A.apply_add(x, y);
  result.twice = values_of(y);
  A.diagonal(y);
  result.diagonal = values_of(y);
  L.assemble(y);
  result.load = values_of(y);
  result.number = J();
  return result;
}

/// Returns the largest difference of owned entries from those of the whole mesh.
double difference(const RanksCase& part, const std::vector<double>& own, const RanksCase& whole,
                  const std::vector<double>& all) {
  double result = 0;
  const auto here = part.system(), there = whole.system();
  for (std::size_t f = 0; f < here.spaces.size(); ++f) {
    const auto& groups = here.mesh->groups;
    const auto &own_space = *here.spaces[f], &all_space = *there.spaces[f];
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (std::int32_t cell = 0; cell < groups[g].num_cells(); ++cell) {
        const auto* distribution = here.mesh->distribution.get();
        const auto global =
            distribution == nullptr ? cell : distribution->global_cells[g][static_cast<std::size_t>(cell)];
        const auto size =
            static_cast<std::size_t>(own_space.element(groups[g].shape)->num_dofs() * own_space.num_components());
        std::vector<std::int32_t> from(size), to(size);
        const auto at = own_space.position(static_cast<std::int32_t>(g), cell),
                   in = all_space.position(static_cast<std::int32_t>(g), global);
        own_space.cell_dofs(at.block, at.batch, at.cell, from);
        all_space.cell_dofs(in.block, in.batch, in.cell, to);
        for (std::size_t i = 0; i < size; ++i) {
          if (from[i] >= own_space.index_map().num_owned()) continue;
          const double found = own[static_cast<std::size_t>(here.offset(f) + from[i])],
                       expected = all[static_cast<std::size_t>(there.offset(f) + to[i])];
          // The comparison is false for NaN, which must not be lost.
          result = std::fabs(found - expected) <= result ? result : std::fabs(found - expected);
        }
      }
  }
  return result;
}

void expect_same(const mesh::Mesh& mesh, int degree, int num_ranks, Parts parts,
                 const std::function<op::OperatorOptions()>& options, bool has_boundary = true) {
  SCOPED_TRACE(mesh.source + ", degree " + std::to_string(degree) + ", processes " + std::to_string(num_ranks) +
               (parts == Parts::clusters ? ", clusters" : ", shuffled"));
  const RanksCase whole(mesh, degree);
  const auto expected = results_of(whole, options(), has_boundary);
  const auto ranks = cell_ranks(mesh, num_ranks, parts);
  comm::run_in_process(num_ranks, [&](const Process& process) {
    const RanksCase part(mesh::local_part(mesh, ranks, process), degree);
    const auto found = results_of(part, options(), has_boundary);
    const auto expect = [&](std::vector<double> Results::*vector, const char* what) {
      const double bound = 1e-12 * largest(expected.*vector);
      EXPECT_GT(bound, 0);
      EXPECT_LE(difference(part, found.*vector, whole, expected.*vector), bound) << what;
    };
    expect(&Results::action, "A x");
    expect(&Results::twice, "A x + A x");
    expect(&Results::diagonal, "the diagonal");
    expect(&Results::load, "the right-hand side");
    EXPECT_NEAR(found.number, expected.number, 1e-12 * std::fabs(expected.number));
  });
}

op::OperatorOptions interpreted_at_few_points() {
  auto options = interpreted();
  options.quadrature.degree = 4;
  return options;
}

class Ranks : public ::testing::TestWithParam<std::string> {};

TEST_P(Ranks, ComputeWhatOneProcessComputes) {
  for (const auto& mesh : {rank_box(GetParam()), curved_rank_box(GetParam())})
    for (const auto& [num_ranks, parts, degree] :
         {std::tuple(2, Parts::clusters, 3), std::tuple(3, Parts::shuffled, 2)})
      expect_same(with_two_materials(mesh), degree, num_ranks, parts, interpreted_at_few_points);
}

TEST_P(Ranks, ComputeWhatOneProcessComputesOnPeriodicMeshes) {
  expect_same(with_two_materials(periodic_rank_box(GetParam())), 2, 4, Parts::shuffled, interpreted_at_few_points,
              false);
}

INSTANTIATE_TEST_SUITE_P(every_shape, Ranks, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

TEST(RanksOfOneToEight, ComputeTheSameOnShuffledMixedMeshes) {
  for (int num_ranks = 1; num_ranks <= 8; ++num_ranks)
    expect_same(with_two_materials(rank_box("mixed")), 2, num_ranks,
                num_ranks % 2 == 0 ? Parts::clusters : Parts::shuffled, interpreted_at_few_points, num_ranks % 4 == 1);
}

TEST(RanksOnADeviceWithMemoryOfItsOwn, ComputeTheSame) {
  const auto checked = [] {
    return planned({.shared_device = device::make_device("checked"), .plan = "vector_width=2"});
  };
  expect_same(with_two_materials(rank_box("triangle")), 2, 3, Parts::clusters, checked);
  expect_same(with_two_materials(periodic_rank_box("quadrilateral")), 1, 2, Parts::shuffled, checked, false);
}

/// Applications on parts bring the values of interfaces to the host, and nothing else of the vectors.
void expect_copies_of_interfaces(const std::string& device) {
  const auto mesh = with_two_materials(rank_box("quadrilateral"));
  const auto ranks = cell_ranks(mesh, 3, Parts::clusters);
  comm::run_in_process(3, [&](const Process& process) {
    const RanksCase part(mesh::local_part(mesh, ranks, process), 2);
    const auto system = part.system();
    const auto options = planned({.shared_device = device::make_device(device)});
    op::Operator A(part.bilinear(true), system, options);
    A.set("c", part.data(options.shared_device));
    Vector x = A.make_vector(), y = A.make_vector();
    part.fill(x, system, 5);
    for (const bool adds : {false, true}) {
      const auto apply = [&] { adds ? A.apply_add(x, y) : A.apply(x, y); };
      apply(); // brings x and tables to the device
      std::int64_t num_ghosts = 0, num_sent = 0;
      for (const auto& space : system.spaces) {
        num_ghosts += space->index_map().num_ghosts();
        num_sent += std::ssize(space->exchange()->owned());
      }
      EXPECT_LT(num_ghosts + num_sent, system.size());
      const auto before = options.shared_device->copies();
      apply();
      const auto copies = options.shared_device->copies() - before;
      const auto bytes = static_cast<std::int64_t>(sizeof(double)) * (num_ghosts + num_sent);
      EXPECT_EQ(copies.bytes_to_host, bytes) << "owned values of x, ghosts of y";
      EXPECT_EQ(copies.bytes_to_device, bytes) << "ghosts of x, contributions to y";
    }
  });
}

TEST(RanksOnADeviceWithMemoryOfItsOwn, CopyInterfacesAlone) { expect_copies_of_interfaces("checked"); }

TEST(RanksOnADeviceWithMemoryOfItsOwn, CopyInterfacesAloneOnOpenCl) {
  if (!has_opencl()) GTEST_SKIP() << "this machine has no OpenCL device (apt-get install pocl-opencl-icd)";
  expect_copies_of_interfaces("opencl");
}

TEST(RanksOnADeviceWithMemoryOfItsOwn, ComputeTheSameOnOpenCl) {
  if (!has_opencl()) GTEST_SKIP() << "this machine has no OpenCL device (apt-get install pocl-opencl-icd)";
  expect_same(with_two_materials(rank_box("quadrilateral")), 2, 3, Parts::shuffled,
              [] { return planned({.shared_device = device::make_device("opencl")}); });
}

/// Compiled kernels of one scalar form run on threads within the processes, which are threads themselves.
TEST(ThreadsOfRanks, ComputeTheSameOnShuffledMixedMeshes) {
  const auto mesh = rank_box("mixed");
  const auto action = [](const mesh::Mesh& of_process) {
    const Problem problem(of_process, {{.degree = 2}}, {.cells_per_batch = 2, .batches_per_chunk = 1});
    const auto options = planned({.threads = 2, .plan = "vector_width=2"});
    const op::Operator A(problem.form("(inner(grad(u), grad(v)) + x[0]*u*v)*dx"), options);
    Vector x = A.make_vector(), y = A.make_vector();
    space::fill_random(*problem.space(), 5, x.host_overwrite());
    for (int repetition = 0; repetition < 3; ++repetition) A.apply(x, y); // several exchanges follow each other
    const solvers::VectorOps ops(A);
    return std::pair(ops.dot(x, y), ops.dot(y, y));
  };
  const auto expected = action(mesh);
  for (int num_ranks = 1; num_ranks <= 8; ++num_ranks) {
    const auto ranks = cell_ranks(mesh, num_ranks, num_ranks % 2 == 0 ? Parts::clusters : Parts::shuffled);
    comm::run_in_process(num_ranks, [&](const Process& process) {
      const auto found = action(mesh::local_part(mesh, ranks, process));
      EXPECT_NEAR(found.first, expected.first, 1e-12 * expected.second);
      EXPECT_NEAR(found.second, expected.second, 1e-12 * expected.second);
    });
  }
}

} // namespace
} // namespace rafter::test
