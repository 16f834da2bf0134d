// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>

#include <rafter/space/function_space.hpp>

namespace rafter::space {

/// Makes the gather pattern of a patch of cells with this layout, `width` along each axis; null where cells share
/// nothing or form no patches.
std::unique_ptr<PatchLayout> make_patch_layout(const ElementLayout& layout, int width);

} // namespace rafter::space
