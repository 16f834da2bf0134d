// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <tuple>
#include <vector>

namespace rafter::element {

/// Takes the dofs in the interior of a shared entity from its canonical frame to the frame in which a cell sees it
/// (orientation.hpp): seen = T canonical. Results go back by the transpose, since the cell's basis functions belong to
/// the dofs that it sees. T is a permutation for point evaluations, a permutation with signs for moments of normal or
/// tangential components that turn with the entity, and a matrix where functions mix, as the tangential moments on
/// triangles do.
struct EntityTransform {
  enum class Kind : std::uint8_t { permutation, signed_permutation, matrix };

  std::vector<int> permutation; ///< canonical position of the k-th dof that the cell sees, shape (seen dof)
  std::vector<double> signs;    ///< 1 or -1, shape (seen dof): seen_k = sign_k canonical_permutation[k]; empty: all 1
  std::vector<double> matrix;   ///< T itself, shape (seen dof, canonical dof), in place of the others; empty: they hold
  int size = 0;                 ///< number of dofs

  static EntityTransform identity(int size);
  static EntityTransform of_permutation(std::vector<int> permutation);
  /// Leaves out signs that are all 1.
  static EntityTransform of_signed_permutation(std::vector<int> permutation, std::vector<double> signs);
  static EntityTransform of_matrix(std::vector<double> matrix, int size);

  Kind kind() const;
  bool is_identity() const;
  /// Entry of T, whatever its kind.
  double operator()(int seen, int canonical) const;
  /// Throws InternalError unless sizes fit, the permutation is one, and signs are 1 or -1.
  void verify() const;
};
inline auto members(const EntityTransform& value) {
  const auto& [permutation, signs, matrix, size] = value;
  return std::tie(permutation, signs, matrix, size);
}

} // namespace rafter::element
