// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <span>

#include <rafter/device/compile_all.hpp>
#include <rafter/operator/generate/purpose.hpp>

namespace rafter::form {
struct LoweredForm;
}

/// Turns forms into compiled kernels, for callers that need not look into them; form_builder.hpp has what they hold.
namespace rafter::op {

struct GeneratedForm;
struct KernelOptions;
struct Systems;

/// Plans the kernels of a form and makes their text. Throws InputError for forms that the systems or their mesh do not
/// fit, for data fields on other discretisations, for diagonals of forms whose test and trial functions are of
/// different systems, and for plans with mapping=assembled of such forms or on parts of a mesh.
std::shared_ptr<GeneratedForm> build_form(const form::LoweredForm& form, const Systems& systems, Purpose purpose,
                                          const KernelOptions& options);

/// Plans a form on one block of cells alone, so that its kernel can be timed.
std::shared_ptr<GeneratedForm> build_block(const form::LoweredForm& form, const Systems& systems, Purpose purpose,
                                           int block, const KernelOptions& options);

/// Compiles what is not compiled yet, all kernels of all forms at the same time, and notifies `progress`, which may be
/// empty. Throws InternalError when the forms are not on one device, and the errors of device::compile_all.
void compile(std::span<const std::shared_ptr<GeneratedForm>> forms, const device::CompileProgress& progress = {});
/// Compiles a form that no other is compiled with, and returns it. On a part of a mesh the processes do so together.
std::shared_ptr<const GeneratedForm> compiled(std::shared_ptr<GeneratedForm> built);

} // namespace rafter::op
