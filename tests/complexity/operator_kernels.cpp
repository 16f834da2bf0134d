// SPDX-License-Identifier: BSD-3-Clause
// Operations and bytes of generated kernels grow with the degree as theory says, while the length of their text hardly
// grows.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/schedule/counts.hpp>
#include <rafter/schedule/mapping.hpp>
#include <tests/support/operator_problems.hpp>
#include <tests/support/text_device.hpp>

namespace rafter::test {
namespace {

constexpr int max_degree = 8;

struct FormCase {
  std::string name, text;
  int num_slots = 1; ///< number of values and derivatives per component
  bool is_vector = false;
};
const std::vector<FormCase>& form_cases() {
  static const std::vector<FormCase> list{{"mass", "u*v*dx"},
                                          {"laplace", "inner(grad(u), grad(v))*dx", 3},
                                          {"helmholtz", helmholtz_form(), 4},
                                          {"elasticity", elasticity_form(3), 3, true}};
  return list;
}

/// Returns the only kernel of a form on one cell of a shape, with the rule of p+1 (or more) points per direction.
op::KernelInfo kernel_of(const FormCase& form, const std::string& shape, int degree, const std::string& plan = "",
                         int geometry_degree = 1, int extra_points = 1) {
  mesh::Mesh mesh = geometry_degree == 1 ? box(shape, 1) : curved_box(shape, geometry_degree);
  Problem problem(std::move(mesh), degree, form.is_vector ? 3 : 0);
  problem.with("kappa", 0.7);
  op::OperatorOptions options = planned({.shared_device = std::make_shared<TextDevice>(), .plan = plan});
  options.quadrature.points = degree + extra_points;
  const op::Operator A(problem.form(form.text), options);
  EXPECT_EQ(A.kernels().info().size(), 1U);
  return A.kernels().info().front();
}

/// Returns the slope of log(values) over log(p + 1) by least squares, over degrees first .. max_degree.
double slope(const std::vector<double>& values, int first) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = std::log(first + static_cast<double>(i) + 1), y = std::log(values[i]);
    n += 1, sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

template <class Measure>
double slope_of(const FormCase& form, const std::string& shape, const std::string& plan, const Measure& measure,
                int geometry_degree = 1) {
  std::vector<double> values;
  for (int degree = 3; degree <= max_degree; ++degree)
    values.push_back(measure(kernel_of(form, shape, degree, plan, geometry_degree)));
  return slope(values, 3);
}

double effective_flops(const op::KernelInfo& info) {
  return info.counts.effective_flops / static_cast<double>(info.num_cells);
}
double executed_flops(const op::KernelInfo& info) {
  return schedule::count(schedule::read(info.loop_program)).flops / 8; // a batch has 8 cells
}

/// The map of a line of N = p + 1 numbers to N others costs N (2N - 1). The slope is 4 and, because of the -1, up to
/// 0.1 more at these degrees.
constexpr double slack = 0.1;

TEST(Operations, SumFactorisedHexahedraNeedOrderPPerDof) {
  for (const auto& form : form_cases()) {
    for (const char* contraction : {"collocated", "per-derivative"}) {
      const std::string plan = std::string("contraction=") + contraction;
      const double effective = slope_of(form, "hexahedron", plan, effective_flops);
      const double executed = slope_of(form, "hexahedron", plan, executed_flops);
      EXPECT_LE(effective, 4 + slack) << form.name << " " << plan;
      EXPECT_LE(executed, 4 + slack) << form.name << " " << plan;
      EXPECT_GE(effective, 3.0) << form.name << " " << plan; // every dof takes part in the contractions
      RecordProperty(form.name + "_" + contraction, std::to_string(effective));
    }
    for (const char* plan : {"factors=recompute", "factors=store"}) {
      const double curved = slope_of(form, "hexahedron", plan, effective_flops, 2);
      EXPECT_LE(curved, 4 + slack) << form.name << " " << plan;
    }
  }
}

TEST(Operations, SumFactorisedQuadrilateralsNeedOrderPPerDof) {
  for (const auto& form : form_cases()) {
    if (form.is_vector) continue;
    EXPECT_LE(slope_of(form, "quadrilateral", "", effective_flops), 3 + slack) << form.name;
    EXPECT_LE(slope_of(form, "quadrilateral", "", executed_flops), 3 + slack) << form.name;
  }
}

TEST(Operations, DenseContractionsNeedDofsTimesPoints) {
  for (const auto& form : form_cases())
    for (const std::string shape : {"tetrahedron", "hexahedron"}) {
      const auto element_shape = element::shape_from_name(shape);
      std::vector<double> flops;
      for (int degree = 3; degree <= 6; ++degree) {
        const auto info = kernel_of(form, shape, degree, "contraction=dense");
        const double components = form.is_vector ? 3 : 1;
        const double dofs = element::make_element(element::Family::lagrange, element_shape, degree)->num_dofs();
        // B and B^T each take one multiplication and one addition per entry.
        const double contractions = 4 * form.num_slots * components * dofs * info.num_points;
        flops.push_back(effective_flops(info));
        EXPECT_LE(flops.back(), contractions + 60 * components * info.num_points) << form.name << " " << degree;
        const double sectors = shape == "tetrahedron" ? 4 : 1; // two reflections split the tables of the tetrahedron
        EXPECT_GE(flops.back(), 0.9 * contractions / sectors) << form.name << " " << degree;
      }
      if (shape == "hexahedron") {
        EXPECT_NEAR(slope(flops, 3), 6, slack) << form.name;
      }
    }
}

TEST(Operations, ExecutedOnesAreAtMostTheCountedOnes) {
  // Even-odd matrices halve the contractions, and nothing else may add work.
  for (const auto& form : form_cases())
    for (const int degree : {1, 2, 4, 8}) {
      const auto info = kernel_of(form, "hexahedron", degree);
      // The algorithm's count does not have the additions of the scatter to shared dofs.
      const double dofs = std::pow(degree + 1, 3) * (form.is_vector ? 3 : 1);
      EXPECT_LE(executed_flops(info), effective_flops(info) + dofs) << form.name << " degree " << degree;
      const auto halves = kernel_of(form, "hexahedron", degree, "even_odd=4");
      const auto plain = kernel_of(form, "hexahedron", degree, "even_odd=0");
      EXPECT_LE(executed_flops(halves), executed_flops(plain)) << form.name << " degree " << degree;
      EXPECT_LE(executed_flops(info), executed_flops(plain)) << form.name << " degree " << degree;
    }
}

TEST(Operations, ElasticityWithTwoMorePointsThanDegreesTakesAboutThreeHundredPerUnknown) {
  // A large mesh has 3 p^3 unknowns per cell; both material parameters vary.
  const FormCase form{"elasticity", "inner(kappa*div(u)*Identity(3) + 2*kappa*sym(grad(u)), sym(grad(v)))*dx", 3, true};
  for (const auto& [degree, most] : {std::pair{4, 366.0}, std::pair{6, 314.0}, std::pair{8, 306.0}})
    for (const auto& [plan, geometry_degree] : {std::pair{"factors=recompute", 1}, std::pair{"factors=store", 2}}) {
      const auto info = kernel_of(form, "hexahedron", degree, plan, geometry_degree, 2);
      const double per_unknown = executed_flops(info) / (3 * std::pow(degree, 3));
      EXPECT_LE(per_unknown, most) << degree << " " << plan;
      RecordProperty("elasticity_p" + std::to_string(degree) + "_" + plan, std::to_string(per_unknown));
    }
}

TEST(Operations, EvenOddSavesAQuarterAtHighDegree) {
  for (const auto& form : form_cases()) {
    const auto with = kernel_of(form, "hexahedron", max_degree);
    const auto without = kernel_of(form, "hexahedron", max_degree, "even_odd=0");
    EXPECT_LE(executed_flops(with), 0.75 * executed_flops(without)) << form.name;
  }
}

TEST(Operations, ThePlainMappingCountsTheSameWork) {
  for (const auto& form : form_cases()) {
    const std::string plan = " contraction=per-derivative even_odd=0"; // nothing is then done once for eight cells
    const auto plain = kernel_of(form, "hexahedron", 3, "mapping=plain" + plan);
    EXPECT_EQ(plain.plan[schedule::key::mapping].name, "plain");
    EXPECT_GT(plain.counts.flops, 0);
    const auto simd = kernel_of(form, "hexahedron", 3, "mapping=simd_cells" + plan);
    EXPECT_EQ(plain.counts.effective_flops, simd.counts.effective_flops);
    const auto num_places = static_cast<double>(simd.num_batches * 8);
    EXPECT_EQ(plain.counts.flops / static_cast<double>(plain.num_cells), simd.counts.flops / num_places) << form.name;
  }
}

TEST(Traffic, BytesPerCellAreThoseOfVectorsAndStoredFactors) {
  for (int degree = 1; degree <= max_degree; ++degree) {
    const auto affine = schedule::count(
        schedule::read(kernel_of(form_cases()[1], "hexahedron", degree, "contraction=collocated").loop_program));
    const double dofs = std::pow(degree + 1, 3), interior = std::pow(degree - 1, 3);
    // Each dof of eight cells is written once. The loop that clears what the batch touches first counts as one number.
    EXPECT_EQ(affine.global.written_bytes, 64 * dofs + 8) << degree;
    // Reads are the input once, the entries of shared dofs to which the result is added, and the factors: six numbers
    // per cell at most, or the map.
    const double vectors = 64 * (dofs + dofs - interior);
    EXPECT_GE(affine.global.read_bytes, vectors) << degree;
    EXPECT_LE(affine.global.read_bytes, vectors + 64 * 12) << degree;
    const auto curved = schedule::count(
        schedule::read(kernel_of(form_cases()[1], "hexahedron", degree, "factors=store-merged", 2).loop_program));
    EXPECT_EQ(curved.global.read_bytes, vectors + 64 * 6 * dofs) << degree; // six factors per point
  }
}

// --- text ------------------------------------------------------------------------------------------------------------

std::size_t num_nodes(const schedule::NodePtr& node, std::set<const schedule::Node*>& seen) {
  if (!seen.insert(node.get()).second) return 0;
  std::size_t sum = 1;
  for (const auto& operand : node->operands) sum += num_nodes(operand, seen);
  return sum;
}
std::size_t num_nodes(const op::KernelInfo& info) {
  std::set<const schedule::Node*> seen;
  return num_nodes(schedule::read(info.loop_program).body, seen);
}

TEST(Text, StaysUnderFiftyKilobytesAtEveryDegree) {
  for (const auto& form : form_cases())
    for (const char* shape : {"hexahedron", "tetrahedron"})
      for (int degree = 1; degree <= max_degree; ++degree) {
        const std::size_t size = kernel_of(form, shape, degree).source.size();
        EXPECT_LT(size, 50'000U) << form.name << " " << shape << " degree " << degree;
        RecordProperty(form.name + "_" + shape + "_p" + std::to_string(degree) + "_bytes", std::to_string(size));
      }
}

TEST(Text, HardlyGrowsWithTheDegree) {
  for (const auto& form : form_cases())
    for (const char* shape : {"hexahedron", "tetrahedron"}) {
      // The text holds the tables of tetrahedra below degree 4 only.
      const int first = std::string(shape) == "tetrahedron" ? 4 : 2;
      const auto low = kernel_of(form, shape, first), high = kernel_of(form, shape, max_degree);
      EXPECT_LT(high.source.size(), 4 * low.source.size()) << form.name << " " << shape;
      EXPECT_LT(num_nodes(high), 4 * num_nodes(low)) << form.name << " " << shape;
      RecordProperty(form.name + "_" + shape + "_growth",
                     std::to_string(static_cast<double>(high.source.size()) / static_cast<double>(low.source.size())));
    }
}

TEST(Text, NodesStayFew) {
  for (const auto& form : form_cases())
    for (const char* shape : {"hexahedron", "tetrahedron"})
      for (int degree = 1; degree <= max_degree; ++degree)
        EXPECT_LT(num_nodes(kernel_of(form, shape, degree)), 10'000U) << form.name << " " << shape << " " << degree;
}

TEST(Text, IsTheSameForTheSameProblem) {
  for (const char* shape : {"hexahedron", "tetrahedron"})
    EXPECT_EQ(kernel_of(form_cases()[3], shape, 2).source, kernel_of(form_cases()[3], shape, 2).source);
}

TEST(Text, DoesNotDependOnTheMesh) {
  const auto source = [](mesh::Mesh mesh) {
    Problem problem(std::move(mesh), 3);
    const op::Operator A(problem.form("inner(grad(u), grad(v))*dx"),
                         planned({.shared_device = std::make_shared<TextDevice>()}));
    return A.kernels().info().front().source;
  };
  EXPECT_EQ(source(box("hexahedron", 1)), source(scrambled(box("hexahedron", 3), 4)));
}

} // namespace
} // namespace rafter::test
