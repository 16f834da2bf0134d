// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include <rafter/space/function_space.hpp>

namespace rafter::space {

/// Makes the dofs of a list of cells without those of some shared entities: where several lists are gathered together,
/// as those of the children of cells are, only one of them need have an entity that they share. `is_kept` says which
/// runs stay, shape (run). The result does not list the cells, for which no kernel asks. Throws InternalError for
/// another number of runs.
ListDofs with_runs(const ListDofs& list, const std::vector<bool>& is_kept);

} // namespace rafter::space
