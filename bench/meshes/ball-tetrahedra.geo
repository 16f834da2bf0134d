// SPDX-License-Identifier: BSD-3-Clause
// The unit ball in tetrahedra; of order 2 and more those along the sphere are curved. `size`: length of edges.
DefineConstant[ size = 0.5 ];
SetFactory("OpenCASCADE");
Sphere(1) = {0, 0, 0, 1};
Mesh.MeshSizeMin = size;
Mesh.MeshSizeMax = size;
Physical Volume("body") = {1};
Physical Surface("boundary") = Boundary{ Volume{1}; };
