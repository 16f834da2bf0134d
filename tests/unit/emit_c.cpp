// SPDX-License-Identifier: BSD-3-Clause
// The emitted C means what the interpreter computes: small programs with every kind of node are compiled and
// interpreted.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include <rafter/base/error.hpp>
#include <rafter/base/text.hpp>
#include <rafter/device/array.hpp>
#include <rafter/emit/c_family.hpp>
#include <rafter/space/index_tables.hpp>
#include <tests/support/loop_texts.hpp>

namespace rafter::emit {
namespace {

using schedule::LoopProgram;

struct Data {
  base::AlignedVector<double> x = base::AlignedVector<double>(64, 0.25), u;
  base::AlignedVector<std::int32_t> s{3, 1, 2, 0, 7, 5, 6, 4, 2, 1, 3, 8, 0, 0, 0, 0};
  Data() {
    for (int i = 0; i < 64; ++i) u.push_back(std::sin(1.0 + 3 * i));
  }
};

base::AlignedVector<double> interpreted(const LoopProgram& program, std::int64_t num_batches) {
  Data data;
  const schedule::Argument arguments[] = {{data.x, {}}, {data.u, {}}, {{}, data.s}};
  schedule::interpret(program, arguments, 0, num_batches);
  return data.x;
}

base::AlignedVector<double> compiled(const LoopProgram& program, std::int64_t num_batches) {
  const auto device = device::make_device("host", 1);
  Data data;
  device::Array<double> x(device, data.x), u(device, data.u);
  device::Array<std::int32_t> s(device, data.s);
  const auto kernel = device->compile(emit(program))->kernel(program.name);
  const std::vector<device::Buffer*> arguments{x.device_write(), u.device_read(), s.device_read()};
  const device::Task task{kernel.get(), arguments, 0, num_batches};
  device->run({&task, 1})->wait();
  return {x.host_read().begin(), x.host_read().end()};
}

void expect_same(const LoopProgram& program, std::int64_t num_batches, double tolerance = 0) {
  schedule::verify(program);
  const auto expected = interpreted(program, num_batches), found = compiled(program, num_batches);
  ASSERT_EQ(found.size(), expected.size());
  bool is_changed = false;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] != expected[i]) { // equal values may be infinite
      EXPECT_NEAR(found[i], expected[i], tolerance * std::fabs(expected[i])) << "x[" << i << "]";
    }
    is_changed = is_changed || expected[i] != Data().x[i];
  }
  EXPECT_TRUE(is_changed) << "the program writes something";
}

void expect_same(const std::string& statements, std::int64_t num_batches = 1, double tolerance = 0) {
  SCOPED_TRACE(statements.substr(0, 400));
  expect_same(schedule::read(test::loop_text(statements)), num_batches, tolerance);
}

/// Returns a program with x[4 i + lane] = operation i of u, on scalars and vectors.
std::string every_operation(const std::string& a, const std::string& b, const std::string& place) {
  std::string text;
  int i = 0;
  for (int o = static_cast<int>(form::ScalarOp::add); o <= static_cast<int>(form::ScalarOp::select); ++o) {
    const auto& info = form::info(static_cast<form::ScalarOp>(o));
    std::string call = std::string("(") + info.name + " " + a;
    if (info.arity > 1) call += " " + b;
    if (info.arity > 2) call += " " + a;
    text += "(add x " + (place.empty() ? std::to_string(i) : "(iadd " + std::to_string(4 * (i % 12)) + " lane)") +
            " (min (number 5) (max (number -5) " + call + "))))";
    ++i;
  }
  return text;
}

TEST(CText, EveryOperationOnLanes) {
  // Compiled code and interpreter use the same C library for elementary functions.
  expect_same("(let a (mul (number 0.9) (load u lane))) (let b (abs (load u (iadd 8 lane))))" +
                  every_operation("%b", "%a", "lane"),
              1, 1e-15);
}

TEST(CText, EveryOperationOnScalars) {
  expect_same("(let a (mul (number 0.9) (load u 3))) (let b (abs (load u 8)))" + every_operation("%b", "%a", ""), 1,
              1e-15);
}

