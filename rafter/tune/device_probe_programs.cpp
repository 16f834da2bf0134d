// SPDX-License-Identifier: BSD-3-Clause
#include <rafter/tune/device_probe_programs.hpp>

#include <fmt/format.h>
#include <rafter/base/error.hpp>

namespace rafter::tune {
namespace {

/// A program from its buffers and statements, checked.
schedule::LoopProgram program(const std::string& name, int items, const std::string& buffers,
                              const std::string& statements, int items_y = 1) {
  auto result =
      schedule::read(fmt::format("(program {} 1 (launch {} {} 1 1) (buffer y global real 0 written) {} (block {}))",
                                 name, items, items_y, buffers, statements));
  schedule::verify(result);
  return result;
}

/// The number of an item in arrays with one number per item.
std::string own_place(int items) { return fmt::format("(iadd (imul $batch {}) item_x)", items); }

std::string unrolled(const char* variable, int count, const std::string& statements) {
  return fmt::format("(for {} unrolled {} (block {}))", variable, count, statements);
}

/// Returns how many numbers a run of this name reads and writes.
double num_moved(const std::string& what) { return what == "read" ? 1 : what == "copy" ? 2 : 3; }

} // namespace

schedule::LoopProgram ProbePrograms::memory(const std::string& what) const {
  const std::string place = fmt::format("(iadd (imul (iadd (imul $batch {}) $k) {}) item_x)", numbers_per_item, items);
  const std::string x = fmt::format("(load x {})", place), z = fmt::format("(load z {})", place);
  const std::string buffers = "(buffer x global real 0) (buffer z global real 0) (buffer w work real 1)";
  const std::string name = "memory_" + what;
  if (what == "read")
    return program(name, items, buffers,
                   "(store w 0 (number 0))" + unrolled("k", numbers_per_item, "(add w 0 " + x + ")") +
                       fmt::format("(store y {} (load w 0))", own_place(items)));
  const std::string value = what == "copy" ? x : fmt::format("(add {} (mul (number 0.5) {}))", x, z);
  return program(name, items, buffers, unrolled("k", numbers_per_item, fmt::format("(store y {} {})", place, value)));
}

schedule::LoopProgram ProbePrograms::arithmetic(const std::string& what, schedule::Type type) const {
  const bool is_single = type == schedule::Type::real32;
  const auto number = [&](double value) { return fmt::format("({} {})", is_single ? "number32" : "number", value); };
  // values that stay finite and normal under so many updates
  const std::string a = number(what == "fma" ? 0.5 : 1.0625), b = number(0.25), old = "(load w $c)";
  const std::string value = what == "fma"   ? fmt::format("(add (mul {} {}) {})", old, a, b)
                            : what == "add" ? fmt::format("(add {} {})", old, b)
                                            : fmt::format("(mul {} {})", old, a);
  const std::string seed = fmt::format("(load y {})", own_place(items));
  const std::string first = fmt::format("(add {} {})", is_single ? "(narrow " + seed + ")" : seed, number(0.5));
  const std::string sum = "(load w 0)";
  // Accumulators that begin alike would be one.
  std::string statements;
  for (int c = 0; c < num_chains; ++c)
    statements += fmt::format("(store w {} (mul {} {}))", c, first, number(1 + c / 64.0));
  statements += unrolled("u", num_updates, unrolled("c", num_chains, "(store w $c " + value + ")"));
  statements += unrolled("c", num_chains - 1, "(add w 0 (load w (iadd $c 1)))");
  statements += fmt::format("(store y {} {})", own_place(items), is_single ? "(widen " + sum + ")" : sum);
  return program(fmt::format("{}_{}", what, is_single ? "single" : "double"), items,
                 fmt::format("(buffer w work {} {})", is_single ? "real32" : "real", num_chains), statements);
}

schedule::LoopProgram ProbePrograms::shared(const std::string& what) const {
  const auto place = [&](const std::string& number) {
    return fmt::format("(iadd (imul {} {}) item_x)", number, items);
  };
  const std::string own = place("$k");
  // Numbers of other turns stand in between, so that nothing can stay in registers.
  const std::string next = place(fmt::format("(isub (iadd $k 1) (imul {0} (idiv (iadd $k 1) {0})))", num_shared));
  const auto turn = [&](const char* to, const char* from) {
    const std::string value = fmt::format("(load {} {})", from, next);
    const std::string statement =
        what == "read"   ? fmt::format("(add w $k {})", value)
        : what == "copy" ? fmt::format("(store {} {} {})", to, own, value)
                         : fmt::format("(store {0} {1} (add {2} (mul (number 0.5) (load {0} {1}))))", to, own, value);
    return unrolled("k", num_shared, statement) + "(barrier)";
  };
  const std::string seed = fmt::format("(load y {})", own_place(items));
  const std::string first =
      unrolled("k", num_shared, fmt::format("(store t {0} {1}) (store u {0} {1}) (store w $k (number 0))", own, seed));
  const std::string last = unrolled("k", num_shared - 1, "(add w 0 (load w (iadd $k 1)))") +
                           unrolled("k", num_shared, fmt::format("(add w 0 (load t {}))", own)) +
                           fmt::format("(store y {} (load w 0))", own_place(items));
  const auto size = static_cast<std::int64_t>(items) * num_shared;
  return program(
      "shared_" + what, items,
      fmt::format("(buffer t shared real {0}) (buffer u shared real {0}) (buffer w work real {1})", size, num_shared),
      first + "(barrier)" + unrolled("r", num_turns / 2, turn("u", "t") + turn("t", "u")) + last);
}

schedule::LoopProgram ProbePrograms::matrix_product() const {
  constexpr int straight_updates = 512; // of registers, before a loop goes on
  const int steps = std::min(product_depth, straight_updates / (tile * tile)), num_panels = product_depth / steps;
  const std::string k = fmt::format("(iadd (imul $p {}) $q)", steps);
  const std::string row = fmt::format("(iadd (imul $i {}) item_x)", items_of_rows()),
                    column = fmt::format("(iadd (imul item_y {}) $j)", tile),
                    entry = fmt::format("(iadd (imul $j {}) $i)", tile);
  const auto over = [this](const char* variable, const std::string& statements) {
    return unrolled(variable, tile, statements);
  };
  const std::string of_a = fmt::format("(load x (iadd (imul {} {}) {}))", k, product_rows(), row),
                    of_b = fmt::format("(load z (iadd (imul (iadd (imul $batch {}) {}) {}) {}))", product_depth, k,
                                       product_columns(), column);
  const std::string update =
      over("i", fmt::format("(store a $i {})", of_a)) + over("j", fmt::format("(store b $j {})", of_b)) +
      over("j", over("i", fmt::format("(store w {0} (add (mul (load a $i) (load b $j)) (load w {0})))", entry)));
  const std::string result =
      fmt::format("(iadd (imul (iadd (imul $batch {}) {}) {}) {})", product_columns(), column, product_rows(), row);
  return program("matrix_product", items_of_rows(),
                 fmt::format("(buffer x global real 0) (buffer z global real 0) (buffer w work real {}) "
                             "(buffer a work real {}) (buffer b work real {})",
                             tile * tile, tile, tile),
                 over("j", over("i", fmt::format("(store w {} (number 0))", entry))) +
                     fmt::format("(for p {} {} (block {}))", num_panels == 1 ? "unrolled" : "", num_panels,
                                 unrolled("q", steps, update)) +
                     over("j", over("i", fmt::format("(store y {} (load w {}))", result, entry))),
                 items / items_of_rows());
}

schedule::LoopProgram ProbePrograms::empty() const { return program("empty", 1, "", ""); }

double ProbePrograms::memory_bytes(const std::string& what) {
  const double sums = what == "read" ? 1 : 0; // a number per item is written
  return 8 * (num_moved(what) * numbers_per_item + sums);
}

double ProbePrograms::shared_bytes(const std::string& what) { return 8.0 * num_moved(what) * num_shared * num_turns; }

double ProbePrograms::flops(const std::string& what) { return (what == "fma" ? 2.0 : 1.0) * num_chains * num_updates; }

} // namespace rafter::tune
