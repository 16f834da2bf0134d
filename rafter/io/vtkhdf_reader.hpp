// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <rafter/space/interpolate.hpp>

namespace rafter::io {

/// This reads a file that write_vtkhdf() or VtkHdfSeries has written: its point data become functions of points in
/// space. Of a file with several times, the last one counts.
class VtkHdfReader {
public:
  /// Reads points and cells. Throws InputError that names the file for what is no VTK-HDF file, for files in several
  /// parts, cells that write_vtkhdf() does not write, and arrays that do not fit together.
  explicit VtkHdfReader(const std::string& path);
  ~VtkHdfReader();
  VtkHdfReader(const VtkHdfReader&) = delete;
  VtkHdfReader& operator=(const VtkHdfReader&) = delete;

  /// Returns the highest order of the cells, which is the highest degree of fields that the file holds exactly.
  /// Pyramids count as order 1, that of the linear cells into which they were split.
  int order() const;
  /// Returns the dimension of the cells, which is that of the space.
  int dimension() const;
  /// Returns the names of the arrays of point data.
  std::vector<std::string> names() const;
  /// Returns the number of components that an array of point data has in the file, where two components are padded to
  /// three. Throws InputError with the nearest name if there is no such array.
  int num_components(const std::string& name) const;

  /// Returns the function that interpolates the first `count` components of an array in the cells. It is exact where
  /// the file holds a polynomial of the order of its cells. If cells of several tags have separate points at one place,
  /// it takes the value of the first cell found. Throws InputError for arrays that are missing, have too few components
  /// or too many (except for the zeros that pad two to three), and for values that are not finite. The function throws
  /// InputError for points that no cell holds, and may outlive the reader.
  space::SpatialFunction function(const std::string& name, int count) const;

private:
  class File;
  std::shared_ptr<const File> file_;
};

} // namespace rafter::io
