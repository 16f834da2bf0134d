// SPDX-License-Identifier: BSD-3-Clause
// Several threads apply one operator at the same time, each to vectors of its own: everyone finds what one alone finds.
#include <gtest/gtest.h>

#include <latch>
#include <thread>

#include <rafter/operator/linear_form.hpp>
#include <rafter/operator/run/sparse_matrix.hpp>
#include <tests/support/operator_problems.hpp>

namespace rafter::test {
namespace {

/// Runs body(number) on so many threads at the same time.
template <class Body> void on_threads(int count, const Body& body) {
  std::latch start(count);
  std::vector<std::jthread> threads;
  for (int number = 0; number < count; ++number)
    threads.emplace_back([number, &start, &body] {
      start.arrive_and_wait();
      body(number);
    });
}

/// A problem with constrained unknowns, facets, a field and a parameter of the form, which the operator stores numbers
/// of.
struct ThreadsCase {
  explicit ThreadsCase(const std::string& plan, int threads = 1) {
    problem.with("c", form::parameter("c"));
    auto options = planned({.threads = threads, .plan = plan});
    options.dirichlet = {dirichlet(problem.space(), [](auto, std::size_t) { return 1.0; }, {1})};
    A = std::make_unique<op::Operator>(problem.form("(c*inner(grad(u), grad(v)) + x[0]*u*v)*dx + c*u*v*ds(2)"),
                                       options);
    A->set("c", 2.0);
  }
  Problem problem{box("quadrilateral", 24), 2}; // large enough that threads meet within an application
  std::unique_ptr<op::Operator> A;
};

constexpr int num_threads = 3, num_repetitions = 1000;

/// Each thread must find with vectors of its own what one finds alone.
template <class Apply> void expect_same_on_threads(const op::Operator& A, const Apply& apply) {
  std::vector<std::vector<double>> expected;
  for (int number = 0; number < num_threads; ++number)
    expected.push_back(apply(A, random_vector(A, static_cast<unsigned>(number))));
  std::vector<int> num_wrong(num_threads, 0);
  on_threads(num_threads, [&](int number) {
    const auto n = static_cast<std::size_t>(number);
    const Vector x = random_vector(A, static_cast<unsigned>(number));
    for (int repetition = 0; repetition < num_repetitions; ++repetition)
      if (apply(A, x) != expected[n]) ++num_wrong[n];
  });
  EXPECT_EQ(num_wrong, std::vector<int>(num_threads, 0));
}

std::vector<double> action(const op::Operator& A, const Vector& x) { return values_of(applied(A, x)); }

TEST(OneOperatorOnThreads, AppliesAsOnOne) {
  for (const int threads : {1, 2}) expect_same_on_threads(*ThreadsCase("vector_width=4", threads).A, action);
}

TEST(OneOperatorOnThreads, AppliesItsMatrixAsOnOne) {
  expect_same_on_threads(*ThreadsCase("mapping=assembled").A, action);
}

TEST(OneOperatorOnThreads, AppliesFloatsAsOnOne) {
  expect_same_on_threads(*ThreadsCase("compute=float accumulate=float").A, action);
}

TEST(OneOperatorOnThreads, FusesWorkAsOnOne) {
  expect_same_on_threads(*ThreadsCase("vector_width=4", 2).A, [](const op::Operator& A, const Vector& x) {
    Vector from = A.make_vector(), y = A.make_vector();
    std::ranges::copy(x.host_read(), from.host_overwrite().begin());
    auto* const values = y.host_write().data();
    A.apply_with(from, y, {.before = {}, .after = [values](std::int64_t, std::span<const op::EntryRange> ranges) {
                             for (const auto& range : ranges)
                               for (auto i = range.begin; i < range.end; ++i) values[i] *= 2;
                           }});
    return values_of(y);
  });
}

TEST(OneOperatorOnThreads, MakesWhatIsAskedForFirstOnce) {
  const auto expected = [] {
    const ThreadsCase alone("vector_width=4");
    Vector d = alone.A->make_vector();
    alone.A->diagonal(d);
    return std::pair(values_of(d), alone.A->sparse_matrix().values);
  }();
  const ThreadsCase shared("vector_width=4");
  std::vector<int> num_wrong(num_threads, 0);
  on_threads(num_threads, [&](int number) {
    Vector d = shared.A->make_vector();
    shared.A->diagonal(d);
    auto& wrong = num_wrong[static_cast<std::size_t>(number)];
    if (values_of(d) != expected.first) ++wrong;
    if (shared.A->sparse_matrix().values != expected.second) ++wrong;
  });
  EXPECT_EQ(num_wrong, std::vector<int>(num_threads, 0));
}

TEST(OneFunctionalOnThreads, HasTheValueThatItHasOnOne) {
  const Problem problem(box("quadrilateral", 4), 2);
  op::Functional J(problem.functional("u*u*dx + u*ds(1)"), problem.system(), planned({.threads = 1}));
  const op::Operator A(problem.form("u*v*dx"), planned({.threads = 1}));
  const Vector u = random_vector(A, 1);
  const double expected = J(u);
  std::vector<int> num_wrong(num_threads, 0);
  on_threads(num_threads, [&](int number) {
    for (int repetition = 0; repetition < num_repetitions; ++repetition)
      if (J() != expected) ++num_wrong[static_cast<std::size_t>(number)];
  });
  EXPECT_EQ(num_wrong, std::vector<int>(num_threads, 0));
}

TEST(OneDiscretisationOnThreads, GivesItsOperatorsTheSameTables) {
  const Problem problem(box("mixed"), 2);
  (void)problem.mesh().topology();
  std::vector<std::vector<double>> results(num_threads);
  on_threads(num_threads, [&](int number) {
    for (int repetition = 0; repetition < 3; ++repetition) {
      const op::Operator A(problem.form("inner(grad(u), grad(v))*dx + u*v*ds"), planned({.threads = 1}));
      results[static_cast<std::size_t>(number)] = action(A, random_vector(A, 1));
    }
  });
  for (const auto& result : results) EXPECT_EQ(result, results.front());
}

} // namespace
} // namespace rafter::test
