// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include <rafter/form/form.hpp>
#include <rafter/operator/operator.hpp>
#include <rafter/problem/spaces.hpp>

/// Vectors and meshes as programs make, read and write them.
namespace rafter::problem {

/// Right-hand side of a linear form with the boundary values of an operator.
op::Vector assemble(const form::Form& L, const op::Operator& A);

/// The mesh refined so many times, with all meshes between.
mesh::Generations refined_generations(mesh::Mesh mesh, int times);

/// A field of a VTK-HDF file that an earlier solve has written, as a vector of a space: at its nodes, exact where the
/// file has the same mesh and a field of no higher degree. Throws InputError as io::VtkHdfReader::function() and the
/// function itself.
op::Vector read_vtkhdf(const std::string& path, const std::string& name, const FunctionSpace& V,
                       const op::OperatorOptions& options = {});

/// Writes the fields of a system's vector as VTK-HDF.
void write_vtkhdf(const std::string& path, const op::Operator& A, const op::Vector& x);

} // namespace rafter::problem
