// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <rafter/operator/run/sparse_matrix.hpp>

/// Groups nodes that a matrix couples strongly into aggregates, each of which is one node of a coarser level (Vanek,
/// Mandel, Brezina, Computing 56 (1996) 179-196, doi:10.1007/BF02238511).
namespace rafter::solvers {

/// The unknowns of each node, the place where they are together.
struct Nodes {
  std::vector<std::int32_t> offsets;  ///< shape (node + 1)
  std::vector<std::int32_t> unknowns; ///< rows of the matrix, shape (offsets.back())
  std::vector<std::int32_t> node;     ///< node of each unknown, shape (unknown); -1: it has none
  /// Number of the component for which each unknown stands, shape (unknown): entries of unknowns that stand for the
  /// same show how strongly two nodes are connected. Unknowns with -1 do not count.
  std::vector<std::int32_t> component;

  std::int32_t count() const { return static_cast<std::int32_t>(offsets.size()) - 1; }
  std::span<const std::int32_t> of(std::int32_t number) const {
    return std::span(unknowns).subspan(static_cast<std::size_t>(offsets[static_cast<std::size_t>(number)]),
                                       static_cast<std::size_t>(offsets[static_cast<std::size_t>(number) + 1] -
                                                                offsets[static_cast<std::size_t>(number)]));
  }
};

/// Makes the lists of unknowns of so many nodes. `node` and `component` are as in Nodes.
Nodes make_nodes(std::int32_t count, std::vector<std::int32_t> node, std::vector<std::int32_t> component);

/// The nodes to which each node is strongly connected.
struct StrongConnections {
  std::vector<std::int64_t> offsets;    ///< shape (node + 1)
  std::vector<std::int32_t> neighbours; ///< shape (offsets.back()), without the node itself
  std::vector<float> strengths;         ///< s_ij over the geometric mean of the largest of both nodes, as neighbours
  /// 1 where a node is coupled to others by entries that smooth functions make small, shape (node). Other nodes, among
  /// them constrained ones, whose rows are those of the identity, are left to smoothers.
  std::vector<std::uint8_t> is_coupled;
};

/// Nodes are strongly connected if s_ij >= threshold sqrt(m_i m_j), with s_ij = -sum_c a_(i,c)(j,c) over equal
/// components c of two nodes and m_i = max_j s_ij. For isotropic materials the sum is a multiple of the entry of a
/// Laplacian. Its sign distinguishes the stiff directions of stretched cells from those in which entries are large and
/// positive, as those of mass matrices are; the largest entries of both nodes keep aggregates within one of two
/// materials.
StrongConnections find_strong_connections(const op::SparseMatrix& A, const Nodes& nodes, double threshold);

/// The aggregate of each node.
struct Aggregates {
  std::int32_t count = 0;
  std::vector<std::int32_t> of_node; ///< shape (node); -1: the node is in none because it is not coupled
};

/// Covers every coupled node exactly once: first by nodes with all strong neighbours, where these are free, then the
/// nodes that are left join the neighbouring aggregate to which they are connected most strongly, then those without
/// such a neighbour form aggregates with each other.
Aggregates make_aggregates(const StrongConnections& connections);

} // namespace rafter::solvers
