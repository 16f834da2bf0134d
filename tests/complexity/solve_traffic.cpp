// SPDX-License-Identifier: BSD-3-Clause
// An iteration of conjugate gradients moves as many bytes between cache and memory as theory says. A simulated cache
// counts them, from the order in which fused work and kernels touch vectors.
#include <gtest/gtest.h>

#include <cmath>
#include <list>
#include <unordered_map>

#include <rafter/operator/generate/kernel_info.hpp>
#include <rafter/operator/run/form_kernels.hpp>
#include <rafter/operator/run/touched_ranges.hpp>
#include <rafter/solve/cg.hpp>
#include <rafter/space/function_space.hpp>
#include <tests/support/interpreter_device.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

/// The cache is fully associative and evicts the least recently used line. It counts the bytes of lines that are loaded
/// and of changed lines that are written back.
class Cache {
public:
  explicit Cache(std::size_t bytes) : capacity_(bytes / line_bytes) {}
  static constexpr std::size_t line_bytes = 64;

  void touch(int array, std::int64_t byte, bool is_written) {
    const std::int64_t line = (std::int64_t{array} << 48) + byte / static_cast<std::int64_t>(line_bytes);
    const auto found = places_.find(line);
    if (found != places_.end()) {
      lines_.splice(lines_.begin(), lines_, found->second);
    } else {
      if (lines_.size() == capacity_) evict();
      lines_.push_front({line, false});
      places_[line] = lines_.begin();
      traffic_bytes_ += line_bytes;
    }
    lines_.front().is_changed |= is_written;
  }
  void flush() {
    while (!lines_.empty()) evict();
  }
  double traffic_bytes() const { return static_cast<double>(traffic_bytes_); }

private:
  struct Line {
    std::int64_t number;
    bool is_changed;
  };
  void evict() {
    if (lines_.back().is_changed) traffic_bytes_ += line_bytes;
    places_.erase(lines_.back().number);
    lines_.pop_back();
  }
  std::size_t capacity_, traffic_bytes_ = 0;
  std::list<Line> lines_; ///< the most recently used line is first
  std::unordered_map<std::int64_t, std::list<Line>::iterator> places_;
};

enum Array : int { x, r, p, q, operator_data };

/// This is one iteration without preconditioner, in the order in which one thread does it.
class Iteration {
public:
  Iteration(const op::Operator& A, Cache& cache) : A_(A), cache_(cache) {
    const auto counts = A.kernels().counts();
    std::int64_t batches = 0;
    for (const auto& info : A.kernels().info()) batches += info.num_batches;
    data_per_batch_ = (counts.global_bytes_read - 8.0 * static_cast<double>(A.size())) / static_cast<double>(batches);
  }

  void run() {
    const auto& touched = A_.kernels().touched_ranges();
    for (std::size_t part = 0; part < touched.parts.size(); ++part) {
      each(touched.before[part], {x, r, p}, {q});
      for (auto batch = touched.parts[part].batch_begin; batch < touched.parts[part].batch_end; ++batch)
        run_kernel(static_cast<int>(touched.parts[part].block), batch);
      each(touched.after[part], {}, {r, p, q});
    }
    cache_.flush();
  }

private:
  void each(std::span<const op::EntryRange> ranges, std::initializer_list<Array> changed,
            std::initializer_list<Array> read) {
    for (const auto& range : ranges)
      for (std::int64_t e = range.begin; e < range.end; ++e) {
        for (const auto array : changed) cache_.touch(array, 8 * e, true);
        for (const auto array : read) cache_.touch(array, 8 * e, false);
      }
  }
  void run_kernel(int block, std::int32_t batch) {
    const auto& space = *A_.system().spaces.front();
    std::vector<std::int32_t> dofs(static_cast<std::size_t>(space.block(block).layout.element->num_dofs()));
    for (int cell = 0; cell < space.batches().num_active(block, batch); ++cell) {
      space.cell_dofs(block, batch, cell, dofs);
      for (const auto dof : dofs) {
        cache_.touch(p, 8 * dof, false);
        cache_.touch(q, 8 * dof, true);
      }
    }
    for (const double end = data_at_ + data_per_batch_; data_at_ < end; data_at_ += Cache::line_bytes)
      cache_.touch(operator_data, static_cast<std::int64_t>(data_at_), false);
  }
  const op::Operator& A_;
  Cache& cache_;
  double data_per_batch_ = 0, data_at_ = 0;
};

/// Cells are trilinear, and factors are recomputed; the four vectors are several times as large as the cache.
class Traffic : public ::testing::TestWithParam<int> {};

TEST_P(Traffic, OfAFusedIterationIsThatOfEveryVectorOnce) {
  const int degree = GetParam();
  // Chunks of low degrees have their full length from this size on.
  const int n = degree <= 2 ? 32 : 2 * (30 / degree / 2 + 2);
  const Problem problem(curved_box("hexahedron", 1, n), degree);
  const op::Operator A(problem.form("inner(grad(u), grad(v))*dx"),
                       planned({.shared_device = std::make_shared<InterpreterDevice>(),
                                .quadrature = {.kind = element::QuadratureKind::gll, .points = degree + 1},
                                .plan = "factors=recompute"}));
  const auto dofs = static_cast<double>(A.size());
  const std::size_t cache_bytes = std::size_t{1} << 18;
  ASSERT_GT(4 * 8 * dofs, 3.0 * static_cast<double>(cache_bytes));
  Cache cache(cache_bytes);
  Iteration(A, cache).run();

  const double found = cache.traffic_bytes() / dofs;
  const double data = A.kernels().counts().global_bytes_read / dofs - 8;
  const solvers::Identity identity(A.device());
  const double counted = solvers::cg_vector_bytes(identity, true).sum() + data;
  EXPECT_GE(found, 0.99 * counted); // the lines of the last entries are shared
  const double p3 = std::pow(degree, 3);
  const double target = 88 + (4 * std::pow(degree + 1, 3) + 192) / p3;
  EXPECT_LE(found, target);
  RecordProperty("bytes_per_unknown", std::to_string(found));
  RecordProperty("counted", std::to_string(counted));
  RecordProperty("target", std::to_string(target));
}

INSTANTIATE_TEST_SUITE_P(degrees, Traffic, ::testing::Values(1, 2, 3, 4, 5, 6, 7, 8),
                         [](const auto& degree) { return "p" + std::to_string(degree.param); });

} // namespace
} // namespace rafter::test
