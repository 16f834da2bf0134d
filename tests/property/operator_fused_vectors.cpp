// SPDX-License-Identifier: BSD-3-Clause
// Work on vectors that is fused into an application sees every entry once before and once after the kernels do, and the
// application gives the same bits as without it.
#include <gtest/gtest.h>

#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/operator/run/touched_ranges.hpp>
#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// This gives entries of x to the kernels as late as is allowed, and overwrites both vectors with NaN as early as is
/// allowed. A kernel that reads too early or too late reads NaN, and what it writes too early or too late is lost.
class Spoiler {
public:
  Spoiler(const op::LinearOperator& A, const Vector& x)
      : A_(A), x_(x), shown_(A.device(), x.size()), image_(A.device(), x.size()), num_before_(x.size(), 0),
        num_after_(x.size(), 0), result_(x.size(), 0.0) {
    fill(shown_, nan);
    fill(image_, nan);
  }

  std::vector<double> run() {
    const auto given = x_.host_read();
    std::span<double> shown, image;
    const auto take_values = [&] {
      shown = shown_.host_write();
      image = image_.host_write();
    };
    const bool is_shared = A_.device()->shares_host_memory();
    if (is_shared) take_values(); // once, because functions of parts run on several threads
    A_.apply_with(shown_, image_,
                  {.before =
                       [&](std::int64_t part, std::span<const op::EntryRange> ranges) {
                         expect_part(part);
                         if (!is_shared) take_values();
                         each(ranges, [&](std::size_t e) {
                           ++num_before_[e];
                           shown[e] = given[e];
                           image[e] = 1e300;
                         });
                       },
                   .after =
                       [&](std::int64_t part, std::span<const op::EntryRange> ranges) {
                         expect_part(part);
                         if (!is_shared) take_values();
                         each(ranges, [&](std::size_t e) {
                           EXPECT_EQ(num_before_[e], 1) << "entry " << e;
                           EXPECT_EQ(shown[e], given[e]) << "entry " << e;
                           ++num_after_[e];
                           result_[e] = image[e];
                           shown[e] = image[e] = nan;
                         });
                       }});
    EXPECT_EQ(num_before_, std::vector<int>(x_.size(), 1));
    EXPECT_EQ(num_after_, std::vector<int>(x_.size(), 1));
    for (const double value : image_.host_read()) EXPECT_TRUE(std::isnan(value)); // nothing was written afterwards
    return result_;
  }

private:
  /// Devices with memory of their own work on all parts at once.
  void expect_part(std::int64_t part) const {
    if (A_.device()->shares_host_memory())
      EXPECT_TRUE(part >= 0 && part < A_.num_parts());
    else
      EXPECT_EQ(part, op::VectorWork::all_parts);
  }
  template <class Function> static void each(std::span<const op::EntryRange> ranges, const Function& function) {
    EXPECT_FALSE(ranges.empty());
    for (const auto& range : ranges) {
      EXPECT_LT(range.begin, range.end);
      for (auto e = range.begin; e < range.end; ++e) function(static_cast<std::size_t>(e));
    }
  }
  static void fill(Vector& vector, double value) {
    for (double& entry : vector.host_overwrite()) entry = value;
  }
  const op::LinearOperator& A_;
  const Vector& x_;
  Vector shown_, image_;
  std::vector<int> num_before_, num_after_; ///< number of calls for each entry
  std::vector<double> result_;
};

void expect_same_as_apply(const op::Operator& A) {
  const Vector x = random_vector(A, 4);
  const auto expected = values_of(applied(A, x));
  for (int run = 0; run < 2; ++run) EXPECT_EQ(Spoiler(A, x).run(), expected) << "run " << run;
}

class FusedVectors : public ::testing::TestWithParam<std::string> {};

TEST_P(FusedVectors, KernelsOfCellsAndFacetsComeBetween) {
  for (const int degree : {1, 2, 3}) {
    Problem problem(scrambled(curved_box(GetParam(), 1), 3), degree);
    problem.with("kappa", 0.7);
    for (const std::string facets : {"", " + kappa*u*v*ds(1)", " + kappa*u*v*ds((1, 2)) + u*v*ds"}) {
      SCOPED_TRACE(std::to_string(degree) + facets);
      expect_same_as_apply(op::Operator(problem.form(helmholtz_form() + facets), interpreted()));
    }
  }
}

TEST(RidingPatches, KernelsOfPatchesComeBetween) {
  for (const std::string shape : {"quadrilateral", "hexahedron"})
    for (const int degree : {1, 2}) {
      SCOPED_TRACE(shape + std::to_string(degree));
      Problem problem(box(shape, 9), degree, 0, {.cells_per_batch = 4 << box_dimension(shape), .patch_width = 2});
      problem.with("kappa", 0.7);
      auto options = interpreted();
      options.plan = "vector_width=4";
      expect_same_as_apply(op::Operator(problem.form(std::string(helmholtz_form()) + " + kappa*u*v*ds(1)"), options));
    }
}

