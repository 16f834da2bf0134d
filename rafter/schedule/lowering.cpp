// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/lowering.hpp>
#include <rafter/schedule/written_steps.hpp>

namespace rafter::schedule {

Statements whole_batch(Context& context, Statements of_pass) {
  Statements body = std::move(context.before_subbatches);
  if (context.num_passes() > 1)
    body.push_back(loop("pass", integer(context.num_passes()), block(std::move(of_pass))));
  else
    body.insert(body.end(), of_pass.begin(), of_pass.end());
  body.insert(body.end(), context.after_subbatches.begin(), context.after_subbatches.end());
  return context.with_data_row(std::move(body));
}

LoopProgram finished(Context& context, Statements of_pass) {
  if (context.plan[key::prefetch]) spread_prefetches(context, of_pass);
  context.result.body = block(whole_batch(context, std::move(of_pass)));
  return std::move(context.result);
}

Placement placement_of(const kernel::TensorProgram& program, int array, const kernel::FieldUse* field) {
  const auto& a = program.arrays[static_cast<std::size_t>(array)];
  auto result = Placement::dense(program.num_entries(array));
  if (field != nullptr && !field->places.empty()) result.dof_entries = field->places;
  if (a.folding >= 0) result.dof_entries = program.foldings[static_cast<std::size_t>(a.folding)].places;
  return result;
}

void load_nodes(Context& context, const std::string& target, const Placement& placement, Statements& to) {
  const int nodes = context.program.geometry->num_dofs();
  const int dim = context.program.tdim;
  const std::string source = context.global(role::nodes);
  context.announce_row(role::nodes, nodes * dim);
  const std::string places = context.integers("node_places", placement.dof_entries);
  const std::string i = context.fresh("i");
  Statements body;
  const NodePtr place = context.define_integer(body, "d", iload(places, variable(i)));
  for (int a = 0; a < dim; ++a) {
    const NodePtr entry =
        iadd(imul(iadd(imul(context.data_row(), integer(nodes)), variable(i)), integer(dim)), integer(a));
    body.push_back(store(target, context.work_entry(iadd(integer(a * placement.component_stride), place)),
                         context.fetch(source, context.cell_entry(entry))));
  }
  to.push_back(loop(i, integer(nodes), block(body)));
}

namespace {

void weigh(Context& context, const kernel::Step& step, Statements& to) {
  const auto& program = context.program;
  const std::string target = array_name(context, step.target);
  const std::string i = context.fresh("i"), c = context.fresh("c");
  const int points = program.num_entries(step.target);
  const NodePtr entry = context.work_entry(iadd(imul(variable(c), integer(points)), variable(i)));
  const auto statement =
      store(target, entry,
            operation(form::ScalarOp::mul,
                      {context.fetch(context.global(role::weights), variable(i)), context.load(target, entry)}));
  to.push_back(loop(c, integer(program.num_components(step.target)), loop(i, integer(points), statement)));
}

void lower_step(Context& context, const kernel::Step& step, Statements& to) {
  const auto& program = context.program;
  switch (step.kind) {
  case kernel::StepKind::gather:
    gather(context, step.field, array_name(context, step.target),
           placement_of(program, step.target, &program.inputs[static_cast<std::size_t>(step.field)]), to);
    break;
  case kernel::StepKind::load_nodes:
    load_nodes(context, array_name(context, step.target), placement_of(program, step.target), to);
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
    scatter(context, step.field, array_name(context, step.source),
            placement_of(program, step.source, &program.outputs[static_cast<std::size_t>(step.field)]), to);
    break;
  case kernel::StepKind::mask: {
    const auto& use = program.field_of(program.masks[static_cast<std::size_t>(step.field)]);
    mask(context, step.field, array_name(context, step.target), placement_of(program, step.target, &use), to);
    break;
  }
  case kernel::StepKind::weigh:
    weigh(context, step, to);
    break;
  }
}

} // namespace

void lower_steps(Context& context, Statements& to) {
  const auto& program = context.program;
  const auto in_registers = arrays_in_registers(context);
  for (std::size_t a = 0; a < program.arrays.size(); ++a)
    if (!in_registers.contains(static_cast<int>(a)))
      context.work(array_name(context, static_cast<int>(a)), program.size(static_cast<int>(a)));
  if (context.subbatches > 1) context.subbatch_of_pass = variable("subbatch");
  Statements of_subbatch; // since the last step that took all groups
  const auto for_each_subbatch = [&] {
    if (context.subbatches > 1 && !of_subbatch.empty())
      of_subbatch = {loop("subbatch", integer(context.subbatches), block(std::move(of_subbatch)))};
    to.insert(to.end(), of_subbatch.begin(), of_subbatch.end());
    of_subbatch.clear();
  };
  begin_integral(context, of_subbatch);
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    if (takes_all_subbatches(context, program.steps[i])) {
      for_each_subbatch();
      lower_step(context, program.steps[i], to);
    } else if (const auto written = num_written_steps(context, i); written > 0) {
      lower_written(context, i, written, of_subbatch);
      i += written - 1;
    } else
      lower_step(context, program.steps[i], of_subbatch);
  end_integral(context, of_subbatch);
  for_each_subbatch();
}

} // namespace rafter::schedule
