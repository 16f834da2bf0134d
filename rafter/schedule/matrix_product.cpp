// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/schedule/matrix_product.hpp>

#include <algorithm>

#include <fmt/format.h>
#include <rafter/schedule/context.hpp>
#include <rafter/schedule/group_batches.hpp>
#include <rafter/schedule/loop_program.hpp>
#include <rafter/schedule/mapping_keys.hpp>
#include <rafter/schedule/plan.hpp>
#include <rafter/schedule/precision.hpp>

namespace rafter::schedule {
namespace {

using form::ScalarOp;
using Statements = std::vector<NodePtr>;

/// ArgumentNames of the arguments.
struct ArgumentNames {
  std::string mode, starts, rows, columns, entries, x, y;
};

class ProductLowering {
public:
  ProductLowering(int block_size, const Plan& plan, const Target& target)
      : size_(block_size), height_(slice_height(plan)), has_lanes_(target.has_lanes || target.lanes_of_item > 1),
        gathers_by_lane_(plan[key::gathers] == Gathers::scalar && has_lanes_), is_of_host_(target.has_lanes),
        items_in_step_(target.items_in_step) {
    program_.name = "matrix_product";
    program_.vector_width = has_lanes_ ? height_ : 1;
    entry_type_ = plan[key::storage] == Precision::single_precision ? Type::real32 : Type::real;
    vector_type_ = plan[key::accumulate] == Precision::single_precision ? Type::real32 : Type::real;
    names_ = {.mode = argument(role::mode, Type::integer),
              .starts = argument(role::slice_starts, Type::integer),
              .rows = argument(role::rows, Type::integer),
              .columns = argument(role::columns, Type::integer),
              .entries = argument(role::entries, entry_type_),
              .x = argument(role::input_vector, vector_type_),
              .y = argument(role::output_vector, vector_type_)};
    program_.buffers.back().is_written = true;
    program_.buffers.push_back({.name = "sum",
                                .space = Space::work,
                                .size = std::int64_t{size_} * program_.vector_width,
                                .is_lane = has_lanes_,
                                .values = {}});
  }

  LoopProgram run() {
    const auto end = iload(names_.starts, iadd(slice(), integer(1)));
    Statements body{ilet("start", iload(names_.starts, slice())), ilet("length", isub(end, variable("start")))};
    for (int i = 0; i < size_; ++i) body.push_back(store("sum", sum_entry(i), number(0)));
    body.push_back(loop("k", variable("length"), products()));
    body.push_back(branch(iload(names_.mode, integer(0)), block({write(true)}), block({overwrite()})));
    program_.body = block(std::move(body));
    if (!is_of_host_ && has_lanes_) {
      constexpr int slices = 64; // enough that the begin of a group does not show beside them
      program_.launch = {.items = {1, 1, 1}, .batches = slices};
      program_.body = one_by_one(program_.body, slices);
    } else if (!has_lanes_) {
      const int slices = std::max(1, items_in_step_ / height_);
      program_.launch = {.items = {height_, slices, 1}, .batches = slices};
      program_.body = side_by_side(program_.body);
    }
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
  NodePtr slice() const { return variable(is_of_host_ ? "batch" : "own_batch"); }
  NodePtr row_of_slice() const { return has_lanes_ ? lane() : item(0); }
  NodePtr at_row(NodePtr number) const { return iadd(imul(std::move(number), integer(height_)), row_of_slice()); }
  NodePtr sum_entry(int row) const {
    return has_lanes_ ? iadd(integer(std::int64_t{row} * height_), lane()) : integer(row);
  }

  /// The k-th block of every row of the slice.
  NodePtr products() const {
    const auto place = iadd(variable("start"), variable("k"));
    Statements body{ilet("column", iload(names_.columns, at_row(place)))};
    const auto column = imul(variable("column", has_lanes_), integer(size_));
    const auto load_of_x = gathers_by_lane_ ? load_by_lane : load;
    for (int j = 0; j < size_; ++j)
      body.push_back(let(fmt::format("x{}", j),
                         converted(load_of_x(names_.x, iadd(column, integer(j)), vector_type_), Type::real)));
    for (int i = 0; i < size_; ++i)
      for (int j = 0; j < size_; ++j) {
        const auto entry = iadd(imul(place, integer(size_ * size_)), integer(i * size_ + j));
        body.push_back(
            add("sum", sum_entry(i),
                operation(ScalarOp::mul, {converted(load(names_.entries, at_row(entry), entry_type_), Type::real),
                                          reg(fmt::format("x{}", j))})));
      }
    return block(std::move(body));
  }

  /// Row by row, wherever they are.
  NodePtr write(bool adds) const {
    const auto first = imul(slice(), integer(height_));
    const auto active = imin(isub(iload(names_.mode, integer(1)), first), integer(height_));
    const auto of_lanes = has_lanes_ ? active : nullptr;
    Statements body{ilet("row", iload(names_.rows, iadd(first, row_of_slice())))};
    for (int i = 0; i < size_; ++i) {
      const auto place = iadd(imul(variable("row", has_lanes_), integer(size_)), integer(i));
      const auto sum = converted(load("sum", sum_entry(i)), vector_type_);
      body.push_back(adds ? add(names_.y, place, sum, of_lanes) : store(names_.y, place, sum, of_lanes));
    }
    return has_lanes_ ? block(std::move(body)) : branch(ilt(item(0), active), block(std::move(body)), block({}));
  }
  /// Rows that follow each other are stored as one vector.
  NodePtr overwrite() const {
    if (size_ > 1 || !has_lanes_) return write(false);
    const auto first = imul(slice(), integer(height_));
    const auto first_row = iload(names_.rows, first), last_row = iload(names_.rows, iadd(first, integer(height_ - 1)));
    return branch(ieq(isub(last_row, first_row), integer(height_ - 1)),
                  block({ilet("first_row", first_row), store(names_.y, iadd(variable("first_row"), lane()),
                                                             converted(load("sum", sum_entry(0)), vector_type_))}),
                  block({write(false)}));
  }

  int size_, height_;
  bool has_lanes_, gathers_by_lane_, is_of_host_;
  int items_in_step_;
  Type entry_type_ = Type::real, vector_type_ = Type::real;
  LoopProgram program_;
  ArgumentNames names_;
};

} // namespace

int slice_height(const Plan& plan) { return std::max(2, plan[key::vector_width]); }

LoopProgram matrix_product(int block, const Plan& plan, const Target& target) {
  return ProductLowering(block, plan, target).run();
}

} // namespace rafter::schedule
