// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <bench/gathers.hpp>
#include <bench/mesh_file.hpp>
#include <bench/operators.hpp>
#include <rafter/device/device.hpp>
#include <rafter/element/quadrature.hpp>
#include <rafter/mesh/cell_batches.hpp>
#include <rafter/mesh/map_kinds.hpp>
#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/space/cell_vectors.hpp>

#include <tests/support/source_directory.hpp>

// The suites of `rafter bench` measure what they claim: on every geometry, their operators have the known null spaces
// and sums. Plans are given, so that nothing depends on the machine.
namespace rafter::bench {
namespace {

/// Returns the volume of the unit square or cube after the deformation of the wavy geometries: the integral of det J.
double wavy_volume(int dim) {
  const auto shape = dim == 2 ? element::Shape::quadrilateral : element::Shape::hexahedron;
  const auto rule = element::make_quadrature_with_points(shape, 16);
  double volume = 0;
  for (int q = 0; q < rule.num_points(); ++q) {
    std::array<double, 3> x{};
    for (int d = 0; d < dim; ++d) x[d] = (rule.points[static_cast<std::size_t>(q * dim + d)] + 1) / 2;
    const auto slope = [&](int d) { return 0.05 * std::cos(3 * x[(d + 1) % dim] + (dim > 2 ? x[(d + 2) % dim] : 0)); };
    double det = 1 - 9 * slope(0) * slope(1); // J = [1 3a; 3b 1]
    if (dim == 3) {                           // J = [1 3a a; b 1 3b; 3c c 1]
      const double a = slope(0), b = slope(1), c = slope(2);
      det = (1 - 3 * b * c) - 3 * a * (b - 9 * b * c) + a * (b * c - 3 * c);
    }
    volume += rule.weights[static_cast<std::size_t>(q)] / (1 << dim) * det;
  }
  return volume;
}

double largest(const op::Vector& vector) {
  double result = 0;
  for (const double value : vector.host_read()) result = std::max(result, std::fabs(value));
  return result;
}

void expect_small(const op::Vector& vector, double scale) {
  constexpr double rounding = 16 * 1e-14; // about (degree + 2)^2 operations follow each other
  EXPECT_LE(largest(vector), rounding * scale);
}

/// This is an operator of the suites on the smallest mesh of a geometry, or on a mesh.
class SmallOperator {
public:
  SmallOperator(const char* problem, const char* geometry)
      : SmallOperator(problem, {.degree = 2, .million_dofs = 0, .geometry = geometry}) {}
  SmallOperator(const char* problem, std::shared_ptr<const mesh::Mesh> mesh, int degree)
      : SmallOperator(problem, {.degree = degree, .mesh = std::move(mesh)}) {}
  SmallOperator(const char* problem, const SpaceChoice& choice)
      : space_(make_space(find_case(bake_off_cases(), problem), choice)),
        operator_(make_operator(find_case(bake_off_cases(), problem), space_, device::make_device("host", 1),
                                {.plan = "mapping=plain"})) {}

  const mesh::Mesh& mesh() const { return space_->mesh(); }
  const op::Operator& get() const { return operator_; }
  op::Vector of(const space::SpatialFunction& function) const {
    auto x = operator_.make_vector();
    space::interpolate(*space_, function, x.host_overwrite());
    return applied(x);
  }
  op::Vector of_waves() const {
    auto x = operator_.make_vector();
    fill(x);
    return applied(x);
  }

private:
  op::Vector applied(const op::Vector& x) const {
    auto y = operator_.make_vector();
    operator_.apply(x, y);
    return y;
  }
  std::shared_ptr<const space::FunctionSpace> space_;
  op::Operator operator_;
};

void one(std::span<const double> /*x*/, std::span<double> values) { values[0] = 1; }

class BenchGeometry : public testing::TestWithParam<Geometry> {};

TEST_P(BenchGeometry, IsAValidMeshWhoseCurvedCellsFollowTheDomainTheBetterTheHigherTheirDegree) {
  const auto& geometry = GetParam();
  const bool is_wavy = geometry.deformation >= Deformation::multilinear && geometry.amplitude == 1;
  const double expected = is_wavy ? wavy_volume(geometry.dim()) : 1;
  double bound = 1e-3;
  for (int degree = 1; degree <= 8; ++degree) {
    const auto mesh = make_cube(2, geometry, degree);
    EXPECT_EQ(mesh.num_cells(), geometry.cells_per_cube() << geometry.dim());
    const bool is_curved = geometry.deformation == Deformation::isoparametric;
    EXPECT_EQ(mesh.groups.front().degree, is_curved ? degree : 1);
    const auto report = mesh::check_validity(mesh);
    EXPECT_TRUE(report.problems.empty()) << report.problems.front();
    EXPECT_LE(std::fabs(report.volume / expected - 1), std::max(bound, 1e-14)) << degree;
    // Cells have half a unit, and each degree interpolates a wave on them more than four times as well as the one
    // before.
    if (is_curved) bound /= 4;
  }
}

TEST_P(BenchGeometry, LaplaceOfConstantsVanishes) {
  const SmallOperator laplace("bp3", GetParam().name);
  expect_small(laplace.of(one), largest(laplace.of_waves()));
}

TEST_P(BenchGeometry, EntriesOfTheMassMatrixSumToTheVolume) {
  const SmallOperator mass("bp1", GetParam().name);
  const auto weights = mass.of(one);
  const auto values = weights.host_read();
  EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0), mesh::check_validity(mass.mesh()).volume, 1e-13);
}

