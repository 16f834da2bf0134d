// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <span>
#include <string>

#include <rafter/mesh/mesh.hpp>
#include <rafter/space/function_space.hpp>

namespace rafter::io {

/// A field to write: a function of a space on the mesh.
struct OutputField {
  std::string name;
  std::shared_ptr<const space::FunctionSpace> space;
  std::span<const double> values; ///< local vector, num_local entries
};

struct VtkHdfOptions {
  /// Order of the cells; 0: the highest degree of fields and geometry. At most 10, VTK's limit.
  int order = 0;
};

/// Writes a VTK-HDF file (UnstructuredGrid, version 1.0), which ParaView 5.10 and VTK 9.1 and later open. Every cell is
/// a Lagrange cell (order 1: a linear cell; pyramids: linear pyramids and tetrahedra, as VTK has no usable Lagrange
/// pyramid) with points of its own at equispaced positions; fields are point data (two components padded to three), the
/// tags of the cells are the cell data "tag". The file appears under its name when complete. Throws EnvironmentError
/// that names the path when that fails.
void write_vtkhdf(const std::string& path, const mesh::Mesh& mesh, std::span<const OutputField> fields,
                  const VtkHdfOptions& options = {});

} // namespace rafter::io
