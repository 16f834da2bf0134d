// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <vector>

#include <rafter/mesh/generations.hpp>
#include <rafter/operator/levels/compiled_transfer.hpp>
#include <rafter/space/function_space.hpp>

#include <tests/support/operator_problems.hpp>

/// Transfers are tested between spaces on a mesh, and between those on a mesh and on its refinement.
namespace rafter::test {

/// Says which fields are on both sides of a transfer.
struct TransferFields {
  int coarse_degree = 1, fine_degree = 2;
  std::vector<int> components{0}; ///< shape (field), as space::SpaceOptions::components
};

/// The way says what connects the meshes of both sides.
struct TransferWay {
  bool is_refined = false; ///< false: both sides are on one mesh
  mesh::Axes axes{};       ///< along which it is refined
};

/// Every shape with all ways: on one mesh, refined, and refined along some axes alone where its cells can be.
struct TransferCase {
  std::string shape;
  TransferWay way;
};
inline std::vector<TransferCase> transfer_cases() {
  std::vector<TransferCase> result;
  for (const auto& shape : box_shapes()) {
    result.push_back({shape, {false}});
    result.push_back({shape, {true}});
  }
  constexpr mesh::Axes x{1}, y{2}, z{4}, xy{3}, yz{6};
  for (const auto& [shape, axes] :
       {std::pair{"quadrilateral", y}, {"hexahedron", x}, {"hexahedron", yz}, {"prism", xy}, {"prism", z}})
    result.push_back({shape, {true, axes}});
  return result;
}
inline std::string name(const TransferCase& of) {
  if (!of.way.is_refined) return of.shape + "_degrees";
  std::string along;
  for (int axis = 0; axis < 3 && of.way.axes != mesh::Axes{}; ++axis)
    if (of.way.axes.has(axis)) along += "xyz"[axis];
  return of.shape + "_refined" + (along.empty() ? "" : "_along_" + along);
}

/// Two systems with what connects them.
class TransferProblem {
public:
  TransferProblem(mesh::Mesh mesh, bool is_refined, const TransferFields& fields)
      : TransferProblem(std::move(mesh), TransferWay{is_refined}, fields) {}
  TransferProblem(mesh::Mesh mesh, const TransferWay& way, const TransferFields& fields) {
    const bool is_refined = way.is_refined;
    const std::vector<mesh::Axes> steps(is_refined ? 1 : 0, way.axes);
    generations_ = mesh::refined_generations(std::make_shared<const mesh::Mesh>(std::move(mesh)), steps);
    const auto discretised = [](const std::shared_ptr<const mesh::Mesh>& of, int degree) {
      return std::make_shared<const space::Discretisation>(of, space::DiscretisationOptions{.degree = degree});
    };
    const int highest = std::max(fields.coarse_degree, fields.fine_degree);
    const auto coarse = discretised(generations_.meshes[0], is_refined ? fields.coarse_degree : highest);
    const auto fine = is_refined ? discretised(generations_.meshes[1], fields.fine_degree) : coarse;
    specification.coarse = system(coarse, fields.coarse_degree, fields);
    specification.fine = system(fine, fields.fine_degree, fields);
    if (is_refined) specification.refinement = &generations_.refinements[0];
  }

  /// Constrains some components (none: all) of the first field on the whole boundary, on both sides.
  void constrain(std::vector<int> components) {
    const space::DirichletCondition condition{
        .tags = {},
        .is_all = true,
        .value = [](auto, std::span<double> values) { std::ranges::fill(values, 0.0); },
        .components = std::move(components)};
    const auto entries = [&](const op::System& of) {
      return space::make_constraints(*of.spaces[0], std::span(&condition, 1)).entries;
    };
    specification.constrained_coarse = entries(specification.coarse);
    specification.constrained_fine = entries(specification.fine);
  }

  op::TransferSpecification specification;

private:
  static op::System system(const std::shared_ptr<const space::Discretisation>& on, int degree,
                           const TransferFields& fields) {
    std::vector<std::shared_ptr<const space::FunctionSpace>> spaces;
    for (const int components : fields.components)
      spaces.push_back(space::FunctionSpace::make(
          on, {.degree = degree, .components = components, .name = "u" + std::to_string(spaces.size())}));
    return op::make_system(std::move(spaces));
  }
  mesh::Generations generations_;
};

inline Vector vector_on(const op::System& system, const std::shared_ptr<device::Device>& device, unsigned seed) {
  Vector result(device, static_cast<std::size_t>(system.size()));
  fill_random(result, seed);
  return result;
}

/// Nodal values of f(x, component) in all fields, and 0 in the padding.
template <class Function>
Vector interpolated_on(const op::System& system, const std::shared_ptr<device::Device>& device, const Function& f) {
  Vector result(device, static_cast<std::size_t>(system.size()));
  const auto values = result.host_overwrite();
  std::ranges::fill(values, 0.0);
  for (std::size_t field = 0; field < system.spaces.size(); ++field) {
    const auto& space = *system.spaces[field];
    space::interpolate(
        space,
        [&](std::span<const double> x, std::span<double> out) {
          for (std::size_t c = 0; c < out.size(); ++c) out[c] = f(x, c);
        },
        values.subspan(static_cast<std::size_t>(system.offset(field)), static_cast<std::size_t>(space.num_local())));
  }
  return result;
}

} // namespace rafter::test
