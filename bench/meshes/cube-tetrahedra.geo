// SPDX-License-Identifier: BSD-3-Clause
// The unit cube in tetrahedra without any structure. `size`: length of edges.
DefineConstant[ size = 0.2 ];
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 1, 1, 1};
MeshSize{ PointsOf{ Volume{1}; } } = size;
Physical Volume("body") = {1};
Physical Surface("boundary") = Boundary{ Volume{1}; };
