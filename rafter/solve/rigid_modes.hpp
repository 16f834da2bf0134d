// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <string>
#include <vector>

#include <rafter/operator/linear_operator.hpp>
#include <rafter/operator/unknowns.hpp>

/// Constants and infinitesimal rotations: the functions that differential operators map to zero.
namespace rafter::solvers {

using op::Unknowns;

/// Constants of a component of a field (translations of a vector field), or rotations in the plane of two components.
struct Mode {
  std::string name;
  std::size_t field = 0;
  int component = 0;
  int other = -1; ///< rotation from this component; -1: constants
};
/// One per component: "constants of p", "constants of component 0 of u".
std::vector<Mode> constant_modes(const op::System& system, std::size_t field);
/// One per pair of axes for fields with one component per axis, else none: "rotations of u".
std::vector<Mode> rotation_modes(const op::System& system, std::size_t field);

/// Numbers of one kind per piece of the mesh.
using PerPiece = std::vector<double>;

/// Means of the coordinates of a field's nodes, shape (piece, axis), for rotations; nothing for constants.
std::vector<double> centres_for(const Unknowns& unknowns, std::int32_t num_pieces, const Mode& mode);

/// The mode at an entry, rotations about the centre of its piece; 0 outside the pieces and in other fields.
double mode_value(const Unknowns& unknowns, const Mode& mode, std::span<const double> centres, std::size_t entry);

/// What the mode at x + t has more than at x in a component: 0 of constants; a rotation is periodic where it is 0.
double mode_jump(const Mode& mode, const std::array<double, 3>& translation, int component);

/// Modes of one field on the pieces of a mesh, in the combinations that are zero at constrained entries and periodic
/// where the mesh is.
class FreeModes {
public:
  /// The unknowns must outlive the object. Constrained entries of other fields do not matter.
  FreeModes(const Unknowns& unknowns, std::int32_t num_pieces, std::vector<Mode> modes,
            std::span<const std::int32_t> constrained);

  /// A linear combination of the modes, named after one of them, which it holds with coefficient 1.
  struct Combination {
    std::size_t mode = 0; ///< after which it is named
    std::string name;
    std::vector<double> coefficients; ///< shape (mode)
  };
  /// A basis of the combinations on a piece that vanish at its constrained entries and do not jump by its periods (to
  /// 1e-10 of their size), by Gaussian elimination with pivoting: as many as modes where there is neither.
  std::vector<Combination> on(std::int32_t piece) const;
  /// The combination on the piece into a system's vector; the other entries stay as they are.
  void evaluate(const Combination& combination, std::int32_t piece, std::span<double> vector) const;

private:
  std::vector<double> values(std::size_t mode, std::span<const std::int32_t> entries) const;
  /// Values at the constrained entries of a piece, then jumps by its periods.
  std::vector<double> constrained_values(std::size_t mode, std::size_t piece) const;
  const Unknowns& unknowns_;
  std::vector<Mode> modes_;
  std::vector<std::vector<double>> centres_;                     ///< shape (mode)
  std::vector<std::vector<std::int32_t>> entries_, constrained_; ///< of the field, shape (piece)
};

/// 2-norms of the entries on each piece: all, or those with is_free != 0 (empty: all).
PerPiece piece_norms(const Unknowns& unknowns, std::int32_t num_pieces, std::span<const double> values,
                     std::span<const std::uint8_t> is_free = {});

/// How much an operator on the system enlarges random vectors of one field that are zero where is_free = 0, per piece:
/// what images of modes are compared with.
PerPiece magnitudes(const op::LinearOperator& A, const Unknowns& unknowns, std::int32_t num_pieces, std::size_t field,
                    std::span<const std::uint8_t> is_free);

/// Largest |A v| / (|A| |v|) of a vector in the null space of an operator, |A| from random vectors: rounding of images
/// that cancel makes about 1e-15.
inline constexpr double null_space_noise = 2e-13;

} // namespace rafter::solvers