/// The number of unknowns of a mesh with n cubes along each edge is a polynomial in n, whose leading coefficient counts
/// the unknowns in the interior of the mesh.
TEST_P(BenchGeometry, UnknownsOfCellVectorsCountAsThoseOfAMeshWithoutBoundary) {
  const auto& geometry = GetParam();
  const auto& scalar = find_case(bake_off_cases(), "bp1");
  for (const int degree : {1, 2, 3}) {
    std::vector<double> differences;
    for (int n = 1; n <= geometry.dim() + 1; ++n) {
      auto mesh = std::make_shared<const mesh::Mesh>(make_cube(n, geometry, degree));
      auto discretisation = std::make_shared<const space::Discretisation>(std::move(mesh));
      differences.push_back(
          static_cast<double>(space::FunctionSpace::make(std::move(discretisation), {.degree = degree})->num_dofs()));
    }
    for (std::size_t last = differences.size() - 1; last > 0; --last)
      for (std::size_t i = 0; i < last; ++i) differences[i] = differences[i + 1] - differences[i];
    const double of_cube = differences.front() / (geometry.dim() == 3 ? 6 : 2);
    const auto broken =
        make_space(scalar, {.degree = degree, .million_dofs = 0, .geometry = geometry.name, .is_broken = true});
    EXPECT_NEAR(counted_dofs(*broken), of_cube * broken->mesh().num_cells() / geometry.cells_per_cube(), 1e-9)
        << degree;
  }
}

INSTANTIATE_TEST_SUITE_P(All, BenchGeometry, testing::ValuesIn(geometries()), [](const auto& tested) {
  std::string name = tested.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(BenchGeometries, NearlyCubesAreOfTheKindThatTheirNameSays) {
  const double tolerance = mesh::BatchOptions().affine_tolerance;
  for (const auto& [name, kind] : {std::pair{"cartesian", mesh::MapKind::cartesian},
                                   {"nearly-sheared", mesh::MapKind::affine},
                                   {"nearly-deformed", mesh::MapKind::multilinear}}) {
    const auto& geometry = find_geometry(name);
    const auto mesh = make_cube(32, geometry, 1), cubes = make_cube(32, find_geometry("cartesian"), 1);
    for (const auto found : mesh::map_kinds(mesh, 0, tolerance)) EXPECT_EQ(found, kind) << name;
    for (std::size_t i = 0; i < mesh.points.size(); i += 3) {
      const auto point = undeformed(geometry, std::span(mesh.points).subspan(i, 3));
      for (std::size_t d = 0; d < 3; ++d) EXPECT_NEAR(point[d], cubes.points[i + d], 2e-15) << name;
    }
  }
}

TEST(BenchCases, ElasticityOfRigidMotionsVanishesInBothDimensions) {
  const auto rotation = [](std::span<const double> x, std::span<double> values) {
    std::ranges::fill(values, 0.5);
    values[0] -= x[1];
    values[1] += x[0];
  };
  for (const char* geometry : {"triangles", "curved-quadrilaterals", "curved-triangles", "curved-pyramids"}) {
    const SmallOperator elasticity("elasticity", geometry);
    expect_small(elasticity.of(rotation), largest(elasticity.of_waves()));
  }
}

TEST(BenchCases, HelmholtzIsLaplaceAndMass) {
  for (const char* geometry : {"curved-prisms", "triangles"}) {
    auto sum = SmallOperator("helmholtz", geometry).of_waves();
    const auto laplace = SmallOperator("bp3", geometry).of_waves(), mass = SmallOperator("bp1", geometry).of_waves();
    const double scale = largest(sum);
    for (std::size_t i = 0; i < sum.size(); ++i) sum.host_write()[i] -= laplace.host_read()[i] + mass.host_read()[i];
    expect_small(sum, scale);
  }
}

/// Reads a sample mesh, or one of those that the suites keep, as `rafter bench mesh` does.
Settings settings_of(const std::string& path) {
  Settings settings;
  settings.mesh_path = test::source_directory() + "/" + path;
  read_mesh_file("bp", settings, {});
  return settings;
}

TEST(BenchMeshes, LaplaceOfConstantsVanishesOnMeshesOfOneShapeAndOfSeveral) {
  for (const char* path :
       {"tests/data/meshes/mixed-four-shapes.msh", "bench/meshes/small-cylinder-four-shapes-order2.msh",
        "tests/data/meshes/star-mixed.mesh", "bench/meshes/small-ball-tetrahedra-order3.msh"}) {
    const auto settings = settings_of(path);
    const SmallOperator laplace("bp3", settings.mesh->mesh, 2);
    expect_small(laplace.of(one), largest(laplace.of_waves()));
  }
}

/// The rules of these degrees are exact for det J.
TEST(BenchMeshes, EntriesOfTheMassMatrixSumToTheVolume) {
  for (const auto& [path, degree] : {std::pair{"tests/data/meshes/mixed-four-shapes.msh", 1},
                                     {"bench/meshes/small-cube-tetrahedra.msh", 1},
                                     {"bench/meshes/small-ball-tetrahedra-order3.msh", 3},
                                     {"bench/meshes/small-cylinder-hexahedra-order2.msh", 2}}) {
    const auto settings = settings_of(path);
    const SmallOperator mass("bp1", settings.mesh->mesh, degree);
    const auto weights = mass.of(one);
    const auto values = weights.host_read();
    const double volume = mesh::check_validity(mass.mesh()).volume;
    EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0), volume, 1e-12 * volume) << path;
  }
}

