// SPDX-License-Identifier: BSD-3-Clause
// BoomerAMG of hypre (https://github.com/hypre-space/hypre, licence Apache-2.0 or MIT) behind the functions of
// rafter/solve/hypre_interface.hpp.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_parcsr_ls.h>
#include <_hypre_parcsr_ls.h> // numbers of levels and entries, and options of rigid modes, are in no public header

#include <rafter/solve/hypre_interface.hpp>

namespace {

/// Throws if hypre has recorded an error since the last look.
void require_success(const char* what) {
  const HYPRE_Int code = HYPRE_GetError();
  if (code == 0) return;
  constexpr std::size_t enough = 1024;
  std::string text(enough, '\0');
  HYPRE_DescribeError(code, text.data());
  text.resize(std::strlen(text.c_str()));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  HYPRE_ClearAllErrors();
  throw std::runtime_error(std::string(what) + ": " + text);
}

/// Keeps hypre initialised while there are instances, so that nothing is left when the last one has gone.
class Session {
public:
  Session() {
    if (count++ == 0) HYPRE_Init();
    HYPRE_ClearAllErrors();
  }
  ~Session() {
    if (--count == 0) HYPRE_Finalize();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

private:
  static inline int count = 0;
};

struct DestroyMatrix {
  void operator()(HYPRE_IJMatrix matrix) const { HYPRE_IJMatrixDestroy(matrix); }
};
struct DestroyVector {
  void operator()(HYPRE_IJVector vector) const { HYPRE_IJVectorDestroy(vector); }
};
struct DestroySolver {
  void operator()(HYPRE_Solver solver) const { HYPRE_BoomerAMGDestroy(solver); }
};
using Matrix = std::unique_ptr<std::remove_pointer_t<HYPRE_IJMatrix>, DestroyMatrix>;
using Vector = std::unique_ptr<std::remove_pointer_t<HYPRE_IJVector>, DestroyVector>;
using Solver = std::unique_ptr<std::remove_pointer_t<HYPRE_Solver>, DestroySolver>;

HYPRE_ParCSRMatrix object_of(const Matrix& matrix) {
  void* result = nullptr;
  HYPRE_IJMatrixGetObject(matrix.get(), &result);
  return static_cast<HYPRE_ParCSRMatrix>(result);
}

HYPRE_ParVector object_of(const Vector& vector) {
  void* result = nullptr;
  HYPRE_IJVectorGetObject(vector.get(), &result);
  return static_cast<HYPRE_ParVector>(result);
}

/// The entries of a vector, which one process has all of.
double* values_of(const Vector& vector) { return hypre_VectorData(hypre_ParVectorLocalVector(object_of(vector))); }

void require_range(const RafterHypreMatrix& matrix) {
  constexpr std::int64_t most = std::numeric_limits<HYPRE_Int>::max();
  const std::int64_t num_entries = matrix.row_offsets[matrix.num_rows];
  if (num_entries > most)
    throw std::runtime_error("the matrix has " + std::to_string(num_entries) +
                             " entries, and this build of hypre counts to " + std::to_string(most));
}

Matrix make_matrix(const RafterHypreMatrix& given) {
  const auto num_rows = static_cast<HYPRE_BigInt>(given.num_rows);
  HYPRE_IJMatrix handle = nullptr;
  HYPRE_IJMatrixCreate(MPI_COMM_WORLD, 0, num_rows - 1, 0, num_rows - 1, &handle);
  Matrix result(handle);
  HYPRE_IJMatrixSetObjectType(handle, HYPRE_PARCSR);
  std::vector<HYPRE_Int> row_sizes(static_cast<std::size_t>(given.num_rows));
  for (std::size_t row = 0; row < row_sizes.size(); ++row)
    row_sizes[row] = static_cast<HYPRE_Int>(given.row_offsets[row + 1] - given.row_offsets[row]);
  const auto none_of_others = std::make_unique<HYPRE_Int[]>(row_sizes.size());
  HYPRE_IJMatrixSetDiagOffdSizes(handle, row_sizes.data(), none_of_others.get());
  HYPRE_IJMatrixInitialize(handle);
  require_success("the matrix");
  std::vector<HYPRE_BigInt> columns;
  for (HYPRE_BigInt row = 0; row < num_rows; ++row) {
    const auto begin = given.row_offsets[row], end = given.row_offsets[row + 1];
    columns.resize(static_cast<std::size_t>(end - begin));
    std::copy(given.columns + begin, given.columns + end, columns.begin());
    HYPRE_IJMatrixSetValues(handle, 1, &row_sizes[static_cast<std::size_t>(row)], &row, columns.data(),
                            given.values + begin);
  }
  HYPRE_IJMatrixAssemble(handle);
  require_success("the matrix");
  return result;
}

Vector make_vector(std::int64_t size, const double* values = nullptr) {
  HYPRE_IJVector handle = nullptr;
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, 0, static_cast<HYPRE_BigInt>(size) - 1, &handle);
  Vector result(handle);
  HYPRE_IJVectorSetObjectType(handle, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(handle);
  HYPRE_IJVectorAssemble(handle);
  require_success("a vector");
  if (values != nullptr) std::copy_n(values, size, values_of(result));
  return result;
}

/// Gives the component that each row is of. hypre frees this array with the solver.
void set_components(HYPRE_Solver solver, const RafterHypreOptions& options, std::int64_t num_rows) {
  if (options.component == nullptr) return;
  HYPRE_BoomerAMGSetNumFunctions(solver, options.num_components);
  auto* components = static_cast<HYPRE_Int*>(std::malloc(static_cast<std::size_t>(num_rows) * sizeof(HYPRE_Int)));
  if (components == nullptr) throw std::bad_alloc();
  std::copy_n(options.component, num_rows, components);
  HYPRE_BoomerAMGSetDofFunc(solver, components);
}

/// Coarsens nodes as wholes by the row sums of their blocks, and interpolates so that the vectors are held (variant 2
/// of Baker, Kolev, Yang, Numer. Linear Algebra Appl. 17 (2010) 495-517, doi:10.1002/nla.688, with the truncation that
/// they recommend).
void set_vectors(HYPRE_Solver solver, std::vector<HYPRE_ParVector>& vectors) {
  constexpr HYPRE_Int row_sums = 4, negative_row_sum = 1, variant = 2, most_entries = 4;
  HYPRE_BoomerAMGSetNodal(solver, row_sums);
  HYPRE_BoomerAMGSetNodalDiag(solver, negative_row_sum);
  HYPRE_BoomerAMGSetInterpVecVariant(solver, variant);
  HYPRE_BoomerAMGSetInterpVecQMax(solver, most_entries);
  HYPRE_BoomerAMGSetSmoothInterpVectors(solver, 1);
  HYPRE_BoomerAMGSetInterpRefine(solver, 1);
  HYPRE_BoomerAMGSetInterpVectors(solver, static_cast<HYPRE_Int>(vectors.size()), vectors.data());
}

constexpr HYPRE_Int coarsest_level = 3; ///< hypre's number of the way of the cycle that is its turning point

/// Makes the coarsest level be relaxed by symmetric sweeps.
void set_relaxed_coarsest(HYPRE_Solver solver) {
  constexpr HYPRE_Int symmetric_gauss_seidel = 6, sweeps = 8;
  HYPRE_BoomerAMGSetCycleRelaxType(solver, symmetric_gauss_seidel, coarsest_level);
  HYPRE_BoomerAMGSetCycleNumSweeps(solver, sweeps, coarsest_level);
}

/// hypre eliminates on the coarsest level if it is small. If coarsening has ended early, since each row is dominated by
/// its diagonal, it takes a forward sweep, with which the cycle would not be symmetric: symmetric sweeps replace it.
void keep_symmetric(HYPRE_Solver solver) {
  constexpr HYPRE_Int elimination = 9;
  const auto* types = hypre_ParAMGDataGridRelaxType(reinterpret_cast<hypre_ParAMGData*>(solver));
  if (types[coarsest_level] != elimination) set_relaxed_coarsest(solver);
}

/// Says whether a row whose diagonal is zero, which hypre puts first, has other entries.
bool has_row_without_diagonal(hypre_CSRMatrix* matrix) {
  const auto* offsets = hypre_CSRMatrixI(matrix);
  const auto* values = hypre_CSRMatrixData(matrix);
  const auto is_zero = [](double value) { return value == 0; };
  for (HYPRE_Int row = 0; row < hypre_CSRMatrixNumRows(matrix); ++row) {
    const auto *begin = values + offsets[row], *end = values + offsets[row + 1];
    if (begin != end && is_zero(*begin) && !std::all_of(begin, end, is_zero)) return true;
  }
  return false;
}

bool has_negative_diagonal(hypre_CSRMatrix* matrix) {
  const auto* offsets = hypre_CSRMatrixI(matrix);
  for (HYPRE_Int row = 0; row < hypre_CSRMatrixNumRows(matrix); ++row)
    if (offsets[row] != offsets[row + 1] && hypre_CSRMatrixData(matrix)[offsets[row]] < 0) return true;
  return false;
}

/// Says whether elimination meets a pivot that is negative beyond rounding: the matrix then has a negative eigenvalue,
/// by Sylvester's law of inertia. It ends at a pivot that rounding does not distinguish from zero. Null is no matrix.
bool has_negative_pivot(hypre_CSRMatrix* sparse) {
  if (sparse == nullptr) return false;
  constexpr double rounding = 1e-8;
  const auto n = static_cast<std::size_t>(hypre_CSRMatrixNumRows(sparse));
  std::vector<double> dense(n * n, 0.0);
  double largest = 0;
  for (std::size_t row = 0; row < n; ++row) {
    for (auto k = hypre_CSRMatrixI(sparse)[row]; k < hypre_CSRMatrixI(sparse)[row + 1]; ++k)
      dense[row * n + static_cast<std::size_t>(hypre_CSRMatrixJ(sparse)[k])] += hypre_CSRMatrixData(sparse)[k];
    largest = std::max(largest, std::abs(dense[row * n + row]));
  }
  for (std::size_t k = 0; k < n; ++k) {
    const double pivot = dense[k * n + k];
    if (std::abs(pivot) <= rounding * largest) return false;
    if (pivot < 0) return true;
    for (std::size_t row = k + 1; row < n; ++row)
      for (std::size_t column = k + 1; column < n; ++column)
        dense[row * n + column] -= dense[row * n + k] / pivot * dense[k * n + column];
  }
  return false;
}

/// BoomerAMG that was set up for a matrix.
class BoomerAmg {
public:
  BoomerAmg(const RafterHypreMatrix& matrix, const RafterHypreOptions& options) : num_rows_(matrix.num_rows) {
    require_range(matrix);
    matrix_ = make_matrix(matrix);
    r_ = make_vector(num_rows_);
    z_ = make_vector(num_rows_);
    HYPRE_Solver handle = nullptr;
    HYPRE_BoomerAMGCreate(&handle);
    solver_.reset(handle);
    set_options(options);
    HYPRE_BoomerAMGSetup(handle, object_of(matrix_), object_of(r_), object_of(z_));
    if (options.num_vectors > 0) forgive_empty_rows();
    require_success("set-up");
    keep_symmetric(handle);
  }

