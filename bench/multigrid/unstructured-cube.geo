// SPDX-License-Identifier: BSD-3-Clause
// 268 220 tetrahedra with Gmsh 4.8.4: gmsh -3 -format msh41 -bin unstructured-cube.geo -o unstructured-cube.msh
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 1, 1, 1};
Mesh.MeshSizeMax = 0.0258;
Mesh.MeshSizeMin = 0.0258;
Physical Volume("cube", 1) = {1};
Physical Surface("sides", 2) = {1, 2, 3, 4, 5, 6};
