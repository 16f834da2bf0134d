// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <optional>
#include <string>

#include <rafter/base/error.hpp>
#include <rafter/mesh/mesh.hpp>

/// Nodes that lie at one place made one, for files whose parts touch without sharing nodes.
namespace rafter::mesh {

/// Says how a mesh file is read.
struct ReadOptions {
  std::optional<double> merge{}; ///< nodes that are closer than this length are one; absent: as the file says
};

/// A length for which nodes cannot be made one. It differs from other InputErrors so that messages can name the key
/// that gave it.
class MergeError : public base::InputError {
public:
  using base::InputError::InputError;
};

/// Reads a mesh as read_mesh(path) does, and makes nodes one before the mesh is checked:
///
///     auto mesh = read_mesh("assembly.msh", {.merge = 1e-9});
///
/// Throws MergeError where merged() does. Warns where no nodes are closer than the length.
Mesh read_mesh(const std::string& path, const ReadOptions& options);

/// The mesh with vertices that are closer than `distance`, directly or from one to the next, made one, which has the
/// place and the order of the first of them. Nodes inside edges and faces follow those: where curved facets have the
/// same vertices then, their nodes must be as close. Facets that two cells share then lie inside the domain; where both
/// have tags, they are in the groups of both. Throws MergeError for a distance that is not
/// positive, not finite or not shorter than every edge, for cells that collapse, facets of more than two cells and
/// curved facets that do not match, and for meshes whose cells disagree about a vertex (periodic ones).
Mesh merged(const Mesh& mesh, double distance);

} // namespace rafter::mesh
