// SPDX-License-Identifier: BSD-3-Clause
SetFactory("OpenCASCADE");
Box(1) = {0,0,0,1,1,1};
Physical Volume("body") = {1};
Physical Surface("xmin") = {1};
Physical Surface("rest") = {2,3,4,5,6};
Mesh.CharacteristicLengthMax = 0.0288; Mesh.CharacteristicLengthMin = 0.0288;