  RafterHypreInfo info() const {
    const auto levels = matrices();
    double entries = 0;
    for (auto* matrix : levels) entries += entries_of(matrix);
    const bool is_indefinite =
        std::any_of(levels.begin(), levels.end(), [](auto* matrix) { return has_negative_diagonal(matrix); }) ||
        has_negative_pivot(first_small(levels));
    return {static_cast<std::int32_t>(levels.size()), entries / entries_of(levels.front()), is_indefinite};
  }

  void cycle(const double* r, double* z) {
    std::copy_n(r, num_rows_, values_of(r_));
    std::fill_n(values_of(z_), num_rows_, 0.0);
    HYPRE_BoomerAMGSolve(solver_.get(), object_of(matrix_), object_of(r_), object_of(z_));
    require_success("a cycle");
    std::copy_n(values_of(z_), num_rows_, z);
  }

private:
  static double entries_of(hypre_CSRMatrix* matrix) { return static_cast<double>(hypre_CSRMatrixNumNonzeros(matrix)); }

  /// The finest of the levels that are eliminated in no time, or null: coarser ones miss negative directions.
  static hypre_CSRMatrix* first_small(const std::vector<hypre_CSRMatrix*>& levels) {
    constexpr HYPRE_Int most_rows = 500;
    for (auto* matrix : levels)
      if (hypre_CSRMatrixNumRows(matrix) <= most_rows) return matrix;
    return nullptr;
  }

