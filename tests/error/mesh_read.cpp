// SPDX-License-Identifier: BSD-3-Clause
// Every kind of error in a mesh file has a message that says where it is, what was found, and what would be right.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include <rafter/base/error.hpp>
#include <rafter/mesh/readers.hpp>

#include <tests/support/source_directory.hpp>

namespace {

using namespace rafter;

std::string sample(const std::string& name) { return test::source_directory() + "/tests/data/meshes/" + name; }

std::string contents(const std::string& name) {
  std::ifstream file(sample(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Reads the text as a file and expects an InputError with all the words.
void expect_error(const std::string& text, const std::vector<std::string>& words, const std::string& name = "bad.msh") {
  const auto folder =
      std::filesystem::temp_directory_path() / ("rafter-error-" + std::to_string(std::random_device{}()));
  std::filesystem::create_directories(folder);
  const auto path = (folder / name).string();
  std::ofstream(path, std::ios::binary) << text;
  try {
    const auto mesh = mesh::read_mesh(path);
    ADD_FAILURE() << "accepted a mesh of " << mesh.num_cells() << " cells; expected: " << words.front();
  } catch (const base::InputError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(path), std::string::npos) << message;
    for (const auto& word : words)
      EXPECT_NE(message.find(word), std::string::npos) << "'" << word << "' is not in: " << message;
  }
  std::filesystem::remove_all(folder);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

const std::string square_nodes = "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n$EndNodes\n";
std::string gmsh(const std::string& elements, const std::string& nodes = square_nodes,
                 const std::string& version = "2.2 0 8") {
  return "$MeshFormat\n" + version + "\n$EndMeshFormat\n" + nodes + "$Elements\n" + elements + "$EndElements\n";
}
const std::string square = "1\n1 3 2 1 1 1 2 3 4\n";

std::string mfem(const std::string& elements, const std::string& boundary = "0",
                 const std::string& vertices = "4\n2\n0 0\n1 0\n1 1\n0 1", const std::string& dimension = "2") {
  return "MFEM mesh v1.0\n\ndimension\n" + dimension + "\nelements\n" + elements + "\nboundary\n" + boundary +
         "\nvertices\n" + vertices + "\n";
}

TEST(ReadErrors, FilesThatAreNotThere) {
  const auto message = [](const std::string& path) {
    try {
      mesh::read_mesh(path);
    } catch (const base::InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message("/no/such/mesh.msh").find("/no/such/mesh.msh: no such file"), std::string::npos);
  EXPECT_NE(message(test::source_directory()).find("a directory"), std::string::npos);
  EXPECT_NE(message("").find("no such file"), std::string::npos);
}

TEST(ReadErrors, EmptyAndForeignFiles) {
  expect_error("", {"empty"});
  expect_error(" \n\t\n", {"empty"});
  expect_error("solid cube\nfacet normal", {":1:", "'solid cube'", "Gmsh .msh 2.2 and 4.1", "MFEM mesh v1.0"});
  expect_error(std::string("\x7f"
                           "ELF\x02\x01\x01\0\0\0",
                           10),
               {"not a mesh format", "?ELF"});
}

TEST(ReadErrors, GmshVersions) {
  expect_error(gmsh(square, square_nodes, "4.0 0 8"), {":2:", "version 4;", "2.2 and 4.1"});
  expect_error(gmsh(square, square_nodes, "1.0 0 8"), {"version 1"});
  expect_error(gmsh(square, square_nodes, "two 0 8"), {":2:", "found 'two'"});
  expect_error(gmsh(square, square_nodes, "2.2 3 8"), {"file type is 3"});
  expect_error(gmsh(square, square_nodes, "2.2 0 4"), {"data size is 4"});
  expect_error("$NOD\n1\n", {"Gmsh 1"});
  expect_error("$Nodes\n0\n$EndNodes\n", {"expected $MeshFormat", "$Nodes"});
  expect_error("$MeshFormat\n2.2 1 8\n" + std::string("\x05\0\0\0", 4) + "\n$EndMeshFormat\n", {"byte order mark"});
}

TEST(ReadErrors, GmshSections) {
  expect_error("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n" + square_nodes, {"no section $Elements"});
  expect_error("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n", {"no section $Nodes"});
  expect_error("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Elements\n" + square + "$EndElements\n" + square_nodes,
               {"$Elements comes before $Nodes"});
  expect_error(gmsh(square, square_nodes + square_nodes), {"a second section $Nodes"});
  expect_error(gmsh(square, "$Periodic\n1 2 3\n" + square_nodes), {"$EndPeriodic", "truncated"});
  expect_error(gmsh(square, "rubbish\n" + square_nodes), {":4:", "found 'rubbish'"});
  expect_error(replaced(gmsh(square), "$EndNodes", "5 0 0 0"), {":10:", "expected '$EndNodes', found '5'"});
}

TEST(ReadErrors, GmshNodes) {
  expect_error(replaced(gmsh(square), "$Nodes\n4", "$Nodes\n5"), {":10:", "the number of a node"});
  expect_error(replaced(gmsh(square), "$Nodes\n4", "$Nodes\n400000000000"),
               {":5:", "more than the rest of the file can hold"});
  expect_error(replaced(gmsh(square), "$Nodes\n4", "$Nodes\n-4"), {"-4", "negative"});
  expect_error(replaced(gmsh(square), "4 0 1 0", "3 0 1 0"), {"node 3 is given twice"});
  expect_error(replaced(gmsh(square), "4 0 1 0", "4 0 nan 0"), {":9:", "not a finite number"});
  expect_error(replaced(gmsh(square), "4 0 1 0", "4 0 1,5 0"), {":9:", "found '1,5'"});
  expect_error(replaced(gmsh(square), "3 1 1 0", "3 1 1 0.5"),
               {"surface meshes are not supported", "(1, 1, 0.5)", "of a volume", "only if a physical group has them"});
}

TEST(ReadErrors, GmshElements) {
  expect_error(gmsh("1\n1 3 2 1 1 1 2 3 9\n"), {":13:", "element 1 has node 9", "not in $Nodes"});
  expect_error(gmsh("1\n1 16 2 1 1 1 2 3 4 1 2 3 4\n"),
               {":13:", "element type 16", "8-node quadrilateral", "serendipity"});
  expect_error(gmsh("1\n1 17 2 1 1 1\n"), {"20-node hexahedron", "Mesh.SecondOrderIncomplete"});
  expect_error(gmsh("1\n1 28 2 1 1 1\n"), {"line of order 5", "order 1 to 4"});
  expect_error(gmsh("1\n1 777 2 1 1 1\n"), {"element type 777 (unknown)"});
  expect_error(gmsh("3\n1 3 2 1 1 1 2 3 4\n"), {"found '$EndElements'"});
  expect_error(gmsh("99999999\n1 3 2 1 1 1 2 3 4\n"), {"the number of elements is 99999999"});
  expect_error(gmsh("1\n1 3 99999999 1 1 1 2 3 4\n"), {"the number of tags is 99999999"});
  expect_error(gmsh("0\n"), {"no cells"});
  expect_error(gmsh("1\n1 15 2 1 1 1\n"), {"no cells"});
  expect_error(gmsh("1\n1 3 2 1 1 1 2 3 3\n"), {"same vertex twice"});
}

TEST(ReadErrors, GmshNames) {
  const std::string names = "$PhysicalNames\n1\n2 1 square\n$EndPhysicalNames\n";
  expect_error(gmsh(square, names + square_nodes), {":6:", "double quotes"});
  expect_error(gmsh(square, replaced(names, "2 1", "4 1") + square_nodes), {"dimension 4"});
}

TEST(ReadErrors, Gmsh4) {
  const auto good = contents("plate-with-hole-tet.msh");
  expect_error(good.substr(0, good.size() / 2), {"truncated"});
  const std::string nodes = "$Nodes\n1 3 1 3\n2 1 0 3\n1\n2\n3\n0 0 0\n1 0 0\n0 1 0\n$EndNodes\n";
  expect_error(gmsh("1 2 1 2\n2 1 2 1\n1 1 2 3\n", nodes, "4.1 0 8"), {"2 elements are announced, 1 are given"});
  expect_error(gmsh("1 1 1 1\n3 1 2 1\n1 1 2 3\n", nodes, "4.1 0 8"), {"a block of dimension 3", "triangle"});
  expect_error(gmsh("1 1 1 1\n2 1 2 1\n1 1 2 -3\n", nodes, "4.1 0 8"), {"-3"});
  expect_error(gmsh("1 1 1 1\n2 1 2 1\n1 1 2 3\n", replaced(nodes, "1 3 1 3", "1 4 1 4"), "4.1 0 8"),
               {"4 nodes are announced, 3 are given"});
}

TEST(ReadErrors, BinaryFilesGiveTheByte) {
  const auto good = contents("annulus-hex-order3.msh");
  expect_error(good.substr(0, good.size() / 2), {", byte ", "truncated"});
  expect_error(good.substr(0, 22), {"truncated"});
}

TEST(ReadErrors, MfemHeaders) {
  expect_error("MFEM mesh v1.3\n", {":1:", "'MFEM mesh v1.3'", "'MFEM mesh v1.0' is supported"}, "bad.mesh");
  expect_error("MFEM NC mesh v1.0\n", {"non-conforming"}, "bad.mesh");
  expect_error("MFEM NURBS mesh v1.0\n", {"NURBS meshes are not supported"}, "bad.mesh");
  expect_error("MFEM INLINE mesh v1.0\n", {"'MFEM mesh v1.0' is supported"}, "bad.mesh");
  expect_error(mfem("1\n1 3 0 1 2 3", "0", "4\n2\n0 0", "4"), {":4:", "the dimension is 4"}, "bad.mesh");
  expect_error(replaced(mfem("1\n1 3 0 1 2 3"), "elements", "cells"), {":5:", "expected 'elements', found 'cells'"},
               "bad.mesh");
}

TEST(ReadErrors, MfemElements) {
  expect_error(mfem("1\n1 3 0 1 2 4"), {"has vertex 4", "4 vertices"}, "bad.mesh");
  expect_error(mfem("1\n1 3 0 1 2 -1"), {":7:", "vertex -1"}, "bad.mesh");
  expect_error(mfem("1\n1 3 0 1 2 2"), {"vertex 2 twice"}, "bad.mesh");
  expect_error(mfem("1\n1 9 0 1 2 3"), {"geometry type is 9", "7 (pyramid)"}, "bad.mesh");
  expect_error(mfem("1\n1 5 0 1 2 3"), {"geometry type 5 (hexahedron) has dimension 3"}, "bad.mesh");
  expect_error(mfem("1\n-1 3 0 1 2 3"), {"attribute -1"}, "bad.mesh");
  expect_error(mfem("0"), {"no cells"}, "bad.mesh");
  expect_error(mfem("77777777777\n1 3 0 1 2 3"), {"number of elements is 77777777777"}, "bad.mesh");
  expect_error(mfem("1\n1 3 0 1 2 3", "1\n1 2 0 1 2"), {"geometry type 2 (triangle)", "boundary elements"}, "bad.mesh");
  expect_error(mfem("2\n1 2 0 1 2\n1 2 0 2 3", "1\n5 1 1 3"), {"facet with tag 5", "not a facet of any cell"},
               "bad.mesh");
}

TEST(ReadErrors, MfemVertices) {
  expect_error(mfem("1\n1 3 0 1 2 3", "0", "4\n2\n0 0\n1 0\n1 1\n0"), {"truncated"}, "bad.mesh");
  expect_error(mfem("1\n1 3 0 1 2 3", "0", "4\n3\n0 0 0\n1 0 0\n1 1 0\n0 1 0"), {"3 coordinates", "surface meshes"},
               "bad.mesh");
  expect_error(mfem("1\n1 3 0 1 2 3", "0", "4\n2\n0 0\n1 0\n1 x\n0 1"), {"found 'x'"}, "bad.mesh");
  expect_error(mfem("1\n1 3 0 1 2 3", "0", "4\n2\n0 0\n1 0\n1 inf\n0 1"), {"finite"}, "bad.mesh");
  expect_error(mfem("1\n1 3 0 1 2 3", "0", "4\n2\n0 0\n1 0\n1 1\n0 1\n7"), {"unexpected '7'"}, "bad.mesh");
}

TEST(ReadErrors, MfemNodes) {
  const auto toroid = contents("toroid-hex.mesh");
  const auto with_collection = [&](const std::string& name) { return replaced(toroid, "H1_3D_P3", name); };
  expect_error(with_collection("NURBS3"), {"collection 'NURBS3'", "H1_3D_P<degree>"}, "bad.mesh");
  expect_error(with_collection("L2_3D_P3"), {"'L2_3D_P3' are not supported"}, "bad.mesh");
  expect_error(with_collection("H1_2D_P3"), {"'H1_2D_P3'"}, "bad.mesh");
  expect_error(with_collection("H1_3D_P99"), {"degree 99"}, "bad.mesh");
  expect_error(with_collection("H1_3D_P0"), {"degree 0"}, "bad.mesh");
  expect_error(with_collection("H1_3D_P4"), {"truncated"}, "bad.mesh");
  expect_error(with_collection("H1_3D_P12"), {"the number of nodes inside cells is 7986"}, "bad.mesh");
  expect_error(with_collection("H1_3D_P2"), {"after the mesh"}, "bad.mesh");
  expect_error(replaced(toroid, "VDim: 3", "VDim: 2"), {"2 components", "dimension 3"}, "bad.mesh");
  expect_error(replaced(toroid, "Ordering: 1", "Ordering: 2"), {"ordering is 2"}, "bad.mesh");
  expect_error(replaced(contents("equilateral-pyramid.mesh"), "5\n3\n",
                        "5\nnodes\nFiniteElementSpace\nFiniteElementCollection: H1_3D_P2\n"),
               {"curved pyramids"}, "bad.mesh");
}

TEST(ReadErrors, CellsThatAreInvertedDuplicateOrCrowded) {
  expect_error(mfem("2\n1 2 0 1 2\n1 2 0 3 2"), {"triangle 1", "inverted", "(0.333333, 0.666667)"}, "bad.mesh");
  expect_error(mfem("1\n1 3 0 1 3 2"), {"degenerate or partly inverted"}, "bad.mesh");
  // Second-order triangles with the same corners, but other nodes on one side, are two cells in one place.
  expect_error(
      gmsh("2\n1 9 2 1 1 1 2 3 4 5 6\n2 9 2 1 1 2 3 1 5 6 7\n",
           "$Nodes\n7\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0.5 0 0\n5 0.5 0.5 0\n6 0 0.5 0\n7 0.5 0.1 0\n$EndNodes\n"),
      {"triangle 0", "triangle 1", "duplicate cells"});
  expect_error(mfem("3\n1 2 0 1 2\n1 2 0 2 3\n1 2 0 4 2", "0", "5\n2\n0 0\n1 0\n1 1\n0 1\n3 -1"),
               {"belongs to 3 cells", "at most two"}, "bad.mesh");
  expect_error(mfem("2\n1 2 0 1 2\n1 2 3 4 5", "0", "6\n2\n0 0\n2 0\n0 2\n1 0\n1 -1\n2 -1"),
               {"do not conform", "(1, 0)"}, "bad.mesh");
}

} // namespace
