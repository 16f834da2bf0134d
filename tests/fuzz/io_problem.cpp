// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <random>

#include <rafter/base/error.hpp>
#include <rafter/io/problem.hpp>
#include <tests/support/io_problems.hpp>

using namespace rafter;
using namespace rafter::test;

namespace {

/// Mutations are deterministic: they change bytes, remove, double and exchange parts, and insert words of the
/// language.
class Mutator {
public:
  explicit Mutator(unsigned seed) : generator_(seed) {}

  std::string operator()(std::string text) {
    const std::size_t num_changes = 1 + below(4);
    for (std::size_t i = 0; i < num_changes; ++i) change(text);
    return text;
  }

private:
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : generator_() % bound; }

  void change(std::string& text) {
    static const std::vector<std::string> words{"[",
                                                "]",
                                                "{",
                                                "}",
                                                "=",
                                                "\"",
                                                "'''",
                                                "\"\"\"",
                                                "\n",
                                                ".",
                                                ",",
                                                "nan",
                                                "-inf",
                                                "1e999",
                                                "0x7fffffffffffffff",
                                                "true",
                                                "-1",
                                                "1979-05-27T07:32:00Z",
                                                "[[dirichlet]]\n",
                                                "[[constraint]]\n",
                                                "[check]\n",
                                                "by_tag",
                                                "\\u0000",
                                                std::string(1, '\0'),
                                                "\xff",
                                                "all",
                                                "9223372036854775807",
                                                std::string(300, '['),
                                                "u",
                                                "box",
                                                "p+",
                                                "#"};
    const std::size_t at = below(text.size()), length = below(20);
    switch (below(5)) {
    case 0:
      if (!text.empty()) text[at] = static_cast<char>(below(256));
      break;
    case 1:
      text.erase(at, length);
      break;
    case 2:
      text.insert(at, text.substr(below(text.size()), length));
      break;
    case 3:
      text.insert(at, words[below(words.size())]);
      break;
    default: {
      const std::size_t begin = text.rfind('\n', at) == std::string::npos ? 0 : text.rfind('\n', at);
      const std::string line = text.substr(begin, text.find('\n', begin + 1) - begin);
      text.insert(below(text.size()), line);
    }
    }
  }
  std::mt19937 generator_;
};

template <class Action> bool is_refused(Action action) {
  try {
    action();
    return false;
  } catch (const base::InputError& error) {
    EXPECT_NE(std::string(error.what()), "");
    return true;
  }
}

TEST(ProblemFuzz, OnlyInputErrorsEscapeFromMutatedFiles) {
  Mutator mutate(20240607);
  int num_refused = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::string text = mutate(i % 4 == 0 ? small_problem : beam_problem);
    num_refused += is_refused([&] { io::parse_problem(text, "fuzz.toml"); });
  }
  EXPECT_GT(num_refused, 1000); // mutated files reach the errors
  EXPECT_LT(num_refused, 4000); // some of them stay valid
}

TEST(ProblemFuzz, EveryPrefixIsReadOrRefused) {
  for (std::size_t length = 0; length < beam_problem.size(); ++length)
    is_refused([&] { io::parse_problem(beam_problem.substr(0, length), "fuzz.toml"); });
}

} // namespace