TEST(CText, ScatteredAddsAndPartialStores) {
  expect_same("(add x (iload s lane) (load u lane)) (add x (iload s (iadd 12 lane)) (load u lane))"
              "(store x (iadd 20 lane) (load u (iload s lane)) 3)"
              "(add x (iadd 24 (iload s (iadd 4 lane))) (load u lane) (iload s 2))"
              "(store x (iadd (imul 7 4) lane) (number 2))"
              "(ilet d (imin (imul 2 lane) (iload s 0))) (add x (iadd 40 @d) (load u @d))");
}

TEST(CText, LoadsLaneByLane) {
  // positions in a table, shifted ones, computed ones, and indices that make other loads than gathers
  expect_same("(store x lane (load u by_lane (iload s lane)))"
              "(store x (iadd 4 lane) (load u by_lane (iadd (iload s (iadd 4 lane)) 3)))"
              "(ilet p (iload s (iadd 8 lane))) (store x (iadd 8 lane) (load u by_lane (iadd @p 1)))"
              "(store x (iadd 12 lane) (load u by_lane (imul 2 lane)))");
}

TEST(CText, StreamingStoresOnAnyAddress) {
  // Batch 0 begins at a multiple of the vector's size, the others do not.
  expect_same("(ilet d (iadd (imul $batch 9) 8)) (store x streaming (iadd $d lane) (load u (iadd $d lane)))", 4);
}

TEST(CText, PartsOfTablesThatBelongToFacets) {
  // Entries of parts of two sizes, at fixed and running places, beside whole vectors and entries of other tables.
  const std::string text = "(ilet f (iload s $batch)) (for i 2 (block"
                           " (store x (iadd (imul $batch 8) $i) (mul (load u (iadd (imul $f 5) $i)) (load u (iadd "
                           "(iadd (imul $f 3) 1) $i))))))"
                           "(store x (iadd (imul $batch 8) 2) (mul (load u (imul $f 5)) (load u $f)))"
                           "(add x (iadd (imul $batch 8) 3) (load x (imul $f 5)))"
                           "(store x (iadd (iadd (imul $batch 8) 4) lane) (load u (iadd (imul $f 5) lane)))";
  auto program = schedule::read(test::loop_text(text));
  EXPECT_EQ(emit(program).find("u_of_f"), std::string::npos) << "integers of other roles number no parts";
  std::ranges::find(program.buffers, "s", &schedule::LoopBuffer::name)->role = schedule::role::facet;
  expect_same(program, 3);
  const auto c = emit(program);
  EXPECT_NE(c.find("  const double* restrict u_of_f_5 = u + f*5;\n"), std::string::npos) << c;
  EXPECT_NE(c.find("u_of_f_5[i]*u_of_f_3[1+i]"), std::string::npos) << c;
  EXPECT_NE(c.find("u_of_f_5[0]*u[f]"), std::string::npos) << c;
  EXPECT_EQ(c.find("x_of_f"), std::string::npos) << "what is written has one pointer\n" << c;
}

TEST(CText, LoopsBranchesAndBatches) {
  expect_same("(for i (iload s $batch) (block (let a (load u (iadd (imul $batch 4) $i)))"
              " (if (ieq (iload s $i) 2) (block (add x $i %a)) (block (add x (iadd 8 $i) (neg %a))))))"
              "(for i unrolled 3 (block (for j 2 (block (add x (iadd 16 (iadd (imul $i 2) $j)) (mul (load c $i) (load "
              "u $j)))))))"
              "(store x (iadd 32 (iload ci (imin $batch 1))) (number -1e-3))",
              3);
}

TEST(CText, WorkArraysAsVectorsAndAsNumbers) {
  expect_same("(for i 2 (block (store w (iadd (imul $i 4) lane) (mul (load c $i) (load u lane)))))"
              "(for i 8 (block (store x $i (load w $i))))"
              "(store w 5 (number 3)) (store x (iadd 8 lane) (load w (iadd 4 lane)))"
              "(add w lane (load w (iadd 4 lane))) (store x (iadd 12 lane) (load w (iload s lane)))");
}

