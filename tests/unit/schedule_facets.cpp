// SPDX-License-Identifier: BSD-3-Clause
// Kernels of facets, whose local numbers are data of batches, compute what their tensor programs mean.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <rafter/schedule/loop_program.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/space/index_tables.hpp>
#include <rafter/space/layout.hpp>
#include <tests/support/kernel_forms.hpp>

namespace rafter::test {
namespace {

using element::Shape;

/// Numbers of no pattern.
std::vector<double> numbers(std::size_t count, double first) {
  std::vector<double> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(std::sin(3.0 * static_cast<double>(i) + first));
  return result;
}

/// A program of facets of one shape, and a batch for each of them, those of the last facet first. Cells are those of
/// lists that share no unknown, and every other batch, the first one too, is not full.
class BatchesOfFacets {
public:
  static constexpr int num_cells = 8; ///< cells of a batch

  BatchesOfFacets(Shape shape, Shape facet_shape, const std::string& text) : dim_(element::dimension(shape)) {
    kernel::ProgramInput input;
    const auto form = lowered(text, shape, 1);
    const kernel::IntegralPart part{&form.integrals[0], -1};
    input.function = kernel::pull_back({&part, 1}, shape, mesh::MapKind::affine, true);
    input.fields.quadrature = element::make_quadrature(facet_shape, facet_shape == Shape::point ? 0 : 4);
    const auto element = element::make_element(element::Family::lagrange, shape, 2);
    has_vectors_ = form.rank == 2;
    if (has_vectors_) {
      input.fields.inputs = {{kernel::AtomKind::reference_trial, 0, 1, element}};
      input.fields.outputs = {{kernel::AtomKind::reference_test, 0, 1, element}};
    }
    for (int facet = 0; facet < element::num_facets(shape); ++facet) {
      if (element::facet_shape(shape, facet) != facet_shape) continue;
      const auto normal = element::reference_normal(shape, facet);
      input.fields.local_facets.push_back(facet);
      normals_.insert(normals_.end(), normal.begin(), normal.begin() + dim_);
    }
    input.contraction = kernel::Contraction::dense;
    num_dofs_ = element->num_dofs();
    layout_ = space::make_broken_layout(element);
    program_ = kernel::build_program(input);
    const auto all_cells = static_cast<std::size_t>(num_batches() * num_cells);
    map_ = numbers(all_cells * static_cast<std::size_t>((dim_ + 1) * dim_), 1);
    for (std::size_t i = 0; i < map_.size(); ++i) { // shape (batch, mode, axis, cell): the derivatives are no wild ones
      const int entry = static_cast<int>(i) / num_cells % ((dim_ + 1) * dim_);
      if (entry / dim_ == entry % dim_ + 1) map_[i] += 3;
    }
    input_ = numbers(all_cells * static_cast<std::size_t>(num_dofs_), 2);
  }

  int num_batches() const { return program_.num_facets(); }
  int facet_of(int batch) const { return num_batches() - 1 - batch; }
  static int num_active(int batch) { return batch % 2 == 0 ? 5 : num_cells; }

  /// What the kernel of a plan makes: the output vector, or the values of a functional in each cell.
  std::vector<double> run(const std::string& text) {
    auto plan = schedule::parse_plan(text);
    program_.batches = {.cells_per_batch = num_cells, .patterns = {&layout_}, .has_lists = true};
    schedule::LoweringInput input;
    input.program = &program_;
    const auto loops = schedule::lower(input, plan);
    const auto batches = static_cast<std::size_t>(num_batches());
    std::vector<std::int32_t> facets, active, starts, rows(batches);
    for (int batch = 0; batch < num_batches(); ++batch) {
      facets.push_back(facet_of(batch));
      active.push_back(num_active(batch));
      for (int cell = 0; cell < num_cells; ++cell) starts.push_back(batch * num_dofs_ * num_cells + cell);
    }
    std::iota(rows.begin(), rows.end(), 0);
    std::map<std::string, std::vector<std::int32_t>> integers{
        {schedule::role::mode, {0, 0}},
        {schedule::role::num_active, active},
        {schedule::role::data_rows, rows},
        {schedule::role::facet, facets},
        {space::role::interior_starts, starts},
        {space::role::interior_strides, std::vector<std::int32_t>(starts.size(), num_cells)}};
    std::vector<double> output(has_vectors_ ? input_.size() : batches * num_cells, 0.0), parameters{0.7};
    std::map<std::string, std::vector<double>*> reals{
        {schedule::role::input_vector, &input_},      {schedule::role::output_vector, &output},
        {schedule::role::integral, &output},          {schedule::role::map, &map_},
        {schedule::role::parameters, &parameters},    {schedule::role::points, &program_.points},
        {schedule::role::weights, &program_.weights}, {schedule::role::reference_normal, &normals_}};
    auto tables = schedule::packed_tables(program_, plan);
    std::vector<schedule::Argument> arguments;
    for (const auto& argument : loops.arguments())
      if (argument.role == schedule::role::matrix)
        arguments.push_back({.reals = tables[static_cast<std::size_t>(argument.index)], .integers = {}});
      else if (argument.type == schedule::Type::integer)
        arguments.push_back({.reals = {}, .integers = integers.at(argument.role)});
      else
        arguments.push_back({.reals = *reals.at(argument.role), .integers = {}});
    schedule::interpret(loops, arguments, 0, num_batches());
    return output;
  }

