// SPDX-License-Identifier: BSD-3-Clause
// Any bytes are read and verified as a loop program or a plan, or refused with an InputError (reading) or an
// InternalError (verifier).
#include <gtest/gtest.h>

#include <random>

#include <rafter/base/error.hpp>
#include <rafter/schedule/counts.hpp>
#include <rafter/schedule/plan.hpp>

#include <tests/support/loop_texts.hpp>

namespace rafter::schedule {
namespace {

using Generator = std::mt19937;

std::size_t below(Generator& generator, std::size_t n) {
  return std::uniform_int_distribution<std::size_t>(0, n - 1)(generator);
}

const std::vector<std::string>& words() {
  static const std::vector<std::string> list{"(",
                                             ")",
                                             "program",
                                             "buffer",
                                             "global",
                                             "constant",
                                             "work",
                                             "real",
                                             "integer",
                                             "written",
                                             "lane",
                                             "role",
                                             "values",
                                             "for",
                                             "let",
                                             "ilet",
                                             "store",
                                             "add",
                                             "if",
                                             "load",
                                             "iload",
                                             "iadd",
                                             "imul",
                                             "number",
                                             "block",
                                             "$i",
                                             "@d",
                                             "%a",
                                             "0",
                                             "-1",
                                             "1e400",
                                             "nan",
                                             "x",
                                             "u",
                                             "w",
                                             "mul",
                                             "select",
                                             "sqrt",
                                             "batch",
                                             "$batch",
                                             "99999999999999999999",
                                             "unrolled",
                                             "$",
                                             "@",
                                             "%",
                                             "output_vector"};
  return list;
}

std::vector<std::string> seeds() {
  return {
      test::loop_text("(let a (load u lane)) (store w (iadd 4 lane) %a) (add x (iload s lane) (load w lane) 3)"),
      test::loop_text("(for i 3 (block (for j unrolled 2 (block (store x (iadd $i $j) (load c $i))))))"),
      test::loop_text("(if (ieq (iload s $batch) 4) (block (store x 0 (number 1e-3))) (block))"),
      test::loop_text("(ilet d (imin lane (isub 4 1))) (store x @d (select (lt (load u lane) (number 0)) (number 1) "
                      "(sqrt (load u lane))))")};
}

/// Changes a byte, removes or doubles a part, inserts a word, or cuts off the end.
std::string mutated(std::string text, Generator& generator) {
  const std::size_t at = below(generator, text.size() + 1);
  const std::size_t length = below(generator, std::min<std::size_t>(text.size() - at, 30) + 1);
  switch (below(generator, 5)) {
  case 0:
    if (at < text.size()) text[at] = static_cast<char>(below(generator, 256));
    return text;
  case 1:
    return text.erase(at, length);
  case 2:
    return text.insert(at, text.substr(at, length));
  case 3:
    return text.insert(at, " " + words()[below(generator, words().size())] + " ");
  default:
    return below(generator, 8) == 0 ? text.substr(0, at) : text.insert(at, " ");
  }
}

enum class Outcome { refused_by_reader, refused_by_verifier, accepted };

/// A program that is read is printed to a text that reads back as the same program. Exceptions other than the two
/// errors fail the test.
Outcome outcome(const std::string& text) {
  LoopProgram program;
  try {
    program = read(text);
  } catch (const base::InputError& error) {
    EXPECT_NE(std::string(error.what()), "");
    return Outcome::refused_by_reader;
  }
  const std::string printed = print(program);
  EXPECT_EQ(print(read(printed)), printed) << text;
  try {
    verify(program);
  } catch (const base::InternalError& error) {
    EXPECT_NE(std::string(error.what()), "");
    return Outcome::refused_by_verifier;
  }
  (void)count(program);
  return Outcome::accepted;
}

TEST(Fuzz, MutatedProgramsAreReadOrRefused) {
  Generator generator(20240607);
  const auto texts = seeds();
  std::array<int, 3> outcomes{};
  for (int i = 0; i < 8000; ++i) {
    std::string text = texts[below(generator, texts.size())];
    for (std::size_t n = below(generator, 3) + 1; n > 0; --n) text = mutated(text, generator);
    ++outcomes[static_cast<std::size_t>(outcome(text))];
  }
  for (const int number : outcomes) EXPECT_GT(number, 20); // mutated texts reach every stage
}

TEST(Fuzz, DeepNestingIsRefused) {
  std::string text = "(program k 1 ";
  for (int i = 0; i < 100000; ++i) text += "(block ";
  EXPECT_EQ(outcome(text), Outcome::refused_by_reader);
}

TEST(Fuzz, MutatedPlansAreParsedOrRefused) {
  Generator generator(13);
  const std::string seed = to_string(Plan{});
  int num_accepted = 0, num_refused = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string text = seed;
    for (std::size_t n = below(generator, 3) + 1; n > 0; --n) text = mutated(text, generator);
    try {
      const Plan plan = parse_plan(text);
      EXPECT_EQ(parse_plan(to_string(plan)), plan) << text;
      ++num_accepted;
    } catch (const base::InputError& error) {
      EXPECT_NE(std::string(error.what()), "");
      ++num_refused;
    }
  }
  EXPECT_GT(num_accepted, 100);
  EXPECT_GT(num_refused, 100);
}

} // namespace
} // namespace rafter::schedule