  /// The matrices of the levels from fine to coarse.
  std::vector<hypre_CSRMatrix*> matrices() const {
    auto* data = reinterpret_cast<hypre_ParAMGData*>(solver_.get());
    std::vector<hypre_CSRMatrix*> result;
    for (HYPRE_Int level = 0; level < hypre_ParAMGDataNumLevels(data); ++level)
      result.push_back(hypre_ParCSRMatrixDiag(hypre_ParAMGDataAArray(data)[level]));
    return result;
  }

  /// Coarse unknowns that hold rotations interpolate to nothing where no other node depends on theirs. Their rows are
  /// zero; sweeps leave them out, and set-up goes on, but has recorded them as an error of its first argument.
  void forgive_empty_rows() const {
    constexpr HYPRE_Int first_argument = HYPRE_ERROR_ARG | 1 << 3;
    const auto levels = matrices();
    if (HYPRE_GetError() == first_argument && std::none_of(levels.begin(), levels.end(), has_row_without_diagonal))
      HYPRE_ClearAllErrors();
  }

  /// Options that are not set here have hypre's default. Relaxation, one of these, is a forward sweep of Gauss and
  /// Seidel on the way down and a backward one on the way up, each the transpose of the other: the cycle is symmetric.
  void set_options(const RafterHypreOptions& options) {
    auto* solver = solver_.get();
    HYPRE_BoomerAMGSetPrintLevel(solver, 0);
    HYPRE_BoomerAMGSetLogging(solver, 0);
    HYPRE_BoomerAMGSetMaxIter(solver, 1);
    HYPRE_BoomerAMGSetTol(solver, 0);
    HYPRE_BoomerAMGSetStrongThreshold(solver, options.strong_threshold);
    set_components(solver, options, num_rows_);
    for (std::int32_t v = 0; v < options.num_vectors; ++v) {
      vectors_.push_back(make_vector(num_rows_, options.vectors[v]));
      vector_objects_.push_back(object_of(vectors_.back()));
    }
    if (!vectors_.empty()) set_vectors(solver, vector_objects_);
    if (options.num_null_vectors > 0) HYPRE_BoomerAMGSetMinCoarseSize(solver, 2 * options.num_null_vectors);
    // Elimination would divide by zero, or by what rounding leaves of it.
    if (!vectors_.empty() || options.num_null_vectors > 0) set_relaxed_coarsest(solver);
  }