TEST_P(FusedVectors, KernelsReadZeroAtConstrainedUnknownsAndTheWorkDoesNot) {
  Problem problem(scrambled(curved_box(GetParam(), 1), 5), 2, 2);
  problem.with("kappa", 0.7);
  const auto zero = [](auto, auto) { return 0.0; };
  for (const std::vector<std::int32_t>& tags : {std::vector<std::int32_t>{}, {1}}) {
    auto options = interpreted();
    options.dirichlet = {dirichlet(problem.space(), zero, tags)};
    expect_same_as_apply(
        op::Operator(problem.form("(inner(grad(u), grad(v)) + kappa*inner(u, v))*dx + inner(u, v)*ds(2)"), options));
  }
}

TEST_P(FusedVectors, UnknownsThatNoKernelTouchesAreServedToo) {
  const Problem problem(scrambled(box(GetParam()), 3), {{.degree = 2, .name = "a"}, {.degree = 1, .name = "b"}});
  for (const char* text : {"a*v_a*dx", "b*v_b*dx", "a*v_b*dx", "b*v_b*ds(1)", "a*v_a*dx + b*v_b*ds(1)"}) {
    SCOPED_TRACE(text);
    expect_same_as_apply(op::Operator(problem.form(text), problem.system(), interpreted()));
  }
}

TEST_P(FusedVectors, AnyNumberOfThreadsGivesTheSameBits) {
  const std::string shape = GetParam();
  Problem problem(scrambled(box(shape, shape == "interval" ? 400 : box_dimension(shape) == 2 ? 14 : 5), 3), 2);
  problem.with("kappa", 0.7);
  for (const int threads : {1, 2, 3, 4}) {
    SCOPED_TRACE(threads);
    expect_same_as_apply(op::Operator(
        problem.form(std::string(helmholtz_form()) + " + kappa*u*v*ds(1)"),
        planned({.threads = threads, .dirichlet = {dirichlet(problem.space(), [](auto, auto) { return 0.0; }, {2})}})));
  }
}

INSTANTIATE_TEST_SUITE_P(every_shape, FusedVectors, ::testing::ValuesIn(box_shapes()),
                         [](const auto& shape) { return shape.param; });

TEST(TouchedRanges, LongChunksAreCutIntoSeveral) {
  // All cells have one kind of map.
  Problem problem(curved_box("hexahedron", 1, 6), {{.degree = 4}}, {.batches_per_chunk = 14});
  problem.with("kappa", 0.7);
  const op::Operator A(problem.form(helmholtz_form()), planned({.threads = 2}));
  const auto& parts = A.kernels().touched_ranges();
  for (const auto& stage : parts.stages)
    for (const auto& [first, last] : stage) EXPECT_GT(last, first);
  expect_same_as_apply(A);
}

TEST(TouchedRanges, WhatAPartTouchesFirstIsOneRangePerField) {
  const Problem problem(scrambled(box("hexahedron", 4), 3), {{.degree = 3, .name = "a"}, {.degree = 2, .name = "b"}});
  const op::Operator A(problem.form("(a + b)*(v_a + v_b)*dx"), problem.system(), interpreted());
  const auto& touched = A.kernels().touched_ranges();
  ASSERT_GT(touched.parts.size(), 4U);
  for (std::size_t part = 0; part < touched.parts.size(); ++part) {
    const bool is_padding = touched.parts[part].batch_begin == touched.parts[part].batch_end;
    EXPECT_EQ(touched.before[part].size(), is_padding ? 1U : 2U) << part;
  }
}

/// A tridiagonal matrix works on any device.
class Difference final : public op::LinearOperator {
public:
  Difference(std::int64_t size, const std::string& device) : size_(size), device_(device::make_device(device, 2)) {}
  std::int64_t size() const override { return size_; }
  std::shared_ptr<device::Device> device() const override { return device_; }
  void apply(const Vector& x, Vector& y) const override {
    const auto in = x.host_read();
    const auto out = y.host_overwrite();
    for (std::size_t i = 0; i < in.size(); ++i)
      out[i] = 2 * in[i] - (i > 0 ? in[i - 1] : 0) - (i + 1 < in.size() ? in[i + 1] : 0);
  }
  void diagonal(Vector& d) const override {
    for (double& entry : d.host_overwrite()) entry = 2;
  }

private:
  std::int64_t size_;
  std::shared_ptr<device::Device> device_;
};

TEST(RidingDefault, ServesAnyOperatorOnAnyDevice) {
  for (const char* device : {"host", "checked"})
    for (const std::int64_t size : {1, 4096, 10'000}) {
      const Difference A(size, device);
      Vector x(A.device(), static_cast<std::size_t>(size)), y(A.device(), static_cast<std::size_t>(size));
      fill_random(x, 2);
      A.apply(x, y);
      EXPECT_EQ(Spoiler(A, x).run(), values_of(y)) << device << " " << size;
    }
}

TEST(RidingDefault, ServesKernelsInMemoryOfTheirOwn) {
  Problem problem(scrambled(box("hexahedron"), 3), 2);
  problem.with("kappa", 0.7);
  expect_same_as_apply(op::Operator(problem.form(helmholtz_form()), planned({.device = "checked"})));
}

} // namespace
} // namespace rafter::test
