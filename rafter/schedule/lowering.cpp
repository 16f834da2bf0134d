// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/lowering.hpp>

namespace rafter::schedule {

LoopProgram finished(Context& context, Statements of_group) {
  if (context.plan.prefetch) spread_prefetches(context, of_group);
  if (context.num_groups() > 1) of_group = {loop("group", integer(context.num_groups()), block(std::move(of_group)))};
  context.result.body = block(context.with_data_row(std::move(of_group)));
  return std::move(context.result);
}

void lower_steps(Context& context, Statements& to) {
  const auto& program = context.program;
  for (std::size_t a = 0; a < program.arrays.size(); ++a)
    context.work(array_name(context, static_cast<int>(a)), program.arrays[a].size());
  const auto placement = [&program](int array) {
    const auto& a = program.arrays[static_cast<std::size_t>(array)];
    auto result = Placement::dense(a.size() / a.extents[0]);
    if (a.folding >= 0) result.dof_entries = program.foldings[static_cast<std::size_t>(a.folding)].places;
    return result;
  };
  begin_integral(context, to);
  for (const auto& step : program.steps) {
    switch (step.kind) {
    case kernel::StepKind::gather:
      gather(context, step.field, array_name(context, step.target), placement(step.target), to);
      break;
    case kernel::StepKind::load_nodes:
      load_nodes(context, array_name(context, step.target), placement(step.target), to);
      break;
    case kernel::StepKind::contract:
      contract(context, step, to);
      break;
    case kernel::StepKind::butterfly:
      butterfly(context, step, to);
      break;
    case kernel::StepKind::evaluate:
      evaluate(context, to);
      break;
    case kernel::StepKind::scatter:
      scatter(context, step.field, array_name(context, step.source), placement(step.source), to);
      break;
    case kernel::StepKind::weigh: {
      const auto& array = program.arrays[static_cast<std::size_t>(step.target)];
      const std::string target = array_name(context, step.target);
      const std::string i = context.fresh("i"), c = context.fresh("c");
      const int points = array.size() / array.extents[0];
      const NodePtr entry = context.work_entry(iadd(imul(variable(c), integer(points)), variable(i)));
      const auto statement =
          store(target, entry,
                operation(form::ScalarOp::mul,
                          {context.fetch(context.global(Role::weights), variable(i)), context.load(target, entry)}));
      to.push_back(loop(c, integer(array.extents[0]), loop(i, integer(points), statement)));
      break;
    }
    }
  }
  end_integral(context, to);
}

} // namespace rafter::schedule