TEST(CText, QuotientsAndTheLastBatch) {
  expect_same(
      "(add x (idiv (iload s $batch) 2) (number 1)) (add x (iadd 8 (imul 2 (idiv (iadd $batch 3) 3))) (number 2))"
      " (add x (iadd 20 (isub $last_batch $batch)) (number 3)) (prefetch u (imul 100 $batch))"
      "(prefetch x nearest $batch) (store x (iadd 30 (imul 3 (idiv $last_batch 2))) (number 4))",
      3);
}

/// Returns the bytes of the arrays that a kernel's text has on the stack, as in "  vec w0[250];".
std::int64_t stack_bytes(const std::string& text, int vector_width) {
  std::int64_t bytes = 0;
  for (const auto& line : base::split(text, '\n')) {
    const auto words = base::words(line);
    const bool is_vector = !words.empty() && words[0] == "vec";
    if (words.size() != 2 || !(is_vector || words[0] == "double") || !words[1].ends_with("];")) continue;
    const auto open = words[1].find('[');
    bytes +=
        (is_vector ? 8 * vector_width : 8) * base::parse_integer(words[1].substr(open + 1, words[1].size() - open - 3));
  }
  return bytes;
}

/// Copies u to x through work arrays of these sizes, each of which is written and read at its end.
LoopProgram through_work(const std::vector<std::int64_t>& sizes) {
  using namespace schedule;
  LoopProgram program = schedule::read(test::loop_text(""));
  std::vector<NodePtr> writes, reads;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::string name = "work" + std::to_string(i);
    program.buffers.push_back({.name = name, .space = Space::work, .size = sizes[i], .is_lane = true});
    const auto end = [&] { return iadd(integer(sizes[i] - 4), lane()); };
    const auto place = static_cast<std::int64_t>(i % 8) * 4;
    writes.push_back(store(name, end(), load("u", iadd(integer(place), lane()))));
    reads.push_back(add("x", iadd(integer(place), lane()), load(name, end())));
  }
  writes.insert(writes.end(), reads.begin(), reads.end());
  program.body = block(writes);
  return program;
}

TEST(CText, WorkArraysThatAStackDoesNotHoldLeaveIt) {
  constexpr std::int64_t limit = 1 << 20;
  const std::vector<std::int64_t> many(144, 8000), few(16, 8000), one{8, 1 << 20, 16};
  for (const auto& sizes : {many, few, one}) {
    const auto program = through_work(sizes);
    schedule::verify(program);
    const auto bytes = stack_bytes(emit(program), 4);
    std::int64_t all = 64; // the array w
    for (const auto size : sizes) all += 8 * size;
    EXPECT_LE(bytes, limit);
    if (sizes == one) {
      EXPECT_EQ(bytes, 64 + 8 * 24) << "the largest leaves first";
    } else {
      EXPECT_GE(bytes, std::min(all, limit - 64000)) << "no more leave than must";
    }
    EXPECT_EQ(compiled(program, 1), interpreted(program, 1));
  }
}

using schedule::Type;

/// Returns values in memory as numbers of type T.
template <class T> base::AlignedVector<T> of_type(const base::AlignedVector<double>& values) {
  return {values.begin(), values.end()};
}

/// Compares the first argument x after a compiled and an interpreted run on x, u (of the types that the program
/// declares) and s.
template <class T> void expect_same_vectors(const LoopProgram& program, double tolerance = 0) {
  Data data;
  auto x = of_type<T>(data.x), u = of_type<T>(data.u);
  const auto argument = [](base::AlignedVector<T>& values) {
    if constexpr (std::is_same_v<T, float>)
      return schedule::Argument{.singles = values};
    else
      return schedule::Argument{.reals = values};
  };
  const auto device = device::make_device("host", 1);
  device::Array<T> found(device, x), input(device, u);
  device::Array<std::int32_t> s(device, data.s);
  const schedule::Argument arguments[] = {argument(x), argument(u), {{}, data.s}};
  schedule::interpret(program, arguments, 0, 1);
  const auto kernel = device->compile(emit(program))->kernel(program.name);
  const std::vector<device::Buffer*> buffers{found.device_write(), input.device_read(), s.device_read()};
  const device::Task task{kernel.get(), buffers, 0, 1};
  device->run({&task, 1})->wait();
  EXPECT_NE(x, of_type<T>(data.x)) << "the program writes something";
  for (std::size_t i = 0; i < x.size(); ++i)
    if (found.host_read()[i] != x[i]) {
      EXPECT_NEAR(found.host_read()[i], x[i], tolerance * std::fabs(x[i])) << "x[" << i << "]";
    }
}

