// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/mesh/mesh.hpp>

#include <tests/support/source_directory.hpp>

/// The meshes of tests/data/meshes.
namespace rafter::test {

inline std::string sample_path(const std::string& name) { return source_directory() + "/tests/data/meshes/" + name; }
inline mesh::Mesh sample_mesh(const std::string& name) { return mesh::read_mesh(sample_path(name)); }

} // namespace rafter::test
