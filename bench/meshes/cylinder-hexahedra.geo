// SPDX-License-Identifier: BSD-3-Clause
// A cylinder of radius and height 1: a disc that is paved with quadrilaterals without structure, in layers of hexahedra.
// `size`: length of edges.
DefineConstant[ size = 0.25 ];
SetFactory("OpenCASCADE");
Disk(1) = {0, 0, 0, 1};
Mesh.MeshSizeMin = size;
Mesh.MeshSizeMax = size;
Mesh.RecombinationAlgorithm = 2; // quadrilaterals alone, which halves the edges
Recombine Surface{1};
body[] = Extrude {0, 0, 1} { Surface{1}; Layers{Ceil(1 / size)}; Recombine; };
Physical Volume("body") = {body[1]};
Physical Surface("boundary") = Boundary{ Volume{body[1]}; };
