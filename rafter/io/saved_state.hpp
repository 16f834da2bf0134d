// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <rafter/io/hdf5_file.hpp>
#include <rafter/io/vtkhdf.hpp>

/// The output of a run in time holds its last state in the group "Rafter", from which another run goes on. The point
/// data beside it are interpolated to the points of the file; the state is the vectors themselves, bit by bit.
namespace rafter::io {

/// A state belongs to the time start + number * step, up to rounding.
struct SavedTime {
  double time = 0;
  double start = 0, step = 0;
  std::int64_t number = 0; ///< number of steps since the start
  std::string method{};    ///< method that solves the linear systems of the run; "": it is not known
  /// Time from the intermediate value of the last step (solvers::IntermediateValues) to the state; nothing: no
  /// intermediate value is saved.
  std::optional<double> lag{};
};

/// A field is read into the local vector of its space, and its intermediate value, unless that is empty, into another.
struct SavedField {
  std::string name;
  std::shared_ptr<const space::FunctionSpace> space;
  std::span<double> values;
  std::span<double> intermediate{};
};

/// Writes a state, and the intermediate values of some of its fields. Unknowns come in the order in which the cells of
/// the mesh, group after group, list them first, so that files do not depend on the order in which kernels visit cells.
void write_state(Hdf5Writer& file, const mesh::Mesh& mesh, const SavedTime& time, std::span<const OutputField> fields,
                 std::span<const OutputField> intermediates = {});

/// Reads the state of a file. Throws InputError, which names the file and what is wrong, for files without a state,
/// states on another mesh, fields that are missing, of other degree or components or not finite, and times that are no
/// times of steps. The lag of the result is nothing, too, where the file has not all of the intermediate values that
/// are asked for.
SavedTime read_state(const std::string& path, const mesh::Mesh& mesh, std::span<const SavedField> fields);

/// Reads where in time the state of a file belongs. Throws InputError as read_state() for files without a state and for
/// times that are no times of steps.
SavedTime read_saved_time(const std::string& path);

} // namespace rafter::io
