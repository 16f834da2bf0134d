// SPDX-License-Identifier: BSD-3-Clause
// The verifier of loop programs refuses every class of malformed program with a message that names it.
#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/schedule/loop_program.hpp>

#include <tests/support/loop_texts.hpp>

namespace rafter::schedule {
namespace {

/// Returns the message of the verifier, or "" when it accepts.
std::string complaint(const LoopProgram& program) {
  try {
    verify(program);
  } catch (const base::InternalError& error) {
    return error.what();
  }
  return "";
}

struct Case {
  const char* name;
  const char* statements;
  const char* message; ///< "" if the program is accepted
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.statements; }

class Verifier : public ::testing::TestWithParam<Case> {};

TEST_P(Verifier, SaysWhatIsWrong) {
  const std::string found = complaint(read(test::loop_text(GetParam().statements)));
  if (std::string(GetParam().message).empty())
    EXPECT_EQ(found, "");
  else
    EXPECT_NE(found.find(GetParam().message), std::string::npos) << "found: '" << found << "'";
}

const Case accepted[] = {
    {"nothing", "", ""},
    {"scalars", "(let a (load u 3)) (store x 0 (mul %a (load c 2)))", ""},
    {"lanes", "(let a (load u lane)) (store w (iadd 4 lane) %a) (add x (iload s lane) (load w (iadd 4 lane)) 3)", ""},
    {"loops", "(for i 3 (block (for j unrolled 2 (block (store x (iadd $i $j) (load c $i))))))", ""},
    {"branches", "(if (ieq (iload s $batch) 4) (block (store x 0 (number 1))) (block))", ""},
    {"lane_variables", "(ilet d (iadd lane 4)) (store x @d (number 1))", ""},
    {"run", "(for k run 2 (block (store w (iadd (imul (iload ci $k) 4) lane) (load u (iadd (iload s lane) $k)))))", ""},
    {"prefetch_of_the_last_batch", "(prefetch x (idiv (imul $last_batch 7) 2)) (prefetch s nearest 1000)", ""},
    {"streaming_store_of_a_vector", "(store x streaming (iadd (iload s 1) lane) (load w (iadd 4 lane)))", ""},
    {"names_again_in_another_block",
     "(for i 2 (block (ilet d lane) (let a (load u @d)))) (for i 2 (block (ilet d 3) (let a (load u $d)) (store x 0 "
     "%a)))",
     ""},
};
const Case unknown_names[] = {
    {"buffer_stored", "(store nope 0 (number 1))", "unknown buffer nope"},
    {"buffer_loaded", "(store x 0 (load nope 0))", "unknown buffer nope"},
    {"buffer_of_integers", "(store x (iload nope 0) (number 1))", "unknown buffer nope"},
    {"register", "(store x 0 %a)", "unknown register a"},
    {"register_within_operation", "(store x 0 (add (number 1) (neg %a)))", "unknown register a"},
    {"register_after_its_block", "(for i 2 (block (let a (number 1)))) (store x 0 %a)", "unknown register a"},
    {"register_of_the_other_branch", "(if 1 (block (let a (number 1))) (block (store x 0 %a)))", "unknown register a"},
    {"variable", "(store x $i (number 1))", "unknown variable i"},
    {"variable_after_its_loop", "(for i 2 (block)) (store x $i (number 1))", "unknown variable i"},
    {"variable_in_a_count", "(for i $n (block))", "unknown variable n"},
};
const Case double_definitions[] = {
    {"register_twice", "(let a (number 1)) (let a (number 2))", "register a is defined twice"},
    {"register_in_an_inner_block", "(let a (number 1)) (for i 2 (block (let a (number 2))))",
     "register a is defined twice"},
    {"variable_twice", "(ilet d 1) (ilet d 2)", "variable d is defined twice"},
    {"loop_in_its_own_loop", "(for i 2 (block (for i 2 (block))))", "variable i is defined twice"},
    {"batch", "(ilet batch 1)", "variable batch is defined twice"},
    {"last_batch", "(ilet last_batch 1)", "variable last_batch is defined twice"},
};
const Case lane_misuse[] = {
    {"lanes_collide", "(store x 0 (load u lane))", "lanes of a value collide in x"},
    {"lanes_collide_in_a_sum", "(add x 0 (mul (number 2) (load u (iload s lane))))", "lanes of a value collide"},
    {"lanes_collide_through_a_register", "(let a (load u lane)) (let b (neg %a)) (store x 0 %b)",
     "lanes of a value collide"},
    {"count_per_lane", "(for i (iload s lane) (block))", "a loop count varies with the lane"},
    {"condition_per_lane", "(if lane (block) (block))", "a condition varies with the lane"},
    {"active_per_lane", "(store x lane (number 1) lane)", "an active count varies with the lane"},
    {"prefetch_per_lane", "(prefetch u lane)", "a prefetch varies with the lane"},
    {"variable_marked_scalar", "(ilet d lane) (store x $d (number 1))", "marked wrongly for lanes"},
    {"variable_marked_vector", "(ilet d 1) (store x @d (number 1))", "marked wrongly for lanes"},
    {"loop_variable_marked_vector", "(for i 2 (block (store x @i (number 1))))", "marked wrongly for lanes"},
};
const Case wrong_access[] = {
    {"streaming_store_of_a_number", "(store x streaming 3 (number 1))", "not one of a whole vector"},
    {"streaming_store_of_some_lanes", "(store x streaming (iadd 8 lane) (load w lane) 3)", "not one of a whole vector"},
    {"streaming_store_to_scattered_places", "(store x streaming (iload s lane) (load w lane))",
     "not one of a whole vector"},
    {"streaming_store_to_a_work_array", "(store w streaming (iadd 4 lane) (load w lane))", "global buffer"},
    {"input_written", "(store u 0 (number 1))", "read-only buffer u"},
    {"input_added_to", "(add u 0 (number 1))", "read-only buffer u"},
    {"constant_written", "(store c 0 (number 1))", "read-only buffer c"},
    {"integers_written", "(store s 0 (number 1))", "another type"},
    {"integers_loaded_as_reals", "(store x 0 (load s 0))", "another type"},
    {"reals_loaded_as_integers", "(store x (iload u 0) (number 1))", "another type"},
    {"constant_index_too_large", "(store x 0 (load c 3))", "index 3 leaves c"},
    {"constant_index_negative", "(store x -1 (number 1))", "index -1 leaves x"},
    {"integer_index_too_large", "(store x (iload ci 2) (number 1))", "index 2 leaves ci"},
    {"prefetch_of_work", "(prefetch w 0)", "prefetch of w"},
    {"prefetch_of_nothing", "(prefetch nope 0)", "unknown buffer nope"},
    {"work_index_too_large", "(store w 8 (number 1))", "index 8 leaves w"},
};
const Case wrong_kinds[] = {
    {"unrolled_without_literal", "(for i unrolled (iload s 0) (block))",
     "a loop that is not rolled needs a literal count"},
    {"run_without_literal", "(for k run (iload s 0) (block (store w lane (load u $k))))",
     "a loop that is not rolled needs a literal count"},
    {"run_of_three", "(for k run 3 (block (store w lane (load u (iadd (iload s lane) $k)))))", "a run of 3 numbers"},
    {"run_of_none", "(for k run 0 (block (store w lane (load u (iadd (iload s lane) $k)))))", "a run of 0 numbers"},
    {"run_beyond_the_lanes", "(for k run 8 (block (store w lane (load u (iadd (iload s lane) $k)))))",
     "a run of 8 numbers"},
    {"run_of_two_statements", "(for k run 2 (block (store x 0 (load u $k)) (store x 1 (load u $k))))",
     "a run is moved by one statement"},
    {"run_that_computes", "(for k run 2 (block (store w lane (neg (load u lane)))))",
     "a run is moved by one statement"},
    {"divisor_of_a_variable", "(ilet d (idiv 3 $batch))", "a divisor is a positive literal"},
    {"divisor_of_zero", "(ilet d (idiv 3 0))", "a divisor is a positive literal"},
    {"expression_as_statement", "(number 1)", "an expression stands where a statement is expected"},
    {"expression_as_loop_body", "(for i 2 3)", "an expression stands where a statement is expected"},
    {"real_as_index", "(store x (number 1) (number 1))", "an integer expression is expected"},
    {"integer_as_value", "(store x 0 3)", "a real expression is expected"},
    {"integer_as_operand", "(let a (neg 3))", "a real expression is expected"},
    {"statement_as_value", "(let a (block))", "a real expression is expected"},
    {"statement_as_condition", "(if (block) (block) (block))", "an integer expression is expected"},
};

std::string case_name(const ::testing::TestParamInfo<Case>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(accepts, Verifier, ::testing::ValuesIn(accepted), case_name);
INSTANTIATE_TEST_SUITE_P(unknown, Verifier, ::testing::ValuesIn(unknown_names), case_name);
INSTANTIATE_TEST_SUITE_P(twice, Verifier, ::testing::ValuesIn(double_definitions), case_name);
INSTANTIATE_TEST_SUITE_P(lanes, Verifier, ::testing::ValuesIn(lane_misuse), case_name);
INSTANTIATE_TEST_SUITE_P(access, Verifier, ::testing::ValuesIn(wrong_access), case_name);
INSTANTIATE_TEST_SUITE_P(kinds, Verifier, ::testing::ValuesIn(wrong_kinds), case_name);

struct HeadCase {
  const char* text;
  const char* message;
};

TEST(ProgramHead, MistakesAreRefused) {
  const HeadCase cases[] = {
      {"(program k 0 (block))", "lanes out of range"},
      {"(program k 65 (block))", "lanes out of range"},
      {"(program k 1 3)", "the body is a block"},
      {"(program k 1 (store x 0 (number 1)))", "the body is a block"},
      {"(program k 1 (buffer w work real 0) (block))", "buffer w has no size"},
      {"(program k 1 (buffer u global real -1) (block))", "buffer u has no size"},
      {"(program k 1 (buffer u global real 0) (buffer u global real 0) (block))", "buffer u is declared twice"},
      {"(program k 1 (buffer c constant real 3 values 1 2) (block))", "constant buffer c needs one value per element"},
      {"(program k 4 (buffer w work real 6 lane) (block))", "lane buffer w has a broken size"},
  };
  for (const auto& [text, message] : cases) {
    const std::string found = complaint(read(text));
    EXPECT_NE(found.find(message), std::string::npos) << text << " found: '" << found << "'";
  }
}

/// The global array f and the work array h are floats, u are doubles.
LoopProgram with_floats(const std::string& statements) {
  return read(
      "(program k 4 (buffer f global real32 0 written) (buffer u global real 0 written) (buffer h work real32 8 "
      "lane) (buffer s global integer 0) (block " +
      statements + "))");
}

TEST(Types, MeetThroughConversionsAlone) {
  for (const char* statements :
       {"(store h lane (narrow (load u lane))) (add u lane (widen (load h lane)))",
        "(let a (load f 0)) (let b (mul (number32 0.1) %a)) (store f 1 (add %b (load f 2)))",
        "(for k run 2 (block (store h (iadd (imul $k 4) lane) (narrow (load u (iadd (iload s lane) $k))))))"})
    EXPECT_EQ(complaint(with_floats(statements)), "") << statements;
  const HeadCase cases[] = {
      {"(store f 0 (load u 0))", "what is written to f has another type"},
      {"(add u 0 (load f 0))", "what is written to u has another type"},
      {"(store f 0 (number 1))", "what is written to f has another type"},
      {"(store u 0 (mul (load f 0) (load u 0)))", "operation mul on numbers of different types"},
      {"(let a (load f 0)) (store u 0 (add (load u 0) %a))", "operation add on numbers of different types"},
      {"(store f 0 (select (load f 0) (load f 1) (number 2)))", "operation select on numbers of different types"},
      {"(store u 0 (widen (load u 0)))", "a double is widened"},
      {"(store f 0 (narrow (load f 0)))", "a float is narrowed"},
      {"(for k run 2 (block (store h lane (neg (load f lane)))))", "a run is moved by one statement"},
      {"(let a (load s 0))", "type"}};
  for (const auto& [statements, message] : cases) {
    const std::string found = complaint(with_floats(statements));
    EXPECT_NE(found.find(message), std::string::npos) << statements << " found: '" << found << "'";
  }
}

TEST(Types, OfBuildersAreChecked) {
  auto program = with_floats("");
  for (const auto& [value, message] :
       {std::pair{load("f", integer(0)), "what is loaded from f has another type"},
        std::pair{operation(form::ScalarOp::add, {number(1, Type::real32), reg("a", Type::real32)}),
                  "register a has another type"}}) {
    program.body = block({let("a", load("u", integer(0))), let("b", value)});
    EXPECT_NE(complaint(program).find(message), std::string::npos) << complaint(program);
  }
}

/// Returns a program whose groups have 4 x 2 items, with shared memory t, constant table c and integers s.
std::string group_text(const std::string& statements, const std::string& launch = "4 2 1 2") {
  return "(program k 1 (launch " + launch +
         ") (buffer y global real 0 written) (buffer s global integer 0) (buffer t shared real 8)"
         "(buffer w work real 2) (block " +
         statements + "))";
}

TEST(Barriers, MayStandWhereverAllItemsComeTogether) {
  for (const char* text :
       {"(barrier)", "(if (ieq (iload s $batch) group) (block (barrier)) (block))",
        "(for i (iload s group) (block (barrier) (for j 2 (block (if (ieq $i $j) (block (barrier)) (block))))))",
        "(if (ieq item_x 0) (block) (block)) (barrier)", "(if (ieq item_z 0) (block (barrier)) (block))",
        "(block (ilet a item_x)) (ilet a group) (if $a (block (barrier)) (block))"})
    EXPECT_EQ(complaint(read(group_text(text))), "") << text;
}

TEST(Barriers, AreRefusedWhereItemsMayDiffer) {
  for (const char* text : {"(if (ieq item_x 0) (block (barrier)) (block))",
                           "(if (ilt item_y 1) (block) (block (barrier)))", "(for i item_x (block (barrier)))",
                           "(for i 2 (block (if (iload s item_x) (block (for j 2 (block (barrier)))) "
                           "(block))))",
                           "(ilet a (iadd group item_y)) (ilet b (iload s $a)) (if $b (block (barrier)) (block))",
                           "(if item_x (block (for i 2 (block (if $i (block (barrier)) (block))))) (block))",
                           "(for i (iadd 1 item_x) (block (if (ieq $i 0) (block (barrier)) (block))))"})
    EXPECT_NE(complaint(read(group_text(text))).find("may differ between items"), std::string::npos) << text;
}

TEST(Groups, HaveItemsAndMemoryThatFit) {
  EXPECT_EQ(complaint(read(group_text("(store t item_x (number 1)) (add t atomic 0 (number 1))", "1024 1 1 1"))), "");
  for (const char* launch : {"0 1 1 1", "1025 1 1 1", "32 33 1 1", "1 1 -1 1", "1 1 1 -1", "2000000000 2000000000 4 1"})
    EXPECT_NE(complaint(read(group_text("", launch))), "") << launch;
  EXPECT_NE(complaint(read(group_text("(add w atomic 0 (number 1))"))).find("which one item has alone"),
            std::string::npos);
  EXPECT_NE(complaint(read(group_text("(store t 8 (number 1))"))).find("index 8 leaves t"), std::string::npos);
  EXPECT_NE(complaint(read("(program k 1 (buffer t shared real 0) (block))")).find("has no size"), std::string::npos);
}

TEST(ProgramHead, MissingBodyIsRefused) { EXPECT_NE(complaint(LoopProgram{}), ""); }

TEST(Operations, NeedTheirNumberOfOperands) {
  LoopProgram program = read(test::loop_text(""));
  program.body = block({let("a", operation(form::ScalarOp::add, {number(1)}))});
  EXPECT_NE(complaint(program).find("operation add with 1 operands"), std::string::npos) << complaint(program);
  program.body = block({let("a", operation(form::ScalarOp::atom, {}))});
  EXPECT_NE(complaint(program), "");
}

} // namespace
} // namespace rafter::schedule
