// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/solve/factors.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <mutex>

#include <dlfcn.h>
#include <dmumps_c.h>
#include <fmt/format.h>
#include <rafter/base/error.hpp>
#include <rafter/mesh/limits.hpp>
#include <rafter/solve/diagnosis.hpp>

namespace rafter::solvers {
namespace {

/// SCOTCH, the library that MUMPS may take its orderings from, finds other ones on several threads from run to run. It
/// reads this variable when it is first used, and programs that it starts inherit it. It is set before main(), when
/// usually no other thread reads the environment; what the user has set stays.
[[maybe_unused]] const bool orders_on_one_thread = ::setenv("SCOTCH_PTHREAD_NUMBER", "1", 0) == 0;

/// Makes orderings the same in every run: SCOTCH begins with random numbers that depend on the time. It is looked up by
/// name, since MUMPS may have been built without it. (A seed of 32 bits comes in the same register.)
void fix_random_orderings() {
  using Seed = void (*)(std::int64_t);
  using Reset = void (*)();
  static const auto seed = reinterpret_cast<Seed>(dlsym(RTLD_DEFAULT, "SCOTCH_randomSeed"));
  static const auto reset = reinterpret_cast<Reset>(dlsym(RTLD_DEFAULT, "SCOTCH_randomReset"));
  if (seed == nullptr || reset == nullptr) return;
  seed(1);
  reset();
}

/// Guards the library, which keeps its instances in a table of the process.
std::mutex& library_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// Finds one unknown for each null vector, so that no combination of the vectors vanishes on all of them, by
/// elimination with the largest entry as pivot.
std::vector<std::int32_t> unknowns_to_hold(const NullSpace& space) {
  std::vector<std::vector<double>> left;
  for (const auto& vector : space.basis()) left.emplace_back(vector.host_read().begin(), vector.host_read().end());
  std::vector<std::int32_t> result;
  for (std::size_t k = 0; k < left.size(); ++k) {
    const auto& pivot_row = left[k];
    const auto largest = std::max_element(pivot_row.begin(), pivot_row.end(),
                                          [](double a, double b) { return std::fabs(a) < std::fabs(b); });
    const auto pivot = static_cast<std::size_t>(largest - pivot_row.begin());
    result.push_back(static_cast<std::int32_t>(pivot));
    for (std::size_t other = k + 1; other < left.size(); ++other) {
      const double factor = left[other][pivot] / pivot_row[pivot];
      for (std::size_t i = 0; i < pivot_row.size(); ++i) left[other][i] -= factor * pivot_row[i];
    }
  }
  return result;
}

/// The entries of a matrix as (row, column, value), counted from 1; of a symmetric matrix those of the lower triangle
/// alone. Rows and columns of held unknowns are those of the identity.
struct Triplets {
  Triplets(const op::SparseMatrix& matrix, bool is_symmetric, std::span<const std::int32_t> held) {
    const auto is_held = [&](std::int64_t i) { return std::ranges::find(held, i) != held.end(); };
    for (std::int64_t row = 0; row < matrix.num_rows(); ++row) {
      const bool is_row_held = is_held(row);
      if (is_row_held) add(row, row, 1);
      for (auto k = matrix.row_offsets[static_cast<std::size_t>(row)];
           !is_row_held && k < matrix.row_offsets[static_cast<std::size_t>(row) + 1]; ++k) {
        const auto column = matrix.columns[static_cast<std::size_t>(k)];
        if ((is_symmetric && column > row) || is_held(column)) continue;
        add(row, column, matrix.values[static_cast<std::size_t>(k)]);
      }
    }
  }
  void add(std::int64_t row, std::int64_t column, double value) {
    rows.push_back(static_cast<MUMPS_INT>(row) + 1);
    columns.push_back(static_cast<MUMPS_INT>(column) + 1);
    values.push_back(value);
  }
  std::vector<MUMPS_INT> rows, columns;
  std::vector<double> values;
};

} // namespace

std::string factors_version() { return MUMPS_VERSION; }

double FactorInfo::fill() const {
  const double of_matrix = static_cast<double>(matrix_entries) * (is_symmetric ? 0.5 : 1);
  return of_matrix > 0 ? static_cast<double>(num_entries) / of_matrix : 0;
}

/// An instance of the library. Its parameters have the numbers of its manual, which begin at 1.
class Factors::Mumps {
public:
  Mumps(std::int64_t size, bool is_symmetric, Triplets triplets) : triplets_(std::move(triplets)) {
    constexpr int symmetric = 2, general = 0, fortran_comm_world = -987654, initialise = -1;
    id_.sym = is_symmetric ? symmetric : general;
    id_.par = 1;
    id_.comm_fortran = fortran_comm_world;
    run(initialise);
    require_success();
    for (const int stream : {1, 2, 3}) icntl(stream) = -1; // the library prints nothing
    icntl(4) = 0;
    icntl(24) = 1; // zero pivots are found and counted
    id_.n = static_cast<MUMPS_INT>(size);
    id_.nnz = static_cast<MUMPS_INT8>(triplets_.values.size());
    id_.irn = triplets_.rows.data();
    id_.jcn = triplets_.columns.data();
    id_.a = triplets_.values.data();
  }
  ~Mumps() {
    constexpr int terminate = -2;
    run(terminate);
  }
  Mumps(const Mumps&) = delete;
  Mumps& operator=(const Mumps&) = delete;

