// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <rafter/base/error.hpp>
#include <rafter/base/parallel.hpp>
#include <rafter/device/finish.hpp>
#include <rafter/io/problem.hpp>
#include <rafter/operator/run/entry_list.hpp>
#include <rafter/operator/run/form_data.hpp>
#include <rafter/problem/linear_solve.hpp>
#include <rafter/problem/preconditioner_choice.hpp>
#include <rafter/solve/near_null_space.hpp>
#include <rafter/solve/vector_ops.hpp>

#include <apps/rafter/stated_problem.hpp>

#include "bindings.hpp"
#include "handles.hpp"

namespace rafter::python {
namespace {

/// What a linear solve with an operator that exists is prepared with, but for its right-hand side.
problem::Request request_of(const io::Problem& file) {
  return {.statement = {},
          .solver = file.solver,
          .has_method = true, // another one would not take this preconditioner
          .has_preconditioner = true,
          .is_iterated = true,
          .method_reason = {},
          .progress = {}};
}

/// Where an operator is the identity: entries that conditions fix, and padding.
std::vector<std::int32_t> identity_entries(const op::Operator& A) {
  std::vector<std::int32_t> result;
  std::ranges::set_union(A.constrained_entries(), A.system().padding(), std::back_inserter(result));
  return result;
}

/// An approximate inverse of an operator, which must outlive it. It is the identity where the operator is: smoothers
/// scale such entries, which methods that do not keep them at zero residuals would see.
class Preconditioner {
public:
  /// `options`: a problem file, of which the section [solver] and conditions on the null space count.
  /// Throws the errors of LinearSolve.
  Preconditioner(const op::Operator& A, MeshHandle& mesh, const std::string& options, int threads)
      : A_(A), threads_(threads), identity_(A.device(), identity_entries(A)), version_(A.data().version()) {
    const base::ThreadLimit limit(threads_);
    const auto file = io::parse_problem(options, "options", "");
    request_ = request_of(file);
    const auto choice = app::preconditioner_of(file, mesh.generations());
    const auto null_space = app::null_space_of(file, A.system());
    parts_ = {.null_space = [&A, null_space] { return solvers::make_null_space(A, null_space); },
              .preconditioner =
                  [&A, choice, null_space](solvers::SolverOptions& solver) {
                    solver.near_null_space = [&A] { return solvers::make_near_null_space(A.system()); };
                    if (solvers::find_method(solver.method).is_direct) return;
                    if (solver.preconditioner == "multigrid")
                      solver.hierarchy = problem::make_hierarchy(A, *choice.multigrid, null_space);
                    if (solver.preconditioner == "block")
                      solver.blocks = problem::make_blocks(A, choice, *solver.null_space, null_space);
                  }};
    solve_ = std::make_unique<problem::LinearSolve>(request_, A, parts_);
  }

  /// z = M^-1 r. What others wrote to the entries of r counts: what the host knew of them is left.
  void apply(DeviceVector& r, DeviceVector& z) const {
    const auto size = static_cast<std::size_t>(A_.size());
    if (r.values.size() != size || z.values.size() != size)
      throw base::InputError("the preconditioner has " + std::to_string(size) + " rows, found vectors of " +
                             std::to_string(r.values.size()) + " and " + std::to_string(z.values.size()));
    if (&r == &z) throw base::InputError("the preconditioner takes two vectors, found one");
    const std::scoped_lock lock(mutex_); // it keeps vectors of its own
    const base::ThreadLimit limit(threads_);
    r.require_on(A_.device());
    z.require_on(A_.device());
    r.forget_host();
    const auto& null_space = solve_->options().null_space;
    if (null_space == nullptr || null_space->is_empty()) {
      solve_->preconditioner().apply(r.values, z.values);
    } else { // z has no part in the null space, and what r has there does not count, as symmetry needs it
      const solvers::VectorOps ops(A_.device());
      op::Vector balanced = A_.make_vector();
      ops.copy(r.values, balanced);
      null_space->project(balanced);
      solve_->preconditioner().apply(balanced, z.values);
    }
    identity_.copy_at(r.values, z.values);
    device::finish(*A_.device());
  }

  /// Says whether the operator has the values that this was made of, or that it has followed.
  bool is_current() const { return version_ == A_.data().version(); }
  /// Follows the values of the operator; false: another one must be made, as after an error, too.
  bool refresh() const {
    const std::scoped_lock lock(mutex_);
    const base::ThreadLimit limit(threads_);
    const auto version = A_.data().version();
    if (!solve_->preconditioner().refresh()) return false;
    version_ = version;
    return true;
  }

  const solvers::Preconditioner& get() const { return solve_->preconditioner(); }
  const solvers::SolverOptions& options() const { return solve_->options(); }

private:
  const op::Operator& A_;
  int threads_;
  op::EntryList identity_;
  mutable std::mutex mutex_;
  mutable std::atomic<std::uint64_t> version_; ///< the operator had this version of its values
  problem::Request request_;
  problem::LinearParts parts_;
  std::unique_ptr<const problem::LinearSolve> solve_; ///< refers to the request, the parts and the operator
};

} // namespace

void bind_preconditioner(nb::module_& module) {
  using Released = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<Preconditioner>(module, "Preconditioner")
      .def(nb::init<const op::Operator&, MeshHandle&, const std::string&, int>(), nb::keep_alive<1, 2>(), Released())
      .def("apply", &Preconditioner::apply, Released())
      .def("refresh", &Preconditioner::refresh, Released())
      .def_prop_ro("is_current", &Preconditioner::is_current)
      .def_prop_ro("description", [](const Preconditioner& self) { return self.get().description(); })
      .def_prop_ro("is_variable", [](const Preconditioner& self) { return self.get().is_variable(); })
      // Methods for symmetric operators have passed the check of that.
      .def_prop_ro("is_symmetric", [](const Preconditioner& self) {
        const auto& method = self.options().method;
        if (const auto* factors = self.get().factors()) return factors->is_symmetric;
        return (method == "cg" || method == "minres") && !self.get().is_variable();
      });
}

} // namespace rafter::python
