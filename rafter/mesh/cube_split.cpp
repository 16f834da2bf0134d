// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/mesh/cube_split.hpp>

#include <algorithm>
#include <utility>

namespace rafter::mesh {

namespace {

using element::Shape;

/// Corners of the face at end `side` of axis `axis`, in lexicographic order, right-handed as seen from the centre of
/// the cube.
std::array<int, 4> face_towards_centre(int axis, int side) {
  int u = 1 << (axis + 1) % 3, w = 1 << (axis + 2) % 3;
  if (side == 1) std::swap(u, w);
  const int corner = side << axis;
  return {corner, corner + u, corner + w, corner + u + w};
}

CubeCell pyramid_over(int axis, int side) {
  const auto f = face_towards_centre(axis, side);
  return {Shape::pyramid, {f[0], f[1], f[2], f[3], cube_centre}};
}

CubeSplit kuhn_tetrahedra() {
  CubeSplit split;
  std::array<int, 3> axes{0, 1, 2};
  do {
    int second = 1 << axes[0], third = second + (1 << axes[1]);
    const bool odd = (axes[0] > axes[1]) != ((axes[0] > axes[2]) != (axes[1] > axes[2]));
    if (odd) std::swap(second, third);
    split.cells.push_back({Shape::tetrahedron, {0, second, third, 7}});
  } while (std::next_permutation(axes.begin(), axes.end()));
  return split;
}

} // namespace

CubeSplit split_into(Shape shape) {
  switch (shape) {
  case Shape::point:
    break;
  case Shape::interval:
    return {{{shape, {0, 1}}}, false};
  case Shape::triangle:
    return {{{shape, {0, 1, 3}}, {shape, {0, 3, 2}}}, false};
  case Shape::quadrilateral:
    return {{{shape, {0, 1, 2, 3}}}, false};
  case Shape::tetrahedron:
    return kuhn_tetrahedra();
  case Shape::hexahedron:
    return {{{shape, {0, 1, 2, 3, 4, 5, 6, 7}}}, false};
  case Shape::prism:
    return {{{shape, {0, 1, 3, 4, 5, 7}}, {shape, {0, 3, 2, 4, 7, 6}}}, false};
  case Shape::pyramid: {
    CubeSplit split{{}, true};
    for (int axis = 0; axis < 3; ++axis)
      for (int side = 0; side < 2; ++side) split.cells.push_back(pyramid_over(axis, side));
    return split;
  }
  }
  return {};
}

CubeSplit split_between_hexahedra_and_tetrahedra() {
  CubeSplit split = split_into(Shape::pyramid);
  std::erase_if(split.cells, [right = pyramid_over(0, 1)](const CubeCell& p) { return p.vertices == right.vertices; });
  const auto f = face_towards_centre(0, 1);
  // Kuhn tetrahedra cut every face along the diagonal from its lowest to its highest corner.
  split.cells.push_back({Shape::tetrahedron, {f[0], f[1], f[3], cube_centre}});
  split.cells.push_back({Shape::tetrahedron, {f[0], f[3], f[2], cube_centre}});
  return split;
}

} // namespace rafter::mesh