  void factorise() {
    constexpr int compute = 2, attempts = 6;
    run(analyse);
    require_success();
    // The estimate holds icntl(14) per cent for pivots that are delayed.
    const double estimate = 1e6 * infog(17) / (100 + icntl(14));
    for (int attempt = 0; attempt < attempts; ++attempt) {
      require_memory(estimate * (100 + icntl(14)));
      run(compute);
      if (infog(1) != integer_room && infog(1) != real_room) break;
      icntl(14) *= 2; // per cent of memory beyond the estimate, for pivots that were delayed
    }
    require_success();
    if (infog(28) > 0) refuse_singular(infog(28));
  }

  void solve(std::span<double> right) {
    constexpr int substitute = 3;
    id_.rhs = right.data();
    id_.nrhs = 1;
    id_.lrhs = id_.n;
    run(substitute);
    require_success();
  }

  FactorInfo info(const op::SparseMatrix& matrix, bool is_symmetric) const {
    const std::int64_t entries = infog(29);
    return {.is_symmetric = is_symmetric,
            .matrix_entries = matrix.num_entries(),
            // The library writes large numbers as negative millions.
            .num_entries = entries >= 0 ? entries : -entries * 1'000'000,
            .bytes = std::max(std::int64_t{infog(22)} * 1'000'000, 12 * std::int64_t{entries}),
            .num_negative_pivots = is_symmetric ? infog(12) : 0};
  }

private:
  static constexpr int analyse = 1;                       ///< job that chooses an ordering
  static constexpr int integer_room = -8, real_room = -9; ///< codes in infog(1) when the estimate was too low
  MUMPS_INT& icntl(int number) { return id_.icntl[number - 1]; }
  MUMPS_INT infog(int number) const { return id_.infog[number - 1]; }

  void run(int job) {
    const std::lock_guard lock(library_mutex());
    if (job == analyse) fix_random_orderings();
    id_.job = job;
    dmumps_c(&id_);
  }

  static void refuse_singular(int count) {
    throw base::SolverError(fmt::format("the matrix is singular: its factorisation meets {} zero pivot{}{}", count,
                                        count == 1 ? "" : "s", singular_advice));
  }

  static void require_memory(double bytes) {
    const double memory = mesh::available_memory_bytes();
    if (bytes > memory)
      throw base::EnvironmentError(fmt::format("the factors of a direct solve take about {:.3g} GB; this machine has "
                                               "{:.3g} GB: use an iterative method (solver.method = \"gmres\", "
                                               "\"minres\" or \"cg\"), which needs no factors",
                                               1e-9 * bytes, 1e-9 * memory));
  }

  void require_success() const {
    constexpr int structurally_singular = -6, singular = -10, no_memory = -13, more_than_allowed = -19;
    const int code = infog(1);
    if (code >= 0) return;
    if (code == structurally_singular || code == singular) refuse_singular(std::max(1, int{id_.n} - infog(2)));
    if (code == no_memory || code == more_than_allowed || code == integer_room || code == real_room)
      throw base::EnvironmentError("not enough memory for the factors of a direct solve: use an iterative method "
                                   "(solver.method = \"gmres\", \"minres\" or \"cg\"), which needs no factors");
    throw base::SolverError(fmt::format("MUMPS fails with INFOG(1) = {}, INFOG(2) = {}", code, infog(2)));
  }

  Triplets triplets_;
  DMUMPS_STRUC_C id_{};
};

Factors::Factors(const op::SparseMatrix& matrix, const NullSpace* null_space) {
  if (const auto bad = std::ranges::find_if(matrix.values, [](double value) { return !std::isfinite(value); });
      bad != matrix.values.end())
    throw base::SolverError("the matrix has entries that are not finite: check coefficients for divisions by zero, "
                            "roots and logarithms");
  constexpr double rounding = 1e-12;
  const bool is_symmetric = matrix.asymmetry() <= rounding;
  if (null_space != nullptr) held_ = unknowns_to_hold(*null_space);
  mumps_ = std::make_unique<Mumps>(matrix.num_rows(), is_symmetric, Triplets(matrix, is_symmetric, held_));
  mumps_->factorise();
  info_ = mumps_->info(matrix, is_symmetric);
}

Factors::~Factors() = default;

void Factors::apply(const Vector& r, Vector& z) const {
  const auto from = r.host_read();
  const auto to = z.host_overwrite();
  std::ranges::copy(from, to.begin());
  solve(to);
}

void Factors::solve(std::span<double> values) const {
  for (const auto unknown : held_) values[static_cast<std::size_t>(unknown)] = 0;
  mumps_->solve(values);
}

} // namespace rafter::solvers
