// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/matrix_product.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace rafter::schedule {
namespace {

using form::ScalarOp;
using Statements = std::vector<NodePtr>;

/// Names of the arguments.
struct Names {
  std::string mode, starts, rows, columns, entries, x, y;
};

class Lowering {
public:
  Lowering(int block_size, const Plan& plan)
      : size_(block_size), vector_width_(slice_height(plan)), gathers_by_lane_(plan.gathers_by_lane) {
    program_.name = "matrix_product";
    program_.vector_width = vector_width_;
    entry_type_ = plan.storage == Precision::single_precision ? Type::real32 : Type::real;
    names_ = {.mode = argument(role::mode, Type::integer),
              .starts = argument(role::slice_starts, Type::integer),
              .rows = argument(role::rows, Type::integer),
              .columns = argument(role::columns, Type::integer),
              .entries = argument(role::entries, entry_type_),
              .x = argument(role::input_vector, Type::real),
              .y = argument(role::output_vector, Type::real)};
    program_.buffers.back().is_written = true;
    program_.buffers.push_back({.name = "sum",
                                .space = Space::work,
                                .size = std::int64_t{size_} * vector_width_,
                                .is_lane = true,
                                .values = {}});
  }

  LoopProgram run() {
    Statements body{ilet("start", iload(names_.starts, variable("batch"))),
                    ilet("length", isub(iload(names_.starts, iadd(variable("batch"), integer(1))), variable("start")))};
    for (int i = 0; i < size_; ++i) body.push_back(store("sum", sum_entry(i), number(0)));
    body.push_back(loop("k", variable("length"), products()));
    body.push_back(branch(iload(names_.mode, integer(0)), block({write(true)}), block({overwrite()})));
    program_.body = block(std::move(body));
    verify(program_);
    return std::move(program_);
  }

private:
  std::string argument(const std::string& role, Type type) {
    LoopBuffer buffer;
    buffer.name = fmt::format("{}_0", role);
    buffer.type = type;
    buffer.role = role;
    program_.buffers.push_back(buffer);
    return buffer.name;
  }
  NodePtr at_lane(NodePtr number) const { return iadd(imul(std::move(number), integer(vector_width_)), lane()); }
  NodePtr sum_entry(int row) const { return iadd(integer(std::int64_t{row} * vector_width_), lane()); }

  /// The k-th block of every row of the slice.
  NodePtr products() const {
    const auto place = iadd(variable("start"), variable("k"));
    Statements body{ilet("column", iload(names_.columns, at_lane(place)))};
    const auto column = imul(variable("column", true), integer(size_));
    const auto load_of_x = gathers_by_lane_ ? load_by_lane : load;
    for (int j = 0; j < size_; ++j)
      body.push_back(let(fmt::format("x{}", j), load_of_x(names_.x, iadd(column, integer(j)), Type::real)));
    for (int i = 0; i < size_; ++i)
      for (int j = 0; j < size_; ++j) {
        const auto entry = iadd(imul(place, integer(size_ * size_)), integer(i * size_ + j));
        body.push_back(
            add("sum", sum_entry(i),
                operation(ScalarOp::mul, {converted(load(names_.entries, at_lane(entry), entry_type_), Type::real),
                                          reg(fmt::format("x{}", j))})));
      }
    return block(std::move(body));
  }

  /// Lane by lane, where the rows are.
  NodePtr write(bool adds) const {
    const auto first = imul(variable("batch"), integer(vector_width_));
    const auto active = imin(isub(iload(names_.mode, integer(1)), first), integer(vector_width_));
    Statements body{ilet("row", iload(names_.rows, iadd(first, lane())))};
    for (int i = 0; i < size_; ++i) {
      const auto place = iadd(imul(variable("row", true), integer(size_)), integer(i));
      const auto sum = load("sum", sum_entry(i));
      body.push_back(adds ? add(names_.y, place, sum, active) : store(names_.y, place, sum, active));
    }
    return block(std::move(body));
  }
  /// Rows that follow each other are stored as one vector.
  NodePtr overwrite() const {
    if (size_ > 1) return write(false);
    const auto first = imul(variable("batch"), integer(vector_width_));
    const auto first_row = iload(names_.rows, first),
               last_row = iload(names_.rows, iadd(first, integer(vector_width_ - 1)));
    return branch(ieq(isub(last_row, first_row), integer(vector_width_ - 1)),
                  block({ilet("first_row", first_row),
                         store(names_.y, iadd(variable("first_row"), lane()), load("sum", sum_entry(0)))}),
                  block({write(false)}));
  }

  int size_, vector_width_;
  bool gathers_by_lane_;
  Type entry_type_ = Type::real;
  LoopProgram program_;
  Names names_;
};

} // namespace

int slice_height(const Plan& plan) { return std::max(2, plan.vector_width); }

LoopProgram matrix_product(int block, const Plan& plan) { return Lowering(block, plan).run(); }

} // namespace rafter::schedule
