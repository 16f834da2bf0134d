// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <gtest/gtest.h>

#include <rafter/space/function_space.hpp>
#include <tests/support/operator_laws.hpp>
#include <tests/support/reference_transfer.hpp>

using namespace rafter;
using namespace rafter::test;

namespace {

/// A polynomial of degree 2 in each direction together, different for each component.
double quadratic(std::span<const double> x, std::size_t component) {
  double sum = 1 + static_cast<double>(component);
  for (std::size_t d = 0; d < x.size(); ++d) sum += (static_cast<double>(d) + 0.5) * x[d] + x[d] * x[0];
  return sum;
}

} // namespace

TEST(reference_transfer, keeps_polynomials_of_the_coarse_degree) {
  const auto device = device::make_device("host", 1);
  for (const auto* shape : {"triangle", "quadrilateral", "tetrahedron", "hexahedron", "prism", "mixed"}) {
    const bool is_plane = std::string_view(shape) == "triangle" || std::string_view(shape) == "quadrilateral";
    const auto meshes =
        mesh::refined_generations(std::make_shared<const mesh::Mesh>(mesh::make_box(
                                      {.cells = is_plane ? std::vector{2, 2} : std::vector{4, 1, 1}, .shape = shape})),
                                  1);
    const auto on = [](const std::shared_ptr<const mesh::Mesh>& mesh, int degree) {
      const auto discretisation = std::make_shared<const space::Discretisation>(mesh);
      return op::make_system({space::FunctionSpace::make(discretisation, {.degree = degree, .components = 2})});
    };
    const op::TransferSpecification of{.coarse = on(meshes.meshes[0], 2),
                                       .fine = on(meshes.meshes[1], 3),
                                       .constrained_coarse = {},
                                       .constrained_fine = {},
                                       .refinement = &meshes.refinements[0]};
    const auto values = [&](const op::System& system) {
      Vector result(device, static_cast<std::size_t>(system.size()));
      space::interpolate(
          *system.spaces[0],
          [](std::span<const double> x, std::span<double> out) {
            for (std::size_t c = 0; c < out.size(); ++c) out[c] = quadratic(x, c);
          },
          result.host_overwrite());
      return result;
    };
    Vector fine(device, static_cast<std::size_t>(of.fine.size()));
    ReferenceTransfer(of).prolongate(values(of.coarse), fine);
    EXPECT_LE(distance(values_of(fine), values_of(values(of.fine))), 1e-13) << shape;
  }
}