  /// The same by the tensor program, cell by cell.
  std::vector<double> meaning() const {
    std::vector<double> result(has_vectors_ ? input_.size() : static_cast<std::size_t>(num_batches() * num_cells));
    for (int batch = 0; batch < num_batches(); ++batch)
      for (int cell = 0; cell < num_active(batch); ++cell) {
        const auto place = [&](int entry, int entries) {
          return static_cast<std::size_t>((batch * entries + entry) * num_cells + cell);
        };
        kernel::CellData data;
        data.parameters = {0.7};
        data.facet = facet_of(batch);
        data.reference_normal.assign(normals_.begin() + data.facet * dim_, normals_.begin() + (data.facet + 1) * dim_);
        for (int i = 0; i < (dim_ + 1) * dim_; ++i) data.map.push_back(map_[place(i, (dim_ + 1) * dim_)]);
        data.inputs.emplace_back();
        for (int i = 0; i < num_dofs_; ++i) data.inputs[0].push_back(input_[place(i, num_dofs_)]);
        const auto found = kernel::interpret(program_, data);
        if (has_vectors_)
          for (int i = 0; i < num_dofs_; ++i)
            result[place(i, num_dofs_)] = found.outputs[0][static_cast<std::size_t>(i)];
        else
          result[place(0, 1)] = found.integrals[0];
      }
    return result;
  }

private:
  int dim_, num_dofs_ = 0;
  bool has_vectors_ = false;
  kernel::TensorProgram program_;
  space::ElementLayout layout_;
  std::vector<double> input_, map_, normals_;
};

class KernelsOfFacets : public ::testing::TestWithParam<Shape> {};

TEST_P(KernelsOfFacets, TakeTheFacetOfTheBatch) {
  const Shape shape = GetParam();
  for (const auto facet_shape : {Shape::point, Shape::interval, Shape::triangle, Shape::quadrilateral}) {
    bool has_any = false;
    for (int facet = 0; facet < element::num_facets(shape); ++facet)
      has_any |= element::facet_shape(shape, facet) == facet_shape;
    if (!has_any) continue;
    for (const char* text :
         {"(kappa*u*v + (1 + x[0]*x[0])*dot(n, grad(u))*v + x[0]*inner(grad(u), grad(v)))*ds", "(1 + x[0]*n[0])*ds"}) {
      BatchesOfFacets batches(shape, facet_shape, text);
      const auto expected = batches.meaning();
      double scale = 0;
      for (const double value : expected) scale = std::max(scale, std::fabs(value));
      EXPECT_GT(scale, 0);
      for (const char* plan :
           {"mapping=plain contraction=dense", "mapping=plain contraction=dense unroll=4096",
            "mapping=simd_cells contraction=dense", "mapping=simd_cells contraction=dense unroll=4096 vector_width=4",
            "mapping=simd_cells contraction=dense unroll=0 rows=3 vector_width=4 subbatches=2"}) {
        SCOPED_TRACE(fmt::format("{} of {}, {}, {}", element::name(facet_shape), element::name(shape), text, plan));
        const auto found = batches.run(plan);
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-13 * scale) << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(every_shape, KernelsOfFacets, ::testing::ValuesIn(element::all_cell_shapes),
                         [](const auto& shape) { return std::string(element::name(shape.param)); });

} // namespace
} // namespace rafter::test
