// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rafter/io/derived_field.hpp>
#include <rafter/mesh/mesh.hpp>

namespace rafter::space {
class FunctionSpace;
} // namespace rafter::space

namespace rafter::io {

class Hdf5Writer;

/// A field to write is a function of a space on the mesh.
struct OutputField {
  std::string name;
  std::shared_ptr<const space::FunctionSpace> space;
  std::span<const double> values; ///< L-vector of the space, num_local entries
};

struct VtkHdfOptions {
  /// The order of the cells, at most 10, VTK's limit; 0 takes the highest degree of fields and geometry.
  int order = 0;
  /// Functions of spaces on the mesh that the expressions of derived fields may use beside `fields`.
  std::vector<space::FieldValues> known = {};
};

/// Writes a VTK-HDF file (UnstructuredGrid, version 1.0), which ParaView 5.10 and VTK 9.1 and later open. Every cell is
/// a Lagrange cell, whose equispaced points neighbours share; cells of order 1 are linear ones, and pyramids are split
/// into linear pyramids and tetrahedra, as VTK has no usable Lagrange pyramid. Fields are point data (two components
/// are padded to three), the tags of the cells are the cell data "tag". Derived fields, functions of `fields`, are
/// point data, too, or cell data with the means over the cells; matrices are padded to 3 x 3 and stored as nine
/// components row by row. If there are derived point data, cells of different tags do not share points, so that values
/// that jump between tags are not averaged.
///
/// Equal data make equal files, byte by byte. The file appears under its name when it is complete. Throws
/// EnvironmentError that names the path when writing fails, and InputError that names the field where a derived value
/// is not finite.
void write_vtkhdf(const std::string& path, const mesh::Mesh& mesh, std::span<const OutputField> fields,
                  std::span<const DerivedField> derived = {}, const VtkHdfOptions& options = {});

/// This writes the fields at several times to one file of version 2.0 with the group Steps, which ParaView 5.12 and VTK
/// 9.3 and later show as a series (VTKHDF file format, temporal data). Points and cells are written once.
class VtkHdfSeries {
public:
  /// `fields` says what states consist of; their values do not matter yet.
  VtkHdfSeries(const std::string& path, const mesh::Mesh& mesh, std::span<const OutputField> fields,
               std::span<const DerivedField> derived = {}, const VtkHdfOptions& options = {});
  ~VtkHdfSeries();
  VtkHdfSeries(const VtkHdfSeries&) = delete;
  VtkHdfSeries& operator=(const VtkHdfSeries&) = delete;

  /// Writes the fields at a time. `fields` are those of the constructor, with their values at that time.
  void append(double time, std::span<const OutputField> fields);
  /// Gives access to the file for data outside the group of VTK.
  Hdf5Writer& file();
  /// Completes the file and moves it to its place; without this call nothing remains of it.
  void commit();

private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

} // namespace rafter::io