/// The program loads runs of `width` numbers per lane, some of them the same, into work arrays and adds them back. Work
/// arrays hold `groups` sub-batches, and the runs go to the last of them.
LoopProgram runs(int vector_width, int width, Type vector = Type::real, Type work = Type::real, int groups = 1) {
  using namespace schedule;
  LoopProgram program;
  program.vector_width = vector_width;
  LoopBuffer x{.name = "x", .type = vector, .is_written = true, .role = role::output_vector};
  LoopBuffer u{.name = "u", .type = vector, .role = role::input_vector};
  LoopBuffer s{.name = "s", .type = Type::integer, .role = space::role::run_starts};
  LoopBuffer places{.name = "places", .space = Space::constant, .type = Type::integer, .size = 2 * width};
  // 5 divides no width, so that places are a permutation.
  for (int i = 0; i < 2 * width; ++i) places.values.push_back((5 * i + 3) % (2 * width));
  LoopBuffer w{
      .name = "w", .space = Space::work, .type = work, .size = 2 * width * groups * vector_width, .is_lane = true};
  program.buffers = {x, u, s, places, w};
  const auto position = [](int first) { return iadd(iadd(iload("s", lane()), integer(first)), variable("k")); };
  const auto entry = [&](const NodePtr& first) {
    const NodePtr place = iload("places", iadd(first, variable("k")));
    return iadd(imul(iadd(imul(place, integer(groups)), integer(groups - 1)), integer(vector_width)), lane());
  };
  const auto run = [&](NodePtr move) { return loop("k", integer(width), block({std::move(move)}), LoopStyle::run); };
  const auto read = [&](int first) { return converted(load("u", position(first), vector), work); };
  const auto write = [&](const NodePtr& place) { return converted(load("w", place, work), vector); };
  program.body = block(
      {run(store("w", entry(integer(0)), read(0))), run(store("w", entry(integer(width)), read(20))),
       loop("n", integer(2), block({run(add("x", position(3), write(entry(imul(variable("n"), integer(width))))))}))});
  return program;
}

TEST(CText, RunsMoveAsVectors) {
  struct Types {
    Type vector, work;
    const char* suffix;
  };
  for (const auto& types : {Types{Type::real, Type::real, ""}, Types{Type::real, Type::real32, "_df"},
                            Types{Type::real32, Type::real, "_df"}, Types{Type::real32, Type::real32, "_f"}})
    for (const int vector_width : {2, 4, 8, 16})
      for (int width = 2; width <= vector_width; width *= 2) {
        const auto program = runs(vector_width, width, types.vector, types.work);
        SCOPED_TRACE(std::to_string(vector_width) + " lanes, runs of " + std::to_string(width) + types.suffix);
        schedule::verify(program);
        const std::string name = "run" + std::to_string(width) + types.suffix;
        EXPECT_NE(emit(program).find("add_" + name + "(w, places + n*"), std::string::npos) << emit(program);
        EXPECT_NE(emit(program).find("load_" + name + "(w, places + 0, u, s, 0)"), std::string::npos) << emit(program);
        EXPECT_EQ(schedule::print(schedule::read(schedule::print(program))), schedule::print(program));
        if (types.vector == Type::real)
          expect_same_vectors<double>(program);
        else
          expect_same_vectors<float>(program);
      }
}

TEST(CText, RunsMoveToOneOfSeveralGroups) {
  for (const int groups : {2, 4})
    for (const int width : {2, 8}) {
      const auto program = runs(8, width, Type::real, Type::real, groups);
      schedule::verify(program);
      const std::string name = "run" + std::to_string(width) + "_by" + std::to_string(groups), text = emit(program);
      EXPECT_NE(text.find("load_" + name + "(w + " + std::to_string(groups - 1) + ", places + 0"), std::string::npos)
          << text;
      EXPECT_NE(text.find("add_" + name + "(w + "), std::string::npos) << text;
      expect_same_vectors<double>(program);
    }
}

