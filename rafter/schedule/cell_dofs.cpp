// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/cell_dofs.hpp>

namespace rafter::schedule {

CellDofs::CellDofs(Context& context, const Field& field)
    : context_(&context), nodes_(field.nodes), vector_width_(context.plan[key::vector_width]),
      num_lines_(field.components), vectors_((field.nodes + vector_width_ - 1) / vector_width_) {
  for (int axis = 1; axis < field.dim; ++axis) num_lines_ *= nodes_;
  const std::int64_t num_dofs = std::int64_t{num_lines_} * nodes_;
  gathered_ = context.work(field.name + "_dofs", num_dofs + 1); // the last entry serves lanes without a dof
  if (field.is_output)
    written_ = context.work(field.name + "_transposed", std::int64_t{vector_width_} * num_lines_ * vectors_);
}

NodePtr CellDofs::of_cell(NodePtr entry) const {
  return iadd(imul(std::move(entry), integer(vector_width_)), variable("cell"));
}

std::vector<NodePtr> CellDofs::load_line(const NodePtr& number, Statements& to) const {
  std::vector<NodePtr> line;
  for (int i = 0; i < nodes_; ++i)
    line.push_back(
        context_->define(to, "u", context_->load(gathered_, of_cell(iadd(imul(number, integer(nodes_)), integer(i))))));
  return line;
}

std::vector<NodePtr> CellDofs::load_vectors(const NodePtr& number) const {
  std::vector<NodePtr> result;
  for (int v = 0; v < vectors_; ++v) {
    const int last = nodes_ - 1 - v * vector_width_;
    const NodePtr place = last < vector_width_ - 1 ? imin(lane(), integer(last)) : lane();
    const NodePtr first = iadd(imul(number, integer(nodes_)), integer(v * vector_width_));
    result.push_back(context_->load(gathered_, of_cell(iadd(first, place))));
  }
  return result;
}

void CellDofs::store_vectors(const NodePtr& number, const std::vector<NodePtr>& vectors, Statements& to) const {
  const NodePtr line = iadd(imul(variable("cell"), integer(num_lines_)), number);
  for (int v = 0; v < vectors_; ++v)
    to.push_back(store(written_, context_->work_entry(iadd(imul(line, integer(vectors_)), integer(v))),
                       vectors[static_cast<std::size_t>(v)]));
}

void CellDofs::transpose(Statements& to) const {
  const int width = vectors_ * vector_width_, no_dof = num_lines_ * nodes_;
  std::vector<int> entries, starts;
  for (int line = 0; line < num_lines_; ++line)
    for (int i = 0; i < width; ++i) entries.push_back(i < nodes_ ? line * nodes_ + i : no_dof);
  for (int cell = 0; cell < vector_width_; ++cell) starts.push_back(cell * num_lines_ * width);
  const std::string t = context_->fresh("t"), k = context_->fresh("k");
  const NodePtr first = imul(variable(t), integer(vector_width_));
  const NodePtr start = iload(context_->integers("cell_starts", starts), lane());
  const NodePtr place = iload(context_->integers("line_entries", entries), iadd(first, variable(k)));
  const NodePtr move = schedule::store(gathered_, context_->work_entry(place),
                                       context_->load(written_, iadd(iadd(start, first), variable(k))));
  to.push_back(loop(t, integer(std::int64_t{num_lines_} * vectors_),
                    block({loop(k, integer(vector_width_), block({move}), LoopStyle::run)})));
}

} // namespace rafter::schedule
