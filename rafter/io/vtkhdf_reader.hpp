// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <rafter/space/function_space.hpp>

namespace rafter::io {

/// A file that write_vtkhdf() has written: its point data as functions of points in space.
class VtkHdfReader {
public:
  /// Reads points and cells. Throws InputError that names the file for what is no VTK-HDF file, for files in several
  /// parts or with time steps, cells that write_vtkhdf() does not write, and arrays that do not fit together.
  explicit VtkHdfReader(const std::string& path);
  ~VtkHdfReader();
  VtkHdfReader(const VtkHdfReader&) = delete;
  VtkHdfReader& operator=(const VtkHdfReader&) = delete;

  /// Highest order of the cells: what fields of this degree had at most is in the file. Pyramids count with the order
  /// of the linear cells that they became.
  int order() const;
  /// Dimension of the cells, which is that of the space.
  int dimension() const;
  /// Names of the arrays of point data.
  std::vector<std::string> names() const;
  /// Components of an array of point data in the file, where two components are padded to three. Throws InputError with
  /// the nearest name where there is no such array.
  int num_components(const std::string& name) const;

  /// The function that interpolates the first `count` components of an array in the cells, exact where the file holds a
  /// polynomial of the order of its cells. On points that cells of several tags have apart, it takes the value of the
  /// first cell. Throws InputError for arrays that are missing, have fewer components or more (but zeros after two),
  /// and values that are not finite. The function throws InputError for points that no cell holds; it may outlive the
  /// reader.
  space::SpatialFunction function(const std::string& name, int count) const;

private:
  class File;
  std::shared_ptr<const File> file_;
};

} // namespace rafter::io