TEST(CText, RunsThatLookOtherwiseMoveOneByOne) {
  // The places follow a formula here, and are in no table.
  expect_same("(for k run 2 (block (store w (iadd (imul $k 4) lane) (load u (iadd (iload s lane) $k)))))"
              "(for k run 2 (block (add x (iadd (iload s lane) $k) (load w (iadd (imul $k 4) lane)))))");
}

TEST(CText, FloatsAreWidenedAndRoundedWhereTheProgramSaysSo) {
  const auto program = schedule::read("(program k 4\n"
                                      "(buffer f global real32 0 written role stored_point 0)\n"
                                      "(buffer u global real32 0 role input_vector 0)\n"
                                      "(buffer s global integer 0 role run_starts 0)\n"
                                      "(buffer w work real 8 lane)\n(block "
                                      "(store w lane (widen (load u lane)))"
                                      "(store f lane (narrow (mul (load w lane) (widen (load f (iadd 8 lane))))))"
                                      "(add f (iadd 4 lane) (load u (iadd 4 lane)))"
                                      "(store f 12 (narrow (mul (widen (load u 13)) (widen (load u 14)))))"
                                      "(store f (iadd 16 lane) (mul (load u (iload s lane)) (load u 15)) 3)"
                                      "(add f (iadd 20 (iload s lane)) (load u lane))"
                                      "(store f (iadd 33 lane) (load u (iadd 3 lane)))))");
  schedule::verify(program);
  expect_same_vectors<float>(program);
}

/// Returns the same statements for floats, which x and u are then.
LoopProgram on_floats(std::string statements) {
  const std::string from = "(number ", to = "(number32 ";
  for (std::size_t i = statements.find(from); i != std::string::npos; i = statements.find(from, i + to.size()))
    statements.replace(i, from.size(), to);
  return schedule::read("(program k 4\n"
                        "(buffer x global real32 0 written role output_vector 0)\n"
                        "(buffer u global real32 0 role input_vector 0)\n"
                        "(buffer s global integer 0 role run_starts 0)\n"
                        "(buffer c constant real32 3 values 0.1 2 3)\n"
                        "(buffer w work real32 8 lane)\n"
                        "(block " +
                        statements + "))\n");
}

TEST(CText, EveryOperationOnFloats) {
  // The C library's functions of floats are wrong by some roundings.
  constexpr double roundings = 8 * 0x1p-24;
  const auto vector_width = on_floats("(let a (mul (number 0.9) (load u lane))) (let b (abs (load u (iadd 8 lane))))" +
                                      every_operation("%b", "%a", "lane"));
  const auto scalars =
      on_floats("(let a (mul (number 0.9) (load u 3))) (let b (abs (load u 8)))" + every_operation("%b", "%a", ""));
  for (const auto& program : {vector_width, scalars}) {
    schedule::verify(program);
    expect_same_vectors<float>(program, roundings);
  }
  EXPECT_NE(emit(vector_width).find("__builtin_sqrtf("), std::string::npos) << emit(vector_width);
}

TEST(CText, FloatsKeepTheirDigitsAndStream) {
  const auto program =
      on_floats("(store w lane (number 0.123456789)) (store x 0 (number 1e-30)) (store x 1 (number -2))"
                "(store x 2 (load c 0)) (store x 3 (mul (load c 1) (number 0.1)))"
                "(store x streaming (iadd 8 lane) (load w lane)) (store x streaming (iadd 13 lane) (load w lane))"
                "(store x (iadd 20 lane) (load w (iload s lane)))"
                "(store x (iadd 24 lane) (load u by_lane (iload s lane)))");
  schedule::verify(program);
  expect_same_vectors<float>(program);
}

/// Random expressions as text show whether the emitted ones have parentheses in the right places.
class Expressions {
public:
  explicit Expressions(unsigned seed) : random_(seed) {}

