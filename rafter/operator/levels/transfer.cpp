// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/operator/levels/transfer.hpp>

#include <rafter/base/error.hpp>

namespace rafter::op {
namespace {

[[noreturn]] void refuse_floats() { throw base::InternalError("the transfer is for vectors of doubles"); }

} // namespace

void Transfer::prolongate(const SingleVector& /*coarse*/, SingleVector& /*fine*/) const { refuse_floats(); }
void Transfer::prolongate_and_add(const SingleVector& /*coarse*/, SingleVector& /*fine*/) const { refuse_floats(); }
void Transfer::restrict_to(const SingleVector& /*fine*/, SingleVector& /*coarse*/) const { refuse_floats(); }

} // namespace rafter::op
