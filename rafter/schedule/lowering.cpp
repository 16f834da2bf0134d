// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/lowering.hpp>

namespace rafter::schedule {

Statements whole_batch(Context& context, Statements of_pass) {
  Statements body = std::move(context.before_subbatches);
  if (context.num_passes() > 1)
    body.push_back(loop("pass", integer(context.num_passes()), block(std::move(of_pass))));
  else
    body.insert(body.end(), of_pass.begin(), of_pass.end());
  body.insert(body.end(), context.after_subbatches.begin(), context.after_subbatches.end());
  return context.with_numbers_of_batch(std::move(body));
}

LoopProgram finished(Context& context, Statements of_pass) {
  if (context.plan[key::prefetch]) spread_prefetches(context, of_pass);
  context.result.body = block(whole_batch(context, std::move(of_pass)));
  return std::move(context.result);
}

Placement places_of_dofs(const kernel::TensorProgram& program, const kernel::Access& access, int array) {
  Placement result{.dof_entries = access.places, .component_stride = program.num_entries(array)};
  if (access.places.empty())
    for (int dof = 0; dof < result.component_stride; ++dof) result.dof_entries.push_back(dof);
  return result;
}

void load_nodes(Context& context, const std::string& target, const Placement& placement, Statements& to) {
  const int nodes = context.program.geometry->num_dofs();
  const int dim = context.program.tdim;
  context.global(role::nodes); // before the places, so that buffers have one order
  context.announce_row(role::nodes, nodes * dim);
  const std::string places = context.integers("node_places", placement.dof_entries);
  const std::string i = context.fresh("i");
  Statements body;
  const NodePtr place = context.define_integer(body, "d", iload(places, variable(i)));
  for (int a = 0; a < dim; ++a) {
    const NodePtr number =
        context.fetch_of_cell(role::nodes, nodes * dim, integer(std::int64_t{nodes} * dim), [&](const NodePtr& cell) {
          return iadd(imul(iadd(imul(cell, integer(nodes)), variable(i)), integer(dim)), integer(a));
        });
    body.push_back(
        store(target, context.work_entry(iadd(placement.begin, iadd(integer(a * placement.component_stride), place))),
              number));
  }
  to.push_back(loop(i, integer(nodes), block(body)));
}

} // namespace rafter::schedule