  std::string real(int depth, bool has_lane) {
    if (depth == 0) {
      const int i = below(8);
      if (i < 2) return i == 0 ? "(number 0.75)" : "(number -1.5)";
      const std::string index = std::to_string(8 * i);
      return "(add (number 2.5) (load u " + (has_lane && below(2) == 0 ? "(iadd " + index + " lane)" : index) + "))";
    }
    const char* binary[] = {"add", "sub", "mul", "div", "min", "max"};
    const int i = below(8);
    if (i == 6) return "(neg " + real(depth - 1, has_lane) + ")";
    if (i == 7)
      return "(select (lt " + real(depth - 1, has_lane) + " " + real(depth - 1, has_lane) + ") " +
             real(depth - 1, has_lane) + " " + real(depth - 1, has_lane) + ")";
    return std::string("(") + binary[i] + " " + real(depth - 1, has_lane) + " " + real(depth - 1, has_lane) + ")";
  }

  /// The values are between -(2^(2^depth)) and 2^(2^depth) without lanes.
  std::string integer(int depth, bool has_lane) {
    if (depth == 0) {
      const int i = below(5);
      if (i == 4 && has_lane) return "lane";
      return i < 3 ? std::to_string(i) : "(iload ci " + std::string(below(2) == 0 ? "0" : "1") + ")";
    }
    const char* binary[] = {"iadd", "isub", "imul", "imin", "ieq"};
    if (below(6) == 0) // the dividend is not negative
      return "(idiv (iadd 60 " + integer(depth - 1, has_lane) + ") " + std::to_string(50 + below(20)) + ")";
    return std::string("(") + binary[below(5)] + " " + integer(depth - 1, has_lane) + " " +
           integer(depth - 1, has_lane) + ")";
  }

private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::mt19937 random_;
};

TEST(CText, NestedExpressionsKeepTheirOrder) {
  Expressions random(5);
  std::string text;
  for (int i = 0; i < 32; ++i) text += "(store x " + std::to_string(i) + " " + random.real(4, false) + ")";
  for (int i = 8; i < 16; ++i)
    text += "(store x (iadd " + std::to_string(4 * i) + " lane) " + random.real(4, true) + ")";
  // A multiplication and an addition may be fused, and sums of a few numbers near 2 may cancel.
  expect_same(text, 1, 1e-9);
}

TEST(CText, NestedIntegersKeepTheirOrder) {
  Expressions random(6);
  std::string text;
  for (int i = 0; i < 60; ++i) {
    // The number of iterations of a loop shows the value.
    const std::string turn = "t" + std::to_string(i);
    text += "(for " + turn + " (iadd 300 " + random.integer(3, false) + ") (block (add x " + std::to_string(i) +
            " (number 1))))";
  }
  text += "(add x (iadd (ieq (iload ci 1) 1) lane) (load u lane)) (add x lane (number 0.5) (ieq (iload ci 1) 1))"
          "(for e (ieq (iload ci 1) 1) (block (add x 3 (number 1))))";
  for (int i = 0; i < 20; ++i) // products of four numbers up to 3 are limited to the size of the array
    text += "(add x (iadd 20 (imin 20 " + random.integer(2, true) + ")) (number 0.5))";
  expect_same(text);
}

TEST(CText, IsTheSameForTheSameProgram) {
  const auto program = schedule::read(test::loop_text("(store x lane (exp (load u lane)))"));
  EXPECT_EQ(emit(program), emit(program));
  EXPECT_EQ(emit(program), emit(program, "c"));
}

TEST(CText, NumbersKeepAllTheirDigits) {
  const auto program =
      schedule::read(test::loop_text("(store x 0 (number 0.1)) (store x 1 (number 1e-300))"
                                     "(store x 2 (number -2)) (store x 3 (number 123456789012345.67))"));
  const auto values = compiled(program, 1);
  EXPECT_EQ(values[0], 0.1);
  EXPECT_EQ(values[1], 1e-300);
  EXPECT_EQ(values[2], -2);
  EXPECT_EQ(values[3], 123456789012345.67);
}

TEST(CText, ConstantsThatAreNotFiniteAreAFault) {
  for (const char* number : {"inf", "nan", "-inf"})
    EXPECT_THROW(emit(schedule::read(test::loop_text(std::string("(store x 0 (number ") + number + "))"))),
                 base::InternalError);
}

TEST(Languages, UnknownOnesAreAFault) {
  const auto program = schedule::read(test::loop_text(""));
  EXPECT_THROW(emit(program, "fortran"), base::InternalError);
  EXPECT_EQ(emit(program, "loops"), schedule::print(program));
}

} // namespace
} // namespace rafter::emit