  Session session_; ///< the last one to go
  std::int64_t num_rows_;
  Matrix matrix_;
  Vector r_, z_;
  std::vector<Vector> vectors_;
  std::vector<HYPRE_ParVector> vector_objects_; ///< hypre keeps the address of its entries
  Solver solver_;
};

/// Runs an operation, whose failure becomes a text.
template <class Operation> bool guarded(const Operation& operation, char* error, std::size_t error_size) try {
  operation();
  return true;
} catch (const std::exception& failure) {
  HYPRE_ClearAllErrors();
  if (error_size > 0) {
    std::strncpy(error, failure.what(), error_size - 1);
    error[error_size - 1] = '\0';
  }
  return false;
}

void* create(const RafterHypreMatrix* matrix, const RafterHypreOptions* options, RafterHypreInfo* info, char* error,
             std::size_t error_size) {
  BoomerAmg* result = nullptr;
  guarded(
      [&] {
        auto made = std::make_unique<BoomerAmg>(*matrix, *options);
        *info = made->info();
        result = made.release();
      },
      error, error_size);
  return result;
}

bool cycle(void* instance, const double* r, double* z, char* error, std::size_t error_size) {
  return guarded([&] { static_cast<BoomerAmg*>(instance)->cycle(r, z); }, error, error_size);
}

void destroy(void* instance) { delete static_cast<BoomerAmg*>(instance); }

} // namespace

const RafterHypreFunctions* rafter_hypre() {
  static const RafterHypreFunctions functions{rafter_hypre_interface, HYPRE_RELEASE_VERSION, create, cycle, destroy};
  return &functions;
}
