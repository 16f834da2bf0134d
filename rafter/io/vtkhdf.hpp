// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <rafter/io/derived_field.hpp>
#include <rafter/mesh/mesh.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::io {

class Hdf5Writer;

/// A field to write: a function of a space on the mesh.
struct OutputField {
  std::string name;
  std::shared_ptr<const space::FunctionSpace> space;
  std::span<const double> values; ///< local vector, num_local entries
};

struct VtkHdfOptions {
  /// Order of the cells; 0: the highest degree of fields and geometry. At most 10, VTK's limit.
  int order = 0;
  /// Functions of spaces on the mesh that derived fields may hold beside `fields`.
  std::vector<space::FieldValues> known = {};
};

/// Writes a VTK-HDF file (UnstructuredGrid, version 1.0), which ParaView 5.10 and VTK 9.1 and later open. Every cell is
/// a Lagrange cell (order 1: a linear cell; pyramids: linear pyramids and tetrahedra, as VTK has no usable Lagrange
/// pyramid) with points at equispaced positions that neighbours share. Fields are point data (two components padded to
/// three), the tags of the cells are the cell data "tag". Derived fields, functions of `fields`, are point data, too,
/// or cell data with the means of the cells; matrices are padded to 3 x 3, nine components row by row. Beside derived
/// point data, cells of different tags have points of their own, so that what jumps between them stays as it is.
///
/// Equal data make equal files, byte by byte. The file appears under its name when complete. Throws EnvironmentError
/// that names the path when that fails, InputError that names the field where a derived value is not finite.
void write_vtkhdf(const std::string& path, const mesh::Mesh& mesh, std::span<const OutputField> fields,
                  std::span<const DerivedField> derived = {}, const VtkHdfOptions& options = {});

/// The same with the fields at several times: a file of version 2.0 with the group Steps, which ParaView 5.12 and VTK
/// 9.3 and later show as a series (VTKHDF file format, temporal data). Points and cells are written once.
class VtkHdfSeries {
public:
  /// `fields`: what states consist of; their values do not matter yet.
  VtkHdfSeries(const std::string& path, const mesh::Mesh& mesh, std::span<const OutputField> fields,
               std::span<const DerivedField> derived = {}, const VtkHdfOptions& options = {});
  ~VtkHdfSeries();
  VtkHdfSeries(const VtkHdfSeries&) = delete;
  VtkHdfSeries& operator=(const VtkHdfSeries&) = delete;

  /// Writes the fields at a time; `fields` as in the constructor, with their values.
  void append(double time, std::span<const OutputField> fields);
  /// What else the file is to hold, outside the group of VTK.
  Hdf5Writer& file();
  /// Completes the file and puts it in its place; without that nothing remains of it.
  void commit();

private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

} // namespace rafter::io
