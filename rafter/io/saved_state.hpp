// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
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
};

/// A field is read into the local vector of its space.
struct SavedField {
  std::string name;
  std::shared_ptr<const space::FunctionSpace> space;
  std::span<double> values;
};

/// Writes a state. Unknowns come in the order in which the cells of the mesh, group after group, list them first, so
/// that files do not depend on the order in which kernels visit cells.
void write_state(Hdf5Writer& file, const mesh::Mesh& mesh, const SavedTime& time, std::span<const OutputField> fields);

/// Reads the state of a file. Throws InputError, which names the file and what is wrong, for files without a state,
/// states on another mesh, and fields that are missing or of other degree or components.
SavedTime read_state(const std::string& path, const mesh::Mesh& mesh, std::span<const SavedField> fields);

/// Reads where in time the state of a file belongs. Throws InputError as read_state() for files without a state.
SavedTime read_saved_time(const std::string& path);

} // namespace rafter::io
