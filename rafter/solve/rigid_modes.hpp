// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <string>
#include <vector>

#include <rafter/operator/generate/unknowns.hpp>
#include <rafter/operator/run/linear_operator.hpp>

/// Finds constants and infinitesimal rotations, which are the functions that differential operators map to zero.
namespace rafter::solvers {

using op::Unknowns;

/// Constants of a component of a field (translations of a vector field), or rotations in the plane of two components.
struct Mode {
  std::string name;
  std::size_t field = 0;
  int component = 0;
  int other = -1; ///< second component of the plane of a rotation; -1: the mode is a constant
};
/// Returns one mode per component, as "constants of p" or "constants of component 0 of u".
std::vector<Mode> constant_modes(const op::System& system, std::size_t field);
/// Returns one mode per pair of axes, "rotations of u", for fields with one component per axis; else none.
std::vector<Mode> rotation_modes(const op::System& system, std::size_t field);

/// A number for each connected component of the mesh.
using PerConnectedComponent = std::vector<double>;

/// Means of the coordinates of a field's nodes, shape (connected component, axis), as centres of rotations; empty for
/// constants.
std::vector<double> centres_for(const Unknowns& unknowns, std::int32_t num_connected_components, const Mode& mode);

/// The mode at an entry, where rotations are about the centre of its connected component; 0 outside of the connected
/// components and in other fields.
double mode_value(const Unknowns& unknowns, const Mode& mode, std::span<const double> centres, std::size_t entry);

/// Difference of the mode at x + t from the mode at x in a component. It is 0 for constants; rotations are periodic
/// where it is 0.
double mode_jump(const Mode& mode, const std::array<double, 3>& translation, int component);

/// Finds the combinations of the modes of one field that are zero at constrained entries and periodic where the mesh
/// is, on each connected component of a mesh.
class FreeModes {
public:
  /// The unknowns must outlive the object. Constrained entries of other fields do not matter.
  FreeModes(const Unknowns& unknowns, std::int32_t num_connected_components, std::vector<Mode> modes,
            std::span<const std::int32_t> constrained);

  /// A linear combination of the modes, named after one of them, which it holds with coefficient 1.
  struct Combination {
    std::size_t mode = 0; ///< number of the mode that it is named after
    std::string name;
    std::vector<double> coefficients; ///< shape (mode)
  };
  /// Returns a basis of the combinations on a connected component that vanish at its constrained entries and are
  /// periodic by its translations (to 1e-10 of their size), by Gaussian elimination with pivoting. There are as many as
  /// modes where there is neither.
  std::vector<Combination> on(std::int32_t connected_component) const;
  /// Writes the combination on the connected component into a vector of the system; the other entries stay as they are.
  void evaluate(const Combination& combination, std::int32_t connected_component, std::span<double> vector) const;

private:
  std::vector<double> values(std::size_t mode, std::span<const std::int32_t> entries) const;
  /// Values at the constrained entries of a connected component, then jumps by its translations.
  std::vector<double> constrained_values(std::size_t mode, std::size_t connected_component) const;
  const Unknowns& unknowns_;
  std::vector<Mode> modes_;
  std::vector<std::vector<double>> centres_; ///< shape (mode), each of shape (connected component, axis)
  /// Entries of the field, and its constrained ones, shape (connected component, entry).
  std::vector<std::vector<std::int32_t>> entries_, constrained_;
};

/// 2-norms of the entries on each connected component, of those with is_free != 0 alone unless it is empty.
PerConnectedComponent connected_component_norms(const Unknowns& unknowns, std::int32_t num_connected_components,
                                                std::span<const double> values,
                                                std::span<const std::uint8_t> is_free = {});

/// Factor by which an operator on the system enlarges random vectors of one field that are zero where is_free = 0, for
/// each connected component. Images of modes are compared with it.
PerConnectedComponent magnitudes(const op::LinearOperator& A, const Unknowns& unknowns,
                                 std::int32_t num_connected_components, std::size_t field,
                                 std::span<const std::uint8_t> is_free);

/// Largest |A v| / (|A| |v|) of a vector in the null space of an operator, with |A| from random vectors. Rounding of
/// images that cancel makes about 1e-15.
inline constexpr double null_space_noise = 2e-13;

} // namespace rafter::solvers
