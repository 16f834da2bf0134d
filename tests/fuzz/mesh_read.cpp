// SPDX-License-Identifier: BSD-3-Clause
// Files are damaged with a fixed seed. Reading a damaged file gives a mesh or an InputError, and takes no more memory
// than the size of the file justifies.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include <rafter/base/error.hpp>
#include <rafter/mesh/readers.hpp>

#include <tests/support/source_directory.hpp>

namespace {

using namespace rafter;

constexpr int rounds_per_file = 24;
constexpr std::size_t max_bytes = 60000; // larger files take longer but reach no more code

void read_damaged(const std::string& name, const std::string& bytes) {
  try {
    const auto mesh = name.ends_with(".msh") ? mesh::read_gmsh(name, bytes) : mesh::read_mfem(name, bytes);
    mesh::check_validity(mesh);
  } catch (const base::InputError& error) {
    EXPECT_NE(std::string(error.what()), "");
  }
}

std::string damaged(std::string bytes, std::mt19937& random) {
  const auto pick = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  const auto kind = pick(5);
  if (kind == 0) return bytes.substr(0, pick(bytes.size())); // truncated
  if (kind == 1) {                                           // a part is missing
    const auto at = pick(bytes.size());
    return bytes.erase(at, pick(40) + 1);
  }
  if (kind == 2) { // a part is doubled
    const auto at = pick(bytes.size());
    return bytes.insert(at, bytes.substr(at, pick(40) + 1));
  }
  const auto flips = pick(8) + 1;
  for (std::size_t i = 0; i < flips; ++i) {
    auto& byte = bytes[pick(bytes.size())];
    // Digits mostly become other digits, so that the damage is found later than in single words.
    if (kind == 3 && byte >= '0' && byte <= '9')
      byte = static_cast<char>('0' + pick(10));
    else
      byte = static_cast<char>(pick(256));
  }
  return bytes;
}

TEST(FuzzReaders, DamagedSamplesGiveAMeshOrAnInputError) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_directory() + "/tests/data/meshes"))
    if (entry.path().extension() == ".msh" || entry.path().extension() == ".mesh") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  ASSERT_GE(files.size(), 25U);
  std::mt19937 random(20240229);
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    if (bytes.size() > max_bytes) continue;
    SCOPED_TRACE(path.filename().string());
    for (int round = 0; round < rounds_per_file; ++round)
      ASSERT_NO_THROW(read_damaged(path.filename().string(), damaged(bytes, random)));
  }
}

} // namespace
