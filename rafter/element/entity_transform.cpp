// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/element/entity_transform.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <rafter/base/error.hpp>

namespace rafter::element {

EntityTransform EntityTransform::identity(int size) {
  std::vector<int> permutation(static_cast<std::size_t>(size));
  std::iota(permutation.begin(), permutation.end(), 0);
  return of_permutation(std::move(permutation));
}

EntityTransform EntityTransform::of_permutation(std::vector<int> permutation) {
  return of_signed_permutation(std::move(permutation), {});
}

EntityTransform EntityTransform::of_signed_permutation(std::vector<int> permutation, std::vector<double> signs) {
  EntityTransform result;
  result.size = static_cast<int>(permutation.size());
  result.permutation = std::move(permutation);
  if (std::ranges::any_of(signs, [](double sign) { return sign != 1; })) result.signs = std::move(signs);
  return result;
}

EntityTransform EntityTransform::of_matrix(std::vector<double> matrix, int size) {
  EntityTransform result;
  result.size = size;
  result.matrix = std::move(matrix);
  return result;
}

EntityTransform::Kind EntityTransform::kind() const {
  if (!matrix.empty()) return Kind::matrix;
  return signs.empty() ? Kind::permutation : Kind::signed_permutation;
}

bool EntityTransform::is_identity() const {
  if (kind() != Kind::matrix) return signs.empty() && std::ranges::is_sorted(permutation);
  for (int i = 0; i < size; ++i)
    for (int k = 0; k < size; ++k)
      if ((*this)(i, k) != (i == k ? 1 : 0)) return false;
  return true;
}

double EntityTransform::operator()(int seen, int canonical) const {
  const auto row = static_cast<std::size_t>(seen);
  if (kind() == Kind::matrix) return matrix[row * static_cast<std::size_t>(size) + static_cast<std::size_t>(canonical)];
  if (permutation[row] != canonical) return 0;
  return signs.empty() ? 1 : signs[row];
}

void EntityTransform::verify() const {
  const auto n = static_cast<std::size_t>(size);
  if (!matrix.empty()) {
    if (matrix.size() != n * n || !permutation.empty() || !signs.empty())
      throw base::InternalError("element: a transform of an entity is a square matrix or a permutation with signs");
    return;
  }
  auto sorted = permutation;
  std::ranges::sort(sorted);
  if (sorted != identity(size).permutation)
    throw base::InternalError("element: a transform of an entity takes two dofs to one place");
  if (!signs.empty() &&
      (signs.size() != n || std::ranges::any_of(signs, [](double sign) { return std::abs(sign) != 1; })))
    throw base::InternalError("element: the signs of a transform of an entity are 1 or -1, one for each dof");
}

} // namespace rafter::element
