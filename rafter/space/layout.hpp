// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>

#include <rafter/space/function_space.hpp>

namespace rafter::space {

/// Makes the gather pattern of an element. Permutations that are equal as lists share one place in the table, so two
/// codes that act alike on an entity's dofs (all of them on a single dof) have the same offset, and an offset equal to
/// that of code 0 means identity.
ElementLayout make_layout(std::shared_ptr<const element::Element> element);

/// Makes the gather pattern of an element whose dofs no neighbour shares: all of them are interior, in local order.
ElementLayout make_broken_layout(std::shared_ptr<const element::Element> element);

} // namespace rafter::space
