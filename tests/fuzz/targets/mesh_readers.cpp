// SPDX-License-Identifier: BSD-3-Clause
// Bytes become a mesh, which is written as text and read back as the same mesh. The first line selects one of the
// formats of the registry.
#include <rafter/mesh/readers.hpp>
#include <rafter/mesh/writers.hpp>

#include "target.hpp"

namespace {

using namespace rafter;

/// A valid mesh that the format can hold is read back with as many cells.
template <class Write> void check_written(const mesh::Mesh& found, Write&& write) {
  std::string text;
  if (!fuzz::refusal([&] { text = write(found); }).empty()) return;
  fuzz::require(mesh::parse_mesh("written", text).num_cells() == found.num_cells(), "writing keeps the cells");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mesh::Mesh found;
  if (!fuzz::refusal([&] { found = mesh::parse_mesh("fuzzed", fuzz::as_text(data, size)); }).empty()) return 0;
  // The topology refuses duplicate cells and facets of three cells.
  if (!fuzz::refusal([&] { found.topology(); }).empty()) return 0;
  for (const auto version : {mesh::GmshVersion::v2_2, mesh::GmshVersion::v4_1})
    for (const bool is_binary : {false, true})
      check_written(found, [=](const mesh::Mesh& mesh) { return mesh::gmsh_text(mesh, version, is_binary); });
  check_written(found, mesh::mfem_text);
  return 0;
}