/// These forms have one degree on all shapes, since u and v occur in them without derivatives.
TEST(BenchMeshes, EachShapeOfAMixedMeshHasTheRuleThatItHasAlone) {
  const auto settings = settings_of("tests/data/meshes/mixed-four-shapes.msh");
  for (const char* problem : {"bp1", "helmholtz"}) {
    const SmallOperator mixed(problem, settings.mesh->mesh, 2);
    for (const auto& kernel : mixed.get().info())
      for (const char* geometry : {"hexahedra", "tetrahedra", "prisms", "pyramids"}) {
        const SmallOperator alone(problem, geometry);
        if (kernel.name.find(element::name(find_geometry(geometry).shape)) != std::string::npos) {
          EXPECT_EQ(kernel.num_points, alone.get().info().front().num_points) << problem << " " << kernel.name;
        }
      }
    EXPECT_EQ(mixed.get().info().size(), 4u);
  }
}

TEST(BenchMeshes, AffineCellsOfACurvedMeshHaveTheRuleOfAffineCells) {
  const auto settings = settings_of("bench/meshes/small-ball-tetrahedra-order3.msh");
  const SmallOperator curved("bp3", settings.mesh->mesh, 2), affine("bp3", "tetrahedra");
  const auto kernels = curved.get().info();
  ASSERT_EQ(kernels.size(), 2u);
  for (const auto& kernel : kernels) {
    const bool is_affine = kernel.name.find("affine") != std::string::npos;
    EXPECT_EQ(kernel.num_points == affine.get().info().front().num_points, is_affine) << kernel.name;
  }
}

TEST(BenchMeshes, UnknownsOfCellVectorsAreThoseOfTheCellsOfEachShape) {
  const auto settings = settings_of("tests/data/meshes/mixed-four-shapes.msh");
  const auto space =
      make_space(find_case(bake_off_cases(), "bp1"), {.degree = 3, .is_broken = true, .mesh = settings.mesh->mesh});
  const double cubes = 20 / 6.0 + 6 + 12 / 2.0 + 26 / 3.0;
  EXPECT_NEAR(counted_dofs(*space), 27 * cubes, 1e-9);
}

TEST(BenchMeshes, CellsAreCountedByShapeAndKindOfMap) {
  const auto settings = settings_of("bench/meshes/small-ball-tetrahedra-order3.msh");
  const auto row = row_of(*settings.mesh);
  const auto num_cells = settings.mesh->mesh->num_cells();
  EXPECT_EQ(row.at("mesh"), "small-ball-tetrahedra-order3");
  EXPECT_EQ(row.at("shapes").at("tetrahedron"), num_cells);
  EXPECT_EQ(row.at("maps").at("affine").get<std::int64_t>() + row.at("maps").at("isoparametric").get<std::int64_t>(),
            num_cells);
}

TEST(PlainLoop, GathersAndAddsWhatCellsHave) {
  for (const char* problem : {"bp3", "elasticity"})
    for (const char* geometry : {"tetrahedra", "prisms", "hexahedra"}) {
      SCOPED_TRACE(std::string(problem) + " " + geometry);
      const auto space =
          make_space(find_case(bake_off_cases(), problem), {.degree = 3, .million_dofs = 0, .geometry = geometry});
      const auto broken = space::make_broken(*space);
      std::vector<double> x(static_cast<std::size_t>(space->num_local())), expected(x.size(), 1.0), y(x.size(), 1.0);
      std::iota(x.begin(), x.end(), 2.0);
      std::vector<double> cells(static_cast<std::size_t>(broken->num_local()));
      space::gather_cells(*space, *broken, x, cells);
      space::add_cells(*space, *broken, cells, expected);
      PlainLoop(*space).apply(x, y);
      EXPECT_EQ(y, expected) << "sums of integers are exact";
    }
}

} // namespace
} // namespace rafter::bench
