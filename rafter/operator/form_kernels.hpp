// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <rafter/device/array.hpp>
#include <rafter/machine/roofline.hpp>
#include <rafter/operator/domain.hpp>
#include <rafter/operator/linear_operator.hpp>
#include <rafter/schedule/mapping.hpp>
#include <rafter/tune/planner.hpp>

/// Runs the compiled kernels of a form on a mesh: for every batch of all blocks they gather, compute and scatter.
namespace rafter::op {

/// Says which quadrature rule a form gets. By default the rule is exact for the estimated degree of the integrand on
/// affine cells.
struct QuadratureOptions {
  element::QuadratureKind kind = element::QuadratureKind::gauss;
  std::optional<int> points; ///< number of points per direction
  std::optional<int> degree; ///< degree that is integrated exactly
  int max_degree = -1;       ///< largest estimated degree that is taken; -1: form::default_degree_cap
  /// The number of points per direction that intervals, quadrilaterals and hexahedra have instead of `points`, while
  /// the other shapes of a mesh keep their rules.
  std::optional<int> tensor_points = {};
  /// The degree that is integrated exactly on other cells than these instead of `degree`, where their maps are not
  /// affine.
  std::optional<int> curved_degree = {};
};

/// Options for the kernels of a form.
struct KernelOptions {
  std::shared_ptr<device::Device> device; ///< null: the host device of the discretisation, with all cores
  QuadratureOptions quadrature;
  std::optional<schedule::Plan> plan;           ///< used for every cell kernel instead of the planner's choice
  std::shared_ptr<const tune::Planner> planner; ///< null: tune::planner_of_this_machine
  /// Says that the form runs so rarely that compiling its kernels takes longer than running them. They get the usual
  /// plan and the flags schedule::quick_flags. Functionals, diagonals and cell matrices are such forms in any case.
  bool runs_few_times = false;
  /// Precision in which actions of bilinear forms store, compute and accumulate where no plan says it. The planner
  /// weighs plans in double precision.
  schedule::Precision precision = schedule::Precision::double_precision;
  /// Expected number of applications, which decides whether set-up pays off; 0: it is not known, and an assembled
  /// matrix is taken only if the plan says so.
  double num_applications = 0;
};

/// The mesh and the unknowns of a (mixed) problem. A vector of the system is one allocation: field f has the entries
/// offset(f) .. offset(f) + num_local - 1, those that this process owns, then ghosts. The fields begin at cache lines
/// and at multiples of their numbers of components. The padding between them belongs to no unknown: it is 0 in what
/// forms compute, and operators are the identity there.
struct System {
  std::shared_ptr<const space::Discretisation> discretisation;
  std::shared_ptr<const mesh::Mesh> mesh;           ///< mesh of the discretisation
  std::shared_ptr<const mesh::CellBatches> batches; ///< batches of the discretisation
  std::vector<std::shared_ptr<const space::FunctionSpace>> spaces;
  /// Fields begin at multiples of this number of entries: 64 bytes, also of floats.
  static constexpr std::int64_t alignment = 16;
  std::int64_t offset(std::size_t field) const; ///< first entry of the field in the system's vectors
  EntryRange entries(std::size_t field) const;  ///< entries of the field there
  std::int64_t size() const;                    ///< number of entries of its vectors: unknowns, ghosts and padding
  std::int64_t num_unknowns() const;            ///< number of unknowns of all fields, those of all processes together
  /// Ranges of the unknowns that this process owns, ascending. Sums over vectors take these entries alone.
  std::vector<EntryRange> owned_ranges() const;
  std::vector<std::int32_t> padding() const; ///< entries between the fields, ascending
  /// Returns the position of a space among `spaces`. Throws InputError when it is none of them.
  std::size_t index_of(const form::FieldSpace& space) const;
};
/// Makes a system of spaces on one discretisation. Throws InputError when there is no space, when their discretisations
/// differ, and when vectors would have more than 2147483647 entries.
System make_system(std::vector<std::shared_ptr<const space::FunctionSpace>> spaces);

/// The two sides of a form: y = A x has y in the vectors of `test` and x in those of `trial`. Data fields belong to
/// neither: FormData keeps each in a vector of its own.
struct Systems {
  /// Takes one system for test and trial functions, as solvers need it.
  Systems(System both) : test(both), trial(std::move(both)) {}
  /// Takes one system for each. Throws InputError when their discretisations differ.
  Systems(System test_functions, System trial_functions);
  System test;  ///< system of the test functions; of functionals, the fields that they are evaluated for
  System trial; ///< system of the trial functions of a bilinear form
};

/// Throws InputError when a vector does not have the size of the system, or the size that is given; `what` names the
/// vector in the message.
void check_size(const System& system, std::size_t size, const char* what);
void check_size(std::int64_t expected, std::size_t size, const char* what);
template <class T> void check_size(const System& system, const device::Array<T>& vector, const char* what) {
  check_size(system, vector.size(), what);
}

/// Describes one generated kernel on one block: what was decided about it and what it costs.
struct KernelInfo {
  int block = -1;   ///< number of the block of cells; -1: facets
  std::string name; ///< for example "cell hexahedron affine" or "facet 2 of prism isoparametric"
  schedule::Plan plan;
  tune::Decision decision; ///< says why this plan was taken
  std::string source;      ///< generated text
  std::string tensor_program, loop_program;
  double work_bytes = 0; ///< bytes of its work arrays
  int num_points = 0;
  std::string quadrature; ///< one line: the rule and why it was chosen
  std::int64_t num_cells = 0, num_batches = 0;
  machine::Counts counts; ///< operations and bytes of one run over all batches
};

/// Says what the kernels of a form compute.
enum class Purpose : std::uint8_t {
  action,   ///< y = A x of a bilinear form, the vector of a linear form, or the number of a functional
  diagonal, ///< the diagonal of a bilinear form
  matrix    ///< the matrices of the cells and facets of a bilinear form
};

/// The matrices of batches begin .. end - 1 of a kernel. Those of batch b are record b % num_records of `values`, shape
/// (record, entry, cell of the batch), see schedule::num_matrix_records.
struct CellMatrices {
  std::size_t piece = 0; ///< number of the kernel among the pieces of the form
  std::int32_t batch_begin = 0, batch_end = 0;
  std::span<const double> values;
};

struct GeneratedForm;
class FormData;
struct TouchedRanges;

/// The kernels of all integrals of a form, bound to the data of a mesh. Several threads may run them at the same time
/// on vectors of their own, on a part of a mesh one thread of each process.
class FormKernels {
public:
  /// Binds compiled kernels. `data` holds the values of data fields and parameters, which several objects of one form
  /// may share; null: these kernels have their own, in which parameters have the values of the form. Throws
  /// InternalError when the kernels are not compiled or the form is an assembled matrix.
  explicit FormKernels(std::shared_ptr<const GeneratedForm> built, std::shared_ptr<FormData> data = nullptr);
  ~FormKernels();
  FormKernels(FormKernels&&) noexcept;
  FormKernels& operator=(FormKernels&&) noexcept;

