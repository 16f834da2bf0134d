// SPDX-License-Identifier: BSD-3-Clause
// Binary Gmsh files are written here byte by byte from the description of the format, in both byte orders.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include <rafter/mesh/readers.hpp>

namespace {

using namespace rafter;

/// This collects binary numbers in the byte order of this machine or in the other one.
class Bytes {
public:
  explicit Bytes(bool swapped) : swapped_(swapped) {}
  Bytes& text(const std::string& t) {
    bytes_ += t;
    return *this;
  }
  template <class T> Bytes& add(std::initializer_list<T> values) {
    for (const T value : values) {
      char buffer[sizeof(T)];
      std::memcpy(buffer, &value, sizeof(T));
      if (swapped_) std::reverse(buffer, buffer + sizeof(T));
      bytes_.append(buffer, sizeof(T));
    }
    return *this;
  }
  Bytes& ints(std::initializer_list<std::int32_t> v) { return add(v); }
  Bytes& sizes(std::initializer_list<std::uint64_t> v) { return add(v); }
  Bytes& doubles(std::initializer_list<double> v) { return add(v); }
  const std::string& str() const { return bytes_; }

private:
  bool swapped_;
  std::string bytes_;
};

/// The file has a tetrahedron of volume 1 in group 5, in version 4 also in group 6, and a facet x = 0 with tag 9; its
/// nodes are 10, 20, 30, 40.
std::string version_2(bool swapped) {
  Bytes b(swapped);
  b.text("$MeshFormat\n2.2 1 8\n").ints({1}).text("\n$EndMeshFormat\n$Nodes\n4\n");
  b.ints({10}).doubles({0, 0, 0}).ints({20}).doubles({1, 0, 0}).ints({30}).doubles({0, 2, 0}).ints({40}).doubles(
      {0, 0, 3});
  b.text("\n$EndNodes\n$Elements\n2\n");
  b.ints({2, 1, 2}).ints({1, 9, 1, 10, 30, 40});     // type 2 (triangle), one element, two tags
  b.ints({4, 1, 2}).ints({2, 5, 1, 10, 20, 30, 40}); // type 4 (tetrahedron)
  return b.text("\n$EndElements\n").str();
}

std::string version_4(bool swapped) {
  Bytes b(swapped);
  b.text("$MeshFormat\n4.1 1 8\n").ints({1}).text("\n$EndMeshFormat\n$Entities\n").sizes({0, 0, 1, 1});
  b.ints({3}).doubles({0, 0, 0, 0, 2, 3}).sizes({1}).ints({9}).sizes({0});              // surface 3, group 9
  b.ints({4}).doubles({0, 0, 0, 1, 2, 3}).sizes({2}).ints({5, 6}).sizes({1}).ints({3}); // volume 4, groups 5 and 6
  b.text("\n$EndEntities\n$Nodes\n").sizes({2, 4, 10, 40});
  b.ints({2, 3, 1}).sizes({3, 10, 30, 40}); // nodes on surface 3 have two parameters each
  b.doubles({0, 0, 0, 7, 7, 0, 2, 0, 7, 7, 0, 0, 3, 7, 7});
  b.ints({3, 4, 0}).sizes({1, 20}).doubles({1, 0, 0});
  b.text("\n$EndNodes\n$Elements\n").sizes({2, 2, 1, 2});
  b.ints({2, 3, 2}).sizes({1, 1, 10, 30, 40});
  b.ints({3, 4, 4}).sizes({1, 2, 10, 20, 30, 40});
  return b.text("\n$EndElements\n$Periodic\n").sizes({0}).text("\n$EndPeriodic\n").str();
}

void expect_the_tetrahedron(const std::string& bytes, const std::vector<std::int32_t>& groups) {
  const auto mesh = mesh::read_gmsh("t.msh", bytes);
  ASSERT_EQ(mesh.num_cells(), 1);
  EXPECT_EQ(mesh.groups[0].shape, element::Shape::tetrahedron);
  EXPECT_EQ(mesh.physical_groups.groups_of(3, mesh.groups[0].tags[0]), groups);
  EXPECT_NEAR(mesh::check_validity(mesh).volume, 1, 1e-14);
  const auto& topology = mesh.topology();
  ASSERT_EQ(topology.exterior_facets.size(), 4U);
  EXPECT_EQ(std::ranges::count(topology.exterior_tags, 9), 1);
  EXPECT_EQ(std::ranges::count(topology.exterior_tags, 0), 3);
  const auto tagged = std::ranges::find(topology.exterior_tags, 9) - topology.exterior_tags.begin();
  EXPECT_EQ(element::reference_normal(element::Shape::tetrahedron,
                                      topology.exterior_facets[static_cast<std::size_t>(tagged)].facet)[0],
            -1);
}

TEST(ReadGmshBinary, Version2InBothByteOrders) {
  expect_the_tetrahedron(version_2(false), {5});
  expect_the_tetrahedron(version_2(true), {5});
}

TEST(ReadGmshBinary, Version4InBothByteOrders) {
  expect_the_tetrahedron(version_4(false), {5, 6});
  expect_the_tetrahedron(version_4(true), {5, 6});
}

} // namespace
