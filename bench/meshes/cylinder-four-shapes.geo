// SPDX-License-Identifier: BSD-3-Clause
// A quarter of a cylinder of radius 2 and height 1.5 in all shapes at once: hexahedra around the core, tetrahedra in its
// lower part with pyramids towards the hexahedra, prisms in its upper part. `size`: length of edges.
DefineConstant[ size = 0.4 ];
n = Ceil(1 / size);
Point(1) = {0, 0, 0, size};
Point(2) = {1, 0, 0, size};
Point(3) = {0, 1, 0, size};
Point(4) = {2, 0, 0, size};
Point(5) = {0, 2, 0, size};
Line(1) = {1, 2};
Circle(2) = {2, 1, 3};
Line(3) = {3, 1};
Line(4) = {2, 4};
Circle(5) = {4, 1, 5};
Line(6) = {5, 3};
Curve Loop(1) = {1, 2, 3};
Plane Surface(1) = {1};
Curve Loop(2) = {4, 5, 6, -2};
Plane Surface(2) = {2};
around = Ceil(1.5 * n);
Transfinite Curve{2, 5} = around + 1;
Transfinite Curve{4, 6} = n + 1;
Transfinite Surface{2};
Recombine Surface{2};
ring[] = Extrude {0, 0, 1} { Surface{2}; Layers{n}; Recombine; };
ring_top[] = Extrude {0, 0, 0.5} { Surface{ring[0]}; Layers{Ceil(n / 2)}; Recombine; };
core[] = Extrude {0, 0, 1} { Surface{1}; };
core_top[] = Extrude {0, 0, 0.5} { Surface{core[0]}; Layers{Ceil(n / 2)}; Recombine; };
Physical Volume("ring") = {ring[1], ring_top[1]};
Physical Volume("core") = {core[1]};
Physical Volume("prisms") = {core_top[1]};
Physical Surface("boundary") = CombinedBoundary{ Volume{ring[1], ring_top[1], core[1], core_top[1]}; };
