// SPDX-License-Identifier: BSD-3-Clause
// Programs whose groups have items become kernels of OpenCL and of CUDA that compute what the interpreter does;
// languages refuse what they cannot say.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include <rafter/base/error.hpp>
#include <rafter/form/scalar_graph.hpp>

#include <tests/support/cuda.hpp>
#include <tests/support/opencl.hpp>
#include <tests/support/translating_device.hpp>

namespace rafter::test {
namespace {

std::string group_text(const std::string& launch, const std::string& statements) {
  return "(program k 1 (launch " + launch +
         ") (buffer y global real 0 written) (buffer x global real 0) (buffer s global integer 0)"
         "(buffer z global real32 0 written) (buffer c constant real 3 values 1 0.123456789 -3) (buffer t shared real "
         "8)"
         "(buffer f shared real32 1) (buffer w work real 4) (block " +
         statements + "))";
}

struct Case {
  const char* name;
  const char* launch;
  const char* statements;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class OnOpenCl : public ::testing::TestWithParam<Case> {};

/// Arrays of a run: y and z begin with numbers.
struct Arrays {
  std::vector<double> y = std::vector<double>(24, 0.5), x = std::vector<double>(24);
  std::vector<std::int32_t> s = std::vector<std::int32_t>(24);
  std::vector<float> z = std::vector<float>(24, 0.25F);
  Arrays() {
    std::iota(x.begin(), x.end(), 1.0);
    for (std::size_t i = 0; i < s.size(); ++i) s[i] = static_cast<std::int32_t>(i * 7 % 4);
  }
};

struct Batches {
  std::int64_t begin = 1, end = 6;
};

void run(device::Device& device, const std::string& text, Arrays& arrays, const Batches& batches = {}) {
  const auto kernel = device.compile(text)->kernel("k");
  const std::vector<std::shared_ptr<device::Buffer>> buffers{
      device.wrap(arrays.y.data(), 8 * arrays.y.size()), device.wrap(arrays.x.data(), 8 * arrays.x.size()),
      device.wrap(arrays.s.data(), 4 * arrays.s.size()), device.wrap(arrays.z.data(), 4 * arrays.z.size())};
  std::vector<device::Buffer*> arguments;
  for (const auto& buffer : buffers) arguments.push_back(buffer.get());
  const device::Task task{.kernel = kernel.get(), .arguments = arguments, .begin = batches.begin, .end = batches.end};
  device.run(std::span(&task, 1))->wait();
}

void expect_what_the_interpreter_computes(const std::string& text, TranslatingDevice device = TranslatingDevice()) {
  schedule::verify(schedule::read(text));
  InterpreterDevice interpreter;
  Arrays expected, found;
  run(interpreter, text, expected);
  run(device, text, found);
  EXPECT_NE(expected.y, Arrays().y);
  EXPECT_EQ(found.y, expected.y);
  EXPECT_EQ(found.z, expected.z);
}

TEST_P(OnOpenCl, ComputesWhatTheInterpreterDoes) {
  if (!has_opencl()) GTEST_SKIP() << "this machine has no OpenCL device (apt-get install pocl-opencl-icd)";
  expect_what_the_interpreter_computes(group_text(GetParam().launch, GetParam().statements));
}

const Case cases[] = {
    {"axes", "2 2 1 2",
     "(store y (iadd (imul group 4) (iadd (imul item_y 2) item_x)) (load x (iadd $batch (imul $last_batch item_z))))"},
    {"shared_memory", "4 1 1 1",
     "(store t item_x (load x (iadd (imul group 4) item_x))) (barrier)"
     "(store y (iadd (imul group 4) item_x) (load t (isub 3 item_x)))"},
    {"atomic_sums", "4 1 1 1",
     "(add y atomic (iload s item_x) (load x group)) (add z atomic (iload s group) (number32 0.5))"
     "(if (ieq item_x 0) (block (store t 0 (number 0)) (store f 0 (number32 0))) (block)) (barrier)"
     "(add t atomic 0 (load x item_x)) (add f atomic 0 (number32 2)) (barrier)"
     "(if (ilt item_x 1) (block (store y (iadd 8 group) (add (load t 0) (widen (load f 0))))) (block))"},
    {"tables_and_functions", "4 1 1 1",
     "(store w 1 (mul (load c (imin item_x 2)) (number 1.23456789012))) (let a (abs (load w 1)))"
     "(if (ieq group 0) (block (store y item_x (add (sqrt %a) (max %a (load x 0))))) (block))"},
    {"divergent_loops", "4 1 1 1",
     "(store w 0 (number 0)) (for i item_x (block (add w 0 (load x $i))))"
     "(if (ilt item_x 3) (block (store y (iadd (imul group 4) item_x) (load w 0))) (block))"},
    {"all_batches_in_one_group", "2 1 1 0",
     "(for k (iadd (isub $last_batch $batch) 1) (block (if (ieq item_x 0) (block (store y (iadd $batch $k)"
     " (load x $k))) (block)) (barrier)))"},
};
INSTANTIATE_TEST_SUITE_P(programs, OnOpenCl, ::testing::ValuesIn(cases),
                         [](const auto& test) { return std::string(test.param.name); });

TranslatingDevice on_cuda(const device::GpuMaker& maker) {
  return TranslatingDevice(std::make_shared<device::GpuDevice>(maker));
}

class OnCuda : public ::testing::TestWithParam<Case> {};

TEST_P(OnCuda, ComputesWhatTheInterpreterDoesEmulated) {
  const auto text = group_text(GetParam().launch, GetParam().statements);
  expect_what_the_interpreter_computes(text, on_cuda(emulated_cuda()));
  expect_what_the_interpreter_computes(text, on_cuda(emulated_hip()));
}

TEST_P(OnCuda, ComputesWhatTheInterpreterDoesOnADevice) {
  if (!has_cuda()) GTEST_SKIP() << "this machine has no CUDA device with NVRTC";
  const auto text = group_text(GetParam().launch, GetParam().statements);
  expect_what_the_interpreter_computes(text, on_cuda(device::cuda()));
}

INSTANTIATE_TEST_SUITE_P(programs, OnCuda, ::testing::ValuesIn(cases),
                         [](const auto& test) { return std::string(test.param.name); });

/// A program with four lanes in each of which an item computes.
std::string lanes_text(const std::string& launch, const std::string& statements) {
  return "(program k 4 (launch " + launch +
         ") (buffer y global real 0 written) (buffer x global real 0) (buffer s global integer 0)"
         "(buffer z global real32 0 written) (buffer e constant integer 4 values 2 0 3 1) (buffer v work real 16 lane)"
         "(buffer f work real32 16 lane) (block " +
         statements + "))";
}

class LanesOnOpenCl : public ::testing::TestWithParam<Case> {};

TEST_P(LanesOnOpenCl, ComputeWhatTheInterpreterDoes) {
  if (!has_opencl()) GTEST_SKIP() << "this machine has no OpenCL device (apt-get install pocl-opencl-icd)";
  expect_what_the_interpreter_computes(lanes_text(GetParam().launch, GetParam().statements));
}

const Case lane_cases[] = {
    {"whole_vectors", "1 1 1 2", "(store y (iadd (imul group 4) lane) (load x (iadd (imul group 4) lane)))"},
    {"vectors_anywhere", "1 1 1 2", "(add y (iadd (iadd (imul group 4) 1) lane) (load x (iadd (iadd group 3) lane)))"},
    {"gathers", "1 1 1 2",
     "(ilet p (iload s (iadd (imul group 4) lane))) (store y (iadd (imul group 4) lane) (mul (load x @p)"
     " (load x by_lane (iadd @p 2))))"},
    {"integers", "1 1 1 2",
     "(store y (iadd (imul group 4) lane) (sub (load x (imin (iload s lane) 2)) (load x (ieq (iload s lane) 2))))"},
    {"some_lanes", "1 1 1 2", "(add y (iadd (imul group 4) lane) (load x lane) (iadd group 1))"},
    {"atomic_sums", "1 1 1 2", "(add y atomic (iload s lane) (load x (iadd (imul group 4) lane)) 3)"},
    {"single_numbers", "1 1 1 2",
     "(store v (iadd 4 lane) (load x (iadd (imul group 4) lane))) (store y (imul group 4) (load v 6))"},
    {"functions", "1 1 1 2",
     "(let a (load x (iadd (imul group 4) lane))) (store y (iadd (imul group 4) lane) (add (sqrt %a) (max %a (number "
     "3))))"},
    {"floats", "1 1 1 2",
     "(let a (narrow (load x (iadd (imul group 4) lane)))) (store z (iadd (imul group 4) lane) %a)"
     "(store f lane (mul %a %a)) (store y (iadd (imul group 4) lane) (widen (load f lane)))"},
    {"runs", "1 1 1 8",
     "(for i run 4 (block (store v (iadd (imul (iload e $i) 4) lane) (load x (iadd (iload s (iadd 4 lane)) $i)))))"
     "(for j run 2 (block (store v (iadd (imul (iload e (iadd 1 $j)) 4) lane) (load x (iadd (iload s (iadd 8 lane)) "
     "$j)))))"
     "(for k run 4 (block (add y (iadd (iload s lane) $k) (load v (iadd (imul (iload e $k) 4) lane)))))"
     "(for l run 2 (block (add y (iadd (iload s (iadd 4 lane)) $l) (load v (iadd (imul (iload e $l) 4) lane)))))"},
    {"runs_of_floats", "1 1 1 8",
     "(for i run 4 (block (store f (iadd (imul (iload e $i) 4) lane) (narrow (load x (iadd (iload s lane) $i))))))"
     "(for k run 2 (block (add y (iadd (iload s (iadd 4 lane)) $k) (widen (load f (iadd (imul (iload e $k) 4) "
     "lane))))))"},
};
INSTANTIATE_TEST_SUITE_P(programs, LanesOnOpenCl, ::testing::ValuesIn(lane_cases),
                         [](const auto& test) { return std::string(test.param.name); });

/// Returns a program that computes every operation in each of six groups of four items; operation o of item i stands
/// at 24 o + i of y, and in floats at the same place of z.
std::string every_operation() {
  const std::string i = "(iadd (imul group 4) item_x)";
  const std::vector<std::string> operands{"(load x " + i + ")", "(load x (isub 23 " + i + "))",
                                          "(load x (imul 4 group))"};
  std::string statements;
  for (int o = static_cast<int>(form::ScalarOp::add); o <= static_cast<int>(form::ScalarOp::select); ++o) {
    const auto& info = form::info(static_cast<form::ScalarOp>(o));
    std::string doubles, floats;
    for (std::size_t k = 0; k < static_cast<std::size_t>(info.arity); ++k) {
      doubles += " " + operands[k];
      floats += " (narrow " + operands[k] + ")";
    }
    const auto place = std::to_string(24 * (o - static_cast<int>(form::ScalarOp::add)));
    statements += "(store y (iadd " + place + " " + i + ") (" + info.name + doubles + "))";
    statements += "(store z (iadd " + place + " " + i + ") (" + info.name + floats + "))";
  }
  return group_text("4 1 1 1", statements);
}

/// Numbers within and outside of the domains of functions, with signs and equal pairs.
Arrays numbers_for_operations() {
  constexpr std::size_t num_operations =
      static_cast<std::size_t>(form::ScalarOp::select) - static_cast<std::size_t>(form::ScalarOp::add) + 1;
  Arrays result;
  result.x = {-3,  -2.5, -1.5, -1,   -0.9, -0.5, -0.25, -0.1, 0, 0,   1e-3, 0.1,
              0.1, 0.3,  0.5,  0.75, 0.9,  1,    1.25,  1.5,  2, 2.5, 3,    -3};
  result.y.assign(24 * num_operations, 17);
  result.z.assign(24 * num_operations, 17);
  return result;
}

/// Errors of the functions of OpenCL are at most 16 units in the last place (OpenCL 1.2, section 7.4).
template <class T> void expect_close(const std::vector<T>& found, const std::vector<T>& expected) {
  constexpr T tolerance = 32 * std::numeric_limits<T>::epsilon();
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto op = static_cast<form::ScalarOp>(static_cast<std::size_t>(form::ScalarOp::add) + i / 24);
    if (std::isnan(expected[i]) || std::isinf(expected[i]))
      EXPECT_TRUE(std::isnan(expected[i]) ? std::isnan(found[i]) : found[i] == expected[i])
          << form::info(op).name << " " << i % 24 << ": " << found[i];
    else
      EXPECT_NEAR(found[i], expected[i], tolerance * std::max(T(1), std::abs(expected[i])))
          << form::info(op).name << " " << i % 24;
  }
}

void expect_operations(TranslatingDevice device) {
  const auto text = every_operation();
  schedule::verify(schedule::read(text));
  InterpreterDevice interpreter;
  Arrays expected = numbers_for_operations(), found = numbers_for_operations();
  run(interpreter, text, expected, {.begin = 0, .end = 6});
  run(device, text, found, {.begin = 0, .end = 6});
  expect_close(found.y, expected.y);
  expect_close(found.z, expected.z);
}

TEST(OpenClSpelling, OfEveryOperationMeansWhatTheHostComputes) {
  if (!has_opencl()) GTEST_SKIP() << "this machine has no OpenCL device (apt-get install pocl-opencl-icd)";
  expect_operations(TranslatingDevice());
}

TEST(CudaSpelling, OfEveryOperationMeansWhatTheHostComputesEmulated) { expect_operations(on_cuda(emulated_cuda())); }

TEST(CudaSpelling, OfEveryOperationMeansWhatTheHostComputes) {
  if (!has_cuda()) GTEST_SKIP() << "this machine has no CUDA device with NVRTC";
  expect_operations(on_cuda(device::cuda()));
}

/// Loops that become many statements stay loops where work arrays do not fit into registers; all others are the
/// compiler's to unroll.
TEST(CudaSpelling, LongLoopsStayLoopsWhereArraysAreLarge) {
  const auto text_of = [](int doubles, const std::string& language) {
    return emit::emit(
        schedule::read("(program k 1 (launch 4 1 1 1) (buffer y global real 0 written) (buffer w work real " +
                       std::to_string(doubles) +
                       ") (block (for i 8 (block (for j 8 (block (store w $j (number 1)) (store w $i (number "
                       "2)))))) (store y item_x (load w 0))))"),
        language);
  };
  const std::string line = "#pragma unroll 1\n";
  const auto large = text_of(128, "cuda"); // 1024 bytes; 128 statements in all, 16 in the loop inside
  ASSERT_NE(large.find(line), std::string::npos);
  EXPECT_EQ(large.find(line), large.rfind(line));
  EXPECT_LT(large.find("(long i", large.find(line)), large.find("(long j", large.find(line)));
  EXPECT_EQ(text_of(127, "cuda").find(line), std::string::npos);
  EXPECT_EQ(text_of(128, "opencl").find(line), std::string::npos);
  EXPECT_EQ(text_of(128, "opencl").find("unroll"), std::string::npos);
}

/// Tables that are larger than constant memory go elsewhere.
TEST(CudaSpelling, TablesOfOneSourceFitIntoConstantMemory) {
  const auto text_of = [](int size) {
    std::string values;
    for (int i = 0; i < size; ++i) values += " 1";
    return emit::emit(
        schedule::read("(program k 1 (launch 4 1 1 1) (buffer y global real 0 written) (buffer c constant "
                       "real " +
                       std::to_string(size) + " values" + values + ") (block (store y item_x (load c item_x))))"),
        "cuda");
  };
  EXPECT_NE(text_of(6144).find("static __constant__ const double c"), std::string::npos);
  EXPECT_NE(text_of(6145).find("static __device__ const double c"), std::string::npos);
}

/// Neighbours read what an item writes, without a barrier: it runs where something looks for races (the label
/// oclgrind).
TEST(OpenClRaces, DISABLED_ArePlanted) {
  TranslatingDevice opencl;
  Arrays arrays;
  run(opencl, group_text("4 1 1 1", "(store t item_x (load x item_x)) (store y item_x (load t (isub 3 item_x)))"),
      arrays);
}

TEST(Languages, RefuseWhatTheyCannotSay) {
  for (const char* statements :
       {"(barrier)", "(store y group (number 1))", "(store y item_x (number 1))", "(add y atomic 0 (number 1))"})
    EXPECT_THROW((void)emit::emit(schedule::read("(program k 1 (buffer y global real 0 written) (block " +
                                                 std::string(statements) + "))"),
                                  "c"),
                 base::InternalError)
        << statements;
  EXPECT_THROW((void)emit::emit(schedule::read(group_text("2 1 1 1", "")), "c"), base::InternalError);
  EXPECT_THROW((void)emit::emit(schedule::read("(program k 1 (block))"), "fortran"), base::InternalError);
  EXPECT_EQ(emit::target("opencl"), (schedule::Target{.language = "opencl", .has_lanes = false, .has_groups = true}));
  EXPECT_EQ(emit::target("cuda"),
            (schedule::Target{.language = "cuda", .has_lanes = false, .has_groups = true, .has_atomic_doubles = true}));
  EXPECT_EQ(emit::target("loops"), (schedule::Target{.language = "loops", .has_groups = true}));
  EXPECT_EQ(emit::target("c"), schedule::Target());
}

} // namespace
} // namespace rafter::test
