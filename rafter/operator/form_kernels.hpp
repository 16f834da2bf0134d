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

/// Compiled kernels of a form on a mesh: gather, kernel, scatter over all blocks.
namespace rafter::op {

/// Which quadrature rule a form gets; everything absent: exact for the estimated degree of the integrand on affine
/// cells.
struct QuadratureOptions {
  element::QuadratureKind kind = element::QuadratureKind::gauss;
  std::optional<int> points; ///< per direction
  std::optional<int> degree; ///< integrated exactly
  int max_degree = -1;       ///< cap of estimated degrees; -1: form::default_degree_cap
};

struct KernelOptions {
  std::shared_ptr<device::Device> device; ///< null: a host device with all cores
  QuadratureOptions quadrature;
  std::optional<schedule::Plan> plan;           ///< used for every cell kernel instead of the planner's choice
  std::shared_ptr<const tune::Planner> planner; ///< null: tune::planner_of_this_machine
  double num_applications = 0; ///< that are expected: whether set-up pays off; 0: not known, an assembled matrix is not
                               ///< taken unless the plan says so
};

/// The mesh and the unknowns of a (mixed) problem. A vector of the system is one allocation: field f has the entries
/// offset(f) .. offset(f) + num_local - 1, those that this process owns, then ghosts. Parts begin at cache
/// lines and at multiples of their components. The padding between them belongs to no unknown: it is 0 in what forms
/// compute, and operators are the identity there.
struct System {
  std::shared_ptr<const space::Discretisation> discretisation;
  std::shared_ptr<const mesh::Mesh> mesh;           ///< of the discretisation
  std::shared_ptr<const mesh::CellBatches> batches; ///< of the discretisation
  std::vector<std::shared_ptr<const space::FunctionSpace>> spaces;
  static constexpr std::int64_t alignment = 16; ///< of parts, in entries: 64 bytes of floats, too
  std::int64_t offset(std::size_t field) const; ///< in the system's vectors
  std::int64_t size() const;                    ///< entries of its vectors: unknowns, ghosts and padding
  std::int64_t num_unknowns() const;            ///< of all fields and all processes
  /// The unknowns of this process, ascending: what sums over vectors count.
  std::vector<EntryRange> owned_ranges() const;
  std::vector<std::int32_t> padding() const; ///< entries between the parts, ascending
  /// Position of a space among `spaces`; throws InputError when it is none of them.
  std::size_t index_of(const form::FieldSpace& space) const;
};
/// System of spaces on one discretisation; throws InputError when theirs differ.
System make_system(std::vector<std::shared_ptr<const space::FunctionSpace>> spaces);

/// The two sides of a form: y = A x has y in the vectors of `test` and x in those of `trial`. Data fields belong to
/// neither: each has a vector of its own, see FormData.
struct Systems {
  /// One system for test and trial functions, as solvers need it.
  Systems(System both) : test(both), trial(std::move(both)) {}
  /// Throws InputError when their discretisations differ.
  Systems(System test_functions, System trial_functions);
  System test;  ///< of linear forms too; of functionals the fields that they are evaluated for
  System trial; ///< of bilinear forms
};

/// Throws InputError when a vector does not have the system's size, or this one; `what` names it.
void check_size(const System& system, std::size_t size, const char* what);
void check_size(std::int64_t expected, std::size_t size, const char* what);
template <class T> void check_size(const System& system, const device::Array<T>& vector, const char* what) {
  check_size(system, vector.size(), what);
}

/// One generated kernel on one block, with what was decided and what it costs.
struct KernelInfo {
  int block = -1;   ///< of cells, -1: facets
  std::string name; ///< "cell hexahedron affine", "facet 2 of prism isoparametric"
  schedule::Plan plan;
  tune::Decision decision; ///< why this plan
  std::string source;      ///< generated text
  std::string tensor_program, loop_program;
  double work_bytes = 0; ///< of its work arrays
  int num_points = 0;
  std::string quadrature; ///< one line: rule and why
  std::int64_t num_cells = 0, num_batches = 0;
  machine::Counts counts; ///< of all batches, one run
};

enum class Purpose : std::uint8_t {
  action,   ///< bilinear form: y = A x; linear form: the vector; functional: the number
  diagonal, ///< of a bilinear form
  matrix    ///< of a bilinear form: the matrices of its cells and facets
};

/// The matrices of batches begin .. end - 1 of a kernel, as schedule::num_matrix_records says.
struct CellMatrices {
  std::size_t piece = 0; ///< of the form
  std::int32_t batch_begin = 0, batch_end = 0;
  std::span<const double> values;
};

struct GeneratedForm;
class FormData;
struct TouchedRanges;

/// Kernels of all integrals of a form, bound to the data of a mesh. Several threads may run them at the same time on
/// vectors of their own, on a part of a mesh one thread of each process.
class FormKernels {
public:
  /// Of a form whose kernels are compiled, else InternalError. `data`: the values of data fields and parameters, which
  /// several kernels of one form may share; null: of these kernels alone.
  explicit FormKernels(std::shared_ptr<const GeneratedForm> built, std::shared_ptr<FormData> data = nullptr);
  ~FormKernels();
  FormKernels(FormKernels&&) noexcept;
  FormKernels& operator=(FormKernels&&) noexcept;

  /// y = F(x), or y += F(x) when `adds`. `trial`: vector of the system of trial functions; null for forms without. What
  /// is stored of data that have changed is computed first. Throws InputError for vectors of another size, data fields
  /// without values, and when y is x.
  void run(const Vector* trial, Vector& y, bool adds) const;
  /// The same of kernels whose vectors are floats (GeneratedForm::vectors). Kernels are run on the vectors that they
  /// are for, else InternalError.
  void run(const SingleVector& trial, SingleVector& y, bool adds) const;
  /// y = F(trial) with fused work on vectors, for equal systems. Only on devices that share the host's memory.
  void run(const Vector& trial, Vector& y, const VectorWork& work) const;
  /// The parts of the loop over cells between which fused work is done; they are found on first use.
  const TouchedRanges& touched_ranges() const;
  /// Value of a functional.
  double integral() const;
  /// Of kernels of Purpose::matrix: computes the matrices of all cells and facets and hands them to `visit`, some
  /// batches after the others, on the threads of the device. Those of one stage (chunk_stages) share no unknown; stages
  /// come in order, and so do the batches of a chunk.
  void cell_matrices(const std::function<void(const CellMatrices&)>& visit) const;

  const GeneratedForm& built() const;
  /// Values of the data fields and parameters, which every run reads.
  FormData& data() const;
  /// Computes what is stored of data that have changed since, and nothing else. Runs do so by themselves.
  void refresh() const;
  /// How often set-up kernels were run so far.
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