  /// Computes y = F(x), or y += F(x) when `adds` is true. `trial` is x, a vector of the system of trial functions; null
  /// for forms without them. What is stored of data that have changed is computed first. Throws InputError for vectors
  /// of another size, for data fields and parameters without values, and when y is x.
  void run(const Vector* trial, Vector& y, bool adds) const;
  /// Does the same on vectors of floats. Throws InternalError when the kernels are for vectors of another precision
  /// (GeneratedForm::vectors); so does run() on vectors of doubles.
  void run(const SingleVector& trial, SingleVector& y, bool adds) const;
  /// Computes y = F(trial) with work on vectors fused into the loop over cells. Throws InternalError when the systems
  /// of test and trial functions differ and on devices that do not share the host's memory.
  void run(const Vector& trial, Vector& y, const VectorWork& work) const;
  void run(const SingleVector& trial, SingleVector& y, const VectorWork& work) const; ///< does the same on floats
  /// The parts of the loop over cells between which fused work is done; they are found on first use.
  const TouchedRanges& touched_ranges() const;
  /// Computes the values of a functional, summed over all processes, shape (value).
  std::vector<double> integrals() const;
  /// Computes the matrices of all cells and facets and hands them to `visit`, some batches after the others, on the
  /// threads of the device. Chunks of one stage (chunk_stages) share no unknown, and may be visited at the same time;
  /// stages come in order, and so do the batches of a chunk. Throws InternalError for kernels that are not of
  /// Purpose::matrix.
  void cell_matrices(const std::function<void(const CellMatrices&)>& visit) const;

  const GeneratedForm& built() const;
  /// The values of the data fields and parameters, which every run reads.
  FormData& data() const;
  /// Computes what is stored of data that have changed since, and nothing else. Runs do so by themselves.
  void refresh() const;
  /// Counts the runs of set-up kernels so far.
  int num_setups() const;

  const std::vector<KernelInfo>& info() const;
  /// Totals of one run: executed and effective flops, compulsory bytes (vectors once, data per cell once).
  machine::Counts counts() const;
  const std::shared_ptr<device::Device>& device() const;

private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

} // namespace rafter::op
