// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <rafter/io/hdf5_file.hpp>
#include <rafter/io/vtkhdf.hpp>

/// The last state of a run in time, in the group "Rafter" of its output, from which another run goes on. What VTK reads
/// is interpolated; this is the vectors themselves, bit by bit.
namespace rafter::io {

/// Where in time a state belongs: to time start + number step, up to rounding.
struct SavedTime {
  double time = 0;
  double start = 0, step = 0;
  std::int64_t number = 0; ///< of steps since the start
};

/// A field to read into: a local vector of its space.
struct SavedField {
  std::string name;
  std::shared_ptr<const space::FunctionSpace> space;
  std::span<double> values;
};

/// Unknowns are written in the order in which the cells of the mesh, group after group, list them first: files do not
/// depend on how kernels order cells.
void write_state(Hdf5Writer& file, const mesh::Mesh& mesh, const SavedTime& time, std::span<const OutputField> fields);

/// Reads the state of a file. Throws InputError, which names the file and what is wrong, for files without a state,
/// states on another mesh, and fields that are missing or of other degree or components.
SavedTime read_state(const std::string& path, const mesh::Mesh& mesh, std::span<const SavedField> fields);

} // namespace rafter::io
