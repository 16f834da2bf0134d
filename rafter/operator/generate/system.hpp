// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <rafter/operator/generate/entry_range.hpp>

namespace rafter::device {
template <class T> class Array;
}
namespace rafter::form {
struct FieldSpace;
}
namespace rafter::mesh {
struct CellBatches;
struct CellGroup;
class Mesh;
} // namespace rafter::mesh
namespace rafter::space {
class Discretisation;
class FunctionSpace;
} // namespace rafter::space

namespace rafter::op {

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

/// The cells of a group of the mesh. Throws InputError for a group that the mesh has not.
const mesh::CellGroup& group_of(const System& system, int group);
/// Number of unknowns of all fields on a cell of this group. Throws the same.
int num_local_unknowns(const System& system, int group);

/// Throws InputError when a vector does not have the size of the system, or the size that is given; `what` names the
/// vector in the message.
void check_size(const System& system, std::size_t size, const char* what);
void check_size(std::int64_t expected, std::size_t size, const char* what);
template <class T> void check_size(const System& system, const device::Array<T>& vector, const char* what) {
  check_size(system, vector.size(), what);
}

} // namespace rafter::op
